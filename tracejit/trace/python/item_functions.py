"""Builtins that go through items, traced ones too: `list`, `sum`, `any`, `map` and others."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.trace.containers.runs import Run, as_array_operand, has_runs
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import NotRepeatable
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.iterables import (
    Iterated,
    TracedIterable,
    as_index,
    as_now,
    counted,
    make_zip,
)
from tracejit.trace.python import list_functions, list_making
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.iterating import iterate, mapping_of
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.number_functions import require_scalar, to_bool
from tracejit.trace.python.operations import binary
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.python.truths import any_of, truth
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.state.changes import is_iterator, note_made, note_new
from tracejit.trace.state.left_iterators import iterators_in, note_left
from tracejit.trace.state.uncaptured import read_deeply
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require, strong
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["list_of", "items_taken", "items_in_turn", "sum_of", "fsum_of", "any_is_true",
           "all_are_true", "map_over", "reduce_items", "array_of_items"]


def sum_of(iterable: object, start: Any = 0) -> Any:
    """Return `sum(iterable, start)`."""
    if isinstance(iterable, Tracer) and iterable.dims:
        return list_functions.sum_of_array(iterable, start)
    found = items_taken(iterable)
    if has_runs(found):
        return list_functions.total(found, start, functools.partial(binary, "Add"))
    items = tuple(map(as_now, found) if is_iterator(found) else found)
    if any(special_method(x, "__add__") for x in (start, *items)):
        return functools.reduce(functools.partial(binary, "Add"), items, start)
    return note_new(builtins.sum(items, start), (start, *items))


def fsum_of(iterable: object) -> Any:
    """Return a sum of floats and of its rounding errors: T. Ogita, S. Rump, S. Oishi, 2005."""
    if isinstance(iterable, Tracer):
        raise refuse("math.fsum of an array cannot be captured", "Use np.sum, or a list of numbers",
                     "TJ203")
    total, lost = np.float64(0.0), np.float64(0.0)
    items = tuple(items_taken(iterable))
    if not any(isinstance(x, TracedOperand) for x in items):
        return math.fsum(items)
    for x in items:
        if isinstance(x, Tracer):
            require_scalar(x)
        if issubclass(type_of(x), (complex, np.complexfloating)):
            raise TypeError("must be real number, not complex")
    floats = [strong(cast(x, np.float64)) for x in items]
    for x in floats:
        new = total + x
        back = new - total
        lost = lost + ((total - (new - back)) + (x - back))
        total = new
    unknown = functools.reduce(np.logical_or, map(np.isnan, floats))
    endless = functools.reduce(np.logical_or, map(np.isinf, floats))
    require(np.logical_or(unknown, np.logical_not(np.isnan(total))), ValueError,
            "-inf + inf in fsum")
    require(np.logical_or(endless, np.logical_not(np.isinf(total))), OverflowError,
            "intermediate overflow in fsum")
    result: Any = np.where(np.isfinite(total), total + lost, total)
    result.weak = True
    return result


def list_of(kind: type) -> Callable[..., Any]:
    """Return `list`, `tuple`, `dict` or `set` as a function of traced items."""
    def function(*args: Any, **items: object) -> Any:
        if len(args) == 1 and kind in (list, tuple):
            found = list_making.list_from(args[0])
            if found is not None:
                return note_made(kind(found))
        if kind not in (list, tuple):
            read_deeply([args, items])
        if kind is dict and args and special_method(args[0], "__getitem__") and (
                hasattr(type(args[0]), "keys")):
            return note_made({**mapping_of(args[0]), **items})
        if kind is set or kind is dict:
            args = tuple(tuple(list_functions.items_of(found)) if has_runs(found := items_taken(x))
                         else found for x in args)
        return note_made(kind(*map(items_taken, args), **items))

    return function


def items_taken(x: object) -> Any:
    """Return the items for a builtin, where Python would call a user's method for them."""
    if isinstance(x, (TracedIterable, Iterated)):
        found = list_making.list_from(x)
        return tuple(x) if found is None else found
    if isinstance(x, (SymInt, Tracer)) and not x.ndim:
        return iter(x)  # which raises
    return x if special_method(x, "__iter__") is None else tuple(iterate(x))


_IN_TURN = ("items that another function takes one after the other", "Make them a list first")


def items_in_turn(x: object) -> Any:
    """Return the items of an iterable, for a builtin that calls a function between two items."""
    with drawing_nothing(*_IN_TURN):
        items = items_taken(x)
        return tuple(items) if is_iterator(items) else items


_UNTIL = ("the items of any() or all(), which stop at the first item that decides",
          "Make it a list: any([...]), or write the loop out")


def any_is_true(iterable: object) -> Any:
    """Return `any(iterable)`."""
    return _decided(iterable, list_functions.any_item, any_of)


def all_are_true(iterable: object) -> Any:
    """Return `all(iterable)`."""
    return _decided(iterable, list_functions.every_item, _each_of)


def _decided(iterable: object, of_runs: Callable[..., object],
             of_items: Callable[[Iterable[object]], object]) -> Any:
    """Return the truth of items, of which all are made: refused if that changes anything, and data
    decides how many of them Python makes.
    """
    truths: list[object] = []

    def noted(items: Iterable[object]) -> Iterator[object]:
        for x in items:
            truths.append(truth(x))
            yield truths[-1]

    def decided() -> Any:
        items = items_taken(iterable)
        if has_runs(items):
            truths.append(None)
            return to_bool(of_runs(items))
        return to_bool(of_items(noted(items)))

    with drawing_nothing(*_UNTIL):
        if not (is_iterator(iterable) or isinstance(iterable, (Iterated, TracedIterable))):
            return decided()
        left = [*iterators_in(iterable)]
        try:
            with current().watched() as frame:
                result = decided()
        except NotRepeatable:
            if any(f.kind == "probe" for f in current().frames):
                raise
            raise refuse(*_CHANGES) from None
    if all(isinstance(x, bool) for x in truths):
        return result
    if frame.written or frame.contents:
        raise refuse(*_CHANGES)
    note_left(left)
    return result


_CHANGES = (f"a change of something by {_UNTIL[0]}", _UNTIL[1], "TJ104")


def _each_of(iterable: Any) -> Any:
    result: Any = True
    for x in iterable:
        x = truth(x)
        if x is False:
            return False
        result = x if result is True else np.logical_and(result, x) if x is not True else result
    return result


def map_over(fn: Callable[..., object], *xs: object) -> Any:
    """Return `map(fn, *xs)`."""
    if any(isinstance(x, (Tracer, TracedIterable, Iterated)) or has_runs(x) for x in xs):
        zipped = counted(make_zip(*xs))
        assert zipped is not None
        mapped = TracedIterable(zipped.lo, zipped.hi,
                                lambda k: call_function(fn, zipped.item(k), {}), "map()")
        mapped.walks = zipped.walks
        return Iterated(mapped)
    return (call_function(fn, items, {}) for items in zip(*xs, strict=False))


def array_of_items(iterable: object, dtype: npt.DTypeLike, count: int = -1) -> Any:
    """Return the items of an iterable as an array."""
    items = list_of(list)(iterable)
    if any(isinstance(x, (list, tuple)) or (isinstance(x, Tracer) and x.dims) or (
            isinstance(x, Run) and not x.is_numbers) for x in items):
        raise ValueError("setting an array element with a sequence.")
    count = as_index(count)
    if has_runs(items) and count != -1:
        list_runs.give_up(items, "fromiter() of some items")
    if not isinstance(count, int):
        raise refuse("fromiter() of as many items as the run says", "Write fromiter(...)[:count]",
                     "TJ111")
    if count > len(items):
        raise ValueError(f"iterator too short: Expected {count} but iterator had only "
                         f"{len(items)} items.")
    return FUNCTIONS[np.array](as_array_operand(items if count == -1 else items[:max(count, 0)]),
                               dtype=dtype)


def reduce_items(fn: Callable[..., object], xs: object, *start: object) -> Any:
    """Return `functools.reduce(fn, xs, *start)`."""
    with drawing_nothing(*_IN_TURN):
        items = items_taken(xs)
    return functools.reduce(lambda a, b: call_function(fn, (a, b), {}),
                            list_functions.items_of(items) if has_runs(items) else items, *start)
