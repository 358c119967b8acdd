"""Names that a loop binds to one list after another, and of which it changes the items as well."""

from __future__ import annotations

import linecache
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tracejit

STARTS = {
    "two lists": "p = [x[0], x[1]]; q = [x[1], 2.0]",
    "one list": "p = [x[0], x[1]]; q = p",
    "a copy": "p = [x[0], 2.0]; q = list(p)",
    "another name": "q = [x[0], 1.0]; p = q; o = p",
    "in a dict": "p = [x[0], x[1]]; q = [3.0, x[2]]; o = {1: p}[1]",
    "in a function": "p = [x[0], x[1]]; q = [0.5, x[2]]; g = lambda: p",
    "in an object": "p = [x[0], x[1]]; q = [0.5, x[2]]; s = S(v=p)",
    "in a list": "p = [x[0], x[1]]; q = [1.0, 2.0]; h = [p, q]",
}

STATEMENTS = [
    "p[0] = p[0] * 0.5 + q[1]", "p[1] += x[0]", "q[0] = p[1] * 0.3", "p = [p[1], p[0]]",
    "p = p[::-1]", "p = q", "q = p", "p, q = q, p", "r = p; r[1] = r[1] * 0.7",
    "p = [v * 0.9 for v in p]", "p = sorted(p)", "p.sort()", "p = list(p)", "q = [p[0], q[1]]",
    "if x[k % 3] > 0.3: p = [p[0] * 2.0, 1.0]", "if x[k % 3] > 0.3: p[1] = x[k % 3]",
    "if p[0] > 0.4: q = p", "t += p[0] * 0.1", "t += q[1] * 0.3", "p[0], p[1] = p[1], p[0]",
    "if x[k % 3] > 0.2: q = [0.3, p[1]]", "t = t + sum(p)", "p = p[:1] + q[1:]",
    "p = [q[0], p[1]]", "p = p if x[k % 3] > 0.1 else q",
]

NESTED = "p = [[x[0], 1.0], [x[1], 2.0]]; q = p[0]; p = [q, [x[2], 3.0]]"

OF_NESTED = [
    "p[0][0] = p[0][0] * 0.5", "p = p[::-1]", "p = [p[1], p[0]]", "q[1] = q[1] * 0.3",
    "p[1] = [p[0][1], 2.0]", "p = [p[0], p[0]]", "q = p[1]", "p[0] = p[1]",
    "p = [list(r) for r in p]", "t += p[0][0] + 2.0 * p[1][1]", "p[0][1] += q[0]",
    "if x[k % 3] > 0.2: p = [p[1], [1.0, x[0]]]", "p = sorted(p, key=lambda r: r[0])",
]

LOOPS = ["for k in range(n):", "k = -1\n    while k < n - 1:\n        k += 1"]

ALSO = {"another name": " + 11.0 * o[1]", "in a dict": " + 11.0 * o[0]",
        "in a function": " + 11.0 * g()[0]", "in an object": " + 11.0 * s.v[0]",
        "in a list": " + 11.0 * h[0][1] + 13.0 * h[1][0]"}


def _program(seed: int) -> Any:
    """Return a function that binds and changes lists in a loop."""
    draw = random.Random(seed)
    kind = draw.choice([*STARTS, "nested"])
    start = STARTS.get(kind, NESTED)
    body = draw.sample(OF_NESTED if kind == "nested" else STATEMENTS, draw.choice((2, 3, 3, 4)))
    end = "t + p[0] + 2.0 * p[1] + 3.0 * q[0] + 5.0 * q[1]"
    if kind == "nested":
        end = "t + p[0][0] + 2.0 * p[0][1] + 3.0 * p[1][0] + 5.0 * p[1][1] + 7.0 * q[0]"
    if draw.random() < 0.7:
        end += ALSO.get(kind, "")
    lines = ["t = 0.0", start, draw.choice(LOOPS), *("    " + s for s in body), f"return {end}"]
    source = "def f(x, n):\n    " + "\n    ".join(lines) + "\n"
    file = f"<lists bound and changed {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"S": SimpleNamespace}
    exec(compile(source, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("seed", range(600))
def test_lists_that_are_bound_and_changed_are_pythons(seed: int) -> None:
    f = _program(seed)
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for n in (6, 0, 1, 3):
            for x in (np.array([0.5, 0.25, 0.4]), np.array([0.15, -0.7, 0.9])):
                try:
                    found = compiled(x, n)
                except tracejit.Refusal:
                    continue
                np.testing.assert_allclose(found, f(x, n), rtol=1e-12)


def _simplex(start: Any, steps: int) -> Any:
    """Return the least value that Nelder and Mead's method finds in so many steps."""
    def f(p: Any) -> Any:
        return (1.0 - p[0]) ** 2 + 10.0 * (p[1] - p[0] ** 2) ** 2

    simplex = [start, start + np.array([0.1, 0.0]), start + np.array([0.0, 0.1])]
    for _ in range(steps):
        simplex.sort(key=f)
        centre = (simplex[0] + simplex[1]) / 2.0
        reflected = centre + (centre - simplex[2])
        if f(reflected) < f(simplex[0]):
            expanded = centre + 2.0 * (centre - simplex[2])
            simplex[2] = expanded if f(expanded) < f(reflected) else reflected
        elif f(reflected) < f(simplex[1]):
            simplex[2] = reflected
        else:
            inner = centre + 0.5 * (simplex[2] - centre)
            if f(inner) < f(simplex[2]):
                simplex[2] = inner
            else:
                simplex = [simplex[0]] + [simplex[0] + 0.5 * (s - simplex[0])
                                          for s in simplex[1:]]
    return f(simplex[0])


def test_a_simplex_is_sorted_changed_and_bound_anew() -> None:
    compiled = tracejit.value_and_grad(_simplex)
    for steps in (1, 12, 40):
        start = np.array([1.2, 0.5])
        value, slope = compiled(start, steps)
        np.testing.assert_allclose(value, _simplex(start, steps), rtol=1e-12)
        differences = [(_simplex(start + h, steps) - _simplex(start - h, steps)) / 2e-7
                       for h in 1e-7 * np.eye(2)]
        np.testing.assert_allclose(slope, differences, rtol=1e-5, atol=1e-7)
