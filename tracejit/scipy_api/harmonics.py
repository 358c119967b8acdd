"""Associated Legendre functions and spherical harmonics, of orders and degrees that are known."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.special_kinds import double_of_real
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import apply, cast, lift, promotion_key

__all__ = ["legendre", "normalized", "sph_harm_y"]

_MOST = 64
"""The most pairs of an order and a degree in one call: each is a polynomial of its own."""


def _whole_numbers(name: str, word: str, x: object) -> np.ndarray:
    """Return orders or degrees, which have to be known and whole."""
    found = known_array(x, f"the {word} of {name} says which polynomial it is")
    if found is None:
        raise refuse(f"scipy.special.{name} of a traced {word} cannot be captured",
                     f"Make the {word} a Python int", "TJ205")
    if found.dtype.kind not in "iuf" or not np.all(np.abs(found) <= 200) or not np.all(
            found == np.floor(found)):
        raise refuse(f"scipy.special.{name} of a {word} that is no whole number of -200 to 200 "
                     "cannot be captured", f"Make the {word} a Python int", "TJ205")
    return found.astype(np.int64)


def _of_pairs(name: str, first: np.ndarray, second: np.ndarray,
              function: Callable[..., object]) -> Any:
    """Return a function of pairs of known ints, each chosen where it is asked for."""
    try:
        one, two = np.broadcast_arrays(first, second)
    except ValueError as e:
        raise ValueError("operands could not be broadcast together") from e
    pairs = sorted(set(zip(one.ravel().tolist(), two.ravel().tolist(), strict=True)))
    if len(pairs) > _MOST or not pairs:
        raise refuse(f"scipy.special.{name} of {len(pairs)} pairs of an order and a degree in one "
                     "call cannot be captured", f"Pass from 1 to {_MOST} of them", "TJ213")
    found: Any = function(*pairs[-1])
    if one.ndim:
        found = found + np.zeros(one.shape)  # of the shape that all arguments have
    for pair in pairs[:-1]:
        there = as_tracer((one == pair[0]) & (two == pair[1]))
        found = np.where(there, function(*pair), found)  # type: ignore[call-overload]
    return found


# --- scipy.special.lpmv ---------------------------------------------------------------------------


def legendre(m: int, v: int, x: np.ndarray) -> Any:
    """Return the associated Legendre function: Abramowitz and Stegun, 8.5.3 and 8.2.5."""
    v = -v - 1 if v < 0 else v
    order = abs(m)
    if m < 0 and order > v:
        return 0.0 * x + math.nan
    if order == v == 0:
        return 0.0 * cast(as_tracer(np.isnan(x)), np.float64) + 1.0
    inside = np.abs(x) <= 1.0
    if order > v:
        return np.where(inside, 0.0, math.nan)
    x = x if order == 0 else np.where(inside, x, math.nan)
    low: Any = 0.0 * x + float(math.prod(range(1, 2 * order, 2)) * (-1) ** order)
    square = 1.0 - x * x
    for _ in range(order // 2):
        low = low * square
    low = low * np.sqrt(square) if order % 2 else low
    before, last = low, (2 * order + 1) * x * low
    for k in range(order + 1, v):
        before, last = last, ((2 * k + 1) * x * last - (k + order) * before) / (k + 1 - order)
    found = before if v == order else last
    if m < 0:
        share = math.factorial(v - order) / math.factorial(v + order)
        found = (-1) ** order * share * found
    return found


def lpmv(m: object, v: object, x: object) -> Any:
    """Return the associated Legendre function of the first kind, of whole orders and degrees."""
    given: Any = double_of_real(x, "scipy.special.lpmv")
    order, degree = _whole_numbers("lpmv", "order", m), _whole_numbers("lpmv", "degree", v)
    ufunc = sys.modules["scipy.special"].lpmv
    dtype = ufunc.resolve_dtypes((*(promotion_key(lift(z)) for z in (m, v, x)), None))[-1]
    found = _of_pairs("lpmv", order, degree, lambda a, b: legendre(a, b, given))
    return cast(found, dtype)


# --- scipy.special.sph_harm_y ---------------------------------------------------------------------


def normalized(n: int, m: int, cosine: np.ndarray, sine: np.ndarray) -> Any:
    """Return the associated Legendre function times the factor of spherical harmonics."""
    order = abs(m)
    low: Any = math.sqrt(0.25 / math.pi)
    for k in range(1, order + 1):
        low = -math.sqrt((2 * k + 1) / (2 * k)) * sine * low
    if n == 0:
        return low
    before, last = low, math.sqrt(2 * order + 3) * cosine * low
    for k in range(order + 2, n + 1):
        scale = math.sqrt((4 * k * k - 1) / (k * k - order * order))
        share = math.sqrt(((k - 1) ** 2 - order * order) / (4 * (k - 1) ** 2 - 1))
        before, last = last, scale * (cosine * last - share * before)
    found = before if n == order else last
    return found if m >= 0 or order % 2 == 0 else -found


def sph_harm_y(n: object, m: object, theta: object, phi: object, *, diff_n: int = 0) -> Any:
    """Return the spherical harmonic of a degree and an order, at polar angles and azimuths."""
    if diff_n != 0:
        raise refuse("scipy.special.sph_harm_y with diff_n= cannot be captured",
                     "Leave it out, and use tracejit.grad or tracejit.jvp", "TJ203")
    degree, order = _whole_numbers("sph_harm_y", "degree", n), _whole_numbers(
        "sph_harm_y", "order", m)
    polar, azimuth = (double_of_real(x, "scipy.special.sph_harm_y") for x in (theta, phi))
    cosine: Any = np.cos(polar)
    height: Any = np.sin(polar)
    sine = np.where(height < 0.0, -height, height)  # whose slope at 0 is that of angles above

    def one(n: int, m: int) -> Any:
        size = normalized(n, m, cosine, sine) if n >= abs(m) else 0.0
        size = size + np.zeros_like(cosine)
        return apply("complex", size * np.cos(m * azimuth), size * np.sin(m * azimuth))

    return as_array(_of_pairs("sph_harm_y", degree, order, one))


scipy_captures("scipy.special", {"lpmv": lpmv, "sph_harm_y": sph_harm_y})
