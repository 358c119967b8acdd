"""Polynomials of all degrees at points, in the bases of `numpy.polynomial`, and fits by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.factors import lstsq
from tracejit.numpy_api.fits import require_points
from tracejit.numpy_api.series_bases import Basis, powers, whole
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import as_operand, dims_of, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer

__all__ = ["fit", "products_of", "vander"]


def vander(basis: Basis, x: object, deg: object) -> Any:
    """Return the polynomials of all degrees at points, along a last axis."""
    degree = whole(deg, "deg")
    if degree < 0:
        raise ValueError("deg must be non-negative")
    at: Any = np.atleast_1d(as_tracer(x)) + 0.0
    return np.stack(powers(basis, at, degree), axis=-1)


def products_of(basis: Basis, points: Sequence[object], deg: Sequence[object]) -> Any:
    """Return products of polynomials at points of several coordinates, along a last axis."""
    if len(points) != len(deg):
        raise ValueError(f"Expected {len(points)} dimensions of degrees, got {len(deg)}")
    arrays = np.broadcast_arrays(*[np.atleast_1d(as_tracer(x)) + 0.0 for x in points])
    found: Any = vander(basis, arrays[0], deg[0])
    for x, d in zip(arrays[1:], deg[1:], strict=True):
        found = found[..., :, None] * vander(basis, x, d)[..., None, :]
        found = np.reshape(found, (*found.shape[:-2], found.shape[-2] * found.shape[-1]))
    return found


def fit(basis: Basis, x: object, y: object, deg: object, rcond: object, full: object,
        w: object) -> Any:
    """Return the coefficients with the least squares of differences."""
    a: Any = as_tracer(x) + 0.0
    b: Any = as_tracer(y) + 0.0
    deg = known_int(deg, "the degree of a series")
    if isinstance(deg, TracedOperand):
        raise refuse("a degree that is traced cannot be captured", "Pass an int", "TJ205")
    degrees = np.asarray(deg)
    if degrees.ndim > 1 or degrees.dtype.kind not in "iu" or not degrees.size:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if degrees.min() < 0:
        raise ValueError("expected deg >= 0")
    require_points(a, b)
    require(np.greater(a.shape[0], 0), TypeError, "expected non-empty vector for x")
    chosen = sorted(degrees.tolist()) if degrees.ndim else list(range(int(degrees) + 1))
    columns = powers(basis, a, max(chosen))
    left: Any = np.stack([columns[d] for d in chosen], axis=-1)
    c, *others = _least_squares(left, b, w, _condition(a, rcond))
    if degrees.ndim:
        places = {d: k for k, d in enumerate(chosen)}
        c = np.stack([c[places[d]] if d in places else 0.0 * c[0]
                      for d in range(max(chosen) + 1)])
    return (c, [*others, _condition(a, rcond)]) if full else c


def _condition(a: Tracer, rcond: object) -> Any:
    return as_operand(a.dims[0]) * float(np.finfo(a.dtype).eps) if rcond is None else rcond


def _least_squares(left: np.ndarray, b: np.ndarray | Tracer, w: object, rcond: float) -> Any:
    """Return the solution, in which columns count alike, and what `np.linalg.lstsq` has besides."""
    if w is not None:
        weights: Any = as_tracer(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if not same_dim(weights.dims[0], dims_of(as_tracer(b))[0]):
            raise TypeError("expected x and w to have same length")
        left, b = left * weights[:, None], b * (weights[:, None] if b.ndim == 2 else weights)
    squares = np.sum(np.real(left * np.conj(left)), axis=0)
    scale = np.sqrt(np.where(squares == 0, 1.0, squares))
    c, residuals, rank, s = lstsq(left / scale, b, rcond)
    return np.transpose(np.transpose(c) / scale), residuals, rank, s
