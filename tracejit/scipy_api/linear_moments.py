"""Moments and quantiles that are linear in sorted numbers, expectiles, directions, discoveries.

J. R. M. Hosking, J. R. Stat. Soc. B 52, 1990; W. K. Newey and J. L. Powell, Econometrica 55, 1987;
F. E. Harrell and C. E. Davis, Biometrika 69, 1982; Y. Benjamini and Y. Hochberg, 1995.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.axes import normalize_axes, normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.probability import beta_tails
from tracejit.scipy_api.samples import floats, only_propagating, rows, size
from tracejit.scipy_api.significance import count
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import cast, dims_of, is_weak
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class DirectionalStats(NamedTuple):
    """The result of `directional_stats`."""

    mean_direction: Any
    mean_resultant_length: Any


# --- moments --------------------------------------------------------------------------------------


def _orders(order: object) -> tuple[list[int], bool]:
    """Return the orders of moments, and whether they are several."""
    if order is None:
        return [1, 2, 3, 4], True
    known = known_array(as_tracer(order), "the orders of moments") if isinstance(
        order, TracedOperand) else np.asarray(order)
    if known is None:
        raise refuse("scipy.stats.lmoment of traced orders cannot be captured", "Pass ints",
                     "TJ205")
    if known.ndim > 1:
        raise ValueError("`order` must be a scalar or a non-empty 1D array.")
    if known.dtype.kind not in "iu" or known.size == 0 or np.any(known <= 0):
        raise ValueError("`order` must be a scalar or a non-empty array of positive integers.")
    return [int(k) for k in np.atleast_1d(known)], known.ndim == 1


def lmoment(sample: object, order: object = None, *, axis: object = 0, sorted: bool = False,
            standardize: bool = True, nan_policy: str = "propagate",
            keepdims: object = False) -> Any:
    """Return L-moments; those from the third on are over the second one, unless told otherwise."""
    only_propagating("lmoment", nan_policy)
    given, (orders, several) = floats(sample, "lmoment"), _orders(order)
    x: Any = rows(given, axis)
    if not sorted:
        x = np.sort(x, axis=-1)
    most = max(*orders, 2)
    sums = _weighted_sums(x, most)
    moments: dict[int, Any] = {}
    for r in {*orders, 2}:
        terms = [(-1.0) ** (r - 1 - k) * math.comb(r - 1, k) * math.comb(r - 1 + k, k) * sums[k]
                 for k in range(r)]
        moments[r] = np.where(count(x) >= r, sum(terms[1:], start=terms[0]), np.nan)
    found = [moments[r] / moments[2] if standardize and r > 2 else moments[r] for r in orders]
    found = [cast(as_tracer(y), x.dtype) for y in found]
    if keepdims:
        rank = len(dims_of(given))
        gone = tuple(range(rank)) if axis is None else normalize_axes(axis, rank)
        found = [np.expand_dims(y, gone) for y in found]
    return np.stack(found) if several else found[0][()]


def _weighted_sums(x: np.ndarray, most: int) -> list[Any]:
    """Return means of sorted numbers, weighted by shares of choices of so many smaller ones."""
    n, place = count(x), cast(iota(dims_of(x)[-1]), x.dtype)
    weights: Any = 1.0 + 0.0 * place
    found = []
    for k in range(most):
        found.append(np.mean(x * weights, axis=-1))
        left = n - 1.0 - k
        weights = weights * (place - k) / np.where(left > 0.0, left, 1.0).astype(x.dtype)
    return found


# --- expectiles and quantiles ---------------------------------------------------------------------


def expectile(a: object, alpha: object = 0.5, *, weights: object = None) -> Any:
    """Return the number from which what is above and what is below are in a ratio.

    Among sorted numbers the sign of the equation tells between which two of them it is; there the
    equation is linear.
    """
    level: Any = cast(as_tracer(alpha), np.float64)
    if level.dims:
        raise refuse("scipy.stats.expectile of several levels cannot be captured", "Use a loop",
                     "TJ207")
    require((level >= 0.0) & (level <= 1.0), ValueError,
            "The expectile level alpha must be in range [0, 1]")
    x: Any = np.reshape(cast(floats(a, "expectile"), np.float64), (-1,))
    w: Any = 1.0 + 0.0 * x if weights is None else np.broadcast_to(np.reshape(
        cast(floats(weights, "expectile"), np.float64), (-1,)), x.shape)
    order = np.argsort(x, kind="stable")
    u, v = x[order], w[order]
    mass, moment = np.cumsum(v), np.cumsum(v * u)
    rest: Any = level * (moment[-1] - moment - u * (mass[-1] - mass)) - (1.0 - level) * (
        u * mass - moment)
    below = np.logical_not(rest < 0.0) | (iota(dims_of(x)[0]) == 0)  # it falls along the order
    factors = v * np.where(below, 1.0 - level, level)
    inside = (level > 0.0) & (level < 1.0)
    total = np.sum(np.where(inside, factors, 1.0))
    middle = np.sum(np.where(inside, factors * u, 0.0)) / total
    found = np.where(level == 0.0, np.min(x), np.where(level == 1.0, np.max(x), middle))
    return np.where(np.any(np.isnan(x)), np.nan, found)[()]


def _harrell_davis(x: np.ndarray, p: np.ndarray) -> Any:
    """Return a mean of sorted rows, weighted by what a beta distribution has between places."""
    n = cast(as_tracer(size(x)), np.float64)
    ends: Any = np.concatenate([iota(dims_of(x)[-1]), np.reshape(size(x), (1,))]) / n
    a, b = p * (n + 1.0), (1.0 - p) * (n + 1.0)
    shares: Any = beta_tails(*np.broadcast_arrays(np.expand_dims(a, -1), np.expand_dims(b, -1),
                                                  ends, 1.0 - ends))[0]
    ordered: Any = np.sort(x, axis=-1)
    return np.sum(ordered * cast(as_tracer(np.diff(shares, axis=-1)), x.dtype), axis=-1)


_METHODS = ("linear", "hazen", "weibull", "inverted_cdf", "averaged_inverted_cdf",
            "closest_observation", "interpolated_inverted_cdf", "median_unbiased",
            "normal_unbiased")


def quantile(x: object, p: object, *, method: str = "linear", axis: object = 0,
             nan_policy: str = "propagate", keepdims: object = None,
             weights: object = None) -> Any:
    """Return a quantile of samples; NaN for shares that are none."""
    only_propagating("quantile", nan_policy)
    share: Any = as_tracer(p)
    if weights is not None or share.dims:
        raise refuse("scipy.stats.quantile with weights= or of several shares cannot be captured",
                     "Call it for each share, without weights", "TJ203")
    if share.dtype.kind != "f":
        raise ValueError("`p` must have real floating dtype.")
    if method != "harrell-davis" and method not in _METHODS:
        raise refuse("scipy.stats.quantile with such a method= cannot be captured",
                     "Say 'linear', or another of np.quantile's continuous ones", "TJ203")
    given = floats(x, "quantile")
    sample: Any = rows(given, axis)
    inside = (share >= 0.0) & (share <= 1.0)
    at: Any = np.where(inside, share, 0.5)
    if method == "harrell-davis":
        found: Any = _harrell_davis(sample, at.astype(np.float64))
        found = np.where(np.any(np.isnan(sample), axis=-1), np.nan, found)
    else:
        found = np.quantile(sample, at, axis=-1, method=method)  # type: ignore[call-overload]
    dtype = sample.dtype if is_weak(p) else np.result_type(sample.dtype, share.dtype)
    found = cast(as_tracer(np.where(inside, found, np.nan)), dtype)
    if keepdims:
        rank = len(dims_of(given))
        gone = tuple(range(rank)) if axis is None else normalize_axes(axis, rank)
        return np.expand_dims(found, gone)
    return found[()]


# --- directions and discoveries -------------------------------------------------------------------


def directional_stats(samples: object, *, axis: object = 0, normalize: bool = True) -> Any:
    """Return the mean of directions, and how long the mean of vectors of length 1 is."""
    x: Any = floats(samples, "directional_stats")
    if len(dims_of(x)) < 2:
        raise ValueError("samples must at least be two-dimensional.")
    first: Any = axis
    x = np.moveaxis(x, first, 0)
    if normalize:
        x = x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    mean = np.mean(x, axis=0)
    length = np.sqrt(np.sum(mean * mean, axis=-1, keepdims=True))
    return DirectionalStats(mean / length, length[..., 0][()])


def false_discovery_control(ps: object, *, axis: object = 0, method: str = "bh") -> Any:
    """Return probabilities adjusted for how many there are."""
    if method.lower() not in ("bh", "by"):
        raise ValueError(f"Unrecognized `method` '{method}'.Method must be one of "
                         "{'bh', 'by'}.")
    p: Any = as_tracer(ps)
    require(np.all((p >= 0.0) & (p <= 1.0)), ValueError,
            "`ps` must include only numbers between 0 and 1.")
    given: Any = np.reshape(p, (-1,)) if axis is None else p
    along = 0 if axis is None else normalize_axis(axis, len(dims_of(given)))
    x: Any = np.moveaxis(given, along, -1)
    order: Any = np.argsort(x, axis=-1)
    place = cast(iota(dims_of(x)[-1]), x.dtype) + 1.0
    scaled: Any = np.take_along_axis(x, order, -1) * (count(x) / place)
    if method.lower() == "by":
        scaled = scaled * np.sum(1.0 / place)
    least = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    back = np.argsort(order, axis=-1)
    found: Any = np.take_along_axis(np.minimum(least, 1.0), back, -1)
    return np.moveaxis(found, -1, along).astype(p.dtype)


captures_of_some("scipy.stats", {
    "lmoment": lmoment, "quantile": quantile,
    "directional_stats": directional_stats}, "iuf", 4)
captures_of_some("scipy.stats", {"expectile": expectile}, "iuf", 8)  # of float32 data decides
captures_of_some("scipy.stats", {"false_discovery_control": false_discovery_control}, "f", 4)
