"""Statistics of values in bins by other numbers: they have derivatives by the values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.samples import floats
from tracejit.scipy_api.taking import captures_of_some, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, dims_of, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class BinnedResult(NamedTuple):
    """The result of `binned_statistic`."""

    statistic: Any
    bin_edges: Any
    binnumber: Any


class PlaneResult(NamedTuple):
    """The result of `binned_statistic_2d`."""

    statistic: Any
    x_edge: Any
    y_edge: Any
    binnumber: Any


def _finite(x: object, name: str) -> Any:
    given: Any = cast(floats(x, name), np.float64)
    require(np.all(np.isfinite(given)), ValueError, "an array contains non-finite values.")
    return given


def _edges(x: np.ndarray, bins: object, ends: object) -> Any:
    """Return the edges of bins: given ones, or so many of a width between ends."""
    if (given := as_tracer(bins)).dims:
        return cast(given, np.float64)
    count = int(constant_of(bins, "a number of bins"))
    if ends is None:
        low, high = np.min(x), np.max(x)
    else:
        pair: Any = ends
        low, high = (cast(as_tracer(v), np.float64) for v in pair)
        require(low <= high, ValueError, "In range, start must be <= stop.")
    alike = low == high
    first, last = np.where(alike, low - 0.5, low), np.where(alike, high + 0.5, high)
    return np.linspace(first, last, count + 1)


def _numbers(x: np.ndarray, edges: np.ndarray) -> Any:
    """Return in which bins numbers are: 1, 2, ...; the last edge is in the last bin."""
    found: Any = np.digitize(x, edges)
    last: Any = edges[-1]
    digits = np.trunc(-np.log10(np.min(np.diff(edges)))) + 6.0
    scale = 10.0 ** digits
    on_edge = (x >= last) & (np.rint(x * scale) == np.rint(last * scale))
    return found - np.where(on_edge, 1, 0)


# --- statistics -----------------------------------------------------------------------------------

_BY = Callable[[Any, Any, Any], Any]


def _mean(v: np.ndarray, inside: np.ndarray, count: np.ndarray) -> Any:
    total = np.sum(np.where(inside, v, 0.0), axis=-1)
    return total / np.where(count > 0.0, count, np.nan)


def _deviation(v: np.ndarray, inside: np.ndarray, count: np.ndarray) -> Any:
    away = np.where(inside, v - np.expand_dims(_mean(v, inside, count), -1), 0.0)
    square = np.sum(away * away, axis=-1) / np.where(count > 0.0, count, np.nan)
    none = square == 0.0
    return np.where(none, 0.0, np.sqrt(np.where(none, 1.0, square)))


def _extreme(fold: Callable[..., object], far: float) -> _BY:
    def of(v: np.ndarray, inside: np.ndarray, count: np.ndarray) -> Any:
        found: Any = fold(np.where(inside, v, far), axis=-1)
        return np.where(count > 0.0, found, np.nan)

    return of


def _median(v: np.ndarray, inside: np.ndarray, count: np.ndarray) -> Any:
    ordered = np.sort(np.where(inside, v, np.inf), axis=-1)
    whole: Any = np.where(count > 0.0, count, 1.0).astype(np.int64)
    low, high = (np.take_along_axis(ordered, np.expand_dims(k, -1), -1)[..., 0]
                 for k in ((whole - 1) // 2, whole // 2))
    return np.where(count > 0.0, 0.5 * (low + high), np.nan)


_STATISTICS: dict[str, _BY] = {
    "mean": _mean, "std": _deviation, "median": _median, "min": _extreme(np.min, np.inf),
    "max": _extreme(np.max, -np.inf), "count": lambda v, inside, count: count + 0.0 * v[..., 0],
    "sum": lambda v, inside, count: np.sum(np.where(inside, v, 0.0), axis=-1)}


def _binned(name: str, places: Sequence[np.ndarray], values: object, statistic: object,
            bins: Sequence[object], ends: Sequence[object]) -> tuple[Any, list[Any], Any]:
    """Return the statistic of each bin, the edges of each axis, and the numbers of bins."""
    if not isinstance(statistic, str):
        raise refuse(f"scipy.stats.{name} by a function of yours cannot be captured",
                     "Say 'mean', 'std', 'median', 'count', 'sum', 'min' or 'max'", "TJ203")
    if statistic not in _STATISTICS:
        raise ValueError(f"invalid statistic {statistic!r}")
    given: Any = cast(floats(values, name), np.float64)
    if not all(same_dim(dims_of(x)[0], dims_of(places[0])[0]) for x in places):
        raise ValueError("the axes of bins have unlike sizes")
    if not same_dim(dims_of(places[0])[0], dims_of(given)[-1]):
        raise AttributeError("The number of `values` elements must match the length of each "
                             "`sample` dimension.")
    edges = [_edges(x, *pair) for x, pair in zip(places, zip(bins, ends, strict=True),
                                                 strict=True)]
    sides = [need_int(dims_of(e)[0], "the number of bins") - 1 for e in edges]
    numbers = [_numbers(stop_gradient(x), stop_gradient(e)) for x, e in zip(
        places, edges, strict=True)]
    number: Any = 0
    cell: Any = 0
    known: Any = True
    for k, side in zip(numbers, sides, strict=True):
        number, cell = number * (side + 2) + k, cell * side + k - 1
        known = known & (k >= 1) & (k <= side)
    inside: Any = (np.arange(math.prod(sides))[:, None] == cell) & known
    count = np.sum(inside, axis=-1).astype(np.float64)
    found = _STATISTICS[statistic](np.expand_dims(given, -2), inside, count)
    return np.reshape(found, (*given.shape[:-1], *sides)), edges, number


def _vector(x: object, name: str) -> Any:
    given = _finite(x, name)
    if len(dims_of(given)) != 1:
        raise refuse(f"scipy.stats.{name} of arrays of several axes cannot be captured",
                     "Pass vectors", "TJ207")
    return given


def binned_statistic(x: object, values: object, statistic: object = "mean", bins: object = 10,
                     range: object = None) -> Any:
    """Return a statistic of the values in each bin."""
    pair: Any = range
    if pair is not None and len(pair) == 1:
        pair = pair[0]
    found, edges, number = _binned("binned_statistic", [_vector(x, "binned_statistic")], values,
                                   statistic, [bins], [pair])
    return BinnedResult(found, edges[0], number)


def _on_axes(name: str, places: Sequence[np.ndarray], values: object, statistic: object,
             bins: object, ends: object, expand: object) -> tuple[Any, list[Any], Any]:
    if expand:
        raise refuse(f"scipy.stats.{name} with expand_binnumbers= cannot be captured",
                     "Use np.unravel_index of the numbers", "TJ203")
    count = len(places)
    given: Any = bins
    each = list(given) if isinstance(given, (list, tuple)) else [given] * count
    if len(each) != count:
        raise refuse(f"scipy.stats.{name} with bins= of edges for all axes cannot be captured",
                     "Pass a list with bins or edges of each axis", "TJ203")
    pairs: Any = [None] * count if ends is None else ends
    return _binned(name, places, values, statistic, each, list(pairs))


def binned_statistic_2d(x: object, y: object, values: object, statistic: object = "mean",
                        bins: object = 10, range: object = None,
                        expand_binnumbers: bool = False) -> Any:
    """Return a statistic of the values in each bin of two axes."""
    name = "binned_statistic_2d"
    found, edges, number = _on_axes(name, [_vector(x, name), _vector(y, name)], values, statistic,
                                    bins, range, expand_binnumbers)
    return PlaneResult(found, edges[0], edges[1], number)


def binned_statistic_dd(sample: object, values: object, statistic: object = "mean",
                        bins: object = 10, range: object = None, expand_binnumbers: bool = False,
                        binned_statistic_result: None = None) -> Any:
    """Return a statistic of the values in each bin of several axes."""
    name = "binned_statistic_dd"
    points = _finite(sample, name)
    if len(dims_of(points)) != 2 or binned_statistic_result is not None:
        raise refuse("scipy.stats.binned_statistic_dd of anything but an array of two axes, or "
                     "with binned_statistic_result=, cannot be captured", "Stack the axes", "TJ203")
    count = need_int(dims_of(points)[1], "the number of axes of bins")
    columns = [points[:, k] for k in map(int, np.arange(count))]
    found, edges, number = _on_axes(name, columns, values, statistic, bins, range,
                                    expand_binnumbers)
    return BinnedResult(found, edges, number)


captures_of_some("scipy.stats", {
    "binned_statistic": binned_statistic, "binned_statistic_2d": binned_statistic_2d,
    "binned_statistic_dd": binned_statistic_dd}, "iuf", 8)
