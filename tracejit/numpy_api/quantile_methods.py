"""Quantiles and percentiles, by each of the methods that NumPy knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.ordering import or_nan, ordered_along
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import as_operand, atom_of, cast, emit, is_weak
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["FRACTIONS", "PER_CENTS", "as_fraction", "is_python_float", "place_and_share",
           "quantiles", "require_method"]


FRACTIONS, PER_CENTS = "Quantiles must be in the range [0, 1]", (
    "Percentiles must be in the range [0, 100]")


@captures(np.quantile)
def quantile(a: object, q: object, axis: object = None, *, method: str = "linear",
             keepdims: bool = False) -> Any:
    """Return the elements at fractions of the sorted order, or between two of them."""
    return quantiles(as_tracer(a), q, axis, method, keepdims, is_python_float(q))


def quantiles(a: Tracer, q: object, axis: object, method: str, keepdims: bool,
              keeps_dtype: bool, words: str = FRACTIONS) -> Any:
    """Return quantiles, of the elements' own dtype where the fraction is not to change it."""
    require_method(method)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    fraction = as_tracer(q)
    inside = np.all((fraction >= 0.0) & (fraction <= 1.0))
    emit("check", [atom_of(inside)], {
        "error": "ValueError", "message": words})
    ordered, kept = ordered_along(a, axis)
    last = as_operand(ordered.dims[0]) - 1
    if method == "linear" and fraction.dtype.kind in "iu":  # 0 and 1 are the ends themselves
        below, t = cast(fraction, np.int64) * last, None
    else:
        below, t = place_and_share(method, last + 1, last, fraction)
    if t is None:
        result = or_nan(ordered[below], as_tracer(ordered[-1]))
        return np.reshape(result, (*below.shape, *kept)) if keepdims else result
    low, high = ordered[below], ordered[np.minimum(below + 1, last)]
    t = t.reshape((*below.shape, *(1,) * (len(ordered.dims) - 1)))
    if ordered.dtype.kind == "f" and keeps_dtype:
        t = cast(t, ordered.dtype)  # a Python number leaves float32 as it is
    step = high - low
    result = or_nan(np.where(t < 0.5, low + step * t, high - step * (1.0 - t)), as_tracer(
        ordered[-1]))
    return np.reshape(result, (*below.shape, *kept)) if keepdims else result


def require_method(method: str) -> None:
    """Raise NumPy's error of a method of quantiles that is not there."""
    if method not in _PLACES:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {set(_PLACES)}")


def place_and_share(method: str, n: object, last: np.ndarray,
                    fraction: np.ndarray | Tracer) -> tuple[Any, Any]:
    """Return the place before a fraction of n elements, and the share of the next one.

    The share is None for a method that gives one of the elements. It has the fraction's precision.
    """
    place: Any = _PLACES[method](n, fraction * 1.0)
    whole: Any = np.floor(place)
    t: Any = _SHARES[method](place - whole, place) if method in _SHARES else place - whole
    if method != "linear":
        t = np.where(place < 0, 0.0, t)
        whole = np.clip(whole, 0, last)
    return whole.astype(np.int64), None if method in _AT_PLACES else cast(t, place.dtype)


def _between(alpha: float, beta: float) -> Callable[..., Any]:
    return lambda n, q: n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0


def _stepped(n: object, q: np.ndarray) -> Any:
    """Return the first place that is at or above a fraction of all."""
    return np.maximum(np.ceil(n * q) - 1.0, 0.0)


def _nearest_even(n: object, q: np.ndarray) -> Any:
    index = n * q - 1.5
    whole = np.floor(index)
    stays = np.logical_and(index == whole, whole % 2.0 == 1.0)
    return np.maximum(np.where(stays, whole, whole + 1.0), 0.0)


_PLACES: dict[str, Callable[..., Any]] = {
    "linear": lambda n, q: q * (n - 1), "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q), "nearest": lambda n, q: np.rint((n - 1) * q),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "inverted_cdf": _stepped, "averaged_inverted_cdf": lambda n, q: n * q - 1.0,
    "closest_observation": _nearest_even, "interpolated_inverted_cdf": _between(0.0, 1.0),
    "hazen": _between(0.5, 0.5), "weibull": _between(0.0, 0.0),
    "median_unbiased": _between(1 / 3.0, 1 / 3.0), "normal_unbiased": _between(3 / 8.0, 3 / 8.0)}
"""From a method to the place in the order, which begins with 0, for n elements and a fraction:
R. Hyndman and Y. Fan, Sample quantiles in statistical packages (1996)."""

_AT_PLACES = frozenset({"lower", "higher", "nearest", "inverted_cdf", "closest_observation"})
"""The methods that give one of the elements, in their own dtype."""

_SHARES: dict[str, Callable[..., Any]] = {
    "midpoint": lambda t, place: np.where(place % 1.0 == 0.0, 0.0, 0.5),
    "averaged_inverted_cdf": lambda t, place: np.where(t == 0.0, 0.5, 1.0)}
"""Where it is not how far the place is behind the element before it: the share of the next one."""


@captures(np.percentile)
def percentile(a: object, q: object, axis: object = None, *, method: str = "linear",
               keepdims: bool = False) -> Any:
    """Return the elements at per cents of the sorted order, or between two of them."""
    a = as_tracer(a)
    return quantiles(a, as_fraction(q, a), axis, method, keepdims, is_python_float(q), PER_CENTS)


def as_fraction(percent: object, a: Tracer) -> Any:
    """Return per cents as fractions: older NumPy divides by a hundred of the elements' dtype."""
    given: Any = as_tracer(percent) if isinstance(percent, (list, tuple)) else percent
    by_own = _IS_DOUBLE_WEAK and a.dtype.kind == "f"
    return np.true_divide(given, a.dtype.type(100) if by_own else 100)


def is_python_float(q: object) -> bool:
    """Whether a fraction is a number of Python, for older NumPy also if it is an `np.float64`.

    That leaves the dtype of the elements as it is.
    """
    if isinstance(q, Tracer):
        return not q.is_array and not q.dims and (
            is_weak(q) or (_IS_DOUBLE_WEAK and q.dtype == np.float64))
    return isinstance(q, (int, float, SymInt)) and (
        _IS_DOUBLE_WEAK or not isinstance(q, np.floating))


_IS_DOUBLE_WEAK = np.quantile(np.ones(1, np.float32), np.float64(0.5)).dtype == np.float32
