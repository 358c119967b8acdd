"""An iterator that a `for` leaves by a `break`, and that something reads on in.

The oracle is Python. Where data decides how far the loop has come, reading on is refused.
"""

from __future__ import annotations

import itertools
import linecache
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

MADE = {
    "list": "iter([1.0, 2.0, x, 4.0, 5.0])", "numbers": "iter([1.0, 2.0, 3.0, 4.0, 5.0])",
    "array": "iter(a)", "range": "iter(range(1, 6))", "text": "map(float, iter('12345'))",
    "dict": "iter({'a': 1.0, 'b': 2.0, 'c': 3.0}.values())", "map of an array": "map(twice, a)",
    "map": "map(twice, [1.0, 2.0, 3.0, 4.0])", "reversed array": "reversed(a)",
    "reversed": "reversed([1.0, 2.0, 3.0])", "deque": "iter(deque([1.0, 2.0, 3.0, 4.0]))",
    "chain": "itertools.chain([1.0, 2.0], [3.0, 4.0])",
    "expression of an array": "(2.0 * v for v in a)",
    "expression": "(2 * v for v in [1.0, 2.0, 3.0])", "generator": "items(a)",
    "filter": "filter(twice, [1.0, 2.0, 3.0, 4.0])", "items": "iter(list(a))",
}
LEFT = {
    "data": "for v in i:\n        s = s + v\n        if v * x > 2.0: break",
    "enumerate": "for k, v in enumerate(i):\n        s = s + v\n        if v * x > 2.0: break",
    "zip": "for v, w in zip(i, [1.0, 2.0, 3.0, 4.0]):\n        s = s + v * w\n"
           "        if v * x > 2.0: break",
    "a number": "for k, v in enumerate(i):\n        s = s + v\n        if k == 1: break",
    "never": "for v in i:\n        s = s + v\n        if v * x > 1000.0: break",
    "else": "for v in i:\n        if v * x > 2.0: s = s + v; break\n    else: s = 7.0 * x",
}
READ = {
    "next": "return s + 10.0 * next(i, 100.0) * x", "sum": "return s + 10.0 * sum(i) * x",
    "for": "for v in i: s = s + 10.0 * v\n    return s * x",
    "list": "return s * x + 10.0 * len(list(i))", "unpack": "q, *b = i\n    return s * x + q",
    "comprehension": "return s * x + sum([q * x for q in i])",
    "enumerate": "for k, q in enumerate(i): s = s + k * q\n    return s * x",
    "zip": "for k, q in zip(i, [1.0, 2.0]): s = s + k * q\n    return s * x",
    "max": "return s + max(i, default=2.0)", "in": "return s * x if 3.0 in i else x",
    "star": "return s * np.array([1.0, *i]).sum()", "map": "return s + sum(map(twice, i))",
    "extend": "b = [x]; b.extend(i)\n    return s * sum(b)", "nothing": "return s * x",
}


def made(how: str, left: str, read: str) -> Callable[..., Any]:
    source = ("def twice(v): return 2.0 * v\n"
              "def items(a):\n    for v in a: yield v\n"
              f"def f(x, a):\n    s = 0.0\n    i = {MADE[how]}\n    {LEFT[left]}\n"
              f"    {READ[read]}\n")
    name = f"<left {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "itertools": itertools, "deque": deque}
    exec(compile(source, name, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


def outcome(fn: Callable[..., Any], *args: Any) -> Any:
    try:
        return float(fn(*args))
    except tracejit.Refusal:
        raise
    except (ValueError, StopIteration, RuntimeError) as e:
        return type(e)


@pytest.mark.parametrize("case", [*itertools.product(MADE, LEFT, READ)], ids="-".join)
def test_reading_on_is_as_in_python_or_refused(case: tuple[str, str, str]) -> None:
    fn, a = made(*case), np.arange(1.0, 6.0)
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(fn)
        for x in (1.5, 0.9, 0.1):
            expected = outcome(fn, x, a)
            try:
                found = outcome(compiled, x, a)
            except tracejit.Refusal:
                assert case[2] != "nothing", case
                continue
            if isinstance(expected, type) or isinstance(found, type):
                assert isinstance(found, type) and isinstance(expected, type), (case, x)
            else:
                assert np.isclose(found, expected), (case, x, found, expected)


@pytest.mark.parametrize("how", ["numbers", "array", "map", "chain"])
def test_reading_on_after_a_break_on_data_is_refused_at_its_line(how: str) -> None:
    with pytest.raises(tracejit.Refusal, match=r":10: reading on in an iterator that a loop left"):
        tracejit.jit(made(how, "data", "sum"))(1.5, np.arange(1.0, 6.0))
