"""`scipy.integrate.quad` and its kin: integrals of functions, with derivatives through their steps.

The steps are QUADPACK's. The derivative of an integral is the derivative of the sum that the same
steps give with the squares of the tolerances, at the intervals that they choose: where an integrand
has a kink, the error of a sum is as the square of the interval's length, and that of its derivative
as the length.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.scipy_api.kronrod import KRONROD_15, KRONROD_21
from tracejit.scipy_api.objectives import computed_again
from tracejit.scipy_api.plain_quadrature import integral, part_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import scalar_of, tracer_of

__all__: list[str] = []

RULES["same"] = Rule(lambda results, operands, tangents: [tangents[0]],
                     lambda results, operands, cts: [cts[0]])

_EPS = float(np.finfo(float).eps)
_WITHIN: ContextVar[int] = ContextVar("how many integrals this is within", default=0)
_FINE_LIMIT = 400
"""The most intervals of an integral whose derivative is taken."""


def _number(x: object) -> Any:
    """Return a real number: a Python float, or a traced one."""
    given = as_tracer(x)
    if given.dims or given.dtype.kind == "c":
        raise TypeError("scipy.integrate.quad: ends of an interval and tolerances are real numbers")
    if not isinstance(x, TracedOperand):
        return float(np.asarray(x)[()])
    return scalar_of(cast(given, np.float64).value, weak=True)


def _ordered(a: object, b: object) -> tuple[Any, Any, Any]:
    """Return the ends of an interval in their order, and the sign that the integral gets."""
    if isinstance(a, float) and isinstance(b, float):
        return min(a, b), max(a, b), -1.0 if b < a else 1.0
    for x, y in ((a, b), (b, a)):
        if isinstance(x, float) and not np.isfinite(x):
            return (x, y, 1.0 if x is a else -1.0) if x < 0.0 else (y, x, -1.0 if x is a else 1.0)
    ends: list[Any] = [a, b]
    falls = ends[1] < ends[0]  # of equal ends each has its own derivative
    return np.where(falls, *ends[::-1]), np.where(falls, *ends), np.where(falls, -1.0, 1.0)


def _require_finite(*ends: object) -> None:
    """Refuse a traced end that is infinite in a call: which rule is used is known at capture."""
    for x in ends:
        if isinstance(x, TracedOperand):
            require(np.isfinite(x), NotCaptured, "scipy.integrate.quad: an end of an interval that "
                    "only the run knows is infinite or NaN. Write np.inf in the function")


@contextmanager
def _outermost() -> Iterator[None]:
    """Refuse integrals within integrals within one: a program has every level several times."""
    if _WITHIN.get() > 1:
        raise refuse("scipy.integrate.quad three times within one another cannot be captured",
                     "Use scipy.integrate.fixed_quad for the innermost integral", "TJ214")
    token = _WITHIN.set(_WITHIN.get() + 1)
    try:
        yield
    finally:
        _WITHIN.reset(token)


def quad(func: Callable[..., object], a: object, b: object, args: object = (),
         full_output: int = 0, epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
         limit: int = 50, points: object = None, weight: object = None, wvar: object = None,
         wopts: object = None, maxp1: int = 50, limlst: int = 50,
         complex_func: bool = False) -> tuple[Any, ...]:
    """Return the integral of a function from a to b, and an estimate of the error."""
    if full_output or points is not None or weight is not None:
        raise refuse("scipy.integrate.quad with full_output=, points= or weight= cannot be "
                     "captured", "Add the integrals between the points, or write the weight as "
                     "a factor", "TJ203")
    if complex_func:
        parts = [quad(functools.partial(part_of, func, k), a, b, args, 0, epsabs, epsrel, limit)
                 for k in (0, 1)]
        return (parts[0][0] + 1j * parts[1][0], parts[0][1] + 1j * parts[1][1])
    given, most = args if isinstance(args, tuple) else (args,), operator.index(limit)
    if most < 1:
        raise ValueError("Invalid 'limit' argument. There must be at least one subinterval")
    absolute, relative = _number(epsabs), _number(epsrel)
    require((absolute > 0.0) | (relative >= max(50.0 * _EPS, 5e-29)), ValueError,
            "If 'epsabs'<=0, 'epsrel' must be greater than both 5e-29 and 50*(machine epsilon).")
    start, end = _number(a), _number(b)
    if isinstance(start, float) and isinstance(end, float) and start == end:
        return 0.0, 0.0
    low, high, sign = _ordered(start, end)
    value, error = _rising(func, low, high, (absolute, relative), most, given)
    found = (sign * value, stop_gradient(error))
    return tuple(scalar_of(as_tracer(x).value, weak=True) if isinstance(x, TracedOperand)
                 else float(x) for x in found)


def _rising(f: Callable[..., object], low: object, high: object, tolerances: tuple[object, ...],
            most: int, args: tuple[object, ...]) -> tuple[Any, Any]:
    """Return an integral from its lower end to its upper end, and the estimate of its error."""
    _require_finite(low, high)
    is_open = [isinstance(x, float) and np.isinf(x) for x in (low, high)]
    kind = 2 if all(is_open) else -1 if is_open[0] else 1 if is_open[1] else 0
    common: tuple[object, ...] = (f, KRONROD_21, low, high, 0.0, 0)
    if kind:
        bound = 0.0 if kind == 2 else high if kind == -1 else low
        common = (f, KRONROD_15, 0.0, 1.0, bound, kind)
    with _outermost():
        value, error = call_function(integral, (*common, *tolerances, most, args), {})
    if isinstance(value, TracedOperand):
        fine = [np.maximum(x * x, 1e-16) for x in tolerances]  # type: ignore[operator]
        block = computed_again((f, args), (), lambda: cast(as_tracer(call_function(
            integral, (*common, *fine, max(most, _FINE_LIMIT), args), {})[0]), np.float64),
            "which is integrated")
        (finer,) = inline_region(block, [])
        value = implied("same", [cast(as_tracer(value), np.float64)], tracer_of(finer))[0]
    if isinstance(low, TracedOperand) and not kind:
        is_zero = (low == high) & ~np.isfinite(value)  # SciPy calls nothing where ends are equal
        value, error = (np.where(is_zero, 0.0, x) for x in (value, error))
    return value, error


scipy_captures("scipy.integrate", {"quad": calling_back(quad)})
