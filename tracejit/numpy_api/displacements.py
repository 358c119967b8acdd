"""Elements in other places: flipped, rolled, padded and repeated as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.core import Span
from tracejit.ir.dims import Dim, maximum, mod
from tracejit.numpy_api.conditions import wrapped
from tracejit.numpy_api.creation import counted, counted_dims, filled
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.ground.views import whole
from tracejit.trace.python.number_functions import round_number
from tracejit.trace.values.equations import apply, as_operand, cast, lift, to_dim
from tracejit.trace.values.indexing import as_memory
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    pass
from tracejit.numpy_api.axes import normalize_axes, normalize_axis
from tracejit.numpy_api.emptiness import require_items
from tracejit.numpy_api.shapes import as_tuple, ravel, reshape


@captures(np.flip)
def flip(m: object, axis: object = None) -> Tracer:
    """Return a view with axes reversed."""
    m = as_tracer(m)
    if not m.dims and axis is None:
        return tracer_of(m.value)
    axes = normalize_axes((axis,) if isinstance(axis, int) else axis, len(m.dims))
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(len(m.dims)))]


captures(np.fliplr)(lambda m: flip(m, 1))
captures(np.flipud)(lambda m: flip(m, 0))


@captures(np.roll)
def roll(a: object, shift: object, axis: object = None) -> Tracer:
    """Return elements shifted around the end."""
    a = as_tracer(a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), python_dims(a.dims))
    axes, shifts = [normalize_axis(k, len(a.dims)) for k in as_tuple(axis)], _shifts(shift)
    if 1 not in (len(axes), len(shifts)) and len(axes) != len(shifts):
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    count = max(len(axes), len(shifts)) if axes and shifts else 0
    for j in range(count):
        k, s = axes[j % len(axes)], shifts[j % len(shifts)]
        n = a.dims[k]
        start = mod(-s, maximum(n, 1, current().builder.known))
        if start == 0:
            continue
        before, after = whole(a.dims[:k]), whole(a.dims[k + 1:])
        parts = [apply("index", a, at=(*before, Span(first, count), *after))
                 for first, count in ((start, n - start), (0, start))]
        a = apply("concatenate", *parts, axis=k)
    return as_memory(a.own())


def _shifts(shift: object) -> list[Dim]:
    """Return how far to go along axes: NumPy makes ints of floats here."""
    if isinstance(shift, Tracer) and shift.dims:
        if len(shift.dims) > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        shift = [shift[k] for k in range(len(shift))]
    elif isinstance(shift, np.ndarray):
        shift = shift.tolist()
    return [to_dim(_as_int(s)) for s in as_tuple(shift)]


def _as_int(x: object) -> Any:
    """Return a number as an int, cut off."""
    if isinstance(x, Tracer) and x.dtype.kind == "f":
        return cast(x, np.int64)
    return int(x) if isinstance(x, (float, np.floating)) else x


@captures(np.pad)
def pad(array: Any, pad_width: object, mode: str = "constant", *, constant_values: Any = 0,
        end_values: object = 0, stat_length: object = None, reflect_type: str = "even") -> Tracer:
    """Return an array with more at its edges."""
    array = as_tracer(array)
    ndim = len(array.dims)
    widths = _pad_widths(pad_width, ndim)
    if mode in ("constant", "empty"):  # what is empty is 0 here, and NumPy's is anything
        if isinstance(constant_values, (tuple, list)) or (
                isinstance(constant_values, np.ndarray) and constant_values.ndim):
            return _with_sides(array, widths, _pairs(constant_values, ndim), _constant)
        target = tuple(as_operand(d + a + b) for d, (a, b) in zip(array.dims, widths, strict=True))
        result = filled(target, wrapped(lift(constant_values), array.dtype), array.dtype)
        result[tuple(slice(as_operand(a), as_operand(a + d))
                     for d, (a, _) in zip(array.dims, widths, strict=True))] = array
        return lay_out(result, "A", array)
    for axis, (d, around) in enumerate(zip(array.dims, widths, strict=True)):
        if around != (0, 0):
            require_items(d, ValueError, f"can't extend empty axis {axis} using modes other than "
                          "'constant' or 'empty'")
    if mode == "linear_ramp":
        return _with_sides(array, widths, _pairs(end_values, ndim), _ramp)
    if mode in _STATISTICS:
        side = _statistic(_STATISTICS[mode])
        return _with_sides(array, widths, _lengths(stat_length, ndim), side)
    if callable(mode):
        raise refuse("np.pad with a function as mode= cannot be captured",
                     "Write what it does with np.concatenate", "TJ203")
    if mode not in _PAD_INDICES:
        raise ValueError(f"mode '{mode}' is not supported")
    is_odd = mode in ("reflect", "symmetric") and reflect_type == "odd"
    if is_odd and array.dtype.kind == "b":
        raise refuse("np.pad with reflect_type='odd' of bools cannot be captured",
                     "Convert them with .astype(int)", "TJ206")
    for axis, ((a, b), d) in enumerate(zip(widths, array.dims, strict=True)):
        place = apply("iota", size=d + a + b) - as_operand(a)
        if is_odd:
            array = _turned_about_ends(array, axis, place, int(mode == "symmetric"))
        else:
            array = np.take(array, _PAD_INDICES[mode](place, as_operand(d)), axis=axis)
    return array


def _turned_about_ends(array: Tracer, axis: int, place: np.ndarray, beside: int) -> Any:
    """Return the elements at places of an axis that goes on beyond its ends, turned about them.

    beside -- 1 where the end is repeated, 0 where it is the centre of the turn
    """
    given: Any = array
    x = np.moveaxis(given, axis, -1)
    n = as_operand(array.dims[axis])
    at = np.where(n > 1, np.where(place < 0, -place - beside, place), 0)
    period = np.maximum(2 * (n - 1 + beside), 1)
    turns, rest = at // period, at % period
    is_turned = rest >= n
    found: Any = np.take(x, np.where(is_turned, period - beside - rest, rest), axis=-1)
    first, last = x[..., :1], x[..., -1:]
    found = np.where(is_turned, 2 * last - found, found)
    found = np.where(turns > 0, found + cast(as_tracer(2 * turns), x.dtype) * (last - first), found)
    found = np.where((place < 0) & (n > 1), 2 * first - found, found)
    return np.moveaxis(found, -1, axis)


def _nested(given: object) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of nested lists and arrays, and their items one after the other."""
    x: Any = given
    if not isinstance(x, (tuple, list)) and not np.ndim(x):
        return (), [x]
    count = need_int(x.dims[0], "how many widths there are") if isinstance(x, Tracer) else len(x)
    parts = [_nested(x[k]) for k in range(count)]
    if len({shape for shape, _ in parts}) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an "
                         "inhomogeneous shape after 1 dimensions.")
    shape = (count, *parts[0][0]) if parts else (count,)
    return shape, [item for _, items in parts for item in items]


def _pairs(x: object, ndim: int) -> list[tuple[Any, Any]]:
    """Return values given once, for both sides or for each axis as pairs, an axis each."""
    shape, items = _nested(x)
    if len(shape) > 2:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    if len(items) == 1 or (len(items) == 2 and shape != (2, 1)):
        return [(items[0], items[-1])] * ndim
    rows, columns = (1, *shape)[-2:]
    if rows not in (1, ndim) or columns not in (1, 2):
        raise ValueError("operands could not be broadcast together with remapped shapes "
                         f"[original->remapped]: {shape} and requested shape ({ndim},2)")
    pairs = [(items[k * columns], items[(k + 1) * columns - 1]) for k in range(rows)]
    return pairs * ndim if rows == 1 else pairs


def _lengths(x: object, ndim: int) -> list[tuple[Any, Any]]:
    """Return of how many elements at the edges a statistic is taken."""
    if x is None:
        return [(None, None)] * ndim
    message = "index can't contain negative values"
    return [(counted(round_number(a), message), counted(round_number(b), message))
            for a, b in _pairs(x, ndim)]


Side = Callable[..., Any]
"""(array, how many, what is asked for, whether at the end) -> what is put beside it, last axis."""


def _with_sides(array: Tracer, widths: Sequence[tuple[Dim, Dim]],
                asked: Sequence[tuple[object, object]], side: Side) -> Any:
    """Return an array with something beside it along each axis in turn."""
    result: Any = array
    for axis, ((a, b), (x, y)) in enumerate(zip(widths, asked, strict=True)):
        if (a, b) == (0, 0):
            continue
        moved = np.moveaxis(result, axis, -1)
        parts = side(moved, a, x, False), moved, side(moved, b, y, True)
        result = np.moveaxis(np.concatenate(parts, -1), -1, axis)
    return result


def _constant(x: Tracer, count: Dim, value: object, at_end: bool) -> Any:
    shape = (*map(as_operand, x.dims[:-1]), as_operand(count))
    return filled(shape, wrapped(lift(value), x.dtype), x.dtype)


def _ramp(x: Tracer, count: Dim, end: float, at_end: bool) -> Any:
    """Go from the edge to an end value, in steps that would meet the edge."""
    if x.dtype.kind not in "fc":
        return _ramp_of_ints(x, count, end, at_end)
    edge = x[..., -1:] if at_end else x[..., :1]
    i = apply("iota", size=count)
    steps: Any = (i + 1 if at_end else as_operand(count) - i) / as_operand(count)
    found: Any = edge + (end - edge) * steps
    return cast(found, x.dtype)


def _ramp_of_ints(x: Tracer, count: Dim, end: float, at_end: bool) -> Any:
    """Go from an end value to the edge by floats that are cut to ints, as `np.linspace` does."""
    edge: Any = cast(x[..., -1:] if at_end else x[..., :1], np.float64)
    i = apply("iota", size=count)
    place: Any = as_operand(count) - 1 - i if at_end else i
    found = place * ((edge - end) / as_operand(count)) + end
    return cast(cast(np.floor(found), np.int64) if x.dtype.kind in "iu" else found, x.dtype)


def _statistic(fold: Callable[..., object]) -> Side:
    def side(x: Tracer, count: Dim, length: Dim | None, at_end: bool) -> Any:
        part: Any = x
        if length is not None and at_end:
            before = maximum(x.dims[-1] - length, 0, current().builder.known)
            part = x[..., as_operand(before):]
        elif length is not None:
            part = x[..., :as_operand(length)]
        value: Any = fold(part, axis=-1, keepdims=True)
        if x.dtype.kind in "iu":
            value = np.rint(value)
        shape = (*map(as_operand, x.dims[:-1]), as_operand(count))
        return np.broadcast_to(cast(value, x.dtype), shape)

    return side


_STATISTICS: dict[str, Callable[..., object]] = {
    "maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


_PAD_INDICES: dict[str, Any] = {
    "edge": lambda i, n: np.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "reflect": lambda i, n: (n - 1) - np.absolute((n - 1) - np.absolute(i) % (2 * n - 2)),
    "symmetric": lambda i, n: np.where(i % (2 * n) < n, i % (2 * n), 2 * n - 1 - i % (2 * n)),
}


def _pad_widths(pad_width: object, ndim: int) -> list[tuple[Any, Any]]:
    def width(n: object) -> Dim:
        if (n.dtype.kind not in "iu" if isinstance(n, Tracer) else not isinstance(
                n, (int, np.integer, TracedOperand))):
            raise TypeError("`pad_width` must be of integral type.")
        return counted(n, "index can't contain negative values")

    if isinstance(pad_width, dict):
        found: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, x in pad_width.items():
            found[normalize_axis(axis, ndim)] = _pairs(x, 1)[0]
        return [(width(a), width(b)) for a, b in found]
    return [(width(a), width(b)) for a, b in _pairs(pad_width, ndim)]


@captures(np.tile)
def tile(A: object, reps: object) -> Tracer:
    """Return an array repeated as a whole."""
    a = as_tracer(A)
    counts = counted_dims(reps)
    more = max(len(counts) - len(a.dims), 0)
    if more:
        a = apply("reshape", a, shape=(1,) * more + a.dims)
    counts = (1,) * (len(a.dims) - len(counts)) + counts
    spread: list[Dim] = []
    kept: list[Dim] = []
    for c, d in zip(counts, a.dims, strict=True):
        spread += [c, d]
        kept += [1, d]
    result = apply("broadcast_to", apply("reshape", a, shape=tuple(kept)), shape=tuple(spread))
    return apply("reshape", result, shape=tuple(c * d for c, d in zip(counts, a.dims, strict=True)))
