"""Bessel functions of any order next to 0, where SciPy overflows, and of infinite orders.

The oracle is SciPy down to 1e-12, below the leading terms (DLMF 10.2.2, 10.2.3, 10.8.2, 10.27.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import tracejit

ORDERS = [0.0, 0.25, 0.5, 1.0, 2.5, 7.0, -0.5, -0.75, -1.0, -2.0, -2.5]
POINTS = [5e-324, 1e-310, 1e-300, 1e-160, 1e-30, 1e-10, 9e-5, 1.1e-4]


def jv(v: float, x: float) -> Any:
    return scipy.special.jv(v, x)


def yv(v: float, x: float) -> Any:
    return scipy.special.yv(v, x)


def iv(v: float, x: float) -> Any:
    return scipy.special.iv(v, x)


def kv(v: float, x: float) -> Any:
    return scipy.special.kv(v, x)


def _power(v: float, x: float) -> float:
    """Return (x / 2) ** v, infinite where it is too large."""
    with np.errstate(over="ignore"):
        return float(np.exp(v * (math.log(x) - math.log(2.0))))


def _first_kind(v: float, x: float) -> float:
    if v < 0.0 and v == int(v):
        return _first_kind(-v, x) * (-1.0) ** v
    return _power(v, x) / math.gamma(v + 1.0)


def _second_kind(v: float, x: float) -> float:
    if v != int(v):
        across = math.cos(math.pi * v) * _first_kind(v, x) if v % 1.0 != 0.5 else 0.0
        return (across - _first_kind(-v, x)) / math.sin(math.pi * v)
    if v == 0.0:
        return 2.0 / math.pi * (math.log(x) - math.log(2.0) + float(np.euler_gamma))
    sign = (-1.0) ** v if v < 0.0 else 1.0
    return -sign * math.gamma(abs(v)) / math.pi * _power(-abs(v), x)


def _modified(v: float, x: float) -> float:
    if v == 0.0:
        return -(math.log(x) - math.log(2.0) + float(np.euler_gamma))
    if v == int(v):
        return 0.5 * math.gamma(abs(v)) * _power(-abs(v), x)
    return 0.5 * math.pi * (_first_kind(-abs(v), x) - _first_kind(abs(v), x)) / math.sin(
        math.pi * abs(v))


LEADING: dict[Any, Callable[[float, float], float]] = {
    jv: _first_kind, yv: _second_kind,
    iv: lambda v, x: abs(_first_kind(v, x)) if v == int(v) else _first_kind(v, x), kv: _modified}


@pytest.mark.parametrize("f", LEADING, ids=lambda f: f.__name__)
def test_values_and_slopes_next_to_zero(f: Callable[..., Any]) -> None:
    for compiled in (False, True):
        with tracejit.config(disable_jit=not compiled):
            value, slope = tracejit.jit(f), tracejit.grad(f, argnums=1)
            for v in ORDERS:
                for x in POINTS:
                    expected = f(v, x) if x > 1e-12 else LEADING[f](v, x)
                    near = pytest.approx(expected, rel=1e-11, abs=5e-323)
                    assert value(v, x) == near, (v, x)
                    if f in (jv, iv) and v != 0.0 and x < 1e-12 and 1e-80 < abs(expected) < 1e80:
                        power = abs(v) if v == int(v) else v
                        assert slope(v, x) * x == pytest.approx(power * expected, rel=1e-9), (v, x)


def test_infinite_orders() -> None:
    for compiled in (False, True):
        with tracejit.config(disable_jit=not compiled):
            for f in (jv, iv):
                assert all(tracejit.jit(f)(np.inf, x) == 0.0 for x in (0.0, 0.3, 20.0))
            assert np.isnan(tracejit.jit(yv)(np.inf, 1.0))
            assert np.isnan(tracejit.jit(kv)(np.inf, 1.0))
            assert tracejit.jit(kv)(np.inf, 0.0) == np.inf
