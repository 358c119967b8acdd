"""Filters and convolutions as Python would have them: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["correlated_rows", "correlated_whole_rows", "filtered", "sections",
           "spline_coefficients", "sums_of_products"]


def filtered(b: np.ndarray, a: np.ndarray, x: np.ndarray,
             z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a rational filter of the rows of x, and its state at the end.

    b, a -- coefficients, as many of each; a[0] is 1
    x    -- n times m: time first
    z    -- the state: one row less than there are coefficients, at least one
    """
    y = np.zeros_like(x)
    state = z.copy()
    for t in range(len(x)):
        y[t] = b[0] * x[t] + state[0]
        state[:-1] = state[1:] + np.outer(b[1:-1], x[t]) - np.outer(a[1:-1], y[t])
        state[-1] = b[-1] * x[t] - a[-1] * y[t]
    return y, state


def sections(sos: np.ndarray, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of x through filters of second order in turn, and their states at the end.

    z -- the states: two rows for each filter
    """
    end = z.copy()
    for k in range(len(sos)):
        x, end[k] = filtered(sos[k, :3], sos[k, 3:], x, z[k])
    return x, end


def sums_of_products(x: np.ndarray, y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the full convolution of two matrices."""
    n, m = x.shape
    p, q = y.shape
    result = np.zeros((n + p - 1, m + q - 1), dtype)
    for i in range(p):
        for j in range(q):
            result[i:i + n, j:j + m] += y[i, j] * x
    return result


def correlated_rows(x: np.ndarray, w: np.ndarray, n: int) -> np.ndarray:
    """Return n rows: the k-th is the sum of the rows of x from the k-th on, times weights w."""
    result = np.zeros((n, x.shape[1]), x.dtype)
    for k in range(len(w)):
        result += w[k] * x[k:k + n]
    return result


def correlated_whole_rows(x: np.ndarray, w: np.ndarray, n: int) -> np.ndarray:
    """Return the same, added up in SciPy's order: the sums of ints are cut off to ints."""
    last = len(w) - 1
    half = last // 2
    if last % 2 == 0 and np.all(np.abs(w - w[::-1]) <= 2.0 ** -52):
        result = x[half:half + n] * w[half]
        for k in range(half):
            result += (x[k:k + n] + x[last - k:last - k + n]) * w[k]
    elif last % 2 == 0 and np.all(np.abs(w + w[::-1]) <= 2.0 ** -52):
        result = x[half:half + n] * w[half]
        for k in range(half):
            result += (x[k:k + n] - x[last - k:last - k + n]) * w[k]
    else:
        result = x[last:last + n] * w[last]
        for k in range(last):
            result += x[k:k + n] * w[k]
    return result


def spline_coefficients(x: np.ndarray, pole: float, start: np.ndarray, last: np.ndarray,
                        end: tuple[float, float]) -> np.ndarray:
    """Return the rows of x through the filter of a spline's pole, forwards and backwards.

    start, last -- the weights of rows in the first row, and of the rows behind the last one
    end         -- the factors of the last two rows in the last one, if `last` has no weights
    """
    c = x.copy()
    n = len(c)
    c[0] = start @ x
    for k in range(1, n):
        c[k] = x[k] + pole * c[k - 1]
    behind = last @ c
    c[n - 1] = behind + end[0] * c[n - 1] + end[1] * c[n - 2]
    for k in range(1, n):
        i = n - 1 - k
        c[i] = pole * (c[i + 1] - c[i])
    return c
