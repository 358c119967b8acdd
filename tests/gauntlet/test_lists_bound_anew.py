"""Names that get one list after another, where data decides which, and how long each is.

`h = h + [x]` and `h = []` in loops, `best = cand if c else best`, `prev, cur = cur, []`. Python's
own run of a program is the oracle of its value, central differences of its gradient.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from list_laws import require_compiled, require_values_and_derivatives
from test_heaps_and_orders import loaded, require_same_as_python

import tracejit
from tracejit import Refusal

PROGRAMS: list[Callable[..., Any]] = []
XS = [np.array([1.13, 1.71, -2.3, 3.02]), np.array([2.03, 1.2, -0.4, 0.7, 2.5, 1.9]),
      np.array([1.3, 1.53])]
"""Points at which no program has a tie."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


@program
def longer_by_a_sum(x):
    history, s = [], abs(x[0])
    while s < 9:
        history = history + [s]  # noqa: RUF005
        s = s * 1.5 + 0.2
    return sum(v * v for v in history) + len(history)


@program
def longer_at_its_front(x):
    history, s = [x[-1]], abs(x[0])
    while s < 9:
        history = [s] + history  # noqa: RUF005
        s = s * 1.5 + 0.2 + 0.01 * history[-1]
    return history[0] * 3 + sum(history)


@program
def begun_anew_when_full(x):
    batch, t, s = [], 0.0, abs(x[0])
    while s < 20:
        batch.append(s)
        if len(batch) == 3:
            t += batch[0] * batch[1] * batch[2]
            batch = []
        s = s * 1.3 + 0.1
    return t + sum(batch)


@program
def one_of_two_filters(x):
    above = [v for v in x if v > 0]
    below = [v for v in x if v <= 0]
    chosen = above if x[0] > 1.2 else below
    return sum(chosen) + len(chosen)


@program
def the_longest_so_far(x):
    best = []
    for i in range(len(x)):
        cand = [v for v in x if v > x[i]]
        if len(cand) > len(best):
            best = cand
    return sum(v * v for v in best)


@program
def breadth_first(x):
    n = len(x)
    seen = np.zeros(n)
    prev, cur = [0], []
    t, depth = 0.0, 0
    seen[0] = 1
    while prev:
        for i in prev:
            t = t + x[i] * depth
            for j in range(n):
                if seen[j] == 0 and abs(x[i] - x[j]) < 2.0:
                    seen[j] = 1
                    cur.append(j)
        prev, cur = cur, []
        depth += 1
    return t


@program
def breadth_first_by_a_new_list(x):
    n, level, t = len(x), [0], 0.0
    seen = np.zeros(n)
    seen[0] = 1
    while level:
        nxt = []
        for i in level:
            t = t * 0.5 + x[i]
            for j in range(n):
                if seen[j] == 0 and abs(x[i] - x[j]) < 2.0:
                    seen[j] = 1
                    nxt.append(j)
        level = nxt
    return t


@program
def filtered_again_and_again(x):
    left, c, t = list(x), -1.0, 0.0
    while len(left) > 1:
        left = [v for v in left if v > c]
        t += sum(left)
        c = c + 0.9 + 0.1 * abs(x[0])
    return t


class Point(NamedTuple):
    at: float
    y: float


@program
def a_better_path(x):
    best, least = [], 1e9
    for start in range(len(x)):
        path, s = [], abs(x[start]) + 0.3
        while s < 6:
            path.append(Point(s, s * x[0]))
            s = s * 1.7
        cost = abs(len(path) - 2.2) + 0.01 * s
        if cost < least:
            best, least = path, cost
    return sum(p.at * p.y for p in best) + least


@program
def sorted_anew(x):
    items, s = [x[0]], abs(x[-1])
    while s < 9:
        items = sorted(items + [s * (-1) ** len(items)])  # noqa: RUF005
        s = s * 1.5 + 0.2
    return items[0] + 2 * items[-1] + 3 * items[len(items) // 2]


@program
def of_ints_that_become_floats(x):
    items, s = [1], abs(x[0])
    while s < 9:
        items = items + [s]  # noqa: RUF005
        s = s * 1.5 + 0.2
    return np.sum(np.array(items)) * items[-1]


@program
def cut_in_the_middle(x):
    items = list(x)
    while len(items) > 1:
        if items[0] > items[-1]:
            items = items[1:]
        else:
            items = items[:-1]
    return items[0]


@program
def tuples_in_tuples(x):
    pairs = sorted([(v * v, i) for i, v in enumerate(x) if v > 0])
    total = sum(v * k + i for k, (v, i) in enumerate(pairs))
    return total + sum([a * b for (a, i), (b, j) in zip(pairs, pairs[::-1], strict=True) if i < j])


@program
def with_a_star(x):
    items, s = [x[-1]], abs(x[0])
    while s < 9:
        items = [*items, s]
        s = s * 1.5 + 0.2
    return items[-1] * 3 + sum(items)


@program
def different_lengths(x):
    items = [x[0], 2.0] if x[1] > 1.5 else [x[1]]
    return sum(items) + len(items) * items[-1]


@program
def empty_or_not(x):
    items = []
    if x[0] > 1.2:
        items = [x[0], x[1], x[0] * x[1]]
    return sum(items) + len(items)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function."""
    require_compiled(f, XS)


# --- random programs ------------------------------------------------------------------------------

STATEMENTS = [
    "{a} = {a} + [{s}]", "{a} = [{s}] + {b}", "{a} = []", "{a} = {b}", "{a} = {b}[:]",
    "{a}.append({s})", "{a}.append({s})", "if {a}:\n    t += {a}.pop()", "{a} = {a}[1:]",
    "{a} = [v for v in {b} if v > {c}]", "{a} = {b} if t > {c} else {a}", "{a}, {b} = {b}, {a}",
    "{a}, {b} = {b}, []", "{a} = list({b})", "t += sum({a})", "t += len({a})",
    "for v in {a}:\n    t += v * 0.5", "if {a}:\n    {a}[0] = {s}", "{a}.insert(0, {s})",
    "if {a}:\n    t += {a}[-1]", "{a}.clear()", "{a} += [{s}]", "{a} = [{s}, {s}]",
    "{a} = sorted({a})", "{a} = {b}\n{b}.append({s})", "{a} = [k for k in range(3)]",
    "{a} = [1, 2]", "p.append({a}[0] if {a} else {s})", "t += 0.1 if {s} in {a} else 0.2",
    "if {a} is {b}:\n    t += 0.25"]


def _block(r: random.Random, depth: int) -> list[str]:
    if depth < 3 and r.random() < 0.3:
        head = r.choice(["for v in x:", "if t > {c}:", "while t < {c}:", "while t < {c}:",
                         "for k in range(2):", "while len(a) < 3 and t < 9:"])
        body = [line for _ in range(r.randint(1, 3)) for line in _block(r, depth + 1)]
        first = []
        if head.startswith("while"):  # which ends: no body makes t less than what is added here
            first = [f"u{depth} = 0.0"]
            body += [f"u{depth} += 0.4", f"t = abs(t) + u{depth}"]
        return [*first, head.format(c=r.choice(["1.5", "2.5"])), *("    " + line for line in body)]
    a, b = r.choice("abc"), r.choice("abc")
    number = r.choice(["x[0] * t", "x[-1] - t", "x[1] * 0.9", "0.75", "2", "t"])
    text = r.choice(STATEMENTS)
    return text.format(a=a, b=b, s=number, c=r.choice(["0.7", "1.3", "2.1"])).split("\n")


def text_of(seed: int) -> str:
    """Return a function that binds names of lists anew."""
    r = random.Random(seed)
    starts = ["[]", "[x[0]]", "[v for v in x]", "[v for v in x if v > 0.7]", "[0.5, 0.25]"]
    lines = ["t = x[0] * 0.5", "p = []", *(f"{name} = {r.choice(starts)}" for name in "abc")]
    for _ in range(r.randint(2, 4)):
        lines += _block(r, 0)
    lines += [f"for k, v in enumerate({name}):\n        t += (k + 1) * v" for name in "abcp"]
    body = "\n".join("    " + line for line in [*lines, "return t + len(a) - len(b) + len(c)"])
    return f"def f(x):\n{body}\n"


@pytest.mark.parametrize("seed", range(300))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    f = loaded(text_of(seed), tmp_path / f"anew{seed}.py")
    require_same_as_python(f, [np.array([0.31, 1.27, 0.83]), np.array([1.1, 0.4])],
                           f"anew{seed}.py")


# --- one list that has two names ------------------------------------------------------------------


def the_first_one_changed(x):
    cur, s = [x[0]], abs(x[0])
    first = cur
    while s < 9:
        cur.append(s)
        if len(cur) > 3:
            cur = []
        s = s * 1.5 + 0.2
    return sum(first) + sum(cur)


def two_names_for_one(x):
    a, b, s = [x[0]], [x[1]], abs(x[0])
    while s < 9:
        a.append(s)
        b = a
        a = b
        s = s * 1.5 + 0.2
    b.append(1.0)
    return sum(a)


def changed_after_a_choice(x):
    a, b = [v for v in x if v > 0], [v for v in x if v < 2]
    c = a if x[0] > 1.2 else b
    c.append(5.0)
    return sum(a) + sum(b)


@pytest.mark.parametrize("f", [the_first_one_changed, two_names_for_one, changed_after_a_choice],
                         ids=lambda f: f.__name__)
def test_right_or_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    try:
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(f)(XS[0])
    except Refusal as e:
        assert "test_lists_bound_anew" in str(e)  # noqa: PT017
    else:
        np.testing.assert_allclose(found, f(XS[0]))
