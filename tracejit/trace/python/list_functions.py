"""Operators and functions of Python on lists whose length is a size."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from math import copysign
from typing import Any

import numpy as np

from tracejit.errors import LargeInt
from tracejit.ir.dims import Dim, dim_values, is_nonneg
from tracejit.trace.containers.runs import Run, Stored, array_of, copies, has_runs, length, size_of
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.lists.grown import plain_items
from tracejit.trace.lists.list_runs import give_up, is_plain_number, joined, the_run
from tracejit.trace.lists.orders import both_nan, require_known_equality
from tracejit.trace.lists.rows import Rows
from tracejit.trace.python.list_items import get_item, in_order, sorted_run, where_equal
from tracejit.trace.regions.branches import as_condition
from tracejit.trace.state.changes import note_made
from tracejit.trace.values.equations import cast
from tracejit.trace.values.mixed import (
    UNBOUNDED,
    Flag,
    Kind,
    Mixed,
    all_kinds_of,
    is_mixed,
    kinds_of,
    merged,
    number_of,
    storage,
    united,
)
from tracejit.trace.values.python_numbers import LIMIT, TOO_LARGE, require
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["any_item", "concatenated", "contains", "equal", "every_item", "extreme", "is_true",
           "items_of", "ordered", "sorted_numbers", "sum_of_array", "total", "unpacked"]


# --- operators ----------------------------------------------------------------------------------


def concatenated(a: Any, b: object) -> Any:
    """Return `a + b` of two lists, or two tuples."""
    return note_made(type(a)([*copies(a), *copies(b)]))


def equal(a: object, b: object) -> Any:
    """Return `a == b` of two lists, or two tuples."""
    if a is b:
        return True
    same_size = size_of(a) == size_of(b)
    if same_size is False:
        return False
    xs = a if has_runs(a) else b
    if not isinstance(same_size, bool):
        give_up(xs, "comparing lists")
    if not a or not b:
        return True
    x, y = joined(a), joined(b)
    if x is None or y is None or not (x.is_numbers and y.is_numbers):
        give_up(xs, "comparing lists")
    require_known_equality(both_nan(x.data, y.data))
    result = FUNCTIONS[np.all](x.data == y.data)
    return tracer_of(result.value, weak=True)


def contains(xs: Any, x: object) -> Any:
    """Return `x in xs`."""
    if not is_plain_number(x):
        give_up(xs, "looking for something in a list")
    return tracer_of(FUNCTIONS[np.any](where_equal(xs, x, "looking in a list")).value, weak=True)


def is_true(xs: object) -> Any:
    """Return whether a list has items."""
    return as_condition(size_of(xs))


# --- functions of lists -------------------------------------------------------------------------


def items_of(xs: Any) -> Iterator[Any]:
    """Yield the items one by one, which needs their number."""
    for p in list(xs):
        if not isinstance(p, Run):
            yield p
            continue
        if not isinstance(p.count, int):
            p.give_up("iterating over a list where it cannot be a loop")
        for k in range(p.count):
            yield p.item(k)


def unpacked(xs: object, count: int) -> tuple[Any, ...]:
    """Return the items that an assignment to several names unpacks."""
    from tracejit.trace.values.equations import same_dim

    if not same_dim(length(xs), count):
        trace, n = current(), length(xs)
        found = trace.number(n) if trace.is_known(n) else n
        relation = "not enough" if isinstance(found, int) and found < count else "too many"
        raise ValueError(f"{relation} values to unpack (expected {count})")
    return tuple(get_item(xs, k) for k in range(count))


def total(xs: object, start: object, add: Callable[[object, object], object]) -> Any:
    """Return `sum(xs, start)`."""
    result = start
    for p in plain_items(xs):
        if not isinstance(p, Run):
            result = add(result, p)
            continue
        if isinstance(p, Rows) or (isinstance(p, Stored) and p.nest):
            p.give_up("a sum of tuples or lists")
        if p.count == 0 or (p.is_numbers and _is_empty(p.count)):
            continue
        if not p.is_numbers:
            is_empty = current().decide(p.count, "==", "a sum of no arrays is a number")
            if is_empty:
                continue
            if is_empty is None and not is_nonneg(p.count - 1, current().builder.known) and any(
                    v in current().carried for v in dim_values(p.count)):
                p.give_up("a sum of no arrays is a number")
        result = add(result, _run_total(p))
    return result


def _run_total(run: Run) -> Any:
    data = run.data if isinstance(run, Stored) else run.array()
    if isinstance(run, Stored) and is_mixed(run.kinds):
        return _mixed_total(run)
    weak = isinstance(run, Stored) and run.weak
    kind = data.dtype.kind
    dtype = np.int64 if weak and kind == "b" else data.dtype if kind in "iu" else None
    result = FUNCTIONS[np.sum](data, axis=0, dtype=dtype)
    if weak and kind == "i":
        size = np.absolute(FUNCTIONS[np.sum](cast(data, np.float64), axis=0))
        require(size < LIMIT, LargeInt, TOO_LARGE)
    return result if result.ndim else or_nothing(scalar_of(result.value, weak=weak), run.count)


def sum_of_array(x: Tracer, start: Any) -> Any:
    """Return `sum(x, start)`."""
    if _is_empty(x.dims[0]):
        return start
    dtype = x.dtype if x.dtype.kind in "iu" else None  # as adding them one by one
    above = isinstance(start, int) or (isinstance(start, float) and copysign(1.0, start) > 0.0)
    if x.dtype.kind in "fc" and not above:  # of -0.0, a sum that begins with it
        beginning: Any = {"initial": x.dtype.type(-0.0)}
        return start + or_nothing(FUNCTIONS[np.sum](x, axis=0, **beginning), x.dims[0])
    return start + or_nothing(FUNCTIONS[np.sum](x, axis=0, dtype=dtype), x.dims[0])


def _is_empty(count: Dim) -> bool:
    """Return whether a sum is one of nothing, as far as sizes decide it."""
    return current().decide(count, "==", "whether a sum has terms decides of which type it is") is (
        True)


def or_nothing(total: Any, count: Dim) -> Any:
    """Return a sum of numbers: of none, as data may decide, it is the int 0."""
    trace = current()
    if not isinstance(total, Tracer) or is_nonneg(count - 1, trace.builder.known) or (
            trace.is_known(count)):
        return total
    nothing = Kind(np.dtype(np.int64), True, bound=0)
    return merged(total, united(kinds_of(total), {nothing}),
                  Flag(nothing.key, lambda: of_dim(count) == 0))


def _mixed_total(run: Stored) -> Any:
    """Return the sum of numbers of several kinds, which is of any of them."""
    many = 2 ** 32
    kinds = united(Kind(np.dtype(np.int64), True, bound=k.bound * many) if k.dtype.kind in "bi" else
                   k._replace(bound=UNBOUNDED) for k in run.kinds)
    if storage(kinds) is None or not run.is_numbers:
        run.tell_apart()
    return Mixed(FUNCTIONS[np.sum](run.data), kinds, run.tell_apart)


def extreme(xs: Any, of_array: Callable[[Tracer], Tracer],
            pair: Callable[[object, object], object]) -> Any:
    """Return `max(xs)`, or `min(xs)`.

    of_array -- returns that of an array
    pair -- returns that of two numbers
    """
    found = []
    xs = plain_items(xs)
    for p in xs:
        if isinstance(p, Run) and not (p.is_numbers and isinstance(p, Stored)):
            p.give_up("the largest or smallest of arrays or lists")
        if isinstance(p, Stored):
            if len(xs) > 1 and not is_nonneg(p.count - 1, current().builder.known):
                return extreme([the_run(xs, "the largest or smallest of a list")], of_array, pair)
            found.append(p.number(of_array(p.data).value))
        else:
            found.append(p)
    return functools.reduce(pair, found)


def any_item(xs: object) -> Any:
    """Return `any(xs)`."""
    return FUNCTIONS[np.any](the_run(xs, "any() of a list").data)


def every_item(xs: object) -> Any:
    """Return `all(xs)`."""
    return FUNCTIONS[np.all](the_run(xs, "all() of a list").data)


def ordered(xs: object, key: object, reverse: object) -> list[Any]:
    """Return `sorted(xs, key=key, reverse=reverse)`."""
    return note_made([sorted_run(xs, key, reverse)])  # type: ignore[no-any-return]


def sorted_numbers(xs: object, reverse: object = False) -> list[Any] | None:
    """Return the items of a list or tuple of floats, or ints, in order; None where none is traced.

    Where some are Python's and others NumPy's, each of the result may be of either kind.
    """
    if not isinstance(xs, (list, tuple)) or not any(
            isinstance(x, (Tracer, SymInt)) for x in xs):
        return None
    if not all(is_plain_number(x) and not (isinstance(x, int) and abs(x) >= LIMIT) for x in xs):
        return None
    kinds = united(*map(all_kinds_of, xs))
    dtype = storage(kinds)
    if dtype is None or any(k.dtype.kind not in "fi" or k.dtype.kind != dtype.kind for k in kinds):
        return None
    data = in_order(cast(array_of([number_of(x) for x in xs]), dtype))
    found = [merged(scalar_of(data[k].value, weak=all(kind.weak for kind in kinds)), kinds)
             for k in range(len(xs))]
    return found[::-1] if reverse else found
