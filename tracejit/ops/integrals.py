"""Integrals that have names, whose derivatives are their integrands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import integrals
from tracejit.ops.asymptotic import dawsn_partial, erfcx_partial
from tracejit.ops.cotangents import Primal
from tracejit.ops.incomplete import of_numbers
from tracejit.ops.kinds import elementwise
from tracejit.trace.values.equations import apply, cast

__all__: list[str] = []

_2_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _sinc(x: Primal) -> Any:
    """Return sin(x) / x, by its series near 0, so that it has derivatives there."""
    small = np.abs(x) < 0.1
    square = np.where(small, x * x, 0.0)
    series: Any = 1.0
    for k in range(6, 0, -1):
        series = 1.0 - square / (2 * k * (2 * k + 1)) * series
    far = np.where(small, 1.0, x)
    return np.where(small, series, np.sin(far) / far)


def _spence_partial(z: Primal, x: Primal) -> Any:
    """The derivative log(x) / (1 - x), by its series near 1."""
    near = np.abs(x - 1.0) < 0.1
    d = np.where(near, x - 1.0, 0.0)
    series: Any = 1.0 / 25.0
    for k in range(24, 0, -1):
        series = 1.0 / k - d * series
    far = np.where(near, 2.0, x)
    return np.where(near, -series, np.log(far) / (1.0 - far))


def _expn_partial(z: Primal, n: Primal, x: Primal) -> Any:
    lower = n - 1.0
    none = n == 0.0
    at_zero = -np.exp(-x) * (1.0 + x) / (x * x)
    return np.where(none, at_zero, -apply("exponential_integral", np.where(none, 1.0, lower), x))


_PARTIALS: dict[str, Callable[[Any, Any], Any]] = {
    "expi": lambda z, x: np.exp(x) / x,
    "dawsn": dawsn_partial,
    "erfcx": erfcx_partial,
    "erfi": lambda z, x: _2_BY_ROOT_PI * np.exp(x * x),
    "sine_integral": lambda z, x: _sinc(x),
    "cosine_integral": lambda z, x: np.cos(x) / x,
    "fresnel_sine": lambda z, x: np.sin(0.5 * math.pi * x * x),
    "fresnel_cosine": lambda z, x: np.cos(0.5 * math.pi * x * x),
    "spence": _spence_partial,
}

for _name, _partial in _PARTIALS.items():
    elementwise(_name, None, f"{_name}({{0}})", lambda z, x, partial=_partial: (partial(z, x),),
                cost=100.0, reference=of_numbers(getattr(integrals, _name)), domain=(0.2, 3.0),
                scipy=_name in ("expi", "dawsn", "erfcx", "erfi", "spence"))

elementwise("exponential_integral", None, "exponential_integral({0}, {1})",
            lambda z, n, x: (None, _expn_partial(z, n, x)), cost=200.0,
            reference=of_numbers(integrals.exponential_integral), samples=lambda n: [
                ((n,), lambda t, k=k: apply("exponential_integral", k, np.exp(
                    cast(t, np.float64)))) for k in (0.0, 1.0, 3.0)])
elementwise("owens_t", None, "owens_t({0}, {1})", lambda z, h, a: (
    -0.5 / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * h * h) * apply("erf", a * h * math.sqrt(0.5)),
    np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))), cost=2000.0,
            reference=of_numbers(integrals.owens_t))
