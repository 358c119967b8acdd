"""Elements that a loop does not write to again are read from its result: gradients stay right."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import function_of

import tracejit
from tracejit.autodiff.keeping import Kept
from tracejit.ir.interpreter import interpret
from tracejit.ir.walk import all_eqns


class _Writer:
    """Writes a function that fills an array in nested loops from elements of the same array."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indices: list[str] = []

    def source(self, *, given: bool = False) -> str:
        """Return the text of the function; places of the array are between 0 and 39.

        given -- whether the array begins as a copy of an argument
        """
        for _ in range(self.random.randint(1, 2)):
            self.loop(1)
        body = "".join(f"    {line}\n" for line in self.lines)
        begin = ("def f(w, g, n):\n    a = g.copy()\n" if given else "def f(w, n):\n"
                 "    a = np.zeros((40, 40), dtype=w.dtype)\n    a[:, :] = w[0] + 0.5\n")
        return (f"import numpy as np\n\n\n{begin}"
                f"    s = w[1] * 0.0\n{body}    return s + np.sum(a * a) * 0.01\n")

    def loop(self, depth: int) -> None:
        i = "ijk"[depth - 1]
        outer = self.indices[-1] if self.indices else "n"
        kind = self.random.randrange(6)
        if kind == 5:
            self.add(depth, f"{i} = 0")
        self.add(depth, (f"for {i} in range({outer}):", f"for {i} in range(n - 1, -1, -1):",
                         f"for {i} in range(1, n):", f"for {i} in range(0, n, 2):",
                         f"for {i} in range({outer} - 1, -1, -1):", f"while {i} < n:")[kind])
        self.indices.append(i)
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)
        if depth < 3 and self.random.random() < 0.7:
            self.loop(depth + 1)
            if self.random.random() < 0.5:
                self.statement(depth + 1)
        if kind == 5:
            self.add(depth + 1, f"{i} += 1")
        self.indices.pop()

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth - 1) + text)

    def statement(self, depth: int) -> None:
        condition = ""
        if len(self.indices) > 1 and self.random.random() < 0.4:
            a, b = self.random.sample(self.indices, 2)
            condition = f"if {a} {self.random.choice(['<', '<=', '==', '!=', '>'])} {b}: "
        term = f"0.4 * np.sin({self.read()} * {self.read()})"
        term += f" + 0.3 * w[{self.random.choice(self.indices)}"
        self.add(depth, condition + self.random.choice([
            f"a[{self.place()}] = {term} % 3]", f"a[{self.place()}] = {term} % 3]",
            f"a[{self.place()}] += {term} % 3]", f"s = s * 0.7 + {term} % 3]",
            f"a[{self.one()}] = 0.4 * a[{self.one()}] * np.cos({self.read()}) + {term} % 3]"]))

    def read(self) -> str:
        return self.random.choice([f"a[{self.place()}]", f"a[{self.place()}]", "s",
                                   f"np.sum(a[{self.one()}, 3:9])"])

    def one(self) -> str:
        i, j = (self.random.choice(self.indices) for _ in range(2))
        return self.random.choice([f"{i} + 5", f"{i} + 4", f"{i} + 6", f"n - {i} + 4", f"{i} + {j}",
                                   f"2 * {i} + 5", "7", f"{i} - {j} + 9", f"({i} * 3) % 5"])

    def place(self) -> str:
        return f"{self.one()}, {self.one()}"


def _function(seed: int) -> Callable[..., Any]:
    return function_of(_Writer(seed).source(), f"filling {seed}")


W = np.array([0.3, -0.6, 0.8, 0.45])


@pytest.mark.parametrize("seed", range(500))
def test_gradients_are_complex_steps(seed: int) -> None:
    f = _function(seed)
    graph = tracejit.grad(f).trace(W, 4).graph
    for n in (4, 1, 0):
        (slope,) = interpret(graph, W, n)
        steps = [f(W + 1e-30j * e, n).imag / 1e-30 for e in np.eye(len(W))]
        np.testing.assert_allclose(slope, steps, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(500))
def test_gradients_by_what_the_array_begins_as_are_complex_steps(seed: int) -> None:
    f = function_of(_Writer(seed).source(given=True), f"filling what is given {seed}")
    r = np.random.default_rng(seed)
    g, h = r.normal(size=(2, 40, 40))
    graph = tracejit.grad(f, (0, 1)).trace(W, g, 4).graph
    for n in (4, 1, 0):
        slopes = interpret(graph, W, g, n)
        step = f(W + 1e-30j * W, g + 1e-30j * h, n).imag / 1e-30
        np.testing.assert_allclose(slopes[0] @ W + np.sum(slopes[1] * h), step, rtol=1e-9,
                                   atol=1e-12)


# --- nothing is kept ----------------------------------------------------------------------------

def cholesky(a: Any) -> Any:
    n = len(a)
    root = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            t = a[i, j]
            for k in range(j):
                t -= root[i, k] * root[j, k]
            if i == j:
                root[i, j] = np.sqrt(t)
            else:
                root[i, j] = t / root[j, j]
    return np.sum(np.log(np.diag(root)))


def elimination(a: Any) -> Any:
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(np.log(np.diag(a)))


def alignment(a: Any) -> Any:
    n = len(a)
    d = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            d[i, j] = np.logaddexp(d[i - 1, j] * d[i, j - 1], d[i - 1, j - 1]) + a[i - 1, j - 1]
    return d[n, n]


def steps(a: Any) -> Any:
    n = len(a)
    u = np.zeros((n, n))
    u[0] = a[0]
    for t in range(n - 1):
        for i in range(1, n - 1):
            u[t + 1, i] = u[t, i - 1] * u[t, i] + np.sin(u[t, i + 1]) + a[t, i]
    return np.sum(u * u)


def triangle_in_place(a: Any) -> Any:
    b = a.copy()
    for i in range(len(b)):
        for j in range(len(b)):
            for k in range(i + 1, len(b)):
                b[i, j] += b[k, j] * b[k, i]
    return np.sum(b * b)


def from_below(a: Any) -> Any:
    b = a.copy()
    for i in range(len(b) - 1, 0, -1):
        for j in range(len(b) - 1):
            b[i, j] = b[i, j + 1] * b[i - 1, j] * b[i, j]
    return np.sum(b * b)


@pytest.mark.parametrize("f", [cholesky, elimination, alignment, steps, triangle_in_place,
                               from_below], ids=lambda f: f.__name__)
def test_what_is_written_once_is_not_kept(f: Callable[..., Any]) -> None:
    a = np.eye(4) * 3 + 0.25
    traced = tracejit.grad(f).trace(a)
    assert not any(v.is_log for e in all_eqns(traced.graph.block) for v in e.outputs)
    kept = [note for note in traced.graph.notes if isinstance(note, Kept)]
    assert kept
    assert [r.name for k in kept for r in k.stored if r.name.startswith("index ")] == []
    tracejit.check_grads(f, (a,))
