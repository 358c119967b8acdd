"""Averages, variances and covariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.python.ufunc_calls import mask_of, require_shape, write_reduced
from tracejit.trace.values.equations import as_operand, cast, dims_of, dtype_of, same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt
from tracejit.numpy_api.reductions import count_folded, in_folded_dtype, selected, sum_

__all__ = ["root_of_squares"]


def _as_inexact(a: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    return as_inexact(a) if dtype is None else cast(as_tracer(a), dtype)


@captures(np.mean, method="mean")
def mean(a: object, axis: object = None, dtype: npt.DTypeLike | None = None, out: object = None,
         keepdims: object = False, *, where: object = True) -> Any:
    """Return the average."""
    a = _as_inexact(a, dtype)
    if is_half(a.dtype) and dtype is None:
        found = mean(a, axis, np.float32, out, keepdims, where=where)
        return found if out is not None else cast(found, a.dtype)
    a = a if dtype is not None else in_folded_dtype(np.add, a, None, out)
    count = count_folded(a, axis)
    if where is not True:
        a = selected(a, where, 0)
        kept = broadcast_to(mask_of(where), tuple(map(as_operand, a.dims)))
        count = sum_(kept, axis, keepdims=keepdims)
    return write_reduced(np.add, _divided(sum_(a, axis, a.dtype, keepdims=keepdims), count), out)


_mean = mean


def _divided(total: Any, count: object) -> Any:
    """Return a sum divided by how many its terms are, in the dtype of the sum."""
    return cast(total / (count if dims_of(count) else cast(count, np.float64)), total.dtype)


@captures(np.average)
def average(a: object, axis: object = None, weights: object = None, returned: bool = False, *,
            keepdims: object = False) -> Any:
    """Return the weighted average, and the sum of the weights if that is asked for."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    a = as_tracer(a)
    if weights is None:
        found: Any = mean(a, axis, keepdims=keepdims)
        count = cast(count_folded(a, axis), found.dtype)
        return (found, broadcast_to(count, np.shape(found))[()]) if returned else found
    whole = _as_wide(as_tracer(weights), a, axis)
    total = sum_(whole, axis, keepdims=keepdims)
    require(np.all(total != 0), ZeroDivisionError, "Weights sum to zero, can't be normalized")
    found = sum_(a * whole, axis, keepdims=keepdims) / total
    return (found, cast(total, found.dtype)) if returned else found


def _as_wide(weights: Tracer, a: Tracer, axis: object) -> Tracer:
    """Return weights along some axes, broadcast to the shape of the array that they weigh."""
    if not (len(weights.dims) == len(a.dims) and all(map(same_dim, weights.dims, a.dims))):
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = [normalize_axis(k, len(a.dims)) for k in axes]
        if len(weights.dims) != len(places) or not all(
                same_dim(d, a.dims[k]) for d, k in zip(weights.dims, places, strict=True)):
            raise ValueError("Shape of weights must be consistent with shape of a along specified "
                             "axis.")
        turned: Any = np.transpose(weights, np.argsort(places).tolist())
        shape = [as_operand(d) if k in places else 1 for k, d in enumerate(a.dims)]
        weights = as_tracer(np.reshape(turned, shape))
    return broadcast_to(weights, tuple(map(as_operand, a.dims)))


def lost_degrees(ddof: object, correction: object) -> Any:
    """Return how many degrees of freedom are lost, which has two names."""
    if correction is None:
        return ddof
    require(np.equal(ddof, 0), ValueError,  # type: ignore[call-overload]
            "ddof and correction can't be provided simultaneously.")
    return correction


@captures(np.var, method="var")
def var(a: object, axis: object = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, where: object = True, mean: object = None,
        correction: object = None) -> Any:
    """Return the variance."""
    own = as_tracer(a).dtype.kind
    if dtype is not None and (own == "c" or np.dtype(dtype).kind != "f"):
        raise refuse(f"np.var and np.std of {as_tracer(a).dtype} in the dtype {np.dtype(dtype)} "
                     "cannot be captured", "Leave dtype out", "TJ206")
    a = _as_inexact(a, dtype)
    middle: Any = _mean(a, axis, keepdims=True, where=where) if mean is None else mean
    centred = a - middle
    squares = np.real(centred * np.conj(centred)) if a.dtype.kind == "c" else centred * centred
    ddof = lost_degrees(ddof, correction)
    freedom = _count(a, axis, where, keepdims) - ddof
    freedom = max(freedom, 0) if isinstance(freedom, (int, float)) else np.maximum(freedom, 0)
    squares = squares if dtype is not None else in_folded_dtype(np.add, squares, None, out)
    squares = squares if where is True else np.where(mask_of(where), squares, 0)
    result = _divided(sum_(squares, axis, keepdims=keepdims), freedom)
    return write_reduced(np.add, result, out)


def _count(a: Tracer, axis: object, where: object, keepdims: object) -> Any:
    """Return of how many elements a fold is, as a number or for each result."""
    if where is True:
        return count_folded(a, axis)
    mask = broadcast_to(mask_of(where), tuple(map(as_operand, a.dims)))
    return sum_(cast(mask, np.int64), axis, keepdims=keepdims)


def root_of_squares(squares: Any) -> Any:
    """Return the root of a sum of squares, whose derivative where all are 0 is taken to be 0."""
    return np.where(squares == 0, 0.0, np.sqrt(squares))


@captures(np.std, method="std")
def std(a: object, axis: object = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, where: object = True, mean: object = None,
        correction: object = None) -> Any:
    """Return the standard deviation."""
    result = root_of_squares(var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean,
                                 correction=correction))
    result = result if dtype is None else cast(result, dtype)
    fits = out is not None and require_shape(np.add, result, out)
    if fits and not np.can_cast(result.dtype, dtype_of(out), "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output from {result.dtype!r} to "
                        f"{dtype_of(out)!r} with casting rule 'same_kind'")
    return write_reduced(np.add, result, out)


@captures(np.nanmean)
def nanmean(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """Return the mean of the elements that are not NaN."""
    a = as_inexact(a)
    kept = np.logical_not(np.isnan(a))
    total = sum_(np.where(kept, a, 0.0), axis, keepdims=keepdims)
    return cast(total / sum_(kept, axis, keepdims=keepdims), total.dtype)


def _weights_of(x: Tracer, given: object, name: str) -> Tracer:
    """Return the weights of samples, the columns of `x`, or raise NumPy's error."""
    weights = as_tracer(given)
    if name == "fweights":
        require(np.all(weights == np.round(weights)), TypeError, "fweights must be integer")
    if len(weights.dims) != 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    wrong = f"incompatible numbers of samples and {name}"
    if current().are_equal(weights.dims[0], x.dims[1], wrong) is False:
        raise RuntimeError(wrong)
    require(np.all(weights >= 0), ValueError, f"{name} cannot be negative")
    return weights


@captures(np.cov)
def cov(m: object, y: object = None, rowvar: bool = True, bias: bool = False,
        ddof: object = None, fweights: object = None, aweights: object = None) -> Any:
    """Return the covariance matrix of the rows, of columns that may have weights."""
    x = _rows(m, rowvar, lambda t: len(t.dims) != 1)
    if y is not None:
        x = np.concatenate([x, _rows(y, rowvar, lambda t: len(t.dims) > 1 and not same_dim(
            t.dims[0], 1))])
    x = cast(x, np.result_type(x.dtype, np.float64))
    if isinstance(ddof, float) and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    ddof = (0 if bias else 1) if ddof is None else ddof
    given = [_weights_of(x, w, name) for w, name in (
        (fweights, "fweights"), (aweights, "aweights")) if w is not None]
    weights: Any = cast(given[0], np.float64) if given else None
    if len(given) == 2:
        weights = weights * given[1]
    if weights is None:
        centred = x - mean(x, axis=1, keepdims=True)
        left = np.maximum(as_operand(x.dims[1]) - ddof, 0)
        return np.squeeze(centred @ np.conj(centred.T) / left)
    total = np.sum(weights)
    centred = x - (np.sum(x * weights, axis=1) / total)[:, None]
    lost = ddof if aweights is None else ddof * np.sum(weights * given[-1]) / total
    return np.squeeze(centred @ np.conj((centred * weights).T) / np.maximum(total - lost, 0))


def _rows(m: object, rowvar: bool, turns: Callable[[Tracer], bool]) -> Any:
    """Return variables as rows; which arrays are turned where they are columns is NumPy's."""
    t = as_tracer(m)
    x: Any = np.atleast_2d(t)
    return x.T if not rowvar and turns(t) else x


@captures(np.corrcoef)
def corrcoef(x: object, y: object = None, rowvar: bool = True) -> Any:
    """Return the correlation matrix of the rows."""
    c: Any = cov(x, y, rowvar)
    if not c.dims:
        return c / c
    deviations = np.sqrt(np.diag(c).real)
    return np.clip(c / deviations[:, None] / deviations[None, :], -1.0, 1.0)
