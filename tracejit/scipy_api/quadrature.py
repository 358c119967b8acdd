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
from types import CellType
from typing import Any

import numpy as np

from tracejit.autodiff.solutions import value_of
from tracejit.errors import NotCaptured
from tracejit.ir.core import Value
from tracejit.ir.types import scalar
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.scipy_api.objectives import computed_again
from tracejit.scipy_api.plain_integrands import exact, part_of
from tracejit.scipy_api.plain_quadrature import integral
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.ground.restarts import NeedIntegrands
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import atom_of, cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import scalar_of, tracer_of

__all__ = ["Integrand", "as_numbers", "integrated", "refuse_kinds"]

RULES["same"] = Rule(lambda results, operands, tangents: [tangents[0]],
                     lambda results, operands, cts: [cts[0]])

_EPS = float(np.finfo(float).eps)
_AROUND: ContextVar[str] = ContextVar("which way of an integral this is within", default="")
""""" for none, "called" in a function that is called, "value" and "fine" in one that is captured
apart, for the value and for the finer sum whose derivative is taken."""
_ROLE = "which is integrated"
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
def _around(what: str) -> Iterator[None]:
    token = _AROUND.set(what)
    try:
        yield
    finally:
        _AROUND.reset(token)


def quad(func: Callable[..., object], a: object, b: object, args: object = (),
         full_output: int = 0, epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
         limit: int = 50, points: object = None, weight: object = None, wvar: object = None,
         wopts: object = None, maxp1: int = 50, limlst: int = 50,
         complex_func: bool = False) -> tuple[Any, ...]:
    """Return the integral of a function from a to b, and an estimate of the error."""
    refuse_kinds(full_output, points, weight)
    if complex_func:
        parts = [quad(functools.partial(part_of, func, k), a, b, args, 0, epsabs, epsrel, limit)
                 for k in (0, 1)]
        return (parts[0][0] + 1j * parts[1][0], parts[0][1] + 1j * parts[1][1])
    given = args if isinstance(args, tuple) else (args,)
    found = integrated(Integrand(func, given), a, b, epsabs, epsrel, limit)
    return as_numbers(*found[:2])


def refuse_kinds(full_output: object, points: object, weight: object) -> None:
    """Refuse settings of `quad` for which there are other methods."""
    if full_output or points is not None or weight is not None:
        raise refuse("scipy.integrate.quad with full_output=, points= or weight= cannot be "
                     "captured", "Add the integrals between the points, or write the weight as "
                     "a factor", "TJ203")


def as_numbers(value: object, error: object) -> tuple[Any, ...]:
    """Return an integral and its error as Python numbers."""
    found = (value, stop_gradient(error))
    return tuple(scalar_of(as_tracer(x).value, weak=True) if isinstance(x, TracedOperand)
                 else float(np.asarray(x)[()]) for x in found)


class Integrand:
    """A user's function of a number and arguments that is integrated.

    is_apart -- whether it is captured as a block in any case
    """

    is_apart = False

    def __init__(self, f: Callable[..., object], args: tuple[object, ...]) -> None:
        self.f, self.args = f, args

    def value(self, x: object) -> tuple[Any, Any]:
        """Return the value at a place, and the largest error of integrals that it tells of."""
        y = call_function(float, (call_function(self.f, (x, *self.args), {}),), {})
        return y, 0.0

    def reads_traced(self) -> bool:
        """Return whether arguments, or what the function keeps, are traced, as far as is seen."""
        kept = [c.cell_contents for c in getattr(self.f, "__closure__", None) or ()
                if c != CellType()]
        return any(isinstance(x, TracedOperand) for x in (*self.args, *kept))


def integrated(f: Integrand, a: object, b: object, epsabs: object = 1.49e-8,
               epsrel: object = 1.49e-8, limit: object = 50) -> tuple[Any, Any, Any]:
    """Return the integral of a function, its error, and the largest error that it tells of."""
    most = operator.index(limit)  # type: ignore[arg-type]
    if most < 1:
        raise ValueError("Invalid 'limit' argument. There must be at least one subinterval")
    absolute, relative = _number(epsabs), _number(epsrel)
    require((absolute > 0.0) | (relative >= max(50.0 * _EPS, 5e-29)), ValueError,
            "If 'epsabs'<=0, 'epsrel' must be greater than both 5e-29 and 50*(machine epsilon).")
    start, end = _number(a), _number(b)
    if isinstance(start, float) and isinstance(end, float) and start == end:
        return 0.0, 0.0, 0.0
    low, high, sign = _ordered(start, end)
    value, error, inner = _rising(f, low, high, (absolute, relative), most)
    return sign * value, error, inner


def _rising(f: Integrand, low: object, high: object, tolerances: tuple[object, ...],
            most: int) -> tuple[Any, Any, Any]:
    """Return an integral from its lower end to its upper end, and the estimates of errors."""
    _require_finite(low, high)
    is_open = [isinstance(x, float) and np.isinf(x) for x in (low, high)]
    kind = 2 if all(is_open) else -1 if is_open[0] else 1 if is_open[1] else 0
    common: tuple[object, ...] = (low, high, 0.0, 0)
    if kind:
        bound = 0.0 if kind == 2 else high if kind == -1 else low
        common = (0.0, 1.0, bound, kind)
    fine = [np.maximum(x * x, 1e-16) for x in tolerances]  # type: ignore[operator]
    settings = (*common, *tolerances, most), (*common, *fine, max(most, _FINE_LIMIT))
    is_traced = f.reads_traced() or isinstance(low, TracedOperand) or isinstance(
        high, TracedOperand)
    value, error, inner = _as_blocks(f, *settings) if _is_apart(f, is_traced) else _as_called(
        f, *settings)
    if isinstance(low, TracedOperand) and not kind:
        is_zero = (low == high) & ~np.isfinite(value)  # SciPy calls nothing where ends are equal
        value, error = (np.where(is_zero, 0.0, x) for x in (value, error))
    return value, error, inner


def _is_apart(f: Integrand, is_traced: bool) -> bool:
    """Return whether an integrand is captured as a block, once for each way of an integral.

    Python calls it at several places of a loop in a loop, each of which is traced more than once:
    an integral within would be captured some thirty times, and one within that a thousand times.
    """
    around, trace = _AROUND.get(), current()
    if around in ("value", "fine") or trace.integrands_apart:
        return True
    if around == "called" and trace.restarts and (f.is_apart or is_traced):
        raise NeedIntegrands
    return f.is_apart


def _as_called(f: Integrand, settings: tuple[object, ...],
               fine: tuple[object, ...]) -> tuple[Any, Any, Any]:
    """Return an integral whose function is called at each place, as in Python."""
    given = functools.partial(exact, f.f)
    with _around("called"):
        value, error, inner = call_function(integral, (given, *settings, f.args), {})
        if not isinstance(value, TracedOperand):
            return value, error, inner
        block = computed_again((f.f, f.args), (), lambda: cast(as_tracer(call_function(
            integral, (given, *fine, f.args), {})[0]), np.float64), _ROLE)
    (finer,) = inline_region(block, [])
    value = implied("same", [cast(as_tracer(value), np.float64)], tracer_of(finer))[0]
    return value, error, inner


def _as_blocks(f: Integrand, settings: tuple[object, ...],
               fine: tuple[object, ...]) -> tuple[Any, Any, Any]:
    """Return an integral whose function is captured apart; integrals in it go one way alone.

    Those within the value have no derivative of their own, and those within the finer sum, of
    which the derivative is taken, are such sums.
    """
    around = _AROUND.get()
    value = error = inner = None
    if around != "fine" or not f.is_apart:
        value, error, inner = _one_way(f, settings, "value")
    if around == "value":
        return value, error, inner
    finer = _one_way(f, fine, "fine")
    if around == "fine":
        return finer[0], finer[1] if error is None else error, finer[2]
    value = implied("same", [cast(as_tracer(value), np.float64)], as_tracer(finer[0]))[0]
    return value, error, inner


def _one_way(f: Integrand, settings: tuple[object, ...], way: str) -> tuple[Any, ...]:
    place = Value(scalar(np.float64), "x")

    def both() -> tuple[Any, ...]:
        return tuple(cast(as_tracer(y), np.float64) for y in f.value(scalar_of(place, weak=True)))

    with _around(way):
        block = computed_again((f,), (place,), both, _ROLE, shows=way == "value")

    def at(x: object) -> tuple[Any, ...]:
        found = inline_region(block, [atom_of(cast(as_tracer(x), np.float64))])
        return tuple(scalar_of(value_of(y).value, weak=True) for y in found)

    return tuple(cast(as_tracer(y), np.float64) for y in call_function(
        integral, (at, *settings, ()), {}))


scipy_captures("scipy.integrate", {"quad": calling_back(quad)})
