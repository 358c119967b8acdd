"""Arrays with two names, one of which is written by and bound anew within loops within loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import Refusal

SECOND = {"a name": ("w = a = {start}", "w"), "an item": ("a = {start}\nw = [a]", "w[0]"),
          "a view": ("a = {start}\nw = a[:2]", "w"), "an entry": ("a = {start}\nw = dict(a=a)",
                                                                  "w['a']"),
          "none": ("a = {start}\nw = 0.0", "w")}
STARTS = {"a size of its own": "np.broadcast_to(x, (3, n)).copy()", "of the argument": "x * 1.0"}
WRITES = {"an element": "a[i % 3] *= 0.3", "all": "a *= 0.5", "a row": "a[0:1] += 1.0"}
BINDINGS = {"in a branch": "if c > {k}: a = {new}",
            "in a loop": "t = c\nwhile t > {k}:\n    a = {new}\n    t = t * 0.5",
            "always": "a = {new}"}
NEW = {"a product": "np.tanh(y.T * a)", "another": "a * y[0]", "a sum": "a + 1.0"}
LOOPS = [("for _ in x:",), ("for _ in x:", "for i in range(n):"),
         ("while s > 1.0:", "for i in range(n):"), ("for i in range(n):", "while s > 1.0:")]


def _indented(text: str, depth: int) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in text.splitlines())


def _program(second: str, start: str, write: str, binding: str, new: str,
             loops: tuple[str, ...]) -> str:
    first, other = SECOND[second]
    text = "def f(x, y, c, n):\n" + _indented(
        first.format(start=STARTS[start]) + "\ni, s = 0, 5.0", 1)
    for depth, head in enumerate(loops, 1):
        text += _indented(head, depth)
        if head.startswith("while"):
            text += _indented("s = s * 0.6", depth + 1)
    inside = len(loops) + 1
    text += _indented(WRITES[write], inside)
    text += _indented(BINDINGS[binding].format(k=0.9, new=NEW[new]), inside)
    return text + _indented(f"return np.sum({other} * {other}) + 0.3 * np.sum(a)", 1)


CASES = [*itertools.product(SECOND, STARTS, WRITES, BINDINGS, NEW, LOOPS)]


def _function(text: str, name: str) -> Callable[..., Any]:
    import linecache
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), found)
    made: Callable[..., Any] = found["f"]
    return made


@pytest.mark.parametrize("part", range(36))
def test_no_write_is_missed(part: int) -> None:
    """Each program is right for both decisions, or refused; so many are not all refused."""
    right = 0
    for k, case in enumerate(CASES[part::36]):
        f = _function(_program(*case), f"<two names {part} {k}>")
        jitted = tracejit.jit(f)
        for c, n in ((0.5, 3), (2.0, 3)):
            x, y = np.arange(1.0, n + 1), np.ones((3, 3))
            try:
                with tracejit.config(disable_jit=True, verify=True):
                    found = jitted(x, y, c, n)
            except Refusal:
                break
            np.testing.assert_allclose(found, f(x, y, c, n), rtol=1e-12, err_msg=_program(*case))
            right += 1
    assert right


def test_a_size_of_one_is_written_as_before_the_loop() -> None:
    def f(x: Any, y: Any, a: float, n: int) -> Any:
        u = -x[1:]
        for _ in range(y.shape[1]):
            u = np.full(n - 1, a)
        rows = [y[k] * 1.0 for k in range(n)]
        for i in range(len(x)):
            if np.tanh(y[n - 1 - i, i % 3]) >= x[-1]:
                rows[n - 1 - i] *= 0.53
            else:
                u[u > 0.61] *= 0.3
        return np.sum(u) + np.sum(rows[0])

    for n in (4, 3, 2):
        x, y = np.linspace(0.2, 1.9, n), np.linspace(-1.0, 1.0, 3 * n).reshape(n, 3)
        with tracejit.config(disable_jit=True, verify=True):
            np.testing.assert_allclose(tracejit.jit(f)(x, y, 0.7, n), f(x, y, 0.7, n), rtol=1e-12)
