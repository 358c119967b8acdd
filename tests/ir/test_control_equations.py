"""Equations of control flow are laid out in one file, and equations are made in one."""

from __future__ import annotations

import re
from pathlib import Path

import tracejit.api  # (fills the table of ops)
from tracejit.ir.control import (
    IfEqn,
    LoopEqn,
    MapEqn,
    bounds_of,
    keep_carried,
    region_kind,
    trip_count,
)
from tracejit.ir.core import Eqn
from tracejit.ir.parser import parse_graph

GRAPH = parse_graph("""
graph f[n](%x: f64[n], %a: f64[], %k: i64[]) -> f64[] {
  %y: f64[], %z: f64[n] = for_(%a, %x) {lo=1, hi=n, reversed=True} [
    (%i: i64[], %c: f64[], %d: f64[n]) {
      %e: f64[] = mul(%c, 2.0)
      yield %e, %d
    }
  ]
  %t: i64[], %w: f64[] = while_(%y) [
    (%i_: i64[], %p: f64[]) {
      %q: bool[] = greater(%p, 1.0)
      yield %q
    }
    (%j: i64[], %r: f64[]) {
      %s: f64[] = mul(%r, 0.5)
      yield %s
    }
  ]
  %m: f64[n] = map_() {size=n} [
    (%l: i64[]) {
      %o: f64[] = mul(%w, 2.0)
      yield %o
    }
  ]
  %b: bool[] = greater(%w, 0.0)
  %v: f64[] = if_(%b) [
    () {
      yield %w
    }
    () {
      yield %a
    }
  ]
  return %v
}
""")
FOR, WHILE, MAP, _, IF = GRAPH.eqns
X, A, K = GRAPH.inputs
(N,) = GRAPH.sizes


def test_kinds() -> None:
    assert [region_kind(e) for e in GRAPH.eqns] == ["for", "while", "map", "", "if"]


def test_a_counted_loop() -> None:
    loop = LoopEqn(FOR)
    assert (loop.starts, loop.results, loop.trips) == ((A, X), FOR.outputs, 0)
    assert [v.name for v in (loop.index, *loop.carried)] == ["i", "c", "d"]
    assert loop.test is None
    assert loop.tested == ()
    assert (loop.lo, loop.hi, loop.is_reversed) == (1, N.dim, True)
    assert bounds_of(FOR) == (1, N.dim)
    assert trip_count(FOR).__repr__() == "max(n - 1, 0)"


def test_a_loop_with_a_condition() -> None:
    loop = LoopEqn(WHILE)
    trips, result = WHILE.outputs
    assert (loop.results, loop.trips, loop.starts) == ((result,), 1, (FOR.outputs[0],))
    assert [v.name for v in (*loop.indices, *loop.tested, *loop.carried)] == ["i_", "j", "p", "r"]
    assert loop.test is WHILE.regions[0]
    assert loop.body is WHILE.regions[1]
    assert (loop.lo, loop.hi, loop.is_reversed) == (0, trips.dim, False)


def test_a_map_and_a_branch() -> None:
    assert (MapEqn(MAP).index.name, MapEqn(MAP).size, bounds_of(MAP)) == ("l", N.dim, (0, N.dim))
    branches = IfEqn(IF)
    assert branches.condition is GRAPH.eqns[3].output
    assert branches.branch(True).outputs == (WHILE.outputs[1],)
    assert branches.branch(0).outputs == (A,)


def test_some_of_what_is_carried_is_kept() -> None:
    kept = keep_carried(LoopEqn(FOR).body, [False, True])
    assert [v.name for v in kept.inputs] == ["i", "d"]


# --- who knows the layout -----------------------------------------------------------------------

ROOT = Path(tracejit.__file__).parent
LAYOUT = re.compile(r"regions\[-1\]|regions\[0\]\.inputs|len\(\w+\.outputs\) - len\(\w+\.inputs\)"
                    r"|eqn\.params(?:\.get\(|\[)\"(?:lo|hi|reversed)\""
                    r"|region\.inputs\[1:\]|body\.inputs\[")
MADE = re.compile(r"(?<![\w.])Eqn\(")


def _lines(pattern: re.Pattern[str], allowed: set[str]) -> list[str]:
    files = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8")
             for folder in (ROOT, ROOT / "codegen") for p in folder.rglob("*.py")}
    assert len(files) > 300
    return [f"{name}: {line.strip()}" for name, text in files.items() if name not in allowed
            for line in text.splitlines() if pattern.search(line)]


def test_the_layout_of_loops_is_written_in_one_file() -> None:
    # the ops themselves read it where there is no equation yet
    assert _lines(LAYOUT, {"ir/control.py", "ops/control.py"}) == []


def test_equations_are_made_in_one_place() -> None:
    # new ones by the builder and the parser; `with_parts` makes another of one that is there
    assert Eqn.with_parts.__qualname__ == "Eqn.with_parts"
    assert _lines(MADE, {"ir/builder.py", "ir/parser.py", "ir/core.py"}) == []
