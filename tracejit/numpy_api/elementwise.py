"""Ufuncs that are written with others, and the scalar functions of `math` and `scipy.special`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.trace.context import refuse
from tracejit.trace.dispatch import FUNCTIONS, METHODS, PROPERTIES, captures
from tracejit.trace.equations import (
    COMPOSITES,
    apply,
    apply_ufunc,
    atom_of,
    cast,
    dims_of,
    emit,
    is_weak,
    lift,
    write_out,
)
from tracejit.trace.equations import dtype_of as operand_dtype
from tracejit.trace.layouts import lay_out
from tracejit.trace.tracer import SymInt, Traced, Tracer, tracer_of

__all__ = ["as_tracer"]


def as_tracer(x: Any) -> Tracer:
    """Return an operand as a handle, whatever it was."""
    x = lift(x)
    return x if isinstance(x, Tracer) else cast(x, operand_dtype(x))


# --- ufuncs -------------------------------------------------------------------------------------


def _power(x: Any, y: Any) -> Any:
    """Small constant exponents are products and roots, as NumPy's own fast paths are."""
    if isinstance(y, (int, float, np.generic)) and not isinstance(y, (bool, np.bool_)):
        integral = isinstance(x, SymInt) or (isinstance(x, Tracer) and x.dtype.kind in "iub")
        own = operand_dtype(x)
        strong = isinstance(y, np.generic) and np.result_type(own, y) != own
        if strong or (integral and not isinstance(y, (int, np.integer))):
            return NotImplemented
        if integral and isinstance(y, (int, np.integer)) and y < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        if y in _POWERS and not (integral and y in (0.5, -0.5)):
            return _POWERS[float(y)](x)
    elif operand_dtype(x).kind in "iub" and operand_dtype(y).kind == "i":
        least = FUNCTIONS[np.all](lift(y) >= 0) if dims_of(y) else as_tracer(y >= 0)
        emit("check", [atom_of(least)], {"error": "ValueError", "message":
             "Integers to negative integer powers are not allowed."})
    return NotImplemented


_POWERS: dict[float, Callable[[Any], Any]] = {
    0.0: lambda x: x * 0 + 1 if operand_dtype(x).kind in "iu" else np.ones_like(x),
    0.5: np.sqrt, 1.0: lambda x: +as_tracer(x), 2.0: lambda x: x * x, 3.0: lambda x: x * x * x,
    4.0: lambda x: (x * x) * (x * x), -1.0: lambda x: 1.0 / x, -2.0: lambda x: 1.0 / (x * x),
    -0.5: lambda x: 1.0 / np.sqrt(x),
}


def _unary_if_real(function: Any) -> Callable[[Any], Any]:
    """A function that leaves real operands as they are."""
    return lambda x: NotImplemented if operand_dtype(x).kind == "c" else function(x)


COMPOSITES.update({
    np.power: _power,
    np.float_power: np.power,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x if operand_dtype(x).kind in "fc" else 1 // x,
    np.positive: lambda x: as_tracer(x),
    np.fabs: np.absolute,
    np.deg2rad: lambda x: x * (math.pi / 180.0),
    np.radians: lambda x: x * (math.pi / 180.0),
    np.rad2deg: lambda x: x * (180.0 / math.pi),
    np.degrees: lambda x: x * (180.0 / math.pi),
    np.logaddexp2: lambda x, y: np.logaddexp(x * math.log(2.0), y * math.log(2.0)) / math.log(2.0),
    np.heaviside: lambda x, h: np.where(
        x < 0, 0.0, np.where(x > 0, 1.0, np.where(x == 0, h, np.nan))),
    np.conjugate: _unary_if_real(lambda x: x),
    np.divmod: lambda x, y: (np.floor_divide(x, y), np.remainder(x, y)),
    np.modf: lambda x: (x - np.trunc(x), np.trunc(x)),
    np.isnan: lambda x: NotImplemented if operand_dtype(x).kind == "f" else x != x,
    np.isinf: lambda x: _either_part(np.isinf, np.logical_or, x, x != x),
    np.isfinite: lambda x: _either_part(np.isfinite, np.logical_and, x, x == x),
    np.logical_and: lambda x, y: _of_truths(np.logical_and, x, y),
    np.logical_or: lambda x, y: _of_truths(np.logical_or, x, y),
    np.logical_xor: lambda x, y: _of_truths(np.logical_xor, x, y),
    np.logical_not: lambda x: _of_truths(np.logical_not, x),
    np.sign: lambda x: x / np.where(np.absolute(x) == 0, 1.0, np.absolute(x))
    if operand_dtype(x).kind == "c" else NotImplemented,
    np.floor: lambda x: _rounded(x), np.ceil: lambda x: _rounded(x),
    np.trunc: lambda x: _rounded(x), np.rint: lambda x: NotImplemented,
})


def _across_signs(ufunc: Any) -> Callable[[Any, Any], Any]:
    """A comparison of uint64 with int64, which NumPy makes exactly though no dtype holds both."""

    def function(x: Any, y: Any) -> Any:
        kinds = [operand_dtype(z) for z in (x, y)]
        if set(kinds) != {np.dtype(np.int64), np.dtype(np.uint64)} or is_weak(x) or is_weak(y):
            return NotImplemented
        place = kinds.index(np.dtype(np.int64))
        below = bool(ufunc(-1, 0) if place == 0 else ufunc(0, -1))
        same = ufunc(cast(x, np.uint64), cast(y, np.uint64))
        return np.where((x, y)[place] < 0, below, same)

    return function


COMPOSITES.update({u: _across_signs(u) for u in (np.equal, np.not_equal, np.less, np.less_equal,
                                           np.greater, np.greater_equal)})


def _either_part(ufunc: Any, join: Any, x: Any, exact: Any) -> Any:
    """A test of floats on other numbers: on the parts of complex ones; ints and bools are exact."""
    kind = operand_dtype(x).kind
    if kind == "c":
        return join(ufunc(np.real(x)), ufunc(np.imag(x)))
    return NotImplemented if kind == "f" else exact


def _of_truths(ufunc: Any, *operands: Any) -> Any:
    """A logical function of numbers is one of whether they are not zero."""
    if all(operand_dtype(x).kind == "b" for x in operands):
        return NotImplemented
    return ufunc(*(cast(x, np.bool_) for x in operands))


def _rounded(x: Any) -> Any:
    return as_tracer(x) if operand_dtype(x).kind in "iub" else NotImplemented


# --- complex numbers ----------------------------------------------------------------------------


@captures(np.real)
def real(x: Any) -> Any:
    """Return the real part; of complex numbers it cannot be written to, as NumPy's view can."""
    x = as_tracer(x)
    return _part("real", x) if x.dtype.kind == "c" else x


def _part(op: str, x: Tracer) -> Tracer:
    result = apply(op, x)
    result.cell.constant = f"writing to an array through its {op} part"
    return result


@captures(np.imag)
def imag(x: Any) -> Any:
    """Return the imaginary part."""
    x = as_tracer(x)
    return _part("imag", x) if x.dtype.kind == "c" else np.zeros_like(x)


@captures(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Return the argument of complex numbers."""
    result = np.arctan2(imag(z), real(z))
    return np.rad2deg(result) if deg else result


PROPERTIES["real"], PROPERTIES["imag"] = real, imag
METHODS["conj"] = METHODS["conjugate"] = (
    lambda x: np.conjugate(x) if x.dtype.kind == "c" else x)


# --- functions on elements that are no ufuncs ---------------------------------------------------


@captures(np.round, np.around, method="round")
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to the given number of decimals."""
    a = as_tracer(a)
    if a.dtype.kind in "iub":
        if not isinstance(decimals, int) or decimals < 0:
            raise refuse("rounding of ints to tens or hundreds cannot be captured",
                         "Write (x + 5) // 10 * 10, say")
        result = tracer_of(a.value)
    elif decimals == 0:
        result = apply_ufunc(np.rint, a)
    else:
        scale = 10.0 ** decimals
        result = apply_ufunc(np.rint, a * scale) / scale
    return result if out is None else write_out(np.round, result, out, True)


@captures(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None,
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
    return result if copy else write_out(np.nan_to_num, result, x, True)


@captures(np.sinc)
def sinc(x: Any) -> Any:
    """Return sin(pi x) / (pi x)."""
    scaled = np.pi * x
    safe = np.where(scaled == 0, 1.0, scaled)
    return np.where(scaled == 0, 1.0 - scaled * scaled / 6.0, np.sin(safe) / safe)


@captures(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Return where two arrays agree within tolerances."""
    a, b = as_tracer(a), as_tracer(b)
    b = b if b.dtype.kind in "fc" else cast(b, np.float64)
    near = np.absolute(a - b) <= atol + rtol * np.absolute(b)
    result = np.logical_or(np.logical_and(near, np.isfinite(b)), a == b)
    if equal_nan:
        result = np.logical_or(result, np.logical_and(np.isnan(a), np.isnan(b)))
    return result


@captures(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> Any:
    """Return whether two arrays agree within tolerances everywhere."""
    agree: Any = np.all(isclose(a, b, rtol, atol, equal_nan))
    return tracer_of(agree.value, weak=True)


# --- math and scipy.special ---------------------------------------------------------------------


def _scalar(ufunc: Any) -> Callable[..., Any]:
    """A function of `math` gives a Python number, which is weak."""

    def function(*args: Any) -> Any:
        for x in args:
            if isinstance(x, Tracer) and x.dims:
                raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        result = apply_ufunc(ufunc, *(_as_float(x) for x in args))
        result.weak = True
        return result

    return function


def _as_float(x: Any) -> Any:
    if isinstance(x, (Traced, np.generic)) and operand_dtype(x) != np.float64:
        return cast(x, np.float64)
    return float(x) if isinstance(x, (int, float)) else x


_MATH = {
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "fabs": np.absolute, "copysign": np.copysign, "fmod": np.fmod,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "cbrt": np.cbrt,
    "exp2": np.exp2, "radians": np.deg2rad, "degrees": np.rad2deg, "pow": np.power,
}
for _name, _ufunc in _MATH.items():
    if hasattr(math, _name):
        FUNCTIONS[getattr(math, _name)] = _scalar(_ufunc)


@captures(math.hypot)
def math_hypot(*coordinates: Any) -> Any:
    """Return the length of a vector of any number of coordinates."""
    if len(coordinates) == 1:
        return _scalar(np.absolute)(*coordinates)
    return functools.reduce(_scalar(np.hypot), coordinates)


@captures(math.dist)
def math_dist(p: Any, q: Any) -> Any:
    """Return the distance of two points."""
    p, q = tuple(p), tuple(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math_hypot(*(x - y for x, y in zip(p, q, strict=True))) if p else 0.0


@captures(math.log)
def math_log(x: Any, base: Any = None) -> Any:
    """Return the logarithm, natural or to a base."""
    log = _scalar(np.log)
    return log(x) if base is None else log(x) / log(base)


@captures(math.floor)
def math_floor(x: Any) -> Any:
    """Return the largest int not above x."""
    return to_python_int(np.floor(x))


@captures(math.ceil)
def math_ceil(x: Any) -> Any:
    """Return the smallest int not below x."""
    return to_python_int(np.ceil(x))


@captures(math.trunc)
def math_trunc(x: Any) -> Any:
    """Return x without its fraction."""
    return to_python_int(np.trunc(x))


def to_python_int(x: Any) -> Any:
    """Return a number as a Python int in the making."""
    if isinstance(x, SymInt):
        return x
    return SymInt(cast(x, np.int64).value.dim)


def as_python_number(x: Any) -> Any:
    """Return a traced scalar as the Python number that it stands for, which is weak."""
    if isinstance(x, Tracer) and x.dtype.kind in "ifc":
        x = tracer_of(x.value)
        x.weak = True
    return x


def _erf(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        x = as_tracer(x)
        if x.dtype.kind not in "f":
            x = cast(x, np.float64)
        return apply(name, x)

    return function


def _math_erf(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        result = _erf(name)(x)
        result.weak = True
        return result

    return function


FUNCTIONS[math.erf], FUNCTIONS[math.erfc] = _math_erf("erf"), _math_erf("erfc")


def _expit(x: Any) -> Any:
    """The logistic function, without overflow on either side."""
    e = np.exp(-np.absolute(x))
    return np.where(x >= 0, 1.0 / (1.0 + e), e / (1.0 + e))


def scipy_special() -> dict[str, Callable[..., Any]]:
    """Return the captures of functions of `scipy.special`, by name."""
    return {
        "erf": _erf("erf"), "erfc": _erf("erfc"), "expit": _expit,
        "logit": lambda p: np.log(p) - np.log1p(-p),
        "log_expit": lambda x: -np.logaddexp(0.0, -x),
        "xlogy": lambda x, y: np.where(x == 0, 0.0, x * np.log(np.where(x == 0, 1.0, y))),
        "xlog1py": lambda x, y: np.where(x == 0, 0.0, x * np.log1p(np.where(x == 0, 0.0, y))),
        "entr": lambda x: -np.where(x == 0, 0.0, x * np.log(np.where(x == 0, 1.0, x))),
        "ndtr": lambda x: 0.5 * _erf("erfc")(-x * math.sqrt(0.5)),
        "cbrt": np.cbrt, "exp2": np.exp2, "expm1": np.expm1, "log1p": np.log1p,
    }


# --- conversion ---------------------------------------------------------------------------------


def astype(x: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
           copy: bool = True) -> Any:
    """Return elements converted to a dtype."""
    if not np.can_cast(x.dtype, dtype, casting=casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {np.dtype(dtype)!r} according "
                        f"to the rule {casting!r}")
    if not copy and x.dtype == dtype:
        return x
    result = cast(x, dtype)
    result.cell.is_array = isinstance(x, Tracer) and x.is_array
    return lay_out(result, order, x) if result.is_array else result


def _item(x: Tracer, *at: Any) -> Any:
    if not at:
        return as_python_number(x.reshape(()))
    if len(at) == 1 and not isinstance(at[0], tuple):
        return as_python_number(x.reshape(-1)[at[0]])
    return as_python_number(x[at[0] if len(at) == 1 else at])


METHODS["astype"] = astype
METHODS["item"] = _item
METHODS["__round__"] = round_
PROPERTIES["itemsize"] = lambda x: x.dtype.itemsize
