"""Derivatives of SciPy's C functions of complex numbers; the formulas are those of NIST's DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ops.cotangents import Primal
from tracejit.ops.scipy_functions import PARTIALS, UNKNOWN, Formula, special

__all__: list[str] = []

_2_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 14


def _trigamma(z: Primal) -> Any:
    """Return the derivative of psi: 5.15.6 left of a half, and 5.15.8, shifted to the right."""
    left = np.real(z) < 0.5
    x = np.where(left, 1.0 - z, z)
    far = x + float(_SHIFT)
    square = 1.0 / (far * far)
    series: Any = 0.0
    for b in reversed(_BERNOULLI):
        series = (series + b) * square
    total = (1.0 + series) / far + 0.5 * square
    for k in reversed(range(_SHIFT)):
        total = total + 1.0 / ((x + k) * (x + k))
    turned = np.where(left, z - np.rint(np.real(z)), 0.5)
    size = np.abs(np.imag(turned)) < 100.0
    sine = np.sin(math.pi * np.where(size, turned, 0.5))
    return np.where(left, np.where(size, math.pi * math.pi / (sine * sine), 0.0) - total, total)


def _small(z: Primal, near: float, series: Formula, far: Formula) -> Any:
    """Return a quotient next to its removable singularity at 0 by a series."""
    is_near = np.abs(z) < near
    return np.where(is_near, series(np.where(is_near, z, 0.0)), far(np.where(is_near, 1.0, z)))


def _sine_quotient(z: Primal, sign: float, sine: Formula) -> Any:
    def series(t: Primal) -> Any:
        total: Any = 1.0 + 0.0 * t
        for k in range(8, 0, -1):
            total = 1.0 + sign * t * t / (2 * k * (2 * k + 1)) * total
        return total

    return _small(z, 0.3, series, lambda t: sine(t) / t)


def _log_quotient(z: Primal) -> Any:
    """Return log(z) / (1 - z)."""
    def series(d: Primal) -> Any:
        total: Any = 1.0 / 30.0 + 0.0 * d
        for k in range(29, 0, -1):
            total = 1.0 / k - d * total
        return -total

    return _small(z - 1.0, 0.2, series, lambda d: np.log1p(d) / -d)


_OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "gamma": lambda z, x: z * special("psi_z", x),
    "loggamma": lambda z, x: special("psi_z", x),
    "rgamma": lambda z, x: -z * special("psi_z", x),
    "psi": lambda z, x: _trigamma(x),
    "erf": lambda z, x: _2_BY_ROOT_PI * np.exp(-x * x),
    "erfc": lambda z, x: -_2_BY_ROOT_PI * np.exp(-x * x),
    "erfi": lambda z, x: _2_BY_ROOT_PI * np.exp(x * x),
    "erfcx": lambda z, x: 2.0 * x * z - _2_BY_ROOT_PI,
    "dawsn": lambda z, x: 1.0 - 2.0 * x * z,
    "ndtr": lambda z, x: np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi),
    "log_ndtr": lambda z, x: np.exp(-0.5 * x * x - z) / math.sqrt(2.0 * math.pi),
    "expi": lambda z, x: np.exp(x) / x, "exp1": lambda z, x: -np.exp(-x) / x,
    "sici_0": lambda z, x: _sine_quotient(x, -1.0, np.sin),
    "sici_1": lambda z, x: np.cos(x) / x,
    "shichi_0": lambda z, x: _sine_quotient(x, 1.0, np.sinh),
    "shichi_1": lambda z, x: np.cosh(x) / x,
    "fresnel_0": lambda z, x: np.sin(0.5 * math.pi * x * x),
    "fresnel_1": lambda z, x: np.cos(0.5 * math.pi * x * x),
    "spence": lambda z, x: _log_quotient(x),
    "airy_0": lambda z, x: special("airy_1_z", x), "airy_1": lambda z, x: x * special(
        "airy_0_z", x),
    "airy_2": lambda z, x: special("airy_3_z", x), "airy_3": lambda z, x: x * special(
        "airy_2_z", x),
    "wrightomega": lambda z, x: z / (1.0 + z)}
PARTIALS.update({f"{name}_z": lambda z, x, of=of: (of(z, x),) for name, of in _OF_ONE.items()})


# --- of an order: 10.6.1 and 10.29.1 ------------------------------------------------------------

_ORDERS = {"jv": (0.5, -0.5, 0.0), "yv": (0.5, -0.5, 0.0), "hankel1": (0.5, -0.5, 0.0),
           "hankel2": (0.5, -0.5, 0.0), "iv": (0.5, 0.5, 0.0), "kv": (-0.5, -0.5, 0.0),
           "kve": (-0.5, -0.5, 1.0), "hankel1e": (0.5, -0.5, -1j), "hankel2e": (0.5, -0.5, 1j),
           "jve": (0.5, -0.5, 0.0), "yve": (0.5, -0.5, 0.0), "ive": (0.5, 0.5, 0.0)}
"""Of each function the share of its orders below and above, and its own, in its derivative; those
of the last three are for a factor that is taken for a constant: see `scipy_functions.py` of
`scipy_api`."""


def _of_order(name: str) -> Callable[..., tuple[object, ...]]:
    below, above, own = _ORDERS[name]

    def partials(z: Primal, v: Primal, x: Primal) -> tuple[object, ...]:
        slope = below * special(f"{name}_z", v - 1.0, x) + above * special(f"{name}_z", v + 1.0, x)
        return UNKNOWN, slope + own * z if own else slope

    return partials


PARTIALS.update({f"{name}_z": _of_order(name) for name in _ORDERS})
PARTIALS.update({
    "hyp0f1_z": lambda z, v, x: (UNKNOWN, special("hyp0f1_z", v + 1.0, x) / v),
    "hyp1f1_z": lambda z, a, b, x: (
        UNKNOWN, UNKNOWN, a / b * special("hyp1f1_z", a + 1.0, b + 1.0, x)),
    "hyp2f1_z": lambda z, a, b, c, x: (UNKNOWN, UNKNOWN, UNKNOWN, a * b / c * special(
        "hyp2f1_z", a + 1.0, b + 1.0, c + 1.0, x))})
