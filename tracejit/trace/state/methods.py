"""Methods that uncaptured code may call: their code and their reads are guarded, or unseen.

`sorted(objects)` calls `__lt__`, `objects.index(x)` calls `__eq__`. These run as they are. Guards
hold their code, the code of the functions that they call, and the constants that they read; a
method with any other read from outside makes the program one for a single call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType
from typing import Any

from tracejit.trace.ground.modules import home_of, is_fixed
from tracejit.trace.state.outer_reads import OuterReads, names_in, own_methods
from tracejit.trace.state.paths import attributes_of, is_users_type, special_names

__all__ = ["NativeCalls", "items_of", "may_be_called"]

_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_OF_ALL = frozenset(dir(object))
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
        self.named: dict[int, dict[str, None]] = {}
        """The names that the methods of a class read of any object, by the class's id."""
        self.kinds: dict[int, dict[int, type]] = {}
        """The classes of what objects of a class hold, by the ids of both."""
        self.held: dict[tuple[int, int], Any] = {}
        """The objects whose attributes were looked at, by the ids of a class and of the object."""

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
        if not is_users_type(cls):
            return []
        found = []
        if id(cls) not in self.seen:
            self.note_methods(cls)
            named = self.named[id(cls)] = {}
            found += self.outer.guard_entries(cls, dict.fromkeys(own_methods(cls)), named)
        return found + self._read_of_held(cls, x) if self.named.get(id(cls)) else found

    def _read_of_held(self, cls: type, x: object) -> list[str]:
        """Guard the entries that methods of `cls` may read of the classes of what `x` holds.

        Returns the names of methods with a read that no guard sees.
        """
        named, kinds = self.named[id(cls)], self.kinds.setdefault(id(cls), {})
        found, done = [], (len(named), len(kinds))
        for held in [*self._new_in(cls, x)]:  # all are noted before the first is followed
            if isinstance(held, FunctionType):
                found += [held.__qualname__] if self.outer.reads_more(held) else []
                named.update(self.outer.names_of(held))
                continue
            kind = held if isinstance(held, type) else type(held)
            kinds[id(kind)] = kind
            if kind is not held:
                found += self.may_call(held)
        while done != (len(named), len(kinds)):
            done = len(named), len(kinds)
            for kind in kinds.values():
                names = [n for n in (*named, "__call__") if n not in _OF_ALL and hasattr(kind, n)]
                found += self.outer.guard_entries(kind, dict.fromkeys(names), named)
        return [*dict.fromkeys(found)]

    def _new_in(self, cls: type, x: object) -> Iterator[Any]:
        """Yield the objects, classes and functions of users that an object holds, at any depth."""
        pending = [x]
        while pending:
            owner = pending.pop()
            if (id(cls), id(owner)) in self.held:
                continue
            self.held[id(cls), id(owner)] = owner
            for content in (attributes_of(owner) or {}).values():
                for y in items_of(content):
                    y = y.__func__ if isinstance(y, MethodType) else y
                    if isinstance(y, type):
                        if is_users_type(y):
                            yield y
                    elif isinstance(y, FunctionType):
                        if not is_fixed(home_of(y)):
                            yield y
                    elif is_users_type(type(y)):
                        yield y
                        pending.append(y)

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
