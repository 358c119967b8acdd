"""Which statements share loops, and why others do not: text in, text out."""

from __future__ import annotations

import string
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ir_text import graph_of, table

import tracejit.api
from tracejit.codegen import schedule
from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.liveness import Liveness
from tracejit.codegen.schedule import Apart, Nest, Single, Step, Style, schedule_block
from tracejit.codegen.statements import Statement
from tracejit.codegen.storage import choose_storage
from tracejit.ir.core import Graph, Value
from tracejit.ir.dims import format_dim
from tracejit.ir.printer import Names, format_graph

CASES = """
    results of one shape are one loop
        (%x: f64[n], %y: f64[n])
        %0: f64[n] = mul(%x, %y)
        %1: f64[n] = sin(%0)
        return %0, %1
    runs
        for i < n:
            put %0
            put %1

    results of two shapes are two
        (%x: f64[n], %y: f64[m])
        %0: f64[n] = sin(%x)
        %1: f64[m] = cos(%y)
        return %0, %1
    runs
        for i < n:
            put %0
        for i < m:
            put %1

    rows share a loop, and their elements another
        (%x: f64[n, m])
        %0: f64[n, m] = mul(%x, %x)
        %1: f64[n] = reduce_sum(%0) {axes=(1,)}
        return %0, %1
    runs
        for i < n:
            for j < m:
                put %0
                fold %1

    a sum over everything is folded beside what it sums
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[] = reduce_sum(%0) {axes=(0,)}
        return %0, %1
    runs
        for i < n:
            put %0
            fold %1

    memory that is filled does not part a fold from those that read what it reads
        (%x: f64[n, n])
        %0: f64[n] = reduce_sum(%x) {axes=(0,)}
        %1: f64[n, n] = add(%x, %0)
        %2: f64[n] = reduce_sum(%1) {axes=(0,)}
        %3: f64[n, n] = mul(%x, %1)
        %4: f64[n] = reduce_prod(%3) {axes=(0,)}
        return %2, %4
    runs
        for i < n:
            fill %0
        for i < n:
            for j < n:
                add %0
            fill %2
            fill %4
        for i < n:
            for j < n:
                add %2
                add %4
        %0 is apart: different iterations write the same elements of %0
        %2 is apart: an iteration reads elements of %0 that other iterations write

    a statement shares as many loops as it may, with an earlier nest, too
        (%x: f64[n, m], %y: f64[n])
        %0: f64[] = reduce_sum(%x) {axes=(0, 1)}
        %1: f64[n] = mul(%y, %0)
        %2: f64[n, m] = sin(%x)
        return %1, %2
    runs
        for i < n:
            for j < m:
                fold %0
                put %2
        for i < n:
            put %1
        %1 is apart: %0 is needed as a whole, and is complete only behind that loop

    but not past what it reads
        (%x: f64[n, m], %y: f64[n, 1])
        %0: f64[] = reduce_sum(%x) {axes=(0, 1)}
        %1: f64[n, 1] = mul(%y, %0)
        %2: f64[n, m] = mul(%x, %1)
        return %1, %2
    runs
        for i < n:
            for j < m:
                fold %0
        for i < n:
            put %1
            for j < m:
                put %2
        %1 is apart: %0 is needed as a whole, and is complete only behind that loop

    what needs a sum waits for its end
        (%x: f64[n])
        %0: f64[] = reduce_sum(%x) {axes=(0,)}
        %1: f64[n] = sub(%x, %0)
        return %1
    runs
        for i < n:
            fold %0
        for i < n:
            put %1
        %1 is apart: %0 is needed as a whole, and is complete only behind that loop

    what needs the sum of a row does so within the loop over rows
        (%x: f64[n, m])
        %0: f64[n] = reduce_sum(%x) {axes=(1,)}
        %1: f64[n, 1] = reshape(%0) {shape=(n, 1)}
        %2: f64[n, m] = sub(%x, %1)
        return %2
    runs
        for i < n:
            for j < m:
                fold %0
            for j < m:
                put %2
        %2 is apart: %0 is needed as a whole, and is complete only behind that loop

    columns are summed in memory, row by row
        (%x: f64[n, m])
        %0: f64[m] = reduce_sum(%x) {axes=(0,)}
        return %0
    runs
        for i < m:
            fill %0
        for i < n:
            for j < m:
                add %0

    the neighbour of an element is another iteration's
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n - 1] = index(%0) {at=(1:n,)}
        %2: f64[n - 1] = index(%0) {at=(0:n - 1,)}
        %3: f64[n - 1] = sub(%1, %2)
        return %0, %3
    runs
        for i < n:
            put %0
        for i < n - 1:
            put %3

    what an argument holds is there for every iteration
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n] = index(%x) {at=(n - 1:-1:-1,)}
        %2: f64[n] = mul(%1, %x)
        return %0, %2
    runs
        for i < n:
            put %0
            put %2

    the element from the end is another iteration's
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n] = index(%0) {at=(n - 1:-1:-1,)}
        %2: f64[n] = sin(%1)
        return %0, %2
    runs
        for i < n:
            put %0
        for i < n:
            put %2
        %2 is apart: an iteration reads elements of %0 that other iterations write

    a matrix and its transpose
        (%x: f64[n, n])
        %0: f64[n, n] = mul(%x, %x)
        %1: f64[n, n] = transpose(%0) {axes=(1, 0)}
        %2: f64[n, n] = add(%1, 1.0)
        return %0, %2
    runs
        for i < n:
            for j < n:
                put %0
        for i < n:
            for j < n:
                put %2
        %2 is apart: an iteration reads elements of %0 that other iterations write

    elements that data names
        (%x: f64[n], %k: i64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n] = gather(%0, %k) {axes=(0,), position=0}
        %2: f64[n] = neg(%1)
        return %0, %2
    runs
        for i < n:
            put %0
        for i < n:
            put %2
        %2 is apart: an iteration may touch any element of %0

    a running sum has its loop to itself
        (%x: f64[n])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = mul(%x, %x)
        return %0, %1
    runs
        for i < n:
            running %0
        for i < n:
            put %1
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself

    a running sum behind another loop
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n] = cumsum(%x) {axis=0, reverse=False}
        return %0, %1
    runs
        for i < n:
            put %0
        for i < n:
            running %1
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself

    running sums of rows share the loop over rows
        (%x: f64[n, m])
        %0: f64[n, m] = cumsum(%x) {axis=1, reverse=False}
        %1: f64[n, m] = mul(%x, %x)
        return %0, %1
    runs
        for i < n:
            for j < m:
                running %0
            for j < m:
                put %1
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself

    the same memory in another shape
        (%x: f64[n, m])
        %0: f64[n, m] = mul(%x, %x)
        %1: f64[n*m] = reshape(%0) {shape=(n*m,)}
        %2: f64[n*m] = neg(%1)
        return %2, %0
    runs
        for i < n:
            for j < m:
                put %0
                put %1
        for i < n*m:
            put %2

    the same rows in another shape
        (%x: f64[n, m, h])
        %0: f64[n, m, h] = mul(%x, %x)
        %1: f64[n, h, m] = reshape(%0) {shape=(n, h, m)}
        %2: f64[n, h, m] = neg(%1)
        return %2
    runs
        for i < n:
            for j < m:
                for k < h:
                    put %0
        for i < n:
            for j < h:
                for k < m:
                    put %2
        %2 is apart: %0 is read and written through different shapes

    what another iteration read is overwritten
        (%x: f64[n], %v: f64[n])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = index(%0) {at=(n - 1:-1:-1,)}
        %2: f64[n] = neg(%1)
        %3: f64[n] = update(%0, %v) {at=(0:n,)}
        %4: f64[n] = add(%3, %2)
        return %2, %4
    runs
        for i < n:
            running %0
        for i < n:
            put %2
        for i < n:
            put %3
            put %4
        %2 is apart: a running sum, or the search for an element, has its innermost loop to itself
        %3 is apart: an iteration writes elements of %0 that other iterations read

    what the same iteration read is overwritten
        (%x: f64[n], %v: f64[n])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = neg(%0)
        %2: f64[n] = update(%0, %v) {at=(0:n,)}
        %3: f64[n] = add(%2, %1)
        return %1, %3
    runs
        for i < n:
            running %0
        for i < n:
            put %1
            put %2
            put %3
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself

    what a loop in between reads is overwritten
        (%x: f64[n], %v: f64[n], %y: f64[m])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = mul(%x, %x)
        %2: f64[m] = index(%0) {at=(0:m,)}
        %3: f64[m] = add(%2, 1.0)
        %4: f64[n] = update(%0, %v) {at=(0:n,)}
        %5: f64[n] = add(%4, 1.0)
        return %1, %3, %5
    runs
        for i < n:
            running %0
        for i < n:
            put %1
        for i < m:
            put %3
        for i < n:
            put %4
            put %5
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself
        %4 is apart: it overwrites %0, which the loop of put %3 in between still reads

    two writes to one array whose places differ
        (%x: f64[n], %v: f64[m], %w: f64[m])
        %0: f64[n] = update(%x, %v) {at=(0:m,)}
        %1: f64[n] = update(%0, %w) {at=(1:m + 1,)}
        return %1
    runs
        for i < n:
            put %0
        for i < m:
            put %0
        for i < m:
            put %1
        %1 is apart: different iterations write the same elements of %0

    two writes to one array at the same places
        (%x: f64[n], %v: f64[m], %w: f64[m])
        %0: f64[n] = accumulate(%x, %v) {at=(0:m,)}
        %1: f64[n] = accumulate(%0, %w) {at=(0:m,)}
        return %1
    runs
        for i < n:
            put %0
        for i < m:
            add %0
            add %1

    two additions whose places differ: not in one loop
        (%x: f64[n], %v: f64[m], %w: f64[m])
        %0: f64[n] = accumulate(%x, %v) {at=(0:m,)}
        %1: f64[n] = accumulate(%0, %w) {at=(9:m + 9,)}
        return %1
    runs
        for i < n:
            put %0
        for i < m:
            add %0
        for i < m:
            add %1
        %1 is apart: different iterations write the same elements of %0

    two additions to other rows, in any order, but for the innermost loop
        (%x: f64[n, m], %v: f64[h, m], %w: f64[h, m])
        %0: f64[n, m] = accumulate(%x, %v) {at=(0:h, 0:m)}
        %1: f64[n, m] = accumulate(%0, %w) {at=(9:h + 9, 0:m)}
        return %1
    runs
        for i < n:
            for j < m:
                put %0
        for i < h:
            for j < m:
                add %0
            for j < m:
                add %1
        %1 is apart: different iterations write the same elements of %0

    a number comes as early as its operands are there
        (%x: f64[n], %a: f64[])
        %0: f64[n] = mul(%x, %x)
        %1: f64[] = sin(%a)
        %2: f64[n] = mul(%0, %1)
        return %0, %2
    runs
        sin %1
        for i < n:
            put %0
            put %2

    a number that needs a sum comes between
        (%x: f64[n])
        %0: f64[] = reduce_sum(%x) {axes=(0,)}
        %1: f64[] = sqrt(%0)
        %2: f64[n] = mul(%x, %1)
        return %2
    runs
        for i < n:
            fold %0
        sqrt %1
        for i < n:
            put %2
        %2 is apart: it works on %1, which sqrt %1 in between makes

    a check keeps its place, and what comes behind it stays behind
        (%x: f64[n], %c: bool[])
        %0: f64[n] = mul(%x, %x)
        check(%c) {error="ValueError", message="no"}
        %1: f64[n] = add(%x, %x)
        return %0, %1
    runs
        for i < n:
            put %0
        check
        for i < n:
            put %1
        %1 is apart: check keeps its place in between

    calls are vectorised in loops without loops inside
        (%x: f64[n], %y: f64[n, m])
        %0: f64[n] = exp(%x)
        %1: f64[n] = reduce_sum(%y) {axes=(1,)}
        return %0, %1
    runs
        for i < n:
            put %0
        for i < n:
            for j < m:
                fold %1
        %1 is apart: the loop calls functions that are vectorised only without loops inside

    a call behind a loop with a loop inside
        (%x: f64[n], %y: f64[n, m])
        %0: f64[n] = reduce_sum(%y) {axes=(1,)}
        %1: f64[n] = exp(%x)
        return %0, %1
    runs
        for i < n:
            for j < m:
                fold %0
        for i < n:
            put %1
        %1 is apart: it calls functions that are vectorised only in a loop without loops inside

    without a call they share the loop over rows
        (%x: f64[n], %y: f64[n, m])
        %0: f64[n] = mul(%x, %x)
        %1: f64[n] = reduce_sum(%y) {axes=(1,)}
        return %0, %1
    runs
        for i < n:
            put %0
            for j < m:
                fold %1

    a routine makes what the second loop needs
        (%x: f64[n, n], %y: f64[n, n])
        %0: f64[n, n] = add(%x, %y)
        %1: f64[n, n] = dot(%x, %y) {spec="ij,jk->ik"}
        %2: f64[n, n] = mul(%1, %y)
        return %0, %2
    runs
        dot %1
        for i < n:
            for j < n:
                put %0
                put %2

    what is read is overwritten in between
        (%x: f64[n], %v: f64[])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = mul(%x, %x)
        %2: f64[n] = mul(%0, 2.0)
        %3: f64[n] = update(%0, %v) {at=(0,)}
        %4: f64[n] = add(%3, 1.0)
        return %1, %2, %4
    runs
        for i < n:
            running %0
        for i < n:
            put %1
            put %2
        put %3
        for i < n:
            put %4
        %1 is apart: a running sum, or the search for an element, has its innermost loop to itself
        %4 is apart: it works on %0, which put %3 in between makes

    only the last loop within a loop can be joined
        (%x: f64[n, m], %y: f64[n, h])
        %0: f64[n, m] = mul(%x, %x)
        %1: f64[n, h] = mul(%y, %y)
        %2: f64[n, m] = add(%x, 1.0)
        return %0, %1, %2
    runs
        for i < n:
            for j < m:
                put %0
            for j < h:
                put %1
            for j < m:
                put %2
        %2 is apart: the loop of put %1 comes in between, and only the last loop can be joined
"""


class Described:
    """The text of a schedule: loops with their statements, and below who stays apart, and why."""

    def __init__(self, graph: Graph) -> None:
        self.names = Names()
        format_graph(graph, self.names)
        elements = choose_storage(graph, {})
        buffers = Buffers(graph, elements, Liveness(graph, elements))
        apart: list[Apart] = []
        steps = schedule_block(graph.block, elements, buffers, apart, Style())
        lines = [line for step in steps for line in self.lines(step, "")]
        self.text = "\n".join([*lines, *map(self.reason, apart)])

    def lines(self, step: Step, indent: str) -> Iterator[str]:
        """Yield the lines of a loop, a statement or an equation."""
        if isinstance(step, Nest):
            yield f"{indent}for {step.var.name} < {format_dim(step.extent, self.names.of)}:"
            for part in step.body:
                yield from self.lines(part, indent + "    ")
        else:
            yield f"{indent}{self.title(step)}"

    def title(self, step: Step) -> str:
        """Return a step's title: its kind and the values that it computes."""
        if isinstance(step, Nest):
            return "the loop of " + " and ".join(map(self.title, step.statements()))
        if isinstance(step, Statement):
            return f"{step.kind} {self.names.ref(step.target)}"
        results = " and ".join(map(self.names.ref, step.eqn.outputs))
        return f"{step.eqn.op.name}{results and ' ' + results}"

    def reason(self, apart: Apart) -> str:
        """Return why a statement has a loop of its own."""
        about = [self.thing(x) for x in apart.reason.about]
        who = self.names.ref(apart.statement.target)
        return f"{who} is apart: {apart.reason.text.format(*about)}"

    def thing(self, x: Buffer | Value | Nest | Statement | Single) -> str:
        """Return the name of a thing in a reason."""
        if isinstance(x, Buffer):
            return self.names.ref(x.values[0])
        return self.names.ref(x) if isinstance(x, Value) else self.title(x)


def described(graph: Graph) -> str:
    """Return the text of a graph's schedule."""
    return Described(graph).text


@pytest.mark.parametrize(("before", "after"), [pytest.param(before, after, id=title)
                                               for title, before, _, after in table(CASES)])
def test_statements_share_loops_or_say_why_not(before: str, after: str) -> None:
    assert described(graph_of(before)) == textwrap.dedent(after)


def test_each_reason_has_a_case() -> None:
    """Every sentence by which statements are kept apart is met in a case above."""
    reasons = [text for name, text in vars(schedule).items()
               if name.isupper() and isinstance(text, str)]
    assert len(reasons) > 10
    parts = {text: max((part for part, *_ in string.Formatter().parse(text)), key=len)
             for text in reasons}
    assert not [text for text, part in parts.items() if part not in CASES]


def test_folds_whose_loops_have_one_iteration_each_are_placed() -> None:
    """Of a filter with one observation: a fold of sizes that are all 1 has no loop to share."""
    def variance(noise: Any, ys: Any) -> Any:
        seen = np.array([[1.0, 0.0]])
        covariance = np.eye(2) * noise[0]
        for y in ys:
            innovation = seen @ covariance @ seen.T + 0.1 * y[0]
            gain = np.linalg.solve(innovation, seen @ covariance).T
            covariance = covariance - gain @ innovation @ gain.T
        return covariance[0, 0]

    noise, ys, h = np.array([0.9, 0.1]), np.ones((3, 1)), np.array([1e-6, 0.0])
    slope = (variance(noise + h, ys) - variance(noise - h, ys)) / 2e-6
    np.testing.assert_allclose(tracejit.grad(variance)(noise, ys), [slope, 0.0], rtol=1e-6)
