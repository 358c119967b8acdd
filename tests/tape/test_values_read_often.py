"""Values that many calls read, of numbers and arrays: a tape adds what all of them say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tracejit

STEPS = ("{a} + {b}", "{a} * {b}", "np.sin({a})", "{a} - 2.0 * {b}", "np.stack([{a}, {a}]).sum()",
         "np.stack([{a}, {b}])[0]", "np.hstack([{a}, {b}, {a}])[2]", "np.max(np.stack([{a}, {b}]))",
         "np.hypot({a}, 1.0)", "np.linalg.norm(np.stack([{a}, {b}, {a}]))",
         "np.where({a} > {b}, {a}, {b})",
         "np.cumsum(np.stack([{a}, {b}]))[1]", "np.dot(np.stack([{a}, {b}]), np.ones(2))",
         "np.tanh(np.stack([{a}, {a}])).mean()", "(x * {a}).sum()", "x[::-1][0] * {a}")


def program(seed: int) -> Any:
    """Return a function of three numbers whose values are read again and again."""
    draw = random.Random(seed)
    lines = ["def f(x):", "    v0, v1, v2 = x[0], x[1], x[2]"]
    for k in range(3, 12):
        a, b = (f"v{draw.randrange(max(0, k - 4), k)}" for _ in "ab")
        lines.append(f"    v{k} = 0.5 * " + draw.choice(STEPS).format(a=a, b=b))
    lines.append("    return v11 + v10 * v9")
    scope: dict[str, Any] = {"np": np}
    exec("\n".join(lines), scope)
    return scope["f"]


@pytest.mark.parametrize("seed", range(60))
def test_all_uses_of_a_value_are_in_its_gradient(seed: int) -> None:
    f, at = program(seed), np.array([0.7, -0.4, 1.3])
    with tracejit.config(disable_jit=True):
        x = tracejit.Variable(at)
        with tracejit.GradientTape() as tape:
            y = f(x)
        found = tape.gradient(y, x).numpy()
    differences = [(f(at + h) - f(at - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-7)
