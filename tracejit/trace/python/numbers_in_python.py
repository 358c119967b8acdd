"""Functions of `statistics`, and of `math` that take numbers apart, captured like users' functions.

`statistics` computes with fractions and rounds once; here sums have twice the precision of floats.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse

__all__ = ["OF_NUMBERS"]


def _require_floats(items: list[float], name: str) -> bool:
    """Refuse all but floats, and ints beside floats; return whether some are NumPy's."""
    if not all(isinstance(x, (int, float)) for x in items) or not any(
            isinstance(x, float) for x in items):
        raise refuse(f"statistics.{name} of numbers that are not floats of 64 bits",
                     "Make them floats before", "TJ206")
    return any(isinstance(x, np.float64) for x in items)


def _like(x: float, is_numpys: bool) -> float:
    return np.float64(x) if is_numpys else x


def _mean(data: Iterable[float]) -> float:
    items = list(data)
    if not items:
        raise statistics.StatisticsError("mean requires at least one data point")
    return _like(math.fsum(items) / len(items), _require_floats(items, "mean"))


def _fmean(data: Iterable[float], weights: Iterable[float] | None = None) -> float:
    items = list(data)
    if not items:
        raise statistics.StatisticsError("fmean requires at least one data point")
    if weights is None:
        return math.fsum(items) / len(items)
    factors = list(weights)
    if len(items) != len(factors):
        raise statistics.StatisticsError("data and weights must be the same length")
    total = math.fsum(factors)
    if not total:
        raise ValueError("sum of weights must be non-zero")
    return math.fsum([x * w for x, w in zip(items, factors, strict=True)]) / total


def _median(data: Iterable[float]) -> float:
    items = sorted(list(data))  # noqa: C414
    n = len(items)
    if n == 0:
        raise statistics.StatisticsError("no median for empty data")
    if n % 2 == 1:
        return items[n // 2]
    return (items[n // 2 - 1] + items[n // 2]) / 2


def _median_low(data: Iterable[float]) -> float:
    items = sorted(list(data))  # noqa: C414
    if not items:
        raise statistics.StatisticsError("no median for empty data")
    return items[(len(items) - 1) // 2]


def _median_high(data: Iterable[float]) -> float:
    items = sorted(list(data))  # noqa: C414
    if not items:
        raise statistics.StatisticsError("no median for empty data")
    return items[len(items) // 2]


def _squares(items: list[float], center: float | None) -> float:
    """Return the sum of squared differences from a center, from the mean if that is None."""
    if center is not None:
        return math.fsum([(x - center) * (x - center) for x in items])
    middle = math.fsum(items) / len(items)
    rest = math.fsum([x - middle for x in items])
    return math.fsum([(x - middle) * (x - middle) for x in items]) - rest * rest / len(items)


def _variance(data: Iterable[float], xbar: float | None = None) -> float:
    items = list(data)
    if len(items) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    return _like(_squares(items, xbar) / (len(items) - 1), _require_floats(items, "variance"))


def _pvariance(data: Iterable[float], mu: float | None = None) -> float:
    items = list(data)
    if not items:
        raise statistics.StatisticsError("pvariance requires at least one data point")
    return _like(_squares(items, mu) / len(items), _require_floats(items, "pvariance"))


def _stdev(data: Iterable[float], xbar: float | None = None) -> float:
    items = list(data)
    if len(items) < 2:
        raise statistics.StatisticsError("stdev requires at least two data points")
    _require_floats(items, "stdev")
    return math.sqrt(_squares(items, xbar) / (len(items) - 1))


def _pstdev(data: Iterable[float], mu: float | None = None) -> float:
    items = list(data)
    if not items:
        raise statistics.StatisticsError("pstdev requires at least one data point")
    _require_floats(items, "pstdev")
    return math.sqrt(_squares(items, mu) / len(items))


def _frexp(x: float) -> tuple[float, int]:
    if isinstance(x, complex):
        raise TypeError("must be real number, not complex")
    x = float(x)
    if x == 0.0 or not math.isfinite(x):
        return x, 0
    y, shift = abs(x), 0
    if y < 2.3e-308:
        y, shift = y * 2.0 ** 60, -60
    e = math.floor(math.log2(y)) + 1
    m = y * 2.0 ** -e
    if m >= 1.0:
        m, e = m * 0.5, e + 1
    elif m < 0.5:
        m, e = m * 2.0, e - 1
    return math.copysign(m, x), e + shift


def _ldexp(x: float, i: int) -> float:
    if not isinstance(i, int):
        raise TypeError("Expected an int as second argument to ldexp.")
    m, e = _frexp(x)
    if m == 0.0 or not math.isfinite(m):
        return m
    n = e + i
    if n > 1024:
        raise OverflowError("math range error")
    if n < -1080:
        return m * 0.0
    if n < -1021:
        return (m * 2.0 ** (n + 64)) * 2.0 ** -64
    return (m * 2.0) * 2.0 ** (n - 1)


OF_NUMBERS: dict[object, Callable[..., Any]] = {
    math.frexp: _frexp, math.ldexp: _ldexp,
    statistics.mean: _mean, statistics.fmean: _fmean, statistics.median: _median,
    statistics.median_low: _median_low, statistics.median_high: _median_high,
    statistics.variance: _variance, statistics.pvariance: _pvariance,
    statistics.stdev: _stdev, statistics.pstdev: _pstdev,
}
"""The captured replacements of functions of Python's library."""
