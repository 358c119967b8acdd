"""Hypergeometric functions of real numbers, with derivatives by the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import hypergeometric
from tracejit.ops.cotangents import Primal
from tracejit.ops.incomplete import of_numbers
from tracejit.ops.kinds import NoFormula, elementwise
from tracejit.trace.values.equations import apply, cast

__all__ = ["certain"]

_BY_PARAMETER = NoFormula("a parameter of a hypergeometric function",
                          "Keep the parameters constant, with tracejit.stop_gradient, say")


def certain(name: str, *operands: Primal) -> Any:
    """Return a function of operands; the program ends where too few of its digits are known."""
    found: Any = apply(name, *operands)
    known = found == found
    for x in operands:
        known = np.logical_or(known, x != x)
    fine = apply("assured", np.all(known), error="NotCaptured",
                 message=f"scipy.special.{name} is not known here to 1e-11: parameters too large "
                 "or an argument above 1, say")
    return np.where(fine, found, np.nan)


def _of_parameters(name: str, argument: Callable[[Any], Any],
                   *given: tuple[float, ...]) -> Callable[[int], list[Any]]:
    return lambda n: [((n,), lambda t, ps=ps: apply(name, *ps, argument(cast(t, np.float64))))
                      for ps in given]


elementwise("hyp1f1", None, "hyper_1f1({0}, {1}, {2})", lambda z, a, b, x: (
    _BY_PARAMETER, _BY_PARAMETER, a / b * certain("hyp1f1", a + 1.0, b + 1.0, x)), cost=3000.0,
            reference=of_numbers(hypergeometric.hyper_1f1), samples=_of_parameters(
                "hyp1f1", lambda t: 2.0 * t, (0.7, 1.4), (-1.3, 2.2), (-2.0, 0.5)))
elementwise("hyp2f1", None, "hyper_2f1({0}, {1}, {2}, {3})", lambda z, a, b, c, x: (
    _BY_PARAMETER, _BY_PARAMETER, _BY_PARAMETER,
    a * b / c * certain("hyp2f1", a + 1.0, b + 1.0, c + 1.0, x)), cost=5000.0,
            reference=of_numbers(hypergeometric.hyper_2f1), samples=_of_parameters(
                "hyp2f1", lambda t: 0.95 - np.exp(-t), (0.7, 1.4, 2.3), (-1.3, 2.2, 0.8),
                (-2.0, 0.5, 1.5)))
