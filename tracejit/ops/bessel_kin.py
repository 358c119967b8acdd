"""Airy's functions, whose second derivatives are x times themselves, and Struve's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import bessel_kin
from tracejit.ops.cotangents import Primal
from tracejit.ops.incomplete import of_numbers
from tracejit.ops.kinds import NoFormula, elementwise
from tracejit.trace.values.equations import apply, cast

__all__ = ["AIRY", "AIRYE", "struve_partial"]

Function = Callable[..., Any]

AIRY = ("airy_ai", "airy_aip", "airy_bi", "airy_bip")
AIRYE = tuple(f"{name}e" for name in AIRY)


def _root(x: Primal) -> Any:
    """Return the square root of x where x > 0, and 0 elsewhere, with no derivative there."""
    above = x > 0.0
    return np.where(above, np.sqrt(np.where(above, x, 1.0)), 0.0)


_PARTIALS: dict[str, Callable[[Any, Any], Any]] = {
    "airy_ai": lambda z, x: apply("airy_aip", x), "airy_aip": lambda z, x: x * apply("airy_ai", x),
    "airy_bi": lambda z, x: apply("airy_bip", x), "airy_bip": lambda z, x: x * apply("airy_bi", x),
    "airy_aie": lambda z, x: apply("airy_aipe", x) + _root(x) * z,
    "airy_aipe": lambda z, x: x * apply("airy_aie", x) + _root(x) * z,
    "airy_bie": lambda z, x: apply("airy_bipe", x) - _root(x) * z,
    "airy_bipe": lambda z, x: x * apply("airy_bie", x) - _root(x) * z}

def _of_doubles(name: str) -> Any:
    """Return samples in double precision, which SciPy's functions have here of any argument."""
    def sample(t: Any) -> Any:
        x = cast(t, np.float64)
        return apply(name, np.exp(x) if name in AIRYE else x)

    return lambda n: [((n,), sample)]


for _kind, _name in enumerate((*AIRY, *AIRYE)):
    elementwise(_name, None, f"airy_function({{0}}, {_kind}.0)",
                lambda z, x, partial=_PARTIALS[_name]: (partial(z, x),), cost=300.0,
                reference=of_numbers(
                    lambda x, kind=_kind: bessel_kin.airy_function(x, float(kind))),
                samples=_of_doubles(_name))


def _power_series(sign: float, v: np.ndarray, x: np.ndarray) -> Any:
    """Return the derivative of Struve's function by its series: NIST's DLMF, 11.2.1 and 11.2.2.

    Of the order -1 it begins with the second term, as the first one is constant.
    """
    square = 0.25 * sign * x * x
    constant = v == -1.0
    term = 2.0 / (math.sqrt(math.pi) * apply("tgamma", v + 1.5))
    first, rest = 0.5 * (v + 1.0) * term, 0.0 * x
    power: Any = 1.0
    for k in range(1, 13):
        term = term / ((k + 0.5) * (k + v + 0.5))
        rest = rest + 0.5 * (2 * k + v + 1.0) * term * power
        power = power * square
    return np.where(constant, sign * rest, first + square * rest) * np.power(
        0.5 * x, np.where(constant, v + 2.0, v))


def struve_partial(function: Function, sign: float, v: Primal, x: Primal) -> Any:
    """Return the derivative of Struve's function, of a sign of 1 the modified one.

    It is half of the functions of v - 1 and of v + 1 and of a power: Abramowitz and Stegun,
    12.1.9, 12.1.10 and 12.2.4; near 0, where these may be infinite, it is a series.
    """
    at = v + 1.5
    pole = (at <= 0.0) & (at == np.floor(at))
    near = (np.abs(x) < 1.0) & ~pole
    away: Any = np.where(near, 1.0, x)
    power = np.power(0.5 * away, v) / apply("tgamma", np.where(pole, 1.0, at))
    far = 0.5 * (function(v - 1.0, away) + sign * function(v + 1.0, away)
                 + np.where(pole, 0.0, power) / math.sqrt(math.pi))
    return np.where(near, _power_series(
        sign, np.where(near, v, 0.0), np.where(near, x, 0.5)), far)


elementwise("struve", None, "struve({0}, {1})", lambda z, v, x: (
    NoFormula("the order of Struve's function",
              "Keep the order constant, with tracejit.stop_gradient, say"),
    struve_partial(lambda n, t: apply("struve", n, t), -1.0, v, x)), cost=1000.0,
            reference=of_numbers(bessel_kin.struve), samples=lambda n: [
                ((n,), lambda t, v=v: apply("struve", v, np.exp(cast(t, np.float64))))
                for v in (0.0, 1.0, 2.5, -1.5)])
