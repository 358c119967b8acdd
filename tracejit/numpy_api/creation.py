"""Creating arrays: in a capture these return tracers, so that later code can write to them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, Expr, bare_value, maximum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.structured_arrays import has_fields, structured_array
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import CREATES, FUNCTIONS, METHODS, Capturing, captures
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.lists.iterables import TracedIterable
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit_value,
    lift,
    promotion_key,
    same_dim,
    supported,
    to_dim,
)
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.indexing import as_element, require_one_number
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.making_fields import blank_fields
from tracejit.trace.values.python_numbers import is_scalar, require
from tracejit.trace.values.reshapes import contiguous
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["counted", "counted_dims", "creates", "empty", "filled", "full", "iota", "ones", "zeros"]


def creates(*functions: object) -> Callable[[Capturing], Capturing]:
    """Enter the decorated function as the capture of functions that make arrays."""
    CREATES.update(functions)
    return captures(*functions)


def counted(n: object, message: str = "negative dimensions are not allowed") -> Dim:
    """Return how many elements there are to be along an axis: a negative number is an error."""
    d, trace = to_dim(n), current()
    if isinstance(d, int):
        negative: bool | None = d < 0
    elif maximum(d, 0, trace.builder.known) == d:
        return d
    else:
        negative = trace.decide(d, "<", "a size is negative, or not")
    if negative is None:
        require(as_operand(d) >= 0, ValueError, message)
    elif negative:
        raise ValueError(message)
    else:
        _note_count(d)
    return d


def _note_count(d: Dim) -> None:
    """Note that a number is not negative in any call that a program is for."""
    offset = d.const if isinstance(d, Expr) else 0
    v = bare_value(d - offset)
    if v is not None:
        builder = current().builder
        low, high = builder.known.get(v, (None, None))
        if low is None or (isinstance(low, int) and low < -offset):
            builder.assume(v, -offset, high)


def counted_dims(shape: object) -> tuple[Dim, ...]:
    """Return a shape as dims: a negative size is an error."""
    if isinstance(shape, Tracer) and len(shape.dims) == 1:
        shape = [*map(shape.__getitem__, range(need_int(shape.dims[0], "how many axes")))]
    return tuple(map(counted, shape if isinstance(shape, (tuple, list)) else (shape,)))


def filled(shape: object, value: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Return an array filled with a scalar, which is cast as C casts it."""
    value = lift(value)
    dtype = supported(dtype_of(value) if dtype is None else dtype)
    if isinstance(value, (float, complex, np.inexact)):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            value = np.asarray(value).astype(dtype)[()]
    return tracer_of(emit_value("full", [atom_of(value, dtype)], {"shape": counted_dims(shape)}))


def iota(size: Dim, start: Dim = 0) -> Tracer:
    """Return the whole numbers from `start` on."""
    return apply("iota", size=size, **({} if start == 0 else {"start": start}))


@creates(np.zeros)
def zeros(shape: object, dtype: npt.DTypeLike = float, order: str = "C") -> Any:
    """Return zeros."""
    if has_fields(dtype):
        return blank_fields(zeros, shape, dtype)
    return lay_out(filled(shape, 0, dtype), order)


@creates(np.ones)
def ones(shape: object, dtype: npt.DTypeLike | None = None, order: str = "C") -> Any:
    """Return ones."""
    if has_fields(dtype):
        return blank_fields(ones, shape, dtype)
    return lay_out(filled(shape, 1, dtype or float), order)


@creates(np.empty)
def empty(shape: object, dtype: npt.DTypeLike = float, order: str = "C") -> Any:
    """Return an array to be written to."""
    if has_fields(dtype):
        return blank_fields(empty, shape, dtype)
    cast_dtype = supported(dtype)
    result = tracer_of(emit_value("empty", [], {"shape": counted_dims(shape), "dtype": cast_dtype}))
    return lay_out(result, order)


@creates(np.ndarray)
def ndarray(shape: object, dtype: npt.DTypeLike = float, buffer: object = None, offset: int = 0,
            strides: object = None, order: str | None = None) -> Tracer:
    """Return an array to be written to, by the constructor."""
    if buffer is not None or offset or strides is not None:
        raise refuse("np.ndarray of memory that is there already cannot be captured",
                     "Index or reshape the array instead", "TJ201")
    return empty(shape, dtype, order or "C")


@creates(np.full)
def full(shape: object, fill_value: object, dtype: npt.DTypeLike | None = None,
         order: str = "C") -> Tracer:
    """Return an array filled with a value, which may be an array to broadcast."""
    value = lift(fill_value)
    if isinstance(value, Tracer) and value.dims:
        result = FUNCTIONS[np.broadcast_to](value, shape).copy()
        result = result if dtype is None else cast(result, dtype)
    else:
        result = filled(shape, value, dtype)
    return lay_out(result, order)


@creates(np.array)
def array(a: object, dtype: npt.DTypeLike | None = None, *, copy: object = True, order: str = "K",
          ndmin: int = 0) -> Any:
    """Return an array of numbers, tracers, or nested lists of them."""
    copy = {"ALWAYS": True, "IF_NEEDED": None, "NEVER": False}.get(getattr(copy, "name", ""), copy)
    if isinstance(a, StructuredArray) or (has_fields(dtype)):
        return structured_array(a, dtype, copy)
    if isinstance(a, range):
        result = FUNCTIONS[np.arange](a.start, a.stop, a.step)
    elif isinstance(a, TracedIterable):
        result = a.in_turn(iota(a.count))
    elif isinstance(a, (list, tuple)):
        result = _join(a, dtype)
    elif isinstance(a, np.ndarray) and a.dtype.kind not in "biufc":
        raise refuse(f"arrays of dtype {a.dtype} cannot be captured", "Use a numeric dtype",
                     "TJ301")
    else:
        result = source = as_tracer(a)
        if copy:
            result = lay_out(tracer_of(result.value), order, source)
        if dtype is not None and result.dtype != dtype:
            result = lay_out(cast(result, dtype), order, source)
    if dtype is not None and result.dtype != dtype:
        result = cast(result, dtype)
    own = dtype_of(a) if isinstance(a, np.ndarray) or (isinstance(a, Tracer) and (
        a.is_array or a.dims)) else None
    if copy is False and (own is None or own != result.dtype):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if order in ("C", "F") and len(result.dims) > 1:
        result = _ordered(result, order) if not copy else lay_out(tracer_of(result.value), order)
    while len(result.dims) < ndmin:
        result = result[None]
    if not result.is_array:
        result = tracer_of(result.value)
        result.cell.is_array = True
    return result


def _ordered(a: Tracer, order: str) -> Tracer:
    """Return an array as it is if it is contiguous in an order, else a copy."""
    return contiguous(a) if order == "C" else FUNCTIONS[np.transpose](
        contiguous(FUNCTIONS[np.transpose](a)))


@creates(np.asarray, np.asanyarray)
def asarray(a: object, dtype: npt.DTypeLike | None = None, order: Any = None, *,
            copy: object = None) -> Any:
    """Return an array as it is, if it has the dtype; a copy of anything else."""
    return array(a, dtype, copy=copy, order=order or "K")


@creates(np.ascontiguousarray)
def ascontiguousarray(a: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Return an array as it is, if it has the dtype and is contiguous; else a copy."""
    result = array(a, dtype, copy=None)
    return contiguous(result) if result.dims else result[None]


@creates(np.asfortranarray)
def asfortranarray(a: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Return an array as it is, if it has the dtype and lies column by column; else a copy."""
    result = array(a, dtype, copy=None)
    return _ordered(result, "F") if result.dims else result[None]


def _join(items: Any, wanted: Any = None) -> Tracer:
    """Stack nested lists, in the dtype to which the numbers in them promote.

    wanted -- the dtype that they get in the end, which Python ints have to fit into
    """
    if wanted is not None and np.dtype(wanted).kind == "O":
        raise refuse("an array of objects cannot be captured", "Use a list, of arrays or numbers",
                     "TJ301")
    parts = [_join(x, wanted) if isinstance(x, (list, tuple)) else lift(x) for x in items]
    if not parts:
        return zeros(0)
    keys = [promotion_key(x) for x in parts]
    strong = [k for k in keys if not isinstance(k, type)]
    plain = [np.dtype(k) for k in keys if isinstance(k, type)]
    dtype = np.result_type(*strong, *plain)
    shape = dims_of(parts[0])
    for part in parts:
        if len(dims_of(part)) != len(shape) or not all(
                same_dim(d, s) for d, s in zip(dims_of(part), shape, strict=True)):
            raise ValueError("setting an array element with a sequence. The requested array has an "
                             "inhomogeneous shape after 1 dimensions.")
    if wanted is not None and np.dtype(wanted).kind in "iu" and dtype == np.int64:
        dtype = np.dtype(wanted)
    if wanted is not None:
        parts = [as_element(x, np.dtype(wanted)) if is_scalar(x) else x for x in parts]
    return FUNCTIONS[np.stack]([cast(x, dtype) for x in parts])


@creates(np.copy)
def copy(a: object, order: str = "K", subok: bool = False) -> Any:
    """Return a copy: a cell of its own."""
    if isinstance(a, StructuredArray):
        return structured_array(a, None, True)
    a = as_tracer(a)
    return lay_out(tracer_of(a.value), order, a)


def _copy_method(a: Tracer, order: str = "C") -> Tracer:
    result = copy(a, order)
    result.cell.is_array = a.is_array
    return result


def _view_method(a: Any, dtype: npt.DTypeLike | None = None, type: object = None) -> Any:
    if dtype is not None or type is not None:
        raise refuse("a view of an array's bytes as another dtype cannot be captured",
                     "Use .astype(), or .real and .imag", "TJ201")
    return a[...] if a.is_array else a


METHODS["view"] = _view_method
METHODS["copy"] = _copy_method
METHODS["__array_copy__"] = copy


def _fill_method(a: Tracer, value: object) -> None:
    require_one_number(value, a.dtype)
    a[...] = value


METHODS["fill"] = _fill_method
