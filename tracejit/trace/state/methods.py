"""Methods that uncaptured code may call: their code and their reads are guarded, or unseen.

`sorted(objects)` calls `__lt__`, `objects.index(x)` calls `__eq__`. These run as they are. Guards
hold their code, the code of the functions that they call, and the constants that they read; a
method with any other read from outside makes the program one for a single call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from tracejit.trace.state.outer_reads import OuterReads, names_in, own_methods
from tracejit.trace.state.paths import attributes_of, is_users_type, special_names

__all__ = ["NativeCalls", "items_of", "may_be_called"]

_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_NUMBERS_AND_TEXT = {bool, int, float, complex, str, bytes, type(None)}


def items_of(x: object) -> Iterator[Any]:
    """Yield the objects in a container, keys included, at any depth; or `x` if it is none."""
    if not isinstance(x, _CONTAINERS) or is_users_type(type(x)):
        yield x
        return
    for item in [*x, *(x.values() if isinstance(x, dict) else ())]:
        if type(item) not in _NUMBERS_AND_TEXT:
            yield from items_of(item)


def may_be_called(x: object) -> bool:
    """Return whether an object's class is a user's with methods that Python calls by itself."""
    return is_users_type(type(x)) and any(True for _ in own_methods(type(x)))


class NativeCalls:
    """The methods that may have been called unseen in one capture."""

    def __init__(self, captured: Any) -> None:
        self.captured = captured
        self.outer = OuterReads(captured)
        self.seen: dict[int, Any] = {}
        """The classes and containers that were looked at, by their ids."""

    def may_call(self, x: object) -> list[str]:
        """Guard the methods of a user's class that Python may call by itself.

        Returns the names of methods with a read that no guard sees.
        """
        if id(x) in self.seen:
            return []
        cls = type(x)
        if isinstance(x, _CONTAINERS) and not is_users_type(cls):
            self.seen[id(x)] = x
            return [name for y in items_of(x) for name in self.may_call(y)]
        if not is_users_type(cls) or id(cls) in self.seen:
            return []
        self.note_methods(cls)
        reached = dict.fromkeys(own_methods(cls))
        found = self.outer.guard_entries(cls, reached)
        for held in (attributes_of(x) or {}).values() if reached else ():
            found += [name for y in items_of(held) for name in self.may_call(y)]
        return found

    def note_methods(self, cls: type) -> None:
        """Guard which methods a class has that Python calls by itself."""
        self.seen[id(cls)] = cls
        self.captured.guard(self.captured.path_of_class(cls).step("methods", None),
                            special_names(cls))

    def called_with(self, fn: FunctionType, args: Iterable[object]) -> list[str]:
        """Guard the entries of its arguments' classes that an uncaptured function names.

        Returns the names of methods with a read that no guard sees.
        """
        found = []
        for x in args:
            for item in items_of(x):
                if is_users_type(type(item)):
                    names = [n for n in names_in(fn.__code__) if hasattr(type(item), n)]
                    found += self.outer.guard_entries(type(item), dict.fromkeys(names))
        return found

    def attributes_read(self, x: Any, names: Iterable[str]) -> list[str]:
        """Guard the attributes of objects that patterns of a `match` read, at any depth.

        Returns the names of methods that compute one by a read that no guard sees.
        """
        found, pending, done = [], [x], set()
        while pending:
            for item in items_of(pending.pop()):
                if id(item) in done or not is_users_type(type(item)):
                    continue
                done.add(id(item))
                self.captured.class_of(item)
                self.captured.freeze(item)
                found += self.outer.guard_entries(
                    type(item), dict.fromkeys((*names, "__match_args__")))
                pending += (attributes_of(item) or {}).values()
        return found

    def asked(self, x: Any) -> list[str]:
        """Guard the method of `x`'s metaclass by which `isinstance` decides, if `x` is a class.

        Returns the names of methods with a read that no guard sees.
        """
        if not (isinstance(x, type) and is_users_type(type(x))):
            return []
        return self.outer.guard_entries(type(x), {"__instancecheck__": None})
