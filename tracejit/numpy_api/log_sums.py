"""Sums of exponentials without overflow: `logsumexp` and `softmax`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axes
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import require_items
from tracejit.numpy_api.special_kinds import scipy_special
from tracejit.ops.calls import stop_gradient
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import REDUCTIONS, cast

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["log_softmax", "logsumexp", "softmax"]


def logsumexp(a: object, axis: Any = None, b: object = None, keepdims: bool = False) -> Any:
    """Return log(sum(exp(a))) without overflow, as `scipy.special.logsumexp`."""
    x: Any = as_inexact(a)
    if b is None:
        top = _top(np.real(x), axis)
        terms = np.exp(x - top)
    else:
        weights: Any = as_tracer(b)
        x, weights = np.broadcast_arrays(x, weights)
        nothing = weights == 0
        top = _top(np.where(nothing, -np.inf, np.real(x)), axis)
        terms = weights * np.exp(np.where(nothing, _bounded(x - top), x - top))
    total = np.log(np.sum(terms, axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, normalize_axes(axis, len(x.dims)))[()]


def _bounded(x: np.ndarray) -> Any:
    """Return an exponent with which a weight of 0 gives 0, and has its derivative."""
    return np.zeros_like(x) if x.dtype.kind == "c" else np.fmin(x, 700.0)


def _top(x: np.ndarray, axis: object) -> Any:
    """Return what to take off before exponentials are summed: a maximum that is finite, or 0."""
    top = stop_gradient(np.max(x, axis=axis, keepdims=True, initial=-np.inf))  # type: ignore[call-overload]
    return np.where(np.isfinite(top), top, 0.0)


def _log_add_reduce(a: object, axis: object = 0, keepdims: bool = False,
                    dtype: npt.DTypeLike | None = None) -> Any:
    a = as_tracer(a) if dtype is None else cast(a, dtype)
    if a.dtype.kind == "c":
        raise TypeError("ufunc 'logaddexp' not supported for the input types, and the inputs could "
                        "not be safely coerced to any supported types")
    if a.dtype.kind in "biu" and a.dtype.itemsize < 4:
        raise refuse(f"np.logaddexp.reduce of {a.dtype} cannot be captured: NumPy computes it in "
                     "half or single precision", "Convert the array with .astype(float) first",
                     "TJ206")
    if a.ndim == 0:
        return a
    return logsumexp(a, axis, keepdims=keepdims)


REDUCTIONS[np.logaddexp] = _log_add_reduce


def softmax(x: object, axis: Any = None) -> Any:
    """Return exponentials that sum to 1, as `scipy.special.softmax`."""
    x = as_tracer(x)
    e = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x: object, axis: object = None) -> Any:
    """Return the logarithm of `softmax`, as `scipy.special.log_softmax`."""
    wide: Any = as_inexact(x)
    if wide.dtype.kind == "c":
        raise refuse("scipy.special.log_softmax of complex numbers", "Use real ones", "TJ206")
    for k in normalize_axes(axis, len(wide.dims)):
        require_items(wide.dims[k], ValueError, "zero-size array to reduction operation maximum "
                      "which has no identity")
    below: Any = wide - _top(wide, axis)
    return below - np.log(np.sum(np.exp(below), axis=axis, keepdims=True))  # type: ignore[call-overload]


scipy_captures("scipy.special", {
    "logsumexp": logsumexp, "softmax": softmax, "log_softmax": log_softmax, **scipy_special()})
