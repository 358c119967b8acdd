"""States that a loop changes in place and keeps copies of: loops of the graph, or right anyway.

Each generated program is one of a table: the holder of the state, how an iteration changes it, the
copy that goes into a list, the names it leaves. Python itself is the oracle.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import loaded, require_loop, require_same_as_python

PROGRAMS: list[Callable[..., Any]] = []


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


class State:
    def __init__(self, q: Any, p: Any) -> None:
        self.q, self.p = q, p

    def step(self, h: float) -> None:
        self.p -= 0.5 * h * self.q
        self.q += h * self.p
        self.p -= 0.5 * h * self.q


@program
def names(x, n):
    q, p, out = x[:2].copy(), x[1:].copy(), []
    for _ in range(n):
        q += 0.1 * p
        p -= 0.1 * q
        out.append(q.copy())
    return np.sum(np.array(out) ** 2)


@program
def an_object(x, n):
    s, samples = State(x[:2].copy(), x[1:].copy()), []
    for _ in range(n):
        s.step(0.1)
        samples.append(s.q.copy())
    return np.sum(np.array(samples) ** 2) + s.p[0]


@program
def pairs(x, n):
    s, samples = State(x[:2].copy(), x[1:].copy()), []
    for k in range(n):
        s.step(0.1)
        samples.append((s.q.copy(), s.p * k))
    return sum(np.sum(q * p) for q, p in samples)


@program
def a_dict(x, n):
    s, samples = {"q": x[:2].copy()}, []
    for k in range(n):
        s["q"] *= 1.01
        samples.append(s["q"] + k)
    return np.sum(np.array(samples) ** 2) + s["q"][0]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_loops_stay_loops(f: Callable[..., Any]) -> None:
    require_loop(f, np.array([0.3, 0.7, 1.1]), 17)


HOLDS = {"names": ("q", "p", "q, p = x[:2].copy(), x[1:3].copy()"),
         "object": ("s.q", "s.p", "s = State(x[:2].copy(), x[1:3].copy())"),
         "dict": ("s['q']", "s['p']", "s = {'q': x[:2].copy(), 'p': x[1:3].copy()}"),
         "one": ("q", "p", "q = x[:2].copy(); p = q"),
         "list": ("s[0]", "s[1]", "s = [x[:2].copy(), x[1:3].copy()]")}
STEPS = {"in place": "Q += 0.1 * P", "element": "Q[0] *= 1.1", "anew": "Q = Q + 0.1 * P",
         "both": "Q *= 1.01; P = Q * 0.9", "swap": "Q, P = P, Q", "reversed": "P = Q[::-1]",
         "other": "P[0] += 0.3", "old": "old[0] += 0.5"}
PUTS = {"copy": "out.append(Q.copy())", "itself": "out.append(Q)", "made": "out.append(Q * 2.0)",
        "kept": "P = Q * 0.9; out.append(P)", "old": "old = Q + 0.2; out.append(old)",
        "pair": "out.append((Q.copy(), P * 1.5))", "view": "out.append(Q[::-1])",
        "last": "out.append(Q * 0.8); P = out[-1]"}
STARTS = {"nothing": "out = []", "itself": "out = [Q]", "a copy": "out = [Q.copy()]"}
TEXT = """
import numpy as np
from test_lists_of_states import State

def f(x):
    {state}
    old = x[:2] * 0.5
    {start}
    for k in range(len(x) + 12):
        {steps}
    {after}
    total = np.sum(Q) + old[0]
    for item in out:
        total += sum(np.sum(y * y) for y in item) if isinstance(item, tuple) else np.sum(item ** 2)
    return total
"""

Case = tuple[str, str, str, str, str, bool, bool]
ALL: list[Case] = list(itertools.product(HOLDS, STEPS, STEPS, PUTS, STARTS, (False, True),
                                         (False, True)))
CASES = random.Random(5).sample(ALL, 200)


def text_of(case: Case) -> str:
    holds, one, other, put, start, is_first, is_after = case
    q, p, state = HOLDS[holds]
    steps = [STEPS[one], STEPS[other]]
    steps.insert(0 if is_first else 2, PUTS[put])
    text = TEXT.format(state=state, start=STARTS[start], steps="; ".join(steps),
                       after="Q[0] = 2.0" if is_after else "P[0] = 2.0")
    return text.replace("Q", q).replace("P", p)


@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, c)) for c in CASES])
def test_an_array_that_is_kept_is_pythons(case: Case, tmp_path: Path) -> None:
    f = loaded(text_of(case), tmp_path / "states.py")
    require_same_as_python(f, [np.array([0.31, 0.72, 1.153])], "states.py")
