"""What a program asks of a range whose ends the call decides, or whether a traced number is in one.

The oracle is Python: value and type.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

RANGES = ("range(k)", "range(1, k)", "range(k, -3, -1)", "range(0, 3 * k, 3)", "range(k, -9, -2)",
          "range(2, 9, k)", "range(4)", "range(9, 2, -3)", "range(-3, n)", "range(0)")
NUMBERS = ("k", "k + 1", "-2", "0", "3", "n", "np.uint8(n)", "np.float32(n)", "float(k)", "k / 2",
           "x", "x * np.nan", "x * np.inf", "(n > 0)", "True", "'a'", "None")
QUESTIONS = ("R.start", "R.stop", "R.step", "len(R)", "bool(R)", "isinstance(R, range)", "type(R)",
             "hasattr(R, 'start')", "hasattr(R, 'lo')", "getattr(R, 'reverse', 7)", "list(R)",
             "R.count(2)", "R.index(2)", "R == 3", "R != [1]", "R is None")
INPUTS = ((2, np.int64(3), 1.5), (1, np.int64(-2), 2.0), (4, np.int64(2), -0.0),
          (0, np.int64(0), 3.0))


def made(expression: str) -> Callable[..., Any]:
    source = f"def f(k, n, x):\n    return {expression}\n"
    name = f"<range {expression}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


def outcome(call: Callable[..., Any], args: tuple[object, ...]) -> object:
    try:
        found = call(*args)
    except (ValueError, AttributeError, IndexError) as error:
        return type(error).__name__
    return (type(found), found)


def agrees(expression: str) -> int:
    """Compare the calls of one program with Python's; return how many there were."""
    function = made(expression)
    program = tracejit.jit(function)
    with tracejit.config(disable_jit=True):
        for args in INPUTS:
            assert outcome(program, args) == outcome(function, args), (expression, args)
    return len(INPUTS)


@pytest.mark.parametrize("numbers", RANGES)
def test_a_number_is_in_a_range_as_in_python(numbers: str) -> None:
    assert sum(agrees(f"{x} {word} {numbers}") for x in NUMBERS for word in ("in", "not in"))


@pytest.mark.parametrize("numbers", RANGES)
def test_ranges_are_equal_as_in_python(numbers: str) -> None:
    assert sum(agrees(f"{numbers} {o} {other}") for other in RANGES for o in ("==", "!="))


@pytest.mark.parametrize("numbers", RANGES)
def test_a_range_answers_as_pythons(numbers: str) -> None:
    assert sum(agrees(question.replace("R", numbers)) for question in QUESTIONS)


@pytest.mark.parametrize("expression", [
    "hash(range(k))", "{range(k): 1}", "str(range(k))", "f'{range(k)}'",
    "[range(k)] == [range(0, k)]", "range(k).__len__()"])
def test_questions_that_the_call_decides_are_refused(expression: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(
            tracejit.Refusal, match="range whose ends the call decides"):
        tracejit.jit(made(expression))(*INPUTS[0])


def in_a_loop(x: np.ndarray, n: int) -> Any:
    total = 0.0
    numbers = range(1, n)
    for j in range(len(x)):
        if j in numbers:
            total += x[j] ** 2
        elif j not in range(0, len(x), 2):
            total = total * x[j]
    return total


def test_a_loop_asks_for_each_turn() -> None:
    x = np.array([0.5, -1.5, 2.0, 3.0, 1.1])
    for n in (3, 1, 4, 9):
        value, x_bar = tracejit.value_and_grad(in_a_loop)(x, n)
        assert value == in_a_loop(x, n)
        differences = [(in_a_loop(x + 1e-6 * e, n) - in_a_loop(x - 1e-6 * e, n)) / 2e-6
                       for e in np.eye(5)]
        np.testing.assert_allclose(x_bar, differences, rtol=1e-6, atol=1e-7)
