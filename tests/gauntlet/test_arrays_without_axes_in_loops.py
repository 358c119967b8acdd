"""A name that holds an array without axes in some turns of a loop, and a number in others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

# --- questions: what tells an array without axes from a number ------------------------------------


def kind(y: Any) -> float:
    return 1.0 if isinstance(y, np.ndarray) else 2.0 if isinstance(y, np.floating) else 3.0


def divided(y: Any) -> Any:
    try:
        return 1.0 / (y - y)
    except ZeroDivisionError:
        return 7.0


def set_as_item(y: Any) -> float:
    try:
        y[()] = 9.0
    except TypeError:
        return 5.0
    return 2.0


def augmented_as_item(y: Any) -> float:
    try:
        y[()] += 2.0
    except TypeError:
        return 5.0
    return 2.0


def augmented(y: Any) -> Any:
    y += 1.0
    return y


def augmented_copy(y: Any) -> Any:
    w = np.asarray(y)
    w += 1.0
    return w


def raveled(y: Any) -> float:
    np.ravel(y)[0] = 9.0
    return 1.0


def filled(y: Any) -> float:
    if isinstance(y, np.ndarray):
        y.fill(3.0)
    return 1.0


def put_out(y: Any) -> float:
    if isinstance(y, np.ndarray):
        np.add(y, 1.0, out=y)
    return 1.0


def copied_onto(y: Any) -> float:
    try:
        np.copyto(y, 4.0)
    except TypeError:
        return 5.0
    return 1.0


def hashed(y: Any) -> float:
    try:
        return 1.0 if hash(y) == hash(0.25) else 2.0
    except TypeError:
        return 3.0


def held(y: Any) -> float:
    try:
        return 1.0 if 0.25 in y else 2.0
    except TypeError:
        return 3.0


def shown(y: Any) -> float:
    try:
        return float(len(f"{y:.3f}"))
    except TypeError:
        return 2.0


def the_larger_one(y: Any) -> Any:
    return kind(max(y, 0.2)) + kind(min(0.3, y)) * 10


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "kind": kind, "divided": divided, "set": set_as_item, "item augmented": augmented_as_item,
    "augmented": augmented, "augmented copy": augmented_copy, "raveled": raveled, "filled": filled,
    "out=": put_out, "np.copyto": copied_onto, "hash": hashed, "in": held, "text": shown,
    "max": the_larger_one, "type": lambda y: float(len(type(y).__name__)),
    "copy": lambda y: y.copy() * 2, "sum": lambda y: y.sum(), "dtype": lambda y: y.itemsize,
    "in a list": lambda y: kind([y, 1.0][0]), "item": lambda y: kind(y[()]),
    "in float32": lambda y: (np.ones(1, np.float32) * y)[0] * 1e8,
    "list times": lambda y: np.sum([1.0, 2.0] * y), "closure": lambda y: (lambda: kind(y))(),
    "square": lambda y: y * y, "np.sin": np.sin, "compared": lambda y: 1.0 if y > 0.2 else 2.0,
    "all of it": lambda y: np.sum(y) + float(y) + abs(y) + np.mean([y, y])}


# --- loops: y is `first()` in the first turn, and `then(y)` later ---------------------------------

Made = Callable[[Any, Any], Any]


def in_a_for(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y, s = first(x), 0.0
        for k in range(20):
            s = s + ask(y) * (k + 1) * x
            y = then(y, x)
        return s + y
    return f


def in_a_while(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y, s, t = first(x), 0.0, 0.0
        while t < abs(x):
            s = s + ask(y) * x
            y, t = then(y, x), t + 0.2
        return s + y + ask(y)
    return f


def in_two_loops(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        s = 0.0
        for _ in range(20):
            y = first(x)
            for k in range(20):
                s = s + ask(y) * (k + 1) * x
                y = then(y, x)
        return s + y
    return f


def in_an_attribute(first: Any, then: Made, ask: Any) -> Any:
    class Holder:
        y: Any

    def f(x: float) -> Any:
        holder, s = Holder(), 0.0
        holder.y = first(x)
        for _ in range(20):
            s = s + ask(holder.y) * x
            holder.y = then(holder.y, x)
        return s + holder.y
    return f


def in_a_tuple(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        pair, s = (first(x), 1.0), 0.0
        for k in range(20):
            s = s + ask(pair[0]) * x
            pair = then(pair[0], x), s * 0.1 + k
        return s + pair[0]
    return f


def in_a_comprehension(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y, s = first(x), 0.0
        for _ in range(20):
            s = s + sum([ask(y) * k for k in range(3)]) * x
            y = then(y, x)
        return s + y
    return f


def with_another_name(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y = z = first(x)
        s = 0.0
        for k in range(20):
            s = s + ask(y) * (k + 1) * x
            y = then(y, x)
        return s + y + 10 * z
    return f


def of_which_another_is_written(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y = z = first(x)
        s = 0.0
        for k in range(20):
            z += 1.0
            s = s + (ask(y) + y) * (k + 1) * x
            y = then(y, x)
        return s + y + 10 * z
    return f


def after_a_choice(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y, s = first(x), 0.0
        for k in range(20):
            if x > k * 0.1:
                y = then(y, x)
            s = s + ask(y) * x
        return s + y
    return f


def after_it_all(first: Any, then: Made, ask: Any) -> Any:
    def f(x: float) -> Any:
        y, t = first(x), 0.0
        while t < x:
            y, t = then(y, x), t + 0.4
        return ask(y) * x + y
    return f


LOOPS = [in_a_for, in_a_while, in_two_loops, in_an_attribute, in_a_tuple, in_a_comprehension,
         with_another_name, of_which_another_is_written, after_a_choice, after_it_all]

CHANGES: dict[str, tuple[Callable[[Any], Any], Made]] = {
    "an array, then NumPy's numbers": (lambda x: np.array(0.25), lambda y, x: y * 0.5),
    "an array of data, then NumPy's": (lambda x: np.array(0.25 * x), lambda y, x: y * 0.5 + x),
    "an array, then Python's numbers": (lambda x: np.array(0.25), lambda y, x: 0.25),
    "Python's, then arrays": (lambda x: 0.25, lambda y, x: np.array(0.5)),
    "NumPy's, then arrays": (lambda x: np.float64(0.25), lambda y, x: np.array(y * 0.5)),
    "an array, then data": (lambda x: np.array(0.25), lambda y, x: x * 0.25)}


def outcome(function: Callable[[float], Any], x: float) -> Any:
    """Return a result as an array, `"refused"`, or `"an error"`."""
    try:
        return np.asarray(function(x), float)
    except tracejit.Refusal:
        return "refused"
    except (ArithmeticError, TypeError, ValueError, AttributeError):
        return "an error"


def agree(found: Any, wanted: Any) -> bool:
    if isinstance(found, str) or isinstance(wanted, str):
        return isinstance(found, str) and found in ("refused", wanted)
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-11, equal_nan=True)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("ignore")
def test_an_array_without_axes_or_a_number_is_what_it_is_in_each_turn(
        loop: Any, change: str) -> None:
    first, then = CHANGES[change]
    for name, ask in QUESTIONS.items():
        f = loop(first, then, ask)
        captured = tracejit.jit(f)
        with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
            results = [(outcome(captured, x), outcome(f, x)) for x in (1.3, -0.7)]
        assert all(itertools.starmap(agree, results)), (name, results)


# --- programs that stay captured ------------------------------------------------------------------


def total(x: float) -> Any:
    s = np.array(0.0)
    for k in range(50):
        s += x * k
    return s


def total_of_numbers(x: float) -> Any:
    s = np.zeros(())
    for k in range(50):
        s = s + x * k
    return s / (1.0 + x * x)


def total_of_sums(x: float) -> Any:
    s = 0.0
    for k in range(50):
        s = s + np.sum(np.arange(3.0) * x) * k
    return s


def damped(x: float) -> Any:
    s = np.zeros(())
    for _ in range(50):
        s += x
        s = s * 0.9
    return s


def polynomials(x: float) -> Any:
    c = np.arange(20.0)
    return np.polyval(c, x * 0.1) + np.polyval(c, np.array(x * 0.1)) + np.polyval(c, 0.5) * x


def iterated_polynomial(x: float) -> Any:
    s = 0.0
    for _ in range(20):
        s = np.polyval(np.arange(5.0), s * 0.01 + x * 0.1)
    return s


def horner_that_asks(x: float) -> Any:
    y = np.zeros(())
    for k in range(20):
        y = y * (0.3 * x) + kind(y) * k
    return y


def largest(x: float) -> Any:
    y = np.array(-9.0)
    for k in range(20):
        y = max(y, x * k - k * k * 0.1)
    return y * x


def of_clips(x: float) -> Any:
    y = np.array(0.0)
    s = 0.0
    for _ in range(20):
        s += kind(y) * x
        y = np.clip(y + x, -3.3, 3.3)
    return s + y * x


def counted(x: float) -> Any:
    y, turns, kinds = np.array(0.5), 0, 0.0
    while y < 3.0:
        y, turns, kinds = y + 0.3 * x * x, turns + 1, kinds + kind(y)
    return y * turns + kinds * x


def in_nested_loops(x: float) -> Any:
    s = 0.0
    for k in range(20):
        y = np.zeros(())
        for _ in range(20):
            s += kind(y) * x * k
            y = y + x
    return s + y


def with_exceptions(x: float) -> Any:
    y, s = 0.0, 0.0
    for _ in range(20):
        try:
            s += x / y
        except ZeroDivisionError:
            s += 100.0 * x
        y = np.array(2.0)
    return s


ORDINARY = [total, total_of_numbers, total_of_sums, damped, polynomials, iterated_polynomial,
            horner_that_asks, largest, of_clips, counted, in_nested_loops, with_exceptions]


@pytest.mark.parametrize("f", ORDINARY)
def test_ordinary_loops_from_arrays_without_axes_are_captured(f: Any) -> None:
    captured, gradient = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        for x in (1.35, -0.7):
            np.testing.assert_allclose(captured(x), f(x), rtol=1e-12)
            difference = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            np.testing.assert_allclose(gradient(x), difference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [damped, horner_that_asks, counted])
def test_compiled_loops_from_arrays_without_axes_have_pythons_values(f: Any) -> None:
    captured = tracejit.jit(f)
    for x in (1.35, -0.7):
        np.testing.assert_allclose(captured(x), f(x), rtol=1e-12)


def test_mapped_and_nested_functions_ask_which_it_is() -> None:
    points = np.array([0.3, -0.7, 1.2])
    with tracejit.config(disable_jit=True):
        for function in (tracejit.vmap(horner_that_asks), lambda v: np.array([
                tracejit.jit(lambda t: horner_that_asks(t) + 0.0 * t)(p) for p in v])):
            np.testing.assert_allclose(
                function(points), [horner_that_asks(p) for p in points], rtol=1e-12)
        second = tracejit.grad(lambda x: tracejit.grad(horner_that_asks)(x) * x)
        first = tracejit.grad(horner_that_asks)
        difference = ((0.4 + 1e-5) * first(0.4 + 1e-5) - (0.4 - 1e-5) * first(0.4 - 1e-5)) / 2e-5
        np.testing.assert_allclose(second(0.4), difference, rtol=1e-6)


# --- numbers alone --------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [set_as_item, augmented_as_item, copied_onto])
def test_numbers_are_not_written_to(write: Any) -> None:
    def numpys(x: float) -> Any:
        y = np.sin(x)
        return write(y) + y

    def pythons(x: float) -> Any:
        y = x * 2.0
        return write(y) + y

    def array(x: float) -> Any:
        y = np.array(x)
        return write(y) + y

    for f in (numpys, pythons, array):
        with tracejit.config(disable_jit=True):
            assert tracejit.jit(f)(0.7) == f(0.7)
