"""Functions that rest on order: sorting, medians, quantiles, and places in sorted tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.axes import along_axis, normalize_axes, normalize_axis
from tracejit.numpy_api.complex_numbers import complex_of, order_keys
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import is_nothing, require_items
from tracejit.numpy_api.selection import indices_along
from tracejit.numpy_api.shapes import moveaxis
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import METHODS, captures
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    cast,
    emit,
    same_dim,
)
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Lifted, Tracer, tracer_of

__all__ = ["ordered_along", "or_nan", "with_one_more"]


def require_no_fields(order: object) -> None:
    """Raise NumPy's error of an order of fields, which no captured array has."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


@captures(np.argsort, method="argsort")
def argsort(a: Any, axis: object = -1, kind: object = None, order: Any = None, *,
            descending: object = None) -> Any:
    """Return the order that sorts an array, equal elements in their own order."""
    require_no_fields(order)
    a, axis = along_axis(as_tracer(a), axis)
    moved = moveaxis(a, axis, -1)
    keys: list[Any] = order_keys(moved) if a.dtype.kind == "c" else [moved]
    if descending is not None and descending is not np._NoValue and descending:
        keys = [-key if key.dtype.kind == "f" else key if a.dtype.kind == "c" else ~key
                for key in keys]  # NaN stays behind
    for key in keys:
        if order is not None:
            key = np.take_along_axis(key, order, -1)
        places, _ = emit("argsort", [key.value])
        new: Any = tracer_of(places)
        order = new if order is None else np.take_along_axis(order, new, -1)
    return moveaxis(order, -1, axis)


@captures(np.sort)
def sort(a: Any, axis: object = -1, kind: object = None, order: Any = None, *,
         descending: object = None) -> Any:
    """Return a sorted copy."""
    require_no_fields(order)
    a = as_tracer(a)
    a, axis = along_axis(a, axis if axis is None else normalize_axis(axis, len(a.dims)))
    order = argsort(a, axis, descending=descending)
    places = [k if k is order else apply("broadcast_to", k, shape=a.dims)
              for k in indices_along(a, order, axis)]
    return apply("gather", a, *places, axes=tuple(range(len(places))), position=0)


def _sort_inplace(a: Tracer, axis: int = -1, kind: object = None, order: object = None, *,
                  descending: object = None) -> None:
    a[...] = sort(a, axis, kind, order, descending=descending)


METHODS["sort"] = _sort_inplace


@captures(np.median)
def median(a: object, axis: object = None, *, keepdims: bool = False) -> Any:
    """Return the middle of the sorted elements, or the mean of the two middle ones."""
    given, kept = ordered_along(a, axis)
    ordered = as_inexact(given)
    if is_nothing(ordered.dims[0]):
        nothing = np.mean(ordered, axis=0)
        return np.reshape(nothing, kept) if keepdims else nothing
    n = as_operand(ordered.dims[0])
    full, last = with_one_more(ordered), np.maximum(n - 1, 0)
    low, high = full[last // 2], full[n // 2]
    is_odd = np.equal(n % 2, 1)  # in the run: `==` of sizes would make two programs
    result = or_nan(np.where(is_odd, low, (low + high) / 2.0), as_tracer(full[last]))
    return np.reshape(result, kept) if keepdims else result


def with_one_more(ordered: Tracer) -> Tracer:
    """Return sorted floats with a NaN behind them where data decides how many there are.

    So one is there where none of them is.
    """
    if current().decide(ordered.dims[0], "==", "whether an array is empty") is not None:
        return ordered
    more = apply("full", ordered.dtype.type(np.nan), shape=(1, *ordered.dims[1:]))
    return as_tracer(np.concatenate([ordered, more]))


def ordered_along(a: object, axis: object) -> tuple[Tracer, tuple[Any, ...]]:
    """Return the elements sorted along the first axis, and the shape with that axis kept as 1."""
    a = as_tracer(a)
    kept: tuple[Any, ...] = (1,) * len(a.dims)
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif isinstance(axis, (tuple, list)):
        places = normalize_axes(tuple(axis), len(a.dims))
        kept = tuple(1 if k in places else as_operand(d) for k, d in enumerate(a.dims))
        rest = [k for k in range(len(a.dims)) if k not in places]
        moved: Any = np.transpose(a, [*places, *rest])
        a, axis = as_tracer(np.reshape(moved, (-1, *moved.shape[len(places):]))), 0
    else:
        axis = normalize_axis(axis, len(a.dims))
        kept = tuple(1 if k == axis else as_operand(d) for k, d in enumerate(a.dims))
    return moveaxis(sort(a, axis), axis, 0), kept


FEW = 16
"""Among how many numbers at most a place is found by counting those before it, in vectors."""


def or_nan(result: Lifted, last: Tracer) -> Any:
    """Return the result, or NaN where the last of the sorted elements is one."""
    if last.dtype.kind not in "fc":
        return result
    return np.where(np.isnan(last), last, result)


@captures(np.interp)
def interp(x: object, xp: object, fp: object, left: Any = None, right: Any = None,
           period: object = None) -> Any:
    """Interpolate linearly; NaN is behind all nodes."""
    x, xp, fp = map(as_tracer, (x, xp, fp))
    if period is not None:
        points, nodes, values = _unrolled(as_tracer(np.real(x)), as_tracer(np.real(xp)), fp, period)
        return interp(points, nodes, values)
    for nodes in (xp, fp):
        if len(nodes.dims) != 1:
            raise ValueError("object too deep for desired array" if nodes.dims
                             else "object of too small depth for desired array")
    if "c" in (x.dtype.kind, xp.dtype.kind):
        raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') "
                        "according to the rule 'safe'")
    if not same_dim(xp.dims[0], fp.dims[0]):
        raise ValueError("fp and xp are not of the same length.")
    require_items(xp.dims[0], ValueError, "array of sample points is empty")
    x, xp = cast(x, np.float64), cast(xp, np.float64)
    if fp.dtype.kind == "c":  # an infinite part leaves the other as it is
        return complex_of(*(interp(x, xp, part(fp), *(None if end is None else part(end)
                                                for end in (left, right)))
                      for part in (np.real, np.imag)))
    fp = cast(fp, np.float64)
    n = as_operand(xp.dims[0])
    below = searchsorted(xp, x, "right")
    k = np.clip(below - 1, 0, n - 2)
    x0, x1, f0, f1 = xp[k], xp[k + 1], fp[k], fp[k + 1]
    slope = (f1 - f0) / (x1 - x0)
    inside = slope * (x - x0) + f0
    again = slope * (x - x1) + f1  # as NumPy where infinities make the first NaN
    node = np.where(x == xp[-1], fp[-1], np.where(x == x0, f0, np.where(
        np.isnan(again) & (f0 == f1), f0, again)))
    inside = np.where(np.isnan(inside) & np.logical_not(np.isnan(x)), node, inside)
    result = np.where(x < xp[0], fp[0] if left is None else left, inside)
    return np.where(x > xp[-1], fp[-1] if right is None else right, result)


def _unrolled(x: Tracer, xp: Tracer, fp: Tracer, period: object) -> tuple[Any, Any, Any]:
    """Return points, nodes and values within one period, with a node more on either side."""
    require(period != 0, ValueError, "period must be a non-zero value")
    period = np.abs(as_tracer(period))
    places = xp % period
    order = np.argsort(places)
    places, values = places[order], fp[order]
    nodes = np.concatenate([places[-1:] - period, places, places[:1] + period])
    return x % period, nodes, np.concatenate([values[-1:], values, values[:1]])


@captures(np.searchsorted)
def searchsorted(a: object, v: Any, side: str = "left", sorter: object = None) -> Any:
    """Return where elements would have to be inserted to keep order."""
    if sorter is not None:
        a = as_tracer(a)[as_tracer(sorter)]
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    a, v = as_tracer(a), as_tracer(v)
    if len(a.dims) != 1:
        raise ValueError("object too deep for desired array" if a.dims
                         else "object of too small depth for desired array")
    dtype = np.promote_types(a.dtype, v.dtype)
    is_short = isinstance(a.dims[0], int) and a.dims[0] <= FEW
    if dtype.kind in "iuf" and not is_half(dtype) and not is_short:
        wanted = v if v.dims else np.expand_dims(v, 0)
        found = apply("search", cast(a, dtype), cast(wanted, dtype), right=side == "right")
        return found if v.dims else found[0]
    other = np.expand_dims(v, -1)
    before = a < other if side == "left" else a <= other
    if a.dtype.kind in "fc" or v.dtype.kind in "fc":  # NaN lies behind all others
        last = np.isnan(other)
        before = before | (last & (a == a if side == "left" else True))
    return np.sum(before, axis=-1)
