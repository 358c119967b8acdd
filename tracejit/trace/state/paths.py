"""Where captured state is: paths to it, along which it is read again at every call.

A *path* says how to get at a piece of state again: a global or closure cell, then attributes and
items. It is light to import: calls of compiled code need no more.
"""

from __future__ import annotations

import copyreg
import functools
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

import numpy as np

from tracejit.exact import token
from tracejit.trace.ground.attributes import all_attributes_of, own_names
from tracejit.trace.ground.modules import home_of_class, is_followed

__all__ = ["READING_FAILS", "FunctionRoot", "Given", "Holder", "Leaf", "Path", "attributes_of",
           "class_entry", "functions_of", "is_users_type", "special_names"]

_LAZY = ("numpy", "scipy")
"""Modules that import parts of theirs at first use."""

READING_FAILS = (LookupError, AttributeError, ValueError)
"""The errors of reading a path that leads to nothing; an empty cell is a `ValueError`."""


class Holder:
    """A root for an array that belongs to no name: a constant made outside of the capture."""

    content: Any

    __slots__ = ("content",)

    def __init__(self, content: object) -> None:
        self.content = content


class FunctionRoot(Holder):
    """A root for the code and defaults of a function that a capture goes through."""

    __slots__ = ()


class Given(dict[str, Any]):
    """A root for an argument that is no data, under its name, or for the function, under "self".

    Each attempt to capture a call makes another one, for the same object.
    """


_ON_THE_WAY = ("__self__", "__func__", "__wrapped__", "__dict__", "__defaults__", "__kwdefaults__")
"""Attributes that are not named where what they lead to is."""

_MADE_ANEW = (FunctionRoot, Given)
"""Roots of which each attempt to capture a call makes another one, for the same object."""


@dataclass(frozen=True, slots=True)
class Path:
    """How to read a piece of state: from a root, along steps.

    A step is ("attr", name), ("item", key), ("type", None) for the class of an object, ("entry",
    name) for an entry of a class or its bases, ("own", name) for an object's own attribute, ("key",
    k) for the k-th key of a dict or item of a set, ("super", (class, name)) for an entry of the
    bases behind a class, ("methods", None) for the names of special methods, ("reducer", None) for
    the function in the table of `copyreg` that copies a class's objects, or ("call", (name,
    arguments, keywords)) for the result of a method that only reads.
    """

    root: Any
    name: str
    steps: tuple[tuple[str, Any], ...] = ()

    def step(self, kind: str, key: object) -> Path:
        """Return the path one step further."""
        return Path(self.root, self.name, (*self.steps, (kind, key)))

    @property
    def key(self) -> tuple[Any, ...]:
        """Return the key that equal paths share."""
        root: Any = self.root
        if type(root) in _MADE_ANEW:
            root = root[self.name] if type(root) is Given else root.content
        return (id(root), self.name, token(self.steps))

    def read(self) -> Any:
        """Return the present content; one of `READING_FAILS` if nothing is."""
        if isinstance(self.root, CellType):
            content = self.root.cell_contents
        elif isinstance(self.root, Holder):
            content = self.root.content
        elif self.name not in self.root and self.root.get("__name__") in _LAZY:
            content = self.root["__getattr__"](self.name)
        else:
            content = self.root[self.name]
        for kind, key in self.steps:
            if kind == "attr":
                content = getattr(content, key)
            elif kind == "item":
                content = content[key]
            else:
                content = _STEPS[kind](content, key)
        return content

    def __str__(self) -> str:
        text = self.name
        for kind, key in self.steps:
            if (kind, key) != ("attr", "__self__") or text != "self":  # of a method that is called
                text = _TEXTS[kind](text, key)
        return text

    @property
    def short(self) -> str:
        """Return a name for the content: the root's, attributes and keys."""
        words = [key for kind, key in self.steps if kind in ("attr", "item", "entry", "own")]
        return "_".join([self.name, *[str(x) for x in words if x not in _ON_THE_WAY]])


def class_entry(cls: type, name: str, *behind: type) -> Any:
    """Return the entry of a class or its bases under a name, as it is; `AttributeError` if nothing.

    behind -- the class behind which to begin, as `super` does
    """
    order = cls.__mro__
    for base in order[order.index(behind[0]) + 1:] if behind else order:
        if name in base.__dict__:
            return base.__dict__[name]
    raise AttributeError(name)


def special_names(cls: type) -> tuple[str, ...]:
    """Return the names of the methods that Python may call by itself, of a class and its bases."""
    return tuple([name for base in cls.__mro__ if is_followed(base)
                  for name, entry in base.__dict__.items()
                  if name.startswith("__") and name.endswith("__") and (
                      entry is None or callable(entry) or hasattr(type(entry), "__get__"))])


def _call(x: Any, key: Any) -> Any:
    name, args, kwargs = key
    return getattr(x, name)(*args, **dict(kwargs))


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "type": lambda x, _: type(x), "entry": class_entry, "call": _call,
    "super": lambda cls, key: class_entry(cls, key[1], key[0]),
    "own": lambda x, name: own_names(x)[name],
    "methods": lambda cls, _: special_names(cls),
    "reducer": lambda cls, _: copyreg.dispatch_table[cls],
    "key": lambda x, k: next(itertools.islice(x, k, None)),
}
_TEXTS: dict[str, Callable[[str, Any], str]] = {
    "attr": lambda text, key: f"{text}.{key}", "item": lambda text, key: f"{text}[{key!r}]",
    "type": lambda text, _: f"type({text})", "entry": lambda text, key: f"{text}.{key}",
    "own": lambda text, name: f"vars({text})[{name!r}]",
    "key": lambda text, k: f"list({text})[{k}]",
    "methods": lambda text, _: f"the special methods of {text}",
    "reducer": lambda text, _: f"copyreg.dispatch_table[{text}]",
    "super": lambda text, key: f"super({key[0].__name__}, {text}).{key[1]}",
    "call": lambda text, key: (f"{text}{'' if key[0] == '__call__' else f'.{key[0]}'}"
                               f"({', '.join(map(repr, key[1]))})"),
}


@dataclass(eq=False, slots=True)
class Leaf:
    """A float or array that is read at every call; within a capture, with the input for it."""

    path: Path
    content: Any
    value: Any = None
    kind: Any = field(init=False)
    """Its type, and an array's dtype and rank: the object may have others later."""

    def __post_init__(self) -> None:
        self.kind = _kind(self.content)

    def read(self) -> Any:
        """Return the present content; `LookupError` where it is of another kind, or not there."""
        content = self.path.read()
        if _kind(content) != self.kind:
            raise LookupError
        return content


def _kind(x: object) -> Any:
    return (type(x), x.dtype, x.ndim) if isinstance(x, np.ndarray) else type(x)


# --- contents of objects ------------------------------------------------------------------------

_PLAIN_HOLDERS = {"collections", "types"}


def functions_of(entry: Any) -> list[FunctionType]:
    """Return the functions that an entry of a class stands for."""
    if isinstance(entry, property):
        found = [entry.fget, entry.fset, entry.fdel]
    elif isinstance(entry, (classmethod, staticmethod)):
        found = [entry.__func__]
    else:
        found = [entry.func] if isinstance(entry, functools.cached_property) else [entry]
    return [f for f in found if isinstance(f, FunctionType)]


def is_users_type(cls: type) -> bool:
    """Return whether a class is no library's, or one of `collections` or `types`."""
    home = home_of_class(cls)
    top = home.partition(".")[0]
    if top in _PLAIN_HOLDERS:
        return True
    file = getattr(sys.modules.get(home), "__file__", None) or ""
    return top == "__main__" or not (
        top in sys.stdlib_module_names or "site-packages" in file or "dist-packages" in file
        or top == "tracejit")


def attributes_of(x: object) -> dict[str, Any] | None:
    """Return the attributes of an object of a user's class; None for any other object."""
    return all_attributes_of(x) if is_users_type(type(x)) else None
