"""Exponential, sine and Fresnel integrals, the zeta function, and functions of degrees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import common_dtype, in_double
from tracejit.numpy_api.special_kinds import double_of_real, of_complex
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, cast
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["cosdg", "euler_maclaurin", "sindg"]


def _exp1(x: np.ndarray) -> Any:
    return apply("exponential_integral", cast(1.0, np.float64), x)


def _several(name: str, *functions: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with several results, of reals in double precision."""

    def capture(x: object) -> Any:
        if as_tracer(x).dtype.kind == "c":
            return of_complex(name, (x,))
        return tuple([in_double(name, function)(x) for function in functions])

    return capture


def _ci(x: np.ndarray) -> Any:
    return apply("cosine_integral", np.abs(x))


def _shi(x: np.ndarray) -> Any:
    """Return the hyperbolic sine integral: near 0 by its series."""
    small = np.abs(x) < 1.0
    t = np.where(small, x, 0.0)
    total: Any = 0.0
    for k in range(9, -1, -1):
        total = total * (t * t) + 1.0 / ((2 * k + 1) * math.factorial(2 * k + 1))
    size = np.where(small, 1.0, np.abs(x))
    return np.where(small, total * t, np.sign(x) * 0.5 * (apply("expi", size) + _exp1(size)))


def _chi(x: np.ndarray) -> Any:
    size = np.abs(x)
    return 0.5 * (apply("expi", size) - _exp1(size))


# --- the zeta function --------------------------------------------------------------------------

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 12


def euler_maclaurin(s: np.ndarray, q: np.ndarray) -> Any:
    """Return the sum of (q + k) ** -s over all k from 0, continued to all s but 1."""
    z = q + _SHIFT
    log = np.log(z)
    factor, terms = s, 0.0 * s
    power = 1.0 / z
    for k, b in enumerate(_BERNOULLI):
        terms = terms + b / math.factorial(2 * k + 2) * factor * power
        factor = factor * (s + (2 * k + 1)) * (s + (2 * k + 2))
        power = power / (z * z)
    total = np.exp(-s * log) * (z / (s - 1.0) + 0.5 + terms)
    for k in reversed(range(_SHIFT)):
        total = total + np.exp(-s * np.log(q + k))
    return total


def _hurwitz(s: np.ndarray, q: np.ndarray) -> Any:
    shift = np.where(q < 0.0, -np.floor(q), 0.0)
    inside = (s > 1.0) & (q > 0.0)
    value = euler_maclaurin(np.where(inside, s, 2.0), np.where(inside, q, 1.0))
    whole = s == np.floor(s)
    pole = (q <= 0.0) & (q == np.floor(q))
    edge = np.where(s == 1.0, np.inf, np.where((s > 1.0) & pole, np.inf, np.nan))
    unknown = (s > 1.0) & (q < 0.0) & whole & np.logical_not(pole)
    below = _of_negative(np.where(unknown, s, 2.0), np.where(unknown, q, 0.5), shift)
    return np.where(inside, value, np.where(unknown, below, edge))


def _of_negative(s: np.ndarray, q: np.ndarray, shift: np.ndarray) -> Any:
    """Return the sum of a q down to -32, of a whole s: the terms up to 0, and the rest."""
    total = euler_maclaurin(s, np.where(shift > 32.0, np.nan, q + shift))
    sign = np.where(np.remainder(s, 2.0) == 0.0, 1.0, -1.0)
    for k in range(32):
        there = k < shift
        term = q + k
        total = total + np.where(there, np.where(term < 0.0, sign, 1.0) * np.exp(
            -s * np.log(np.where(there, np.abs(term), 1.0))), 0.0)
    return total


_ZETA_AT_0 = (
    -0.5, -0.91893853320467274178, -1.0031782279542924256, -1.000785194477042408,
    -0.999879299500571165, -1.000001940896320456, -1.0000013011460139596,
    -0.9999998313841736107, -1.00000000576467598, -1.0000000009110164892)
"""The Taylor series of Riemann's zeta function at 0, where the reflected one cancels."""


_ALL = 1100.0
"""Where 2 ** -s is 0."""


def _riemann(s: np.ndarray) -> Any:
    one: Any = cast(1.0, np.float64)
    right = s > 0.0
    direct = euler_maclaurin(np.where(right & (s != 1.0), np.minimum(s, _ALL), 2.0), one)
    t = np.where(right, -1.0, s)
    turned = 1.0 - t
    far = euler_maclaurin(np.where(turned < 100.0, turned, 100.0), one)
    angle = 0.5 * math.pi * np.remainder(t, 4.0)
    even = (np.remainder(t, 2.0) == 0.0)
    sine = np.where(even, (t - np.floor(t)) * 0.5 * math.pi * np.cos(angle), np.sin(angle))
    reflected = 2.0 * np.exp(-turned * math.log(2.0 * math.pi)) * sine * apply(
        "tgamma", turned) * far
    small = np.where((s > -0.02) & (s <= 0.0), s, 0.0)
    near: Any = 0.0
    for c in reversed(_ZETA_AT_0):
        near = near * small + c
    value = np.where(right, direct, np.where(s > -0.02, near, reflected))
    return np.where(s == 1.0, np.inf, value)


def _zetac(s: np.ndarray) -> Any:
    above = s > 1.0
    two: Any = cast(2.0, np.float64)
    beyond = euler_maclaurin(np.where(above, np.minimum(s, _ALL), 2.0), two)
    return np.where(above, beyond, _riemann(np.where(above, 0.5, s)) - 1.0)


def zeta(x: object, q: object = None) -> Any:
    """Return the zeta function of Riemann or, with `q`, of Hurwitz."""
    if as_tracer(x).dtype.kind == "c":
        raise refuse("scipy.special.zeta of complex numbers cannot be captured", "Use real ones",
                     "TJ206")
    if q is None:
        return _double(_riemann, x)
    return _double(_hurwitz, x, q)


def _double(function: Callable[..., Any], *operands: object) -> Any:
    result = function(*(cast(as_tracer(v), np.float64) for v in operands))
    return cast(result, common_dtype(operands))


# --- degrees, and small differences -------------------------------------------------------------

_DEGREE = math.pi / 180.0


def sindg(x: np.ndarray) -> Any:
    r = np.remainder(x, 360.0)
    return np.sin(_DEGREE * np.where(r <= 90.0, r, np.where(r <= 270.0, 180.0 - r, r - 360.0)))


def cosdg(x: np.ndarray) -> Any:
    r = np.remainder(x, 360.0)
    return np.sin(_DEGREE * np.where(r <= 180.0, 90.0 - r, r - 270.0))


def _powm1(x: np.ndarray, y: np.ndarray) -> Any:
    near = x > 0.0
    x = np.where((x < 0.0) & np.isinf(y), np.nan, x)
    return np.where(near, np.expm1(y * np.log(np.where(near, x, 1.0))), np.power(
        np.where(near, 0.0, x), np.where(near, 1.0, y)) - 1.0)


def _cosm1(x: np.ndarray) -> Any:
    half = np.sin(0.5 * x)
    return -2.0 * half * half


def softplus(x: object) -> Any:
    """Return log(1 + exp(x))."""
    return np.logaddexp(0, as_tracer(x))


def diric(x: object, n: int) -> Any:
    """Return the periodic sinc function."""
    given: Any = as_tracer(x)
    given = given if given.dtype.kind == "f" else double_of_real(given + (given - given), "diric")
    n = known_int(n, "the number of scipy.special.diric")
    if not isinstance(n, (int, np.integer)) or n <= 0:
        raise refuse("scipy.special.diric of a number that is no constant int above 0 cannot be "
                     "captured", "Pass a Python int", "TJ205")
    below = np.sin(0.5 * given)
    near = np.abs(below) < 1e-7
    turns = np.rint(given / (2.0 * math.pi))
    sign = np.where(np.remainder(turns * (n - 1), 2.0) == 0.0, 1.0, -1.0)
    away = given - 2.0 * math.pi * turns
    top = sign * (1.0 - (n * n - 1) / 24.0 * away * away)
    return np.where(near, top, np.sin(0.5 * n * given) / (n * np.where(near, 1.0, below)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp1": _exp1, "expn": lambda n, x: apply("exponential_integral", np.trunc(n), x),
    "owens_t": lambda h, a: apply("owens_t", h, a), "sindg": sindg, "cosdg": cosdg,
    "tandg": lambda x: sindg(x) / np.abs(cosdg(x)) * np.where(cosdg(x) < 0.0, -1.0, 1.0),
    "cotdg": lambda x: cosdg(x) / np.abs(sindg(x)) * np.where(sindg(x) < 0.0, -1.0, 1.0),
    "powm1": _powm1, "cosm1": _cosm1,
    "radian": lambda d, m, s: (d + m / 60.0 + s / 3600.0) * _DEGREE,
    "zetac": _zetac,
}
scipy_captures("scipy.special", {
    **{name: in_double(name, function) for name, function in _FUNCTIONS.items()},
    "sici": _several("sici", lambda x: apply("sine_integral", x), _ci),
    "shichi": _several("shichi", _shi, _chi),
    "fresnel": _several("fresnel", lambda x: apply("fresnel_sine", x),
                        lambda x: apply("fresnel_cosine", x)),
    "zeta": zeta, "softplus": softplus, "diric": diric,
})
