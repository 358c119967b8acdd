"""Points on a line: spaced by a factor, put into bins, told apart by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_array, as_python_number, as_tracer
from tracejit.numpy_api.ordering import searchsorted
from tracejit.numpy_api.ranges import linspace
from tracejit.numpy_api.shapes import ravel
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    cast,
    dims_of,
    dtype_of,
    is_weak,
    lift,
    promotion_key,
    to_dim,
)
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require, strong
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__: list[str] = []


# --- spaced by a factor -------------------------------------------------------------------------


@captures(np.logspace)
def logspace(start: object, stop: object, num: object = 50, endpoint: bool = True,
             base: float = 10.0, dtype: npt.DTypeLike | None = None, axis: int = 0) -> Any:
    """Return the powers of a base, of evenly spaced exponents."""
    if dims_of(lift(base)):
        raise refuse("np.logspace with several bases cannot be captured", "Use np.power", "TJ207")
    powers = np.power(base, _evenly(start, stop, num, endpoint, axis))
    return powers if dtype is None else cast(powers, dtype)


def _evenly(start: object, stop: object, num: object, endpoint: bool, axis: int = 0) -> Any:
    """Return evenly spaced numbers, floats even between ints."""
    return linspace(_inexact(start), _inexact(stop), num, endpoint, axis=axis)


def _inexact(given: object) -> Any:
    x = lift(given)
    if isinstance(x, (TracedOperand, np.generic)):
        return x if dtype_of(x).kind in "fc" else cast(x, np.float64)
    return x if isinstance(x, complex) else float(x)


@captures(np.geomspace)
def geomspace(start: object, stop: object, num: object = 50, endpoint: bool = True,
              dtype: npt.DTypeLike | None = None, axis: int = 0) -> Any:
    """Return numbers of which each is the one before times the same factor."""
    first, last = _inexact(start), _inexact(stop)
    kinds = [dtype_of(lift(x)) for x in (first, last)]
    if any(t.kind == "c" for t in kinds):
        raise refuse("np.geomspace of complex numbers cannot be captured",
                     "Write start * (stop / start) ** t", "TJ206")
    own = np.result_type(*kinds, np.float64)
    first, last = (x if isinstance(x, float) else cast(x, own) for x in (first, last))
    fine = np.logical_and(np.not_equal(first, 0), np.not_equal(last, 0))
    require(np.all(fine) if dims_of(fine) else fine, ValueError,
            "Geometric sequence cannot include zero")
    sign = np.sign(first)
    exponents = linspace(np.log10(first / sign), np.log10(last / sign), num, endpoint)
    result = np.power(10.0, exponents)
    n = as_operand(to_dim(num))
    places = iota(to_dim(num)).reshape((n, *(1,) * (len(dims_of(result)) - 1)))
    if endpoint:
        result = np.where((places == n - 1) & (places > 0), last / sign, result)
    result = np.where(places == 0, first / sign, result) * sign
    made: Any = cast(result, own if dtype is None else dtype)
    return made if axis == 0 else np.moveaxis(made, 0, axis)


# --- bins ---------------------------------------------------------------------------------------


@captures(np.digitize)
def digitize(x: object, bins: object, right: bool = False) -> Any:
    """Return of each number the bin that it is in."""
    x = as_tracer(x)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    side = "left" if right else "right"
    edges: Any = as_tracer(bins)
    if len(edges.dims) != 1:
        raise ValueError("object too deep for desired array" if edges.dims else
                         "object of too small depth for desired array")
    rising, falling = (np.all(test(edges[1:], edges[:-1])) for test in (
        np.greater_equal, np.less_equal))
    require(np.logical_or(rising, falling), ValueError,
            "bins must be monotonically increasing or decreasing")
    n = as_operand(edges.dims[0])
    upward = searchsorted(edges, x, side)
    return np.where(rising, upward, n - searchsorted(edges[::-1], x, side))[()]


def outer_edges(a: Tracer, range_: Sequence[float] | None) -> tuple[Any, Any]:
    """Return where bins begin and end: as a range says, or at the extrema of the data."""
    if range_ is not None:
        first, last = range_
        require(np.less_equal(first, last), ValueError,
                "max must be larger than min in range parameter.")
    elif current().decide(a.dims[0], "==", "a histogram of nothing") is True:
        first, last = 0, 1
    else:
        first, last = np.min(a), np.max(a)
    require(np.logical_and(np.isfinite(first), np.isfinite(last)), ValueError,
            "the range of a histogram is not finite")
    same: Any = np.equal(first, last)
    if isinstance(same, Tracer):
        return _apart(same, first, -0.5), _apart(same, last, 0.5)
    return (first - 0.5, last + 0.5) if same else (first, last)


def _apart(same: Tracer, edge: Tracer | float, step: float) -> Any:
    """Return an edge, moved where both are the same; Python's number stays one."""
    moved: Any = np.where(same, edge + step, edge)
    if is_weak(edge):
        moved = tracer_of(moved.value)
        moved.weak = True
    return moved


def bin_edges(a: Tracer, bins: object, range_: Sequence[float] | None) -> tuple[Any, bool]:
    """Return the edges of bins, and whether they are evenly spaced."""
    if isinstance(bins, str):
        raise refuse(f"a histogram with bins={bins!r} has a result whose size depends on data",
                     "Say how many bins there are", "TJ212")
    if dims_of(lift(bins)):
        edges: Any = as_tracer(bins)
        if len(edges.dims) != 1:
            raise ValueError("`bins` must be 1d, when an array")
        require(np.all(edges[1:] >= edges[:-1]), ValueError,
                "`bins` must increase monotonically, when an array")
        return edges, False
    count: Any = bins
    require(np.greater_equal(count, 1), ValueError, "`bins` must be positive, when an integer")
    first, last = outer_edges(a, range_)
    keys = [promotion_key(lift(x)) for x in (first, last)]
    dtype = np.result_type(a.dtype, *(k(1) if isinstance(k, type) else k for k in keys))
    dtype = dtype if dtype.kind == "f" else np.result_type(dtype, np.float64)
    edges = cast(linspace(_inexact(first), _inexact(last), count + 1), dtype)
    require(np.all(edges[1:] > edges[:-1]), ValueError, "Too many bins for data range. Cannot "
            f"create {count} finite-sized bins." if isinstance(count, int) else
            "Too many bins for data range.")
    return edges, True


def _flat_sample(a: object) -> Tracer:
    x = ravel(as_tracer(a))
    if x.dtype.kind == "c":
        raise refuse("a histogram of complex numbers cannot be captured", "Use the parts", "TJ206")
    return cast(x, np.uint8) if x.dtype == np.bool_ else x


def histogram_bin_edges(a: object, bins: object = 10, range: Sequence[float] | None = None,
                        weights: object = None) -> Any:
    """Return the edges of the bins of a histogram."""
    return bin_edges(_flat_sample(a), bins, range)[0]


def bin_places(a: Tracer, edges: Tracer) -> tuple[Any, Any, Any]:
    """Return the bin of each number, whether it is in any, and how many bins there are."""
    count = as_operand(edges.dims[0]) - 1
    found = searchsorted(edges, a, "right") - 1
    found = np.where(a == edges[-1], count - 1, found)
    inside = (a >= edges[0]) & (a <= edges[-1])
    return np.where(inside, found, 0), inside, count


def histogram(a: object, bins: object = 10, range: Sequence[float] | None = None,
              density: bool | None = None, weights: object = None) -> Any:
    """Return how many numbers are in each bin, or the sums of their weights, and the edges."""
    x = _flat_sample(a)
    edges, _ = bin_edges(x, bins, range)
    places, inside, count = bin_places(x, edges)
    if weights is None:
        terms: Any = cast(inside, np.int64)
    else:
        given = as_tracer(weights)
        if given.shape != as_tracer(a).shape:
            raise ValueError("weights should have the same shape as a.")
        flat = ravel(given)
        terms = np.where(inside, flat, flat.dtype.type(0))
    total: Any = apply("full", terms.dtype.type(0), shape=(to_dim(count),))
    total.cell.is_array = True
    np.add.at(total, places, terms)
    if density:
        return total / np.diff(edges) / np.sum(total), edges
    return total, edges


# --- kinds of numbers ---------------------------------------------------------------------------


@captures(np.isreal)
def isreal(x: object) -> Any:
    """Return where the imaginary part is 0."""
    given = as_tracer(x)
    found = np.equal(np.imag(strong(given)), 0)
    if not (is_weak(x) or is_weak(given)):
        return found
    return as_python_number(found) if isinstance(found, TracedOperand) else bool(found)


@captures(np.iscomplex)
def iscomplex(x: object) -> Any:
    """Return where the imaginary part is not 0."""
    return np.not_equal(np.imag(as_tracer(x)), 0)


captures(np.iscomplexobj)(lambda x: as_tracer(x).dtype.kind == "c")
captures(np.isrealobj)(lambda x: as_tracer(x).dtype.kind != "c")


def _infinite(x: object, negative: bool) -> Any:
    x = as_tracer(x)
    if x.dtype.kind == "c":
        raise TypeError("This operation is not supported for complex128 values because it would be "
                        "ambiguous.")
    return np.isinf(x) & (np.signbit(x) if negative else np.logical_not(np.signbit(x)))


captures(np.isposinf)(lambda x: _infinite(x, False))
captures(np.isneginf)(lambda x: _infinite(x, True))


@captures(np.real_if_close)
def real_if_close(a: object, tol: float = 100) -> Any:
    """Return an array that is real already."""
    a = as_tracer(a)
    if a.dtype.kind == "c":
        raise refuse("np.real_if_close of complex numbers gives what data says, real or complex "
                     "numbers", "Use np.real", "TJ212")
    return as_array(a)


@captures(np.fix)
def fix(x: object) -> Any:
    """Return numbers without their fractions."""
    return np.trunc(as_tracer(x))
