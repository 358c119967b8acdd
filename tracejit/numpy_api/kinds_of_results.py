"""The array API standard's functions on dtypes and shapes, and its conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dims import maximum
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer, astype
from tracejit.trace.containers.choices import is_array
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, captures
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    broadcast_dims,
    cast,
    dims_of,
    is_weak,
    lift,
    to_dim,
)
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []

_NUMBERS: dict[str, object] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


def _kind(x: object) -> Any:
    """Return an operand as `np.result_type` takes it: a dtype, or a Python number if weak."""
    if not isinstance(x, TracedOperand):
        return x
    traced = as_tracer(x)
    return _NUMBERS[traced.dtype.kind] if is_weak(x) and traced.dtype.kind != "b" else traced.dtype


@captures(np.result_type)
def result_type(*arrays_and_dtypes: object) -> np.dtype:
    """Return the dtype to which NumPy's rules lead."""
    return np.result_type(*map(_kind, arrays_and_dtypes))


@captures(np.can_cast)
def can_cast(from_: object, to: object, casting: object = "safe") -> bool:
    """Return whether a cast is allowed."""
    numpys: Any = np.can_cast
    return bool(numpys(_kind(from_), to, casting))


@captures(np.astype)
def astype_(x: object, dtype: np.dtype, /, *, copy: bool = True, device: None = None) -> Any:
    """Return an array converted to a dtype."""
    given = as_tracer(x)
    if (isinstance(x, TracedOperand) and is_weak(x)) or not hasattr(x, "dtype"):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return astype(given, dtype, copy=copy)


@captures(np.from_dlpack)
def from_dlpack(x: object, /, *, device: object = None, copy: object = None) -> Any:
    """Return a view of an array, or a copy."""
    numpys: Any = np.from_dlpack
    numpys(np.zeros(0) if is_array(x) else type_of(x)(), device=device)  # which may raise
    given = as_tracer(x)
    return METHODS["copy"](given) if copy else given[...]


@captures(np.broadcast_shapes)
def broadcast_shapes(*args: object) -> Any:
    """Return the shape to which shapes are broadcast."""
    shapes = [tuple(map(to_dim, s if isinstance(s, (tuple, list)) else (s,))) for s in args]
    return tuple(map(as_operand, broadcast_dims(shapes)))


@captures(np.iterable)
def iterable(y: object) -> bool:
    """Return whether an array has axes."""
    return bool(as_tracer(y).dims) if isinstance(y, TracedOperand) else np.iterable(y)


@captures(np.i0)
def i0(x: object) -> Any:
    """Return the modified Bessel function of order 0."""
    given = as_tracer(x)
    if given.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    return apply("i0", cast(given, given.dtype if given.dtype.kind == "f" else np.float64))


@captures(np.kaiser)
def kaiser(M: object, beta: object) -> Any:
    """Return Kaiser's window of a length and a shape."""
    shape: Any = as_tracer(beta)
    if shape.dims:
        raise ValueError("setting an array element with a sequence. The requested array has an "
                         "inhomogeneous shape after 1 dimensions.")
    if dims_of(lift(M)) or as_tracer(M).dtype.kind not in "biu":
        raise refuse("np.kaiser of a length that is no int cannot be captured", "Make M an int",
                     "TJ206")
    shape = cast(shape, shape.dtype if shape.dtype.kind == "c" else np.float64)
    n = maximum(to_dim(M), 0, current().builder.known)
    if current().decide(n - 1, "==", "np.kaiser of one element is 1") is True:
        return apply("full", np.float64(1), shape=(n,))
    half = 0.5 * (as_operand(n) - 1)
    away = (cast(iota(n), np.float64) - half) / half
    return i0(shape * np.sqrt(1.0 - away ** 2.0)) / i0(shape)
