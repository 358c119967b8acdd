"""Names that hold another part of one array in each iteration, while the array is written to.

Such a name is carried as the place of its part, so that writes are seen through it as in Python.
Random programs about nothing else are right, value and gradient, or refused.
"""

from __future__ import annotations

import random
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, directional

import tracejit


def _check(f: Callable[..., Any], rows: int, function: Any) -> None:
    rng = np.random.default_rng(rows)
    a, x = rng.uniform(0.2, 1.0, (rows, 3)), rng.uniform(0.2, 1.0, 3)
    d, e = rng.standard_normal(a.shape), rng.standard_normal(3)
    value, (da, dx) = function(a, x)
    np.testing.assert_allclose(value, f(a.copy(), x.copy()), rtol=1e-9)
    (slope,) = directional(lambda a, x: f(a.copy(), x.copy()), (a, x), (d, e))
    assert_close(np.sum(da * d) + np.sum(dx * e), slope)


def layers_in_one_state(a: Any, x: Any) -> Any:
    a = a.copy()
    for i in range(0, len(a) - 1, 2):
        a[i] = np.tanh(a[i] * x)
        a[i + 1] = a[i + 1] + x
        x = a[i]
    return np.sum(x * a[-1])


def written_while_it_is_held(a: Any, x: Any) -> Any:
    a, s = a.copy(), 0.0
    for i in range(1, len(a)):
        a[i - 1] *= 1.5
        s = s + np.sum(x * a[i])
        x = a[i - 1]
    return s + x.sum()


def written_through_the_name(a: Any, x: Any) -> Any:
    a = a.copy()
    row = a[0]
    for i in range(1, len(a)):
        row += 0.1 * a[i] * x
        row = a[i]
    row[0] = 7.0
    return np.sum(a * np.arange(a.size).reshape(a.shape))


def parts_of_two_that_change_places(a: Any, x: Any) -> Any:
    a, b = a.copy(), a * x
    r, s = a[0], b[0]
    for i in range(1, len(a)):
        r += b[i]
        s -= 0.2 * a[i]
        r, s = b[i], a[i]
    return np.sum(a * a) + np.sum(r * s)


def columns_until_data_says(a: Any, x: Any) -> Any:
    a = a.copy()
    p, i = a[:, 0], 0
    while p.sum() < 6.0 and i < 20:
        p += 1.3 * x[1]
        i += 1
        p = a[:, i % 3]
    return np.sum(a * a) + p.sum()


def anew_in_each_sweep(a: Any, x: Any) -> Any:
    a, t = a.copy(), 0.0
    for j in range(3):
        y = x * (j + 1.0)
        for i in range(len(a)):
            a[i] = 0.5 * a[i] + np.sin(y)
            y = a[i]
        t = t + y.sum()
    return t


PROGRAMS = (layers_in_one_state, written_while_it_is_held, written_through_the_name,
            parts_of_two_that_change_places, columns_until_data_says, anew_in_each_sweep)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_parts_are_carried(f: Callable[..., Any], jit: bool) -> None:
    function = tracejit.value_and_grad(f, argnums=(0, 1))
    with tracejit.config(disable_jit=not jit, verify=True):
        for rows in (4, 7):
            _check(f, rows, function)


_STATEMENTS = ("r = a[i]", "r = a[i - 1]", "r = b[i]", "s = a[i]", "r, s = s, r", "s = r",
               "r = a[i] * x", "a[i] += 0.1 * r", "a[i - 1] = np.sin(r)", "r += 0.2 * s",
               "b[i] -= s * 0.1",
               "r = r * 0.5", "s = a[:, 1][:3]", "t = t + np.sum(r * s)", "t = t + r[0]",
               "r[1] = t * 0.1", "if t > 0.5:\n            r = a[i]", "b = a", "a, b = b, a",
               "if s[0] > 0.4:\n            a[i] *= 0.9", "r = s = a[i]", "r = a[i][:]")
_STARTS = ("a[0]", "b[0]", "x", "x * 2.0", "a[1]", "a[0] * 1.0")


def program(seed: int) -> str:
    """Return the source of f(a, x): a matrix of at least three rows, and a row."""
    r = random.Random(seed)
    lines = ["import numpy as np", "def f(a, x):", "    a, t = a.copy(), 0.0",
             f"    b = {r.choice(('a', 'a * 1.5', 'a[:]', 'a.copy()'))}",
             f"    r, s = {r.choice(_STARTS)}, {r.choice(_STARTS)}",
             r.choice(("    for i in range(1, len(a)):", "    for i in range(len(a) - 1, 0, -1):"))]
    lines += [f"        {r.choice(_STATEMENTS)}" for _ in range(r.randint(2, 5))]
    if r.random() < 0.4:
        lines.append(f"    {r.choice(('r[0] = 0.7', 'a[0] = 1.0', 's *= 0.3'))}")
    lines.append("    return t + np.sum(a * a) + np.sum(b) + np.sum(r * x) + np.sum(s)\n")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_are_right_or_refused(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(program(seed))
    f = runpy.run_path(str(file))["f"]
    function = tracejit.value_and_grad(f, argnums=(0, 1))
    try:
        with tracejit.config(disable_jit=True, verify=True):
            for rows in (3, 5):
                _check(f, rows, function)
    except tracejit.Refusal:
        pass


@pytest.mark.parametrize("end", ["a[0] = a[1] = 1.0", "b[0] = b[1] = 1.0", "r *= 3.0", "s *= 3.0"])
@pytest.mark.parametrize("follow", ["r = s", "r, s = s, r", "r = s[:]"])
def test_what_follows_a_part_by_an_iteration_is_a_part_of_it(follow: str, end: str,
                                                             tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"""import numpy as np

def f(a, x):
    a, b, r, s = a.copy(), a * 1.5, x, x * 2.0
    for i in range(1, len(a)):
        {follow}
        s = a[1]
        a, b = b, a
    {end}
    return np.sum(a * a) + np.sum(b) + np.sum(r * x) + np.sum(s)
""")
    f = runpy.run_path(str(file))["f"]
    function = tracejit.value_and_grad(f, argnums=(0, 1))
    try:
        with tracejit.config(disable_jit=True, verify=True):
            for rows in (2, 3, 4, 5):
                _check(lambda a, x: f(a, x.copy()), rows, function)
    except tracejit.Refusal:
        pass
