"""Functions whose results are as long as data says, made of masks and of where they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import along_axis
from tracejit.numpy_api.creation import counted
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.masks import nonzero_places, positions
from tracejit.numpy_api.number_lines import histogram, histogram_bin_edges
from tracejit.numpy_api.ordering import argsort
from tracejit.numpy_api.shapes import ravel
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.state.known import constant_copy, known_array
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    cast,
    emit_value,
    same_dim,
    to_dim,
)
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["BY_DATA", "taken"]

BY_DATA: dict[Callable[..., object], Callable[..., Any]] = {}
"""What captures functions of NumPy where their operands are data."""


def _by_data(*functions: Callable[..., object]) -> Callable[..., Any]:
    def enter(capture: Callable[..., Any]) -> Callable[..., Any]:
        BY_DATA.update(dict.fromkeys(functions, capture))
        return capture

    return enter


def taken(a: Tracer, places: Tracer, axis: int = 0) -> Tracer:
    """Return the elements at places that are there, along an axis."""
    return apply("gather", a, places, axes=(axis,), position=axis)


# --- places -------------------------------------------------------------------------------------


@_by_data(np.flatnonzero)
def flatnonzero(a: object) -> Tracer:
    """Return the places of nonzero elements in the flat array."""
    return nonzero_places(ravel(as_tracer(a)))[0]


@_by_data(np.argwhere)
def argwhere(a: object) -> Any:
    """Return the indices of nonzero elements, a row for each element."""
    a = as_tracer(a)
    if not a.dims:
        return argwhere(a.reshape(1))[:, :0]
    return lay_out(np.stack(nonzero_places(a), axis=1), "F")


@_by_data(np.extract)
def extract(condition: object, arr: object) -> Any:
    """Return the elements of the flat array for which a condition holds."""
    return ravel(as_tracer(arr))[flatnonzero(condition)]


@_by_data(np.lexsort)
def lexsort(keys: object, axis: int = -1) -> Any:
    """Return the order that sorts by several keys, the last one first."""
    columns = [keys[k] for k in range(len(keys))] if isinstance(keys, Tracer) else list(keys)  # type: ignore[call-overload]
    if not columns:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    order: Any = None
    traced: list[Any] = [as_tracer(key) for key in columns]
    for key in traced[1:]:
        if len(key.dims) != len(traced[0].dims) or not all(
                map(same_dim, key.dims, traced[0].dims)):
            raise ValueError("all keys need to be the same shape")
    for column in traced:
        moved = column if order is None else np.take_along_axis(column, order, axis)
        new = argsort(moved, axis)
        order = new if order is None else np.take_along_axis(order, new, axis)
    return order


_by_data(np.histogram)(histogram)
_by_data(np.histogram_bin_edges)(histogram_bin_edges)


# --- sets ---------------------------------------------------------------------------------------


def _distinct(a: Tracer, equal_nan: bool) -> tuple[Tracer, Tracer, Tracer, Tracer]:
    """Return an array's elements sorted, their order, where a new one begins, and these places."""
    order = argsort(a)
    ordered = taken(a, order)
    n = a.dims[0]
    begins: Any = apply("full", np.True_, shape=(n,))
    other: Any = ordered[1:] != ordered[:-1]
    if equal_nan and a.dtype.kind in "fc":
        other = other & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    begins.cell.is_array = True
    begins[1:] = other
    return ordered, order, begins, positions(begins)


@_by_data(np.unique)
def unique(ar: object, return_index: object = False, return_inverse: object = False,
           return_counts: object = False, axis: object = None, *, equal_nan: bool = True,
           sorted: bool = True) -> Any:
    """Return the different elements, sorted."""
    if axis is not None:
        raise refuse("np.unique along an axis of an array that is data cannot be captured",
                     "Give each row a number, and find the different numbers", "TJ212")
    a = as_tracer(ar)
    flat = ravel(a)
    ordered, order, begins, places = _distinct(flat, equal_nan)
    found: list[Any] = [taken(ordered, places)]
    if return_index:
        found.append(taken(order, places))
    if return_inverse:
        which: Any = np.cumsum(begins) - 1
        blank = apply("full", np.int64(0), shape=flat.dims)
        inverse = apply("scatter", blank, which, order, axes=(0,), position=0)
        inverse = apply("reshape", inverse, shape=a.dims)
        inverse.cell.is_array = True
        found.append(inverse)
    if return_counts:
        end = emit_value("full", [atom_of(as_operand(flat.dims[0]))], {"shape": (1,)})
        found.append(np.diff(concatenate([places, tracer_of(end)])))
    return tuple(found) if len(found) > 1 else found[0]


@_by_data(np.unique_values)
def unique_values(x: object) -> Any:
    """Return the different elements, sorted: NumPy promises no order. No NaN equals another."""
    return unique(x, equal_nan=False)


@_by_data(np.unique_counts)
def unique_counts(x: object) -> Any:
    """Return the different elements and how often each is there; no NaN equals another."""
    return _named(np.unique_counts)(*unique(x, return_counts=True, equal_nan=False))


@_by_data(np.unique_inverse)
def unique_inverse(x: object) -> Any:
    """Return the different elements and which of them each is; no NaN equals another."""
    return _named(np.unique_inverse)(*unique(x, return_inverse=True, equal_nan=False))


@_by_data(np.unique_all)
def unique_all(x: object) -> Any:
    """Return the different elements, where they are first, which each is, how often each is."""
    return _named(np.unique_all)(*unique(x, True, True, True, equal_nan=False))


def _named(function: Callable[..., object]) -> Any:
    return type(function(np.zeros(1)))


def _flat(*arrays: object) -> list[Tracer]:
    """Return arrays flat and in one dtype."""
    flat = [ravel(as_tracer(x)) for x in arrays]
    dtype = np.result_type(*[x.dtype for x in flat])
    return [cast(x, dtype) for x in flat]


@_by_data(np.union1d)
def union1d(ar1: object, ar2: object) -> Any:
    """Return the elements in one of two arrays or in both, sorted."""
    return unique(np.concatenate((ar1, ar2), axis=None))  # type: ignore[arg-type]


@_by_data(np.intersect1d)
def intersect1d(ar1: object, ar2: object, assume_unique: bool = False,
                return_indices: bool = False) -> Any:
    """Return the elements in both of two arrays, sorted."""
    arrays = _flat(ar1, ar2)
    own: list[Any] = []
    if not assume_unique:
        pairs = [unique(x, return_index=True) for x in arrays]
        arrays, own = [p[0] for p in pairs], [p[1] for p in pairs]
    joined = concatenate(arrays)
    order = argsort(joined)
    ordered = taken(joined, order)
    places = positions(ordered[1:] == ordered[:-1])
    values = taken(ordered, places)
    if not return_indices:
        return values
    first = taken(order, places)
    second: Any = taken(order, places + 1) - as_operand(arrays[0].dims[0])
    return (values, own[0][first], own[1][second]) if own else (values, first, second)


@_by_data(np.setdiff1d)
def setdiff1d(ar1: object, ar2: object, assume_unique: bool = False) -> Any:
    """Return the elements in the first array and not in the second."""
    x, y = (ravel(as_tracer(a)) for a in (ar1, ar2))
    x = x if assume_unique else unique(x)
    return taken(x, positions(~np.any(x[:, None] == y, axis=1)))


@_by_data(np.setxor1d)
def setxor1d(ar1: object, ar2: object, assume_unique: bool = False) -> Any:
    """Return the elements in one of two arrays and not in both, sorted."""
    arrays = _flat(ar1, ar2)
    joined = concatenate(arrays if assume_unique else [unique(x) for x in arrays])
    ordered = taken(joined, argsort(joined))
    alone: Any = apply("full", np.True_, shape=ordered.dims)
    alone.cell.is_array = True
    differ = ordered[1:] != ordered[:-1]
    alone[1:] = differ
    alone[:-1] &= differ
    return taken(ordered, positions(alone))


@captures(np.isin)
def isin(element: object, test_elements: object, assume_unique: bool = False,
         invert: bool = False, *, kind: object = None) -> Any:
    """Return of each element whether it is in another array."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    x, others = as_tracer(element), ravel(as_tracer(test_elements))
    if kind == "table" and not {x.dtype.kind, others.dtype.kind} <= set("biu"):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. "
                         "Please select 'sort' or None for kind.")
    found = as_array(np.any(np.expand_dims(x, -1) == others, axis=-1))
    return as_array(~found) if invert else found


# --- counts -------------------------------------------------------------------------------------


@_by_data(np.bincount)
def bincount(x: object, weights: object = None, minlength: Any = 0) -> Any:
    """Return how often each of the numbers from 0 is there, or the sums of their weights."""
    a = as_tracer(x)
    if len(a.dims) != 1:
        raise ValueError("object too deep for desired array" if a.dims
                         else "object of too small depth for desired array")
    if a.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {a.dtype!r} to dtype('int64') according to "
                        "the rule 'safe'")
    require(np.greater_equal(minlength, 0), ValueError, "'minlength' must not be negative")
    a = cast(a, np.int64)
    if is_nothing(a.dims[0]):
        weights = None  # of nothing NumPy gives ints
    if weights is not None:
        given = as_tracer(weights)
        if given.dtype.kind == "c":
            raise TypeError(f"Cannot cast array data from {given.dtype!r} to dtype('float64') "
                            "according to the rule 'safe'")
        if len(given.dims) != 1 or not same_dim(given.dims[0], a.dims[0]):
            raise ValueError("The weights and list don't have the same length.")
    require(np.all(a >= 0), ValueError, "'list' argument must have no negative elements")
    size = to_dim(np.maximum(np.max(a, initial=-1) + 1, minlength))
    terms: Any = apply("full", np.int64(1), shape=a.dims) if weights is None else cast(
        as_tracer(weights), np.float64)
    result = apply("full", terms.dtype.type(0), shape=(size,))
    result.cell.is_array = True
    np.add.at(result, a, terms)
    return result


@captures(np.repeat, method="repeat")
def repeat(a: object, repeats: object, axis: object = None) -> Tracer:
    """Return an array with each element repeated, as often as one number says or each its own."""
    a, axis = along_axis(as_tracer(a), axis)
    if isinstance(repeats, (list, tuple, np.ndarray)) or (
            isinstance(repeats, Tracer) and repeats.dims):
        return _repeat_each(a, as_tracer(repeats), axis)
    if isinstance(repeats, Tracer) and repeats.dtype.kind in "biu":
        repeats = cast(repeats, np.int64)
        require(repeats >= 0, ValueError, "repeats may not contain negative values.")
        repeats = np.maximum(repeats, 0)
    count = counted(repeats, "repeats may not contain negative values.")
    inserted = (*a.dims[:axis + 1], 1, *a.dims[axis + 1:])
    spread = (*a.dims[:axis + 1], count, *a.dims[axis + 1:])
    result = apply("broadcast_to", apply("reshape", a, shape=inserted), shape=spread)
    shape = (*a.dims[:axis], a.dims[axis] * count, *a.dims[axis + 1:])
    return apply("reshape", result, shape=shape)


def _repeat_each(a: Tracer, counts: Tracer, axis: int) -> Tracer:
    """Return an array with each element repeated as often as its own count says.

    A mark for each element stands where its last repetition ends: the k-th element is at the
    places that have k marks before them.
    """
    if counts.dtype.kind not in "biu" or counts.dtype == np.uint64:
        raise TypeError(f"Cannot cast array data from {counts.dtype!r} to dtype('int64') "
                        "according to the rule 'safe'")
    if len(counts.dims) > 1:
        raise ValueError("object too deep for desired array")
    counts = cast(counts, np.int64)
    if counts.dims == (1,):
        return repeat(a, counts[0], axis)
    n = a.dims[axis]
    if not same_dim(n, counts.dims[0], "operands could not be broadcast together with shape "
                    "({0:.0f},) ({1:.0f},)"):
        raise ValueError(f"operands could not be broadcast together with shape ({n},) "
                         f"({counts.dims[0]},)")
    known = known_array(counts, "np.repeat has a result of this size", fixing=False)
    if known is not None:
        return taken(a, constant_copy(np.repeat(np.arange(len(known)), known)), axis)
    require(np.all(counts >= 0), ValueError, "repeats may not contain negative values.")
    counts = as_tracer(np.maximum(counts, 0))
    size = to_dim(np.sum(counts))
    ends = np.minimum(np.cumsum(counts), as_operand(size))
    marks = apply("scatter_add", apply("full", np.int64(0), shape=(size + 1,)),
                  apply("full", np.int64(1), shape=counts.dims), ends, axes=(0,), position=0)
    which: Any = np.cumsum(marks)[:-1]
    return taken(a, which, axis)
