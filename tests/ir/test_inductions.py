"""Ints that loops carry: they are Python's ints, and those that grow steadily are not carried."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ir_text import cases, graph_of, text_of
from written import function_of

import tracejit
import tracejit.api
from tracejit.ir.control import LoopEqn
from tracejit.ir.inductions import drop_inductions
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph
from tracejit.ir.walk import all_eqns

# --- what becomes of a graph --------------------------------------------------------------------

TABLE = cases("""
    an int that grows by one is the number of the iteration and its start
        (%x: f64[n])
        %0: i64[], %1: f64[] = for_(3, 0.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %k: i64[], %s: f64[]) {
            %2: f64[] = cast(%k) {dtype=f64}
            %3: f64[] = add(%s, %2)
            %4: i64[] = size() {of=%k + 1}
            yield %4, %3
          }
        ]
        return %0, %1
    becomes
        %0: f64[] = for_(0.0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %s: f64[]) {
            %k: i64[] = size() {of=%i + 3}
            %1: f64[] = cast(%k) {dtype=f64}
            %2: f64[] = add(%s, %1)
            yield %2
          }
        ]
        %3: i64[] = size() {of=n + 3}
        return %3, %0

    a product of itself stays carried
        (%x: f64[n])
        %0: i64[] = for_(3) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %k: i64[]) {
            %1: i64[] = mul(%k, 2)
            yield %1
          }
        ]
        return %0
    stays

    what grows by an item of an array stays carried
        (%x: i64[n])
        %0: i64[] = for_(3) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %k: i64[]) {
            %1: i64[] = index(%x) {at=(%i,)}
            %2: i64[] = add(%k, %1)
            yield %2
          }
        ]
        return %0
    stays
""")


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_graphs_become_those_of_the_table(case: Any) -> None:
    before = graph_of(case.before)
    assert text_of(drop_inductions(before)) == (
        text_of(before) if case.after is None else textwrap.dedent(case.after))


# --- random counting ----------------------------------------------------------------------------

class _Writer:
    """Writes a function that counts in nested loops and reads `w` at what it has counted."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = ["a", "b", "c"]
        self.indices: list[str] = []

    def source(self) -> str:
        """Return the text of the function."""
        starts = [self.random.choice(["0", "n", "-2", "m - 7", "5"]) for _ in self.counters]
        self.block(1, 3)
        body = "".join(f"    {line}\n" for line in self.lines)
        return (f"def f(w, n, m):\n    {', '.join(self.counters)} = {', '.join(starts)}\n"
                f"    s = 0.0\n{body}    s += w[(a + 2 * b + c) % 7]\n"
                "    return s + a * w[0] + b * w[1] + c * w[2]\n")

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth - 1) + text)

    def block(self, depth: int, left: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        if left and self.random.random() < 0.9:
            self.loop(depth, left)
            self.statement(depth)

    def loop(self, depth: int, left: int) -> None:
        i = f"i{depth}"
        bound = self.random.choice(["n", "m", "3", *(f"{j} + 1" for j in self.indices)])
        kind = self.random.randrange(5)
        if kind == 4:
            self.add(depth, f"{i} = {self.random.choice(['0', '-1'])}")
            self.add(depth, f"while {i} < {bound}:")
        else:
            self.add(depth, f"for {i} in " + (
                f"range({bound}):", f"range(1, {bound}):", f"range({bound}, 0, -1):",
                f"range(0, {bound}, 2):")[kind])
        self.indices.append(i)
        self.block(depth + 1, left - 1)
        if kind == 4:
            self.add(depth + 1, f"{i} += 1")
        self.indices.pop()

    def statement(self, depth: int) -> None:
        k, other = self.random.sample(self.counters, 2)
        step = self.random.choice(["1", "2", "n", "m - 3", other, f"{other} - {k}",
                                   *self.indices, *(f"3 * {j} - 1" for j in self.indices)])
        text = self.random.choice([
            f"{k} += {step}", f"{k} += {step}", f"{k} -= {step}", f"{k} = {other} + 1",
            f"s += w[({k} + {other}) % 7]", f"s += w[{k} % 7] * (0.5 + {other} % 3)",
            f"if {k} % 2: {k} += {step}"])
        self.add(depth, text)


def _function(seed: int) -> Callable[..., Any]:
    return function_of(_Writer(seed).source(), f"counting {seed}")


WEIGHTS = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
SIZES = [(4, 3), (0, 2), (1, 0), (3, 5)]


@pytest.mark.parametrize("seed", range(300))
def test_counting_is_pythons(seed: int) -> None:
    f = _function(seed)
    before = tracejit.jit(f).trace(WEIGHTS, 4, 3).program.graph
    after = drop_inductions(before)
    verify_graph(after)
    for n, m in SIZES:
        assert interpret(after, WEIGHTS, n, m) == (f(WEIGHTS, n, m),)


@pytest.mark.parametrize("seed", range(300))
def test_derivatives_after_counting_are_those_of_a_linear_function(seed: int) -> None:
    f = _function(seed)
    compute = tracejit.value_and_grad(f)
    for n, m in SIZES:
        value, gradient = compute(WEIGHTS, n, m)
        assert value == f(WEIGHTS, n, m)
        assert gradient.tolist() == [f(e, n, m) for e in np.eye(7)]


def test_most_counters_are_not_carried() -> None:
    """Were none found, the laws above would hold, too."""
    def triangle(x: Any, n: int) -> Any:
        s, place = 0.0, 0
        for i in range(n):
            for j in range(i, n):
                s += x[place] * j
                place += 1
        return s

    graph = tracejit.grad(triangle).trace(np.ones(10), 4).graph
    loops = [LoopEqn(e) for e in all_eqns(graph.block) if "for" in e.op.name]
    assert loops and all(v.aval.dtype == float for loop in loops for v in loop.carried)
