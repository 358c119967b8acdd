"""The functions that leave out NaN: folds, moments and orders of the other elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.averages import lost_degrees, root_of_squares
from tracejit.numpy_api.axes import normalize_axes
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.ordering import sort, with_one_more
from tracejit.numpy_api.quantile_methods import (
    FRACTIONS,
    PER_CENTS,
    as_fraction,
    is_python_float,
    place_and_share,
    quantiles,
    require_method,
)
from tracejit.numpy_api.running_folds import cumprod, cumsum
from tracejit.numpy_api.shapes import moveaxis
from tracejit.ops.reductions import flatten_axes
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import as_operand, cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__: list[str] = []

Axis = int | tuple[int, ...] | None
"""What is folded: one axis, several of them, or all."""


def _filled(a: Tracer, fill: float) -> Any:
    """Return an array with another number in place of each NaN."""
    if a.dtype.kind not in "fc":
        return a
    return cast(np.where(np.isnan(a), a.dtype.type(fill), a), a.dtype)


# --- products and running folds -----------------------------------------------------------------


@captures(np.nanprod)
def nanprod(a: object, axis: Axis = None, dtype: npt.DTypeLike | None = None, *,
            keepdims: bool = False) -> Any:
    """Return the product of the elements that are not NaN."""
    return np.prod(_filled(as_tracer(a), 1.0), axis, dtype, keepdims=keepdims)


@captures(np.nancumsum)
def nancumsum(a: object, axis: object = None, dtype: npt.DTypeLike | None = None) -> Any:
    """Return running sums of the elements, with 0 for each NaN."""
    return cumsum(_filled(as_tracer(a), 0.0), axis, dtype)


@captures(np.nancumprod)
def nancumprod(a: object, axis: object = None, dtype: npt.DTypeLike | None = None) -> Any:
    """Return running products of the elements, with 1 for each NaN."""
    return cumprod(_filled(as_tracer(a), 1.0), axis, dtype)


def _place(place: Callable[..., object], fill: float, name: str) -> Any:
    def function(a: object, axis: Axis = None, *, keepdims: bool = False) -> Any:
        a = as_tracer(a)
        if a.dtype.kind == "c":
            raise refuse(f"np.{name} of complex numbers cannot be captured", "Use the parts",
                         "TJ206")
        if a.dtype.kind == "f":
            require(np.logical_not(np.any(np.all(np.isnan(a), axis=axis))), ValueError,
                    "All-NaN slice encountered")
        return place(_filled(a, fill), axis=axis, keepdims=keepdims)

    return function


captures(np.nanargmax)(_place(np.argmax, -np.inf, "nanargmax"))
captures(np.nanargmin)(_place(np.argmin, np.inf, "nanargmin"))


# --- moments ------------------------------------------------------------------------------------


@captures(np.nanvar)
def nanvar(a: object, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False,
           correction: float | None = None) -> Any:
    """Return the variance of the elements that are not NaN; NaN where they are `ddof` or fewer."""
    a = as_inexact(a)
    ddof = lost_degrees(ddof, correction)
    kept = np.logical_not(np.isnan(a))
    count = np.sum(kept, axis=axis, keepdims=True)
    mean = cast(np.sum(_filled(a, 0.0), axis=axis, keepdims=True) / count, a.dtype)
    away = np.where(kept, a - mean, a.dtype.type(0))
    squares = np.real(away * np.conj(away)) if a.dtype.kind == "c" else away * away
    freedom = np.sum(kept, axis=axis, keepdims=keepdims) - ddof
    enough = freedom > 0
    total: Any = np.sum(squares, axis=axis, keepdims=keepdims)
    result = cast(total / np.where(enough, freedom, 1), total.dtype)
    return cast(np.where(enough, result, np.nan), total.dtype)[()]


@captures(np.nanstd)
def nanstd(a: object, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False,
           correction: float | None = None) -> Any:
    """Return the standard deviation of the elements that are not NaN."""
    variance = nanvar(a, axis, ddof=ddof, keepdims=keepdims, correction=correction)
    return cast(root_of_squares(variance), variance.dtype)


# --- orders -------------------------------------------------------------------------------------


def _sorted_first(a: object, axis: Axis) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return the elements sorted along the first axis, how many are numbers, and the shape kept."""
    a = as_inexact(a)
    axes = normalize_axes(axis, len(a.dims))
    kept = tuple(1 if k in axes else as_operand(d) for k, d in enumerate(a.dims))
    rest = [k for k in range(len(a.dims)) if k not in axes]
    flat = flatten_axes(a, axes) if not rest else np.reshape(
        np.transpose(a, (*rest, *axes)), (*(as_operand(a.dims[k]) for k in rest), -1))
    ordered = moveaxis(sort(flat, -1), -1, 0)
    count = np.sum(np.logical_not(np.isnan(ordered)), axis=0)
    return with_one_more(as_tracer(ordered)), count, kept


def _at(ordered: np.ndarray, place: np.ndarray) -> Any:
    """Return of each column the element at its own place."""
    return np.take_along_axis(ordered, np.expand_dims(place, 0), 0)[0]


@captures(np.nanmedian)
def nanmedian(a: object, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return the median of the elements that are not NaN."""
    ordered, count, kept = _sorted_first(a, axis)
    if is_nothing(ordered.dims[0]):
        return np.reshape(np.mean(ordered, axis=0), kept) if keepdims else np.mean(ordered, axis=0)
    low = _at(ordered, np.maximum((count - 1) // 2, 0))
    high = _at(ordered, np.maximum(np.minimum(count // 2, count - 1), 0))
    result = np.where(count % 2 == 1, low, (low + high) / 2.0)
    return np.reshape(result, kept) if keepdims else result


@captures(np.nanquantile)
def nanquantile(a: object, q: object, axis: Axis = None, *, method: str = "linear",
                keepdims: bool = False) -> Any:
    """Return the quantiles, at fractions `q`, of the elements that are not NaN."""
    return _quantiles(as_tracer(a), q, axis, method, keepdims, is_python_float(q))


def _quantiles(a: Tracer, q: object, axis: Axis, method: str, keepdims: bool,
               keeps_dtype: bool, words: str = FRACTIONS) -> Any:
    require_method(method)
    x: Any = as_inexact(a)
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if any(map(is_nothing, x.dims)):
        return np.mean(x, axis, keepdims=keepdims)
    if a.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if a.dtype.kind in "iu":
        return quantiles(a, q, axis, method, keepdims, keeps_dtype, words)
    ordered, count, kept = _sorted_first(a, axis)
    fraction = cast(as_tracer(q), np.float64) if isinstance(q, (list, tuple)) else as_tracer(q)
    require(np.all((fraction >= 0.0) & (fraction <= 1.0)), ValueError,
            words)
    spread = np.reshape(fraction, (*fraction.shape, *(1,) * (len(ordered.dims) - 1)))
    last = np.maximum(count - 1, 0)
    own = spread.dtype if spread.dtype.kind == "f" else np.dtype(np.float64)
    below, t = place_and_share(method, cast(last + 1, own), last, cast(spread, own))
    result: Any = _each(ordered, below)
    if t is not None:
        low, high = result, _each(ordered, np.minimum(below + 1, last))
        t = cast(t, ordered.dtype) if keeps_dtype else t
        step = high - low
        result = np.where(t < 0.5, low + step * t, high - step * (1.0 - t))
    result = result if fraction.dims else result[()]
    return np.reshape(result, (*fraction.shape, *kept)) if keepdims else result


def _each(ordered: np.ndarray, places: np.ndarray) -> Any:
    """Return the elements at places of each column, of which there may be several rows."""
    columns = ordered.shape[1:]
    rows = np.reshape(places, (-1, *columns))
    return np.reshape(np.take_along_axis(ordered, rows, 0), np.shape(places))


@captures(np.nanpercentile)
def nanpercentile(a: object, q: object, axis: Axis = None, *, method: str = "linear",
                  keepdims: bool = False) -> Any:
    """Return the percentiles, at per cents `q`, of the elements that are not NaN."""
    x = as_tracer(a)
    return _quantiles(x, as_fraction(q, x), axis, method, keepdims, is_python_float(q), PER_CENTS)
