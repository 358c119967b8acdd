"""Arrays joined along an axis, and taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import floor_div, minimum
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.ufunc_calls import write_reduced
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    cast,
    dtype_of,
    lift,
    promotion_key,
    same_dim,
    to_dim,
)
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.shapes import (
    atleast_1d,
    atleast_2d,
    exact_quotient,
    expand_dims,
    moveaxis,
    ravel,
    transpose,
)

__all__ = ["concatenate"]


def _promoted(arrays: Sequence[object], weak: Sequence[object] = ()) -> list[Tracer]:
    """Return arrays in one dtype; `weak` are they as given, if Python's numbers leave the dtype."""
    parts = [as_tracer(a) for a in arrays]
    dtype = np.result_type(*(p.dtype for p in parts))
    keys = [promotion_key(lift(a)) for a in weak]
    if any(isinstance(k, np.dtype) for k in keys):
        dtype = np.result_type(*(np.zeros(0, k) if isinstance(k, np.dtype) else k(0) for k in keys))
    return [p if p.dtype == dtype else cast(p, dtype) for p in parts]


def _rows(arrays: object, what: str, *options: object) -> Tracer | None:
    """Return the list of the arrays to be joined, where a size or data says how many these are.

    options -- arguments with which they are joined one by one, unless all are None
    """
    if not isinstance(arrays, Tracer) or not arrays.ndim or isinstance(arrays.dims[0], int) or any(
            x is not None for x in options):
        return None
    some = as_operand(arrays.dims[0]) > 0
    if isinstance(some, Tracer):
        ABOVE.require(some, ValueError, f"need at least one array to {what}")
    elif not some:
        raise ValueError(f"need at least one array to {what}")
    return arrays


def _joined(rows: Tracer, axis: object) -> Tracer:
    """Return the arrays that are the items of one, side by side along an axis that they have."""
    if axis is None:
        return rows.reshape(-1).copy()
    axis = normalize_axis(axis, rows.ndim - 1)
    moved = moveaxis(rows, 0, axis)
    return moved.reshape((*moved.shape[:axis], -1, *moved.shape[axis + 2:])).copy()


@captures(np.concatenate)
def concatenate(arrays: Any, axis: object = 0, out: object = None, *,
                dtype: npt.DTypeLike | None = None, casting: Any = "same_kind") -> Tracer:
    """Join arrays along an axis that they have."""
    rows = _rows(arrays, "concatenate", out, dtype) if casting == "same_kind" else None
    if rows is not None and rows.ndim > 1:
        return _joined(rows, axis)
    arrays = list(arrays)
    given = [as_tracer(a) for a in arrays]
    parts = _promoted(given, arrays if axis is None else ())
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were "
                        "provided.")
    to = dtype if dtype is not None else dtype_of(out) if out is not None else None
    if to is not None or casting != "same_kind":
        to = np.dtype(to) if to is not None else parts[0].dtype
        for x in given:
            if not np.can_cast(x.dtype, to, casting):
                raise TypeError(f"Cannot cast array data from {x.dtype!r} to {to!r} according to "
                                f"the rule {casting!r}")
        parts = [cast(p, to) for p in given]
    if axis is None:
        parts, axis = [ravel(p) for p in parts], 0
    if not parts:
        raise ValueError("need at least one array to concatenate")
    ndim = len(parts[0].dims)
    axis = normalize_axis(axis, ndim)
    first = parts[0].dims
    fitted = []
    for p in parts:
        if len(p.dims) != ndim or not all(
                k == axis or same_dim(d, e)
                for k, (d, e) in enumerate(zip(p.dims, first, strict=True))):
            raise ValueError("all the input array dimensions except for the concatenation axis "
                             "must match exactly")
        shape = tuple(d if k == axis else first[k] for k, d in enumerate(p.dims))
        fitted.append(p if shape == p.aval.shape else apply("reshape", p, shape=shape))
    result = apply("concatenate", *fitted, axis=axis)
    return write_reduced(np.concatenate, result, out)


@captures(np.stack)
def stack(arrays: Any, axis: int = 0, out: object = None, *,
          dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along a new axis."""
    rows = _rows(arrays, "stack", out, dtype)
    if rows is not None:
        return moveaxis(rows, 0, normalize_axis(axis, rows.ndim)).copy()
    parts = [as_tracer(a) for a in arrays]
    axis = normalize_axis(axis, len(parts[0].dims) + 1)
    return concatenate([expand_dims(p, axis) for p in parts], axis, out, dtype=dtype)


@captures(np.vstack)
def vstack(tup: Any, *, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along the first axis."""
    rows = _rows(tup, "concatenate", dtype)
    if rows is not None:
        return (rows.reshape((-1, 1)) if rows.ndim == 1 else rows).copy() if rows.ndim < 3 else (
            _joined(rows, 0))
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype)


@captures(np.hstack)
def hstack(tup: Any, *, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along the second axis, or the only one."""
    rows = _rows(tup, "concatenate", dtype)
    if rows is not None:
        return rows.reshape(-1).copy() if rows.ndim < 3 else _joined(rows, 1)
    parts = [atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if len(parts[0].dims) == 1 else 1, dtype=dtype)


@captures(np.column_stack)
def column_stack(tup: Any) -> Tracer:
    """Join vectors as columns."""
    rows = _rows(tup, "concatenate")
    if rows is not None and rows.ndim > 1:
        return rows.T.copy() if rows.ndim == 2 else _joined(rows, 1)
    parts = [as_tracer(a) for a in tup]
    return concatenate([transpose(atleast_2d(p)) if len(p.dims) < 2 else p for p in parts], 1)


@captures(np.append)
def append(arr: object, values: object, axis: object = None) -> Tracer:
    """Return an array with more at its end."""
    return concatenate([as_array(arr), as_array(values)], axis)  # a number counts as an array


def _cuts(places: object) -> list[Any] | None:
    """Return the places of cuts one by one, or None where a number of sections is given."""
    if isinstance(places, Tracer) and places.dims:
        count = need_int(places.dims[0], "np.split at the places that are in an array")
        return [places[k] for k in range(count)]
    if isinstance(places, TracedOperand) or not isinstance(places, Iterable) or (
            isinstance(places, np.ndarray) and not places.ndim):
        return None
    return list(places)


def _sections(number: Any) -> int:
    """Return how many parts are asked for: an int of the call becomes known."""
    if not isinstance(number, TracedOperand):
        return int(number)
    if isinstance(number, Tracer) and number.dtype.kind == "f":
        number = cast(number, np.int64)
    return need_int(to_dim(number), "how many parts an array is split into")


@captures(np.split)
def split(ary: object, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    """Return views of consecutive parts."""
    ary = as_tracer(ary)
    axis = normalize_axis(axis, len(ary.dims))
    cuts = _cuts(indices_or_sections)
    if cuts is not None:
        ends = [0, *cuts, None]
    else:
        sections = _sections(indices_or_sections)
        if sections < 1:
            raise ValueError("number sections must be larger than 0.")
        part = exact_quotient(ary.dims[axis], sections)
        uneven = "array split does not result in an equal division"
        if not same_dim(part * sections, ary.dims[axis], uneven):
            raise ValueError(uneven)
        ends = [as_operand(part * k) for k in range(sections + 1)]
    before = (slice(None),) * axis
    return [ary[(*before, slice(a, b))] for a, b in pairwise(ends)]


@captures(np.array_split)
def array_split(ary: object, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    """Return views of consecutive parts, the first ones longer where they cannot be equal."""
    if _cuts(indices_or_sections) is not None:
        return split(ary, indices_or_sections, axis)
    ary, sections = as_tracer(ary), _sections(indices_or_sections)
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    n = ary.dims[normalize_axis(axis, len(ary.dims))]
    part = floor_div(n, sections)
    longer, known = n - part * sections, current().builder.known
    return split(ary, [as_operand(part * k + minimum(longer, k, known))
                       for k in range(1, sections)], axis)
