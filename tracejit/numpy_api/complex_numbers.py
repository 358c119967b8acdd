"""NumPy's functions of complex numbers that no processor has: order by parts, functions of both.

Complex numbers are compared by their real parts, equal ones by their imaginary parts; a number with
a NaN in it is equal to none and sorts behind all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.values.equations import COMPOSITES, apply
from tracejit.trace.values.equations import dtype_of as operand_dtype
from tracejit.trace.values.tracer import Lifted, Tracer

__all__ = ["complex_of", "order_keys", "place_of_extremum"]


def _parts(x: Lifted) -> tuple[Any, Any]:
    return np.real(x), np.imag(x)


def complex_of(real: Any, imag: Any) -> Tracer:
    """Return a complex number of its parts, be they infinite, NaN or a negative zero."""
    real, imag = np.broadcast_arrays(real, imag) if np.shape(real) != np.shape(imag) else (
        real, imag)
    return apply("complex", as_tracer(real), as_tracer(imag))


def _is_nan(x: Lifted) -> Any:
    return np.logical_or(*map(np.isnan, _parts(x)))


def _compared(strict: Any, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Return a comparison of complex numbers: by real parts, and by imaginary ones if equal."""

    def function(x: Lifted, y: Lifted) -> Any:
        (a, b), (c, d) = _parts(x), _parts(y)
        whole = np.logical_not(np.logical_or(np.isnan(b), np.isnan(d)))
        return np.logical_or(np.logical_and(strict(a, c), whole),
                             np.logical_and(np.equal(a, c), ufunc(b, d)))

    return function


def _extremum(ufunc: np.ufunc, first_is_nan: bool) -> Callable[[Any, Any], Any]:
    """The larger or smaller of two; a NaN wins, or any number does where NaN counts as none."""

    def function(x: Lifted, y: Lifted) -> Any:
        return np.where(np.logical_or(_is_nan(x if first_is_nan else y), ufunc(x, y)), x, y)

    return function


def _expm1(x: Lifted) -> Any:
    a, b = _parts(x)
    half = np.sin(b / 2)
    return complex_of(np.expm1(a) * np.cos(b) - 2 * half * half, np.exp(a) * np.sin(b))


def _log1p(x: Lifted) -> Any:
    a, b = _parts(x)
    return complex_of(np.log(np.hypot(a + 1, b)), np.arctan2(b, a + 1))


def _scaled(x: Lifted, factor: float) -> Any:
    """Return a complex number times a real one, part by part: infinite parts make no NaN."""
    a, b = _parts(x)
    return complex_of(a * factor, b * factor)


_COMPLEX: dict[Any, Callable[..., Any]] = {
    np.less: _compared(np.less, np.less), np.less_equal: _compared(np.less, np.less_equal),
    np.greater: _compared(np.greater, np.greater),
    np.greater_equal: _compared(np.greater, np.greater_equal),
    np.maximum: _extremum(np.greater_equal, True), np.minimum: _extremum(np.less_equal, True),
    np.fmax: _extremum(np.greater_equal, False), np.fmin: _extremum(np.less_equal, False),
    np.rint: lambda x: complex_of(*map(np.rint, _parts(x))),
    np.expm1: _expm1, np.log1p: _log1p,
    np.exp2: lambda x: np.exp(_scaled(x, math.log(2.0))),
    np.log2: lambda x: _scaled(np.log(x), 1.0 / math.log(2.0)),
}


def _by_kind(ufunc: np.ufunc, of_complex: Callable[..., object]) -> Callable[..., Any]:
    """Return the capture of a ufunc: one way for complex operands, the one before for others."""
    otherwise = COMPOSITES.get(ufunc, lambda *operands: NotImplemented)

    def function(*operands: object) -> Any:
        complex_ = any(operand_dtype(x).kind == "c" for x in operands)
        return (of_complex if complex_ else otherwise)(*operands)

    return function


COMPOSITES.update({ufunc: _by_kind(ufunc, f) for ufunc, f in _COMPLEX.items()})


def place_of_extremum(x: Tracer, largest: bool) -> Any:
    """Return where along the last axis the largest or smallest element is, or the first NaN."""
    real, imag = _parts(x)
    fold, place, never = (np.max, np.argmax, -np.inf) if largest else (np.min, np.argmin, np.inf)
    best = fold(real, axis=-1, keepdims=True)
    among = place(np.where(real == best, imag, never), axis=-1)
    nans = _is_nan(x).astype(np.int64)
    return np.where(np.max(nans, axis=-1) > 0, np.argmax(nans, axis=-1), among)


def order_keys(x: Tracer) -> list[Tracer]:
    """Return the keys by which complex numbers are sorted, the last of all first."""
    real, imag = _parts(x)
    return [imag, real, 2 * np.isnan(real).astype(np.int64) + np.isnan(imag)]
