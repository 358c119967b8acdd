"""Calls with containers that data fills: which functions know these, and which get the items."""

from __future__ import annotations

import collections
import functools
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from tracejit.trace.containers.runs import has_runs, holds_runs
from tracejit.trace.containers.stand_ins import StandIn, as_key, is_walked
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.iterables import is_traced, read_now
from tracejit.trace.lists.orders import (
    are_few_things,
    are_numbers,
    changing,
    indexable,
    is_empty,
    is_known,
    orderable,
    readable,
    require_order,
    sort_columns,
)
from tracejit.trace.lists.pools import (
    in_one_run,
    lengthens,
    no_copies,
    own_place,
    own_size,
    place_here,
)
from tracejit.trace.python import list_items
from tracejit.trace.python.builtin_calls import call_natively
from tracejit.trace.python.from_generators import MAKERS
from tracejit.trace.python.keyed import DataDeque, DataDict, DataSet
from tracejit.trace.python.library import LIBRARY
from tracejit.trace.python.pooled import DataList
from tracejit.trace.python.users_functions import is_captured, is_librarys

__all__ = ["OF_RUNS", "call_list_method", "is_known_by_identity", "is_users", "items_in",
           "refuse_runs", "with_items"]


def items_in(x: StandIn) -> Any:
    """Return the items of a container's stand-in in the order of a loop over it; refuse a set's."""
    if isinstance(x, DataSet):
        raise x.refused("the order of the items")
    if isinstance(x, DataList):
        return ABOVE.call_function(x.on_walk, (), {})
    return ABOVE.call_function(x.on_items, (), {})


_UNORDERED: tuple[Any, ...] = (sorted, min, max, any, all, set, frozenset)
"""The builtins that do not tell in which order a set has its items, which are ints."""


_ORDERED: tuple[Any, ...] = (
    list, tuple, sum, zip, enumerate, map, reversed, deque, dict, np.array, np.asarray,
    np.fromiter, collections.Counter)
"""The functions that go through the items of an argument."""


_LAZY: tuple[Any, ...] = (zip, enumerate, map, reversed)
"""The functions among these that do so later, when the container may have changed."""


_ASKED: tuple[Any, ...] = (len, bool, isinstance, type, getattr, setattr, changing, is_walked,
                           no_copies)
"""The functions that know the stand-ins of deques, sets and dicts."""


_TAKES_ONE = frozenset(("append", "appendleft", "insert"))
"""The methods that put one thing into a list or deque as it is."""


def with_items(fn: Callable[..., object], args: tuple[object, ...],
                kwargs: dict[str, object]) -> tuple[object, ...]:
    """Return arguments with lists in place of the deques, sets and dicts that data fills."""
    known = is_known_by_identity(fn)
    if any(fn is f for f in _ASKED) or (known and fn in LIBRARY) or is_users(fn):
        return args
    found = [x for x in (*args, *kwargs.values()) if isinstance(x, StandIn)]
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, list) and fn.__name__ == "append":
        return args
    of_pools = all(isinstance(x, DataList) for x in found)
    if of_pools and (fn is reversed or (
            isinstance(owner, (list, deque)) and fn.__name__ in _TAKES_ONE)):
        return args
    is_lazy = any(fn is f for f in _LAZY) or (known and of_pools and fn in MAKERS)
    goes_through = is_lazy or any(fn is f for f in (*_UNORDERED, *_ORDERED)) or (
        isinstance(owner, list) and fn.__name__ == "extend") or (
        of_pools and known and (isinstance(fn, np.ufunc) or fn in FUNCTIONS))
    several = sum(isinstance(x, DataList) for x in found) > 1
    for x in found:
        if not goes_through or any(x is y for y in kwargs.values()) or (
                isinstance(x, DataSet) and not any(fn is f for f in (*_UNORDERED, sum))) or ((
                    fn is dict or fn is collections.Counter) and isinstance(x, DataDict)):
            raise x.refused(f"{getattr(fn, '__name__', 'a function')}()")
    return tuple(_items_for(x, is_lazy, several) if isinstance(x, StandIn) else x for x in args)


def _items_for(x: StandIn, is_lazy: bool, several: bool) -> Any:
    """Return a container's items as an argument; the container notes items that are read later.

    several -- whether more than one argument would be a generator
    """
    if isinstance(x, DataList) and is_lazy and not several:
        return ABOVE.call_function(x.on_walk, (), {})
    items = ABOVE.call_function(x.on_items, (), {})
    if is_lazy and isinstance(x, (DataDeque, DataList)):
        indexable(items)
    if is_lazy:
        x.owner.shown.append(items)
    return items


def is_known_by_identity(fn: Any) -> bool:
    """Return whether something can be looked up in tables of functions: no code of users' runs."""
    kind = type(fn)
    if kind is MethodType:  # of a class, say: methods are equal where objects are the same
        return isinstance(fn.__self__, type) and type(fn.__func__) is FunctionType
    return kind is BuiltinFunctionType or (kind.__eq__, kind.__hash__) == _BY_IDENTITY


_BY_IDENTITY: tuple[Any, Any] = (object.__eq__, object.__hash__)


OF_RUNS: tuple[Any, ...] = (
    len, sum, max, min, any, all, list, tuple, zip, enumerate, reversed, isinstance, type, iter,
    map, sorted, bool, functools.reduce, getattr, setattr, dict, np.fromiter)
"""The builtins that know lists of which a size says how long they are."""


_SHOWS: tuple[Any, ...] = (print, id, indexable, readable, sort_columns, as_key, changing, is_empty,
                           are_numbers, are_few_things, orderable, require_order,
                           is_known, is_walked, is_traced, read_now, own_place, own_size,
                           place_here, in_one_run, lengthens)
"""The functions that do not look at how long a list is, or know."""


def is_users(fn: Callable[..., object]) -> bool:
    """Return whether a call only hands its arguments on to captured code."""
    if any(fn is f for f in _SHOWS):
        return True
    if isinstance(fn, FunctionType):
        return fn.__code__ is not None and is_captured(fn)
    if isinstance(fn, (MethodType, functools.partial)):
        return True  # its function is asked when it is called
    if isinstance(fn, type):
        init = fn.__init__  # type: ignore[misc]
        return isinstance(init, FunctionType) and not is_librarys(init)
    call = type(fn).__call__ if callable(fn) else None
    return (isinstance(call, FunctionType) and not is_librarys(call) and (
        type(fn).__module__.partition(".")[0] != "tracejit")) or hasattr(fn, "py_func") or (
        isinstance(fn, BuiltinFunctionType) and isinstance(
            getattr(fn, "__self__", None), (dict, set)) and fn.__name__ != "update")


def refuse_runs(fn: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> NoReturn:
    xs = next(x for x in (*args, *kwargs.values()) if holds_runs(x))
    list_runs.give_up(xs, f"{getattr(fn, '__name__', 'a function')}() of a list")


def call_list_method(fn: Any, args: tuple[object, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a list, or with a list, of which a size says how long it is."""
    owner, name = fn.__self__, fn.__name__
    method = list_items.METHODS.get(name)
    if not has_runs(owner) and name in ("append", "insert", "__setitem__"):
        return call_natively(fn, args, kwargs)  # the list goes in as it is
    if method is None or not (isinstance(owner, list) or name in ("index", "count")):
        xs = next(x for x in (owner, *args, *kwargs.values()) if holds_runs(x))
        list_runs.give_up(xs, f"{type(owner).__name__}.{name}()")
    if not has_runs(owner) and name != "extend":
        refuse_runs(fn, args, kwargs)
    return method(owner, *args, **kwargs)
