"""Derivatives of Dawson's integral and its kin far from 0, where their recurrences cancel.

D' = 1 - 2 x D, erfcx' = 2 x erfcx - 2 / sqrt(pi) and w' = -2 z w + 2i / sqrt(pi) subtract numbers
of size 1 that differ by 1 / x**2. All three are one asymptotic series (DLMF 7.12.1) of all but its
first term.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import complex_arguments
from tracejit.ops.incomplete import of_numbers
from tracejit.ops.kinds import elementwise
from tracejit.trace.values.equations import apply

__all__ = ["FAR", "dawsn_partial", "erfcx_partial", "odd_factorials", "wofz_partial"]

FAR = 7.0
"""From which size on the series has all digits: its least term is exp(-FAR ** 2)."""

_2_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _of_complex(t: np.ndarray, order: np.ndarray) -> Any:
    """Return the series of an array of complex numbers, in its dtype."""
    whole = np.vectorize(lambda *v: complex_arguments.odd_factorials(*map(complex, v)),
                         otypes=[np.complex128])
    return whole(t, order).astype(np.asarray(t).dtype)


elementwise("odd_factorials", None, "{t}(odd_factorials({0}, {1}))",
            lambda z, t, n: (apply("odd_factorials", t, n + 1.0), None), cost=50.0, kinds="c",
            reference=_of_complex, samples=lambda n: [
                ((n,), lambda t, k=k: apply("odd_factorials", t * t.dtype.type(0.005),
                                            t.dtype.type(k))) for k in (0.0, 1.0, 3.0)])
elementwise("odd_factorials_real", None, "odd_factorials_real({0}, {1})",
            lambda z, t, n: (apply("odd_factorials_real", t, n + 1.0), None), cost=30.0,
            reference=of_numbers(complex_arguments.odd_factorials_real), samples=lambda n: [
                ((n,), lambda t, k=k: apply("odd_factorials_real", t * t.dtype.type(0.005),
                                            t.dtype.type(k))) for k in (0.0, 1.0, 3.0)])


def odd_factorials(t: np.ndarray) -> Any:
    """Return the sum of (2 k - 1)!! t ** k for k from 1 to 26."""
    name = "odd_factorials" if t.dtype.kind == "c" else "odd_factorials_real"
    return apply(name, t, t.dtype.type(0.0))


def _half_inverse_square(x: np.ndarray) -> Any:
    """Return 1 / (2 x ** 2), where x ** 2 would overflow, too."""
    inverse = 1.0 / x
    return 0.5 * inverse * inverse


def dawsn_partial(z: np.ndarray, x: np.ndarray) -> Any:
    far = np.abs(x) > FAR
    near, value = (np.where(far, 0.0, v) for v in (x, z))
    return np.where(far, -odd_factorials(_half_inverse_square(np.where(far, x, FAR))),
                    1.0 - 2.0 * near * value)


def erfcx_partial(z: np.ndarray, x: np.ndarray) -> Any:
    far = x > FAR
    near, value = (np.where(far, 0.0, v) for v in (x, z))
    series = odd_factorials(-_half_inverse_square(np.where(far, x, FAR)))
    return np.where(far, _2_BY_ROOT_PI * series, 2.0 * near * value - _2_BY_ROOT_PI)


def of_complex(z: np.ndarray, value: np.ndarray,
               recurrence: Callable[..., np.ndarray], factor: complex,
               waves: tuple[float, float, float]) -> Any:
    """Return a derivative of a function of complex numbers that is -2 z f + a constant.

    recurrence -- of z and the value, near 0
    factor     -- by what the series is multiplied
    waves      -- by what -2 z exp(-z * z) is above, next to and below the real axis; one is 0.0
    """
    far = np.abs(z) > FAR
    place = np.where(far, z, FAR)
    height = np.imag(place)
    above, below = height >= 1.0, height <= -1.0
    parts = (above, np.logical_not(above | below), below)
    none = parts[waves.index(0.0)]
    at = np.where(none, FAR, place)
    slope = -2.0 * at * np.exp(-at * at)
    upper, middle, lower = (wave * slope for wave in waves)
    wave = np.where(none, 0.0, np.where(above, upper, np.where(below, lower, middle)))
    near, known = (np.where(far, 0.0, v) for v in (z, value))
    return np.where(far, factor * odd_factorials(_half_inverse_square(place)) + wave,
                    recurrence(near, known))


def wofz_partial(w: np.ndarray, z: np.ndarray) -> Any:
    constant = 1j * _2_BY_ROOT_PI
    return of_complex(z, w, lambda z, w: constant - 2.0 * z * w, -constant, (0.0, 1.0, 2.0))
