"""Which arrays get storage, and why: text in, text out; others are computed where they are used.

Each reason has a case, and a neighbour in which the array needs none.
"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_text import graph_of, table

import tracejit.api
from tracejit.codegen import storage
from tracejit.codegen.cuda.lower import CUDA
from tracejit.codegen.schedule import Style
from tracejit.codegen.storage import choose_storage
from tracejit.codegen.target import CPU
from tracejit.ir.core import Graph
from tracejit.ir.printer import Names, format_graph

CASES = """
    one operation after another: none but the result
        (%x: f64[n], %y: f64[n])
        %0: f64[n] = mul(%x, %y)
        %1: f64[n] = sin(%0)
        %2: f64[n] = add(%1, %0)
        return %2
    keeps
        %2: a result

    a sum is folded once, what it sums is computed on the way
        (%x: f64[n, m])
        %0: f64[n, m] = sin(%x)
        %1: f64[n] = reduce_sum(%0) {axes=(1,)}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %1: a sum, or the like, over an axis
        %2: a result

    a sum of everything is a number, which is in a register
        (%x: f64[n, m])
        %0: f64[] = reduce_sum(%x) {axes=(0, 1)}
        %1: f64[n, m] = add(%x, %0)
        return %1
    keeps
        %1: a result

    a call that is seen transposed: in its own order it goes on vectors
        (%x: f64[n, m], %y: f64[m, n])
        %0: f64[n, m] = mul(%x, 2.0)
        %1: f64[n, m] = exp(%0)
        %2: f64[m, n] = transpose(%1) {axes=(1, 0)}
        %3: f64[m, n] = add(%2, %y)
        return %3
    keeps
        %1: seen transposed: its calls are vectorised in its own order
        %3: a result

    a call that is summed by row, and read again by what reads the sum: it is made once
        (%x: f64[n, m])
        %0: f64[n, m] = mul(%x, 2.0)
        %1: f64[n, m] = exp(%0)
        %2: f64[n] = reduce_sum(%1) {axes=(1,)}
        %3: f64[n, 1] = reshape(%2) {shape=(n, 1)}
        %4: f64[n, m] = div(%1, %3)
        return %4
    keeps
        %1: a sum is taken of it, and it is read again behind it: its calls are made once
        %2: a sum, or the like, over an axis
        %4: a result

    a call that is summed by row, beside what does not wait for the sum; products are made again
        (%x: f64[n, m])
        %0: f64[n, m] = exp(%x)
        %1: f64[n] = reduce_sum(%0) {axes=(1,)}
        %2: f64[n, m] = add(%0, %x)
        %3: f64[n, m] = mul(%x, %x)
        %4: f64[n] = reduce_sum(%3) {axes=(1,)}
        %5: f64[n, 1] = reshape(%4) {shape=(n, 1)}
        %6: f64[n, m] = div(%3, %5)
        return %1, %2, %6
    keeps
        %1: a result
        %2: a result
        %4: a sum, or the like, over an axis
        %6: a result

    calls that are added where data says: they go on vectors before, products do not need to
        (%x: f64[n], %y: f64[m], %i: i64[m])
        %0: f64[m] = exp(%y)
        %1: f64[n] = scatter_add(%x, %0, %i) {axes=(0,), position=0}
        %2: f64[m] = mul(%y, %y)
        %3: f64[n] = scatter_add(%1, %2, %i) {axes=(0,), position=0}
        return %3
    keeps
        %0: put at places that data says: its calls are vectorised before
        %1: parts of it are written to
        %3: a result

    a call of which a column is seen: only that is computed
        (%x: f64[n, m])
        %0: f64[n, m] = exp(%x)
        %1: f64[m, n] = transpose(%0) {axes=(1, 0)}
        %2: f64[n] = index(%1) {at=(0, 0:n)}
        return %2
    keeps
        %2: a result

    arithmetic that is seen transposed, and rows that stay rows
        (%x: f64[n, m, k], %y: f64[m, n, k])
        %0: f64[n, m, k] = mul(%x, %x)
        %1: f64[k, n, m] = transpose(%0) {axes=(2, 0, 1)}
        %2: f64[n, m, k] = exp(%x)
        %3: f64[m, n, k] = transpose(%2) {axes=(1, 0, 2)}
        %4: f64[m, n, k] = add(%3, %y)
        return %1, %4
    keeps
        %1: a result
        %4: a result

    a part made of other elements of its array: stored, so that the array needs no copy
        (%x: f64[n], %v: f64[n - 1])
        %0: f64[n] = sin(%x)
        %1: f64[n] = exp(%0)
        %2: f64[n] = update(%1, %v) {at=(0:n - 1,)}
        %3: f64[n - 1] = index(%2) {at=(0:n - 1,)}
        %4: f64[n - 1] = neg(%3)
        %5: f64[n] = update(%2, %4) {at=(1:n,)}
        return %5
    keeps
        %1: parts of it are written to
        %2: parts of it are written to
        %4: it is made of other elements of the array that it is written to
        %5: a result

    a part that is written: the array before and after
        (%x: f64[n], %v: f64[m])
        %0: f64[n] = sin(%x)
        %1: f64[m] = cos(%v)
        %2: f64[n] = update(%0, %1) {at=(0:m,)}
        %3: f64[n] = exp(%2)
        return %3
    keeps
        %0: parts of it are written to
        %2: parts of it are written to
        %3: a result

    all but a margin is written over a constant: asked for element by element
        (%x: f64[n])
        %0: f64[n] = full(0.0) {shape=(n,)}
        %1: f64[n - 1] = index(%x) {at=(1:n,)}
        %2: f64[n] = update(%0, %1) {at=(0:n - 1,)}
        %3: f64[n] = exp(%2)
        return %3
    keeps
        %3: a result

    one number everywhere, which a loop and a write begin with: none, each fills its own
        (%x: f64[n])
        %0: f64[n] = full(0.0) {shape=(n,)}
        %1: f64[n] = for_(%0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %2: f64[n]) {
            %3: f64[n] = add(%2, %x)
            yield %3
          }
        ]
        %4: f64[n] = update(%0, 1.0) {at=(0,)}
        %5: f64[n] = add(%1, %4)
        return %5
    keeps
        %1: a loop or a branch has it
        %2: a loop or a branch has it
        %3: a loop or a branch has it
        %4: parts of it are written to
        %5: a result

    the same for a write alone: it is filled where it is written
        (%x: f64[n])
        %0: f64[n] = full(0.0) {shape=(n,)}
        %1: f64[n] = update(%0, 1.0) {at=(0,)}
        %2: f64[n] = add(%x, %1)
        return %2
    keeps
        %0: parts of it are written to
        %1: parts of it are written to
        %2: a result

    all but a margin along two axes: no
        (%x: f64[n, m])
        %0: f64[n, m] = full(0.0) {shape=(n, m)}
        %1: f64[n - 1, m - 1] = index(%x) {at=(1:n, 1:m)}
        %2: f64[n, m] = update(%0, %1) {at=(0:n - 1, 0:m - 1)}
        %3: f64[n, m] = exp(%2)
        return %3
    keeps
        %0: parts of it are written to
        %2: parts of it are written to
        %3: a result

    two additions to all but margins are one loop
        (%x: f64[n], %b: f64[n])
        %0: f64[n - 1] = index(%x) {at=(1:n,)}
        %1: f64[n] = accumulate(%b, %0) {at=(1:n,)}
        %2: f64[n] = accumulate(%1, %0) {at=(0:n - 1,)}
        %3: f64[n] = exp(%2)
        return %3
    keeps
        %3: a result

    one addition to what is there is a write
        (%x: f64[n], %b: f64[n])
        %0: f64[n - 1] = index(%x) {at=(1:n,)}
        %1: f64[n] = accumulate(%b, %0) {at=(1:n,)}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %1: parts of it are written to
        %2: a result

    one addition to what is computed is a write
        (%x: f64[n], %b: f64[n])
        %0: f64[n] = sin(%b)
        %1: f64[n - 1] = index(%x) {at=(1:n,)}
        %2: f64[n] = accumulate(%0, %1) {at=(1:n,)}
        %3: f64[n] = exp(%2)
        return %3
    keeps
        %0: parts of it are written to
        %2: parts of it are written to
        %3: a result

    a routine reads and writes memory
        (%a: f64[n, n], %b: f64[n, m])
        %0: f64[n, n] = add(%a, %a)
        %1: f64[n, m] = neg(%b)
        %2: f64[n, m] = triangular_solve(%0, %1) {lower=True, trans=False, unit=False}
        %3: f64[n, m] = sin(%2)
        return %3
    keeps
        %0: a library routine reads or writes it
        %1: a library routine reads or writes it
        %2: a library routine reads or writes it
        %3: a result

    a reshape that counts elements anew
        (%x: f64[n, m])
        %0: f64[n, m] = sin(%x)
        %1: f64[n*m] = reshape(%0) {shape=(n*m,)}
        %2: f64[n*m] = exp(%1)
        return %2
    keeps
        %0: seen in another shape
        %1: seen in another shape
        %2: a result

    a size that has two names: the elements are where they were
        (%x: f64[n], %y: f64[m], %w: f64[m, k], %z: f64[k, m])
        %0: f64[n] = sin(%x)
        %1: f64[m] = reshape(%0) {shape=(m,)}
        %2: f64[m] = mul(%1, %y)
        %3: f64[m, k] = sin(%w)
        %4: f64[k, m] = reshape(%3) {shape=(k, m)}
        %5: f64[k, m] = add(%4, %z)
        return %2, %5
    keeps
        %2: a result
        %3: seen in another shape
        %4: seen in another shape
        %5: a result

    a reshape that adds an axis of one element
        (%x: f64[n])
        %0: f64[n] = sin(%x)
        %1: f64[n, 1] = reshape(%0) {shape=(n, 1)}
        %2: f64[n, 1] = exp(%1)
        return %2
    keeps
        %2: a result

    places that data says, and what is there
        (%x: f64[n], %k: i64[m])
        %0: f64[n] = sin(%x)
        %1: i64[m] = add(%k, 1)
        %2: f64[m] = gather(%0, %1) {axes=(0,), position=0}
        %3: f64[m] = exp(%2)
        return %3
    keeps
        %0: read at places that data says
        %1: read at places that data says
        %3: a result

    places that are known
        (%x: f64[n])
        %0: f64[n] = sin(%x)
        %1: f64[n] = index(%0) {at=(n - 1:-1:-1,)}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %2: a result

    what a loop reads of the code around it, and what it carries
        (%x: f64[n], %y: f64[n])
        %0: f64[n] = mul(%y, %y)
        %1: f64[n] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %2: f64[n] = mul(%a, %0)
            %3: f64[n] = sin(%2)
            yield %3
          }
        ]
        %4: f64[n] = exp(%1)
        return %4
    keeps
        %0: a loop reads it again and again: computed once before it
        %1: a loop or a branch has it
        %a: a loop or a branch has it
        %3: a loop or a branch has it
        %4: a result

    a loop reads a part of an argument: a view takes no arithmetic
        (%x: f64[n], %y: f64[n, n])
        %0: f64[n] = index(%y) {at=(0:n, 0)}
        %1: f64[n] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %2: f64[n] = mul(%a, %0)
            yield %2
          }
        ]
        return %1
    keeps
        %1: a result
        %a: a loop or a branch has it
        %2: a loop or a branch has it

    operands of a product that take arithmetic
        (%x: f64[n, m], %y: f64[m])
        %0: f64[n, m] = sin(%x)
        %1: f64[n] = dot(%0, %y) {spec="ij,j->i"}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %0: read again and again by a product, or its result
        %1: a sum, or the like, over an axis
        %2: a result

    a matrix that a vector multiplies is read once: a cheap one is made on the way
        (%x: f64[n, m], %y: f64[m])
        %0: f64[n, m] = mul(%x, 2.0)
        %1: f64[n] = dot(%0, %y) {spec="ij,j->i"}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %1: a sum, or the like, over an axis
        %2: a result

    the vector is read once per row
        (%x: f64[n, m], %y: f64[m])
        %0: f64[m] = mul(%y, 2.0)
        %1: f64[n] = dot(%x, %0) {spec="ij,j->i"}
        %2: f64[n] = exp(%1)
        return %2
    keeps
        %0: read again and again by a product, or its result
        %1: a sum, or the like, over an axis
        %2: a result

    a product of two matrices is a routine's, of views too
        (%x: f64[n, n])
        %0: f64[n, n] = transpose(%x) {axes=(1, 0)}
        %1: f64[n, n] = dot(%0, %x) {spec="ij,jk->ik"}
        %2: f64[n, n] = exp(%1)
        return %2
    keeps
        %1: a sum, or the like, over an axis
        %2: a result

    a product of two matrices reads rows that are equally far apart, and no others
        (%x: f64[n, n])
        %0: f64[n, 3] = index(%x) {at=(0:n, 1:4)}
        %1: f64[3, n] = index(%x) {at=(0:3, -1:-1 - n:-1)}
        %2: f64[n, n] = dot(%0, %1) {spec="ij,jk->ik"}
        %3: f64[n, n] = exp(%2)
        return %3
    keeps
        %1: read again and again by a product, or its result
        %2: a sum, or the like, over an axis
        %3: a result

    a product of small matrices is a loop nest
        (%x: f64[3, 3])
        %0: f64[3, 3] = transpose(%x) {axes=(1, 0)}
        %1: f64[3, 3] = dot(%0, %x) {spec="ij,jk->ik"}
        %2: f64[3, 3] = exp(%1)
        return %2
    keeps
        %1: a sum, or the like, over an axis
        %2: a result

    a call that is repeated along an axis
        (%x: f64[n], %y: f64[n, m])
        %0: f64[n] = exp(%x)
        %1: f64[n, 1] = reshape(%0) {shape=(n, 1)}
        %2: f64[n, m] = mul(%1, %y)
        return %2
    keeps
        %0: several elements of it are read for each element of another: computed once
        %2: a result

    a division that is repeated along an outer axis
        (%x: f64[m], %y: f64[n, m])
        %0: f64[m] = div(1.0, %x)
        %1: f64[1, m] = reshape(%0) {shape=(1, m)}
        %2: f64[n, m] = mul(%1, %y)
        return %2
    keeps
        %0: several elements of it are read for each element of another: computed once
        %2: a result

    a division that is repeated along an inner axis is before that loop
        (%x: f64[n], %y: f64[n, m])
        %0: f64[n] = div(1.0, %x)
        %1: f64[n, 1] = reshape(%0) {shape=(n, 1)}
        %2: f64[n, m] = mul(%1, %y)
        return %2
    keeps
        %2: a result

    a product that is repeated is cheaper than a load
        (%x: f64[m], %y: f64[n, m])
        %0: f64[m] = mul(%x, %x)
        %1: f64[1, m] = reshape(%0) {shape=(1, m)}
        %2: f64[n, m] = mul(%1, %y)
        return %2
    keeps
        %2: a result

    where the largest is, and what stands there: of a call, whose last bit may differ
        (%x: f64[n])
        %0: f64[n] = exp(%x)
        %1: f64[] = reduce_max(%0) {axes=(0,)}
        %2: bool[n] = equal(%0, %1)
        return %1, %2
    keeps
        %0: its elements are compared with one another
        %2: a result

    the same without a call: each computation gives the same bits
        (%x: f64[n])
        %0: f64[n] = mul(%x, %x)
        %1: f64[] = reduce_max(%0) {axes=(0,)}
        %2: bool[n] = equal(%0, %1)
        return %1, %2
    keeps
        %2: a result

    the same, but only the maximum is asked for
        (%x: f64[n])
        %0: f64[n] = exp(%x)
        %1: f64[] = reduce_max(%0) {axes=(0,)}
        return %1
    keeps
        nothing

    what reads an array that is overwritten before
        (%x: f64[n], %v: f64[])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = mul(%0, %0)
        %2: f64[n] = update(%0, %v) {at=(0,)}
        %3: f64[n] = mul(%1, %2)
        return %3
    keeps
        %0: a sum, or the like, over an axis
        %1: what it is made of is overwritten before it is last read
        %2: parts of it are written to
        %3: a result

    what reads an array before it is overwritten
        (%x: f64[n], %v: f64[])
        %0: f64[n] = cumsum(%x) {axis=0, reverse=False}
        %1: f64[n] = mul(%0, %0)
        %2: f64[] = reduce_sum(%1) {axes=(0,)}
        %3: f64[n] = update(%0, %v) {at=(0,)}
        %4: f64[n] = mul(%2, %3)
        return %4
    keeps
        %0: a sum, or the like, over an axis
        %3: parts of it are written to
        %4: a result

    what is shown
        (%x: f64[n])
        %0: f64[n] = sin(%x)
        debug_print(%0) {format="{}", names=("x",), labels=("x",), first=True}
        return 0.0
    keeps
        %0: printed

    memory that is made on its own
        (%x: f64[n])
        %0: f64[n] = empty() {shape=(n,), dtype=f64}
        %1: f64[n] = add(%0, %x)
        return %1
    keeps
        %0: made on its own
        %1: a result
"""


def described(graph: Graph) -> str:
    """Return the arrays with storage, less the arguments, each with its reason."""
    names = Names()
    format_graph(graph, names)
    stored = choose_storage(graph, {}).stored
    lines = {names.ref(v): why for v, why in stored.items() if why != "an argument"}
    order = list(names.given.values())
    return "\n".join(f"{name}: {why}" for name, why in sorted(
        lines.items(), key=lambda line: order.index(line[0].removeprefix("%")))) or "nothing"


@pytest.mark.parametrize(("before", "after"), [pytest.param(before, after, id=title)
                                               for title, before, _, after in table(CASES)])
def test_storage_is_for_a_reason(before: str, after: str) -> None:
    assert described(graph_of(before)) == textwrap.dedent(after)


SEARCHED = """
    %0: f64[n] = mul(%x, %x)
    %1: f64[n] = add(%0, %x)
    %2: f64[] = reduce_max(%1) {axes=(0,)}
    %3: bool[n] = equal(%1, %2)
    return %2, %3
"""


@pytest.mark.parametrize("fuses", [False, True])
def test_what_is_searched_is_stored_where_products_and_sums_are_fused(fuses: bool) -> None:
    """Computed again, no element might be the largest."""
    graph = graph_of(f"(%x: f64[n])\n{textwrap.dedent(SEARCHED).strip()}")
    reasons = choose_storage(graph, {}, Style(fuses=fuses)).stored.values()
    assert ("its elements are compared with one another" in reasons) == fuses
    assert CUDA.style.fuses and not CPU.style.fuses


# --- chains, which are cut so that code grows with the program ----------------------------------


def stored_in(lines: Sequence[str], inputs: str = "%x: f64[n]") -> dict[str, int]:
    """Return how many arrays of a long program have storage, by the reason."""
    stored = choose_storage(graph_of("\n".join([f"({inputs})", *lines])), {}).stored
    return Counter(why for why in stored.values() if why not in ("an argument", "a result"))


@pytest.mark.parametrize(("length", "cuts"), [(100, 0), (150, 1), (350, 3)])
def test_a_long_chain_is_cut_into_stretches(length: int, cuts: int) -> None:
    """Elements are followed recursively."""
    chain = [f"%{k + 1}: f64[n] = sub(%x, %{k})" for k in range(length)]
    found = stored_in(["%0: f64[n] = neg(%x)", *chain, f"return %{length}"])
    assert found == ({CUT: cuts} if cuts else {})


@pytest.mark.parametrize(("steps", "stored"), [(8, 0), (12, 1), (30, 2)])
def test_shifted_steps_do_not_repeat_the_code(steps: int, stored: int) -> None:
    """r = r[1:] - r[:-1], so many times: 2, 3, 4, ... elements of the r before."""
    lines, r, n = [], "%x", "n"
    for k in range(steps):
        after = f"n - {k + 1}"
        lines += [f"%a{k}_: f64[{after}] = index({r}) {{at=(1:{n},)}}",
                  f"%b{k}_: f64[{after}] = index({r}) {{at=(0:{after},)}}",
                  f"%r{k}_: f64[{after}] = sub(%a{k}_, %b{k}_)"]
        r, n = f"%r{k}_", after
    found = stored_in([*lines, f"return {r}"])
    assert found == ({SHIFTED: stored} if stored else {})


@pytest.mark.parametrize(("sums", "stored"), [(6, 0), (20, 1)])
def test_what_many_sums_are_made_of_is_computed_once(sums: int, stored: int) -> None:
    """s = exp(sin(x)); so many sums of functions of s."""
    lines = ["%t: f64[n] = sin(%x)", "%s: f64[n] = exp(%t)"]
    for k in range(sums):
        lines += [f"%a{k}_: f64[n] = mul(%s, {k}.5)",
                  f"%b{k}_: f64[] = reduce_sum(%a{k}_) {{axes=(0,)}}"]
    found = stored_in([*lines, "return " + ", ".join(f"%b{k}_" for k in range(sums))])
    assert found == ({MANY: stored} if stored else {})


@pytest.mark.parametrize(("slices", "is_once"), [(2, False), (3, True), (6, True)])
def test_calls_are_not_repeated_for_many_slices(slices: int, is_once: bool) -> None:
    """Each slice of x adds the cotangent of tanh to x's, an element further on."""
    def smooth(x: Any, w: Any) -> Any:
        count = len(x) - slices + 1
        return np.sum(np.tanh(sum(w[k] * x[k:k + count] for k in range(slices))))

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=50), rng.normal(size=slices)
    gradient = tracejit.grad(smooth)
    calls = gradient.trace(x, w).lower().source.split("def kernel")[1].count("tanh(")
    assert (calls == 1) == is_once
    slope = 1.0 - np.tanh(np.convolve(x, w[::-1], "valid")) ** 2
    np.testing.assert_allclose(gradient(x, w), np.convolve(slope, w, "full"), rtol=1e-13)


@pytest.mark.parametrize(("of", "is_once"), [
    (lambda y: np.sqrt(1.0 + y * y), True), (lambda y: y * y, False), (np.cos, True)])
@pytest.mark.parametrize("axes", [1, 2])
def test_what_a_stencils_way_back_adds_everywhere_is_computed_once(
        of: Any, is_once: bool, axes: int) -> None:
    """Each neighbour of an element adds a cotangent that takes a root and a division, or a call."""
    def line(x: Any) -> Any:
        return np.sum(of(x[2:] - 2.0 * x[1:-1] + x[:-2]))

    def plane(x: Any) -> Any:
        return np.sum(of(x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]))

    energy = (line, plane)[axes - 1]

    x = np.random.default_rng(0).normal(size=(6, 7)[:axes])
    graph = tracejit.grad(energy).trace(x).graph
    stored = choose_storage(graph, {}).stored.values()
    assert bool({DEAR, PUSHED} & {*stored}) == is_once
    with tracejit.config(disable_jit=True):
        expected = tracejit.grad(energy)(x)
    np.testing.assert_allclose(tracejit.grad(energy)(x), expected, rtol=1e-13, atol=1e-13)


# --- the law of the table -----------------------------------------------------------------------

CUT = "a long chain of operations is cut here"
SHIFTED = "read at several places by arrays that are read at several places: computed once"
DEAR = "read at several places by arrays, and dear: computed once"
PUSHED = "added to an array at many places: computed once"
MANY = "computed for many arrays with storage: computed once"


def test_each_reason_has_a_case() -> None:
    """Every text by which an array is kept is met in a case above."""
    tree = ast.parse(Path(storage.__file__).read_text(encoding="utf-8"))
    texts = {n.value for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)
             for statement in f.body for n in ast.walk(statement)
             if isinstance(n, ast.Constant) and isinstance(n.value, str)
             and " " in n.value and n.value != ast.get_docstring(f, clean=False)}
    assert len(texts) > 15
    missing = [t for t in texts if t not in CASES and t not in (
        CUT, SHIFTED, DEAR, PUSHED, MANY, "an argument")]
    assert not missing
