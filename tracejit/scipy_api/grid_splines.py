"""Values between the points of a grid by splines and by monotone pieces, an axis after the other.

SciPy solves for a spline's coefficients by an iteration that ends some 1e-5 from them, unless
`solver=` says that it is to be `spsolve`: so are they solved for here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.scipy_api.bsplines import beside
from tracejit.scipy_api.interpolators import pchip_slopes
from tracejit.scipy_api.spline_making import through
from tracejit.trace.ground.context import current
from tracejit.trace.values.equations import dims_of

__all__ = ["DEGREES", "coefficients", "monotone_values", "require_points", "tensor_values"]

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5, "pchip": 3}


def require_points(points: Sequence[np.ndarray], method: str) -> None:
    """Raise SciPy's error where there are fewer points along an axis than a method takes."""
    k = DEGREES[method]
    for axis, x in enumerate(points):
        if current().decide(dims_of(x)[0] - k, "<=", "how many points a grid has"):
            raise ValueError(f"There are {dims_of(x)[0]} points in dimension {axis}, but method "
                             f"{method} requires at least  {k + 1} points per dimension.")


def coefficients(points: Sequence[np.ndarray], values: np.ndarray, k: int) -> tuple[Any, Any]:
    """Return the knots along each axis of the spline through values on a grid, and its factors."""
    found: Any = values
    knots: list[Any] = []
    for axis, x in enumerate(points):
        line: Any = through(x, np.moveaxis(found, axis, 0), k)
        knots.append(line.t)
        found = np.moveaxis(line.c, 0, axis)
    return knots, found


def _weights(t: np.ndarray, k: int, x: np.ndarray) -> tuple[Any, Any]:
    """Return the first of the k + 1 factors that count at each point, and the weights of them."""
    j = np.clip(np.searchsorted(t, x, side="right") - 1, k, t.shape[0] - k - 2)
    row: list[Any] = [np.ones_like(x)]
    for r in range(1, k + 1):
        longer, rest = [], np.zeros_like(x)
        for i, w in enumerate(row):
            left, right = t[j + 1 + i - r], t[j + 1 + i]
            share = w / (right - left)
            longer.append(rest + (right - x) * share)
            rest = (x - left) * share
        row = [*longer, rest]
    return j - k, np.stack(row, axis=1)


def tensor_values(knots: Sequence[np.ndarray], factors: np.ndarray, k: int,
                  columns: Sequence[np.ndarray]) -> Any:
    """Return a spline's values at points, given by their coordinates along each axis."""
    rank, at, weights = len(columns), [], []
    for axis, (t, x) in enumerate(zip(knots, columns, strict=True)):
        first, w = _weights(t, k, x)
        others = tuple(k + 1 if other == axis else 1 for other in range(rank))
        at.append(np.reshape(first[:, None] + np.arange(k + 1), (x.shape[0], *others)))
        weights.append(w)
    found: Any = factors[tuple(at)]
    for w in weights:
        found = np.sum(found * np.reshape(w, (*w.shape, *(1 for _ in found.shape[2:]))), axis=1)
    return found


def _between(x: np.ndarray, y: np.ndarray, at: np.ndarray, each: bool) -> Any:
    """Return monotone interpolations of y along its first axis at points.

    each -- whether the second axis of y is that of the points, so that each has its own values
    """
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, x.shape[0] - 2)
    s = pchip_slopes(x, y)
    own = (iota(dims_of(at)[0]),) if each else ()
    low, high = y[(i, *own)], y[(i + 1, *own)]
    s0, s1 = s[(i, *own)], s[(i + 1, *own)]
    h, d = beside(x[i + 1] - x[i], low), beside(at - x[i], low)
    m = (high - low) / h
    t = (s0 + s1 - 2.0 * m) / h
    return ((t / h * d + ((m - s0) / h - t)) * d + s0) * d + low


def monotone_values(points: Sequence[np.ndarray], values: np.ndarray,
                    columns: Sequence[np.ndarray]) -> Any:
    """Return values at points by `PchipInterpolator` along the last axis, then the one before."""
    rank = len(points)
    last = rank - 1
    found: Any = _between(points[last], np.moveaxis(values, last, 0), columns[last], False)
    for axis in reversed(range(last)):
        found = _between(points[axis], np.moveaxis(found, axis + 1, 0), columns[axis], True)
    return found
