"""Loops that carry a tuple whose items are of one kind before them, and of others after."""

from __future__ import annotations

import itertools
import linecache
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracejit

FIRST = ("None", "'s'", "-1", "(0, None)", "np.sin")
NEXT = ("i", "v", "'t'", "(i, v)", "None", "np.cos")
STARTS = ("0.0", "x[0]", "np.float32(0)")
LOOPS = ("for i, v in enumerate(x):\n        if v * v > best[0]:",
         "for i in range(len(x)):\n        v = x[i]\n        if v > 0:",
         "for v in x:\n        i = 1\n        if True:",
         "i = 0\n    while i < len(x):\n        v = x[i]\n        i += 1\n        if v > 0:")
USES = ("best[0]", "best[0] * 2 + (1 if best[1] is None else 2)",
        "best[0] + (3 if best[1] == 't' else 4)")
INPUTS = ([1.0, 2.0, -3.0], [-1.0, -2.0], [], [0.5])


def function_of(first: str, after: str, start: str, loop: str, use: str) -> Any:
    """Return a function that looks for the best item of an array."""
    text = (f"def f(x):\n    best = ({start}, {first})\n    {loop}\n"
            f"            best = (v * v, {after})\n    return {use}\n")
    file = f"<best {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def outcome(f: Any, x: np.ndarray) -> Any:
    """Return a number, or the type of an error, but for a refusal."""
    try:
        return float(f(x))
    except tracejit.Refusal:
        raise
    except (IndexError, TypeError) as e:
        return type(e)


@pytest.mark.parametrize(("first", "after"), list(itertools.product(FIRST, NEXT)))
def test_the_best_item_so_far_is_pythons(first: str, after: str) -> None:
    right = 0
    for start, loop, use in itertools.product(STARTS, LOOPS, USES):
        f = function_of(first, after, start, loop, use)
        with tracejit.config(disable_jit=True):
            compiled = tracejit.jit(f)
            for items in INPUTS:
                x = np.array(items)
                try:
                    found = outcome(compiled, x)
                except tracejit.Refusal:
                    continue
                assert found == outcome(f, x), (start, loop, use, items)
                right += 1
    assert right > 36


class Pair(NamedTuple):
    a: float
    b: float


TURNS: dict[str, Callable[[Any, Any], Any]] = {
    "replaced": lambda p, v: p._replace(a=p.a + v),
    "both replaced": lambda p, v: p._replace(a=p.b * v, b=p.a),
    "made": lambda p, v: type(p)(p.a + v, p.b), "made of a list": lambda p, v: type(p)._make(
        [p.a + v, p.b]), "of a dict": lambda p, v: type(p)(**{**p._asdict(), "a": p.a + v}),
}


@pytest.mark.parametrize("local", [False, True], ids=["module's", "local"])
@pytest.mark.parametrize("turn", TURNS)
def test_named_tuples_of_numbers_of_two_kinds_turn_in_loops(turn: str, local: bool) -> None:
    step = TURNS[turn]

    def f(xs: Any) -> Any:
        made: Any = namedtuple("made", "a b") if local else Pair
        p = made(0.0, 1.0)  # numbers of Python's, which become NumPy's
        for v in xs:
            p = step(p, v)
        return p.a * p.b

    xs = np.array([1.0, 2.0, 3.0])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(xs), f(xs), rtol=1e-12)
