"""`while` with a condition that changes something, left in every way: as in Python."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from list_laws import loaded, require_right_or_refused

CONDITIONS = {
    "s.more()": "s = Halving(4.0)", "(t := t * 0.6) > 0.1": "t = 4.0",
    "l and l.pop() < 5.0": "l = [v for v in x] * 3",
    "next(it, 9.0) < 5.0": "it = iter([0.5, 0.7, 0.2, 0.4, 0.9])",
    "s.more() and c < 4": "s = Halving(4.0)", "c < 4 and s.more()": "s = Halving(4.0)",
    "not s.more() or s.v > 0.2": "s = Halving(4.0)",
    "d.popitem()[1] < 5.0": "d = {1: 0.5, 2: x[0]}",
    "q.popleft() < 5.0": "q = deque([x[0], x[1], 0.3, 9.0])",
    "halved(s) > 0.1": "s = Halving(4.0)",
    "s.more() and s.more()": "s = Halving(9.0)",
}
VALUES = {"s": "s.v", "t": "t", "l": "len(l)", "i": "1.0", "c": "s.v", "n": "s.v", "d": "len(d)",
          "q": "len(q)", "h": "s.v"}
EXITS = ["if c > x[0] * 4: break", "if c > x[0] * 4: return c * 10.0",
         "if c > x[0] * 4: continue\n        c += 10", "if c > 2: break", "c += 0",
         "if c > x[0] * 4:\n            if x[1] > 0.25: break\n            c += 5",
         "for k in range(3):\n            if x[k % 2] > 0.8: break\n            c += 1"]
TAILS = ["", "    else:\n        c += 100\n"]
OUTER = ["", "for _ in range(2):"]
CASES = [*itertools.product(CONDITIONS, EXITS, TAILS, OUTER)]
HEAD = """import numpy as np
from collections import deque


class Halving:
    def __init__(self, v):
        self.v = v

    def more(self):
        self.v *= 0.6
        return self.v > 0.1


def halved(s):
    s.v = s.v * 0.5
    return s.v


"""


def source(condition: str, leaving: str, tail: str, outer: str) -> str:
    """Return the text of a program with such a loop."""
    loop = f"    while {condition}:\n        c += 1\n        {leaving}\n{tail}"
    if outer:
        loop = f"    {outer}\n" + "".join(f"    {line}\n" for line in loop.splitlines())
    value = VALUES[condition.lstrip("(")[0]]
    return (f"{HEAD}def f(x):\n    c = 0\n    {CONDITIONS[condition]}\n{loop}"
            f"    return c + 0.5 * {value}\n")


@pytest.mark.parametrize("case", range(len(CASES)))
def test_loops_are_left_as_in_python(case: int, tmp_path: Path) -> None:
    f = loaded(source(*CASES[case]), tmp_path / f"condition{case}.py")
    xs = (np.array([0.9, 0.3]), np.array([0.1, 0.2]), np.array([0.4, 0.9]))
    require_right_or_refused(f, [(x,) for x in xs], rtol=1e-12)
