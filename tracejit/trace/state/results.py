"""The parts of a result that no kernel computes: every call returns its own, or it is refused.

Captured code makes such an object once. A call returns a copy of it, in which objects from outside
stay as they are. An iterator, a view and a method of a container have no copy of their own.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinMethodType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import is_unchanging
from tracejit.trace.ground.modules import home_of, is_fixed
from tracejit.trace.ground.source import is_made_by_captured, rewritten_source
from tracejit.trace.state.paths import Path, attributes_of

__all__ = ["CannotBeNew", "New", "new_at_each_call"]

_SHARED = (type, ModuleType, np.ufunc)
"""The types of objects that calls return as they are."""
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()),
                            MappingProxyType, memoryview)
Outside = Callable[[object], Any]
"""Gives the object, or the path at each call, for an object from outside; None for others."""


class CannotBeNew(Exception):
    """An object of a result cannot be made anew at each call: the reason, and a remedy."""


@dataclass(frozen=True, slots=True)
class New:
    """Makes an object like another one that captured code made; `kept` are from outside."""

    kept: list[tuple[object, Any]]

    def __call__(self, x: object, memo: dict[int, object]) -> Any:
        """Return the copy; `memo` has the copies in this call's result by the ids of originals."""
        for y, source in self.kept:
            memo[id(y)] = source.read() if isinstance(source, Path) else source
        return copy.deepcopy(x, memo)


def new_at_each_call(x: object, outside: Outside) -> New | None:
    """Return how a call makes its own object; None for one that calls may share."""
    _require_made_outside(x)
    if outside(x) is not None or _is_shared(x):
        return None
    kept = []
    for y in _parts_of(x, outside):
        source = outside(y)
        if source is not None:
            kept.append((y, source))
        else:
            _require_new(y, outside)
    if isinstance(x, (FunctionType, property)):
        return None
    found = New(kept)
    if attributes_of(x) is None:
        try:
            found(x, {})
        except Exception as e:
            raise CannotBeNew(f"a {type(x).__name__} that is returned cannot be copied for each "
                              f"call ({e})", "Return the numbers in it") from None
    return found


def _is_shared(x: object) -> bool:
    if isinstance(x, FunctionType):
        return not _held_by(x)  # `is_unchanging` tells functions apart by identity
    if isinstance(x, BuiltinMethodType) or hasattr(x, "__objclass__"):
        owner = getattr(x, "__self__", None)
        return owner is None or _is_shared(owner)
    return is_unchanging(x) or isinstance(x, _SHARED) or (
        type(x).__module__.startswith("tracejit.") and not hasattr(type(x), "__next__"))


def _parts_of(x: object, outside: Outside) -> Iterator[object]:
    """Yield an object and the objects in it that may change, up to objects from outside."""
    pending, seen = [x], {}
    while pending:
        y = pending.pop()
        if id(y) in seen or _is_shared(y):
            _require_made_outside(y)
            continue
        seen[id(y)] = y
        yield y
        _require_made_outside(y)
        if isinstance(y, FunctionType):
            pending += _held_by(y)
        elif outside(y) is None and gc.is_tracked(y):
            pending += gc.get_referents(y)


def _held_by(fn: FunctionType) -> list[Any]:
    """Return the functions and the objects that may change in a function's cells and defaults."""
    if is_fixed(home_of(fn)):
        return []
    cells = []
    for cell in fn.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # it is empty
            continue
    held = [*cells, *(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
    return [x for x in held if isinstance(x, FunctionType) or not _is_shared(x)]


def _require_made_outside(x: object) -> None:
    """Refuse a class or function that captured code makes: each call would make another."""
    cls = x if isinstance(x, type) else type(x)
    if is_made_by_captured(cls):
        what = f"the class {cls.__name__!r}"
        raise CannotBeNew(f"{what if cls is x else f'an object of {what}'}, which the function "
                          "makes, that is returned would be of one class for all calls",
                          "Make the class outside of the function")
    if isinstance(x, FunctionType) and rewritten_source(x.__code__) is not None:
        raise CannotBeNew(f"the function {x.__name__!r}, which captured code makes, that is "
                          "returned would be one for all calls, and runs nowhere else",
                          "Return the numbers that it reads, and make the function of them outside")


def _require_new(x: object, outside: Outside) -> None:
    """Refuse an object of which a deep copy is no new one."""
    name = type(x).__name__
    if hasattr(type(x), "__next__"):
        raise CannotBeNew(f"an iterator, a {name}, that is returned would be one for all calls",
                          "Return a list of its items: list(...)")
    if isinstance(x, _VIEWS):
        raise CannotBeNew(f"a {name} that is returned would be one for all calls",
                          "Return what it shows: the dict, a list or bytes")
    if isinstance(x, BuiltinMethodType):
        raise CannotBeNew(f"the method {x.__name__!r} of a {type(x.__self__).__name__} that is "
                          "returned would be one for all calls", "Return the object")
    if isinstance(x, FunctionType) and any(
            outside(y) is None and not isinstance(y, FunctionType) for y in _held_by(x)):
        raise CannotBeNew(f"the function {x.__name__!r} that is returned holds an object of its "
                          "own, which would be one for all calls",
                          "Return the numbers, or pass the object as an argument")
