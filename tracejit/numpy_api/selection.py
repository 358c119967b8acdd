"""Indexing with arrays, masks, take, and writes at indices that are data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, is_nonneg
from tracejit.ir.lowering import Alias, Index, View
from tracejit.numpy_api.axes import along_axis, normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.masks import nonzero_places, require_mask_fits, select, write_selected
from tracejit.ops.gather import gathered_shape
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.views import At, IndexStep, whole
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    broadcast_dims,
    cast,
    dims_of,
    emit_value,
    fit,
    lift,
)
from tracejit.trace.values.indexing import (
    ADVANCED_GET,
    ADVANCED_SET,
    as_element,
    basic_key,
    broadcast_value,
    get_item,
    is_advanced,
    normalize,
    view,
    write_cell,
)
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["indices_along"]


# --- reading ------------------------------------------------------------------------------------


def _mask_of(parts: tuple[object, ...]) -> Tracer | None:
    (part, *rest) = parts
    if not rest and isinstance(part, Tracer) and part.dtype == np.bool_:
        return part
    return None


@captures(ADVANCED_GET)
def get_advanced(x: Tracer, parts: tuple[object, ...]) -> Any:
    """Return `x[key]` for a key that holds index arrays or a mask."""
    mask = _mask_of(parts)
    if mask is not None:
        return select(x, mask)
    base, indices, axes, position = _plan(x, parts)
    return tracer_of(emit_value("gather", [base.value, *(i.value for i in indices)],
                                {"axes": axes, "position": position}))


def _without_masks(x: Tracer, parts: tuple[object, ...]) -> tuple[Any, ...]:
    """Return a key of one part per axis, each mask replaced by its indices of true elements."""
    found: list[Any] = []
    for p in parts:
        if not (isinstance(p, Tracer) and p.dtype == np.bool_):
            found.append(p)
            continue
        require_mask_fits(p, x.dims, sum(q is not None for q in found))
        if not p.dims:
            raise refuse("a truth value among other indices cannot be captured",
                         "Use np.where, or an array of indices", "TJ223")
        found += nonzero_places(p)
    return tuple(found)


def _plan(x: Tracer,
          parts: tuple[object, ...]) -> tuple[Tracer, list[Tracer], tuple[int, ...], int]:
    """Split a key: the basic part as a view, then index arrays on axes of that view."""
    if any(isinstance(p, (bool, np.bool_)) for p in parts):
        raise refuse("True or False as an index cannot be captured", "Use x[None], or x[None][:0]",
                     "TJ223")
    consumed = sum(_axes_of(p) for p in parts)
    if consumed > len(x.dims):
        raise IndexError(f"too many indices for array: array is {len(x.dims)}-dimensional, but "
                         f"{consumed} were indexed")
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    filler = (slice(None),) * (len(x.dims) - consumed)
    if any(p is Ellipsis for p in parts):
        at = next(k for k, p in enumerate(parts) if p is Ellipsis)
        parts = (*parts[:at], *filler, *parts[at + 1:])
    else:
        parts = (*parts, *filler)
    parts = _without_masks(x, parts)
    if any(p is None for p in parts):
        x = get_item(x, tuple(None if p is None else slice(None) for p in parts))
        parts = tuple(slice(None) if p is None else p for p in parts)
    basic = tuple(p if isinstance(p, slice) else slice(None) for p in parts)
    base_key = basic_key(x.dims, basic)
    base = x if base_key.at == whole(x.dims) else view(x, IndexStep(base_key.at))
    axes = tuple(k for k, p in enumerate(parts) if not isinstance(p, slice))
    raw = [lift(parts[k]) for k in axes]
    shape = broadcast_dims([dims_of(i) for i in raw], (
        IndexError, "shape mismatch: indexing arrays could not be broadcast together"))
    indices = []
    for k, i in zip(axes, raw, strict=True):
        wrapped = _wrapped(i, base.dims[k], k)
        wrapped = fit(wrapped, shape)
        if dims_of(wrapped) != shape:
            wrapped = apply("broadcast_to", wrapped, shape=shape)
        indices.append(wrapped)
    together = axes == tuple(range(axes[0], axes[-1] + 1))
    return base, indices, axes, axes[0] if together else 0


def _axes_of(part: object) -> int:
    """Return for how many axes a part of a key is."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, Tracer) and part.dtype == np.bool_ else 1


def _wrapped(i: object, size: Any, axis: int) -> Tracer:
    if np.dtype(getattr(i, "dtype", type(i))).kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    index = cast(i, np.int64)
    value = index.value
    if _counts_to(value, size):
        return index
    return tracer_of(emit_value("wrap_index", [value], {"size": size, "axis": axis}))


def _counts_to(index: Value, size: Dim) -> bool:
    """Whether an index array holds numbers of 0..size-1 for certain, so that none need a check."""
    makers = {v: e for e in current().builder.scope.eqns for v in e.outputs}
    while index in makers and isinstance(makers[index].op.lowering, (View, Alias)):
        index = makers[index].inputs[0]  # type: ignore[assignment]
    maker = makers.get(index)
    if maker is None or not isinstance(maker.op.lowering, Index) or not index.aval.shape:
        return False
    count = index.aval.shape[0]
    first, last = (maker.op.lowering.element(maker.params, (i,)) for i in (0, count - 1))
    known = current().builder.known
    return is_nonneg(first, known) and is_nonneg(size - 1 - last, known)


# --- writing ------------------------------------------------------------------------------------


@captures(ADVANCED_SET)
def set_advanced(x: Tracer, parts: tuple[object, ...], value: object) -> None:
    """Carry out `x[key] = value` for a key that holds index arrays or a mask."""
    mask, value = _mask_of(parts), as_element(value, x.dtype, True)
    if mask is not None:
        write_selected(x, mask, value)
        return
    _scatter(x, parts, value, "scatter")


def _scatter(x: Tracer, parts: tuple[object, ...], value: object, op: str) -> None:
    base, indices, axes, position = _plan(x, parts)
    target = gathered_shape(base.dims, indices[0].dims, axes, position)
    value = broadcast_value(value, target)
    index_values = [i.value for i in indices]

    def put(elements: Value, at: At | None) -> Value:
        if at is not None:
            new = put(emit_value("index", [elements], {"at": at}), None)
            return emit_value("update", [elements, new], {"at": at})
        shape = gathered_shape(elements.aval.shape, indices[0].aval.shape, axes, position)
        given = atom_of(cast(value, x.dtype))
        if given.aval.shape != shape:  # sizes that turned out equal, written in two ways
            given = emit_value("reshape", [given], {"shape": shape})
        return emit_value(op, [elements, given, *index_values],
                          {"axes": axes, "position": position})

    at = base.steps[-1].at if base is not x and isinstance(base.steps[-1], IndexStep) else None
    if base is x or at is None:
        write_cell(x if base is x else base, put, None)
    else:
        write_cell(Tracer(base.cell, base.steps[:-1]), put, at)


CHANGES: list[Callable[..., None]] = []
"""What carries out `at` of other ufuncs: `ufunc_folds.py` enters it."""


@captures(np.ufunc.at)
def ufunc_at(ufunc: np.ufunc, a: Tracer, indices: object, b: object = None) -> None:
    """Carry out `ufunc.at`: unbuffered, so that repeated indices count each time."""
    parts = normalize(indices)
    if ufunc is np.subtract:
        ufunc, b = np.add, -lift(b)
    if ufunc is not np.add:
        CHANGES[0](ufunc, a, indices, b)
        return
    if any(map(is_advanced, parts)):
        _scatter(a, parts, lift(b), "scatter_add")
    else:
        a[indices] += b


# --- functions ----------------------------------------------------------------------------------


@captures(np.nonzero, method="nonzero")
def nonzero(a: object) -> tuple[Any, ...]:
    """Return the indices of elements that are not zero, per axis."""
    a = as_tracer(a)
    if not a.dims:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar)."
                         "nonzero() instead. If the context of this error is of the form "
                         "`arr[nonzero(cond)]`, just use `arr[cond]`.")
    return nonzero_places(a)


@captures(np.take, method="take")
def take(a: Any, indices: Any, axis: object = None, *, mode: str = "raise") -> Any:
    """Return elements at indices along an axis."""
    a = as_tracer(a)
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if axis is None or not a.dims:
        a, axis = along_axis(a, axis)
    axis = normalize_axis(axis, len(a.dims))
    if mode == "clip":
        indices = np.clip(indices, 0, as_operand(a.dims[axis]) - 1)
    elif mode == "wrap":
        indices = as_tracer(indices) % as_operand(a.dims[axis])
    found = a[(*(slice(None),) * axis, indices)]
    return found.own() if found.is_array else found  # of a view


@captures(np.take_along_axis)
def take_along_axis(arr: Any, indices: object, axis: object = -1) -> Any:
    """Return elements at indices that vary along the other axes."""
    arr, indices = as_tracer(arr), as_tracer(indices)
    if axis is None:
        if len(indices.dims) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = arr.reshape(-1), 0
    axis = normalize_axis(axis, len(arr.dims))
    if len(indices.dims) != len(arr.dims):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    return arr[tuple(indices_along(arr, indices, axis))]


@captures(np.ix_)
def ix_(*args: object) -> tuple[Any, ...]:
    """Return index arrays that pick the product of some indices per axis."""
    indices = [as_tracer(x) for x in args]
    if any(len(i.dims) != 1 for i in indices):
        raise ValueError("Cross index must be 1 dimensional")
    indices = [nonzero(i)[0] if i.dtype == np.bool_ else i for i in indices]
    return tuple(i.reshape((1,) * k + (-1,) + (1,) * (len(indices) - k - 1))
                 for k, i in enumerate(indices))


def indices_along(arr: Tracer, indices: Tracer, axis: int) -> list[Tracer]:
    """Return index arrays, one per axis, that broadcast to the shape of `indices`."""
    key = []
    for k, d in enumerate(arr.dims):
        shape = tuple(d if j == k else 1 for j in range(len(arr.dims)))
        key.append(indices if k == axis else apply("reshape", iota(d), shape=shape))
    return key
