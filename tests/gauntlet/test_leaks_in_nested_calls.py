"""A value that leaves its branch unseen is found before a derivative within a capture hides it.

The object that a branch reads from a long list holds values of the branch. The derivative of such a
program within another program read none of them, and was 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit


@dataclass
class Day:
    number: int
    cases: Any


def _days(x: Any, count: int) -> list[Day]:
    days = []
    for number in range(count):
        x = x * 1.1 - 0.1 * x * x
        days.append(Day(number, x))
    return days


def chosen_by_a_branch(x: Any) -> Any:
    days = _days(x, 13)
    best = days[0]
    if x > 0.5:
        best = days[1]
    return best.cases


def greatest_of_many(x: Any) -> Any:
    peak = max(_days(x, 14), key=lambda day: day.cases)
    return peak.cases + 0.01 * peak.number


def sorted_by_cases(x: Any) -> Any:
    days = sorted(_days(x, 14), key=lambda day: -day.cases)
    return days[2].cases * days[0].cases


PROGRAMS = (chosen_by_a_branch, greatest_of_many, sorted_by_cases)

WITHIN: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: tracejit.jit(lambda x: tracejit.grad(f)(x))(x),
    "compiled grad": lambda f, x: tracejit.jit(lambda x: _GRADIENTS[f](x))(x),
    "value_and_grad": lambda f, x: tracejit.jit(lambda x: tracejit.value_and_grad(f)(x)[1])(x),
    "vjp": lambda f, x: tracejit.jit(lambda x: tracejit.vjp(f, x)[1](1.0)[0])(x),
    "jvp": lambda f, x: tracejit.jit(lambda x: tracejit.jvp(f, (x,), (1.0,))[1])(x),
    "vmap": lambda f, x: tracejit.vmap(tracejit.grad(f))(np.array([x, 0.2]))[0],
    "jvp of grad": lambda f, x: tracejit.jvp(tracejit.grad(f), (x,), (1.0,))[0],
    "recompute_grad": lambda f, x: tracejit.grad(tracejit.recompute_grad(f))(x),
}
_GRADIENTS = {f: tracejit.grad(f) for f in PROGRAMS}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_within_programs_are_those_outside(f: Any, within: str) -> None:
    h = 1e-6
    with tracejit.config(disable_jit=True):
        for x in (0.31, 1.4):
            slope = (f(x + h) - f(x - h)) / (2.0 * h)
            assert WITHIN[within](f, x) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f: Any) -> None:
    h = 1e-4
    with tracejit.config(disable_jit=True):
        for x in (0.31, 1.4):
            curve = (f(x + h) - 2.0 * f(x) + f(x - h)) / (h * h)
            assert tracejit.hessian(f)(x) == pytest.approx(curve, rel=1e-4)
