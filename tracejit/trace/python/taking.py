"""What a function of Python's does with a generator of the user's: it takes items, all or some."""

from __future__ import annotations

import builtins
import collections
import functools
import math
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.iterables import TracedIterable
from tracejit.trace.python import from_generators
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.tracer import Tracer

__all__ = ["take", "takes", "with_generators"]

_LISTS: tuple[Any, ...] = (list, tuple, sorted, dict, deque, collections.Counter)
"""What goes on with all items once it has them."""

_READS: tuple[Any, ...] = (sum, max, min, set, frozenset, math.prod, math.fsum, np.fromiter)
"""What reads each item before it takes the next one."""

_REFUSED: tuple[Any, ...] = (reversed, eval, exec, len, *_READS, *_LISTS)
"""What does not take a generator, or only in other ways."""

_STORES = frozenset(("append", "appendleft", "insert", "setdefault", "__setitem__"))
_MERGES = frozenset(("update", "union", "intersection", "difference", "join"))


def takes(fn: object) -> bool:
    """Return whether one of Python's functions takes items."""
    return fn is zip or fn in from_generators.MAKERS or any(fn is f for f in (*_LISTS, *_READS))


def with_generators(fn: object, args: tuple[object, ...]) -> tuple[Any, ...]:
    """Return the arguments of what takes items with generators for what a generator goes through.
    """
    if (fn is max or fn is min) and len(args) > 1:
        return args
    if any(fn is f for f in (*_LISTS, *_READS)):
        first = args[:1] if fn is dict and hasattr(type(args[0]), "keys") else (
            tuple(map(ABOVE.begun, args[:1])))
        return (*first, *args[1:])
    return tuple(map(ABOVE.begun, args))


def take(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
         known: bool) -> Any:
    """Call a function with a generator; NotImplemented where it does with it what it does.

    known -- whether the function can be looked up in tables
    """
    owner, name = getattr(fn, "__self__", None), getattr(fn, "__name__", "")
    if fn is next:
        return _next(*args)  # type: ignore[arg-type]
    if fn is zip and not kwargs:
        return _zipped(args)
    if isinstance(owner, (list, deque)) and name == "extend":
        return _call(from_generators.extended, (owner, *args))
    if known and fn in from_generators.MAKERS and not (
            (fn is map and len(args) > 2) or (fn is functools.reduce and len(args) < 3)):
        return _call(from_generators.MAKERS[fn], args, kwargs)
    how = _reading(fn, args, kwargs, owner, name)
    if how is not None:
        args = tuple(_call(how, (x,)) if isinstance(x, UsersGenerator) else x for x in args)
        return _call(fn, args, kwargs)
    if fn is len:
        raise TypeError("object of type 'generator' has no len()")
    if any(fn is f for f in _REFUSED) or _is_foreign(fn, owner, name):
        raise refuse(f"{public_name(fn)} of a generator cannot be captured",
                     "Make its items a list first: list(...)")
    return NotImplemented


def _reading(fn: object, args: tuple[object, ...], kwargs: dict[str, object], owner: object,
             name: str) -> Callable[..., Any] | None:
    """Return what makes a list of the items for a function that takes all of them."""
    if kwargs.keys() & {"key", "count"} and fn is not sorted:
        return None
    if any(fn is f for f in _LISTS) and (len(args) == 1 or fn is deque):
        return from_generators.collected
    if any(fn is f for f in _READS) and (len(args) == 1 or fn not in (min, max)):
        return from_generators.read_one_by_one
    if isinstance(owner, (set, frozenset, dict, str)) and name in _MERGES:
        return from_generators.collected
    return None


def _next(g: UsersGenerator, *default: object) -> Any:
    """Return `next(g)`: a generator that has not begun is run inside out as far as that."""
    if g.state == "new":
        return _call(from_generators.first, (g, *default))
    try:
        return next(g)
    except StopIteration:
        if not default:
            raise
        return default[0]


def _call(fn: Callable[..., object], args: tuple[object, ...],
          kwargs: dict[str, object] | None = None) -> Any:
    return ABOVE.call_function(fn, args, kwargs or {})


def _is_foreign(fn: object, owner: object, name: str) -> bool:
    """Return whether a function of a library might go through a generator."""
    if (getattr(fn, "__module__", None) or "").partition(".")[0] in ("numpy", "scipy") or (
            isinstance(fn, np.ufunc)):
        return True
    return isinstance(fn, BuiltinFunctionType) and owner is not None and owner is not builtins and (
        not (isinstance(owner, (list, dict, deque)) and name in _STORES))


def _zipped(args: tuple[object, ...]) -> Any:
    """Return `zip` of one generator and things that have items by number."""
    found = [k for k, x in enumerate(args) if isinstance(x, UsersGenerator)]
    if len(found) != 1 or not all(
            isinstance(x, (Tracer, TracedIterable, list, tuple, range, np.ndarray))
            for k, x in enumerate(args) if k not in found):
        return NotImplemented
    k = found[0]
    return _call(from_generators.zipped, (args[:k], args[k], args[k + 1:]))
