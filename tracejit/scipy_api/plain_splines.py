"""Solving for splines as Python would have it: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["tridiagonal"]


def tridiagonal(low: np.ndarray, middle: np.ndarray, up: np.ndarray,
                right: np.ndarray) -> np.ndarray:
    """Return the solution of a tridiagonal system, without pivoting.

    low, middle, up -- each row's elements before, on and behind the diagonal
    right           -- n times m
    """
    n = len(middle)
    pivots, result = middle.copy(), right.copy()
    for i in range(1, n):
        w = low[i] / pivots[i - 1]
        pivots[i] = pivots[i] - w * up[i - 1]
        result[i] = result[i] - w * result[i - 1]
    result[n - 1] = result[n - 1] / pivots[n - 1]
    for k in range(1, n):
        i = n - 1 - k
        result[i] = (result[i] - up[i] * result[i + 1]) / pivots[i]
    return result
