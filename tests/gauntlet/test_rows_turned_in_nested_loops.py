"""Lists whose rows change their places and are written to, by loops within loops."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace.regions.loop_tracer import LoopTracer

MADE = {"lists": "h = [[0.0] * 2 for _ in range({n})]",
        "numbered": "h = [[float(k), 1.0] for k in range({n})]",
        "dicts": "h = [{{0: 0.0, 1: 2.0}} for _ in range({n})]",
        "two names": "h = [[0.0] * 2 for _ in range({n})]\nfirst = h[0]"}
TURNS = {"reversed": "h.reverse()", "rotated": "h.append(h.pop(0))",
         "swapped": "h[0], h[1] = h[1], h[0]",
         "bound anew": "h = h[::-1]", "turned": "h[:] = h[1:] + h[:1]"}
WRITES = {"all rows": "for r in h:\n    r[0] = x[k]", "the first": "h[0][0] += x[k]",
          "in a branch": "if x[k] > 0.0:\n    h[0][0] = x[k]",
          "by numbers": "for m in range(len(h)):\n    h[m][1] += x[m] * h[m][0]"}
LOOPS = [("k",), ("j", "k"), ("i", "j", "k")]
COUNTS = ("n", "3")
CASES = [*itertools.product(MADE, TURNS, WRITES, LOOPS, COUNTS)]
MOST_ATTEMPTS = 200
"""Of two captures: of a program with three loops in one another, and one over its rows."""


def _indented(text: str, depth: int) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in text.splitlines())


def _program(made: str, turn: str, write: str, loops: tuple[str, ...], count: str) -> str:
    text, depth = "def f(x, n):\n    s = 0.0\n", 1
    for name in loops[:-1]:
        text += _indented(f"for {name} in range(n):", depth)
        depth += 1
    text += _indented(MADE[made].format(n=count), depth)
    text += _indented(f"for {loops[-1]} in range(n):", depth)
    text += _indented(f"{TURNS[turn]}\n{WRITES[write]}", depth + 1)
    read = " + first[0]" if made == "two names" else ""
    text += _indented(f"s = s * 0.5 + h[0][0] - 2.0 * h[1][0] + h[-1][1]{read}", depth)
    return text + "    return s\n"


def _function(text: str, name: str) -> Callable[..., Any]:
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), found)
    made: Callable[..., Any] = found["f"]
    return made


@pytest.mark.parametrize("part", range(48))
def test_rows_are_pythons_after_few_attempts(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts, attempt = 0, LoopTracer.attempt

    def counted(tracer: LoopTracer) -> Any:
        nonlocal attempts
        attempts += 1
        if attempts > MOST_ATTEMPTS:
            pytest.fail(f"more than {MOST_ATTEMPTS} attempts:\n{text}")
        return attempt(tracer)

    monkeypatch.setattr(LoopTracer, "attempt", counted)
    right = 0
    for k, case in enumerate(CASES[part::48]):
        text, attempts = _program(*case), 0
        f = _function(text, f"<turned rows {part} {k}>")
        x = np.array([0.3, -0.7, 1.9])
        with tracejit.config(disable_jit=True):
            try:
                found = tracejit.jit(f)(x, 3)
            except tracejit.Refusal:
                continue
        np.testing.assert_allclose(found, f(x, 3), rtol=1e-12, err_msg=text)
        right += 1
    assert right
