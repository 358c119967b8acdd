"""Tests and correlations of `scipy.stats`, and its transforms to normal numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.norms import length_of, within
from tracejit.numpy_api.special import boxcox
from tracejit.scipy_api.probability import beta_tails, gamma_tails, student_cdf
from tracejit.scipy_api.samples import floats, only_propagating, rows, size, statistic
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import (
    as_operand,
    cast,
    dims_of,
    is_one,
    is_weak,
    same_dim,
)
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class TestResult(NamedTuple):
    """The result of a test, of which a program may read the statistic and its probability."""

    statistic: Any
    pvalue: Any

    def __getattr__(self, name: str) -> Any:
        if name not in ("df", "confidence_interval"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a test of scipy.stats cannot be captured",
                     "Use `statistic` and `pvalue`", "TJ209")


class _LineResult(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class LineResult(_LineResult):
    """The result of `linregress`: five numbers, and a sixth that is an attribute alone."""

    intercept_stderr: Any


# --- pairs and tests ----------------------------------------------------------------------------


def _two_sided(name: str, alternative: object, method: object = None) -> None:
    if alternative != "two-sided" or method is not None:
        raise refuse(f"scipy.stats.{name} with alternative= or method= cannot be captured",
                     "Leave them out", "TJ203")


def pearsonr(x: object, y: object, *, alternative: str = "two-sided", method: None = None,
             axis: object = 0) -> Any:
    """Return Pearson's correlation, and how probable one as large is without any."""
    _two_sided("pearsonr", alternative, method)
    return _correlation("pearsonr", x, y, axis, 2)


def pointbiserialr(x: object, y: object, *, axis: object = 0, nan_policy: str = "propagate",
                   keepdims: bool = False) -> Any:
    """Return the correlation of truths with numbers, and how probable one as large is."""
    only_propagating("pointbiserialr", nan_policy)
    if keepdims:
        raise refuse("scipy.stats.pointbiserialr with keepdims= cannot be captured", "Leave it out",
                     "TJ203")
    return _correlation("pointbiserialr", x, y, axis, 0)


def _correlation(name: str, x: object, y: object, axis: object, least: int) -> Any:
    a, b = _alike(name, x, y)
    if axis is not None:  # SciPy counts axes once both have as many
        count = max(len(a.dims), len(b.dims))
        a, b = (np.reshape(v, (*(1 for _ in range(count - len(v.dims))), *v.shape)) for v in (a, b))
    dtype, first, second = a.dtype, rows(a, axis), rows(b, axis)
    if not same_dim(dims_of(first)[-1], dims_of(second)[-1]):
        if least == 0 and (is_one(dims_of(first)[-1]) or is_one(dims_of(second)[-1])):
            raise refuse(f"scipy.stats.{name} of one number and a sample cannot be captured",
                         "Pass two samples", "TJ207")
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    n = size(first)
    require(n >= least, ValueError, "`x` and `y` must have length at least 2.")
    alike = (np.all(first == first[..., :1], axis=-1)
             | np.all(second == second[..., :1], axis=-1))
    r = within(np.sum(_direction(first) * _direction(second), axis=-1), -1, 1)
    r = np.where(alike, np.nan, np.where(n == 2, np.round(r), r)).astype(dtype)
    half, away = 0.5 * cast(n, np.float64) - 1.0, 0.5 * np.abs(cast(r, np.float64))
    far = _chance(lambda *xs: beta_tails(*xs)[1], dtype, half, half, 0.5 + away, 0.5 - away)
    return TestResult(r[()], np.where(n == 2, np.where(np.isnan(r), r, dtype.type(1)), 2 * far)[()])


def _direction(x: np.ndarray) -> Any:
    """Return rows less their means, divided by their lengths; 0 for a row of equal numbers."""
    away = x - np.mean(x, axis=-1, keepdims=True)
    length = length_of(away)
    return away / np.where(length == 0, length.dtype.type(1), length)


def _alike(name: str, *samples: object) -> list[Any]:
    """Return samples as floats of the dtype that they have together."""
    dtype = np.result_type(*(as_tracer(x).dtype for x in samples))
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    return [cast(floats(x, name), dtype) for x in samples]


def _chance(tail: Callable[..., object], dtype: np.dtype, *operands: object) -> Any:
    """Return a probability that is computed in double precision, in the dtype of a statistic."""
    doubles = [cast(as_tracer(x), np.float64) for x in operands]
    return cast(tail(*np.broadcast_arrays(*doubles)), dtype)


def linregress(x: object, y: object, alternative: str = "two-sided", *, axis: int = 0,
               nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """Return the line through points, by least squares."""
    _two_sided("linregress", alternative)
    only_propagating("linregress", nan_policy)
    a, b = [cast(floats(v, "linregress"), np.float64) for v in (x, y)]
    if len(a.dims) != 1 or len(b.dims) != 1 or keepdims:
        raise refuse("scipy.stats.linregress of several axes cannot be captured", "Use np.polyfit",
                     "TJ207")
    a, b = [as_tracer(np.broadcast_to(u, v.shape)) if is_one(u.dims[0]) else u
            for u, v in ((a, b), (b, a))]
    if not same_dim(a.dims[0], b.dims[0]):
        raise ValueError("`x` and `y` must have the same length.")
    n = as_operand(a.dims[0])
    none: Any = np.inf
    require((np.max(a, initial=-none) != np.min(a, initial=none)) | (n < 2), ValueError,
            "Cannot calculate a linear regression if all x values are identical")
    u, v = a - np.mean(a), b - np.mean(b)
    uu, uv, vv = np.mean(u * u), np.mean(u * v), np.mean(v * v)
    flat = vv == 0.0
    r = np.where(flat, np.nan, uv / np.sqrt(uu * np.where(flat, 1.0, vv)))
    r = np.where(np.abs(r) > 1.0, np.sign(r), r)
    slope = uv / uu
    two = n == 2
    free = np.where(two, 1.0, cast(n, np.float64) - 2.0)
    t = np.abs(r) * np.sqrt(free / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = np.where(two, 0.0, np.sqrt((1.0 - r * r) * vv / uu / free))
    chance = np.where(two, np.where(flat, 1.0, 0.0), 2.0 * student_cdf(-t, free))
    line = LineResult(slope[()], np.mean(b) - slope * np.mean(a), r[()], chance[()], error[()])
    line.intercept_stderr = error * np.sqrt(uu + np.mean(a) ** 2)
    return line


def _by_t(t: np.ndarray, free: object) -> Any:
    return TestResult(t, _chance(lambda t, free: 2.0 * student_cdf(-np.abs(t), free), t.dtype, t,
                                 free)[()])


def ttest_1samp(a: object, popmean: object, axis: object = 0, nan_policy: str = "propagate",
                alternative: str = "two-sided", *, keepdims: bool = False) -> Any:
    """Return Student's test of a mean."""
    _two_sided("ttest_1samp", alternative, keepdims or None)
    only_propagating("ttest_1samp", nan_policy)
    mean: Any = popmean
    if as_tracer(mean).dims:
        raise refuse("scipy.stats.ttest_1samp of several means cannot be captured", "Use a loop",
                     "TJ207")
    given = as_tracer(a)
    if not is_weak(popmean):
        given = cast(given, np.result_type(given.dtype, as_tracer(mean).dtype))
    x = rows(floats(given, "ttest_1samp"), axis)
    n = size(x)
    t = (np.mean(x, axis=-1) - mean) / np.sqrt(np.var(x, axis=-1, ddof=1) / cast(n, x.dtype))
    return _by_t(t, n - 1)


def ttest_rel(a: object, b: object, axis: object = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided", *, keepdims: bool = False) -> Any:
    """Return Student's test of pairs."""
    away: Any = as_tracer(a) - as_tracer(b)
    return ttest_1samp(away, 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(a: object, b: object, *, axis: object = 0, equal_var: bool = True,
              nan_policy: str = "propagate", alternative: str = "two-sided", trim: float = 0,
              method: None = None, keepdims: bool = False) -> Any:
    """Return Student's test of two means, or Welch's."""
    _two_sided("ttest_ind", alternative, method if method is not None else (
        True if keepdims or trim else None))
    only_propagating("ttest_ind", nan_policy)
    x, y = (rows(v, axis) for v in _alike("ttest_ind", a, b))
    n, m = (cast(as_tracer(size(v)), x.dtype) for v in (x, y))
    v, w = (np.var(k, axis=-1, ddof=1) for k in (x, y))
    if equal_var:
        v, w = (np.where(k == 1, k.dtype.type(0), s) for k, s in ((n, v), (m, w)))
        free = n + m - 2.0
        error = np.sqrt(((n - 1.0) * v + (m - 1.0) * w) / free * (1.0 / n + 1.0 / m))
    else:
        free = (v / n + w / m) ** 2 / ((v / n) ** 2 / (n - 1.0) + (w / m) ** 2 / (m - 1.0))
        error = np.sqrt(v / n + w / m)
    return _by_t((np.mean(x, axis=-1) - np.mean(y, axis=-1)) / error, free)


def chisquare(f_obs: object, f_exp: object = None, ddof: int = 0, axis: object = 0, *,
              sum_check: bool = True, nan_policy: str = "propagate",
              keepdims: bool = False) -> Any:
    """Return Pearson's test of counts."""
    _two_sided("chisquare", "two-sided", keepdims or None)
    only_propagating("chisquare", nan_policy)
    given = _alike("chisquare", f_obs, *(() if f_exp is None else (f_exp,)))
    x: Any = rows(given[0], axis)
    wanted = np.mean(x, axis=-1, keepdims=True) if f_exp is None else rows(given[1], axis)
    if f_exp is not None and sum_check:
        total, other = np.sum(x, axis=-1), np.sum(wanted, axis=-1)
        near = np.abs(total - other) <= 1.5e-8 * np.minimum(np.abs(total), np.abs(other))
        require(np.all(near), ValueError, "For each axis slice, the sum of the observed "
                "frequencies must agree with the sum of the expected frequencies")
    found = np.sum((x - wanted) ** 2 / wanted, axis=-1)
    half = 0.5 * (cast(as_tracer(size(x)), np.float64) - 1.0 - ddof)
    return TestResult(found, _chance(lambda a, x: gamma_tails(a, 0.5 * x)[1], found.dtype, half,
                                     found)[()])


# --- transforms ---------------------------------------------------------------------------------


def boxcox_(x: object, lmbda: object = None, alpha: None = None, optimizer: None = None) -> Any:
    """Return the transform of G. E. P. Box and D. R. Cox, of a given power."""
    if lmbda is None or alpha is not None:
        raise refuse("scipy.stats.boxcox that looks for the power cannot be captured",
                     "Pass lmbda=, found by maximising boxcox_llf", "TJ203")
    given: Any = floats(x, "boxcox")
    power: Any = cast(as_tracer(lmbda), given.dtype)
    return boxcox(given, power)


def boxcox_llf(lmb: object, data: object, *, axis: object = 0, keepdims: object = False,
               nan_policy: str = "propagate") -> Any:
    """Return the logarithm of the likelihood of a power of that transform."""
    power: Any = cast(as_tracer(lmb), np.float64)

    def whole(x: np.ndarray) -> Any:
        spread = np.var(boxcox(x, power), axis=-1)
        return (power - 1.0) * np.sum(np.log(x), axis=-1) - 0.5 * size(x) * np.log(spread)

    return statistic("boxcox_llf", whole)(data, axis=axis, keepdims=keepdims,
                                           nan_policy=nan_policy)


scipy_captures("scipy.stats", {
    "pearsonr": pearsonr, "pointbiserialr": pointbiserialr, "linregress": linregress,
    "ttest_1samp": ttest_1samp, "ttest_rel": ttest_rel, "ttest_ind": ttest_ind,
    "chisquare": chisquare, "boxcox": boxcox_, "boxcox_llf": boxcox_llf})
