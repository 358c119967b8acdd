"""Solutions between bounds: which bounds hold, and the derivatives that this implies.

At a bound the gradient pushes against, the unknown is the bound; all others make the gradient 0
(J. Nocedal, S. Wright, Numerical optimization, 2006, section 12.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.solutions import Equations, value_of
from tracejit.ir.core import Value
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.ops.implicit import RULES, Rule, assured, implied
from tracejit.scipy_api.equations import Policy, with_derivatives
from tracejit.trace.ground.context import current
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import atom_of, cast
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["Bounded", "bounds_of_pairs", "bounds_of_two"]

_REAL = np.dtype(np.float64)
_NEAR = 1e-7
"""How near an unknown is to a bound that it is at, of max(1, |bound|): some searches stay inside.
"""
_UNDECIDED = ("a solution is at a bound that it would not leave without it: there is a derivative "
              "to one side and another to the other")


def _if_unique(tangent: Tracer | None, is_unique: Tracer) -> Any:
    if tangent is None:
        return None
    one = np.where(assured(is_unique, _UNDECIDED), 1.0, np.nan)  # type: ignore[arg-type]
    return tangent * one


RULES["unique"] = Rule(lambda results, operands, tangents: [_if_unique(tangents[0], operands[1])],
                       lambda results, operands, cts: [_if_unique(cts[0], operands[1]), None])
"""A solution of which is known whether it has one derivative; else taking it is an error."""


class Bounded:
    """Bounds of an unknown, a number for each of its components."""

    low: Tracer
    high: Tracer

    def __init__(self, low: object, high: object, like: Tracer) -> None:
        zeros: Any = np.zeros_like(like)
        self.low, self.high = (zeros + cast(as_tracer(x), _REAL) for x in (low, high))

    def as_setting(self) -> tuple[Tracer, Tracer]:
        return self.low, self.high

    def middle(self) -> Any:
        """Return where `curve_fit` begins if it is not told."""
        low, high = map(stop_gradient, (self.low, self.high))
        below, above = np.isfinite(low), np.isfinite(high)
        start: Any = np.where(below, low + 1.0, np.where(above, high - 1.0, 1.0))
        return np.where(below & above, 0.5 * (low + high), start)

    def with_derivatives(self, equations: Equations, x: Tracer, policy: Policy) -> Tracer:
        """Check a solution, and return it with its derivatives.

        equations -- that the gradient is 0
        """
        held = inline_region(equations.block, [x.value, *equations.given])[0]
        slope, low, high = map(stop_gradient, (value_of(held), self.low, self.high))
        beside = [np.isfinite(b) & (np.abs(x - b) <= _NEAR * np.maximum(1.0, np.abs(b)))
                  for b in (low, high)]
        at = [beside[0] & (slope > 0.0), beside[1] & (slope < 0.0)]
        strong = np.abs(slope) > 1e-8 * np.max(np.abs(slope), initial=0.0)
        is_unique = np.all(np.where(beside[0] | beside[1], (at[0] | at[1]) & strong, True))
        bound: Any = np.where(at[0], self.low, np.where(at[1], self.high, stop_gradient(x)))
        free: Any = cast(np.logical_not(at[0] | at[1]), _REAL)
        found = with_derivatives(_where_free(equations, free, bound), x, policy)
        result: Tracer = implied("unique", [found], found, as_tracer(is_unique))[0]
        return result


def _where_free(equations: Equations, free: Tracer, bound: Tracer) -> Equations:
    """Return equations of which some are replaced: there the unknown is a bound."""
    own = equations.block.inputs
    inputs = [Value(v.aval, v.name) for v in (*own, free.value, bound.value)]
    with current().builder.block(inputs) as scope:
        away: Any = value_of(inline_region(equations.block, inputs[:len(own)])[0])
        x, is_free, other = (tracer_of(v) for v in (inputs[0], *inputs[-2:]))
        block = scope.close([atom_of(np.where(is_free > 0.5, away, x - other))])
    return Equations(block, [*equations.given, free.value, bound.value])


def _parts(bounds: object) -> tuple[object, object] | None:
    """Return what an object of SciPy's class for bounds has; None for another object."""
    if type(bounds).__name__ != "Bounds" or not type(bounds).__module__.startswith("scipy."):
        return None
    low, high = (call_function(getattr, (bounds, name), {}) for name in ("lb", "ub"))
    return low, high


def bounds_of_two(bounds: object, like: Tracer) -> Bounded | None:
    """Return bounds that are lower and upper ones; None for none."""
    given: Any = _parts(bounds) or bounds
    low, high = given
    none = all(isinstance(x, float) and x == away for x, away in (
        (low, -np.inf), (high, np.inf)))
    return None if none else Bounded(low, high, like)


def bounds_of_pairs(bounds: object, like: Tracer) -> Bounded | None:
    """Return bounds that are a pair for each component, of which None stands for infinity."""
    if bounds is None:
        return None
    parts = _parts(bounds)
    if parts is not None:
        return Bounded(*parts, like)
    if isinstance(bounds, (Tracer, np.ndarray)):
        return Bounded(bounds[:, 0], bounds[:, 1], like)
    given: Any = bounds
    pairs = [tuple(pair) for pair in given]
    return Bounded(_column(pairs, 0, -np.inf), _column(pairs, 1, np.inf), like)


def _column(pairs: Sequence[tuple[object, ...]], k: int, absent: float) -> object:
    make: Callable[..., object] = np.array
    return call_function(make, ([absent if p[k] is None else p[k] for p in pairs],), {})
