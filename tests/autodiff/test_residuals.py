"""Which values loops keep for their way back, and which they compute again: text in, text out."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from ir_text import SIZES, graph_of, table, text_of
from oracles import assert_close, numeric_gradient

import tracejit.api  # noqa: F401  (fills the table of ops)
from tracejit.autodiff.keeping import Kept
from tracejit.autodiff.mincut import INFINITE, CutNode, choose_stored
from tracejit.autodiff.transforms import gradient_graph
from tracejit.ir.core import Graph
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph

# --- what is kept, in words ---------------------------------------------------------------------

KEPT = """
    what is overwritten is stored, what follows from it is computed again
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = sin(%a)
            %2: f64[] = mul(%1, %1)
            yield %2
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n bytes: the loop overwrites it; read by sin, cos
          computed again: sin, cos

    equal extrema are marked again by a sum of what is stored, which rounds once
        (%x: f64[n], %y: f64[n, n])
        %0: f64[n] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %1: f64[n, n] = add(%a, %y)
            %2: f64[n] = reduce_max(%1) {axes=(1,)}
            yield %2
          }
        ]
        %3: f64[] = reduce_sum(%0) {axes=(0,)}
        return %3
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n*n + 8*n bytes: the loop overwrites it; read by add
          reduce_sum is stored, 8*n*n bytes:
            storing it costs less than computing it again; read by div
          reduce_max is read from where the next iteration has a
          computed again: add, logical_or, reshape, equal, not_equal

    but not by a product and a sum, which a device may round together
        (%x: f64[n], %y: f64[n, n])
        %0: f64[n] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %1: f64[n, n] = mul(%a, %y)
            %2: f64[n, n] = add(%1, %y)
            %3: f64[n] = reduce_max(%2) {axes=(1,)}
            yield %3
          }
        ]
        %4: f64[] = reduce_sum(%0) {axes=(0,)}
        return %4
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n*n bytes: the loop overwrites it; read by mul
          logical_or is stored, n*n*n bytes: a decision is taken once; read by select
          reduce_sum is stored, 8*n*n bytes:
            storing it costs less than computing it again; read by div

    nor by a call, whose last bit vectors may change
        (%x: f64[n], %y: f64[n, n])
        %0: f64[n] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %1: f64[n, n] = mul(%a, %y)
            %2: f64[n, n] = sin(%1)
            %3: f64[n] = reduce_max(%2) {axes=(1,)}
            yield %3
          }
        ]
        %4: f64[] = reduce_sum(%0) {axes=(0,)}
        return %4
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n*n bytes: the loop overwrites it; read by mul
          logical_or is stored, n*n*n bytes: a decision is taken once; read by select
          reduce_sum is stored, 8*n*n bytes:
            storing it costs less than computing it again; read by div
          computed again: mul, cos

    a linear loop keeps nothing of what it carries
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = index(%y) {at=(%i,)}
            %2: f64[] = add(%a, %1)
            yield %2
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          nothing is stored

    what is computed of arguments is computed again
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = index(%y) {at=(%i,)}
            %2: f64[] = sin(%1)
            %3: f64[] = mul(%a, %2)
            yield %3
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n bytes: the loop overwrites it; read by mul
          computed again: index, sin, cos

    what an iteration yields is read from where the next one begins
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = mul(%a, %a)
            %2: f64[] = sqrt(%1)
            yield %2
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n + 8 bytes: the loop overwrites it; read by mul
          sqrt is read from where the next iteration has a
          computed again: div

    in a loop that runs backwards it is not
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=True} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = mul(%a, %a)
            %2: f64[] = sqrt(%1)
            yield %2
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          a is stored, 8*n bytes: the loop overwrites it; read by mul
          computed again: mul, sqrt, div

    a loop that data ends keeps numbers in a Log
        (%x: f64[])
        %0: i64[], %1: f64[] = while_(%x) [
          (%i: i64[], %a: f64[]) {
            %2: bool[] = less(%a, 3.0)
            yield %2
          }
          (%i_: i64[], %a_: f64[]) {
            %3: f64[] = mul(%a_, %a_)
            yield %3
          }
        ]
        return %1
    keeps
        what the loop keeps for its way back:
          a_ is stored, 8 bytes each time, in a Log that grows: the loop overwrites it; read by mul

    a decision on floats is taken once
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = index(%y) {at=(%i,)}
            %2: f64[] = sin(%1)
            %3: bool[] = less(%2, 0.5)
            %4: f64[] = if_(%3) [
              () {
                %5: f64[] = mul(%a, 2.0)
                yield %5
              }
              () {
                yield %a
              }
            ]
            yield %4
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          less is stored, n bytes: a decision is taken once; read by if_

    a decision on what is there is taken again: it is the same
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = index(%y) {at=(%i,)}
            %2: bool[] = less(%1, 0.5)
            %3: f64[] = if_(%2) [
              () {
                %4: f64[] = mul(%a, 2.0)
                yield %4
              }
              () {
                yield %a
              }
            ]
            yield %3
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          nothing is stored
          computed again: index, less

    a decision on the index is taken again
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: bool[] = less(%i, 2)
            %2: f64[] = if_(%1) [
              () {
                %3: f64[] = mul(%a, 2.0)
                yield %3
              }
              () {
                yield %a
              }
            ]
            yield %2
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          nothing is stored
          computed again: less

    in a branch outside of loops
        (%x: f64[])
        %0: bool[] = less(%x, 0.5)
        %1: f64[] = if_(%0) [
          () {
            %2: f64[] = exp(%x)
            %3: f64[] = sin(%2)
            yield %3
          }
          () {
            yield %x
          }
        ]
        return %1
    keeps
        what the branch keeps for its way back:
          nothing is stored
          computed again: exp, cos

    a product of matrices is stored: as many bytes as an operand, and more arithmetic
        (%x: f64[n, n], %y: f64[n, n])
        %0: f64[n, n] = for_(%y) {lo=0, hi=3, reversed=False} [
          (%i: i64[], %a: f64[n, n]) {
            %1: f64[n, n] = dot(%x, %a) {spec="ij,jk->ik"}
            %2: f64[n, n] = mul(%1, %1)
            yield %2
          }
        ]
        %3: f64[] = reduce_sum(%0) {axes=(0, 1)}
        return %3
    keeps
        what the loop keeps for its way back:
          a is stored, 24*n*n bytes: the loop overwrites it; read by dot
          dot is stored, 24*n*n bytes:
            storing it costs less than computing it again; read by mul

    loops within loops have an axis each
        (%x: f64[], %y: f64[n, m])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = for_(%a) {lo=0, hi=m, reversed=False} [
              (%j: i64[], %b: f64[]) {
                %2: f64[] = sin(%b)
                yield %2
              }
            ]
            yield %1
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          cos is stored, 8*n*m bytes:
            storing it costs less than computing it again; read by mul

    loops whose length an outer one says keep a Log
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = for_(%a) {lo=0, hi=%i, reversed=False} [
              (%j: i64[], %b: f64[]) {
                %2: f64[] = sin(%b)
                yield %2
              }
            ]
            yield %1
          }
        ]
        return %0
    keeps
        what the loop keeps for its way back:
          cos is stored, 8 bytes each time, in a Log that grows:
            storing it costs less than computing it again; read by mul
"""


# --- the graphs themselves ----------------------------------------------------------------------

WHOLE = """
    each iteration fills its element, and the way back reads it
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = sin(%a)
            yield %1
          }
        ]
        return %0
    becomes
        %0: f64[n] = empty() {shape=(n,), dtype=f64}
        %1: f64[], %2: f64[n] = for_(%x, %0) {lo=0, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %3: f64[n]) {
            %4: f64[] = cos(%a)
            %5: f64[n] = update(%3, %4) {at=(%i,)}
            %6: f64[] = sin(%a)
            yield %6, %5
          }
        ]
        %7: f64[] = full(1.0) {shape=()}
        %8: f64[] = for_(%7) {lo=0, hi=n, reversed=True} [
          (%i_: i64[], %9: f64[]) {
            %10: f64[] = index(%2) {at=(%i_,)}
            %11: f64[] = mul(%9, %10)
            yield %11
          }
        ]
        %12: f64[n] = full(0.0) {shape=(n,)}
        return %1, %8, %12

    an equation that rules make again is the one of the way forward, computed again once
        (%x: f64[n, n], %y: f64[n])
        %0: f64[n] = for_(%y) {lo=0, hi=3, reversed=False} [
          (%i: i64[], %a: f64[n]) {
            %1: f64[n] = dot(%x, %a) {spec="ij,j->i"}
            %2: f64[n] = sin(%1)
            %3: f64[n] = cos(%1)
            %4: f64[n] = mul(%2, %3)
            yield %4
          }
        ]
        %5: f64[] = reduce_sum(%0) {axes=(0,)}
        return %5
    becomes
        %0: f64[3, n] = empty() {shape=(3, n), dtype=f64}
        %1: f64[3, n] = empty() {shape=(3, n), dtype=f64}
        %2: f64[n], %3: f64[3, n], %4: f64[3, n] = for_(%y, %0, %1) {lo=0, hi=3, reversed=False} [
          (%i: i64[], %a: f64[n], %5: f64[3, n], %6: f64[3, n]) {
            %7: f64[3, n] = update(%5, %a) {at=(%i, 0:n)}
            %8: f64[n] = dot(%x, %a) {spec="ij,j->i"}
            %9: f64[3, n] = update(%6, %8) {at=(%i, 0:n)}
            %10: f64[n] = sin(%8)
            %11: f64[n] = cos(%8)
            %12: f64[n] = mul(%10, %11)
            yield %12, %7, %9
          }
        ]
        %13: f64[] = reduce_sum(%2) {axes=(0,)}
        %14: f64[] = full(1.0) {shape=()}
        %15: f64[1] = reshape(%14) {shape=(1,)}
        %16: f64[n] = broadcast_to(%15) {shape=(n,)}
        %17: f64[n, n] = full(0.0) {shape=(n, n)}
        %18: f64[n], %19: f64[n, n] = for_(%16, %17) {lo=0, hi=3, reversed=True} [
          (%i_: i64[], %20: f64[n], %21: f64[n, n]) {
            %22: f64[n] = index(%3) {at=(%i_, 0:n)}
            %23: f64[n] = index(%4) {at=(%i_, 0:n)}
            %24: f64[n] = sin(%23)
            %25: f64[n] = cos(%23)
            %26: f64[n] = neg(%24)
            %27: f64[n] = mul(%20, %25)
            %28: f64[n] = mul(%20, %24)
            %29: f64[n] = mul(%28, %26)
            %30: f64[n] = mul(%27, %25)
            %31: f64[n] = add(%29, %30)
            %32: f64[n, n] = dot(%31, %22) {spec="i,j->ij"}
            %33: f64[n] = dot(%31, %x) {spec="i,ij->j"}
            %34: f64[n, n] = add(%21, %32)
            yield %33, %34
          }
        ]
        return %13, %19, %18

    the array has an element more where the way back reads what an iteration yields
        (%x: f64[], %y: f64[n])
        %0: f64[] = for_(%x) {lo=2, hi=n, reversed=False} [
          (%i: i64[], %a: f64[]) {
            %1: f64[] = mul(%a, %a)
            %2: f64[] = sqrt(%1)
            yield %2
          }
        ]
        return %0
    becomes
        %0: f64[max(n - 2, 0) + 1] = empty() {shape=(max(n - 2, 0) + 1,), dtype=f64}
        %1: f64[], %2: f64[max(n - 2, 0) + 1] = for_(%x, %0) {lo=2, hi=n, reversed=False} [
          (%i: i64[], %a: f64[], %3: f64[max(n - 2, 0) + 1]) {
            %4: f64[max(n - 2, 0) + 1] = update(%3, %a) {at=(%i - 2,)}
            %5: f64[] = mul(%a, %a)
            %6: f64[] = sqrt(%5)
            yield %6, %4
          }
        ]
        %7: f64[max(n - 2, 0) + 1] = update(%2, %1) {at=(max(n - 2, 0),)}
        %8: f64[] = full(1.0) {shape=()}
        %9: f64[] = for_(%8) {lo=2, hi=n, reversed=True} [
          (%i_: i64[], %10: f64[]) {
            %11: f64[] = index(%7) {at=(%i_ - 2,)}
            %12: f64[] = index(%7) {at=(%i_ - 1,)}
            %13: f64[] = div(0.5, %12)
            %14: f64[] = mul(%10, %13)
            %15: f64[] = mul(%14, %11)
            %16: f64[] = add(%15, %15)
            yield %16
          }
        ]
        %17: f64[n] = full(0.0) {shape=(n,)}
        return %1, %9, %17

    each iteration pushes, and the way back pops as often as the way forward went
        (%x: f64[])
        %0: i64[], %1: f64[] = while_(%x) [
          (%i: i64[], %a: f64[]) {
            %2: bool[] = less(%a, 3.0)
            yield %2
          }
          (%i_: i64[], %a_: f64[]) {
            %3: f64[] = mul(%a_, %a_)
            %4: f64[] = add(%3, 1.0)
            yield %4
          }
        ]
        return %1
    becomes
        %0: log<f64> = log_new() {dtype=f64}
        %1: i64[], %2: f64[], %3: log<f64> = while_(%x, %0) [
          (%i: i64[], %a: f64[], %4: log<f64>) {
            %5: bool[] = less(%a, 3.0)
            yield %5
          }
          (%i_: i64[], %a_: f64[], %6: log<f64>) {
            %7: log<f64> = push(%6, %a_)
            %8: f64[] = mul(%a_, %a_)
            %9: f64[] = add(%8, 1.0)
            yield %9, %7
          }
        ]
        %10: f64[] = full(1.0) {shape=()}
        %11: f64[], %12: log<f64> = for_(%10, %3) {lo=0, hi=%1, reversed=True} [
          (%i__: i64[], %13: f64[], %14: log<f64>) {
            %15: log<f64>, %16: f64[] = pop(%14) {shapes=((),)}
            %17: f64[] = mul(%13, %16)
            %18: f64[] = add(%17, %17)
            yield %18, %15
          }
        ]
        return %2, %11

    a map whose elements keep something is a loop, which fills its results
        (%x: f64[n])
        %0: f64[n] = map_() {size=n} [
          (%k: i64[]) {
            %1: f64[] = index(%x) {at=(%k,)}
            %2: f64[] = for_(%1) {lo=0, hi=3, reversed=False} [
              (%i: i64[], %a: f64[]) {
                %3: f64[] = mul(%a, %a)
                yield %3
              }
            ]
            yield %2
          }
        ]
        %4: f64[] = reduce_sum(%0) {axes=(0,)}
        return %4
    becomes
        %0: f64[n, 3] = empty() {shape=(n, 3), dtype=f64}
        %1: f64[n] = empty() {shape=(n,), dtype=f64}
        %2: f64[n], %3: f64[n, 3] = for_(%1, %0) {lo=0, hi=n, reversed=False} [
          (%k: i64[], %4: f64[n], %5: f64[n, 3]) {
            %6: f64[] = index(%x) {at=(%k,)}
            %7: f64[], %8: f64[n, 3] = for_(%6, %5) {lo=0, hi=3, reversed=False} [
              (%i: i64[], %a: f64[], %9: f64[n, 3]) {
                %10: f64[n, 3] = update(%9, %a) {at=(%k, %i)}
                %11: f64[] = mul(%a, %a)
                yield %11, %10
              }
            ]
            %12: f64[n] = update(%4, %7) {at=(%k,)}
            yield %12, %8
          }
        ]
        %13: f64[] = reduce_sum(%2) {axes=(0,)}
        %14: f64[] = full(1.0) {shape=()}
        %15: f64[1] = reshape(%14) {shape=(1,)}
        %16: f64[n] = broadcast_to(%15) {shape=(n,)}
        %17: f64[n] = full(0.0) {shape=(n,)}
        %18: f64[n] = for_(%17) {lo=0, hi=n, reversed=True} [
          (%k_: i64[], %19: f64[n]) {
            %20: f64[] = index(%16) {at=(%k_,)}
            %21: f64[] = for_(%20) {lo=0, hi=3, reversed=True} [
              (%i_: i64[], %22: f64[]) {
                %23: f64[] = index(%3) {at=(%k_, %i_)}
                %24: f64[] = mul(%22, %23)
                %25: f64[] = add(%24, %24)
                yield %25
              }
            ]
            %26: f64[n] = accumulate(%19, %21) {at=(%k_,)}
            yield %26
          }
        ]
        return %13, %18

    the way back of a branch computes again what is cheaper than a result of both branches
        (%x: f64[], %c: bool[])
        %0: f64[] = if_(%c) [
          () {
            %1: f64[] = exp(%x)
            %2: f64[] = mul(%1, %1)
            yield %2
          }
          () {
            yield %x
          }
        ]
        return %0
    becomes
        %0: f64[] = if_(%c) [
          () {
            %1: f64[] = exp(%x)
            %2: f64[] = mul(%1, %1)
            yield %2
          }
          () {
            yield %x
          }
        ]
        %3: f64[] = full(1.0) {shape=()}
        %4: f64[] = if_(%c) [
          () {
            %5: f64[] = exp(%x)
            %6: f64[] = mul(%3, %5)
            %7: f64[] = add(%6, %6)
            %8: f64[] = mul(%7, %5)
            yield %8
          }
          () {
            yield %3
          }
        ]
        return %0, %4
"""


def gradient_of(graph: Graph) -> Graph:
    """Return the graph of the value and of the gradient by every argument."""
    return verify_graph(gradient_graph(graph, _floats(graph), [0], "gradient"))


def _floats(graph: Graph) -> list[int]:
    return [k for k, v in enumerate(graph.inputs) if v.aval.dtype.kind == "f"]


def kept(graph: Graph) -> str:
    """Return the notes on the values that a graph keeps; "nothing" without any."""
    notes = [str(note) for note in gradient_of(graph).notes if isinstance(note, Kept)]
    text = "\n".join(notes).replace("somewhere: ", "").replace(" (somewhere)", "")
    return text.replace(": storing it", ":\n    storing it") or "nothing"


def differentiated(graph: Graph) -> str:
    """Return the text of a gradient."""
    return text_of(drop_dead_code(gradient_of(graph)))


def _parameters(text: str) -> list[Any]:
    return [pytest.param(before, after, id=title) for title, before, _, after in table(text)]


@pytest.mark.parametrize(("before", "after"), _parameters(KEPT))
def test_residuals_are_kept_for_a_reason(before: str, after: str) -> None:
    assert kept(graph_of(before)) == textwrap.dedent(after)


@pytest.mark.parametrize(("before", "after"), _parameters(WHOLE))
def test_the_way_back_reads_what_the_way_forward_keeps(before: str, after: str) -> None:
    assert differentiated(graph_of(before)) == textwrap.dedent(after)


@pytest.mark.parametrize(("before", "after"), _parameters(KEPT) + _parameters(WHOLE))
def test_gradients_are_those_of_differences(before: str, after: str) -> None:
    graph = graph_of(before)
    rng = np.random.default_rng(3)
    shapes = [tuple(d if isinstance(d, int) else SIZES[str(d)] for d in v.aval.shape)
              for v in graph.inputs]
    xs = [np.asarray(rng.uniform(1.1, 1.4, s)).astype(v.aval.dtype)
          for s, v in zip(shapes, graph.inputs, strict=True)]
    value, *found = interpret(gradient_of(graph), *xs)
    assert_close(value, interpret(graph, *xs)[0])
    for k, derivative in zip(_floats(graph), found, strict=True):
        assert_close(derivative, numeric_gradient(lambda *a: interpret(graph, *a)[0], xs, k))


# --- the minimum cut ----------------------------------------------------------------------------

CUTS = [
    # (what each value costs to store and to compute, and of what), what is needed, what is stored
    ({"a": (1, 5, "")}, "a", "a"),
    ({"a": (5, 1, "")}, "a", ""),
    ({"a": (1, 9, ""), "b": (1, 0.1, "a")}, "b", "b"),
    ({"a": (1, 9, ""), "b": (1, 0.1, "a"), "c": (1, 0.1, "a")}, "bc", "a"),
    ({"a": (1, 9, ""), "b": (5, 0.1, "a")}, "b", "a"),
    ({"a": (1, INFINITE, ""), "b": (INFINITE, 0.1, "a")}, "b", "a"),
    ({"a": (9, 1, ""), "b": (9, 1, "a"), "c": (2.5, 1, "b")}, "c", "c"),
    ({"a": (9, 1, ""), "b": (9, 1, "a"), "c": (3.5, 1, "b")}, "c", ""),
]

Costs = Mapping[str, tuple[float, float, str]]


def _nodes(costs: Costs) -> dict[str, CutNode[str]]:
    return {k: CutNode(store, again, tuple(of)) for k, (store, again, of) in costs.items()}


@pytest.mark.parametrize(("costs", "needed", "stored"), CUTS)
def test_what_is_cheaper_is_stored(costs: Costs, needed: str, stored: str) -> None:
    assert choose_stored(_nodes(costs), needed) == set(stored)


def _cost(nodes: Mapping[str, CutNode[str]], needed: str, stored: set[str]) -> float:
    """Return the cost of a choice: all stores, and each value that is computed again once."""
    pending, again = [k for k in needed if k not in stored], set[str]()
    while pending:
        key = pending.pop()
        if key not in again:
            again.add(key)
            pending += [k for k in nodes[key].operands if k not in stored]
    return sum(nodes[k].store for k in stored) + sum(nodes[k].recompute for k in again)


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_is_cheaper_than_the_cut(seed: int) -> None:
    """All choices of up to six values are tried."""
    rng = np.random.default_rng(seed)
    names = "abcdef"[:int(rng.integers(1, 7))]
    nodes = {k: CutNode(float(rng.integers(1, 9)), float(rng.integers(0, 9)),
                        tuple(o for o in names[:j] if rng.random() < 0.5))
             for j, k in enumerate(names)}
    needed = "".join(k for k in names if rng.random() < 0.5) or names[-1]
    choices = [set(c) for r in range(len(names) + 1) for c in itertools.combinations(names, r)]
    best = min(_cost(nodes, needed, choice) for choice in choices)
    assert _cost(nodes, needed, choose_stored(nodes, needed)) == pytest.approx(best)


def test_what_can_neither_be_stored_nor_computed_is_said() -> None:
    with pytest.raises(ValueError, match="neither stored nor computed"):
        choose_stored(_nodes({"a": (INFINITE, INFINITE, "")}), "a")
