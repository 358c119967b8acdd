"""Where captured state is: paths to it, and the guards that it is what it was.

A *path* says how to get at a piece of state again: a global or closure cell, then attributes and
items. It is light to import: calls of compiled code need no more.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import CellType, MethodType
from typing import Any

import numpy as np

__all__ = ["Guarded", "Holder", "Leaf", "Path", "Same", "Shape", "is_same_object"]


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
    if isinstance(old, functools.partial) and isinstance(new, functools.partial):
        return old.keywords.keys() == new.keywords.keys() and len(old.args) == len(new.args) and (
            all(map(is_same_object, (old.func, *old.args, *old.keywords.values()),
                    (new.func, *new.args, *new.keywords.values()))))
    if isinstance(old, (int, str, bytes, bool, type(None), np.integer, np.bool_, np.dtype, slice,
                        range)):
        return type(old) is type(new) and bool(old == new)
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
