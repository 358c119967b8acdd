"""Products of a block of iterations: results stay, what must not be multiplied is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from program_laws import Program

import tracejit
from tracejit.ir.control import region_kind
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph
from tracejit.ir.walk import all_eqns
from tracejit.passes import blocking, loop_products
from tracejit.passes.blocking import block_products

SIZES = [(0, 3, 2), (3, 4, 4), (4, 1, 5), (5, 9, 3), (9, 4, 9), (8, 13, 1), (11, 0, 4)]
"""Iterations, and the sizes of a matrix; a block has four iterations here."""

SMALL = [(loop_products, "BLOCK", 4), (blocking, "BLOCK", 4), (loop_products, "WORTHWHILE", 1)]
"""What lets loops of few iterations over small matrices be changed."""

ROW_BY_ROW = """
for i in range(n):
    y[i] = np.tanh(a[i] @ b)
"""
SHIFTED = """
for i in range(1, n):
    y[i] = np.sin(b.T @ (a[i - 1] * a[i] - 0.3))
"""
BACKWARDS = """
for i in range(n - 1, -1, -1):
    y[i] = a[i] @ b + 0.5 * y[min(i + 1, n - 1)]
"""
RECURRENT = """
h = np.zeros(m)
for i in range(n):
    h = np.tanh(0.3 * h + a[i] @ b)
    y[i] = h
"""
STATE = """
h = 0.1 * np.ones(k)
for i in range(n):
    h = np.tanh(b @ np.cos(b.T @ h) + a[i])
    y[i] = b.T @ h
"""
OUTER = """
for i in range(n):
    c += np.outer(np.sin(a[i]), np.cos(a[i] @ b))
"""
GRAM = """
g = np.zeros((k, k))
for i in range(k):
    g[i:, i] = g[i, i:] = a[:, i] @ a[:, i:]
for i in range(min(n, k)):
    y[i] = np.sum(np.cos(g[i]) * (1.0 + g[:, i]))
"""
STRICTLY = """
g = np.eye(k)
for i in range(k - 1):
    g[i + 1:, i] = g[i, i + 1:] = np.tanh(a[:, i] @ a[:, i + 1:])
c[:] = g @ b
"""
PROGRAMS = {"rows": ROW_BY_ROW, "shifted": SHIFTED, "backwards": BACKWARDS,
            "recurrent": RECURRENT, "state": STATE, "outer": OUTER, "gram": GRAM,
            "strictly": STRICTLY}


def program(loop: str) -> str:
    """Return a program around some loops, of an n by k and a k by m matrix."""
    lines = ["n, k = a.shape", "m = b.shape[1]", "y = np.zeros((n, m))", "c = np.zeros((k, m))",
             *loop.strip().splitlines(), "return np.sum(y * np.cos(y)) + np.sum(np.sin(c) * c)"]
    return "\n".join(["def f(a, b):", *("    " + line for line in lines), ""])


def arguments(n: int, k: int, m: int) -> list[np.ndarray]:
    """Return two matrices that can be multiplied."""
    rng = np.random.default_rng([n, k, m])
    return [rng.uniform(-1.0, 1.0, shape) for shape in ((n, k), (k, m))]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Make functions of loops; blocks have four iterations meanwhile, however small a matrix."""
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)
    programs: list[Program] = []

    def make(loop: str) -> Any:
        programs.append(Program(program(loop)))
        return programs[-1].function

    yield make
    for each in programs:
        each.forget()


def count_loops(graph: Any) -> int:
    """Return how many loops a graph has, at any depth."""
    return sum(region_kind(eqn) == "for" for eqn in all_eqns(graph.block))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_blocks_keep_values_and_gradients(name: str, made: Callable[[str], Any]) -> None:
    function = made(PROGRAMS[name])
    for n, k, m in SIZES:
        args = arguments(n, k, m)
        graph = tracejit.value_and_grad(function, argnums=(0, 1)).trace(*args).graph
        changed, loops = block_products(graph)
        verify_graph(changed)
        assert loops or n < 4 or k < 4
        assert count_loops(changed) <= count_loops(graph) + 2 * len(loops)
        new = interpret(changed, *args)
        for a, b in zip(new, interpret(graph, *args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(new[0], function(*args), rtol=1e-12, atol=1e-12)


def test_what_is_not_finite_reaches_what_it_reached(made: Callable[[str], Any]) -> None:
    a, b = arguments(5, 11, 3)
    a[2, 6] = np.inf
    graph = tracejit.value_and_grad(made(GRAM), argnums=(0, 1)).trace(a, b).graph
    changed, loops = block_products(graph)
    with np.errstate(all="ignore"):
        for new, old in zip(interpret(changed, a, b), interpret(graph, a, b), strict=True):
            np.testing.assert_array_equal(np.isfinite(new), np.isfinite(old))
    assert len(loops) == 2


STAY = {
    "the vector is carried": "h = np.ones(k)\nfor i in range(n):\n    h = np.tanh(b @ (b.T @ h))",
    "the matrix is carried": "for i in range(n):\n    b = 0.9 * b\n    y[i] = a[i] @ b",
    "the sum is read": "for i in range(n):\n    c += np.outer(c[:, 0], a[i] @ c)",
    "the sum is scaled": "for i in range(n):\n    c = 0.9 * c + np.outer(a[i, :k], y[i])",
    "every second row": "for i in range(n // 2):\n    y[2 * i] = a[2 * i] @ b",
    "vectors get shorter": "for i in range(k):\n    y[0] += a[0, i:] @ b[i:]",
    "parts get longer": "for i in range(k):\n    c[i, 0] = np.sum(a[:, i] @ a[:, :i])",
    "a branch": "for i in range(n):\n    if a[i, 0] > 0.0:\n        y[i] = a[i] @ b",
    "a loop is added": "for i in range(n):\n    d, e = b, 1.0\n    for j in range(k):\n        "
                       "d, e = np.sin(d), e + d[0, 0]\n    c += d\n    y[i] = e",
    "matrices are multiplied": "h = np.eye(k)\nfor i in range(n):\n    h = np.tanh(h @ h)\n"
                               "    y[i] = a[i] @ b + h[0, 0]",
    "elements": "for i in range(n):\n    for j in range(m):\n        y[i, j] = a[i, 0] * b[0, j]",
}


@pytest.mark.parametrize("why", sorted(STAY))
def test_other_loops_stay(why: str, made: Callable[[str], Any]) -> None:
    graph = tracejit.jit(made(STAY[why])).trace(*arguments(6, 5, 4)).graph
    changed, loops = block_products(graph)
    assert not loops and changed is graph


def test_small_matrices_and_strict_sums_stay() -> None:
    made = Program(program(ROW_BY_ROW))
    try:
        jit, args = tracejit.jit(made.function), arguments(200, 50, 60)
        assert "64 iterations at a time" in jit.trace(*args).lower().why()
        assert "iterations at a time" not in tracejit.jit(
            made.function, fp="strict").trace(*args).lower().why()
        known = tracejit.jit(lambda: made.function(*arguments(200, 5, 6)))
        assert "iterations at a time" not in known.trace().lower().why()
    finally:
        made.forget()


@pytest.mark.parametrize("name", ["state", "gram"])
def test_kernels_compute_blocks_as_numpy(name: str) -> None:
    made = Program(program(PROGRAMS[name]))
    try:
        args = [0.1 * x for x in arguments(140, 135, 50)]  # else `state` is chaotic
        direction = [np.cos(np.arange(x.size)).reshape(x.shape) / x.size for x in args]
        value, gradient = tracejit.value_and_grad(made.function, argnums=(0, 1))(*args)
        np.testing.assert_allclose(value, made.function(*args), rtol=1e-10)
        up, down = (made.function(*(x + h * v for x, v in zip(args, direction, strict=True)))
                    for h in (1e-5, -1e-5))
        expected = sum(np.sum(g * v) for g, v in zip(gradient, direction, strict=True))
        np.testing.assert_allclose((up - down) / 2e-5, expected, rtol=1e-5, atol=1e-7)
    finally:
        made.forget()


@pytest.mark.parametrize("n", [1, 4, 11, 12, 13])
def test_errors_of_iterations_stay(n: int, made: Callable[[str], Any]) -> None:
    function = made("for i in range(len(a) + 1):\n    y[min(i, 3)] = a[i] @ b")
    with tracejit.config(verify=True):
        graph = tracejit.jit(function).trace(*arguments(n, 4, 4))
        assert "iterations at a time" in graph.lower().why()
        with pytest.raises(IndexError, match=f"index {n} is out of bounds"):
            tracejit.jit(function)(*arguments(n, 4, 4))
        grad = tracejit.value_and_grad(made(ROW_BY_ROW), argnums=(0, 1))
        for size in (n, n + 1):
            value, _ = grad(*arguments(size, 4, 4))
            np.testing.assert_allclose(value, made(ROW_BY_ROW)(*arguments(size, 4, 4)))
