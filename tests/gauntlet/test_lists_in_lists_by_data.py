"""Lists whose items are lists that are written to, while data decides how many there are.

Each program is one of a table: the list's first items, how it gets longer, how its items are
written to, which of them are read, by which loop. Python itself is the oracle, for gradients
central differences.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import (
    loaded,
    require_compiled,
    require_same_as_python,
    require_values_and_derivatives,
)
from oracles import numeric_gradient, outcome

import tracejit

START = {
    "empty": "h = []",
    "one": "h = [[x[0], 1.0]]",
    "two": "h = [[x[0], 1.0], [x[1], 2.0]]",
    "named": "h = [b]",
    "named, and another": "h = [[x[1], 1.0], b]",
    "twice": "h = [b, b]",
    "comprehension": "h = [[v, 1.0] for v in x]",
    "filtered": "h = [[v, 1.0] for v in x if v > 0.8]",
    "lists of a zip": "h = [list(p) for p in zip(x, x)]",
    "in two lists": "h = [b]; t = [b, [x[0], 4.0]]",
    "by a function": "h = [pair(v, 1.0) for v in (x[0], x[1])]",
    "with a tuple": "h = [[x[0], (1.0, x[1])]]",
}
GROW = {
    "append": "h.append([v, 2.0])",
    "named": "c = [v, 2.0]; h.append(c); c[0] += 0.25",
    "named before": "b[0] += v; h.append(b)",
    "kept in a name": "h.append([v, 3.0]); r = h[-1]",
    "given to a name": "r = [v, 3.0]; h.append(r)",
    "first again": "h.append(h[0]) if h else h.append([v, 1.0])",
    "copy of the last": "h.append(list(h[-1]) if len(h) > 0 else [v, 1.0])",
    "popped": "c = h.pop() if h else [v, 1.0]; c[1] += v; h.append(c); h.append([v, 1.0])",
    "insert": "h.insert(0, [v, 2.0])",
    "in two": "c = [v, 2.0]; h.append(c); t.append(c)",
    "twice": "c = [v, 2.0]; h.append(c); h.append(c)",
    "+=": "h += [[v, 2.0], [v, 3.0]]",
    "extend": "h.extend([[v, 2.0]])",
    "function": "grow(h, v)",
    "by a branch": "c = [v, 2.0]\n        if v > 1.0:\n            h.append(c)\n        c[0] = 9.0",
    "by both branches": "if v > 1.0:\n            h.append([v, 2.0])\n        else:\n"
                        "            h.append([2.0, v])",
    "ints": "h.append([v, k])",
    "and one less": "h.append([v, 2.0])\n        if len(h) > 3:\n            h.pop(0)",
    "the last goes": "h.append([v, 2.0])\n        while len(h) > 1 and h[-2][0] > h[-1][0]:\n"
                     "            h.pop()",
}
WRITE = {
    "last": "h[-1][0] += 1.0",
    "first": "h[0][1] *= 2.0",
    "by a name": "q = h[0]; q[0] -= v",
    "by an old name": "r[0] += v",
    "by two names": "p, q = h[0], h[-1]; p[0] = 5.0 * v; s += q[0]; q[1] += 1.0; s += p[1]",
    "all": "for q in h:\n            q[0] *= 1.1",
    "by what was appended": "b[1] += v",
    "swap of items": "h[0], h[-1] = h[-1], h[0]; h[0][0] += 0.5",
    "swap in an item": "h[0][0], h[0][1] = h[0][1], h[0][0]",
    "bound": "h[-1] = [v, 7.0]; h[0][0] += 1.0",
    "slice of an item": "h[-1][:] = [v, 8.0]",
    "function": "poke(h[-1])",
    "by data": "h[int(abs(v)) % len(h)][0] += v",
    "by a number": "h[k % len(h)][1] -= v",
    "in a branch": "if h and v > 1.1:\n            h[-1][0] = 2.0 * v",
    "after one is gone": "q = h[0]; z = h.pop(); q[1] += 1.0; z[0] += 1.0; h.append([z[0], 0.0])",
    "a copy": "t = h[:]; t[0][0] += 1.0",
    "a copied item": "q = list(h[0]); q[0] += 1.0; s += q[0]; q = h[0][:]; q[1] = 0.0; s += q[0]",
    "reverse": "h.reverse(); h[0][0] += 1.0",
    "sort": "h.sort(); h[0][0] += 1.0",
    "by the largest": "max(h)[0] += 1.0",
    "rebound": "h = h[1:] + h[:1]; h[0][0] += 1.0",
    "longer": "q = h[-1]; q.append(v); q.pop()",
    "identity": "s += 1.0 if h[0] is h[-1] else 0.0",
    "equality": "s += 1.0 if h[0] == h[-1] else 0.0",
    "nothing": "pass",
}
READ = {
    "after": ("pass", "sum(p * q for p, q in h)"),
    "names": ("pass", "b[0] + 2.0 * b[1] + r[0] * r[1] + sum(len(q) * q[0] for q in h)"),
    "in it": ("s += h[0][0] * h[-1][1]", "s + sum(q[0] for q in t) + sum(q[0] for q in h)"),
    "old name": ("s += r[0]", "s + h[-1][0]"),
    "array": ("s += len(h)", "np.sum(np.array(h) ** 2) + s + b[0]"),
}
LOOPS = {
    "while": "k = -1\n    while k + 1 < n and x[k + 1] < 50.0:\n        k += 1",
    "for": "for k in range(n):",
    "branch": "for k in range(n):\n        if x[k] < 0.6:\n            continue",
}
AROUND = ("h = h", "r = h[0] if h else b", "h.append([2.0, 1.0]); r = h[-1]")
"""What happens between the beginning and the loop."""

TEXT = """
import numpy as np

def pair(p, q):
    return [p, q]

def grow(h, v):
    h.append([v, 3.0])

def poke(q):
    q[0] *= 3.0

def f(x):
    n = len(x)
    b = [x[0] * 0.5, 1.5]
    r = b
    t = []
    s = 0.0
    {start}
    {around}
    {loop}
        v = x[k]
        {one}
        {other}
        {read}
    return {result}
"""

Case = tuple[str, str, str, str, str, str, bool]
XS = [np.array([1.13, 0.71, 1.34, 0.52, 1.9]), np.array([0.9, 1.7, 0.3])]


def text_of(case: Case) -> str:
    start, grow, write, read, loop, around, writes_first = case
    one, other = GROW[grow], WRITE[write]
    if writes_first:
        one, other = other, one
    return TEXT.format(start=START[start], around=around, loop=LOOPS[loop], one=one, other=other,
                       read=READ[read][0], result=READ[read][1])


ALL: list[Case] = list(itertools.product(START, GROW, WRITE, READ, LOOPS, AROUND, (False, True)))
CASES = random.Random(3).sample(ALL, 300)


PROGRAMS: list[Callable[..., Any]] = []


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


@program
def pooled_by_pairs(x):
    blocks = []
    for v in x:
        blocks.append([v, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + value * count) / (last[1] + count)
            last[1] += count
    return sum(value * value * count for value, count in blocks)


@program
def oldest_lots_first(x):
    lots, profit = [], 0.0
    for v in x:
        if v > 1.0:
            lots.append([v, v * v])
            continue
        left = 1.5
        while left > 0.0 and lots:
            lot = lots[0]
            sold = min(lot[0], left)
            profit += sold * lot[1]
            left -= sold
            lot[0] -= sold
            if lot[0] == 0.0:
                lots.pop(0)
    return profit + sum(a * b for a, b in lots)


@program
def an_item_that_is_known_by_its_name(x):
    rows, s = [], 0.0
    while len(rows) < 6 and s < 30.0:
        row = [x[0], s]
        rows.append(row)
        row[1] += x[-1] * len(rows)
        s += rows[-1][1] * x[0] + 1.0
    return sum(a * b for a, b in rows)


@program
def items_that_are_changed_by_their_number(x):
    bins = [[0.0, 0.0] for _ in range(3)]
    k = 0
    while k < len(x):
        if x[k] > 1.2:
            bins.append([x[k], 1.0])
        b = bins[k % len(bins)]
        b[0] += x[k]
        b[1] += 1.0
        k += 1
    return sum(a * a * (1.0 + c) for a, c in bins)


@program
def items_that_change_in_a_loop_over_them(x):
    rows = []
    for v in x:
        if v > 0.6:
            rows.append([v, 0.5])
    for row in rows:
        row[0] = row[0] * row[1] + x[0]
    for j in range(len(rows)):
        rows[j][1] = rows[j - 1][0]
    return np.sum(np.array(rows) ** 2) if len(rows) > 0 else x[0]


@program
def bounds_in_tuples(x):
    stack, area = [[(0.0, x[0]), 0]], 0.0
    while stack:
        item = stack.pop()
        (a, b), depth = item
        m = 0.5 * (a + b)
        if depth < 3 and abs(b - a) > 0.2:
            stack.append(item)
            item[0], item[1] = (a, m), depth + 1
            stack.append([(m, b), depth + 1])
        else:
            area += (b - a) * np.sin(m * x[-1])
    return area


@program
def lower_hull_of_tuples(x):
    hull = []
    for p in sorted((v, np.cos(3 * v)) for v in x):
        while len(hull) >= 2 and (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1]) <= (
                hull[-1][1] - hull[-2][1]) * (p[0] - hull[-2][0]):
            hull.pop()
        hull.append(p)
    both = hull[:-1] + hull[1:]
    return sum(a * d - b * c for (a, b), (c, d) in zip(
        both, both[1:] + both[:1], strict=True))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_are_right(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)
    with tracejit.config(disable_jit=True):
        assert "fixed at" not in tracejit.value_and_grad(f).trace(XS[0]).why()


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives_are_right(f: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        curvature = tracejit.grad(lambda x: np.sum(tracejit.grad(f)(x) ** 2))
        slopes, v = tracejit.grad(f), np.linspace(1.0, 2.0, XS[0].size)
        np.testing.assert_allclose(curvature(XS[0]), numeric_gradient(
            lambda x: np.sum(slopes(x) ** 2), [XS[0]], 0), rtol=1e-5, atol=1e-5)
        along = numeric_gradient(lambda x: slopes(x) @ v, [XS[0]], 0)
        np.testing.assert_allclose(tracejit.jvp(slopes, (XS[0],), (v,))[1], along,
                                   rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(tracejit.grad(lambda x: tracejit.jvp(f, (x,), (v,))[1])(XS[0]),
                                   along, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_programs_are_right(f: Callable[..., Any]) -> None:
    require_compiled(f, XS)


@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, c)) for c in CASES])
def test_an_item_that_is_a_list_is_one_list(case: Case, tmp_path: Path) -> None:
    f = loaded(text_of(case), tmp_path / "lists_in_lists.py")
    if any(np.ndim(outcome(f, x)) for x in XS):
        return  # a tuple plus a number of NumPy's is an array
    require_same_as_python(f, XS, "lists_in_lists.py")
