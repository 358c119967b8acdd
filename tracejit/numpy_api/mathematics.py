"""The functions of `math`, on floats of Python: NumPy's, and `math`'s errors at the user's line."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_python_number
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.values.equations import apply, apply_ufunc, cast, dtype_of, is_weak, of_scalars
from tracejit.trace.values.mixed import Mixed
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import (
    either,
    last_before_error,
    on_trial,
    python_int,
    require,
    strong,
)
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Lifted, Tracer

__all__: list[str] = []

DOMAIN, RANGE = "math domain error", "math range error"


def as_float(x: object) -> Any:
    """Return an argument of a function of `math` as a float64 that follows NumPy."""
    if isinstance(x, Mixed) and x.number.dtype == np.float64:
        x = x.number
    if isinstance(x, Tracer) and x.dims:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if not isinstance(x, (TracedOperand, int, float, np.generic)) or dtype_of(x).kind == "c":
        kind = "complex" if isinstance(x, Tracer) else type(x).__name__
        raise TypeError(f"must be real number, not {kind}")
    if isinstance(x, TracedOperand):
        return strong(cast(x, np.float64))
    return np.float64(x)


def _is_infinite(x: Lifted) -> Any:
    return np.absolute(x) == np.inf


def _domain(inside: Callable[..., object]) -> Callable[..., None]:
    """Require of operands that they lie in a function's domain, or are NaN."""
    def check(z: object, *xs: object) -> None:
        require(inside(*xs), ValueError, DOMAIN)

    return check


def _range(function: Callable[[float], float]) -> Callable[..., None]:
    """Require that an operand is infinite, or not so large that a function overflows."""
    bounds = [last_before_error(function, 0.0, end) if _overflows(function, end) else None
              for end in (-sys.float_info.max, sys.float_info.max)]

    def check(z: object, x: Any) -> None:
        low, high = bounds
        size = x if low is None else np.absolute(x)
        require(either(np.logical_not(size > high), x == np.inf if low is None else size == np.inf),
                OverflowError, RANGE)

    return check


def _overflows(function: Callable[[float], float], x: float) -> bool:
    try:
        function(x)
    except OverflowError:
        return True
    return False


def _no_nan(z: object, x: object, y: object) -> None:
    """Require that only NaN makes NaN."""
    require(either(z == z, either(x != x, y != y)), ValueError, DOMAIN)


def _power_errors(z: Lifted, x: Lifted, y: Lifted) -> None:
    require(either(x != 0, np.logical_not(np.less(y, 0))), ValueError, DOMAIN)
    _no_nan(z, x, y)
    require(either(np.logical_not(_is_infinite(z)), either(_is_infinite(x), _is_infinite(y))),
            OverflowError, RANGE)


def _not_below(least: float) -> Callable[..., None]:
    return _domain(lambda x: np.logical_not(x < least))


def _above(bound: float) -> Callable[..., None]:
    return _domain(lambda x: np.logical_not(x <= bound))


_WITHIN = _domain(lambda x: np.logical_not(np.absolute(x) > 1.0))
_FINITE = _domain(lambda x: np.logical_not(_is_infinite(x)))

_MATH: dict[str, tuple[Any, Callable[..., None] | None]] = {
    "sqrt": (np.sqrt, _not_below(0.0)), "exp": (np.exp, _range(math.exp)),
    "expm1": (np.expm1, _range(math.expm1)), "exp2": (np.exp2, _range(lambda x: 2.0 ** x)),
    "log2": (np.log2, _above(0.0)), "log10": (np.log10, _above(0.0)),
    "log1p": (np.log1p, _above(-1.0)), "sin": (np.sin, _FINITE), "cos": (np.cos, _FINITE),
    "tan": (np.tan, _FINITE), "asin": (np.arcsin, _WITHIN), "acos": (np.arccos, _WITHIN),
    "atan": (np.arctan, None), "atan2": (np.arctan2, None), "sinh": (np.sinh, _range(math.sinh)),
    "cosh": (np.cosh, _range(math.cosh)), "tanh": (np.tanh, None), "asinh": (np.arcsinh, None),
    "acosh": (np.arccosh, _not_below(1.0)),
    "atanh": (np.arctanh, _domain(lambda x: np.logical_not(np.absolute(x) >= 1.0))),
    "fabs": (np.absolute, None), "copysign": (np.copysign, None),
    "fmod": (np.fmod, _no_nan), "isnan": (np.isnan, None), "isinf": (np.isinf, None),
    "isfinite": (np.isfinite, None), "cbrt": (np.cbrt, None), "radians": (np.deg2rad, None),
    "degrees": (np.rad2deg, None), "pow": (np.power, _power_errors),
    "nextafter": (np.nextafter, None),
}
"""From a function's name to NumPy's function, and to the check of result and operands."""


def _of_python(ufunc: np.ufunc, check: Callable[..., None] | None) -> Callable[..., Any]:
    """A function of `math` gives a Python number, which is weak."""

    def function(*args: object) -> Any:
        operands = [as_float(x) for x in args]
        if check is not None:
            check(of_scalars(ufunc, *map(on_trial, operands)), *operands)
        result = of_scalars(ufunc, *operands)
        result.weak = True
        return result

    return function


for _name, (_ufunc, _check) in _MATH.items():
    if hasattr(math, _name):
        FUNCTIONS[getattr(math, _name)] = _of_python(_ufunc, _check)


@captures(math.hypot)
def math_hypot(*coordinates: object) -> Any:
    """Return the length of a vector of any number of coordinates."""
    if len(coordinates) == 1:
        return _of_python(np.absolute, None)(*coordinates)
    return functools.reduce(_of_python(np.hypot, None), coordinates)


@captures(math.modf)
def math_modf(x: object) -> Any:
    """Return the fraction of a number and its whole part, both with its sign."""
    value: Any = as_float(x)
    return tuple(as_python_number(part) for part in np.modf(value))


@captures(math.dist)
def math_dist(p: Any, q: Any) -> Any:
    """Return the distance of two points."""
    p, q = tuple(p), tuple(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math_hypot(*(x - y for x, y in zip(p, q, strict=True))) if p else 0.0


_log = _of_python(np.log, _above(0.0))


@captures(math.log)
def math_log(x: Any, base: Any = None) -> Any:
    """Return the logarithm, natural or to a base."""
    if base is None:
        return _log(x)
    return (_log(x) if isinstance(x, TracedOperand) else math.log(x)) / (
        _log(base) if isinstance(base, TracedOperand) else math.log(base))


@captures(math.remainder)
def math_remainder(x: Any, y: Lifted) -> Any:
    """Return x - n y exactly, with the nearest whole number n, as IEEE 754 has it."""
    x, y = as_float(x), as_float(y)
    _no_nan(apply_ufunc(np.fmod, x, y), x, y)
    size, divisor = np.absolute(x), np.absolute(y)
    rest = apply_ufunc(np.fmod, size, divisor)
    other = divisor - rest
    half = rest - 2.0 * apply_ufunc(np.fmod, 0.5 * (size - rest), divisor)
    near = np.where(rest < other, rest, np.where(rest > other, -other, half))
    near = np.where(divisor == np.inf, size, near)
    result = np.where(np.signbit(x), -near, near)
    result.weak = True
    return result


@captures(math.floor)
def math_floor(x: object) -> Any:
    """Return the largest int not above x."""
    return _whole(np.floor, x)


@captures(math.ceil)
def math_ceil(x: object) -> Any:
    """Return the smallest int not below x."""
    return _whole(np.ceil, x)


@captures(math.trunc)
def math_trunc(x: Any) -> Any:
    """Return x without its fraction: of NumPy's numbers, `float64` alone has `__trunc__`."""
    if not is_weak(x) and (x.dtype != np.float64 or (isinstance(x, Tracer) and x.is_array)):
        name = "ndarray" if isinstance(x, Tracer) and x.is_array else x.dtype.type.__name__
        raise TypeError(f"type numpy.{name} doesn't define __trunc__ method")
    return _whole(np.trunc, x)


def _whole(ufunc: np.ufunc, x: object) -> Any:
    if isinstance(x, SymInt):
        return x
    if isinstance(x, Tracer) and x.dims:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if dtype_of(x).kind == "c":
        raise TypeError("must be real number, not complex")
    return python_int(ufunc(strong(x)))


def _erf(name: str) -> Callable[[Any], Any]:
    def function(x: object) -> Any:
        result = apply(name, as_float(x))
        result.weak = True
        return result

    return function


FUNCTIONS[math.erf], FUNCTIONS[math.erfc] = _erf("erf"), _erf("erfc")


def _no_pole(z: object, x: np.ndarray | float) -> None:
    """Require that a number is no whole one below 1."""
    require(np.logical_not((x <= 0.0) & (x == np.floor(x))), ValueError, DOMAIN)


def _gamma_errors(z: float, x: float) -> None:
    _no_pole(z, x)
    require(np.logical_not(np.isinf(z)) | np.isinf(x), OverflowError, RANGE)


def _lgamma_errors(z: float, x: float) -> None:
    _no_pole(z, np.where(np.isinf(x), 1.0, x))
    require(np.logical_not(np.isinf(z)) | np.isinf(x), OverflowError, RANGE)


def _of_gamma(name: str, check: Callable[..., None]) -> Callable[[Any], Any]:
    def function(x: object) -> Any:
        number = as_float(x)
        result = apply(name, number)
        check(result, number)
        result.weak = True
        return result

    return function


FUNCTIONS[math.gamma] = _of_gamma("tgamma", _gamma_errors)
FUNCTIONS[math.lgamma] = _of_gamma("lgamma", _lgamma_errors)
