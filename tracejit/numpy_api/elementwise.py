"""Ufuncs that are written with others, and the scalar functions of `math` and `scipy.special`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, METHODS, PROPERTIES, captures
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.python.ufunc_calls import require_shape, write_out
from tracejit.trace.values.equations import (
    COMPOSITES,
    OF_SCALARS,
    apply,
    apply_ufunc,
    atom_of,
    cast,
    dims_of,
    emit,
    is_weak,
    lift,
)
from tracejit.trace.values.equations import dtype_of as operand_dtype
from tracejit.trace.values.indexing import as_memory
from tracejit.trace.values.python_numbers import python_int
from tracejit.trace.values.symbolic_ints import SymInt, known_int
from tracejit.trace.values.tracer import Lifted, Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["as_array", "as_inexact", "as_tracer"]


def as_tracer(x: object) -> Tracer:
    """Return an operand (a number, array, list or tracer) as a tracer."""
    x = lift(x)
    return x if isinstance(x, Tracer) else cast(x, operand_dtype(x))


def as_inexact(x: object, least: npt.DTypeLike = np.float64) -> Tracer:
    """Return an operand of floats or complex numbers; ints become floats, `least` or wider."""
    given = as_tracer(x)
    return given if given.dtype.kind in "fc" else cast(given, np.result_type(given.dtype, least))


def as_array(x: object) -> Tracer:
    """Return an operand as an array, a number as one of no axes: `is_array` is set in its cell."""
    return as_memory(as_tracer(x))


# --- ufuncs -------------------------------------------------------------------------------------


def _power(x: object, y: Any) -> Any:
    """Small constant exponents are products and roots, as NumPy's own fast paths are."""
    if isinstance(y, (int, float, np.generic)) and not isinstance(y, (bool, np.bool_)):
        integral = isinstance(x, SymInt) or (isinstance(x, Tracer) and x.dtype.kind in "iub")
        own = operand_dtype(x)
        strong = isinstance(y, np.generic) and np.result_type(own, y) != own
        if integral and isinstance(y, (int, np.integer)) and y < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        if strong or (integral and not isinstance(y, (int, np.integer))):
            return NotImplemented
        if y in _POWERS and not (integral and y in (0.5, -0.5)):
            return _POWERS[complex(y).real](x)
    elif operand_dtype(x).kind in "iub" and operand_dtype(y).kind == "i":
        least = FUNCTIONS[np.all](lift(y) >= 0) if dims_of(y) else as_tracer(y >= 0)
        emit("check", [atom_of(least)], {"error": "ValueError", "message":
             "Integers to negative integer powers are not allowed."})
    return NotImplemented


_POWERS: dict[float, Callable[[Any], Any]] = {
    0.0: lambda x: x * 0 + 1 if operand_dtype(x).kind in "iu" else np.ones_like(x),
    0.5: lambda x: np.sqrt(x), 1.0: lambda x: +as_tracer(x), 2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    4.0: lambda x: (x * x) * (x * x), -1.0: lambda x: 1.0 / x, -2.0: lambda x: 1.0 / (x * x),
    -0.5: lambda x: 1.0 / np.sqrt(x) if operand_dtype(x).kind == "c" else np.where(
        x == -np.inf, 0.0, 1.0 / np.sqrt(x + 0.0)),  # of -inf and -0.0 as of inf and 0.0
}


def _power_of_scalars(x: object, y: object) -> Any:
    """x ** 0.5 by C's `pow`: the ufunc takes the root, of -0.0 and -inf too, and scalars do not."""
    is_half = isinstance(y, (float, np.floating)) and y == 0.5
    is_array = isinstance(x, Tracer) and (x.is_array or x.dims)
    if not is_half or is_array or operand_dtype(x).kind != "f":
        return NotImplemented
    dtype = np.result_type(operand_dtype(x), y) if isinstance(y, np.generic) else operand_dtype(x)
    x = cast(x, dtype)
    return np.where(x == -np.inf, dtype.type(np.inf), np.sqrt(x + dtype.type(0)))


OF_SCALARS[np.power] = _power_of_scalars


def _unary_if_real(function: Callable[..., object]) -> Callable[[Any], Any]:
    """A function that leaves real operands as they are."""
    return lambda x: NotImplemented if operand_dtype(x).kind == "c" else function(x)


def _fraction(x: np.ndarray, whole: np.ndarray) -> Any:
    """Return what is left of numbers, with their signs; its slope is 1 at whole numbers, too."""
    rest = np.where(np.signbit(x), -(whole - x), x - whole)
    return np.where(np.isinf(x), np.copysign(0.0, x), rest)


def _logaddexp2(x: np.ndarray, y: np.ndarray) -> Any:
    above, same = x > y, (x == y) & np.isinf(x)
    away = np.where(same, 0.0, np.where(above, y - x, x - y))
    return np.where(above, x, y) + np.log1p(np.exp2(away)) / math.log(2.0)


COMPOSITES.update({
    np.power: _power,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x if operand_dtype(x).kind in "fc" else _whole_reciprocal(x),
    np.positive: lambda x: as_tracer(x),
    np.fabs: np.absolute,
    np.deg2rad: lambda x: x * (math.pi / 180.0),
    np.radians: lambda x: x * (math.pi / 180.0),
    np.rad2deg: lambda x: x * (180.0 / math.pi),
    np.degrees: lambda x: x * (180.0 / math.pi),
    np.logaddexp2: _logaddexp2,
    np.heaviside: lambda x, h: np.where(
        x < 0, 0.0, np.where(x > 0, 1.0, np.where(x == 0, h, np.nan))),
    np.conjugate: _unary_if_real(lambda x: x),
    np.divmod: lambda x, y: (np.floor_divide(x, y), np.remainder(x, y)),
    np.modf: lambda x: (_fraction(x, np.trunc(x)), np.trunc(x)),
    np.isnan: lambda x: NotImplemented if operand_dtype(x).kind == "f" else x != x,
    np.isinf: lambda x: _either_part(np.isinf, np.logical_or, x, x != x),
    np.isfinite: lambda x: _either_part(np.isfinite, np.logical_and, x, x == x),
    np.logical_and: lambda x, y: _of_truths(np.logical_and, x, y),
    np.logical_or: lambda x, y: _of_truths(np.logical_or, x, y),
    np.logical_xor: lambda x, y: _of_truths(np.logical_xor, x, y),
    np.logical_not: lambda x: _of_truths(np.logical_not, x),
    np.absolute: lambda x: np.logical_or(x, x) if operand_dtype(x) == np.bool_ else NotImplemented,
    np.sign: lambda x: _complex_sign(x) if operand_dtype(x).kind == "c" else NotImplemented,
    np.floor: lambda x: _rounded(x), np.ceil: lambda x: _rounded(x),
    np.trunc: lambda x: _rounded(x), np.rint: lambda x: NotImplemented,
})


def _whole_reciprocal(x: Lifted) -> Any:
    """Return 1 / x of ints without its fraction; for 0 NumPy's cast of infinity."""
    dtype = operand_dtype(x)
    far = np.iinfo(dtype).min if dtype in (np.int32, np.int64) else 0
    ones = np.logical_or(x == 1, x == -1) if dtype.kind == "i" else x == 1
    return np.where(ones, x, np.where(x == 0, dtype.type(far), dtype.type(0)))


def _complex_sign(z: object) -> Any:
    """Return z / abs(z), of infinities too; 0 of zeros."""
    x, y = real(z), imag(z)
    far = np.isinf(x), np.isinf(y)
    infinite = np.logical_or(*far)
    x, y = (np.where(infinite, np.where(there, np.copysign(1.0, v), 0.0), v)
            for v, there in zip((x, y), far, strict=True))
    size = np.where(np.logical_and(*far), np.nan, np.hypot(x, y))
    zero = size == 0
    size = np.where(zero, 1.0, size)
    return np.where(zero, 0.0, x / size + 1j * (y / size))


def _either_part(ufunc: np.ufunc, join: Any, x: Lifted, exact: object) -> Any:
    """A test of floats on other numbers: on the parts of complex ones; ints and bools are exact."""
    kind = operand_dtype(x).kind
    if kind == "c":
        return join(ufunc(np.real(x)), ufunc(np.imag(x)))
    return NotImplemented if kind == "f" else exact


def _of_truths(ufunc: np.ufunc, *operands: object) -> Any:
    """A logical function of numbers is one of whether they are not zero."""
    if all(operand_dtype(x).kind == "b" for x in operands):
        return NotImplemented
    return ufunc(*(cast(x, np.bool_) for x in operands))


def _rounded(x: object) -> Any:
    return as_tracer(x) if operand_dtype(x).kind in "iub" else NotImplemented


# --- complex numbers ----------------------------------------------------------------------------


@captures(np.real)
def real(x: object) -> Any:
    """Return the real part; of complex numbers it cannot be written to, as NumPy's view can."""
    if is_weak(x):
        return _part_of_pythons("real", x)
    x = as_tracer(x)
    return _part("real", x) if x.dtype.kind == "c" else x


def _part(op: str, x: Tracer) -> Tracer:
    result = apply(op, x)
    result.cell.constant = f"writing to an array through its {op} part"
    if x.is_array:
        result.cell.is_array = True
        result.cell.stands_for([x.cell])
        result.cell.is_array = True
    return result


def _part_of_pythons(op: str, x: object) -> Any:
    """Return a part of a Python number, which is one: of a bool it is an int."""
    if isinstance(x, Tracer) and x.dtype.kind == "c":
        return tracer_of(apply(op, x).value, weak=True)
    if not isinstance(x, (Tracer, SymInt)):
        return getattr(x, op)
    if op == "imag":
        return 0.0 if x.dtype.kind == "f" else 0
    return x if x.dtype.kind == "f" else python_int(x)


@captures(np.imag)
def imag(x: object) -> Any:
    """Return the imaginary part."""
    if is_weak(x):
        return _part_of_pythons("imag", x)
    x = as_tracer(x)
    if x.dtype.kind == "c":
        return _part("imag", x)
    if not x.is_array:
        return x.dtype.type(0)
    result: Any = np.zeros_like(x)
    result.cell.constant = "writing to the imaginary part of real numbers"
    return result


@captures(np.angle)
def angle(z: object, deg: bool = False) -> Any:
    """Return the argument of complex numbers."""
    result = np.arctan2(imag(z), real(z))
    return np.rad2deg(result) if deg else result


PROPERTIES["real"], PROPERTIES["imag"] = real, imag


def _conjugate_method(x: Tracer) -> Any:
    if x.dtype.kind != "c":
        return x
    result: Any = np.conjugate(x)
    result.weak = x.weak
    return result


METHODS["conj"] = METHODS["conjugate"] = _conjugate_method


# --- functions on elements that are no ufuncs ---------------------------------------------------


@captures(np.round, np.around, method="round")
def round_(a: object, decimals: int = 0, out: object = None) -> Any:
    """Round to the given number of decimals."""
    a, decimals = as_tracer(a), known_int(decimals, "the decimals of np.round")
    if a.dtype == np.bool_ and decimals:
        raise TypeError("Cannot cast ufunc 'multiply' output from dtype('float64') to "
                        "dtype('float16') with casting rule 'same_kind'")
    if a.dtype.kind in "iu":
        if not isinstance(decimals, int) or decimals < 0:
            raise refuse("rounding of ints to tens or hundreds cannot be captured",
                         "Write (x + 5) // 10 * 10, say", "TJ206")
        result = tracer_of(a.value)
    elif decimals == 0:
        result = apply_ufunc(np.rint, a)
    else:
        scale = 10.0 ** decimals
        result = apply_ufunc(np.rint, a * scale) / scale
    if out is None:
        return result
    require_shape(np.round, result, out)
    return write_out(np.round, result, out)


@captures(np.nan_to_num)
def nan_to_num(x: object, copy: bool = True, nan: float = 0.0, posinf: Any = None,
               neginf: Any = None) -> Any:
    """Replace NaN and infinities by numbers."""
    x = as_tracer(x)
    if x.dtype.kind == "c":
        result = nan_to_num(real(x), True, nan, posinf, neginf) + 1j * nan_to_num(
            imag(x), True, nan, posinf, neginf)
    elif x.dtype.kind == "f":
        info = np.finfo(x.dtype)
        result = np.where(np.isnan(x), nan, x)
        result = np.where(x == np.inf, info.max if posinf is None else posinf, result)
        result = np.where(x == -np.inf, info.min if neginf is None else neginf, result)
    else:
        result = tracer_of(x.value)
    if not copy:
        result = write_out(np.nan_to_num, result, as_memory(x))
    current().memory.memories[result.value].add(x.value)
    return result if result.dims else tracer_of(result.value)


@captures(np.sinc)
def sinc(x: Any) -> Any:
    """Return sin(pi x) / (pi x)."""
    scaled = np.pi * lift(x)
    near = np.absolute(scaled) < 0.05  # where derivatives of the quotient lose all digits
    safe, small = np.where(near, 1.0, scaled), np.where(near, scaled, 0.0)
    square = small * small
    series: Any = cast(1.0, operand_dtype(small))
    for k in (72.0, 42.0, 20.0, 6.0):
        series = 1.0 - square / k * series
    return np.where(near, series, np.sin(safe) / safe)


def as_python_number(x: object) -> Any:
    """Return a traced scalar as the Python number that it stands for, which is weak."""
    if isinstance(x, Tracer) and x.dtype.kind in "iu":
        return python_int(x)
    if isinstance(x, Tracer) and x.dtype.kind in "bfc":
        x = tracer_of(x.value)
        x.weak = True
    return x


# --- conversion ---------------------------------------------------------------------------------


def astype(x: Any, dtype: npt.DTypeLike, order: str = "K", casting: str = "unsafe",
           subok: bool = True, copy: bool = True) -> Any:
    """Return elements converted to a dtype."""
    if not np.can_cast(x.dtype, dtype, casting=casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {np.dtype(dtype)!r} according "
                        f"to the rule {casting!r}")
    if not copy and x.dtype == dtype:
        return x
    result = cast(x, dtype)
    result.cell.is_array = isinstance(x, Tracer) and x.is_array
    return lay_out(result, order, x) if result.is_array else result


def _item(x: Tracer, *at: object) -> Any:
    if not at:
        return as_python_number(x.reshape(()))
    if len(at) == 1 and not isinstance(at[0], tuple):
        return as_python_number(x.reshape(-1)[at[0]])
    return as_python_number(x[at[0] if len(at) == 1 else at])


METHODS["astype"] = astype
METHODS["item"] = _item
PROPERTIES["itemsize"] = lambda x: x.dtype.itemsize
