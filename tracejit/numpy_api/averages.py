"""Averages, variances and covariances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.python.ufunc_calls import mask_of, require_shape, write_reduced
from tracejit.trace.values.equations import as_operand, cast, dims_of, dtype_of
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt
from tracejit.numpy_api.reductions import count_folded, in_folded_dtype, selected, sum_

__all__ = ["root_of_squares"]


def _as_inexact(a: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    a = as_tracer(a)
    if dtype is not None:
        return cast(a, dtype)
    return a if a.dtype.kind in "fc" else cast(a, np.float64)


@captures(np.mean, method="mean")
def mean(a: object, axis: Any = None, dtype: npt.DTypeLike | None = None, out: object = None,
         keepdims: object = False, *, where: object = True) -> Any:
    """Return the average."""
    a = _as_inexact(a, dtype)
    a = a if dtype is not None else in_folded_dtype(np.add, a, None, out)
    count = count_folded(a, axis)
    if where is not True:
        a = selected(a, where, 0)
        kept = broadcast_to(mask_of(where), tuple(map(as_operand, a.dims)))
        count = sum_(kept, axis, keepdims=keepdims)
    return write_reduced(np.add, _divided(sum_(a, axis, a.dtype, keepdims=keepdims), count), out)


def _divided(total: Any, count: object) -> Any:
    """Return a sum divided by how many its terms are, in the dtype of the sum."""
    return cast(total / (count if dims_of(count) else cast(count, np.float64)), total.dtype)


@captures(np.average)
def average(a: object, axis: object = None, weights: object = None, *,
            keepdims: object = False) -> Any:
    """Return the weighted average."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    weights = as_tracer(weights)
    a = as_tracer(a)
    if len(weights.dims) < len(a.dims):
        shape = [1] * len(a.dims)
        shape[normalize_axis(axis, len(a.dims))] = -1
        weights = weights.reshape(tuple(shape))
    weighted = a * weights
    total = sum_(broadcast_to(weights, tuple(map(as_operand, a.dims))), axis, keepdims=keepdims)
    require(np.all(total != 0), ZeroDivisionError, "Weights sum to zero, can't be normalized")
    return sum_(weighted, axis, keepdims=keepdims) / total


@captures(np.var, method="var")
def var(a: object, axis: Any = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, correction: object = None) -> Any:
    """Return the variance."""
    own = as_tracer(a).dtype.kind
    if dtype is not None and (own == "c" or np.dtype(dtype).kind != "f"):
        raise refuse(f"np.var and np.std of {as_tracer(a).dtype} in the dtype {np.dtype(dtype)} "
                     "cannot be captured", "Leave dtype out")
    a = _as_inexact(a, dtype)
    centred = a - mean(a, axis, keepdims=True)
    squares = np.real(centred * np.conj(centred)) if a.dtype.kind == "c" else centred * centred
    ddof = ddof if correction is None else correction
    freedom = count_folded(a, axis) - ddof
    freedom = max(freedom, 0) if isinstance(freedom, (int, float)) else np.maximum(freedom, 0)
    squares = squares if dtype is not None else in_folded_dtype(np.add, squares, None, out)
    result = _divided(sum_(squares, axis, keepdims=keepdims), freedom)
    return write_reduced(np.add, result, out)


def root_of_squares(squares: Any) -> Any:
    """Return the root of a sum of squares, whose derivative where all are 0 is taken to be 0."""
    return np.where(squares == 0, 0.0, np.sqrt(squares))


@captures(np.std, method="std")
def std(a: object, axis: object = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, correction: object = None) -> Any:
    """Return the standard deviation."""
    result = root_of_squares(var(a, axis, dtype, None, ddof, keepdims, correction=correction))
    result = result if dtype is None else cast(result, dtype)
    fits = out is not None and require_shape(np.add, result, out)
    if fits and not np.can_cast(result.dtype, dtype_of(out), "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output from {result.dtype!r} to "
                        f"{dtype_of(out)!r} with casting rule 'same_kind'")
    return write_reduced(np.add, result, out)


@captures(np.nanmean)
def nanmean(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """Return the average of what is not NaN."""
    a = as_tracer(a)
    a = a if a.dtype.kind in "fc" else cast(a, np.float64)
    kept = np.logical_not(np.isnan(a))
    total = sum_(np.where(kept, a, 0.0), axis, keepdims=keepdims)
    return cast(total / sum_(kept, axis, keepdims=keepdims), total.dtype)


@captures(np.cov)
def cov(m: object, y: object = None, rowvar: bool = True, bias: bool = False,
        ddof: object = None) -> Any:
    """Return the covariance matrix of the rows."""
    m = np.atleast_2d(as_tracer(m))
    m = m if rowvar else m.T
    if y is not None:
        other: Any = np.atleast_2d(as_tracer(y))
        m = np.concatenate([m, other if rowvar else other.T])
    m = cast(m, np.result_type(m.dtype, np.float64))
    centred = m - mean(m, axis=1, keepdims=True)
    ddof = (0 if bias else 1) if ddof is None else ddof
    return np.squeeze(centred @ np.conj(centred.T) / (as_operand(m.dims[1]) - ddof))


@captures(np.corrcoef)
def corrcoef(x: object, y: object = None, rowvar: bool = True) -> Any:
    """Return the correlation matrix of the rows."""
    c: Any = cov(x, y, rowvar)
    if not c.dims:
        return c / c
    deviations = np.sqrt(np.diag(c).real)
    return np.clip(c / deviations[:, None] / deviations[None, :], -1.0, 1.0)
