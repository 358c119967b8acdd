"""Tests of normal numbers by moments; what describes a sample; tests of summaries.

R. B. D'Agostino, Biometrika 57, 1970; F. J. Anscombe and W. J. Glynn, Biometrika 70, 1983.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import common_dtype
from tracejit.scipy_api.sample_tests import TestResult
from tracejit.scipy_api.samples import floats, kurtosis_of, only_propagating, rows, size, skew_of
from tracejit.scipy_api.significance import by_normal, by_student, count, on_rows
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.values.equations import cast

__all__: list[str] = []


class DescribeResult(NamedTuple):
    """The result of `describe`."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def _normal_by_skew(x: np.ndarray) -> Any:
    """Return a number that is normal where the sample is, of its skewness."""
    n = count(x)
    enough = n >= 8.0
    n = np.where(enough, n, 8.0).astype(x.dtype)
    y = skew_of(x) * np.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    tails = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / (
        (n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0))
    square = np.sqrt(2.0 * (tails - 1.0)) - 1.0
    scale = np.sqrt(2.0 / (square - 1.0))
    y = np.where(y == 0.0, 1.0, y)  # as SciPy has it
    return np.where(enough, np.arcsinh(y / scale) / np.sqrt(0.5 * np.log(square)), np.nan)


def _normal_by_kurtosis(x: np.ndarray) -> Any:
    """Return a number that is normal where the sample is, of its kurtosis."""
    n = count(x)
    enough = n >= 5.0
    n = np.where(enough, n, 5.0).astype(x.dtype)
    spread = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    away = (kurtosis_of(x, False) - 3.0 * (n - 1.0) / (n + 1.0)) / np.sqrt(spread)
    lean = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0)) * np.sqrt(
        6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    free = 6.0 + 8.0 / lean * (2.0 / lean + np.sqrt(1.0 + 4.0 / (lean * lean)))
    below = 1.0 + away * np.sqrt(2.0 / (free - 4.0))
    none = below == 0.0
    root = np.cbrt((1.0 - 2.0 / free) / np.where(none, np.nan, below))
    return np.where(enough, (1.0 - 2.0 / (9.0 * free) - root) / np.sqrt(2.0 / (9.0 * free)), np.nan)


def skewtest(a: object, axis: object = 0, nan_policy: str = "propagate",
             alternative: str = "two-sided", *, keepdims: object = False) -> Any:
    """Return the test of a skewness of 0."""

    def of(x: np.ndarray) -> Any:
        z = _normal_by_skew(x)
        return z, by_normal(z, alternative)

    return on_rows("skewtest", of, (a,), axis, nan_policy, keepdims)


def kurtosistest(a: object, axis: object = 0, nan_policy: str = "propagate",
                 alternative: str = "two-sided", *, keepdims: object = False) -> Any:
    """Return the test of a normal kurtosis."""

    def of(x: np.ndarray) -> Any:
        z = _normal_by_kurtosis(x)
        return z, by_normal(z, alternative)

    return on_rows("kurtosistest", of, (a,), axis, nan_policy, keepdims)


def normaltest(a: object, axis: object = 0, nan_policy: str = "propagate", *,
               keepdims: object = False) -> Any:
    """Return the test of normal numbers by both."""

    def of(x: np.ndarray) -> Any:
        found: Any = _normal_by_skew(x) ** 2 + _normal_by_kurtosis(x) ** 2
        return found, np.exp(-0.5 * found)

    return on_rows("normaltest", of, (a,), axis, nan_policy, keepdims)


def describe(a: object, axis: object = 0, ddof: object = 1, bias: bool = True,
             nan_policy: str = "propagate") -> Any:
    """Return the size, the ends and four moments of a sample."""
    only_propagating("describe", nan_policy)
    own: Any = as_tracer(a)
    given, x = rows(own, axis), rows(floats(a, "describe"), axis)
    ends = tuple([fn(given, axis=-1)[()] for fn in (np.min, np.max)])
    n = cast(as_tracer(size(x)), np.float64)
    over: Any = np.where(n > ddof, n - ddof, 0.0).astype(x.dtype)
    away = x - np.mean(x, axis=-1, keepdims=True)
    spread = np.sum(away * away, axis=-1) / over
    moments = (np.mean(x, axis=-1), spread, skew_of(x, bias), kurtosis_of(x, True, bias))
    return DescribeResult(cast(as_tracer(size(x)), np.int64), ends,
                          *(cast(as_tracer(y), x.dtype)[()] for y in moments))


def ttest_ind_from_stats(mean1: object, std1: object, nobs1: object, mean2: object, std2: object,
                         nobs2: object, equal_var: bool = True,
                         alternative: str = "two-sided") -> Any:
    """Return Student's test of two means, or Welch's, of samples that are summed up."""
    given = (mean1, std1, nobs1, mean2, std2, nobs2)
    dtype = common_dtype(given)
    a, s, n, b, r, m = (cast(as_tracer(x), dtype) for x in given)
    if equal_var:
        free: Any = n + m - 2.0
        pooled = ((n - 1.0) * s * s + (m - 1.0) * r * r) / free
        error = np.sqrt(pooled * (1.0 / n + 1.0 / m))
    else:
        u, v = s * s / n, r * r / m
        free = (u + v) ** 2 / (u * u / (n - 1.0) + v * v / (m - 1.0))
        free = np.where(np.isnan(free), 1.0, free)
        error = np.sqrt(u + v)
    t = (a - b) / error
    return TestResult(t[()], by_student(t, free, alternative)[()])


captures_of_some("scipy.stats", {
    "skewtest": skewtest, "kurtosistest": kurtosistest, "normaltest": normaltest,
    "describe": describe, "ttest_ind_from_stats": ttest_ind_from_stats}, "iuf", 4)
