"""Distributions of `scipy.stats` of uniform samples: their sum, and how far they are from even.

P. Hall, Biometrika 19, 1927; Z. W. Birnbaum and F. H. Tingey, Annals of Mathematical Statistics 22,
1951; J. Durbin, "Distribution Theory for Tests Based on the Sample Distribution Function", 1973.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.special import beyond_stirling, gammaln
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.formulas import HALF_LOG_2_PI, Distribution, one, zero
from tracejit.scipy_api.plain_sums import ladder, spread_sums
from tracejit.scipy_api.quantiles import by_search, summed
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["EMPIRICAL"]


def _require_few(name: str, n: np.ndarray, most: int) -> None:
    require_ours(np.logical_not(np.any(n > most)), NotCaptured,
                 f"scipy.stats.{name} of more than {most} numbers cannot be captured")


# --- sums of uniform numbers --------------------------------------------------------------------

_MOST_TERMS = 128
_TERMS = np.arange(float(_MOST_TERMS))


def _hall_row(x: np.ndarray, n: np.ndarray, more: float) -> tuple[Any, Any]:
    """Return the densities at x less whole numbers, and which of the places is x itself."""
    _require_few("irwinhall", n, _MOST_TERMS - 1)
    whole = stop_gradient(np.minimum(np.floor(x), n - 1.0))
    row = call_function(spread_sums, (np.expand_dims(x - whole, -1), _TERMS,
                                      np.expand_dims(n + more, -1)), {})
    return row, np.expand_dims(whole, -1)


def _hall_logpdf(x: np.ndarray, n: np.ndarray) -> Any:
    x, n = np.broadcast_arrays(x, stop_gradient(n))
    row, whole = _hall_row(x, n, 0.0)
    return np.log(np.sum(np.where(whole == _TERMS, row, 0.0), axis=-1))


def _hall_lower(x: np.ndarray, n: np.ndarray) -> Any:
    row, whole = _hall_row(x, n, 1.0)
    return np.sum(np.where(whole >= _TERMS, row, 0.0), axis=-1)


def _hall_tails(x: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    x, n = np.broadcast_arrays(x, stop_gradient(n))
    left = x < 0.5 * n
    tail = _hall_lower(np.where(left, x, n - x), n)
    return np.where(left, tail, 1.0 - tail), np.where(left, 1.0 - tail, tail)


# --- one side -----------------------------------------------------------------------------------

_NEAR = 8
"""Up to which number of steps from even shares are sums of alternating signs."""


def _bent(u: np.ndarray) -> Any:
    """Return log(1 + u) - u, next to 0 by its series."""
    near = np.abs(u) < 0.1
    t = np.where(near, u, 0.0)
    series: Any = 0.0
    for k in range(20, 1, -1):
        series = series * -t - 1.0 / k
    far = np.where(near, 1.0, u)
    return np.where(near, series * t * t, np.log1p(far) - far)


def _rest_of_factorial(j: np.ndarray) -> Any:
    """Return log(j!) less j log(j) - j."""
    large = j > 10.0
    far, near = np.where(large, j, 11.0), np.where(large, 1.0, j)
    return np.where(large, 0.5 * np.log(far) + HALF_LOG_2_PI + beyond_stirling(1.0 / far),
                    gammaln(near + 1.0) + near - near * np.log(np.maximum(near, 1.0)))


def _smirnov_term(j: np.ndarray, steps: np.ndarray, n: np.ndarray) -> Any:
    """Return the probability of j of n events with probability (j + steps) / n, over j + steps."""
    some, rest = j > 0.0, np.maximum(n - j, 1.0)
    below = np.where(some, j, 1.0)
    inside = steps < n - j
    away = np.where(inside, steps / rest, 0.0)
    logs = (np.where(some, below * _bent(steps / below), -steps) + rest * _bent(-away)
            + _rest_of_factorial(n) - _rest_of_factorial(j) - _rest_of_factorial(rest))
    return np.where(inside, np.exp(logs) / (j + steps), 0.0)


def _smirnov_upper(steps: np.ndarray, n: np.ndarray) -> Any:
    """Return what lies above, and its derivative by the steps: sums of positive numbers."""
    last = np.maximum(np.ceil(n - stop_gradient(steps)) - 1.0, 0.0)
    return steps * summed(_smirnov_term, 0.0 * steps, last, steps, n)


def _smirnov_slope(steps: np.ndarray, n: np.ndarray) -> Any:
    """Return the density from the sum of what lies above."""

    def term(j: np.ndarray, s: np.ndarray, n: np.ndarray) -> Any:
        rest = np.where(s < n - j, n - j - s, 1.0)
        return _smirnov_term(j, s, n) * (s * (s / rest + (s + 1.0) / (s + j)) - 1.0)

    last = np.maximum(np.ceil(n - stop_gradient(steps)) - 1.0, 0.0)
    return n * summed(term, 0.0 * steps, last, steps, n)


def _smirnov_lower(steps: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    """Return what lies below and the density, a few steps away, by Abel's sum."""
    share: Any = 0.0
    slope: Any = 0.0
    ways: Any = 1.0
    for i in range(_NEAR):
        there = (steps >= i) & (i < n)
        over = np.where(there, steps - i, 1.0)
        more = np.where(there, (steps - i) / n, 0.0)
        size = (-1.0) ** i * ways * np.exp((n - i - 1.0) * np.log1p(more))
        share = share + np.where(there, steps / n * size * over ** i, 0.0)
        rise = over ** i * (1.0 + steps * (n - i - 1.0) / n / (1.0 + more))
        slope = slope + np.where(there, size * (rise + (
            steps * i * over ** (i - 1) if i else 0.0)), 0.0)
        ways = ways * (n - i) / (n * (i + 1.0))
    return share, slope


def _smirnov_tails(x: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    """Return what lies below and above: the smaller one is a sum, of positive numbers or few."""
    x, n = np.broadcast_arrays(x, stop_gradient(n))
    steps = x * n
    near = steps <= _NEAR
    lower, _ = _smirnov_lower(np.where(near, steps, 1.0), n)
    near = near & (lower < 0.5)
    upper = _smirnov_upper(steps, n)
    return np.where(near, lower, 1.0 - upper), np.where(near, 1.0 - lower, upper)


def _smirnov_logpdf(x: np.ndarray, n: np.ndarray) -> Any:
    even = n == 1.0  # the density of one number, up to its end
    return np.log(np.where(even, 1.0 + 0.0 * x, _smirnov_pdf(x, np.where(even, 2.0, n))))


def _smirnov_pdf(x: np.ndarray, n: np.ndarray) -> Any:
    x, n = np.broadcast_arrays(x, stop_gradient(n))
    steps = x * n
    near = steps <= _NEAR
    lower, density = _smirnov_lower(np.where(near, steps, 1.0), n)
    near = near & (lower < 0.5)
    return np.where(near, density, _smirnov_slope(np.where(near, 0.5 * n, steps), n))


# --- both sides ---------------------------------------------------------------------------------

_MOST = 256
"""Up to how many numbers the distribution of the larger distance is computed."""
_APART = 6.0
"""From which n d ** 2 on distances on both sides are below 1e-15 as probable as on one."""
_SIZE = 2 * math.ceil(math.sqrt(_APART * _MOST)) - 1
_ROW, _COLUMN = np.arange(float(_SIZE))[:, None], np.arange(float(_SIZE))[None, :]
_BAND = np.vectorize(lambda k: 1.0 / math.gamma(k + 1.0) if 0.0 <= k < 170.0 else 0.0)(
    _ROW - _COLUMN + 1.0)


def _over_factorial(x: np.ndarray, power: np.ndarray) -> Any:
    """Return x ** power / power!, and 0 for negative powers."""
    power = power + 0.0 * stop_gradient(x)
    some, none = power > 0.0, power == 0.0
    of = np.where(some, power, 1.0)
    return np.where(some, np.power(x, of) * np.exp(-gammaln(of + 1.0)), np.where(none, 1.0, 0.0))


def _durbin_matrix(h: np.ndarray, size: np.ndarray) -> tuple[Any, Any]:
    """Return the transposed matrix of Durbin, and its derivative by h.

    h, size -- by how much a whole number of steps is more, and the number of rows: (..., 1, 1)
    """
    inside = (size > _ROW) & (size > _COLUMN)
    first, last = _COLUMN == 0.0, size - 1.0 == _ROW
    plain = np.where(inside, _BAND, 0.0)
    both, half = np.maximum(2.0 * h - 1.0, 0.0), 2.0 * h > 1.0

    def cut(less: float) -> Any:
        return (np.where(inside & first, _over_factorial(h, _ROW + 1.0 - less), 0.0)
                + np.where(inside & last, _over_factorial(h, size - _COLUMN - less), 0.0)
                - np.where(inside & first & last & half, 2.0 ** less * _over_factorial(
                    both, size - less), 0.0))

    return plain - cut(0.0), -cut(1.0)


def _durbin(t: np.ndarray, n: np.ndarray, sloping: bool) -> Any:
    """Return the probability that no distance is t / n, or its derivative by the distance."""
    _require_few("kstwo", n, _MOST)
    whole = stop_gradient(np.ceil(t))
    h, size, middle, count = [np.expand_dims(x, -1) for x in np.broadcast_arrays(
        whole - t, 2.0 * whole - 1.0, whole - 1.0, n)]
    matrix, slope = _durbin_matrix(np.expand_dims(h, -1), np.expand_dims(size, -1))
    here = np.where(np.arange(float(_SIZE)) == middle, 1.0, 0.0)
    if sloping:
        none = 0.0 * matrix
        matrix = np.concatenate([np.concatenate([matrix, slope], axis=-1),
                                 np.concatenate([none, matrix], axis=-1)], axis=-2)
        start = np.concatenate([here, 0.0 * here], axis=-1)
        found = call_function(ladder, (start, matrix, count), {})[..., _SIZE:]
        return -n * np.sum(here * found, axis=-1) * np.exp(_rest_of_factorial(n))
    found = call_function(ladder, (here, matrix, count), {})
    return np.sum(here * found, axis=-1) * np.exp(_rest_of_factorial(n))


def _kolmogorov_parts(x: np.ndarray, n: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return the number of numbers, whether both sides count, and the steps for either formula."""
    x, n = np.broadcast_arrays(x, stop_gradient(n))
    both = (n * x * x < _APART) & (x < 0.5)
    return n, both, np.where(both, n * x, 1.0), np.where(both, 0.5 * n, n * x)


def _kstwo_tails(x: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    n, both, near, far = _kolmogorov_parts(x, n)
    lower = _durbin(near, np.where(both, n, 2.0), False)
    upper = 2.0 * _smirnov_tails(far / n, n)[1]
    return np.where(both, lower, 1.0 - upper), np.where(both, 1.0 - lower, upper)


def _kstwo_logpdf(x: np.ndarray, n: np.ndarray) -> Any:
    n, both, near, far = _kolmogorov_parts(x, n)
    return np.log(np.where(both, _durbin(near, np.where(both, n, 2.0), True),
                           2.0 * _smirnov_pdf(far / n, n)))


def _is_count(n: np.ndarray) -> Any:
    return (n >= 1.0) & (n == np.floor(n)) & (n < np.inf)


EMPIRICAL: dict[str, Distribution] = {
    "irwinhall": Distribution(by_search(_hall_logpdf, _hall_tails, zero, lambda n: n,
                                        start=lambda n: 0.5 * n), ("n",),
                              _is_count, zero, lambda n: n),
    "ksone": Distribution(by_search(_smirnov_logpdf, _smirnov_tails, zero, one,
                                    start=lambda n: 0.5 / np.sqrt(n)), ("n",), _is_count, zero,
                          one),
    "kstwo": Distribution(by_search(_kstwo_logpdf, _kstwo_tails, lambda n: 0.5 / n, one,
                                    start=lambda n: 0.8 / np.sqrt(n)), ("n",), _is_count,
                          lambda n: 0.5 / n, one, inner=0.6),
}
