"""PyTorch's reductions, scans, sorting and statistics, in NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
import scipy.special as sp

__all__ = ["FORMS"]


def axes_of(dim: Any) -> Any:
    """Return axes as NumPy takes them; no dims at all are all of them."""
    if isinstance(dim, list | tuple):
        return tuple(dim) or None
    return dim


def reduction(function: Any) -> Any:
    """Return the form of a reduction with `dim` and `keepdim`."""
    def reduce(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(dtype)
        return function(x, axis=axes_of(dim), keepdims=keepdim)
    return reduce


def spread(function: Any) -> Any:
    """Return the form of a variance or standard deviation; PyTorch divides by n - 1."""
    def reduce(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False,
               correction: Any = None) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        ddof = float(unbiased) if correction is None else correction
        return function(x, axis=axes_of(dim), ddof=ddof, keepdims=keepdim)
    return reduce


def with_mean(form: Any) -> Any:
    def reduce(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False,
               correction: Any = None) -> Any:
        mean = np.mean(x, axis=None if isinstance(dim, bool) else axes_of(dim), keepdims=keepdim)
        return form(x, dim, unbiased, keepdim, correction), mean
    return reduce


def extremum(function: Any, where: Any) -> Any:
    """Return the form of a maximum or minimum along an axis, with its places."""
    def reduce(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return function(x)
        return function(x, axis=dim, keepdims=keepdim), where(x, axis=dim, keepdims=keepdim)
    return reduce


def scan(function: Any) -> Any:
    def accumulate(x: Any, dim: int, dtype: Any = None) -> Any:
        return function(np.atleast_1d(x), axis=dim).reshape(np.shape(x))
    return accumulate


def running(ufunc: Any) -> Any:
    def accumulate(x: Any, dim: int) -> Any:
        return ufunc.accumulate(np.atleast_1d(x), axis=dim).reshape(np.shape(x))
    return accumulate


def logcumsumexp(x: Any, dim: int) -> Any:
    return np.logaddexp.accumulate(np.atleast_1d(x), axis=dim).reshape(np.shape(x))


def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    return sp.logsumexp(x, axis=axes_of(dim), keepdims=keepdim)


def softmax(x: Any, dim: int, dtype: Any = None, **_: object) -> Any:
    return sp.softmax(x if dtype is None else x.astype(dtype), axis=dim)


def softmin(x: Any, dim: int, dtype: Any = None, **_: object) -> Any:
    return sp.softmax(-(x if dtype is None else x.astype(dtype)), axis=dim)


def log_softmax(x: Any, dim: int, dtype: Any = None, **_: object) -> Any:
    return sp.log_softmax(x if dtype is None else x.astype(dtype), axis=dim)


def quantile(function: Any) -> Any:
    def reduce(x: Any, q: Any, dim: Any = None, keepdim: bool = False,
               interpolation: str = "linear") -> Any:
        return function(x, q, axis=dim, keepdims=keepdim, method=interpolation)
    return reduce


def lower_median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower of two middle elements, as PyTorch does."""
    if dim is None or np.ndim(x) == 0:
        return np.sort(np.ravel(x))[(np.size(x) - 1) // 2]
    middle = (x.shape[dim] - 1) // 2
    found = np.take(np.sort(x, axis=dim), middle, axis=dim)
    places = np.take(np.argsort(x, axis=dim), middle, axis=dim)
    return (np.expand_dims(found, dim), np.expand_dims(places, dim)) if keepdim else (found, places)


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if np.ndim(x) == 0:
        return x, np.zeros((), int)
    order = np.argsort(x, axis=dim)
    place = np.take(order, [k - 1] if keepdim else k - 1, axis=dim)
    found = np.take(np.sort(x, axis=dim), [k - 1] if keepdim else k - 1, axis=dim)
    return found, place


def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if np.ndim(x) == 0:
        return x, np.zeros((), int)
    if descending:
        order = np.argsort(-x, axis=dim, kind="stable")
        return np.take_along_axis(x, order, axis=dim), order
    return np.sort(x, axis=dim), np.argsort(x, axis=dim)


def argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return sort(x, dim, descending)[1]


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if np.ndim(x) == 0:
        return x, np.zeros((), int)
    order = np.take(np.argsort(-x if largest else x, axis=dim), range(k), axis=dim)
    return np.take_along_axis(x, order, axis=dim), order


def aminmax(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return (np.min(x, axis=dim, keepdims=keepdim), np.max(x, axis=dim, keepdims=keepdim))


def argextremum(function: Any) -> Any:
    return lambda x, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    given = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(x, n, axis=dim, **given)


def gradient(x: Any, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    steps = [] if spacing is None else list(spacing) if isinstance(spacing, list | tuple) else [
        spacing]
    found = np.gradient(x, *steps, axis=axes_of(dim), edge_order=edge_order)
    return found if isinstance(found, list | tuple) else [found]


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, dim: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis=dim)


def cumulative_trapezoid(y: Any, x: Any = None, dx: float = 1.0, dim: int = -1) -> Any:
    return scipy.integrate.cumulative_trapezoid(y, x, dx, axis=dim)


def cov(x: Any, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def count_nonzero(x: Any, dim: Any = None) -> Any:
    return np.count_nonzero(x, axis=axes_of(dim))


def searchsorted(a: Any, v: Any, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Any = None) -> Any:
    return np.searchsorted(a, v, side=side or ("right" if right else "left"), sorter=sorter)


def bucketize(x: Any, boundaries: Any, out_int32: bool = False, right: bool = False) -> Any:
    return np.searchsorted(boundaries, x, side="right" if right else "left")


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return np.bincount(x, weights=weights, minlength=minlength)


def masked(fill: float, function: Any) -> Any:
    """Return the form of a reduction of the elements that a mask chooses."""
    def reduce(x: Any, dim: Any = None, keepdim: bool = False, mask: Any = None,
               dtype: Any = None) -> Any:
        chosen = x if mask is None else np.where(mask, x, np.array(fill, x.dtype))
        return function(chosen, axis=axes_of(dim), keepdims=keepdim)
    return reduce


def masked_mean(x: Any, dim: Any = None, keepdim: bool = False, mask: Any = None,
                dtype: Any = None) -> Any:
    if mask is None:
        return np.mean(x, axis=axes_of(dim), keepdims=keepdim)
    return np.mean(x, axis=axes_of(dim), keepdims=keepdim, where=np.broadcast_to(mask, x.shape))


def masked_spread(function: Any) -> Any:
    def reduce(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False,
               mask: Any = None, correction: Any = None) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        where = {} if mask is None else {"where": np.broadcast_to(mask, x.shape)}
        return function(x, axis=axes_of(dim), keepdims=keepdim,
                        ddof=int(unbiased) if correction is None else correction, **where)
    return reduce


def masked_scan(fill: float, function: Any) -> Any:
    def accumulate(x: Any, dim: int, mask: Any = None, dtype: Any = None) -> Any:
        return function(x if mask is None else np.where(mask, x, np.array(fill, x.dtype)), axis=dim)
    return accumulate


def masked_softmax(function: Any, sign: float = 1.0) -> Any:
    def normalise(x: Any, dim: int, mask: Any = None, dtype: Any = None) -> Any:
        filled = sign * x if mask is None else np.where(mask, sign * x, np.array(-np.inf, x.dtype))
        return function(filled, axis=dim)
    return normalise


def masked_logaddexp(x: Any, y: Any, input_mask: Any = None, other_mask: Any = None) -> Any:
    low = np.array(-np.inf, x.dtype)
    a = x if input_mask is None else np.where(input_mask, x, low)
    b = y if other_mask is None else np.where(other_mask, y, low)
    return np.logaddexp(a, b)


FORMS: dict[str, Any] = {
    **{name: reduction(f) for name, f in (
        ("all", np.all), ("any", np.any), ("amax", np.max), ("amin", np.min), ("mean", np.mean),
        ("nanmean", np.nanmean), ("sum", np.sum), ("nansum", np.nansum), ("prod", np.prod))},
    "argmax": argextremum(np.argmax), "argmin": argextremum(np.argmin),
    "count_nonzero": count_nonzero,
    **{name + tail: spread(f) for name, f in (("std", np.std), ("var", np.var))
       for tail in ("", "_unbiased")},
    **{name + "_mean" + tail: with_mean(spread(f)) for name, f in (("std", np.std), ("var", np.var))
       for tail in ("", "_unbiased")},
    "max_reduction_with_dim": extremum(np.max, np.argmax),
    "max_reduction_no_dim": extremum(np.max, np.argmax),
    "min_reduction_with_dim": extremum(np.min, np.argmin),
    "min_reduction_no_dim": extremum(np.min, np.argmin),
    "cumsum": scan(np.cumsum), "cumprod": scan(np.cumprod), "cummax": running(np.maximum),
    "cummin": running(np.minimum), "logcumsumexp": logcumsumexp, "logsumexp": logsumexp,
    "softmax": softmax, "softmax_with_dtype": softmax, "nn_functional_softmin": softmin,
    "nn_functional_softmin_with_dtype": softmin, "log_softmax": log_softmax,
    "log_softmax_with_dtype": log_softmax, "torch_ops_aten__safe_softmax_default": softmax,
    "quantile": quantile(np.quantile), "nanquantile": quantile(np.nanquantile),
    "median": lower_median, "kthvalue": kthvalue, "sort": sort, "argsort": argsort,
    "msort": lambda x: np.sort(x, axis=0), "topk": topk, "aminmax": aminmax, "diff": diff,
    "gradient": gradient, "trapz": trapezoid, "trapezoid": trapezoid,
    "cumulative_trapezoid": cumulative_trapezoid, "cov": cov, "corrcoef": np.corrcoef,
    "searchsorted": searchsorted, "bucketize": bucketize, "bincount": bincount,
    "isin": lambda x, y, **how: np.isin(x, y, **how),
    "unique": lambda x, sorted=True, return_inverse=False, return_counts=False, dim=None:
        np.unique(x, return_inverse=return_inverse, return_counts=return_counts, axis=dim),
    "trace": lambda x: np.trace(x),
    "masked_sum": masked(0.0, np.sum), "masked_prod": masked(1.0, np.prod),
    "masked_amax": masked(-np.inf, np.max), "masked_amin": masked(np.inf, np.min),
    "masked_logsumexp": masked(-np.inf, sp.logsumexp),
    "masked_mean": masked_mean, "masked_var": masked_spread(np.var),
    "masked_std": masked_spread(np.std), "masked_cumsum": masked_scan(0.0, np.cumsum),
    "masked_cumprod": masked_scan(1.0, np.cumprod), "masked_softmax": masked_softmax(sp.softmax),
    "masked_log_softmax": masked_softmax(sp.log_softmax),
    "masked_softmin": masked_softmax(sp.softmax, -1.0), "masked_logaddexp": masked_logaddexp,
}
