"""Areas under densities: integrals by Gauss and Legendre's rule, with all their derivatives.

A density is integrated from a number away from its mode, to where nothing is left of it: there it
falls, and 64 points are as good as float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.formulas import Formula

__all__ = ["LEFT", "area", "either_tail"]

LEFT = 42.0
"""The logarithm by which a density falls to where nothing is left of it."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def area(log_density: Formula, start: np.ndarray, length: np.ndarray, *shapes: np.ndarray) -> Any:
    """Return the integral of a density over an interval, of which the end is no variable."""
    size = stop_gradient(start + length) - start
    first, size, *given = [np.expand_dims(x, -1) for x in np.broadcast_arrays(
        start, size, *shapes)]
    at = first + size * (0.5 + 0.5 * _NODES)
    return np.sum(0.5 * _WEIGHTS * size * np.exp(log_density(at, *given)), axis=-1)


def either_tail(log_density: Formula, y: np.ndarray, mode: np.ndarray, length: np.ndarray,
                *shapes: np.ndarray) -> tuple[Any, Any]:
    """Return the shares below and above a number: one as an area, the other as what it leaves.

    mode   -- a number on whose sides the density falls
    length -- how far the density reaches from y, away from the mode
    """
    right = y > mode
    tail = area(log_density, y, np.where(right, length, -length), *shapes)
    tail = np.where(right, tail, -tail)
    return np.where(right, 1.0 - tail, tail), np.where(right, tail, 1.0 - tail)
