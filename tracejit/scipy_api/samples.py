"""Statistics of samples, as `scipy.stats` has them: means, moments, quantiles, circles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axes
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import as_operand, cast, dims_of
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["floats", "kurtosis_of", "named_statistic", "only_propagating", "rows", "size",
           "skew_of", "statistic"]


def floats(a: object, name: str) -> Any:
    x = as_inexact(a)
    if x.dtype.kind == "c":
        raise refuse(f"scipy.stats.{name} of complex numbers cannot be captured", "Use the parts",
                     "TJ206")
    return x


def only_propagating(name: str, policy: object) -> None:
    if policy != "propagate":
        raise refuse(f"scipy.stats.{name} with nan_policy={policy!r} cannot be captured",
                     "Take the numbers that are there with np.isfinite before", "TJ203")


def rows(x: np.ndarray, axis: object) -> Any:
    """Return an array whose last axis has the samples, for axes that may be several or all."""
    rank = len(dims_of(x))
    axes = tuple(range(rank)) if axis is None else normalize_axes(axis, rank)
    if not rank:
        return np.reshape(x, (1,))
    moved: Any = np.moveaxis(x, axes, tuple(range(rank - len(axes), rank)))
    return np.reshape(moved, (*moved.shape[:rank - len(axes)], -1)) if len(axes) != 1 else moved


def size(x: np.ndarray) -> Any:
    return as_operand(dims_of(x)[-1])


def statistic(name: str, of: Callable[..., object], first: object = 0) -> Callable[..., Any]:
    """Return the capture of a statistic.

    of    -- (array, options) -> the statistic along its last axis
    first -- the axis, if a call does not say it
    """

    def capture(a: object, *args: object, axis: object = first, keepdims: object = False,
                nan_policy: str = "propagate", **options: object) -> Any:
        only_propagating(name, nan_policy)
        x = floats(a, name)
        found = cast(as_tracer(of(rows(x, axis), *args, **options)), x.dtype)
        if not keepdims:
            return found[()] if not found.dims else found
        rank = len(dims_of(x))
        gone = tuple(range(rank)) if axis is None else normalize_axes(axis, rank)
        return np.expand_dims(found, gone)

    return capture


# --- means --------------------------------------------------------------------------------------


def _mean(x: np.ndarray, weights: np.ndarray | None) -> Any:
    if weights is None:
        return np.mean(x, axis=-1)
    return np.sum(x * weights, axis=-1) / np.sum(weights, axis=-1)


def _weights(name: str, weights: object, a: object, axis: object) -> Any:
    """Return weights as rows, like the array that they weigh; None for None."""
    if weights is None:
        return None
    w, x = floats(weights, name), as_tracer(a)
    if len(w.dims) != len(dims_of(x)):
        raise refuse(f"scipy.stats.{name} with weights= of fewer axes cannot be captured",
                     "Give the weights all axes with np.broadcast_to", "TJ207")
    return rows(np.broadcast_to(w, tuple(map(as_operand, x.dims))), axis)


def gmean(a: object, axis: object = 0, dtype: object = None, weights: object = None, *,
          nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return the geometric mean."""
    return _mean_of("gmean", lambda x: x, np.exp, np.log(as_tracer(a)), axis, dtype, weights,
                    nan_policy, keepdims)


def hmean(a: object, axis: object = 0, dtype: object = None, *, weights: object = None,
          nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return the harmonic mean."""
    return _mean_of("hmean", lambda x: 1.0 / np.where(x < 0.0, np.nan, x), lambda m: 1.0 / m, a,
                    axis, dtype, weights, nan_policy, keepdims)


def pmean(a: object, p: object, *, axis: object = 0, dtype: object = None, weights: object = None,
          nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return the power mean."""
    if not isinstance(p, (int, float, TracedOperand)):
        raise ValueError("Power mean only defined for exponent of type int or float.")
    power = cast(as_tracer(p), np.float64)
    none = power == 0.0
    require(np.abs(power) < np.inf, NotImplementedError,
            "Power mean only implemented for finite `p`")
    safe = np.where(none, 1.0, power)
    found = _mean_of("pmean", lambda x: np.power(np.where(x < 0.0, np.nan, x), safe),
                     lambda m: np.power(m, 1.0 / safe), a, axis, dtype, weights, nan_policy,
                     keepdims)
    means = gmean(a, axis, dtype, weights, nan_policy=nan_policy, keepdims=keepdims)
    return cast(np.where(none, means, found), found.dtype)


def _mean_of(name: str, there: Callable[..., np.ndarray], back: Callable[..., object], a: object,
             axis: object, dtype: object, weights: object, nan_policy: str,
             keepdims: object) -> Any:
    if dtype is not None:
        raise refuse(f"scipy.stats.{name} with dtype= cannot be captured", "Use astype before",
                     "TJ203")
    w = _weights(name, weights, a, axis)
    whole = statistic(name, lambda x: back(_mean(there(x), w)))
    return whole(a, axis=axis, nan_policy=nan_policy, keepdims=keepdims)


def _trim_mean(x: np.ndarray, proportiontocut: object) -> Any:
    count: Any = size(x)
    low: np.ndarray = np.floor(cast(as_tracer(proportiontocut), np.float64) * count)
    inside: Any = iota(dims_of(x)[-1])
    kept = (inside >= low) & (inside < count - low)
    total = np.sum(np.where(kept, np.sort(x, axis=-1), 0.0), axis=-1)
    return np.where(np.any(np.isnan(x), axis=-1), np.nan, total / (count - 2.0 * low))


# --- moments ------------------------------------------------------------------------------------


def _central(x: np.ndarray, power: int) -> Any:
    return np.mean((x - np.mean(x, axis=-1, keepdims=True)) ** power, axis=-1)


def _scaled(x: np.ndarray, power: int) -> tuple[Any, Any]:
    """Return a central moment over that power of the deviation; and where all numbers are alike."""
    second = _central(x, 2)
    alike = second <= (np.finfo(x.dtype).eps * np.mean(x, axis=-1)) ** 2
    return _central(x, power) / np.where(alike, 1.0, second) ** (0.5 * power), alike


def skew_of(x: np.ndarray, bias: bool = True) -> Any:
    """Return the skewness of rows."""
    found, alike = _scaled(x, 3)
    n = size(x)
    if not bias:
        enough = n > 2
        m = np.where(enough, n, 3)
        found = np.where(enough, np.sqrt((m - 1.0) * m) / (m - 2.0), 1.0) * found
    return np.where(alike, np.nan, found)


def kurtosis_of(x: np.ndarray, fisher: bool = True, bias: bool = True) -> Any:
    """Return the kurtosis of rows, less that of normal numbers."""
    found, alike = _scaled(x, 4)
    n = size(x)
    if not bias:
        enough = n > 3
        m: Any = np.where(enough, n, 4)
        less = ((m ** 2 - 1.0) * found - 3.0 * (m - 1.0) ** 2) / (m - 2.0) / (m - 3.0) + 3.0
        found = np.where(enough, less, found)
    return np.where(alike, np.nan, found) - (3.0 if fisher else 0.0)


def _moment(x: np.ndarray, order: object = 1, center: object = None) -> Any:
    order = known_int(order, "the order of a moment")
    if isinstance(order, TracedOperand) or not isinstance(order, (int, float, np.integer)):
        raise refuse("scipy.stats.moment of an order that is no constant int cannot be captured",
                     "Pass a Python int", "TJ205")
    if order != round(order):
        raise ValueError("All elements of `order` must be integral.")
    if center is None:
        return _central(x, int(order)) if order != 1 else 0.0 * np.mean(x, axis=-1)
    return np.mean((x - center) ** int(order), axis=-1)


def _variation(x: np.ndarray, ddof: int = 0) -> Any:
    return np.std(x, axis=-1, ddof=ddof) / np.mean(x, axis=-1)


def _sem(x: np.ndarray, ddof: int = 1) -> Any:
    return np.std(x, axis=-1, ddof=ddof) / np.sqrt(size(x))


def _gstd(x: np.ndarray, ddof: int = 1) -> Any:
    return np.exp(np.std(np.log(x), axis=-1, ddof=ddof))


# --- circles ------------------------------------------------------------------------------------


def _turned(x: np.ndarray, high: float, low: float) -> tuple[Any, Any]:
    angle = x * (2.0 * np.pi / (high - low))
    return np.mean(np.sin(angle), axis=-1), np.mean(np.cos(angle), axis=-1)


def _length(x: np.ndarray, high: float, low: float) -> Any:
    sine, cosine = _turned(x, high, low)
    return np.minimum(np.sqrt(sine ** 2 + cosine ** 2), 1.0)


def _circmean(x: np.ndarray, high: float = 2.0 * math.pi, low: float = 0) -> Any:
    sine, cosine = _turned(x, high, low)
    turn = np.arctan2(sine, cosine) * ((high - low) / (2.0 * np.pi))
    return np.remainder(turn - low, high - low) + low


def _circvar(x: np.ndarray, high: float = 2.0 * math.pi, low: float = 0) -> Any:
    return 1.0 - _length(x, high, low)


def _circstd(x: np.ndarray, high: float = 2.0 * math.pi, low: float = 0,
             normalize: bool = False) -> Any:
    found = np.sqrt(-2.0 * np.log(_length(x, high, low)))
    return found if normalize else found * ((high - low) / (2.0 * np.pi))


def named_statistic(names: tuple[str, ...], of: Callable[..., object], name: str,
           first: object = 0) -> Callable[..., Any]:
    """Return a statistic whose arguments by place have these names."""
    capture = statistic(name, of, first)

    def named(a: object, *args: object, **kwargs: object) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{name}() takes {len(names) + 1} positional arguments but "
                            f"{len(args) + 1} were given")
        for key, x in zip(names, args, strict=False):
            if key in kwargs:
                raise TypeError(f"{name}() got multiple values for argument '{key}'")
            kwargs[key] = x
        return capture(a, **kwargs)

    return named


scipy_captures("scipy.stats", {
    "gmean": gmean, "hmean": hmean, "pmean": pmean,
    **{name: named_statistic(names, of, name, first) for name, names, of, first in (
        ("skew", ("axis", "bias", "nan_policy"), skew_of, 0),
        ("kurtosis", ("axis", "fisher", "bias", "nan_policy"), kurtosis_of, 0),
        ("moment", ("order", "axis", "nan_policy"), _moment, 0),
        ("variation", ("axis", "nan_policy", "ddof"), _variation, 0),
        ("sem", ("axis", "ddof", "nan_policy"), _sem, 0),
        ("trim_mean", ("proportiontocut", "axis"), _trim_mean, 0),
        ("gstd", ("axis", "ddof"), _gstd, 0),
        ("circmean", ("high", "low", "axis", "nan_policy"), _circmean, None),
        ("circvar", ("high", "low", "axis", "nan_policy"), _circvar, None),
        ("circstd", ("high", "low", "axis", "nan_policy"), _circstd, None))},
})
