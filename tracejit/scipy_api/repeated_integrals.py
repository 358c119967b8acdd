"""`scipy.integrate.dblquad`, `tplquad` and `nquad`: integrals of integrals, by those of `quad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.scipy_api.plain_integrands import ends_of, of_others
from tracejit.scipy_api.quadrature import Integrand, as_numbers, integrated, refuse_kinds
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []


class Repeated(Integrand):
    """The integrand of an integral of several numbers, or its integral over the first of them.

    limits, options -- functions of the other numbers, or what they give, of the levels from the
                       innermost on
    """

    is_apart = True

    def __init__(self, f: Callable[..., object], limits: Sequence[object],
                 options: Sequence[object], args: tuple[object, ...]) -> None:
        super().__init__(f, args)
        self.limits, self.options = limits, options

    def value(self, x: object) -> tuple[Any, Any]:
        """Return the value at a place of the outermost number, and the largest error within."""
        if len(self.limits) == 1:
            return super().value(x)
        inner = Repeated(self.f, self.limits[:-1], self.options[:-1], (x, *self.args))
        return inner.integral()

    def integral(self) -> tuple[Any, Any]:
        """Return the integral over all numbers, and the largest of all errors."""
        low, high = call_function(ends_of, (self.limits[-1], self.args), {})
        settings = dict(call_function(of_others, (self.options[-1], self.args), {}))
        refuse_kinds(settings.pop("full_output", 0), settings.pop("points", None),
                     settings.pop("weight", None))
        if settings.pop("complex_func", False):
            raise refuse("an integral of several numbers with complex_func= cannot be captured",
                         "Integrate the real and the imaginary part", "TJ203")
        for unread in ("wvar", "wopts", "maxp1", "limlst"):
            settings.pop(unread, None)
        value, error, inner = integrated(self, low, high, **settings)
        if not any(isinstance(x, TracedOperand) for x in (error, inner)):
            return value, max(error, inner)
        return value, np.maximum(error, inner)


def nquad(func: Callable[..., object], ranges: Sequence[object], args: object = None,
          opts: object = None, full_output: bool = False) -> tuple[Any, ...]:
    """Return the integral of a function of several numbers, and the largest of all errors."""
    refuse_kinds(full_output, None, None)
    levels: Any = list(ranges)
    options: Any = [{} if opts is None else opts] * len(levels) if opts is None or isinstance(
        opts, dict) else list(opts)  # type: ignore[call-overload]
    given = () if args is None else tuple(args)  # type: ignore[arg-type]
    return as_numbers(*Repeated(func, levels, options, given).integral())


def dblquad(func: Callable[..., object], a: object, b: object, gfun: object, hfun: object,
            args: object = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8) -> Any:
    """Return the integral of a function of y and x over x from a to b, and y between functions."""
    def inner(*x: object) -> object:
        return [call_function(of_others, (of, x[:1]), {}) for of in (gfun, hfun)]

    return nquad(func, [inner, [a, b]], args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(func: Callable[..., object], a: object, b: object, gfun: object, hfun: object,
            qfun: object, rfun: object, args: object = (), epsabs: float = 1.49e-8,
            epsrel: float = 1.49e-8) -> Any:
    """Return the integral of a function of z, y and x."""
    def innermost(*x: object) -> object:
        return [call_function(of_others, (of, x[1::-1]), {}) for of in (qfun, rfun)]

    def inner(*x: object) -> object:
        return [call_function(of_others, (of, x[:1]), {}) for of in (gfun, hfun)]

    return nquad(func, [innermost, inner, [a, b]], args, {"epsabs": epsabs, "epsrel": epsrel})


scipy_captures("scipy.integrate", {"nquad": calling_back(nquad), "dblquad": calling_back(dblquad),
                                   "tplquad": calling_back(tplquad)})
