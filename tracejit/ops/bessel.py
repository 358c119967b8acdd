"""Bessel functions of any real order: Abramowitz and Stegun, 9.1.27 and 9.6.26."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir import bessel_orders
from tracejit.ops.cotangents import Primal
from tracejit.ops.incomplete import of_numbers
from tracejit.ops.kinds import NoFormula, elementwise
from tracejit.trace.values.equations import apply, cast

__all__: list[str] = []

_BY_ORDER = NoFormula("the order of a Bessel function",
                    "Keep the order constant, with tracejit.stop_gradient, say")


def _neighbours(name: str, v: Primal, x: Primal, sign: float) -> Any:
    return 0.5 * (apply(name, v - 1.0, x) + sign * apply(name, v + 1.0, x))


def _of_orders(name: str) -> Any:
    return lambda n: [((n,), lambda t, v=v: apply(name, v, np.exp(cast(t, np.float64))))
                      for v in (0.0, 1.0, 2.5, -1.5)]


elementwise("jv", None, "bessel_j({0}, {1})",
            lambda z, v, x: (_BY_ORDER, _neighbours("jv", v, x, -1.0)), cost=300.0,
            reference=of_numbers(bessel_orders.bessel_j), samples=_of_orders("jv"))
elementwise("yv", None, "bessel_y({0}, {1})",
            lambda z, v, x: (_BY_ORDER, _neighbours("yv", v, x, -1.0)), cost=300.0,
            reference=of_numbers(bessel_orders.bessel_y), samples=_of_orders("yv"))
elementwise("ive", None, "bessel_ie({0}, {1})", lambda z, v, x: (
    _BY_ORDER, _neighbours("ive", v, x, 1.0) - np.sign(x) * z), cost=300.0,
            reference=of_numbers(bessel_orders.bessel_ie), samples=_of_orders("ive"))
elementwise("kve", None, "bessel_ke({0}, {1})", lambda z, v, x: (
    _BY_ORDER, z - _neighbours("kve", v, x, 1.0)), cost=300.0,
            reference=of_numbers(bessel_orders.bessel_ke), samples=_of_orders("kve"))
