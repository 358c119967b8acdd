"""Builtins that put traced items in order: `max`, `min` and `sorted`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.trace.containers.runs import has_runs
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.orders import EMPTY
from tracejit.trace.lists.rows import Rows
from tracejit.trace.python import list_functions
from tracejit.trace.python.builtin_calls import call_natively
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.item_functions import items_in_turn, items_taken, list_of
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.library import (
    extreme_by_comparing,
    extreme_by_key,
    extreme_by_keys,
    extreme_of_array,
    sorted_by_key,
    sorted_by_keys,
)
from tracejit.trace.python.own_orders import are_compared_by_data, compares_itself
from tracejit.trace.regions.branches import as_condition
from tracejit.trace.state.changes import is_iterator, note_made
from tracejit.trace.state.uncaptured import read_deeply
from tracejit.trace.values.equations import apply, apply_operator, cast, is_weak
from tracejit.trace.values.mixed import (
    Flag,
    Merged,
    Mixed,
    all_kinds_of,
    keys_of,
    kinds_of,
    merged,
    number_of,
    storage,
    united,
)
from tracejit.trace.values.python_numbers import strong
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["fold_by", "sorted_items"]


def fold_by(ufunc: Any, plain: Callable[..., object]) -> Callable[..., Any]:
    """`max(a, b)` and `max(array)`; the first of several equal ones wins, as in Python."""
    def of_array(x: Tracer, *default: object) -> Any:
        return call_function(extreme_of_array, (EMPTY[plain.__name__],
                                                ufunc is np.maximum, x, *default), {})

    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs.keys() - {"key", "default"} or (len(args) > 1 and "default" in kwargs):
            return plain(*[(0,)] * len(args), **kwargs)  # Python says what is wrong
        if len(args) == 1:
            items = (items_taken if kwargs.get("key") is None else items_in_turn)(args[0])
            if kwargs.get("key") is not None or has_runs(items) or _holds_rows(items):
                if kwargs or _holds_rows(items):
                    return _extreme_by_key(ufunc, plain, items, **kwargs)
                return list_functions.extreme(items, of_array, lambda x, y: _weak_pair(ufunc, x, y))
            if isinstance(items, Tracer) and items.ndim == 1:
                return of_array(items, *[kwargs[k] for k in ("default",) if k in kwargs])
            args = (tuple(items) if is_iterator(items) else items,)
        if kwargs.get("key") is not None or (len(args) > 1 and _holds_rows(args)):
            return _extreme_by_key(ufunc, plain, args, **kwargs)
        things = args[0] if len(args) == 1 else args
        if isinstance(things, (list, tuple)) and any(map(compares_itself, things)):
            return call_function(extreme_by_comparing, (ufunc is np.maximum, [*things]), {})
        if not any(map(holds_traced, args)):
            return call_natively(plain, args, kwargs)
        if len(args) == 1:
            args = tuple(args[0])
        result = args[0]
        for x in args[1:]:
            result = _weak_pair(ufunc, result, x)
        return result

    return function


def _holds_rows(xs: object) -> bool:
    """Return whether a list has tuples with traced numbers in them."""
    return isinstance(xs, (list, tuple)) and any(
        isinstance(x, Rows) or (isinstance(x, tuple) and holds_traced(x)) for x in xs)


def _extreme_by_key(ufunc: np.ufunc, plain: Callable[..., object], items: Any, *, key: Any = None,
                    **default: object) -> Any:
    """Return the largest or smallest item by a key: Python's own where no key is traced."""
    items = tuple(items) if is_iterator(items) else items
    largest = ufunc is np.maximum
    if isinstance(items, (list, tuple, range)) and not has_runs(items) and key is not None:
        keys = [call_function(key, (x,), {}) for x in items]
        if any(map(holds_traced, keys)):
            return call_function(extreme_by_keys, (largest, items, keys), {})
        read_deeply(keys)
        places = range(len(keys))
        found = call_natively(plain, (places,), {"key": keys.__getitem__, "default": None})
        return items[found] if keys else call_natively(plain, (items,), default)
    return call_function(extreme_by_key, (EMPTY[plain.__name__], largest,
                                          items, key, *default.values()), {})


def _weak_pair(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    if all(isinstance(v, (int, SymInt)) and not isinstance(v, bool) for v in (x, y)):
        fn = maximum if ufunc is np.maximum else minimum
        left, right = (v.dim if isinstance(v, SymInt) else v for v in (x, y))
        return of_dim(fn(left, right, current().builder.known))
    if any(isinstance(v, (list, tuple)) for v in (x, y)):
        raise refuse("the largest of lists or tuples of numbers that only the run knows",
                     "Compare numbers of theirs in an `if`", "TJ122")
    if any(isinstance(v, Tracer) and v.dims for v in (x, y)):
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use np.maximum or np.minimum")
    if any(isinstance(v, Mixed) and not isinstance(v, Merged) for v in (x, y)):
        return _mixed_pair(ufunc, x, y)
    other = as_condition(apply_operator(np.greater if ufunc is np.maximum else np.less,
                                        number_of(y), number_of(x)))
    if isinstance(other, bool):
        return y if other else x
    result = FUNCTIONS[np.where](other, number_of(y), number_of(x))
    if result.dtype.kind == "f":  # as one operation, of which a tie's gradient is known
        result = apply("larger" if ufunc is np.maximum else "smaller",
                       *(cast(number_of(v), result.dtype) for v in (x, y)))
    arrays = [v for v in (x, y) if isinstance(v, np.ndarray) or getattr(v, "is_array", False)]
    if any(v.dtype != result.dtype for v in arrays):
        return result
    if not arrays:
        result.weak = is_weak(x) and is_weak(y)
    found = _of_either_kind(result, x, lambda: np.logical_not(other), y)
    if arrays:
        found.cell.is_array = True
        found.cell.stands_for([v.cell for v in arrays if isinstance(v, Tracer)])
    return found


def _of_either_kind(result: Any, x: Any, is_first: Callable[[], Any], y: Any) -> Any:
    """Return the larger or smaller of two numbers, of the kind that it has."""
    first, second = all_kinds_of(x), all_kinds_of(y)
    flag = Flag(next(iter(keys_of(first))), is_first) if (
        len(keys_of(first)) == len(keys_of(second)) == 1) else None
    return merged(result, united(first, second), flag)


def _mixed_pair(ufunc: np.ufunc, x: object, y: Any) -> Any:
    """Return the larger or smaller of two numbers, which is of the kind of either."""
    kinds = united(kinds_of(x), kinds_of(y))
    mixed = x if isinstance(x, Mixed) else y
    if storage(kinds) != np.float64:
        mixed.tell_apart()
    a, b = (strong(number_of(v)) for v in (x, y))
    other = apply_operator(np.greater if ufunc is np.maximum else np.less, b, a)
    return Mixed(FUNCTIONS[np.where](other, b, a), kinds, mixed.tell_apart)


def sorted_items(xs: object, *, key: object = None, reverse: object = False) -> Any:
    """Return `sorted(xs, key=key, reverse=reverse)`."""
    found = list_of(list)(xs) if isinstance(xs, Tracer) or is_iterator(xs) else items_taken(xs)
    if has_runs(found):
        if key is not None or list_runs.joined(found) is None:
            return call_function(sorted_by_key, (found, key, reverse), {})
        return list_functions.ordered(found, key, reverse)
    if key is None and (numbers := list_functions.sorted_numbers(found, reverse)) is not None:
        return note_made(numbers)
    if key is not None or _holds_rows(found) or are_compared_by_data(found):
        return _sorted_items(list(found), key, reverse)
    return call_natively(sorted, (found,), {"key": key, "reverse": reverse})


def _sorted_items(items: list[object], key: Any, reverse: object) -> list[Any]:
    """Sort items of which Python knows how many there are: itself, where no key is traced."""
    keys = items if key is None else [call_function(key, (x,), {}) for x in items]
    if any(map(holds_traced, keys)) or are_compared_by_data(keys):
        found: list[Any] = call_function(sorted_by_keys, (items, keys, reverse), {})
        return found
    read_deeply(keys)
    order = call_natively(sorted, (range(len(items)),),
                          {"key": keys.__getitem__, "reverse": reverse})
    return note_made([items[k] for k in order])  # type: ignore[no-any-return]
