"""`tracejit.profile`: the same bits with clocks, counts against hand-made ones, the right lines.

Nothing here depends on how long something takes: counts, sums and texts are compared.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_programs import random_program
from test_costs import branch, root, stencil

import tracejit
from tracejit.codegen import libraries
from tracejit.codegen.lower import lower_graph
from tracejit.inspection.elements import Picture, Table
from tracejit.inspection.profiles import instrumented, limits
from tracejit.inspection.profiles.instrumented import Instrumented, copied
from tracejit.inspection.profiles.limits import Level, Limits, machine_limits
from tracejit.inspection.profiles.profile import Profile, Row, _on_blas
from tracejit.runtime.ticks import clear_ticks, read_ticks
from tracejit.tree import flatten

GIVEN = Limits("a machine", (Level("L1", 32 << 10, 1e11), Level("memory", 0, 1e10)),
               {"f64": 1e11, "f32": 2e11})


@pytest.fixture(autouse=True)
def given_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take limits as known: measuring them is no part of most tests."""
    monkeypatch.setattr("tracejit.inspection.profiles.profiling.machine_limits", lambda: GIVEN)


def line_of(fn: Callable[..., Any], text: str) -> str:
    """Return the place of a line of a function that has some text."""
    lines, first = inspect.getsourcelines(fn)
    (found,) = [k for k, line in enumerate(lines) if text in line]
    return f"{Path(inspect.getsourcefile(fn) or '').name}:{first + found}"


def with_all_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time every step, however short."""
    monkeypatch.setattr(instrumented, "LEAST", -1e9)


def profiled(g: Any, *args: Any) -> Profile:
    """Return a quick profile."""
    found: Profile = tracejit.profile(g, *args, seconds=0.0)
    return found


# --- programs -------------------------------------------------------------------------------------


def waves(x: Any) -> Any:
    y = np.exp(np.sin(x) * 2.0 + x)
    return np.sum(y)


def heat(u: Any, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u ** 2)


def layer(a: Any, b: Any) -> Any:
    return np.sum(np.tanh(a @ b))


def chooses(x: Any, c: float) -> Any:
    if c > 0.0:
        y = np.cumsum(x * 2.0)
    else:
        y = np.sqrt(x)
    return np.sum(y * y)


def two_sizes(x: Any, y: Any) -> Any:
    small = np.cumsum(x * 2.0)
    large = np.cumsum(y * 3.0)
    return small, large


def moved(u: Any, v: Any) -> None:
    u[:] = u + v


RNG = np.random.default_rng(0)
CALLS = [
    (tracejit.value_and_grad(waves), (RNG.normal(size=4097),)),
    (tracejit.value_and_grad(heat), (RNG.normal(size=301), 7)),
    (tracejit.value_and_grad(root), (3.0,)),
    (tracejit.value_and_grad(layer, argnums=(0, 1)),
     (RNG.normal(size=(30, 40)), RNG.normal(size=(40, 20)))),
    (tracejit.value_and_grad(layer), (RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)))),
    (tracejit.value_and_grad(chooses), (RNG.uniform(1.0, 2.0, size=100), 1.0)),
    (tracejit.value_and_grad(chooses), (RNG.uniform(1.0, 2.0, size=100), -1.0)),
    (tracejit.jit(moved), (np.ones(50), np.arange(50.0))),
    (tracejit.jit(lambda a, b: np.linalg.solve(a, b)),
     (RNG.normal(size=(9, 9)) + 9.0 * np.eye(9), RNG.normal(size=(9, 2)))),
]


def same_bits(left: Any, right: Any) -> bool:
    """Return whether nests of arrays and numbers are equal to the last bit."""
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in
               zip(flatten(left)[0], flatten(right)[0], strict=True))


def assert_same_bits(g: Any, args: Any) -> None:
    """Assert that clocks change no bit of results and of arguments that are written to."""
    program = Instrumented(g, args, {})
    plain, clocked = copied(args, {})[0], copied(args, {})[0]
    clear_ticks(program.slots)
    assert same_bits(g(*plain), program.twin(*clocked))
    assert same_bits(plain, clocked)
    assert "lap(" in program.lowered.source
    assert sum(read_ticks(program.slots)[instrumented.START + 2:]) > 0


@pytest.mark.parametrize(("g", "args"), CALLS)
def test_clocks_change_no_bit(g: Any, args: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    assert_same_bits(g, args)


@pytest.mark.parametrize(("g", "args"), CALLS[:2])
def test_clocks_of_long_steps_alone_change_no_bit(g: Any, args: Any) -> None:
    assert_same_bits(g, args)


@pytest.mark.parametrize("seed", range(4))
def test_clocks_change_no_bit_of_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch,
                                                 tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(random_program(seed))
    names: dict[str, Any] = {"np": np}
    exec(compile(path.read_text(), str(path), "exec"), names)
    g = tracejit.value_and_grad(names["f"])
    args = RNG.normal(size=7), RNG.normal(size=(7, 3)), 0.7, 7
    with_all_clocks(monkeypatch)
    try:
        assert_same_bits(g, args)
    except tracejit.Refusal:
        pytest.skip("the program is refused")


@pytest.mark.parametrize(("g", "args"), [CALLS[1], CALLS[5]])
def test_rows_take_no_longer_than_the_call(g: Any, args: Any,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    found = profiled(g, *args)
    assert found.rows
    total = sum(row.seconds for row in found.rows)
    assert total <= found.instrumented
    ET.fromstring(f"<div>{found._repr_html_()}</div>")
    assert total + found.outside <= found.instrumented * (1.0 + 1e-9)
    assert found.call > 0.0
    assert sum(map(found.share, found.rows)) == pytest.approx(1.0)


def test_arguments_are_as_they_were() -> None:
    u, v = np.ones(50), np.arange(50.0)
    profiled(tracejit.jit(moved), u, v)
    assert (u == 1.0).all()


def test_variables_are_as_they_were() -> None:
    v = tracejit.Variable(np.ones(3))

    @tracejit.jit
    def step(x: Any) -> Any:
        v.assign(v + x)
        return np.sum(v * v)

    profiled(step, np.ones(3))
    assert np.array_equal(v, np.ones(3))


# --- counts ---------------------------------------------------------------------------------------


def only(found: Profile) -> Row:
    """Return the only row."""
    (row,) = found.rows
    return row


def test_an_elementwise_program_reads_and_writes_each_element_once() -> None:
    row = only(profiled(tracejit.grad(waves), np.linspace(0.0, 1.0, 1000)))
    # exp(sin(x) * 2 + x) is two operations, times 2 * cos(x), added to itself, are three more
    assert (row.flops, row.flops_formula) == (5000, "5*n")
    assert (row.bytes, row.bytes_formula) == (16_000, "16*n")
    assert row.calls == {"sin": 1000, "exp": 1000, "cos": 1000}
    assert row.footprint == 16_000
    assert row.level.name == "L1"
    assert row.role == "forward and backward"


def test_a_loop_multiplies_and_shifted_reads_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    n, steps = 102, 7
    u = np.linspace(0.0, 1.0, n)
    found = profiled(tracejit.jit(stencil), u, steps)
    inside = [row for row in found.rows if row.executions == steps]
    update, written = sorted(inside, key=lambda row: not row.flops)
    assert update.flops == 2 * (n - 2) * steps
    # it reads u[:-2] and u[2:], which are n - 2 elements shifted, and writes n - 2
    assert update.bytes == 16 * (n - 2) * steps
    assert update.flops_formula == "2*steps*max(n - 2, 0)"
    assert (update.kind, update.role) == ("loop nest", "forward")
    assert (written.kind, written.flops) == ("loop nest", 0)
    assert update.sites == (line_of(stencil, "0.5 *"),)


def recurrence(x: Any) -> Any:
    y = x.copy()
    for i in range(2, len(x)):
        y[i] = 0.5 * y[i - 1] + y[i - 2]
    return y


def test_a_loop_that_begins_later_counts_its_own_iterations(
        monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    found = profiled(tracejit.jit(recurrence), np.linspace(0.0, 1.0, 50))
    (row,) = [row for row in found.rows if row.flops]
    assert row.kind == "loop of the program"
    assert row.flops == 2 * 48


def test_what_is_repeated_is_read_once() -> None:
    a, x = np.ones((50, 3)), np.ones(1000)
    row = only(profiled(tracejit.jit(lambda a, x: a * x[:3]), a, x))
    assert row.bytes == 8 * (2 * 50 * 3 + 3)


def test_a_sum_in_blocks_counts_each_element() -> None:
    row = only(profiled(tracejit.jit(lambda x: np.sum(x * x)), np.ones(10_000)))
    assert row.flops == 2 * 10_000 + 3  # 4096 terms are a block, whose sum is added to the others
    assert row.flops_formula.startswith("2*n")
    assert row.bytes - 8 == 8 * 10_000  # besides the sum, which is a result


def test_a_product_of_matrices_counts_2nmk(monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    a, b = np.ones((30, 40)), np.ones((40, 20))
    row = only(profiled(tracejit.jit(lambda a, b: a @ b), a, b))
    assert row.kind == "library call"
    assert row.flops == 2 * 30 * 40 * 20
    assert row.bytes == 8 * (30 * 40 + 40 * 20 + 30 * 20)
    assert "gemm(" in row.source


def test_a_small_product_is_loops_with_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    a, b = np.ones((3, 4)), np.ones((4, 5))
    row = only(profiled(tracejit.jit(lambda a, b: a @ b), a, b))
    assert row.flops == 2 * 3 * 4 * 5
    assert not row.flops_formula.startswith("at most")
    assert row.bytes == 8 * (3 * 4 + 4 * 5 + 3 * 5)
    assert row.source.startswith("small_gemm(")


def test_iterations_of_a_loop_that_ends_by_itself_are_counted() -> None:
    row = only(profiled(tracejit.jit(root), 3.0))
    x, trips = 3.0, 0
    while abs(x * x - 3.0) > 1e-12:
        x, trips = 0.5 * (x + 3.0 / x), trips + 1
    assert row.kind == "loop of the program"
    # product, difference, abs, comparison once more than sum, quotient, product, and a comparison
    # of the divisor with zero: Python's quotient of floats raises there
    assert row.flops == 4 * (trips + 1) + 4 * trips
    assert row.sites == (line_of(root, "while"), line_of(root, "0.5 *"))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("least", "condition"), [(1e12, 1), (0.0, 0)])
def test_only_the_branch_that_is_taken_counts(sign: float, least: float, condition: int,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instrumented, "LEAST", least)  # a row of the branch, or of what is in it
    found = profiled(tracejit.jit(branch), np.linspace(1.0, 2.0, 64), sign)
    assert sum(row.flops for row in found.rows) == condition + (2 * 64 if sign > 0.0 else 0)
    assert sum(row.calls.get("sqrt", 0) for row in found.rows) == (0 if sign > 0.0 else 64)


def test_float32_is_half_the_bytes_and_has_its_own_limit() -> None:
    x = np.linspace(0.0, 1.0, 1000, dtype=np.float32)
    row = only(profiled(tracejit.jit(lambda x: x * x), x))
    assert row.bytes == 8 * 1000
    assert row.peak_flops == 2e11


def test_the_larger_of_two_nests_is_the_first_row() -> None:
    found = profiled(tracejit.jit(two_sizes), np.ones(1000), np.ones(2_000_000))
    top = max(found.rows, key=lambda row: row.flops)
    assert top.flops == 1000 * sum(row.flops for row in found.rows if row is not top) * 2
    assert found.rows[0] is top
    assert line_of(two_sizes, "y * 3.0") in top.sites
    assert line_of(two_sizes, "x * 2.0") not in top.sites
    assert top.level.name == "memory"


def test_steps_too_short_for_the_clock_are_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instrumented, "LEAST", 1e12)
    row = only(profiled(tracejit.value_and_grad(heat), np.linspace(0.0, 1.0, 50), 3))
    assert row.kind == "short steps together"
    assert row.executions == 1
    assert row.role == "forward and backward"
    assert row.source.count("lap(") == row.source.count("tally(") == 0


def test_forward_and_backward_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with_all_clocks(monkeypatch)
    found = profiled(tracejit.value_and_grad(heat), np.linspace(0.0, 1.0, 50), 3)
    roles = {row.role for row in found.rows if line_of(heat, "0.1 *") in row.sites}
    assert {"forward", "backward"} <= roles


# --- no cost otherwise ----------------------------------------------------------------------------


def test_ordinary_programs_have_no_clocks() -> None:
    g = tracejit.value_and_grad(heat)
    args = (np.linspace(0.0, 1.0, 50), 3)
    before = g.trace(*args).lower().source
    profiled(g, *args)
    after = g.trace(*args).lower()
    assert before == after.source
    assert "lap(" not in after.source
    assert "tracejit_lap" not in after.compile().llvm


# --- what is shown --------------------------------------------------------------------------------


def example() -> Profile:
    row = Row("loop nest", "backward", ("model.py:3", "model.py:5", "other.py:1"),
              "for i in range(n):\n    out0[i] = x[i] < 1.0", 0.002, False, 1, 4_000_000,
              16_000_000, 16_000_000, {"exp": 1_000_000}, "4*n", "16*n", GIVEN.levels[-1], 1e11)
    small = Row("library call", "forward", ("model.py:4",), "gemm()", 0.0005, False, 2, 20_000_000,
                1000, 1000, {}, "", "", GIVEN.levels[0], 1e11)
    return Profile("grad[f]", (row, small), 0.0026, 0.0027, 1e-6, GIVEN)


def test_the_table_says_what_the_rows_are() -> None:
    first, head, top, second, *notes = str(example()).splitlines()
    assert first == "profile of grad[f]"
    assert head.split() == ["time", "share", "what", "lines", "runs", "flops", "FLOP/s", "bytes",
                            "B/s", "in"]
    assert top.split("  ")[0] == "  2 ms" or top.strip().startswith("2 ms")
    for text in ("80%", "████████████████····", "backward loop nest", "model.py:3, 5; other.py:1",
                 "4 M + 1 M exp", "2 GFLOP/s (2%)", "16 MB", "8 GB/s (80%)", "memory"):
        assert text in top
    assert "40 GFLOP/s (40%)" in second
    assert "an ordinary call takes 2.6 ms; with clocks 2.7 ms" in notes[0]
    assert "one core of a machine" in notes[1]


def test_rates_are_quotients() -> None:
    top, second = example().rows
    assert top.bandwidth == 8e9
    assert top.share_of_bandwidth == pytest.approx(0.8)
    assert top.rate == 2e9
    assert (top.limit, second.limit) == ("memory", "compute")
    assert example().outside == pytest.approx(0.0027 - 0.0025 - 1e-6)


def test_what_is_too_short_for_the_clock_has_no_rates() -> None:
    row = dataclasses.replace(example().rows[0], seconds=4e-8, is_short=True)
    found = dataclasses.replace(example(), rows=(row,))
    assert row.bandwidth == row.rate == 0.0
    assert "≈ 40 ns" in str(found) and "GB/s (" not in str(found).splitlines()[2]


def test_html_needs_no_scripts_and_no_style_sheets() -> None:
    text = example()._repr_html_()
    assert "<script" not in text and "<style" not in text and "class=" not in text
    assert "x[i] &lt; 1.0" in text
    tree = ET.fromstring(f"<div>{text}</div>")
    stripped = "".join(tree.itertext())
    for part in ("80%", "model.py:3, 5", "8 GB/s (80%)", "flops: 4*n; bytes: 16*n"):
        assert part in stripped


def test_the_picture_has_a_bar_per_row(tmp_path: Path) -> None:
    path = tmp_path / "profile.svg"
    text = example().to_svg(path)
    assert path.read_text(encoding="utf-8") == text
    tree = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    bars = [e for e in tree.iter(f"{space}rect") if e.get("height") == "16"]
    widths = [float(e.get("width") or 0) for e in bars]
    assert widths[1] == pytest.approx(widths[0] / 4, abs=0.1)
    labels = [e.text or "" for e in tree.iter(f"{space}text")]
    assert "80% of memory" in labels and "40% of compute" in labels


def test_a_profile_is_a_section_of_a_report(monkeypatch: Any) -> None:
    monkeypatch.setattr(libraries, "_name_of_kernels", lambda: None)
    picture, table, *notes = example().section().elements
    assert isinstance(picture, Picture) and picture.svg == example().to_svg()
    assert isinstance(table, Table)
    assert [row.role for row in table.rows] == ["backward", "forward"]
    assert all(len(row.cells) == len(table.columns) for row in table.rows)
    assert len(notes) == 2


# --- refusals -------------------------------------------------------------------------------------


def test_a_plain_function_is_refused_with_a_hint() -> None:
    with pytest.raises(TypeError, match=re.escape("tracejit.profile(tracejit.jit(waves), ...)")):
        tracejit.profile(waves, np.ones(3))
    with pytest.raises(TypeError, match="takes a transformed function and its arguments, not 3"):
        tracejit.profile(3)


def test_what_a_call_raises_is_raised() -> None:
    with pytest.raises(IndexError):
        tracejit.profile(tracejit.jit(lambda x, i: x[i]), np.ones(3), 7)


# --- the machine's limits -------------------------------------------------------------------------


def test_limits_are_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tracejit.config(cache_dir=str(tmp_path)):
        found = machine_limits()
        assert found.levels[-1].name == "memory" and found.levels[-1].size == 0
        assert all(level.bandwidth > 1e8 for level in found.levels)
        assert all(rate > 1e8 for rate in found.flops.values())
        content = json.loads((tmp_path / "limits.json").read_text())
        assert content["processor"] == found.processor
        monkeypatch.setattr(limits, "measure_limits", lambda: pytest.fail("measured again"))
        limits._known_limits.cache_clear()
        assert machine_limits() == found


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 0, "processor": "other"}'])
def test_a_file_of_limits_that_is_none_is_made_again(text: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "measure_limits", lambda: GIVEN)
    (tmp_path / "limits.json").write_text(text)
    with tracejit.config(cache_dir=str(tmp_path)):
        assert machine_limits() == GIVEN


def test_the_level_is_the_first_that_holds_the_data() -> None:
    assert GIVEN.level_for(1000).name == "L1"
    assert GIVEN.level_for(1 << 20).name == "memory"


def test_profiling_leaves_the_lowering_as_it_is() -> None:
    traced = tracejit.value_and_grad(heat).trace(np.ones(9), 2)
    assert "tally" not in str(lower_graph(traced.graph).nodes)


@pytest.mark.parametrize(("kernels", "features", "is_told"), [
    ("Haswell", {"avx512vbmi2": True}, True), ("Zen", {"avx512vbmi2": True}, True),
    ("SkylakeX", {"avx512vbmi2": True}, False), ("Haswell", {"avx2": True}, False),
    (None, {"avx512vbmi2": True}, False)])
def test_narrow_kernels_of_blas_are_told_of(kernels: Any, features: Any, is_told: bool,
                                            monkeypatch: Any) -> None:
    monkeypatch.setattr(libraries, "_name_of_kernels", lambda: kernels)
    monkeypatch.setattr(libraries.llvm, "get_host_cpu_features", lambda: features)
    assert bool(_on_blas()) == is_told
    assert all("OPENBLAS_CORETYPE" in note and kernels in note for note in _on_blas())
