"""Generator expressions as arguments: taken whole, in part, twice, or looked at as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.0, 2.0, 3.0])


def twice(g: Any) -> Any:
    return sum(g) + sum(g)


def first_two(g: Any) -> Any:
    return next(g) + next(g) * 10


TAKERS: list[Callable[[Any], Any]] = [
    lambda x: next(v * 2 for v in x), lambda x: next(v * x[0] for v in [2.0, 3.0]),
    lambda x: next((v for v in [1.0, 2.0] if v > 1.5), None) * x[0],
    lambda x: next((v for v in [1.0, 2.0] if v > 5), x[1]),
    lambda x: x[next(i for i in range(len(x)) if i > 1)],
    lambda x: x[next(i for i, v in enumerate([3.0, 4.0]) if v > 3)],
    lambda x: next((i for i in range(5) if i > 9), -1) * x[0],
    lambda x: next(iter(v * 2 for v in x)), lambda x: sum(v * v for v in x),
    lambda x: twice(v for v in x), lambda x: first_two(v for v in x),
    lambda x: x[0] if bool(v for v in []) else x[1],
    lambda x: x[0] if isinstance((v for v in x), list) else x[1],
    lambda x: x[0] if hasattr((v for v in x), "append") else x[1]]


@pytest.mark.parametrize("number", range(len(TAKERS)))
def test_generator_expressions_are_what_they_are_in_python(number: int) -> None:
    f = TAKERS[number]
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(X) == f(X)
        slope = tracejit.grad(f)(X)
    for k in range(3):
        h = np.eye(3)[k] * 1e-6
        assert slope[k] == pytest.approx((f(X + h) - f(X - h)) / 2e-6, abs=1e-6)


def test_the_length_of_a_generator_is_refused_as_in_python() -> None:
    with pytest.raises(TypeError, match="has no len"):
        tracejit.jit(lambda x: len(v for v in x) * x[0])(X)
