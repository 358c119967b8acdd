"""Functions of Python's that take a generator of the user's: it takes items, all or some."""

from __future__ import annotations

import collections
import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.restarts import NeedSteps
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.iterables import TracedIterable
from tracejit.trace.lists.orders import EMPTY
from tracejit.trace.lists.ranges import constant_range
from tracejit.trace.python import from_generators
from tracejit.trace.python.itertools_in_python import ENDLESS, mapped_together
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.numbers_in_python import OF_NUMBERS
from tracejit.trace.python.own_orders import are_compared_by_data, searched_items
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__ = ["extends_one_by_one", "is_ours_called", "take", "takes", "takes_in_turn",
           "with_generators"]

_LISTS: tuple[Any, ...] = (list, tuple, sorted, dict, deque, collections.Counter)
"""The functions that take all items before they go on."""

_READS: tuple[Any, ...] = (sum, max, min, set, frozenset, math.prod, math.fsum, np.fromiter)
"""The functions that read each item before they take the next one."""

_LOOKS: tuple[Any, ...] = (bool, callable, enumerate, getattr, hasattr, id, isinstance, issubclass,
                           iter, map, print, setattr, type, zip)
"""The functions that look at a generator itself, or take one item after another."""

_WITH_TESTS: tuple[Any, ...] = (
    filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse)
"""The functions that ask a function of each item."""

_STORES = frozenset(("append", "appendleft", "insert", "setdefault", "__setitem__"))
_MERGES = frozenset(("update", "union", "intersection", "difference", "join"))


def is_ours_called(fn: Callable[..., object], args: tuple[object, ...]) -> bool:
    """Return whether the replacement of a function is called for arguments, not the function."""
    if fn in ENDLESS:
        return current().own_iterators and (fn is not itertools.repeat or len(args) == 1)
    return any(map(holds_traced, args)) or are_compared_by_data(searched_items(args)) or (
        fn in OF_NUMBERS and any(isinstance(x, (GeneratorType, UsersGenerator)) for x in args))


def takes(fn: object) -> bool:
    """Return whether one of Python's functions takes items."""
    return fn is zip or fn in from_generators.MAKERS or any(fn is f for f in (*_LISTS, *_READS))


def with_generators(fn: object, args: tuple[object, ...]) -> tuple[Any, ...]:
    """Return arguments with the generators of objects whose `__iter__` is a user's generator."""
    if (fn is max or fn is min) and len(args) > 1:
        return args
    if any(fn is f for f in (*_LISTS, *_READS)):
        first = args[:1] if fn is dict and args and hasattr(type(args[0]), "keys") else (
            tuple(map(ABOVE.begun, args[:1])))
        return (*first, *args[1:])
    args = tuple(map(ABOVE.begun, args))
    k = 1 if any(fn is f for f in _WITH_TESTS) else 0
    if not _is_decided_by_data(fn, args) or isinstance(args[k], UsersGenerator):
        return args
    return (*args[:k], _call(from_generators.MAKERS[itertools.chain], (args[k],)), *args[k + 1:])


def _is_decided_by_data(fn: object, args: tuple[object, ...]) -> bool:
    """Return whether data says how a function of `itertools` goes through known or traced items."""
    if fn is itertools.islice:
        return any(isinstance(x, TracedOperand) for x in args[1:])
    if fn is itertools.accumulate:
        return holds_traced(args[:1]) and len(args) > 1
    if fn is itertools.groupby or (fn is itertools.compress and holds_traced(args[1:])):
        return holds_traced(args[:1])
    return any(fn is f for f in _WITH_TESTS) and (isinstance(args[-1], Tracer) or (
        fn is not filter and holds_traced(args[1:])))


def extends_one_by_one(fn: Callable[..., object], args: tuple[object, ...]) -> bool:
    """Return whether a list has got the items before one that raises an error, which is caught."""
    return bool(current().attempts) and isinstance(getattr(fn, "__self__", None), (
        list, deque)) and fn.__name__ == "extend" and any(isinstance(x, Iterator) for x in args)


def takes_in_turn(fn: Callable[..., object], given: tuple[object, ...]) -> bool:
    """Return whether a call gets a generator, or adds items to a list one by one."""
    return any(isinstance(x, UsersGenerator) for x in given) or extends_one_by_one(fn, given)


def take(fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object],
         known: bool, is_users: Callable[..., bool]) -> Any:
    """Call a function with a generator; `NotImplemented` where an ordinary call will do.

    known    -- whether the function can be looked up in tables
    is_users -- tells a user's function from others
    """
    owner, name = getattr(fn, "__self__", None), getattr(fn, "__name__", "")
    if fn is next:
        return _next(*args)  # type: ignore[arg-type]
    if fn is zip and not kwargs.get("strict"):
        return _zipped(args)
    if isinstance(owner, (list, deque)) and name == "extend":
        return _call(from_generators.extended, (owner, *args))
    if fn is map and len(args) > 2 and (together := _zipped(args[1:])) is not NotImplemented:
        return _call(mapped_together, (args[0], together))
    if known and fn in from_generators.MAKERS and not (
            (fn is map and len(args) > 2) or (fn is functools.reduce and len(args) < 3)):
        return _call(from_generators.MAKERS[fn], args, kwargs)
    if (fn is max or fn is min) and len(args) == 1 and kwargs.get("key") is not None:
        default = (kwargs["default"],) if "default" in kwargs else ()
        return _call(from_generators.extreme, (EMPTY[name], fn is max,
                                               *args, kwargs["key"], *default))
    folded = _folded(fn, args, kwargs)
    if folded is not NotImplemented:
        return folded
    how = _reading(fn, args, kwargs, owner, name)
    if how is not None:
        args = tuple(_call(how, (x,)) if isinstance(x, UsersGenerator) else x for x in args)
        return _call(fn, args, kwargs)
    if fn is len:
        raise TypeError("object of type 'generator' has no len()")
    if not (any(fn is f for f in _LOOKS) or getattr(fn, "__module__", "") == "itertools" or (
            isinstance(owner, (list, dict, deque)) and name in _STORES) or is_users(fn)):
        raise refuse(f"{public_name(fn)} of a generator cannot be captured",
                     "Make its items a list first: list(...)", "TJ104")
    return NotImplemented


_FOLDS: tuple[tuple[Any, Callable[..., object]], ...] = (
    (sum, from_generators.summed), (math.prod, from_generators.multiplied),
    (max, from_generators.largest), (min, from_generators.smallest))


def _folded(fn: object, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Return a sum, product, maximum or minimum by a loop over the items; else `NotImplemented`."""
    fold = next((how for f, how in _FOLDS if f is fn), None)
    if fold is None or kwargs.keys() - {"start"} or (fn in (max, min) and len(args) > 1):
        return NotImplemented
    where = place_in_code(), fold.__name__
    if where in current().by_steps:
        return NotImplemented
    try:
        return _call(fold, args, kwargs)
    except Refusal:
        raise NeedSteps(where) from None


def _reading(fn: object, args: tuple[object, ...], kwargs: dict[str, object], owner: object,
             name: str) -> Callable[..., Any] | None:
    """Return the maker of a list of the items for a function that takes all of them."""
    if (kwargs.keys() & {"key", "count"} or (fn is np.fromiter and len(args) > 2)) and (
            fn is not sorted):
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
    if g.is_new:
        try:
            return _call(from_generators.first, (g, *default))
        except Refusal:
            raise NeedSteps(g.where) from None
    try:
        return next(g)
    except StopIteration:
        if not default:
            raise
        return default[0]


def _call(fn: Callable[..., object], args: tuple[object, ...],
          kwargs: dict[str, object] | None = None) -> Any:
    return ABOVE.call_function(fn, args, kwargs or {})


def _zipped(args: tuple[object, ...]) -> Any:
    """Return `zip` of one generator and things that have items by number."""
    found = [k for k, x in enumerate(args) if isinstance(x, UsersGenerator)]
    if len(found) != 1 or not all(
            isinstance(x, (Tracer, TracedIterable, list, tuple, range, np.ndarray))
            for k, x in enumerate(args) if k not in found):
        return NotImplemented
    args = tuple(constant_range(x) if isinstance(x, range) and x else x for x in args)
    k = found[0]
    return _call(from_generators.zipped, (args[:k], args[k], args[k + 1:]))
