"""Arrays that are taken off a Log lie in it, unless they are what a loop or branch has, too."""

from __future__ import annotations

import numpy as np
import pytest
from kernels import run_kernel

import tracejit.api  # noqa: F401  (fills the table of ops)
from tracejit.ir.interpreter import interpret
from tracejit.ir.parser import parse_graph

PUSHED = """
graph f(%x: f64[n], %c: f64[]) -> RESULTS {
  %0: log<f64> = log_new() {dtype=f64}
  %1: log<f64> = for_(%0) {lo=0, hi=3, reversed=False} [
    (%i: i64[], %l: log<f64>) {
      %y: f64[n] = full(%c) {shape=(n,)}
      %2: f64[n] = mul(%x, %y)
      %3: log<f64> = push(%l, %2, %x)
      yield %3
    }
  ]
"""

LOOP = """
  %4: f64[n], %5: log<f64> = for_(%x, %1) {lo=0, hi=TRIPS, reversed=True} [
    (%j: i64[], %d: f64[n], %m: log<f64>) {
      %6: log<f64>, %7: f64[n], %8: f64[n] = pop(%m) {shapes=((n,), (n,))}
      %9: f64[n] = mul(%d, %8)
      yield YIELDED, %6
    }
  ]
  %10: f64[] = reduce_sum(%4) {axes=(0,)}
  return %10, %10
}
"""

BRANCH = """
  %4: bool[] = greater(%c, 0.0)
  %5: f64[n], %6: log<f64> = if_(%4) [
    () {
      %7: log<f64>, %8: f64[n], %9: f64[n] = pop(%1) {shapes=((n,), (n,))}
      yield %8, %7
    }
    () {
      %11: f64[n] = tanh(%x)
      yield %11, %1
    }
  ]
  %10: f64[] = reduce_sum(%5) {axes=(0,)}
  return %10, %10
}
"""

GRAPHS = {
    **{f"a loop yields {name}, {trips} times": (PUSHED.replace("RESULTS", "(f64[], f64[])")
                                                + LOOP.replace("YIELDED", name)
                                                .replace("TRIPS", str(trips)))
       for name in ("%7", "%8", "%9", "%d") for trips in (0, 1, 3)},
    "a branch yields it": PUSHED.replace("RESULTS", "(f64[], f64[])") + BRANCH}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_else_is_in_its_memory_has_memory_before(name: str) -> None:
    graph = parse_graph(GRAPHS[name])
    for c in (1.5, -0.5):
        args = np.array([0.5, -1.0, 2.0, 0.25]), np.float64(c)
        for found, expected in zip(run_kernel(graph, *args), interpret(graph, *args), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
