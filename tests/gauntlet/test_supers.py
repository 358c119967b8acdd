"""`super()` wherever a method may have it: in branches, loops, choices, tries, functions within.

Python's own run is the oracle of values, differences of gradients. Parts of a method become
functions of their own, in whose frames `super()` would find neither a class nor an object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from list_laws import require_values_and_derivatives
from oracles import outcome

import tracejit

XS = [np.array([0.31, 1.27, 0.83, 0.44]), np.array([1.1, 0.45, 0.77, 1.93, 0.61, 0.27]),
      np.array([0.52, 0.7])]


class Base:
    rate = 2.0

    def m(self, v: Any) -> Any:
        return v * self.rate

    @classmethod
    def c(cls, v: Any) -> Any:
        return v * 3.0

    @property
    def p(self) -> float:
        return 5.0


class Derived(Base):
    def m(self, v):
        return super().m(v) * 2.0 if v > 0.5 else v

    def operands(self, v):
        return (super().m(v) > 0.7 and super().m(v) < 2.0) or super().m(v) > 3.0

    def in_a_loop(self, x):
        total = 0.0
        for v in x:
            if v > 0.5:
                total += super().m(v)
            else:
                total -= super().m(v) * 0.5
        return total

    def in_a_while(self, v):
        n = 0
        while super().m(v) < 3.0 and n < 10:
            v = super().m(v) * 0.7
            n += 1
        return v

    def chained(self, v):
        return 1.0 * v if 0.2 < super().m(v) < 1.5 else super().m(v)

    def tried(self, v):
        try:
            if super().m(v) > 1.0:
                raise ValueError
            return super().m(v)
        except ValueError:
            return super().m(v) * 7.0

    def asserted(self, v):
        assert super().m(v) > -100.0, super().m(v)
        return v

    def within(self, v):
        def half(this):
            return super().m(v) * 0.5 if v > 0.6 else super(Derived, self).m(v)

        return half(self) if v > 0.4 else v

    def of_a_lambda(self, v):
        step = lambda this: super().m(v) if v > 0.6 else v  # noqa: E731
        return step(self) * 2.0 if v > 0.4 else step(self)

    @classmethod
    def c(cls, v):
        return super().c(v) if v > 0.5 else -v

    @property
    def p(self):
        return super().p + 1.0 if self.rate > 1.0 else 0.0

    def each(self, x):
        for v in x:
            yield super().m(v) if v > 0.5 else v

    def made(self, v):
        class Inner(Base):
            def m(self, u):
                return super().m(u) + 1.0 if u > 0.5 else super().m(u)

        return Inner().m(v) if v > 0.4 else super().m(v)

    def matched(self, v):
        match v > 0.5:
            case True:
                return super().m(v)
            case _:
                return super().m(v) * 3.0

    def recursive(self, v, n=0):
        if v > 3.0 or n > 20:
            return v
        return self.recursive(super().m(v) * 0.6, n + 1) + 0.1 * super().m(v)


D = Derived()
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda x, name=name: sum(getattr(D, name)(v) for v in x) * x[0]
       for name in ("m", "in_a_while", "chained", "tried", "asserted", "within", "of_a_lambda",
                    "made", "matched", "recursive", "c")},
    "operands": lambda x: sum(v if D.operands(v) else 2.0 * v for v in x) * x[0],
    "in_a_loop": lambda x: D.in_a_loop(x) * x[0], "p": lambda x: D.p * x[0],
    "each": lambda x: sum(D.each(x)) * x[0]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_pythons_wherever_it_stands(name: str) -> None:
    require_values_and_derivatives(PROGRAMS[name], XS)


def test_what_python_raises_is_raised() -> None:
    class Lost(Base):
        def of_a_first_parameter(self, v):
            return (lambda u: super().m(u))(v)

        def of_none(*args):
            return super().m(args[1])

    for function in (lambda x: Lost().of_a_first_parameter(x), lambda x: Lost().of_none(x)):
        expected = outcome(function, 1.0)
        with tracejit.config(disable_jit=True):
            assert isinstance(outcome(tracejit.jit(function), 1.0), type(expected))
        assert isinstance(expected, (TypeError, RuntimeError))
