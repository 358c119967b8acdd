"""A list that gets longer or shorter in a `try` that an error of the run may leave.

Whole programs, made of tables: Python's own run is the oracle of values and errors, differences of
it are that of derivatives. Nothing may be wrong in silence; most of them are captured.
"""

from __future__ import annotations

import itertools
import linecache
import math
import random
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


def root(v: Any) -> Any:
    if v < 0.0:
        raise ValueError("no root")
    return np.sqrt(v + 0.3)


def one(v: Any) -> float:
    if v < 0.0:
        raise ValueError("not counted")
    return 1.0


LOOPS = {
    "array": "for v in x:",
    "unrolled": "for v in [x[0], 2.0 * x[1], x[0] - x[1]]:",
    "range": "for k in range(len(x)):\n    v = x[k] + 0.1 * k",
    "once": "for v in [x[1]]:",
    "nested": "for w in x[:2]:\n  for v in [w, x[1]]:"}

STEPS = (
    "out.append(root(v))", "out.append(v)", "if out: out.pop()", "out.insert(0, root(v - 1.0))",
    "out.extend([v, root(v)])", "out += [root(v + 0.5)]", "if out: out[0] = 2.0 * root(v) + out[0]",
    "total += root(v)", "out.append(one(v))", "if v > 1.0: out.append(root(v - 1.5))",
    "for u in (v, v - 0.7): out.append(root(u))", "out.append(math.log(v))", "other.append(v)",
    "if len(out) > 1: del out[0]", "out.extend(one(u) for u in (v, v - 0.7))", "total += len(out)")

HANDLERS = ("out.append(-1.0)", "pass", "continue", "break", "out.append(total)", "out.clear()",
            "other.append(total); continue", "total += len(out)", "alias.append(2.0 * v)")

BEHIND = ("", "else:\n    out.append(3.0)", "else:\n    total += root(v - 0.9)")


def program(loop: str, steps: tuple[str, ...], handler: str, behind: str) -> str:
    body = textwrap.indent("\n".join(steps), "    ")
    tried = f"try:\n{body}\nexcept ValueError:\n    {handler}\n{behind}"
    depth = "    " if "nested" not in loop else "      "
    text = LOOPS[loop] + "\n" + textwrap.indent(tried, depth)
    return f"""def f(x):
    out, other, total = [x[0]], [], 0.0
    alias = out
{textwrap.indent(text, "    ")}
    for k, a in enumerate(out):
        total = total + a * (k + 1)
    return total + 10.0 * len(alias) + sum(other) + 100.0 * len(other)"""


def made(source: str) -> Callable[..., Any]:
    name = f"<lists in a try {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"root": root, "one": one, "np": np, "math": math}
    exec(compile(source, name, "exec"), names)
    f: Callable[..., Any] = names["f"]
    return f


POINTS = ((0.513, 2.017), (-0.531, 1.733), (2.619, -1.547, 0.461), (3.113, 2.241, 1.907, -0.439),
          (-0.617, -1.223), tuple(2.0531 + 0.0977 * k for k in range(15)),
          (1.2117, -2.031, 2.0613, -3.017, 4.0271) * 3)


def outcome(f: Callable[..., Any], x: Any) -> Any:
    try:
        return float(f(x.copy()))
    except (ValueError, IndexError, ZeroDivisionError) as e:
        return type(e), str(e)


def slopes(f: Callable[..., Any], x: Any) -> Any:
    found = []
    for k in range(len(x)):
        step = np.zeros(len(x))
        step[k] = 1e-6
        found.append((f(x + step) - f(x - step)) / 2e-6)
    return np.array(found)


def is_right(source: str, points: Any = POINTS) -> bool:
    """Return whether a program is captured; assert that it is right then."""
    f = made(source)
    value, slope = tracejit.jit(f), tracejit.grad(f)
    for point in points:
        x = np.array(point)
        expected = outcome(f, x)
        try:
            got = outcome(value, x)
            if isinstance(expected, float):
                assert got == pytest.approx(expected, rel=1e-12), (source, point)
                assert slope(x) == pytest.approx(slopes(f, x), rel=1e-5, abs=1e-5), (source, point)
            else:
                assert got == expected, (source, point)
        except tracejit.Refusal:
            return False
    return True


def drawn(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [program(rng.choice([*LOOPS]), tuple(rng.choices(STEPS, k=rng.randint(1, 4))),
                    rng.choice(HANDLERS), rng.choice(BEHIND)) for _ in range(count)]


@pytest.mark.parametrize("part", range(8))
def test_random_programs_are_right_or_refused(part: int) -> None:
    with tracejit.config(disable_jit=True):
        captured = [is_right(source) for source in drawn(40, 17)[part::8]]
    assert sum(captured) >= 3


SIMPLE = list(itertools.product(LOOPS, ("out.append(root(v))", "total += root(v); out.append(v)"),
                                ("out.append(-1.0)", "continue", "break", "pass")))


@pytest.mark.parametrize("case", SIMPLE, ids=lambda c: "-".join(c).replace(" ", ""))
def test_a_list_in_a_loop_is_captured(case: tuple[str, ...]) -> None:
    with tracejit.config(disable_jit=True):
        assert is_right(program(case[0], (case[1],), case[2], ""))


@pytest.mark.parametrize("source", [program("array", ("out.append(root(v))",), "continue", ""),
                                    program("unrolled", STEPS[:3], "out.append(total)", BEHIND[1])])
def test_compiled(source: str) -> None:
    assert is_right(source)


PARTIAL = ("s.update(int(one(v)) + k for k, v in enumerate([x[0], x[1]]))",
           "d.update((k, one(v)) for k, v in enumerate([x[0], x[1]]))",
           "q.extend(one(v) for v in [x[0], x[1]])", "q += map(one, [x[0], x[1]])",
           "xs.extend(map(one, x))", "xs += map(one, [x[0], x[1]])",
           "ys += (one(v) for v in x[:2])",
           "xs[0:1] = map(one, [x[0], x[1]])", "xs.sort(key=lambda v: one(x[0]) * one(x[1]) * v)",
           "d.update(map(lambda v: (int(one(v)), v), [x[0], x[1]]))")


@pytest.mark.parametrize("call", PARTIAL)
@pytest.mark.parametrize("around", ["", "if x[0] > -1.0:", "if x[-1] > 0.0:"])
def test_what_python_puts_one_by_one_is_there_up_to_the_error(call: str, around: str) -> None:
    tried = textwrap.indent(f"try:\n    {call}\nexcept ValueError:\n    c = 2.0", "    ")
    body = textwrap.indent(f"{around}\n{tried}" if around else textwrap.dedent(tried), "    ")
    source = f"""from collections import deque
def f(x):
    s, d, q, xs, ys, c = set(), dict(), deque(), [3.0, 2.0], [*x], 1.0
{body}
    n = len(s) + 10 * len(d) + 100 * len(q) + 1000 * len(xs) + 10000 * len(ys)
    return x[0] * c * n + xs[0]"""
    with tracejit.config(disable_jit=True):
        is_right(source, POINTS[:4])
