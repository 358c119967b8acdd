"""Objects of Python's library that hold things, and the containers in which they keep them.

A `UserDict` has a dict, a `queue.Queue` a deque. Methods of such objects are not captured; they
change these containers, and not what a user sees as the object. Some are *sealed*, written in C: of
them it can be seen that they have changed, but no place in them is one of captured code.
"""

from __future__ import annotations

import contextvars
import ctypes
import re
import struct
from collections import deque
from types import BuiltinMethodType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import is_unchanging
from tracejit.trace.ground.attributes import all_attributes_of
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.state.changes import CONTAINERS

__all__ = ["is_sealed", "keeps_items", "kept_in", "may_have_changed", "sealed_state"]

_MODULES = frozenset((
    "_weakrefset", "collections", "configparser", "queue", "threading", "weakref"))
_NO_HOLDERS = (*CONTAINERS, tuple, str, bytes, type)


def keeps_items(x: object) -> bool:
    """Return whether the class of an object, or a base of it, is a container written in Python."""
    kind = type(x)
    return bool(kind.__dictoffset__) and not isinstance(x, _NO_HOLDERS) and any(
        base.__module__.partition(".")[0] in _MODULES for base in kind.__mro__)


def kept_in(x: object) -> list[object]:
    """Return the containers and such objects in which one keeps things, at any depth."""
    if isinstance(x, memoryview):
        return [x.obj]
    if not keeps_items(x):
        return []
    found: dict[int, object] = {}
    pending = [x]
    while pending:
        y = pending.pop()
        if id(y) not in found and (isinstance(y, CONTAINERS) or keeps_items(y)):
            found[id(y)] = y
            pending += _items_of(y)
    return [y for y in found.values() if y is not x]


def _items_of(x: object) -> list[object]:
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, (list, deque)):
        return list(x)
    return list((all_attributes_of(x) or {}).values()) if keeps_items(x) else []


_SEALED: dict[type, Any] = {
    contextvars.ContextVar: lambda x: x.get(None), ctypes.Array: bytes}


_READ_ALONE: tuple[type, ...] = (
    *_NO_HOLDERS, ModuleType, np.ndarray, np.generic, MappingProxyType, memoryview, re.Pattern,
    re.Match, struct.Struct, type({}.keys()), type({}.values()), type({}.items()))
"""Types in C whose methods change nothing, or nothing that is not seen elsewhere."""


def may_have_changed(fn: object) -> bool:
    """Return whether a function is a method in C of an object of which nobody can see the state."""
    x = getattr(fn, "__self__", None)
    return isinstance(fn, BuiltinMethodType) and x is not None and not (
        isinstance(x, _READ_ALONE) or is_unchanging(x) or is_sealed(x)
        or hasattr(type(x), "__next__") or is_followed(type(x)))


def is_sealed(x: object) -> bool:
    """Return whether an object is of a class in C with a state that nothing puts back."""
    return isinstance(x, tuple(_SEALED))


def sealed_state(x: object) -> dict[Any, Any] | None:
    """Return the state of such an object; None for any other."""
    for kind, state in _SEALED.items():
        if isinstance(x, kind):
            return {"": state(x)}
    return None
