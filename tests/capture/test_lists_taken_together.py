"""A loop learns at once of the lists that it lengthens: it is not traced again for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import loaded

import tracejit
from tracejit.trace.regions import branches
from tracejit.trace.regions.loop_tracer import LoopTracer

RECURSION = """
def f(x):
    def visit(v, depth):
        if abs(v) < 0.1 or depth > 20:
            return v
        {names} = {values}
        below = visit(v / 2, depth + 1) + visit(v / 3, depth + 2)
        return below + {total}

    total = 0.0
    for v in x:
        total += visit(v, 0)
    return total
"""


def _recursion(count: int) -> str:
    names = [f"a{k}" for k in range(count)]
    return RECURSION.format(names=", ".join(names), total=" + ".join(names),
                            values=", ".join(f"v * {k + 2}" for k in range(count)))


def _attempts(program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often a program's loops and branches are traced; it is captured right."""
    seen: list[object] = []

    def noting(fn: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            seen.append(fn)
            return fn(*args)

        return noted

    x = np.array([0.73, -0.41, 0.31])
    with monkeypatch.context() as patch, tracejit.config(disable_jit=True):
        patch.setattr(LoopTracer, "attempt", noting(LoopTracer.attempt))
        patch.setattr(branches, "trace_branch", noting(branches.trace_branch))
        value, gradient = tracejit.value_and_grad(program)(x)
    np.testing.assert_allclose(value, program(x), rtol=1e-12)
    slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(gradient.sum(), slope, rtol=1e-6)
    return len(seen)


def test_more_stacks_are_no_more_attempts(tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_attempts(loaded(_recursion(n), tmp_path / f"stacks{n}.py"), monkeypatch)
                 for n in (2, 7))
    assert many <= few + 1, (few, many)
