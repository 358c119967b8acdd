"""Methods that code which is not captured may call: what they are and read is guarded, or unseen.

`sorted(objects)` calls `__lt__`, `objects.index(x)` calls `__eq__`. These run as they are. A guard
holds their code, that of the functions which they call, and the constants that they read; a method
that reads anything else from outside makes the program one for a single call.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import is_unchanging
from tracejit.trace.ground.modules import home_of, is_fixed, is_followed
from tracejit.trace.state.paths import Path, attributes_of, functions_of, is_users_type

__all__ = ["NativeCalls", "items_of", "may_be_called"]

_MAKERS = ("__init__", "__new__", "__init_subclass__", "__post_init__", "__call__")
"""The methods that Python does not call by itself on objects that there are."""
_GENERATED = "<string>"
"""The file of the methods that a data class makes, which read attributes alone."""
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


_NUMBERS_AND_TEXT = {bool, int, float, complex, str, bytes, type(None)}


def items_of(x: object) -> Iterator[Any]:
    """Yield the objects in a container, keys included, at any depth; or the thing itself."""
    if not isinstance(x, _CONTAINERS) or is_users_type(type(x)):
        yield x
        return
    for item in [*x, *(x.values() if isinstance(x, dict) else ())]:
        if type(item) not in _NUMBERS_AND_TEXT:
            yield from items_of(item)


def may_be_called(x: object) -> bool:
    """Return whether Python may call a method by itself that a user's class of an object has."""
    return is_users_type(type(x)) and any(True for _ in _own_methods(type(x)))


def _own_methods(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        if is_followed(base):
            for name, method in vars(base).items():
                if name.startswith("__") and name not in _MAKERS and isinstance(
                        method, FunctionType):
                    yield name


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


class NativeCalls:
    """The methods that may have been called unseen in one capture."""

    def __init__(self, captured: Any) -> None:
        self.captured = captured
        self.seen: dict[int, Any] = {}
        """The classes that were looked at, containers of objects of such, and functions."""

    def may_call(self, x: object) -> list[FunctionType]:
        """Guard the methods of a user's class that Python may call by itself.

        Returns those that read what no guard sees.
        """
        if id(x) in self.seen:
            return []
        cls = type(x)
        if isinstance(x, _CONTAINERS) and not is_users_type(cls):
            self.seen[id(x)] = x
            return [method for y in items_of(x) for method in self.may_call(y)]
        if not is_users_type(cls) or id(cls) in self.seen:
            return []
        self.seen[id(cls)] = cls
        reached = dict.fromkeys(_own_methods(cls))
        found = self._guard_methods(cls, reached)
        for held in (attributes_of(x) or {}).values() if reached else ():
            found += [method for y in items_of(held) for method in self.may_call(y)]
        return found

    def called_with(self, fn: FunctionType, args: Iterable[object]) -> list[FunctionType]:
        """Guard what a function that is not captured may read of the classes of its arguments.

        Returns the methods that read what no guard sees.
        """
        found = []
        for x in args:
            for item in items_of(x):
                if is_users_type(type(item)):
                    names = [n for n in _names_in(fn.__code__) if hasattr(type(item), n)]
                    found += self._guard_methods(type(item), dict.fromkeys(names))
        return found

    def attributes_read(self, x: Any, names: Iterable[str]) -> list[FunctionType]:
        """Guard what attributes of objects are that patterns of a `match` read, at any depth.

        Returns the methods that compute one of something that no guard sees.
        """
        found, pending, done = [], [x], set()
        while pending:
            for item in items_of(pending.pop()):
                if id(item) in done or not is_users_type(type(item)):
                    continue
                done.add(id(item))
                self.captured.class_of(item)
                self.captured.freeze(item)
                found += self._guard_methods(type(item), dict.fromkeys((*names, "__match_args__")))
                pending += (attributes_of(item) or {}).values()
        return found

    def asked(self, x: Any) -> list[FunctionType]:
        """Guard what decides whether something is an instance of a class, if it is one.

        Returns the methods that read what no guard sees.
        """
        if not (isinstance(x, type) and is_users_type(type(x))):
            return []
        return self._guard_methods(type(x), {"__instancecheck__": None})

    def _guard_methods(self, cls: type, reached: dict[str, None]) -> list[FunctionType]:
        """Guard methods of a class by their names, and the methods that these name in turn."""
        found, done = [], set()
        while pending := [name for name in reached if name not in done]:
            for name in pending:
                done.add(name)
                entry = self.captured.entry_of(cls, name)
                for method in functions_of(entry):
                    reached.update(dict.fromkeys(
                        n for n in _names_in(method.__code__) if hasattr(cls, n)))
                    found += [method] if self.reads_outer(method) else []
        return found

    def reads_outer(self, fn: FunctionType) -> bool:
        """Guard what a function reads from outside; return whether it reads more than that."""
        if id(fn) in self.seen or is_fixed(home_of(fn)) or fn.__code__.co_filename == _GENERATED:
            return False
        self.seen[id(fn)] = fn
        self.captured.code(fn)
        if set(fn.__code__.co_freevars) - {"__class__"}:
            return True
        names = {i.argval for i in dis.get_instructions(fn.__code__) if i.opname == "LOAD_GLOBAL"}
        found = [self._reads_more(fn, name) for name in sorted(names)]
        return any(found)

    def _reads_more(self, fn: FunctionType, name: str) -> bool:
        """Guard what a global name stands for; return whether more than that may be read of it."""
        path = Path(fn.__globals__, name)
        if name not in fn.__globals__:
            self.captured.absent(path)
            return False
        x = fn.__globals__[name]
        self.captured.hold(path, x)
        if isinstance(x, FunctionType):
            return self.reads_outer(x)
        if isinstance(x, type):
            return is_followed(x) and bool(self._guard_methods(x, dict.fromkeys(
                (*_own_methods(x), *(n for n in _MAKERS if n in vars(x))))))
        return not (is_unchanging(x) or isinstance(x, (BuiltinFunctionType, np.ufunc)) or (
            isinstance(x, ModuleType) and is_fixed(x.__name__)))
