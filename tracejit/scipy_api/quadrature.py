"""`scipy.integrate.quad` and its kin: integrals of functions, with derivatives through their steps.

The steps are QUADPACK's. The derivative of an integral is one, too, over intervals of its own
(`autodiff/integrals.py`).
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

from tracejit.autodiff.integrals import integral_of, with_makers
from tracejit.autodiff.solutions import closed, value_of
from tracejit.errors import NotCaptured
from tracejit.ir.core import Value
from tracejit.ir.types import scalar
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.scipy_api.objectives import computed_again
from tracejit.scipy_api.plain_integrands import (
    exact,
    part_of,
    rule_of_derivatives,
    substituted,
)
from tracejit.scipy_api.plain_quadrature import integral
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.ground.restarts import NeedIntegrands
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import atom_of, cast, lift
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import scalar_of

__all__ = ["Integrand", "as_numbers", "integrated", "refuse_kinds"]

_EPS = float(np.finfo(float).eps)
_IS_WITHIN: ContextVar[str] = ContextVar("within which kind of integrand this is", default="")
""""" for none, "called" for one that is called at each place, "block" for one captured apart."""
_ROLE = "which is integrated"


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
def _within(kind: str) -> Iterator[None]:
    token = _IS_WITHIN.set(kind)
    try:
        yield
    finally:
        _IS_WITHIN.reset(token)


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
    is_traced = f.reads_traced() or isinstance(low, TracedOperand) or isinstance(
        high, TracedOperand)
    way = _as_block if _is_apart(f, is_traced) else _as_called
    value, error, inner = way(f, common, (*tolerances, most))
    if isinstance(low, TracedOperand) and not kind:
        is_zero = (low == high) & ~np.isfinite(value)  # SciPy calls nothing where ends are equal
        value, error = (np.where(is_zero, 0.0, x) for x in (value, error))
    return value, error, inner


def _is_apart(f: Integrand, is_traced: bool) -> bool:
    """Return whether an integrand is captured once, as a block.

    Python calls it at several places of a loop in a loop, each of which is traced more than once:
    an integral within would be captured some thirty times, and one within that a thousand times.
    """
    is_within, trace = _IS_WITHIN.get(), current()
    if is_within == "block" or trace.integrands_apart:
        return True
    if is_within == "called" and trace.restarts and (f.is_apart or is_traced):
        raise NeedIntegrands
    return f.is_apart


def _as_called(f: Integrand, over: tuple[object, ...],
               settings: tuple[object, ...]) -> tuple[Any, Any, Any]:
    """Return an integral whose function is called at each place, as in Python."""
    with _within("called"):
        value, error, inner = call_function(
            integral, (functools.partial(exact, f.f), *over, *settings, f.args), {})
    if isinstance(value, TracedOperand):
        value = _derivable(value, lambda x: f.value(x)[0], f, over)
    return value, error, inner


def _as_block(f: Integrand, over: tuple[object, ...],
              settings: tuple[object, ...]) -> tuple[Any, Any, Any]:
    """Return an integral whose function is captured apart."""
    place = Value(scalar(np.float64), "x")

    def both() -> tuple[Any, ...]:
        return tuple(cast(as_tracer(y), np.float64) for y in f.value(scalar_of(place, weak=True)))

    with _within("block"):
        block = computed_again((f,), (place,), both, _ROLE, shows=True)

    def at(x: object) -> tuple[Any, ...]:
        found = inline_region(block, [atom_of(cast(as_tracer(x), np.float64))])
        return tuple(scalar_of(value_of(y).value, weak=True) for y in found)

    value, error, inner = (cast(as_tracer(y), np.float64) for y in call_function(
        integral, (at, *over, *settings, ()), {}))
    return _derivable(value, lambda x: at(x)[0], None, over), error, inner


def _derivable(value: object, f: Callable[[object], object], holder: Integrand | None,
               over: tuple[object, ...]) -> Any:
    """Return an integral's value with the derivatives of the integral.

    holder -- the user's function and its arguments, if `f` calls them
    over -- the ends of the interval, or 0, 1, and the bound and the kind of a range without end
    """
    inputs = [Value(scalar(np.float64), name) for name in ("distance", "is_far")]
    held = () if holder is None else (holder.f, holder.args)

    def both() -> tuple[Any, ...]:
        given = [scalar_of(v, weak=True) for v in inputs]
        x, y = call_function(substituted, (f, *given, *over), {})
        return stop_gradient(cast(as_tracer(x), np.float64)), cast(as_tracer(y), np.float64)

    with _within("block"):
        (closed_block,) = closed([with_makers(computed_again(held, tuple(inputs), both, _ROLE))])
    rule = [atom_of(lift(x)) for x in call_function(rule_of_derivatives, (), {})]
    found = integral_of([cast(as_tracer(value), np.float64).value], rule, closed_block.block,
                        closed_block.given)
    return scalar_of(found[0].value, weak=True)


scipy_captures("scipy.integrate", {"quad": calling_back(quad)})
