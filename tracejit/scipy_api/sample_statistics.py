"""Statistics of samples in `scipy.stats`: trimmed and unbiased moments, entropy, analyses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.special import boxcox1p
from tracejit.scipy_api.probability import beta_tails
from tracejit.scipy_api.sample_tests import TestResult
from tracejit.scipy_api.samples import floats, named_statistic, only_propagating, rows, size
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["yeo_johnson"]


# --- moments ------------------------------------------------------------------------------------


def _whole(n: object, allowed: Sequence[int], words: str) -> int:
    n = known_int(n, "the order of a k-statistic")
    if isinstance(n, TracedOperand):
        raise refuse("the order of a k-statistic that is traced cannot be captured", "Pass an int",
                     "TJ205")
    if n not in allowed:
        raise ValueError(words)
    return int(n)  # type: ignore[call-overload]


def _count(x: np.ndarray) -> Any:
    return cast(as_tracer(size(x)), x.dtype)


def _k_statistic(x: np.ndarray, n: object = 2) -> Any:
    """Return an unbiased estimate of a cumulant, from sums of powers (R. A. Fisher, 1930)."""
    order = _whole(n, (1, 2, 3, 4), "k-statistics only supported for 1<=n<=4")
    count = _count(x)
    s1, s2, s3, s4 = (np.sum(x ** k, axis=-1) if k <= order else 0.0 for k in (1, 2, 3, 4))
    if order == 1:
        return s1 / count
    if order == 2:
        return (count * s2 - s1 ** 2) / (count * (count - 1.0))
    if order == 3:
        return (2.0 * s1 ** 3 - 3.0 * count * s1 * s2 + count * count * s3) / (
            count * (count - 1.0) * (count - 2.0))
    top = (-6.0 * s1 ** 4 + 12.0 * count * s1 ** 2 * s2 - 3.0 * count * (count - 1.0) * s2 ** 2
           - 4.0 * count * (count + 1.0) * s1 * s3 + count * count * (count + 1.0) * s4)
    return top / (count * (count - 1.0) * (count - 2.0) * (count - 3.0))


def _k_variance(x: np.ndarray, n: object = 2) -> Any:
    order, count = _whole(n, (1, 2), "Only n=1 or n=2 supported."), _count(x)
    if order == 1:
        return _k_statistic(x, 2) / count
    return (2.0 * count * _k_statistic(x, 2) ** 2 + (count - 1.0) * _k_statistic(x, 4)) / (
        count * (count + 1.0))


def _within(x: np.ndarray, limits: object, inclusive: Sequence[bool]) -> Any:
    """Return which numbers are between limits."""
    inside: Any = np.ones_like(x, dtype=bool)
    if limits is None:
        return inside
    given: Any = limits
    low, high = given
    if low is not None:
        inside = inside & (x >= low if inclusive[0] else x > low)
    if high is not None:
        inside = inside & (x <= high if inclusive[1] else x < high)
    return inside


def _trimmed_mean(x: np.ndarray, limits: object = None,
                  inclusive: Sequence[bool] = (True, True)) -> Any:
    inside = _within(x, limits, inclusive)
    return np.sum(np.where(inside, x, 0.0), axis=-1) / np.sum(inside, axis=-1)


def _trimmed_variance(x: np.ndarray, limits: object = None,
                      inclusive: Sequence[bool] = (True, True), ddof: int = 1) -> Any:
    inside = _within(x, limits, inclusive)
    count = np.sum(inside, axis=-1)
    mean = np.sum(np.where(inside, x, 0.0), axis=-1) / count
    away = np.where(inside, x - mean[..., None], 0.0)
    free = count - ddof
    enough = free > 0
    return np.where(enough, np.sum(away * away, axis=-1) / np.where(enough, free, 1), np.nan)


def _trimmed_deviation(x: np.ndarray, limits: object = None,
                       inclusive: Sequence[bool] = (True, True), ddof: int = 1) -> Any:
    return np.sqrt(_trimmed_variance(x, limits, inclusive, ddof))


def _trimmed_error(x: np.ndarray, limits: object = None,
                   inclusive: Sequence[bool] = (True, True), ddof: int = 1) -> Any:
    count = np.sum(_within(x, limits, inclusive), axis=-1)
    return _trimmed_deviation(x, limits, inclusive, ddof) / np.sqrt(count)


# --- transforms and entropy -----------------------------------------------------------------------


def yeo_johnson(x: np.ndarray, power: np.ndarray) -> Any:
    """Return the transform of I.-K. Yeo and R. A. Johnson, Biometrika 87 (2000)."""
    below = x < 0.0
    up = boxcox1p(np.where(below, 0.0, x), power)
    return np.where(below, -boxcox1p(np.where(below, -x, 0.0), 2.0 - power), up)


def yeojohnson(x: object, lmbda: object = None) -> Any:
    """Return that transform, of a given power."""
    if lmbda is None:
        raise refuse("scipy.stats.yeojohnson that looks for the power cannot be captured",
                     "Pass lmbda=, found by maximising yeojohnson_llf", "TJ203")
    given: Any = floats(x, "yeojohnson")
    power: Any = cast(as_tracer(lmbda), given.dtype)
    return cast(as_tracer(yeo_johnson(given, power)), given.dtype)


def _likelihood(x: np.ndarray, lmb: object) -> Any:
    power: Any = cast(as_tracer(lmb), x.dtype)
    spread = np.var(yeo_johnson(x, power), axis=-1)
    flat = spread < np.finfo(x.dtype).tiny
    found = (-0.5 * _count(x) * np.log(np.where(flat, 1.0, spread))
             + (power - 1.0) * np.sum(np.sign(x) * np.log1p(np.abs(x)), axis=-1))
    return np.where(flat, np.inf, found)


def yeojohnson_llf(lmb: object, data: object, *, axis: object = 0, nan_policy: str = "propagate",
                   keepdims: object = False) -> Any:
    """Return the logarithm of the likelihood of a power of that transform."""
    return named_statistic(("axis", "nan_policy"), lambda x: _likelihood(x, lmb),
                           "yeojohnson_llf", 0)(data, axis=axis, nan_policy=nan_policy,
                                                keepdims=keepdims)


def _entropy(x: np.ndarray, window_length: int | None = None, base: float | None = None,
             method: str = "auto") -> Any:
    """Return an estimate of the entropy of a density, from the gaps between sorted numbers.

    O. Vasicek (1976), B. van Es (1992), N. Ebrahimi and others (1994).
    """
    count = need_int(dims_of(x)[-1], "the size of a sample whose entropy is estimated")
    m = int(math.sqrt(count) + 0.5) if window_length is None else int(window_length)
    if not 2 <= 2 * m < count:
        return np.mean(x, axis=-1) * np.nan  # which SciPy warns of
    if base is not None and not isinstance(base, TracedOperand) and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    kind = method.lower()
    if kind == "auto":
        kind = "van es" if count <= 10 else "ebrahimi" if count <= 1000 else "vasicek"
    if kind not in _ENTROPIES:
        raise ValueError(f"`method` must be one of {set(_ENTROPIES) | {'auto'} }")
    found = _ENTROPIES[kind](np.sort(x, axis=-1), m, count)
    return found if base is None else found / np.log(base)


def _van_es(x: np.ndarray, m: int, n: int) -> Any:
    gaps = (n + 1) / m * (x[..., m:] - x[..., :-m])
    known = sum(1.0 / k for k in range(m, n + 1)) + math.log(m) - math.log(n + 1)
    return np.sum(np.log(gaps), axis=-1) / (n - m) + known


def _gaps(x: np.ndarray, m: int) -> Any:
    ends: list[Any] = [np.repeat(part, m, axis=-1) for part in (x[..., :1], x[..., -1:])]
    wide = np.concatenate([ends[0], x, ends[1]], axis=-1)
    return wide[..., 2 * m:] - wide[..., :-2 * m]


def _vasicek(x: np.ndarray, m: int, n: int) -> Any:
    return np.mean(np.log(n / (2 * m) * _gaps(x, m)), axis=-1)


def _correa(x: np.ndarray, m: int, n: int) -> Any:
    raise refuse("scipy.stats.differential_entropy with method='correa' cannot be captured",
                 "'vasicek', 'van es' and 'ebrahimi' can. Say one of them", "TJ203")


def _ebrahimi(x: np.ndarray, m: int, n: int) -> Any:
    near = np.minimum(np.arange(n), np.arange(n)[::-1])
    factors = np.where(near < m, 1.0 + near / m, 2.0).astype(x.dtype)
    return np.mean(np.log(n * _gaps(x, m) / (factors * m)), axis=-1)


_ENTROPIES: dict[str, Callable[[np.ndarray, int, int], Any]] = {
    "van es": _van_es, "ebrahimi": _ebrahimi, "vasicek": _vasicek, "correa": _correa}


# --- tests ----------------------------------------------------------------------------------------


def f_oneway(*samples: object, axis: object = 0, equal_var: bool = True,
             nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """Return the analysis of variance of several samples."""
    only_propagating("f_oneway", nan_policy)
    if not equal_var or keepdims:
        raise refuse("scipy.stats.f_oneway with equal_var= or keepdims= cannot be captured",
                     "Leave them out", "TJ203")
    if len(samples) < 2:
        raise TypeError(f"at least two inputs are required; got {len(samples)}.")
    dtype = np.result_type(*(as_inexact(x).dtype for x in samples))
    arrays: list[Any] = [cast(floats(x, "f_oneway"), dtype) for x in samples]
    parts: list[Any] = [rows(x, axis) for x in arrays]
    counts = [cast(as_tracer(size(x)), dtype) for x in parts]
    total: Any = sum(counts)
    middle = sum(np.sum(x, axis=-1) for x in parts) / total
    means = [np.mean(x, axis=-1) for x in parts]
    between: Any = sum(n * (m - middle) ** 2 for n, m in zip(counts, means, strict=True))
    inside: Any = sum(np.sum((x - m[..., None]) ** 2, axis=-1)
                      for x, m in zip(parts, means, strict=True))
    one, two = float(len(parts) - 1), total - float(len(parts))
    found = (between / one) / (inside / two)
    low = cast(as_tracer(two / (two + one * found)), np.float64)
    chance = beta_tails(*np.broadcast_arrays(
        0.5 * cast(as_tracer(two), np.float64), as_tracer(0.5 * one), low, 1.0 - low))[0]
    return TestResult(found[()], cast(as_tracer(chance), dtype)[()])


def jarque_bera(x: object, *, axis: object = None, nan_policy: str = "propagate",
                keepdims: bool = False) -> Any:
    """Return the test of normal numbers by skewness and kurtosis (C. M. Jarque, A. K. Bera)."""
    only_propagating("jarque_bera", nan_policy)
    if keepdims:
        raise refuse("scipy.stats.jarque_bera with keepdims= cannot be captured", "Leave it out",
                     "TJ203")
    given: Any = rows(floats(x, "jarque_bera"), axis)
    away = given - np.mean(given, axis=-1, keepdims=True)
    two, three, four = (np.mean(away ** k, axis=-1) for k in (2, 3, 4))
    skew, tails = three / two ** 1.5, four / (two * two) - 3.0
    found = _count(given) / 6.0 * (skew * skew + tails * tails / 4.0)
    return TestResult(found[()], np.exp(-0.5 * found)[()])


_TRIMMED = ("limits", "inclusive", "axis")
captures_of_some("scipy.stats", {
    "f_oneway": f_oneway, "jarque_bera": jarque_bera, "yeojohnson": yeojohnson,
    "yeojohnson_llf": yeojohnson_llf,
    "kstat": named_statistic(("n", "axis", "nan_policy"), _k_statistic, "kstat", None),
    "kstatvar": named_statistic(("n", "axis", "nan_policy"), _k_variance, "kstatvar", None),
    "tmean": named_statistic(_TRIMMED, _trimmed_mean, "tmean", None),
    "tvar": named_statistic((*_TRIMMED, "ddof"), _trimmed_variance, "tvar"),
    "tstd": named_statistic((*_TRIMMED, "ddof"), _trimmed_deviation, "tstd"),
    "tsem": named_statistic((*_TRIMMED, "ddof"), _trimmed_error, "tsem"),
    "differential_entropy": named_statistic(
        ("axis", "nan_policy"), _entropy, "differential_entropy")}, "iuf", 4)
