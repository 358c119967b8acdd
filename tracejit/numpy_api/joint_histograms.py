"""Histograms along several axes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.number_lines import outer_edges
from tracejit.numpy_api.ordering import searchsorted
from tracejit.numpy_api.ranges import linspace
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, lift, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _columns(sample: object) -> list[Any]:
    """Return the coordinates of points, one array for each axis."""
    points: Any = sample
    if not isinstance(sample, (Tracer, np.ndarray)) or len(dims_of(sample)) != 2:
        points = np.atleast_2d(as_tracer(sample)).T
    points = as_tracer(points)
    if points.dtype.kind == "c":
        raise refuse("a histogram of complex numbers cannot be captured", "Use the parts", "TJ206")
    if len(points.dims) != 2:
        raise ValueError("too many values to unpack (expected 2)")
    rank = need_int(points.dims[1], "how many axes a histogram has")
    return [points[:, k] for k in range(rank)]


def _of_each(said: object, rank: int, message: str) -> list[Any]:
    """Return an argument that may say one thing for all axes, or one for each."""
    given: Any = said
    if isinstance(given, (int, np.integer)) or (
            isinstance(given, TracedOperand) and not dims_of(lift(given))) or given is None:
        return [given] * rank
    count = len(given) if not isinstance(given, Tracer) else need_int(given.dims[0], message)
    if count != rank:
        raise ValueError(message)
    return [given[k] for k in range(rank)]


def _edges(x: Tracer, bins: int | np.ndarray, k: int, range_: Sequence[float] | None) -> Any:
    """Return the edges of the bins along an axis."""
    rank = len(dims_of(lift(bins)))
    if rank > 1:
        raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
    if rank == 1:
        edges: Any = as_tracer(bins)
        require(np.logical_not(np.any(edges[:-1] > edges[1:])), ValueError,
                f"`bins[{k}]` must be monotonically increasing, when an array")
        return edges
    require(np.greater_equal(bins, 1), ValueError, f"`bins[{k}]` must be positive, when an integer")
    if as_tracer(bins).dtype.kind not in "biu":
        raise TypeError(f"`bins[{k}]` must be an integer, when a scalar")
    first, last = outer_edges(x, range_)
    return linspace(first, last, bins + 1)


def _places(x: Tracer, edges: Tracer) -> tuple[Any, Any, Any]:
    """Return the bin of each number along an axis, whether it is in any, and how many there are."""
    count = as_operand(edges.dims[0]) - 1
    found: Any = searchsorted(edges, x, "right") - (x == edges[-1])
    inside = (found >= 1) & (found <= count)
    return np.where(inside, found - 1, 0), inside, count


@captures(np.histogramdd)
def histogramdd(sample: object, bins: object = 10, range: object = None,
                density: bool | None = None, weights: object = None) -> Any:
    """Return how many points are in each bin, or the sums of their weights, and the edges."""
    columns = _columns(sample)
    rank = len(columns)
    each = _of_each(bins, rank, "The dimension of bins must be equal to the dimension of the "
                    "sample x.")
    ranges = _of_each(range, rank, "range argument must have one entry per dimension")
    edges = [_edges(x, b, k, r) for k, (x, b, r) in enumerate(zip(
        columns, each, ranges, strict=True))]
    flat: Any = 0
    within: Any = True
    for x, edge in zip(columns, edges, strict=True):
        place, inside, count = _places(x, edge)
        flat, within = flat * count + place, within & inside
    shape = [as_operand(edge.dims[0]) - 1 for edge in edges]
    hist = np.reshape(_sums(columns[0], np.where(within, flat, 0), within, shape, weights), shape)
    if density:
        total = np.sum(hist)
        for k, edge in enumerate(edges):
            hist = hist / np.reshape(np.diff(edge), [1] * k + [-1] + [1] * (rank - 1 - k))
        hist = hist / total
    return hist, edges


def _sums(x: Tracer, places: np.ndarray, within: np.ndarray, shape: list[int],
          weights: object) -> Any:
    """Return for each bin, in a flat array, how many points it has or the sum of their weights."""
    terms: Any = cast(within, np.float64)
    if weights is not None:
        given = as_tracer(weights)
        if len(given.dims) != 1 or not same_dim(given.dims[0], x.dims[0]):
            raise ValueError("The weights and list don't have the same length.")
        if given.dtype.kind == "c":
            raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') "
                            "according to the rule 'safe'")
        terms = np.where(within, cast(given, np.float64), 0.0)
    size: Any = 1
    for n in shape:
        size = size * n
    total: Any = apply("full", np.float64(0), shape=(to_dim(size),))
    total.cell.is_array = True
    np.add.at(total, places, terms)
    return total


@captures(np.histogram2d)
def histogram2d(x: object, y: object, bins: object = 10, range: object = None,
                density: bool | None = None, weights: object = None) -> Any:
    """Return how many points of a plane are in each bin, and the edges along either axis."""
    one, two = as_tracer(x), as_tracer(y)
    if not same_dim(one.dims[0], two.dims[0]):
        raise ValueError("x and y must have the same length.")
    if dims_of(lift(bins)) if isinstance(bins, TracedOperand) else hasattr(bins, "__len__"):
        edges: Any = bins
        count = len(edges) if not isinstance(bins, Tracer) else need_int(
            bins.dims[0], "how many edges a histogram has")
        bins = bins if count in (1, 2) else [as_tracer(bins)] * 2
    hist, found = histogramdd([one, two], bins, range, density, weights)
    return hist, found[0], found[1]
