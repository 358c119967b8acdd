"""Arrays whose size changes from iteration to iteration: NumPy's result, or a refusal.

Programs are generated: a way to change the size, a loop, and other holders of the array. The
oracles are the function itself and central differences.
"""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

CHANGES = {
    "mask": "x = x[x < x.max()]",
    "first": "x = x[1:]",
    "last": "x = x[:-1]",
    "both ends": "x = x[1:-1] * 1.5",
    "means": "x = 0.5 * (x[1:] + x[:-1])",
    "delete": "x = np.delete(x, np.argmin(x))",
    "append": "x = np.append(x, 0.5 * x[0])",
    "concatenate": "x = np.concatenate([x, [0.1 * k], x[:1]])",
    "either": "x = x[:-1] if x.sum() > 0.3 else np.append(x, 0.7 * x[0] + 0.2)",
    "in a branch": "if x[0] > 0.0:\n            x = x[1:] * 1.1\n        else:\n            x = -x",
    "nothing at times": "x = x[x > x.min()] if k % 2 else x * 0.9",
}
LOOPS = {
    "counted": "for k in range(n):",
    "while size": "k = 0\n    while 3 < len(x) < 22 and k < n:\n        k += 1",
    "while data": "k = 0\n    while k < n and x.sum() < 30.0 and len(x) > 3:\n        k += 1",
    "break": "for k in range(n):\n        if len(x) < 4 or x[0] > 9.0:\n            break",
}
NEIGHBOURS = {
    "none": ("", "", "0.0"),
    "a name before": ("y = x", "", "(y * y).sum()"),
    "written before": ("y = x", "x[0] = 2.0 * x[0]", "(y * y).sum()"),
    "another of its size": ("y = 2.0 * x", "t = t + (x * x).sum() - x[-1]", "y.sum()"),
    "the one before": ("y = x", "y = x", "(y ** 3).sum()"),
    "the one before, written": ("y = x", "y = x\n        y[1] = 3.0 * y[1]", "(y ** 3).sum()"),
    "a view of it": ("y = x[1:]", "x[1] = 0.5 * x[1]", "(y ** 2).sum()"),
    "an accumulator": ("y = 0.0", "y = y + x[0] * x[-1]", "y"),
    "a list": ("y = [x]", "", "y[0].sum()"),
    "a list, written": ("y = [x]", "x[1] = 4.0", "y[0].sum()"),
}
PROGRAMS = list(itertools.product(CHANGES, LOOPS, NEIGHBOURS, ("1.0 * x", "x")))


def made(change: str, loop: str, neighbour: str, begin: str) -> Any:
    """Return a function of an array and a number of iterations."""
    before, within, after = NEIGHBOURS[neighbour]
    lines = ["def f(x, n):", f"    x = {begin}", "    t = 0.0", f"    {before or 'pass'}",
             f"    {LOOPS[loop]}", f"        {within or 'pass'}", f"        {CHANGES[change]}",
             f"    return (x * x).sum() + 0.3 * x.sum() + t + {after}"]
    return function_of("\n".join(lines) + "\n")


def function_of(text: str) -> Any:
    """Return the function of a text, which a linecache knows."""
    name = f"<size {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def outcome(f: Any, x: np.ndarray, n: int) -> Any:
    """Return a call's result, or the type of its error."""
    try:
        return f(x.copy(), n)
    except (ValueError, IndexError) as e:
        return type(e)


def differences(f: Any, x: np.ndarray, n: int) -> np.ndarray:
    """Return central differences."""
    h = 1e-6
    return np.array([(f(x + h * e, n) - f(x - h * e, n)) / (2 * h) for e in np.eye(len(x))])


def judged(f: Any, sizes: tuple[int, ...], trips: tuple[int, ...]) -> str:
    """Return "right" or "refused"; raise AssertionError where a number is wrong."""
    both = tracejit.value_and_grad(f)
    for size, n in itertools.product(sizes, trips):
        x = np.random.default_rng(size).uniform(-1.0, 1.5, size)
        want = outcome(f, x, n)
        try:
            found = outcome(both, x, n)
        except tracejit.Refusal:
            return "refused"
        if isinstance(want, type) or isinstance(found, type):
            assert want is found
            continue
        np.testing.assert_allclose(found[0], want, rtol=1e-9, atol=1e-12)
        expected = differences(f, x, n)
        np.testing.assert_allclose(found[1], expected, rtol=2e-5,
                                   atol=2e-6 * (1.0 + np.abs(expected).max()))

    return "right"


@pytest.mark.parametrize("program", PROGRAMS, ids="-".join)
def test_sizes_that_change(program: tuple[str, str, str, str]) -> None:
    with tracejit.config(disable_jit=True):
        found = judged(made(*program), (9, 14), (0, 1, 4))
    if program[2] == "none":
        assert found == "right"


@pytest.mark.parametrize("change", CHANGES)
def test_sizes_that_change_compiled(change: str) -> None:
    assert judged(made(change, "counted", "an accumulator", "x"), (8, 13), (0, 1, 5)) == "right"
