"""A name that an expression may bind or leave alone, after a branch on data that binds it too.

Branches and loops merge the names that are live. A walrus in a part of an expression
that is not always evaluated leaves the name as it was; a name after `as` is bound before the body.
"""

from __future__ import annotations

import contextlib
import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

MAYBE = [
    "y = (x > 2.0) and (z := x * 5.0)",
    "y = (x > 2.0) or (z := x * 5.0)",
    "y = (x > 3.0) and (x > 1.0 or (z := x * 5.0))",
    "y = x if x > 2.0 else (z := x * 5.0)",
    "y = (z := x * 5.0) if x > 2.0 else x",
    "y = 2.0 < x < (z := x * 2.0)",
    "y = 0.1 < x < (z := x * 2.0)",
    "assert x > 0.0, (z := 3.0)",
    "(x > 2.0) and (z := x * 5.0)",
    "y = x * (1.0 if x > 2.0 and (z := x) > 0.0 else 0.0)",
    "y = (lambda w: (z := w * 2.0))(x)",
    "y = [(z := x * k) for k in range(3)]",
    "y = [(z := x * k) for k in range(0)]",
]
ALWAYS = [
    "y = (z := x * 5.0) > 1.0 and x > 2.0",
    "y = (z := x * 5.0) < x < 3.0",
    "y = 0.1 < (z := x * 5.0) < x",
    "y = x if (z := x * 5.0) > 7.0 else 0.0",
    "with contextlib.nullcontext(x * 2.0) as z: y = z + 1.0",
    "with contextlib.nullcontext(z) as w, contextlib.nullcontext(w * 2.0) as z: y = w",
    "with contextlib.nullcontext((x, x * 2.0)) as (w, z): y = w",
]
AROUND = {
    "a branch": "    z = x * 1.0\n    if x > 1.0:\n        z = x * 3.0\n    {}\n    return z * x",
    "a loop": "    z = x * 1.0\n    for k in range(n):\n        if x > 1.0:\n"
              "            z = z * 3.0\n        {}\n    return z * x",
    "in a loop": "    z = x * 1.0\n    for k in range(n):\n        {}\n        z = z + x\n"
                 "    return z * x",
}


@pytest.mark.parametrize("statement", MAYBE + ALWAYS)
@pytest.mark.parametrize("around", AROUND)
def test_a_name_is_what_python_leaves_it(around: str, statement: str) -> None:
    names: dict[str, Any] = {"contextlib": contextlib}
    text, file = f"def f(x, n):\n{AROUND[around].format(statement)}\n", f"<{around} {statement}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    staged = tracejit.value_and_grad(names["f"])
    with tracejit.config(disable_jit=True):
        for x in (0.7, 1.5, 2.5):
            value, slope = staged(x, 2)
            assert np.isclose(value, names["f"](x, 2), rtol=1e-12)
            step = (names["f"](x + 1e-6, 2) - names["f"](x - 1e-6, 2)) / 2e-6
            assert np.isclose(slope, step, rtol=1e-6, atol=1e-6)


class Spring:
    """A manager that changes its attribute on the way in and out."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __enter__(self) -> Spring:
        self.k = self.k + 1.0
        return self

    def __exit__(self, *error: object) -> bool:
        self.k = self.k * 0.5
        return False


def _springs(x: float, p: Any) -> float:
    t = x * 0.5
    for k in range(len(p)):
        if p[k] < 0.5:
            if t > 0.2:
                with Spring(p[-1]) as o:
                    t += o.k * 0.5
            for _ in range(3):
                with Spring(x) as o:
                    t += np.sin(o.k)
    return t


def test_a_manager_that_iterations_make_is_not_carried() -> None:
    p = np.array([0.3, 0.7, -1.1])
    with tracejit.config(disable_jit=True):
        traced = tracejit.value_and_grad(_springs).trace(tracejit.spec("float"), p)
        value, slope = tracejit.value_and_grad(_springs)(0.5, p)
    assert str(traced.graph).count("for_(") == 4  # two forward and two backward
    assert np.isclose(value, _springs(0.5, p))
    assert np.isclose(slope, (_springs(0.5 + 1e-6, p) - _springs(0.5 - 1e-6, p)) / 2e-6)
