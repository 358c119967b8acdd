"""Functions that write to some of an array's elements, or choose elements from several arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tracejit.ir.dims import product
from tracejit.numpy_api.arrangements import resized
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.conditions import common_dtype
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import is_nothing, require_items
from tracejit.numpy_api.overlaps import require_apart
from tracejit.numpy_api.selection import indices_along
from tracejit.numpy_api.shapes import broadcast_to, ravel
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, METHODS, captures
from tracejit.trace.values.equations import (
    as_operand,
    broadcast_dims,
    cast,
    dtype_of,
    is_weak,
    lift,
)
from tracejit.trace.values.indexing import as_element
from tracejit.trace.values.python_numbers import is_scalar, require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _target(a: object, what: str) -> Tracer:
    if not isinstance(a, Tracer) or not a.is_array:
        raise refuse(f"{what} to an array from outside of the captured function",
                     "Make it an argument, or create it inside the function", "TJ402")
    return a


def _converted(values: object, dtype: np.dtype) -> Tracer:
    """Return an array's elements in the dtype of their target, or raise NumPy's error."""
    is_array = not (isinstance(values, (list, tuple)) or is_scalar(values))
    given = as_tracer(as_element(values, dtype, True))
    if is_array and not np.can_cast(given.dtype, dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {given.dtype!r} to {dtype!r} according to "
                        "the rule 'safe'")
    return cast(given, dtype)


def _repeated(values: Tracer, places: Tracer) -> Any:
    """Return of a list of values the one for each place, from the beginning again at its end."""
    flat = ravel(values)
    return flat[places % as_operand(flat.dims[0])]


_ORDER = "biufc"
"""The kinds of numbers: a number of Python is of any kind that follows its own."""


@captures(np.copyto)
def copyto(dst: object, src: object, casting: str = "same_kind", where: object = True) -> None:
    """Write one array to another."""
    if not isinstance(dst, Tracer):
        raise refuse("np.copyto writes traced values to an array from outside of the captured "
                     "function", "Create the array inside the function", "TJ402")
    if not (dst.is_array or dst.dims):
        raise TypeError("copyto() argument 1 must be numpy.ndarray, not a number")
    src = lift(src)
    weak, kinds = is_weak(src), [_ORDER.index(dtype_of(v).kind) for v in (src, dst)]
    if not (casting == "unsafe" or kinds[0] <= kinds[1] if weak else np.can_cast(
            dtype_of(src), dst.dtype, casting)):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast {'scalar' if weak else 'array data'} from "
                        f"{dtype_of(src)!r} to {dst.dtype!r} according to the rule {casting!r}")
    require_apart(dst, where, what="np.copyto", same_places=True)
    dst[...] = src if where is True else FUNCTIONS[np.where](where, src, dst)


@captures(np.put)
def put(a: object, ind: object, v: object, mode: str = "raise") -> None:
    """Write to places of the flat array."""
    a = _target(a, "np.put")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    size = as_operand(ravel(a).dims[0])
    places: Any = cast(ravel(as_tracer(ind)), np.int64)
    if any(map(is_nothing, (places.dims[0], product(as_tracer(v).dims)))):
        return
    require_items(product(a.dims), IndexError, "cannot replace elements of an empty array")
    if mode == "raise":
        require(np.all((places >= -size) & (places < size)), IndexError,
                "an index is out of bounds for the array that np.put writes to")
    places = np.clip(places, 0, size - 1) if mode == "clip" else places % size
    values = _repeated(cast(as_element(v, a.dtype, True), a.dtype), iota(places.dims[0]))
    index = []
    for d in reversed(a.dims):
        index.append(places % as_operand(d))
        places = places // as_operand(d)
    a[tuple(reversed(index))] = values


METHODS["put"] = lambda a, indices, values, mode="raise": put(a, indices, values, mode)


def _mask_for(a: Tracer, mask: object, function: str) -> Tracer:
    """Return a mask in bools, or raise NumPy's error of a mask of another shape."""
    holds = as_tracer(mask)
    holds = holds if holds.dtype == np.bool_ else as_tracer(holds != 0)
    if holds.shape != a.shape:
        raise ValueError(f"{function}: mask and data must be the same size")
    return holds


@captures(np.putmask)
def putmask(a: object, mask: object, values: object) -> None:
    """Write to where a mask holds, the values being for all places."""
    a = _target(a, "np.putmask")
    holds = _mask_for(a, mask, "putmask")
    given = _converted(values, a.dtype)
    if not is_nothing(product(given.dims)):
        a[...] = np.where(holds, resized(given, a.dims), a)


@captures(np.place)
def place(arr: object, mask: object, vals: object) -> None:
    """Write to where a mask holds, one value after the other."""
    a = _target(arr, "np.place")
    require_apart(a, mask, what="np.place", same_places=True)
    require_apart(a, vals, what="np.place")
    holds = _mask_for(a, mask, "place")
    if is_nothing(product(as_tracer(vals).dims)):
        require(np.logical_not(np.any(holds)), ValueError, "Cannot insert from an empty array!")
        return
    before: Any = np.cumsum(ravel(holds)) - 1
    values = _repeated(_converted(vals, a.dtype), np.maximum(before, 0))
    a[...] = np.where(holds, np.reshape(values, a.shape), a)


@captures(np.put_along_axis)
def put_along_axis(arr: object, indices: object, values: object, axis: object) -> None:
    """Write at indices that vary along the other axes."""
    a, places = _target(arr, "np.put_along_axis"), as_tracer(indices)
    if axis is None:
        raise refuse("np.put_along_axis with axis=None cannot be captured", "Use np.put", "TJ203")
    if len(places.dims) != len(a.dims):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = normalize_axis(axis, len(a.dims))
    a[tuple(indices_along(a, places, axis))] = values


_MODES: dict[str, Callable[..., Any]] = {
    "wrap": lambda i, n: i % n, "clip": lambda i, n: np.clip(i, 0, n - 1), "raise": lambda i, n: i}


@captures(np.choose)
def choose(a: object, choices: Iterable[object], *, mode: str = "raise") -> Any:
    """Return of several arrays the element that an index says, place by place."""
    index = as_tracer(a)
    if index.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {index.dtype!r} to dtype('int64') according "
                        "to the rule 'safe'")
    whole = list(choices)
    given, n = [as_tracer(x) for x in whole], len(whole)
    shape = broadcast_dims([index.dims, *(x.dims for x in given)])
    dtype = common_dtype(*whole)
    index = cast(index, np.int64)
    if mode == "raise":
        require(np.all((index >= 0) & (index < n)), ValueError, "invalid entry in choice array")
    elif mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    which = _MODES[mode](index, n)
    result: Any = broadcast_to(cast(given[0], dtype), tuple(map(as_operand, shape)))
    for k, x in enumerate(given[1:], 1):
        result = np.where(which == k, cast(x, dtype), result)
    return result if n > 1 else result.copy()


METHODS["choose"] = lambda a, choices, mode="raise": choose(a, choices, mode=mode)
