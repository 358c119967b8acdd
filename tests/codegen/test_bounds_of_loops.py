"""Loops over ints next to the ends of int64 run as often as Python's, on both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tracejit

LARGEST, SMALLEST = 2 ** 63 - 1, -2 ** 63


def up(x: float, a: int, b: int) -> Any:
    s = 0.0
    for i in range(a, b):
        s = s + x * (i % 7)
    return s


def down(x: float, a: int, b: int) -> Any:
    s = 0.0
    for i in range(a, b, -1):
        s = s + x * (i % 7)
    return s


def by_threes(x: float, a: int, b: int) -> Any:
    s = 0.0
    for i in range(a, b, 3):
        s = s * 1.5 + x * (i % 7)
    return s


def nested(x: float, a: int, b: int) -> Any:
    s = 0.0
    for _ in range(2):
        for i in range(a, b):
            s = s * 1.1 + x * (i % 7)
    return s


UPWARD = [(3, 9), (9, 3), (LARGEST - 10, LARGEST), (LARGEST, LARGEST), (SMALLEST, SMALLEST + 9),
          (SMALLEST, SMALLEST), (-4, 5), (2 ** 62, 2 ** 62 + 5)]
DOWNWARD = [(9, 3), (3, 9), (LARGEST, LARGEST - 9), (SMALLEST + 9, SMALLEST), (5, -4)]


@pytest.mark.parametrize("f", [up, by_threes, nested, down], ids=lambda f: f.__name__)
def test_iterations_are_pythons(f: Callable[..., Any]) -> None:
    compute = tracejit.value_and_grad(f)
    for a, b in DOWNWARD if f is down else UPWARD:
        value, slope = compute(1.25, a, b)
        assert value == pytest.approx(f(1.25, a, b), rel=1e-12)
        assert slope == pytest.approx(f(1.0, a, b), rel=1e-12)
