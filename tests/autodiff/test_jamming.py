"""Recurrences that handle two rows at a time keep their results, and others are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_laws import Program

import tracejit
import tracejit.ops
from tracejit.ir.interpreter import interpret
from tracejit.ir.parser import parse_graph
from tracejit.ir.verifier import verify_graph
from tracejit.passes.jamming import unroll_and_jam

ROWS = {"down": "range(2, n + 2)", "up": "range(n + 1, 1, -1)"}
COLUMNS = {"right": "range(2, m + 2)", "left": "range(m + 1, 1, -1)"}
SIZES = [(0, 3), (1, 4), (2, 0), (2, 1), (3, 1), (3, 2), (4, 5), (5, 4)]

Offset = tuple[int, int]


def element(array: str, offset: Offset) -> str:
    """Return the text of an element at an offset from the iteration's element."""
    i, j = (f"{name} + {d}".replace("+ -", "- ") for name, d in zip("ij", offset, strict=True))
    return f"{array}[{i}, {j}]"


def program(reads: list[str], writes: list[str], rows: str = "down", columns: str = "right",
            before: str = "pass") -> str:
    """Return a program whose iterations take long."""
    total = " + ".join(f"{0.1 * (k + 1):.1f} * {read}" for k, read in enumerate(reads))
    lines = ["def f(x, y):", "    n, m = x.shape", "    r = np.full((n + 4, m + 4), 0.3)",
             "    s = np.full((n + 4, m + 4), 0.2)", "    w = np.full((n + 4, m + 4), 0.1)",
             "    r[2:-2, 2:-2] = x", "    s[2:-2, 2:-2] = x * y", "    w[2:-2, 2:-2] = x + y",
             f"    for i in {ROWS.get(rows, rows)}:", f"        {before}",
             f"        for j in {COLUMNS.get(columns, columns)}:", f"            v = {total}",
             "            v = np.sqrt(1.0 + v * v) / (2.0 + v * v) - v / np.sqrt(2.0 + v * v)"]
    lines += [f"            {write}" for write in writes]
    return "\n".join([*lines, "    return np.sum(r * w) + np.sum(s * s)", ""])


def arguments(n: int, m: int) -> list[Any]:
    """Return arrays of one shape."""
    rng = np.random.default_rng([n, m])
    return [rng.uniform(-1.0, 1.0, (n, m)) for _ in range(2)]


def require_same(source: str) -> bool:
    """Check a program and its gradient at several sizes; return whether its own loops changed."""
    made = Program(source)
    try:
        value = tracejit.jit(made.function).trace(*arguments(3, 3)).graph
        gradient = tracejit.value_and_grad(made.function, argnums=(0, 1)).trace(
            *arguments(3, 3)).graph
        for graph in (value, gradient):
            changed, loops = unroll_and_jam(graph)
            if not loops:
                assert changed.block is graph.block
                continue
            verify_graph(changed)
            for n, m in SIZES:
                args = arguments(n, m)
                for new, old in zip(interpret(changed, *args), interpret(graph, *args),
                                    strict=True):  # up to the order of additions to one element
                    np.testing.assert_allclose(new, old, rtol=1e-12, atol=1e-13)
        args = arguments(4, 5)
        np.testing.assert_allclose(interpret(unroll_and_jam(value)[0], *args)[0],
                                   made.function(*args), rtol=1e-12)
        return bool(unroll_and_jam(value)[1])
    finally:
        made.forget()


BACK: Offset = (0, -1)
STORE = "r[i, j] = v"

TABLE = {
    # the cells beside, above, and above to the left: warping, alignment, edit distance
    "dynamic programming": (program([element("r", d) for d in ((-1, -1), (-1, 0), BACK)], [STORE]),
                            True),
    "Gauss-Seidel": (program([element("r", (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)],
                             [STORE]), True),
    "upwards": (program([element("r", (1, 0)), element("r", BACK)], [STORE], rows="up"), True),
    "leftwards": (program([element("r", (-1, 0)), element("r", (0, 1))], [STORE], columns="left"),
                  True),
    "rows of their own": (program([element("r", BACK)], [STORE]), True),
    "two back": (program([element("r", (0, -2)), element("r", (-1, 1))], [STORE]), True),
    "a second array": (program([element("r", BACK)], [STORE, "s[i, j] = v + 1.0"]), True),
    "a sum over rows": (program([element("r", BACK)], [STORE, "s[0, j] += v"]), True),
    "a beginning of each row": (program([element("r", BACK)], [STORE], before="r[i, 1] = 0.1 * i"),
                                True),
    "the next row, one behind": (program([element("r", BACK), element("r", (1, -1))], [STORE]),
                                 True),
    "from the index": (program([element("r", BACK), "w[i, j] * i", "0.1 * j"], [STORE]), True),
    # what the next row needs is not there yet, or what this one needs is gone
    "two columns on": (program([element("r", BACK), element("r", (-1, 2))], [STORE]), False),
    "the next row, two behind": (program([element("r", BACK), element("r", (1, -2))], [STORE]),
                                 False),
    "written to the next row": (program([element("r", BACK)], [STORE, "r[i + 1, j - 2] = v"]),
                                False),
    "two columns on, leftwards": (program(
        [element("r", (0, 1)), element("r", (-1, -2))], [STORE], columns="left"), False),
    "the last of the row before": (program(
        [element("r", BACK), "r[i - 1, m + 1]"], [STORE]), False),
    "a beginning from the row before": (program(
        [element("r", BACK)], [STORE], before="r[i, 1] = r[i - 1, 3]"), False),
    "one cell for all": (program([element("r", BACK), "s[0, 0]"], [STORE, "s[0, 0] = v"]), False),
    # nothing to gain, or not handled
    "no recurrence": (program([element("r", (-1, 0))], [STORE]), False),
    "triangular": (program([element("r", BACK)], [STORE], columns="range(2, i)"), False),
    "additions alone": (program([element("r", BACK)], [STORE, "v = 0.0"]).replace(
        "np.sqrt(1.0 + v * v) / (2.0 + v * v) - v / np.sqrt(2.0 + v * v)", "v * v"), False),
    "whole rows": (program([element("r", BACK), "np.sum(w[i])"], [STORE]), False),
}


@pytest.mark.parametrize("name", TABLE)
def test_two_rows_at_a_time_where_that_changes_nothing(name: str) -> None:
    source, expected = TABLE[name]
    assert require_same(source) is expected


offsets = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
reads = st.builds(element, st.sampled_from("rrrsw"), offsets)
writes = st.one_of(
    st.just(STORE), st.just("r[i, j] += 0.1 * v"),
    st.builds(lambda d: f"{element('s', d)} = v", offsets),
    st.builds(lambda d: f"{element('s', d)} += v", offsets),
    st.builds(lambda d: f"{element('r', d)} = 0.5 * v", offsets))


@settings(max_examples=50, deadline=None)
@given(st.lists(reads, min_size=1, max_size=4), st.lists(writes, min_size=1, max_size=3),
       st.sampled_from(sorted(ROWS)), st.sampled_from(sorted(COLUMNS)),
       st.one_of(st.just("pass"), st.builds(lambda d, e: f"{element('r', d)} = 0.3".replace(
           f"j + {d[1]}".replace("+ -", "- "), str(e)), offsets, st.integers(0, 4))))
def test_any_two_loops_over_elements(read: list[str], write: list[str], rows: str, columns: str,
                                     before: str) -> None:
    require_same(program(read, write, rows, columns, before))


@pytest.mark.parametrize("name", ["dynamic programming", "Gauss-Seidel", "leftwards"])
@pytest.mark.parametrize("verify", [False, True])
def test_kernels_of_two_rows_at_a_time(name: str, verify: bool) -> None:
    made = Program(TABLE[name][0])
    with tracejit.config(verify=verify):
        gradient = tracejit.value_and_grad(made.function, argnums=(0, 1))
        lowered = gradient.trace(*arguments(3, 3)).lower()
        assert "next_row" in lowered.source and "two rows at a time" in lowered.why()
        for n, m in SIZES:
            args = arguments(n, m)
            value, grads = gradient(*args)
            np.testing.assert_allclose(value, made.function(*args), rtol=1e-13)
            graph = gradient.trace(*args).graph
            for actual, expected in zip(grads, interpret(graph, *args)[1:], strict=True):
                np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)
    made.forget()


COMPUTED = """
graph f(%r: f64[n, m], %s: f64[n, m], %x: i64[n]) -> (f64[n, m], f64[n, m]) {
  %0: f64[n, m], %1: f64[n, m] = for_(%r, %s) {lo=2, hi=n - 2, reversed=False} [
    (%i: i64[], %2: f64[n, m], %3: f64[n, m]) {
      %k: i64[] = index(%x) {at=(%i,)}
      %4: f64[n, m], %5: f64[n, m] = for_(%2, %3) {lo=2, hi=m - 2, reversed=False} [
        (%j: i64[], %6: f64[n, m], %7: f64[n, m]) {
          %8: f64[] = index(%6) {at=(%i, %j - 1)}
          %9: f64[] = index(%7) {at=(%i - 1, READ)}
          %10: f64[] = div(%8, %9)
          %11: f64[n, m] = update(%7, %9) {at=(%i, WRITTEN)}
          %12: f64[n, m] = update(%6, %10) {at=(%i, %j)}
          yield %12, %11
        }
      ]
      yield %4, %5
    }
  ]
  return %0, %1
}
"""


def test_an_index_that_is_computed_may_be_anything() -> None:
    """The k of one row may be the k + 1 of the next."""
    for read, written, count in (("%j + 1", "%j", 1), ("1", "0", 1), ("%k + 1", "%k", 0)):
        graph = parse_graph(COMPUTED.replace("READ", read).replace("WRITTEN", written))
        assert len(unroll_and_jam(graph)[1]) == count
