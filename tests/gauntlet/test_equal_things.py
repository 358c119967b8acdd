"""Things that are equal and not one: branches and loops choose between them, as in Python."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, directional

import tracejit


@dataclass(frozen=True)
class Named:
    """Equal by name."""

    name: str
    scale: float = field(compare=False, repr=False)


class ByHand:
    """Equal by name, by methods of its own, which count their calls."""

    calls = 0

    def __init__(self, name: str, scale: float) -> None:
        self.name, self.scale = name, scale

    def __eq__(self, other: object) -> bool:
        ByHand.calls += 1
        return isinstance(other, ByHand) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Text(str):
    """A text with an attribute."""

    scale: float


def _text(scale: float) -> Text:
    text = Text("a")
    text.scale = scale
    return text


def _scaled(v: Any) -> Any:
    return SCALE * v  # type: ignore[name-defined]  # noqa: F821


def _zone(hour: int) -> datetime.datetime:
    zone = datetime.timezone(datetime.timedelta(hours=hour))
    return datetime.datetime(2020, 1, 1, hour, tzinfo=zone)


def _function(scale: float) -> FunctionType:
    return FunctionType(_scaled.__code__, {"SCALE": scale})


THINGS: dict[str, tuple[Any, Any, Callable[[Any, Any], Any]]] = {
    "data class": (Named("a", 2.0), Named("a", 3.0), lambda p, x: p.scale * x),
    "class": (ByHand("a", 2.0), ByHand("a", 3.0), lambda p, x: p.scale * x),
    "text": (_text(2.0), _text(3.0), lambda p, x: p.scale * x),
    "zones": (_zone(0), _zone(5), lambda p, x: p.hour * x + x),
    "decimals": (Decimal("1.0"), Decimal("1.000"), lambda p, x: len(str(p)) * x),
    "sets": (frozenset({Named("a", 2.0)}), frozenset({Named("a", 3.0)}),
             lambda p, x: sum(q.scale for q in p) * x),
    "functions": (_function(2.0), _function(3.0), lambda p, x: p(x)),
    "one": (Fraction(1, 2), Fraction(2, 4), lambda p, x: float(p) * x),
}


def _in_branch(use: Any, a: Any, b: Any) -> Any:
    def f(x: Any) -> Any:
        p = a if x > 1.0 else b
        return use(p, x)
    return f


def _in_loop(use: Any, a: Any, b: Any) -> Any:
    def f(x: Any) -> Any:
        p, s = a, 0.0
        for _ in range(20):
            s = s + use(p, x)
            p = b
        return s
    return f


def _from_both(use: Any, a: Any, b: Any) -> Any:
    def f(x: Any) -> Any:
        p, s, t = a, 0.0, 0.0
        while t < x:
            s, t = s + use(p, x), t + 0.25
            p = b if p is a else a
        return s
    return f


@pytest.mark.parametrize("program", [_in_branch, _in_loop, _from_both])
@pytest.mark.parametrize("thing", THINGS)
def test_equal_things_are_told_apart(thing: str, program: Any) -> None:
    a, b, use = THINGS[thing]
    f = program(use, a, b)
    calls = ByHand.calls
    for x in (0.8, 1.6):
        with tracejit.config(disable_jit=True):
            try:
                value, slope = tracejit.value_and_grad(f)(x)
            except tracejit.Refusal:
                assert thing == "sets"
                continue
        assert_close(value, f(x))
        assert_close(slope, directional(lambda y: f(float(y)), [np.float64(x)], [1.0])[0])
    assert ByHand.calls == calls


def test_texts_and_sets_made_anew_are_one_constant() -> None:
    def f(x: float) -> Any:
        text, items, s = "a", frozenset({1, 2}), 0.0
        for _ in range(200):
            s = s + (x if text == "a" else 2.0 * x) * len(items)
            text, items = "".join(["a"]), frozenset([2, 1])
        return s

    with tracejit.config(disable_jit=True):
        assert_close(tracejit.grad(f)(1.5), 400.0)
        assert "hi=200" in str(tracejit.grad(f).trace(1.5).graph)
