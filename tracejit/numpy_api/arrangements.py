"""More ways to arrange the elements of arrays: axes, stacks, parts, differences."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, product
from tracejit.numpy_api.axes import along_axis, normalize_axis
from tracejit.numpy_api.creation import counted, iota
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.ordering import argsort, sort
from tracejit.numpy_api.shapes import as_tuple, atleast_1d, broadcast_to, ravel, transpose
from tracejit.trace.ground.dispatch import METHODS, captures
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    broadcast_dims,
    cast,
    dims_of,
    lift,
    promotion_key,
    to_dim,
)
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["resized"]


# --- axes ---------------------------------------------------------------------------------------


@captures(np.atleast_3d)
def atleast_3d(*arys: object) -> Any:
    """Return arrays with at least three axes."""
    keys: dict[int, Any] = {1: (None, slice(None), None),
                            2: (slice(None), slice(None), None)}
    result = [a[keys[len(a.dims)]] if len(a.dims) < 3 else a for a in map(atleast_1d, arys)]
    return result[0] if len(result) == 1 else tuple(result)


@captures(np.rollaxis)
def rollaxis(a: object, axis: object, start: int = 0) -> Tracer:
    """Return a view with one axis moved to before another."""
    a = as_tracer(a)
    n = len(a.dims)
    axis = normalize_axis(axis, n)
    start = start + n if start < 0 else start
    if not 0 <= start < n + 1:
        raise np.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but "
                                      f"{start} was passed in")
    order = [k for k in range(n) if k != axis]
    order.insert(start - (axis < start), axis)
    return transpose(a, order)


@captures(np.diagflat)
def diagflat(v: object, k: int = 0) -> Any:
    """Return a matrix with the elements of an array on a diagonal."""
    return np.diag(ravel(as_tracer(v)), k)


@captures(np.broadcast_arrays)
def broadcast_arrays(*args: object, subok: bool = False) -> tuple[Any, ...]:
    """Return arrays repeated to one shape; the arrays themselves if all have it."""
    arrays = [as_array(x) for x in args]
    dims = broadcast_dims([x.dims for x in arrays])
    if all(x.dims == dims for x in arrays):
        return tuple(arrays)
    return tuple(broadcast_to(x, tuple(map(as_operand, dims))) for x in arrays)


@captures(np.unstack)
def unstack(x: object, /, *, axis: object = 0) -> tuple[Any, ...]:
    """Return the parts of an array along an axis."""
    x = as_tracer(x)
    if not x.dims:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis(axis, len(x.dims))
    before = (slice(None),) * axis
    return tuple(x[(*before, k)] for k in range(need_int(x.dims[axis], "np.unstack")))


# --- elements again and again -------------------------------------------------------------------


def resized(a: Tracer, shape: tuple[Dim, ...]) -> Tracer:
    """Return the elements of an array in a new shape, from the beginning again where it is larger.
    """
    flat = ravel(a)
    count = product(shape)
    if is_nothing(flat.dims[0]) or count == 0:
        return apply("full", a.dtype.type(0), shape=shape)
    places = iota(count) % as_operand(flat.dims[0])
    taken = apply("gather", flat, as_tracer(places), axes=(0,), position=0)
    return apply("reshape", taken, shape=shape)


@captures(np.resize)
def resize(a: object, new_shape: object) -> Tracer:
    """Return an array of a new shape, repeated where that is larger."""
    shape = tuple(counted(n, "all elements of `new_shape` must be non-negative")
                  for n in as_tuple(new_shape))
    return resized(as_tracer(a), shape)


# --- differences --------------------------------------------------------------------------------


@captures(np.ediff1d)
def ediff1d(ary: object, to_end: object = None, to_begin: object = None) -> Any:
    """Return the differences of neighbours, with more before and behind them."""
    a: Any = ravel(as_tracer(ary))
    parts = [a[1:] - a[:-1]]
    if to_begin is not None:
        parts.insert(0, _edge(to_begin, a.dtype, "to_begin"))
    if to_end is not None:
        parts.append(_edge(to_end, a.dtype, "to_end"))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def _edge(x: object, dtype: np.dtype, name: str) -> Tracer:
    more = as_tracer(x)
    if not np.can_cast(more.dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the "
                        "`same_kind` rule.")
    return cast(ravel(more), dtype)


@captures(np.unwrap)
def unwrap(p: object, discont: float | None = None, axis: int = -1, *,
           period: float = 2 * np.pi) -> Any:
    """Return angles of which neighbours differ by no more than half a turn, or by `discont`."""
    given = as_tracer(p)
    axis = normalize_axis(axis, len(given.dims))
    steps: Any = np.diff(given, axis=axis)
    discont = period / 2 if discont is None else discont
    key = promotion_key(lift(period))
    dtype = np.result_type(steps.dtype, key(1) if isinstance(key, type) else key)
    high: Any = period / 2
    ambiguous: Any = True
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    wrapped: Any = np.mod(steps + high, period) - high
    if ambiguous:
        wrapped = np.where((wrapped == -high) & (steps > 0), high, wrapped)
    correction = np.where(np.abs(steps) < discont, 0, wrapped - steps)
    before = (slice(None),) * axis
    later = given[(*before, slice(1, None))] + np.cumsum(correction, axis=axis)
    return concatenate([cast(given[(*before, slice(0, 1))], dtype), cast(later, dtype)], axis)


# --- partial orders -----------------------------------------------------------------------------


def _require_kth(a: Tracer, kth: object, axis: object, kind: object) -> None:
    """Raise NumPy's errors of a kind or a place that is not there."""
    if kind not in (None, "introselect"):
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    along, own = along_axis(a, axis)
    size = as_operand(along.dims[own])
    for k in kth if isinstance(kth, (tuple, list)) else (kth,):
        k = known_int(k, "the place of np.partition")
        if isinstance(k, (bool, np.bool_)) or np.asarray(k).dtype.kind not in "iu":
            raise TypeError("Partition index must be integer")
        if not any(map(is_nothing, a.dims)):
            require((k >= -size) & (k < size), ValueError, f"kth(={k}) out of bounds ({size})")


@captures(np.partition)
def partition(a: object, kth: object, axis: object = -1, kind: object = "introselect",
              order: object = None) -> Any:
    """Return an array in whose order the k-th elements are where sorting puts them: sorted."""
    a = as_tracer(a)
    _require_kth(a, kth, axis, kind)
    return sort(a, axis, None, order)


@captures(np.argpartition, method="argpartition")
def argpartition(a: object, kth: object, axis: object = -1, kind: object = "introselect",
                 order: object = None) -> Any:
    """Return the order of sorting, which has the k-th elements at their sorted places."""
    a = as_tracer(a)
    _require_kth(a, kth, axis, kind)
    return argsort(a, axis, None, order)


def _partition_inplace(a: Tracer, kth: object, axis: int = -1, kind: object = "introselect",
                       order: object = None) -> None:
    a[...] = partition(a, kth, axis, kind, order)


METHODS["partition"] = _partition_inplace


@captures(np.sort_complex)
def sort_complex(a: object) -> Any:
    """Return the elements as complex numbers, sorted."""
    ordered = sort(a)
    if ordered.dtype.kind == "c":
        return ordered
    return cast(ordered, np.complex64 if ordered.dtype.char in "bhBH" else np.complex128)


# --- places in arrays of several axes -----------------------------------------------------------


@captures(np.ravel_multi_index)
def ravel_multi_index(multi_index: object, dims: Sequence[int],
                      mode: str | Sequence[str] = "raise", order: str = "C") -> Any:
    """Return the flat places of elements, given by one index array for each axis."""
    parts = [multi_index[k] for k in range(len(dims))] if isinstance(
        multi_index, Tracer) else list(multi_index)  # type: ignore[call-overload]
    if len(parts) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = [mode] * len(dims) if isinstance(mode, str) else list(mode)
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    places: list[Any] = []
    for part, size, how in zip(parts, dims, modes, strict=True):
        index = as_tracer(part)
        if index.dtype.kind not in "iu":
            raise TypeError("only int indices permitted")
        index = cast(index, np.int64)
        if is_nothing(to_dim(size)) and not is_nothing(product(index.dims)):
            raise ValueError("cannot unravel if shape has zero entries (is empty).")
        if how == "raise":
            require(np.all((index >= 0) & (index < size)), ValueError,
                    "invalid entry in coordinates array")
        places.append({"wrap": lambda i, n: i % n, "raise": lambda i, n: i,
                       "clip": lambda i, n: np.clip(i, 0, n - 1)}[how](index, size))
    pairs = list(zip(places, dims, strict=True))
    return functools.reduce(lambda flat, pair: flat * pair[1] + pair[0],
                            pairs if order == "C" else pairs[::-1], 0)


@captures(np.array_equiv)
def array_equiv(a1: object, a2: object) -> Any:
    """Return whether two arrays have the same elements once they are broadcast."""
    a1, a2 = as_tracer(a1), as_tracer(a2)
    try:
        broadcast_dims([dims_of(a1), dims_of(a2)])
    except ValueError:
        return False
    agree: Any = np.all(a1 == a2)
    return tracer_of(agree.value, weak=True)
