"""Numbers of classes of their own, items of an `IntEnum` say: chosen by data, as in Python."""

from __future__ import annotations

import enum
import linecache
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, directional

import tracejit


class Level(enum.IntEnum):
    """Ints with names."""

    LOW = 1
    HIGH = 2


class Flags(enum.IntFlag):
    """Ints that are sets."""

    P = 1
    Q = 2


class Meters(float):
    """A float with an operator of its own."""

    def __add__(self, other: float) -> Meters:
        return Meters(float(self) + float(other) + 100.0)


class Turn(complex):
    """A complex number with a name."""

    name = "turn"


class Count(int):
    """An int with an operator of its own."""

    def __mul__(self, other: Any) -> Any:
        return 50.0 * other


class Converted(int):
    """An int that is another one where something converts it, as NumPy does."""

    def __int__(self) -> int:
        return 5

    def __float__(self) -> float:
        return 9.0


class Rounded(float):
    """A float that is another one where something converts it."""

    def __float__(self) -> float:
        return 7.0


class Shifted(complex):
    """A complex number that is another one where something converts it, which NumPy does not."""

    def __complex__(self) -> complex:
        return 5j


PAIRS = {"IntEnum": ("Level.LOW", "Level.HIGH"), "IntFlag": ("Flags.P", "Flags.Q"),
         "status": ("HTTPStatus.OK", "HTTPStatus.NOT_FOUND"),
         "float": ("Meters(1.0)", "Meters(2.0)"),
         "int": ("Count(1)", "Count(2)"), "complex": ("Turn(1.0)", "Turn(2.0)"),
         "and a plain one": ("Level.LOW", "5")}
USES = {
    "is": "x * (2.0 if c is A else 3.0)",
    "equal": "x * (2.0 if c == A else 3.0)",
    "isinstance": "x * (2.0 if isinstance(c, type(A)) else 3.0)",
    "type": "x * (2.0 if type(c) is type(A) else 3.0)",
    "attribute": "x * len(getattr(c, 'name', 'none at all'))",
    "sum": "x * abs(c + 1.0)",
    "product": "abs(c * x)",
    "product from the right": "abs(x * c)",
    "key": "{A: 2.0, B: 3.0}[c] * x",
    "index": "np.arange(9.0)[c] * x",
    "slice": "np.sum(np.arange(9.0)[:c]) * x",
    "range": "sum([x * i + x for i in range(c)])",
    "array": "np.sum(np.abs(np.array([x, 2.0 * x]) * c))",
    "match": "matched(c, x)",
    "text": "len(str(c)) * x",
}
PLACES = {
    "if": "c = A if x > 1.0 else B",
    "loop": "c = A\n    for i in range(20):\n        c = A if i * x > 10.0 else B",
    "list": "c = [A, B][int(x)]",
    "tuple": "c, _ = (A, x) if x > 1.0 else (B, 2.0)",
    "while": "c, t = A, 0.0\n    while t < x:\n        c, t = B if t > 1.0 else A, t + 0.5",
}


def matched(c: Any, x: Any) -> Any:
    """Return a result by the pattern of a number."""
    match c:
        case Level.LOW:
            return x
        case Flags.Q:
            return 2.0 * x
        case _:
            return 3.0 * x


SPACE = {"np": np, "Level": Level, "Flags": Flags, "HTTPStatus": HTTPStatus, "Meters": Meters,
         "Count": Count, "Turn": Turn, "matched": matched}


def _program(pair: str, place: str, use: str) -> Any:
    a, b = PAIRS[pair]
    source = f"A, B = {a}, {b}\ndef f(x):\n    {PLACES[place]}\n    return {USES[use]}\n"
    file = f"<number {pair} {place} {use}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = dict(SPACE)
    exec(compile(source, file, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_number_of_its_own_class_keeps_it(pair: str, use: str) -> None:
    right = 0
    for place in PLACES:
        f = _program(pair, place, use)
        for x in (0.6, 1.6):
            with tracejit.config(disable_jit=True):
                try:
                    expected = f(x)
                except Exception:
                    continue
                try:
                    value, slope = tracejit.value_and_grad(f)(x)
                except tracejit.Refusal:
                    continue
            right += 1
            assert_close(value, expected)
            assert_close(slope, directional(lambda y, f=f: f(float(y)), [np.float64(x)], [1.0])[0])
    assert right or pair != "IntEnum"


@pytest.mark.parametrize("number", [Converted(2), Rounded(2.0), Shifted(2.0)], ids=repr)
@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.float32(0.5), np.array([0.7, 2.0])],
                         ids=lambda x: f"{type(x).__name__} {np.asarray(x).dtype}")
def test_a_number_is_converted_where_numpy_does_and_not_by_python(number: Any, x: Any) -> None:
    def f(x: Any) -> Any:
        return abs(number * x), abs(x + number), abs((x + 1.0) ** number), abs(x / number)

    def g(x: Any) -> Any:
        return np.sum(np.abs(number * x * x))

    with tracejit.config(disable_jit=True):
        value, slope = tracejit.jit(f)(x), tracejit.grad(g)(x)
    for got, expected in zip(value, f(x), strict=True):
        assert_close(got, expected)
    assert_close(slope, 2.0 * x * np.abs(number * x / x))


class Placed(int):
    """An int with an `__index__` that Python does not ask, since it is an int."""

    def __index__(self) -> int:
        return 1


ITEMS = [1.0, 2.0, 3.0]


def _with_items(x: Any) -> Any:
    k, made = Placed(2), [x[0], 2.0 * x[0], 3.0 * x[0]]
    made[k] = 10.0 * x[0]
    return (ITEMS[k] + [4.0, 5.0, 6.0][k] + (x, 2.0 * x, 3.0 * x)[k] + "abc".index("abc"[k])
            + made[k] + sum(made[:k]) + x[k] + np.sum(x[:k]) + range(7)[k])


def test_indices_are_the_ints_that_they_are() -> None:
    x = np.array([0.5, 1.5, 2.5])
    with tracejit.config(disable_jit=True):
        assert_close(tracejit.jit(_with_items)(x), _with_items(x))


def test_a_machine_of_states_is_captured() -> None:
    def f(x: float, n: int) -> Any:
        state, s = Level.LOW, 0.0
        for _ in range(n):
            if state == Level.LOW:
                s = s + x
                if s > 3.1:
                    state = Level.HIGH
            else:
                s = s * 0.5 + state
                if s < 2.6:
                    state = Level.LOW
        return s

    for n in (5, 40):
        with tracejit.config(disable_jit=True):
            value, slope = tracejit.value_and_grad(f)(1.5, n)
        assert_close(value, f(1.5, n))
        assert_close(slope, directional(lambda y, n=n: f(float(y), n), [np.float64(1.5)], [1.0])[0])
