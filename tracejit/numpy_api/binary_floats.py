"""Floats as a mantissa and a power of two, bits of ints, and functions about dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import stop_gradient
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.values.equations import COMPOSITES, OF_THEIR_DTYPE, cast, dtype_of, lift
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _as_float(x: object) -> Any:
    """Return an operand in the dtype of floats that NumPy's ufunc has for it."""
    given = as_tracer(x)
    return given if given.dtype.kind == "f" else cast(given, np.ldexp.resolve_dtypes(
        (given.dtype, np.dtype(np.int32), None))[0])


def _power(n: np.ndarray) -> Any:
    """Return 2.0 ** n, exactly, of an int of a size up to 1022."""
    result: Any = 1.0
    size = np.abs(n)
    negative = n < 0
    for k in range(10):
        bit = (size >> k) & 1 == 1
        result = result * np.where(bit, np.where(negative, 0.5 ** (2 ** k), 2.0 ** (2 ** k)), 1.0)
    return result


def ldexp(x: object, n: object) -> Any:
    """Return x * 2 ** n, in three factors of which only the last one may round."""
    given: Any = _as_float(x)
    exponent = as_tracer(n)
    if exponent.dtype.kind not in "iub":
        raise TypeError("ufunc 'ldexp' not supported for the input types, and the inputs could not "
                        "be safely coerced to any supported types according to the casting rule "
                        "'safe'")
    whole: Any = np.clip(cast(exponent, np.int64), -2200, 2200)
    last: Any = np.clip(whole, -1022, 1023)
    middle: Any = np.clip(whole - last, -1022, 1023)
    wide: Any = cast(given, np.float64)
    found = wide * _power(whole - last - middle) * _power(middle) * _power(last)
    return cast(found, given.dtype)


def frexp(x: object) -> Any:
    """Return a mantissa of a half to 1, and an exponent, which has no derivative."""
    given: Any = _as_float(x)
    wide: Any = cast(given, np.float64)
    size = stop_gradient(np.abs(wide))
    known = (size > 0.0) & (size < np.inf)
    safe = np.where(known, size, 0.5)
    tiny = safe < 2.0 ** -1000
    scaled = np.where(tiny, safe * 2.0 ** 200, safe)
    guess = cast(np.floor(np.log2(scaled)), np.int64) + 1
    share = ldexp(scaled, -guess)  # next to powers of two the logarithm is rounded to either side
    guess = guess + np.where(share >= 1.0, 1, np.where(share < 0.5, -1, 0))
    exponent = np.where(known, guess - np.where(tiny, 200, 0), 0)
    return cast(ldexp(wide, -exponent), given.dtype), cast(exponent, np.int32)


def spacing(x: object) -> Any:
    """Return the distance to the next float away from 0, which has no derivative."""
    given: Any = stop_gradient(_as_float(x))
    if given.dtype == np.float16:
        return _spacing_of_half(given)
    size = np.abs(given)
    found = np.nextafter(size, np.where(size == size, np.inf, size).astype(given.dtype)) - size
    away = np.where(given < 0.0, -found, found)
    return np.where(np.isinf(given), np.nan, away).astype(given.dtype)


def _spacing_of_half(x: Tracer) -> Any:
    """Return the spacing of a half, which NumPy gives no sign: next to a power of two below 0 it
    is the one towards 0, and infinite next to infinity.
    """
    single = np.dtype(np.float32)
    size = np.abs(cast(x, single)) * np.where(np.less(x, 0.0), 1.0 - 2.0 ** -12, 1.0).astype(single)
    limits = np.finfo(np.float16)
    exponent: Any = np.frexp(size)[1] - 1
    lowest = np.where(size == 0.0, limits.minexp, np.maximum(exponent, limits.minexp))
    away = np.ldexp(np.float32(1.0), lowest - limits.nmant)
    away = np.where(size >= float(limits.max), np.inf, away)
    return cast(np.where(np.isfinite(x), away, np.nan), x.dtype)


def bitwise_count(x: object) -> Any:
    """Return how many bits of the absolute value of an int are 1."""
    given = as_tracer(x)
    if given.dtype.kind not in "iub":
        raise TypeError("ufunc 'bitwise_count' not supported for the input types, and the inputs "
                        "could not be safely coerced to any supported types according to the "
                        "casting rule 'safe'")
    wide = given if given.dtype == np.uint64 else np.abs(cast(given, np.int64))
    bits: Any = cast(wide, np.uint64)
    total: Any = bits & np.uint64(1)
    for k in range(1, 64):
        total = total + ((bits >> np.uint64(k)) & np.uint64(1))
    return cast(total, np.uint8)


COMPOSITES.update({np.ldexp: ldexp, np.frexp: frexp, np.spacing: spacing,
                   np.bitwise_count: bitwise_count})
OF_THEIR_DTYPE.add(np.spacing)


@captures(np.common_type)
def common_type(*arrays: object) -> Any:
    """Return the type of floats or complex numbers that arrays have in common."""
    return np.common_type(*(np.zeros(0, dtype_of(lift(x))) for x in arrays))


@captures(np.asarray_chkfinite)
def asarray_chkfinite(a: object, dtype: object = None, order: str | None = None) -> Any:
    """Return an array, or raise where it has NaN or an infinity."""
    found = FUNCTIONS[np.asarray](a, dtype, order)
    require(np.all(np.isfinite(found)), ValueError, "array must not contain infs or NaNs")
    return found

