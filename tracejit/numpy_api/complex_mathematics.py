"""The functions of `cmath`, on numbers of Python: NumPy's, and `cmath`'s errors at the user's line.

Which numbers are outside of a function's domain, and that a finite number of which the result is
infinite is an error of range, is CPython's Modules/cmathmodule.c.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.mathematics import DOMAIN, RANGE, as_float
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.values.equations import apply, apply_ufunc, cast, lift
from tracejit.trace.values.mixed import number_of
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import either, on_trial, require, strong
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _as_complex(x: object) -> Any:
    """Return an argument of a function of `cmath` as a complex128 that follows NumPy."""
    x = number_of(x)
    if isinstance(x, Tracer) and x.dims:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if not isinstance(x, (TracedOperand, int, float, complex, np.generic)):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return strong(cast(lift(x), np.complex128))


def _of_python(x: Tracer) -> Any:
    x.weak = True
    return x


def _is_finite_part(x: object) -> Any:
    return np.abs(x) < np.inf  # type: ignore[call-overload]


def _at_points(a: complex) -> Callable[..., object]:
    """Return a function that says whether a number is neither a nor -a."""
    return lambda z: np.logical_and(z != a, z != -a)


def _of_period(part: str, other: str, ends: Callable[..., object]) -> Callable[..., object]:
    """Return a function that says whether the part of a number that a period is of is finite.

    ends -- says for which other parts an infinite one is no error
    """
    return lambda z: either(np.logical_not(np.abs(getattr(z, part)) == np.inf),
                            ends(getattr(z, other)))


def _is_nan(x: object) -> Any:
    return x != x


_DOMAINS: dict[str, tuple[np.ufunc, Callable[..., object] | None, bool]] = {
    "acos": (np.arccos, None, False), "acosh": (np.arccosh, None, False),
    "asin": (np.arcsin, None, False), "asinh": (np.arcsinh, None, False),
    "atan": (np.arctan, _at_points(1j), False), "atanh": (np.arctanh, _at_points(1.0), False),
    "cos": (np.cos, _of_period("real", "imag", _is_nan), True),
    "sin": (np.sin, _of_period("real", "imag", _is_nan), True),
    "cosh": (np.cosh, _of_period("imag", "real", _is_nan), True),
    "sinh": (np.sinh, _of_period("imag", "real", _is_nan), True),
    "exp": (np.exp, _of_period("imag", "real", lambda x: either(_is_nan(x), x == -np.inf)), True),
    "tan": (np.tan, _of_period("real", "imag", lambda x: np.logical_not(_is_finite_part(x))),
            False),
    "tanh": (np.tanh, _of_period("imag", "real", lambda x: np.logical_not(_is_finite_part(x))),
             False),
    "log10": (np.log10, lambda z: z != 0, False), "sqrt": (np.sqrt, None, False),
}
"""From a function's name to NumPy's, which numbers it takes, and whether it may be out of range."""


def _function(ufunc: np.ufunc, domain: Callable[..., object] | None,
              overflows: bool) -> Callable[[object], Any]:
    def function(x: object) -> Any:
        z = _as_complex(x)
        if domain is not None:
            require(domain(z), ValueError, DOMAIN)
        if overflows:
            _require_range(apply_ufunc(ufunc, on_trial(z)), z)
        return _of_python(apply_ufunc(ufunc, z))

    return function


def _require_range(result: Tracer, z: Tracer) -> None:
    """Require that a result is finite where both parts of a number are."""
    finite = np.logical_and(_is_finite_part(z.real), _is_finite_part(z.imag))
    infinite = either(np.abs(result.real) == np.inf, np.abs(result.imag) == np.inf)
    require(np.logical_not(np.logical_and(finite, infinite)), OverflowError, RANGE)


for _name, _entry in _DOMAINS.items():
    FUNCTIONS[getattr(cmath, _name)] = _function(*_entry)

_log = _function(np.log, lambda z: z != 0, False)
_any_log = _function(np.log, None, False)


@captures(cmath.log)
def complex_log(x: object, base: object = None) -> Any:
    """Return the logarithm, natural or to a base."""
    if base is None:
        return _log(x)
    divisor = _log(base)
    require(divisor != 0, ValueError, DOMAIN)
    return _of_python(_any_log(x) / divisor)  # Python forgets that there is no logarithm of 0


@captures(cmath.phase)
def phase(x: object) -> Any:
    """Return the angle of a number with the positive real axis."""
    z = _as_complex(x)
    return _of_python(apply_ufunc(np.arctan2, strong(z.imag), strong(z.real)))


@captures(cmath.polar)
def polar(x: object) -> Any:
    """Return the distance of a number from 0, and its angle."""
    z = _as_complex(x)
    size = apply_ufunc(np.absolute, z)
    require(either(np.logical_not(size == np.inf), np.logical_not(np.logical_and(
        _is_finite_part(z.real), _is_finite_part(z.imag)))), OverflowError, RANGE)
    return _of_python(size), phase(x)


@captures(cmath.rect)
def rect(r: object, phi: object) -> Any:
    """Return the number of a distance from 0 and an angle."""
    size, angle = as_float(r), as_float(phi)
    require(either(either(size == 0, size != size), np.logical_not(np.abs(angle) == np.inf)),
            ValueError, DOMAIN)
    flat = angle == 0  # where an infinite size times a sine of 0 would be NaN
    sine = np.where(np.logical_and(flat, np.abs(size) == np.inf), np.copysign(0.0, size) * np.sign(
        np.copysign(1.0, angle)), size * np.where(flat, angle, np.sin(angle)))
    lost = np.logical_and(size == 0, np.logical_not(_is_finite_part(angle)))
    cosine = np.where(flat, size, size * np.cos(angle))
    return _of_python(apply("complex", *(np.where(lost, 0.0, x) for x in (cosine, sine))))


@captures(cmath.isfinite)
def is_finite(x: object) -> Any:
    """Return whether both parts are finite."""
    return _of_python(apply_ufunc(np.isfinite, _as_complex(x)))


@captures(cmath.isinf)
def is_infinite(x: object) -> Any:
    """Return whether a part is infinite."""
    return _of_python(apply_ufunc(np.isinf, _as_complex(x)))


@captures(cmath.isnan)
def is_nan(x: object) -> Any:
    """Return whether a part is NaN."""
    return _of_python(apply_ufunc(np.isnan, _as_complex(x)))
