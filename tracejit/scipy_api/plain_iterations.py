"""Iterations for linear systems as Python would have them: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["conjugate_gradients_end"]


def conjugate_gradients_end(a: np.ndarray, b: np.ndarray, x: np.ndarray, rtol: float,
                            atol: float) -> bool:
    """Return whether the method of conjugate gradients ends within SciPy's 10 n iterations.

    x -- where it begins
    """
    least = np.maximum(atol, rtol * np.sqrt(np.vdot(b, b).real))
    left = b - a @ x
    way = np.zeros_like(left)
    now = np.vdot(left, left).real
    before = now
    for _ in range(10 * len(b)):
        if np.sqrt(now) < least or np.all(b == 0.0):
            return True
        way = left + now / before * way  # (of zeros, in the first iteration)
        ahead = a @ way
        left = left - now / np.vdot(way, ahead) * ahead
        before = now
        now = np.vdot(left, left).real
    return False
