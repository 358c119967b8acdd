"""Where captured state is: paths to it, and the guards that it is what it was.

A *path* says how to get at a piece of state again: a global or closure cell, then attributes and
items. It is light to import: calls of compiled code need no more.
"""

from __future__ import annotations

import functools
import sys
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

__all__ = ["Content", "Guarded", "Holder", "Leaf", "Path", "Same", "Shape", "attributes_of",
           "is_same_object"]


class Holder:
    """A root for an array that belongs to no name: a constant made outside of the capture."""

    __slots__ = ("content",)

    def __init__(self, content: Any) -> None:
        self.content = content


@dataclass(frozen=True, slots=True)
class Path:
    """How to read a piece of state: from a root, along ("attr", name) and ("item", key) steps."""

    root: Any
    name: str
    steps: tuple[tuple[str, Any], ...] = ()

    def step(self, kind: str, key: Any) -> Path:
        """Return the path one step further."""
        return Path(self.root, self.name, (*self.steps, (kind, key)))

    @property
    def key(self) -> tuple[Any, ...]:
        """Return what makes two paths the same."""
        return (id(self.root), self.name, self.steps)

    def read(self) -> Any:
        """Return what is there now; `LookupError` or `AttributeError` if nothing is."""
        if isinstance(self.root, CellType):
            content = self.root.cell_contents
        elif isinstance(self.root, Holder):
            content = self.root.content
        else:
            content = self.root[self.name]
        for kind, key in self.steps:
            content = getattr(content, key) if kind == "attr" else content[key]
        return content

    def __str__(self) -> str:
        text = self.name
        for kind, key in self.steps:
            text += f".{key}" if kind == "attr" else f"[{key!r}]"
        return text


@dataclass(eq=False, slots=True)
class Leaf:
    """A float or array that is read at every call; within a capture, with the input for it."""

    path: Path
    content: Any
    value: Any = None


@dataclass(eq=False, slots=True)
class Guarded:
    """Something that must be the same at every call."""

    path: Path
    content: Any


def is_same_object(old: Any, new: Any) -> bool:
    """Return whether a guarded object is still what it was."""
    if old is new:
        return True
    if isinstance(old, MethodType) and isinstance(new, MethodType):
        return old.__func__ is new.__func__ and old.__self__ is new.__self__
    if isinstance(old, BuiltinFunctionType) and isinstance(new, BuiltinFunctionType):
        return old.__self__ is new.__self__ and old.__name__ == new.__name__
    if isinstance(old, functools.partial) and isinstance(new, functools.partial):
        return old.keywords.keys() == new.keywords.keys() and len(old.args) == len(new.args) and (
            all(map(is_same_object, (old.func, *old.args, *old.keywords.values()),
                    (new.func, *new.args, *new.keywords.values()))))
    if isinstance(old, (int, str, bytes, bool, type(None), np.integer, np.bool_, np.dtype, slice,
                        range)):
        return type(old) is type(new) and bool(old == new)
    if isinstance(old, Content):
        return old == Content.of(new)
    return isinstance(old, Shape) and isinstance(new, (list, tuple, dict, set)) and (
        old == Shape.of(new))


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure of a container: its type, and its length, its keys, or a set's items."""

    type: type
    items: Any

    @staticmethod
    def of(x: Any) -> Shape:
        """Return the structure of a container."""
        if isinstance(x, set):
            return Shape(type(x), tuple(sorted(x, key=repr)))
        return Shape(type(x), tuple(x) if isinstance(x, dict) else len(x))


@dataclass(frozen=True, slots=True)
class Same:
    """The guard that two paths lead to one array."""

    path: Path


# --- what objects hold --------------------------------------------------------------------------

_BY_VALUE = (bool, int, str, bytes, type(None), np.integer, np.bool_, np.dtype, slice, range)
_BY_TEXT = (float, complex, np.inexact)
_WITHOUT_CONTENT = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, np.ndarray)


@dataclass(frozen=True, slots=True)
class Content:
    """What an object or container of any kind holds, in depth: code that no guard sees reads it."""

    parts: Any

    @staticmethod
    def of(x: Any) -> Content:
        """Return what something holds now."""
        return Content(_parts_of(x, ()))


@dataclass(eq=False, frozen=True, slots=True)
class _Itself:
    """A part that has to be the same object."""

    x: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and is_same_object(self.x, other.x)

    __hash__ = None  # type: ignore[assignment]


def _parts_of(x: Any, around: tuple[Any, ...]) -> Any:
    if isinstance(x, _BY_VALUE):
        return type(x), x
    if isinstance(x, _BY_TEXT):
        return type(x), repr(x)
    if isinstance(x, _WITHOUT_CONTENT):
        return _Itself(x)
    for k, y in enumerate(around):
        if x is y:
            return "around", k
    around = (*around, x)
    own = attributes_of(x)
    found: list[Any] = [type(x)]
    if isinstance(x, (list, tuple, deque, bytearray, array)):
        found += [_parts_of(y, around) for y in x]
    elif isinstance(x, dict):
        found += [(_parts_of(k, around), _parts_of(y, around)) for k, y in x.items()]
    elif isinstance(x, (set, frozenset)):
        found.append(frozenset(x))
    elif own is None:
        return _Itself(x)
    found += [(name, _parts_of(y, around)) for name, y in (own or {}).items()]
    return tuple(found)


_PLAIN_HOLDERS = {"collections", "types"}


def _is_users(cls: type) -> bool:
    """Whether a class is no library's: a logger, a lock or a data frame is what it is."""
    top = cls.__module__.partition(".")[0]
    if top in _PLAIN_HOLDERS:
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return top == "__main__" or not (
        top in sys.stdlib_module_names or "site-packages" in file or "dist-packages" in file
        or top == "tracejit")


def attributes_of(x: Any) -> dict[str, Any] | None:
    """Return the attributes of an object of a user's class; None for what has none."""
    if not _is_users(type(x)):
        return None
    found: dict[str, Any] = {}
    slots = list(_slots(type(x)))
    for name in slots:
        try:
            found[name] = object.__getattribute__(x, name)
        except AttributeError:
            pass
    own = getattr(x, "__dict__", None)
    if isinstance(own, dict):
        found.update(own)
    return found if slots or isinstance(own, dict) else None


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                yield f"_{base.__name__.lstrip('_')}{name}" if private else name
