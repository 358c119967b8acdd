"""Every kind of loop, with every way out of it and with or without an `else`: as in Python."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, assert_same, numeric_gradient

import tracejit

HEADS = {
    "range": ("", "for i in range(n)", "", "x[i]"),
    "backwards": ("", "for i in range(n - 1, 0, -2)", "", "x[i]"),
    "elements": ("", "for v in x", "", "v"),
    "tuple": ("", "for v in (x[0], x[1], 0.3)", "", "v"),
    "enumerate": ("", "for i, v in enumerate(reversed(x))", "", "v * i"),
    "data": ("", "while s < 2.0", "s = s + 0.4", "x[0]"),
    "count": ("k = 0", "while k < n", "k += 1", "x[k - 1]"),
    "walrus": ("k = -1", "while (k := k + 1) < n", "", "x[k]"),
    "both": ("k = 0", "while k < n and s < 1.9", "k += 1", "x[k - 1]"),
}
"""What is before a loop, its head, how its body begins, and what it reads."""

EXITS = {
    "none": "pass",
    "break": "if s > 0.9: break",
    "break that is not taken": "if s > 99.0: break",
    "break on a size": "if n > 6: break",
    "continue": "if s < 0.7: continue",
    "return": "if s > 1.1: return s * x[2]",
    "raise": "if s > 99.0: raise ValueError(s)",
    "break or continue": "if s > 1.2: break\n        elif s > 0.5: continue",
    "break of an inner else": """for q in x:
            if q > 1.5: break
        else:
            break""",
    "inner else": """for q in x:
            s = s - 0.1 * q
        else:
            s = s * 1.1""",
}

ELSES = {"without": "", "with": "else:\n        s = s * 1.7 + x[0]",
         "that returns": "else:\n        return s * 0.7 + x[1]"}


def program(head: str, exit_: str, orelse: str) -> Callable[[Any, int], Any]:
    """Return a function with a loop."""
    before, line, begin, item = HEADS[head]
    source = f"""def f(x, n):
    s = 0.3
    {before or 'pass'}
    {line}:
        {begin or 'pass'}
        s = s + 0.5 * np.sin({item})
        {EXITS[exit_]}
        s = s * 0.9
    {ELSES[orelse]}
    return s * x[1]
"""
    file = f"<loop {head}, {exit_}, {orelse}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    f: Callable[[Any, int], Any] = namespace["f"]
    return f


TRIES = {"continue": "if k == 'b': continue", "break": "if k == 'c': break",
         "return": "if k == 'c': return s"}


@pytest.mark.parametrize("jump", TRIES)
def test_else_of_a_try_is_not_for_what_jumps(jump: str) -> None:
    source = f"""def f(x):
    table, s = {{"a": 2.0, "b": 1.5, "c": 3.0}}, 0.0
    for k in ("a", "b", "c", "d"):
        try:
            {TRIES[jump]}
            w = table[k]
        except KeyError:
            w = 0.5
        else:
            s += x[0] * w
        s += x[1] * w
    return s
"""
    namespace: dict[str, Any] = {}
    file = f"<try {jump}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), namespace)
    x = np.array([0.7, -0.4])
    with tracejit.config(disable_jit=True):
        assert_same(tracejit.jit(namespace["f"])(x), namespace["f"](x))


@pytest.mark.parametrize(("head", "exit_"), [*itertools.product(HEADS, EXITS)])
def test_loops_are_left_as_in_python(head: str, exit_: str) -> None:
    for orelse in ELSES:
        f = program(head, exit_, orelse)
        with tracejit.config(disable_jit=True):
            gradient = tracejit.value_and_grad(f)
            for n, seed in ((5, 0), (8, 1), (3, 2)):
                x = np.random.default_rng(seed).uniform(-0.4, 1.9, n)
                value, slope = gradient(x, n)
                assert_same(value, f(x, n))
                assert_close(slope, numeric_gradient(lambda x, f=f, n=n: f(x, n), [x], 0))
