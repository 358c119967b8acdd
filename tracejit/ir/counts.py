"""Quantiles of distributions of counts, for float64: the least count up to which enough lies.

A search that doubles its step and then halves it. Numba compiles these functions, which call
functions of `incomplete.py`.
"""

from __future__ import annotations

import math

from tracejit.ir.incomplete import SMALL_X, beta_part, gamma_part

__all__ = ["FUNCTIONS"]


def poisson_below(k: float, mu: float) -> float:
    """Return how much of a Poisson distribution is up to k."""
    if mu == 0.0:
        return 1.0
    part = gamma_part(k + 1.0, mu, 0.0)
    return 1.0 - part if mu <= max(k + 1.0, SMALL_X) else -part


def beta_below(a: float, b: float, x: float) -> float:
    """Return the beta distribution function."""
    y = 1.0 - x
    part = beta_part(a, b, x, y, 0.0, 0.0)
    return part if x * b <= y * a else 1.0 + part


def count_below(kind: float, k: float, n: float, p: float) -> float:
    """Return a distribution function: Poisson's, of mean n; the binomial; the negative binomial."""
    if kind == 0.0:
        return poisson_below(k, n)
    if kind == 1.0:
        return 1.0 if k >= n else beta_below(n - k, k + 1.0, 1.0 - p)
    return beta_below(n, k + 1.0, p)


def count_quantile(kind: float, q: float, n: float, p: float) -> float:
    """Return the least count up to which a share q of a distribution lies."""
    if q != q or n != n or p != p:
        return math.nan
    wanted = q * (1.0 - 2e-16 * 8)
    if count_below(kind, 0.0, n, p) >= wanted:
        return 0.0
    low, high = 0.0, 1.0
    while count_below(kind, high, n, p) < wanted and high < 1e15:
        low, high = high, 2.0 * high
    while high - low > 1.0:
        middle = math.floor(0.5 * (low + high))
        if count_below(kind, middle, n, p) >= wanted:
            high = middle
        else:
            low = middle
    return high


FUNCTIONS = (poisson_below, beta_below, count_below, count_quantile)
