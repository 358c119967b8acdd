"""The work of each transform grows with the depth of a nest as a polynomial, and not as 2 ** depth.

A rule that runs over a region twice, to find out what has a tangent and to emit, runs 2 ** n times
over the innermost of n regions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import loaded

import tracejit
from tracejit.ir.builder import Builder
from tracejit.trace.syntax.liveness import analyse

X, Z = 4.3, 1.2


def _nest(head: str, step: str, depth: int) -> str:
    lines = ["y = m = 0.0 * z"]
    for k in range(depth):
        lines += ["    " * k + head.format(k=k), "    " * (k + 1) + step.format(k=k)]
    lines += ["    " * depth + "m = m + x", "return y * z + m"]
    return "def f(x, z):\n" + "".join(f"    {line}\n" for line in lines)


def _chain(depth: int) -> str:
    lines = [f"{'el' if k else ''}if x < {k}:\n        y = {k} * x * z" for k in range(depth)]
    return "def f(x, z):\n" + "".join(f"    {line}\n" for line in [
        *lines, "else:\n        y = z", "return y * z"])


NESTS: dict[str, tuple[int, Callable[[int], str]]] = {
    "branches": (5, lambda n: _nest("if x > {k}:", "y = y + {k} * x * z", n)),
    "a chain": (5, _chain),
    "loops": (2, lambda n: _nest("for i{k} in range(int(z)):", "y = m * x + y", n)),
}

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jit": lambda f: tracejit.jit(f)(X, Z),
    "grad": lambda f: tracejit.grad(f, argnums=(0, 1))(X, Z),
    "jvp": lambda f: tracejit.jvp(f, (X, Z), (1.0, 0.5)),
    "grad of grad": lambda f: tracejit.grad(tracejit.grad(f))(X, Z),
    "jvp of grad": lambda f: tracejit.jvp(tracejit.grad(f), (X, Z), (1.0, 0.5)),
    "vmap of grad": lambda f: tracejit.vmap(tracejit.grad(f))(np.array([X, 2.2]),
                                                              np.array([Z, 1.1])),
    "linearize": lambda f: tracejit.linearize(f, X, Z)[0],
    "jacobian_sparsity": lambda f: tracejit.jacobian_sparsity(f, X, Z),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("nest", NESTS)
def test_work_is_a_polynomial_of_the_depth(nest: str, transform: str, tmp_path: Path,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = 0
    append = Builder.append

    def counting(self: Builder, *args: Any) -> Any:
        nonlocal emitted
        emitted += 1
        return append(self, *args)

    monkeypatch.setattr(Builder, "append", counting)
    depth, text = NESTS[nest]
    counts = []
    for n in (depth, 2 * depth):
        f, emitted = loaded(text(n), tmp_path / f"nest_of_{n}.py"), 0
        with tracejit.config(disable_jit=True):
            TRANSFORMS[transform](f)
        counts.append(emitted)
    assert counts[1] <= 5 * counts[0]  # the square of the depth, and some more


@pytest.mark.parametrize("nest", NESTS)
def test_derivatives_of_nests_are_right(nest: str, tmp_path: Path) -> None:
    depth, text = NESTS[nest]
    f = loaded(text(2 * depth), tmp_path / "nest.py")
    h = 1e-6
    slope = (f(X + h, Z) - f(X - h, Z)) / (2 * h) + 0.5 * (f(X, Z + h) - f(X, Z - h)) / (2 * h)
    with tracejit.config(disable_jit=True):
        value, dot = tracejit.jvp(f, (X, Z), (1.0, 0.5))
    assert value == f(X, Z)
    assert dot == pytest.approx(slope, rel=1e-7)


def test_names_of_loops_are_found_in_a_polynomial_of_the_depth() -> None:
    """What an iteration leaves for the next one is known after a second pass over its loop."""
    counts = []
    for depth in (6, 12):
        lines = ["p0 = m"]
        for k in range(depth):
            pad = "    " * k
            lines += [f"{pad}for i{k} in z:", f"{pad}    y, p{k}, p{k + 1} = y + p{k}, m, m"]
        body, calls = ast.parse("\n".join(lines)).body, 0

        def counting(frame: object, event: str, of: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(counting)
        try:
            changes = analyse(body, {"y", "m", *(f"p{k}" for k in range(depth + 1))})
        finally:
            sys.setprofile(None)
        assert {c.carried for c in changes.values()} == {(f"p{k}", "y") for k in range(depth)}
        counts.append(calls)
    assert counts[1] <= 8 * counts[0]
