"""Polynomials that fit points, and the roots of polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.factors import lstsq
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.narrow_floats import require_lapacks_floats
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["require_points", "roots"]


def _inexact(x: object) -> Any:
    return as_tracer(x) + 0.0


@captures(np.polyfit)
def polyfit(x: object, y: object, deg: int, rcond: float | None = None, full: bool = False,
            w: object = None, cov: bool | str = False) -> Any:
    """Return the coefficients of the polynomial with the least squares of differences."""
    order, a, b = int(deg) + 1, _inexact(x), _inexact(y)
    if order < 1:
        raise ValueError("expected deg >= 0")
    require_points(a, b)
    require_lapacks_floats(a, b)
    if rcond is None:
        rcond = as_operand(a.dims[0]) * np.finfo(a.dtype).eps
    left: Any = np.vander(a, order)
    if w is not None:
        weights = _inexact(w)
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if not same_dim(weights.dims[0], b.dims[0]):
            raise TypeError("expected w and y to have the same length")
        left = left * weights[:, None]
        b = b * (weights[:, None] if b.ndim == 2 else weights)
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    c, residuals, rank, s = lstsq(left, b, rcond)
    c = np.transpose(np.transpose(c) / scale)
    if full:
        return c, residuals, rank, s, rcond
    return (c, _covariance(a, b, left, scale, residuals, order, cov)) if cov else c


def require_points(a: Tracer, b: Tracer) -> None:
    """Refuse, as NumPy does, places and values that no polynomial is fitted to."""
    if a.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if b.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if not same_dim(a.dims[0], b.dims[0]):
        raise TypeError("expected x and y to have same length")


def _covariance(a: Tracer, b: Tracer, left: np.ndarray, scale: np.ndarray,
                residuals: np.ndarray, order: int, cov: bool | str) -> Any:
    base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
    if cov == "unscaled":
        factor: Any = 1
    else:
        factor = residuals / as_operand(a.dims[0] - order)
    return base * factor if b.ndim == 1 else base[:, :, None] * factor


@captures(np.roots)
def roots(p: object) -> Any:
    """Return the roots of a polynomial: the eigenvalues of its companion matrix, complex."""
    x: Any = np.atleast_1d(as_tracer(p))
    if x.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    x = as_inexact(x)
    if current().are_equal(x.dims[0], 0, "whether there are coefficients"):
        return apply("full", np.float64(0), shape=(0,))
    if current().are_equal(x.dims[0], 1, "whether a polynomial is a constant"):
        return apply("full", np.complex128(0), shape=(0,))
    require_ours(np.logical_and(x[0] != 0, x[-1] != 0), NotCaptured, "np.roots of coefficients of "
                 "which the first or the last is zero is not captured: leave such out")
    k = apply("iota", size=x.dims[0] - 1)
    row, column = k[:, None], k[None, :]
    companion = np.where(row == 0, (-x[1:] / x[0])[None, :], cast(row == column + 1, x.dtype))
    return np.linalg.eigvals(companion)
