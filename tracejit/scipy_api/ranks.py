"""Ranks in `scipy.stats`, correlations of ranks, and slopes between all pairs of points.

Ranks do not move with numbers: they have no derivatives, and neither have correlations of them.
"""

from __future__ import annotations

import functools
import math
import sys
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.probability import student_cdf
from tracejit.scipy_api.sample_tests import TestResult
from tracejit.scipy_api.samples import floats, only_propagating
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, is_one, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["ranked"]


class SlopeResult(NamedTuple):
    """The result of `theilslopes`."""

    slope: Any
    intercept: Any
    low_slope: Any
    high_slope: Any


class SiegelResult(NamedTuple):
    """The result of `siegelslopes`."""

    slope: Any
    intercept: Any


def ranked(x: np.ndarray, method: str) -> Any:
    """Return the ranks of numbers along the last axis, as floats."""
    smaller = np.sum(x[..., None, :] < x[..., :, None], axis=-1)
    alike = x[..., None, :] == x[..., :, None]
    count = np.sum(alike, axis=-1)
    if method == "average":
        return smaller + 0.5 * (count + 1)
    if method == "min":
        return smaller + 1
    if method == "max":
        return smaller + count
    i = iota(dims_of(x)[-1])
    before = i[None, :] < i[:, None]
    if method == "ordinal":
        return smaller + np.sum(alike & before, axis=-1) + 1
    first = np.logical_not(np.any(alike & before, axis=-1))
    return np.sum((x[..., None, :] < x[..., :, None]) & first[..., None, :], axis=-1) + 1


def rankdata(a: object, method: str = "average", *, axis: object = None,
             nan_policy: str = "propagate") -> Any:
    """Return the ranks of numbers; of equal ones by a method."""
    only_propagating("rankdata", nan_policy)
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f'unknown method "{method}"')
    x: Any = stop_gradient(as_tracer(a))
    along = 0 if axis is None else normalize_axis(axis, len(dims_of(x)))
    given: Any = np.reshape(x, (-1,)) if axis is None else np.moveaxis(x, along, -1)
    average = method == "average"
    scipys = sys.modules["scipy.stats"].rankdata(np.ones(1), method=method)
    found: Any = cast(as_tracer(ranked(given, method)), scipys.dtype)  # ints, before SciPy 1.18
    if x.dtype.kind == "f" and average:
        found = np.where(np.any(np.isnan(given), axis=-1, keepdims=True), np.nan, found)
    elif x.dtype.kind == "f":
        require_ours(np.logical_not(np.any(np.isnan(given))), NotCaptured, "scipy.stats.rankdata "
                     f"by method {method!r} of a NaN, whose ranks are floats, is not captured. "
                     "Leave it out")
    return found if axis is None else np.moveaxis(found, -1, along)


def _pair(name: str, x: object, y: object) -> tuple[Any, Any]:
    """Return two samples as vectors of floats, which have no derivatives."""
    a, b = (stop_gradient(cast(floats(v, name), np.float64)) for v in (x, y))
    if len(dims_of(a)) != 1 or len(dims_of(b)) != 1:
        raise refuse(f"scipy.stats.{name} of arrays of several axes cannot be captured",
                     "Pass two vectors", "TJ207")
    if not same_dim(dims_of(a)[0], dims_of(b)[0]):
        if is_one(dims_of(a)[0]) or is_one(dims_of(b)[0]):
            raise refuse(f"scipy.stats.{name} of one number and a sample cannot be captured",
                         "Pass two vectors", "TJ207")
        raise ValueError("All inputs must have the same length.")
    return a, b


def spearmanr(a: object, b: object = None, axis: int = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided") -> Any:
    """Return the correlation of ranks, and how probable one as large is without any."""
    only_propagating("spearmanr", nan_policy)
    if b is None or alternative != "two-sided":
        raise refuse("scipy.stats.spearmanr of one array, or with alternative=, cannot be captured",
                     "Pass two vectors", "TJ203")
    x, y = _pair("spearmanr", a, b)
    n = as_operand(dims_of(x)[0])
    require_ours(n > 2, NotCaptured, "scipy.stats.spearmanr of less than three pairs is not "
                 "captured. Give more")
    u, v = (r - np.mean(r) for r in (ranked(x, "average"), ranked(y, "average")))
    both = np.sum(u * u) * np.sum(v * v)
    unknown = (both == 0.0) | np.any(np.isnan(x)) | np.any(np.isnan(y))
    found = np.where(unknown, np.nan, np.sum(u * v) / np.sqrt(np.where(unknown, 1.0, both)))
    found = np.clip(found, -1.0, 1.0)
    free = cast(as_tracer(n), np.float64) - 2.0
    t = found * np.sqrt(free / ((found + 1.0) * (1.0 - found)))
    return TestResult(found[()], (2.0 * student_cdf(-np.abs(t), free))[()])


# --- Kendall's ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _exact_chances(n: int) -> Any:
    """Return how probable as many pairs or fewer out of order are, doubled; M. G. Kendall (1970).

    Permutations with so many inversions are counted by the product of 1 + q + ... + q^(i - 1).
    """
    counts = [1]
    for i in range(2, n + 1):
        longer = [0] * (len(counts) + i - 1)
        for k, c in enumerate(counts):
            for j in range(i):
                longer[k + j] += c
        counts = longer
    total, pairs, sums = math.factorial(n), len(counts) - 1, 0
    found = []
    for c in range(pairs + 1):
        low = min(c, pairs - c)
        sums = sum(counts[:low + 1])
        found.append(1.0 if 2 * c == pairs else min(1.0, 2 * sums / total))
    return np.array(found)


def kendalltau(x: object, y: object, *, nan_policy: str = "propagate", method: str = "auto",
               variant: str = "b", alternative: str = "two-sided") -> Any:
    """Return Kendall's correlation of orders, and how probable one as large is without any."""
    only_propagating("kendalltau", nan_policy)
    if variant != "b" or method not in ("auto", "asymptotic") or alternative != "two-sided":
        raise refuse("scipy.stats.kendalltau with variant=, alternative= or method='exact' cannot "
                     "be captured", "Leave them out", "TJ203")
    a, b = _pair("kendalltau", x, y)
    count = need_int(dims_of(a)[0], "how many pairs are ranked")
    if count < 2:
        raise refuse("scipy.stats.kendalltau of less than two pairs cannot be captured",
                     "Give more", "TJ213")
    require_ours(np.logical_not(np.any(np.isnan(a) | np.isnan(b))), NotCaptured,
                 "scipy.stats.kendalltau of a NaN is not captured. Leave it out")
    signs = _order(a) * _order(b)
    score = 0.5 * np.sum(signs)
    ties = [np.sum(v[:, None] == v[None], axis=1) * 1.0 for v in (a, b)]
    pairs = 0.5 * count * (count - 1)
    tied = [0.5 * np.sum(t - 1.0) for t in ties]
    flat = (tied[0] == pairs) | (tied[1] == pairs)
    unknown = flat
    size = np.where(unknown, 1.0, pairs - tied[0]), np.where(unknown, 1.0, pairs - tied[1])
    found = np.clip(np.where(unknown, np.nan, score / np.sqrt(size[0]) / np.sqrt(size[1])),
                    -1.0, 1.0)
    chance = _kendall_chance(count, score, ties, tied, method)
    return TestResult(found[()], np.where(unknown, np.nan, chance)[()])


def _order(v: np.ndarray) -> Any:
    """Return for each pair of numbers 1 where the first is larger, -1 where it is smaller."""
    return np.where(v[:, None] > v[None], 1.0, np.where(v[:, None] < v[None], -1.0, 0.0))


def _kendall_chance(n: int, score: np.ndarray, ties: list[np.ndarray], tied: list[np.ndarray],
                    method: str) -> Any:
    """Return the probability: counted where there are no ties, else as of a normal number."""
    m = n * (n - 1.0)
    threes = [np.sum((t - 1.0) * (t - 2.0)) for t in ties]
    fives = [np.sum((t - 1.0) * (2.0 * t + 5.0)) for t in ties]
    variance = (m * (2.0 * n + 5.0) - fives[0] - fives[1]) / 18.0 + 2.0 * tied[0] * tied[1] / m
    if n > 2:
        variance = variance + threes[0] * threes[1] / (9.0 * m * (n - 2))
    normal: Any = apply("erfc", as_tracer(np.abs(score) / np.sqrt(2.0 * variance)))
    if method == "asymptotic":
        return normal
    alone = (tied[0] == 0.0) & (tied[1] == 0.0)
    wrong = cast(as_tracer(np.clip(np.rint(0.5 * (0.5 * m - score)), 0.0, 0.5 * m)), np.int64)
    if n <= 33:
        return np.where(alone, as_tracer(_exact_chances(n))[wrong], normal)
    few: Any = np.minimum(wrong, int(0.5 * m) - wrong)
    rare = np.where(few == 0, 2.0 / math.factorial(min(n, 170)),
                    2.0 / math.factorial(min(n - 1, 170)))
    return np.where(alone & (few <= 1), rare, normal)


# --- slopes of pairs ------------------------------------------------------------------------------


def theilslopes(y: object, x: object = None, alpha: object = 0.95, method: str = "separate", *,
                axis: None = None, keepdims: bool = False, nan_policy: str = "propagate") -> Any:
    """Return the median of the slopes between all pairs of points, with an interval for it."""
    level = known_array(as_tracer(alpha), "the level of an interval")
    if axis is not None or keepdims or level is None:
        raise refuse("scipy.stats.theilslopes with axis=, keepdims= or a traced alpha= cannot be "
                     "captured", "Leave them out", "TJ203")
    only_propagating("theilslopes", nan_policy)
    if method not in ("joint", "separate"):
        raise ValueError(f"method must be either 'joint' or 'separate'.'{method}' is invalid.")
    v, u = _points("theilslopes", y, x)
    n = as_operand(dims_of(v)[0])
    i = iota(dims_of(v)[0])
    own = i[:, None] < i[None, :]
    step = u[None] - u[:, None]
    require_ours(np.all((step != 0.0) | ~own), NotCaptured, "scipy.stats.theilslopes of x that are "
                 "equal is not captured. Make them differ")
    require_ours(n > 1, NotCaptured, "scipy.stats.theilslopes of one point is not captured. Give "
                 "more")
    of_finite("scipy.stats.theilslopes", u, v)
    slopes = np.where(own, (v[None] - v[:, None]) / np.where(own, step, 1.0), np.inf)
    ordered: Any = np.sort(np.reshape(slopes, (-1,)))
    count = n * (n - 1) // 2
    middle = 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])
    start = np.median(v - middle * u) if method == "joint" else (
        np.median(v) - middle * np.median(u))
    low, high = _slope_interval(v, ordered, count, float(level))
    return SlopeResult(middle, start, low, high)


def _slope_interval(v: np.ndarray, ordered: np.ndarray, count: np.ndarray,
                    alpha: float) -> tuple[Any, Any]:
    """Return two of the sorted slopes; P. K. Sen, JASA 63 (1968)."""
    n = cast(as_tracer(size_of(v)), np.float64)
    z = NormalDist().inv_cdf((1.0 - alpha if alpha > 0.5 else alpha) / 2.0)
    t = np.sum(v[:, None] == v[None], axis=1)
    variance = (n * (n - 1.0) * (2.0 * n + 5.0) - np.sum((t - 1.0) * (2.0 * t + 5.0))) / 18.0
    away = z * np.sqrt(variance)
    upper: Any = cast(as_tracer(np.rint(0.5 * (count - away))), np.int64)
    lower: Any = cast(as_tracer(np.rint(0.5 * (count + away))), np.int64)
    return ordered[np.maximum(lower - 1, 0)], ordered[np.minimum(upper, count - 1)]


def size_of(v: np.ndarray) -> Any:
    return as_operand(dims_of(v)[0])


def siegelslopes(y: object, x: object = None, method: str = "hierarchical", *, axis: None = None,
                 nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """Return the median of each point's median slope to the others; A. F. Siegel, 1982."""
    if method not in ("hierarchical", "separate"):
        raise ValueError("method can only be 'hierarchical' or 'separate'")
    if axis is not None or keepdims:
        raise refuse("scipy.stats.siegelslopes with axis= or keepdims= cannot be captured",
                     "Leave them out", "TJ203")
    only_propagating("siegelslopes", nan_policy)
    v, u = _points("siegelslopes", y, x)
    n = as_operand(dims_of(v)[0])
    i = iota(dims_of(v)[0])
    other: Any = (i[:, None] + 1 + iota(dims_of(v)[0] - 1)[None]) % n
    step = u[other] - u[:, None]
    require_ours(np.all(step != 0.0), NotCaptured, "scipy.stats.siegelslopes of x that are equal "
                 "is not captured. Make them differ")
    require_ours(n > 1, NotCaptured, "scipy.stats.siegelslopes of one point is not captured. Give "
                 "more")
    of_finite("scipy.stats.siegelslopes", u, v)
    slope = np.median(np.median((v[other] - v[:, None]) / step, axis=1))
    if method == "hierarchical":
        return SiegelResult(slope, np.median(v - slope * u))
    starts = (v[:, None] * u[other] - v[other] * u[:, None]) / step
    return SiegelResult(slope, np.median(np.median(starts, axis=1)))


def _points(name: str, y: object, x: object) -> tuple[Any, Any]:
    """Return numbers and their places, which are 0, 1, 2, ... where none are given."""
    v: Any = np.reshape(cast(floats(y, name), np.float64), (-1,))
    u: Any = np.reshape(cast(floats(x, name), np.float64), (-1,)) if x is not None else (
        cast(iota(dims_of(v)[0]), np.float64))
    if not same_dim(dims_of(u)[0], dims_of(v)[0]):
        if is_one(dims_of(u)[0]) or is_one(dims_of(v)[0]):
            raise refuse(f"scipy.stats.{name} of one number and a sample cannot be captured",
                         "Pass two vectors", "TJ207")
        raise ValueError("Array shapes are incompatible for broadcasting.")
    return v, u


captures_of_some("scipy.stats", {
    "siegelslopes": siegelslopes, "rankdata": rankdata, "spearmanr": spearmanr,
    "kendalltau": kendalltau, "theilslopes": theilslopes}, "iuf", 4)
