"""Numbers of classes of their own, as `enum.IntEnum` makes them: operands as NumPy takes them."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit


class Colour(enum.IntEnum):
    """Ints."""

    TWO, NONE, LESS = 2, 0, -3


class Half(float, enum.Enum):
    """Floats."""

    HALF = 0.5


class Float(float):
    """A float, and nothing more."""


class Int(int):
    """An int, and nothing more."""


class OwnInt(int):
    """An int with operators of its own."""

    def __radd__(self, other: object) -> float:
        return 100.0

    def __lt__(self, other: object) -> bool:
        return True

    __rmul__ = __rand__ = __radd__


class OwnFloat(float):
    """A float with operators of its own."""

    def __radd__(self, other: object) -> float:
        return 100.0

    __lt__, __rmul__, __rand__ = OwnInt.__lt__, __radd__, __radd__


NUMBERS = [*Colour, Half.HALF, Float(2.5), Int(3)]
OPERATORS: list[Callable[..., Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.eq, operator.and_, np.maximum, np.hypot, np.power,
    np.arctan2]
OPERANDS = [np.array([1.5, 2.0]), np.float32([1.5, 2]), np.array([3, 4]), np.int8([3, 4]), 1.5, 3,
            np.float32(1.5), np.int8(3), True, np.array([True, False]), 1.5 + 1j]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("fn", OPERATORS, ids=lambda f: f.__name__)
def test_operators_of_classes_of_numbers_are_numpys(fn: Callable[..., Any], number: Any) -> None:
    for f in (lambda x: fn(x, number), lambda x: fn(number, x)):
        for x in OPERANDS:
            with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
                wanted, found = outcome(f, x), outcome(tracejit.jit(f), x)
            if isinstance(found, tracejit.Refusal):
                continue  # complex powers of Python's numbers, say
            assert type(found) is type(wanted)
            if not isinstance(wanted, Exception):
                assert np.asarray(found).dtype == np.asarray(wanted).dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_classes_of_numbers_are_indices_sizes_and_keys() -> None:
    def f(x: Any) -> Any:
        rows = {Colour.TWO: x * 2.0, Colour.NONE: x}
        return (rows[Colour(2)] * Colour.TWO).sum() + x[Colour.TWO:].sum() + (
            np.arange(Colour.TWO) @ x[:Colour.TWO]) + sum([x[0]] * Colour.TWO) + x[Colour.NONE]

    for n in (3, 5):
        x = np.linspace(0.5, 2.0, n)
        value, slope = tracejit.value_and_grad(f)(x)
        assert value == pytest.approx(f(x))
        h = 1e-6 * np.eye(n)
        assert slope == pytest.approx([(f(x + e) - f(x - e)) / 2e-6 for e in h])


@pytest.mark.parametrize("number", [OwnInt(3), OwnFloat(3.0)], ids=repr)
def test_pythons_rule_says_whose_operator_is_asked_first(number: Any) -> None:
    """A float takes an int of any class, an int takes no float; a subclass goes first."""
    functions = (lambda x: x + number, lambda x: 2.0 * number * x, lambda x: x * number,
                 lambda x: x > number, lambda x: x & number, lambda x: sum([number, number]) * x)
    for f in functions:
        for x in (1.5, 5, 1.5 + 1j, np.float64(1.5), np.int8(5), np.float32(1.5), True):
            with tracejit.config(disable_jit=True):
                wanted, found = outcome(f, x), outcome(tracejit.jit(f), x)
            assert type(found) is type(wanted)
            assert isinstance(wanted, Exception) or found == wanted
