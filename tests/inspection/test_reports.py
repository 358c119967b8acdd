"""Reports: every equation, every reason and every residual is there, in HTML and in text."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_blocking as blocked
from program_laws import Program
from reported import REPORTED, Expected
from test_gallery import PROGRAMS
from test_golden import NAMES, traced_of

import tracejit
from tracejit.autodiff.keeping import Kept
from tracejit.inspection.elements import CodeBlock, Line, Paragraph, Section, Table, TableRow
from tracejit.inspection.html import render_html
from tracejit.inspection.machine.emitted import equations_by_label, labels_of
from tracejit.inspection.profiles import instrumented
from tracejit.inspection.profiles.limits import Level, Limits
from tracejit.inspection.text import render_text
from tracejit.ir.core import Graph
from tracejit.ir.walk import all_eqns
from tracejit.runtime.stages import Lowered

VOID = {"br", "img", "meta"}


class Checker(HTMLParser):
    """Reads HTML: whether each element is closed, and the text left when styles are stripped."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        assert not any(name.startswith("on") for name in given)
        assert "//" not in given.get("src", "data:").partition(",")[0]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data.split()


def tables_in(elements: Any) -> list[Table]:
    found = []
    for element in elements:
        if isinstance(element, Table):
            found.append(element)
        elif isinstance(element, Section):
            found += tables_in(element.elements)
    return found


def part(shown: Any, name: str, limit: int = 10_000) -> Section:
    (section,) = shown.report(limit)[name].elements()
    return section


def count(graph: Graph) -> int:
    return sum(1 for _ in all_eqns(graph.block))


# --- every part of many programs ----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_html_is_whole_and_says_what_the_text_says(name: str) -> None:
    report = traced_of(name).lower().report()
    report = report[tuple(name for name in report.names if name != "picture")]
    html, text = Checker(report.to_html()), str(report)
    assert "script" not in html.tags and "link" not in html.tags
    assert html.tags["style"] == 1
    assert len(set(html.ids)) == len(html.ids)
    assert {link.removeprefix("#") for link in html.links} <= set(html.ids)
    marks = {"<", "x", *(word for word in text.split() if set(word) == {"-"})}
    plain = Counter(re.sub(r"[()]", "", text).split())
    shown = Counter(re.sub(r"[()]", "", " ".join(html.words)).split())
    assert not set(plain - shown) - marks


@pytest.mark.parametrize("name", NAMES)
def test_the_table_has_every_equation_of_the_printed_graph(name: str) -> None:
    traced = traced_of(name)
    printed = re.findall(r"^ *(%\S.*?): .* = (\w+)\(", str(traced.graph), re.M)
    results = [r.cells[0] for t in tables_in(part(traced, "ir").elements) for r in t.rows]
    titles = re.findall(r"^ *(%.*?) = \w+[({]", str(traced.report(10_000)["ir"]), re.M)
    firsts = {text.partition(",")[0] for text in (*filter(None, results), *titles)}
    assert firsts == {first.partition(":")[0].partition(",")[0] for first, _ in printed}


@pytest.mark.parametrize("name", NAMES)
def test_every_backward_equation_is_beside_one_primal(name: str) -> None:
    traced = traced_of(name)
    (table,) = tables_in(part(traced, "adjoints").elements)
    shown = Counter(line.partition(" = ")[0] for row in table.rows
                    for line in row.cells[3].split("\n") if line.startswith("%"))
    names = part_names(traced.graph)
    backward = Counter(names[e.outputs] for e in all_eqns(traced.graph.block) if e.of is not None)
    assert shown == backward


def part_names(graph: Graph) -> dict[Any, str]:
    from tracejit.inspection.subject import Subject

    subject = Subject(graph)
    return {e.outputs: subject.results(e) for e in subject.eqns}


@pytest.mark.parametrize("name", NAMES)
def test_the_passes_lead_from_the_first_graph_to_the_last(name: str) -> None:
    traced = traced_of(name)
    text = str(traced.report(10_000)["passes"])
    removed = len(re.findall(r"^ *-  .* = ", text, re.M))
    added = len(re.findall(r"^ *\+  .* = ", text, re.M))
    before, after = str(traced.program.graph), str(traced.graph)
    equations = [len(re.findall(r"^ +%.* = ", t, re.M)) for t in (before, after)]
    assert equations[0] - removed + added == equations[1]
    assert [n for n, _ in traced.history] == ["drop_dead_code", "inline_calls", "widened",
                                              "drop_inductions", "simplify", "simplify"]


def assert_all_is_named(lowered: Lowered) -> None:
    """Assert that each equation of a kernel has a name, and that what is shown names such ones."""
    kernel = lowered.kernel
    assert {v for graph in (kernel.graph, kernel.carried_out) for e in all_eqns(graph.block)
            for v in (*e.outputs, *(v for r in e.regions for v in r.inputs))} <= {*kernel.labels}
    eqns = equations_by_label(kernel)
    own = {f"%{name}" for name in kernel.labels.values()}
    assert own >= {*labels_of(kernel.nodes)}
    text = str(lowered.report(10_000))
    assert "%?" not in text and lowered.why()
    for table in tables_in(part(lowered, "loops").elements):
        for row in table.rows:
            found = re.fullmatch(r"(?:in |without BLAS, )?(%\w+)", row.cells[0])
            if found is not None and row.cells[1] != "copy":
                assert eqns[found[1]].op.name == row.cells[1]
    shown = re.findall(r"%\w+", lowered.source + str(lowered.report(10_000)["loops", "memory"]))
    assert {*shown} <= own


@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_programs_of_the_gallery_show_themselves(case: Any) -> None:
    if case.refused:
        pytest.skip("it is refused")
    function = tracejit.grad(case.function, argnums=case.argnums)
    arguments = case.arguments(4)
    lowered = function.trace(*arguments).lower()
    assert_all_is_named(lowered)
    page = lowered._repr_html_()
    Checker(page)
    assert len(page) < 500_000
    assert lowered.graph.name in str(tracejit.explain(function, *arguments))


@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_programs_of_the_gallery_are_profiled(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.refused or case.wrong:
        pytest.skip("it is refused")
    limits = Limits("a machine", (Level("memory", 0, 1e10),), {"f64": 1e11, "f32": 2e11})
    monkeypatch.setattr("tracejit.inspection.profiles.profiling.machine_limits", lambda: limits)
    monkeypatch.setattr(instrumented, "LEAST", -1e9)
    function = tracejit.grad(case.function, argnums=case.argnums)
    found = tracejit.profile(function, *case.arguments(4), seconds=0.0)
    assert "%?" not in str(found)
    assert "%?" not in found._repr_html_()


@pytest.mark.parametrize("name", sorted(blocked.PROGRAMS))
def test_loops_that_stand_in_the_source_in_parts_name_what_is_in_them(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, attribute, value in blocked.SMALL:
        monkeypatch.setattr(module, attribute, value)
    made = Program(blocked.program(blocked.PROGRAMS[name]))
    try:
        lowered = tracejit.value_and_grad(made.function, argnums=(0, 1)).trace(
            *blocked.arguments(9, 8, 7)).lower()
        assert "4 iterations at a time" in lowered.why()
        assert_all_is_named(lowered)
    finally:
        made.forget()


# --- reasons, against lists made by hand --------------------------------------------------------


@pytest.mark.parametrize("case", REPORTED, ids=lambda c: c.fn.__name__)
def test_why_equations_have_no_backward_part(case: Expected) -> None:
    first = case.fn.__code__.co_firstlineno
    traced = tracejit.grad(case.fn).trace(*case.specs)
    (table,) = tables_in(part(traced, "adjoints").elements)
    found = []
    for row in table.rows:
        line, primal, _, adjoint = row.cells
        if row.role == "pruned":
            op = re.search(r" = (\w+)\(|^ *= (\w+)\(", primal)
            assert op is not None
            found.append((op[1] or op[2], int(line.rpartition(":")[2]) - first, adjoint))
    assert sorted(found) == sorted(case.pruned)
    ops = {op for op, _, why in case.pruned if why != "a check, not a value"}
    assert all(op in traced.why() for op in ops)


@pytest.mark.parametrize("case", REPORTED, ids=lambda c: c.fn.__name__)
def test_why_values_are_stored(case: Expected) -> None:
    first = case.fn.__code__.co_firstlineno
    traced = tracejit.grad(case.fn).trace(*case.specs)
    residuals = [r for note in traced.graph.notes if isinstance(note, Kept) for r in note.stored]
    found = []
    for r in residuals:
        assert r.site is not None and r.read_by
        found.append((r.name.partition(" ")[0], r.site.location[1] - first, str(r.bytes), r.in_log,
                      r.why))
    assert sorted(found) == sorted(case.stored)
    text = str(traced.report()["stored"])
    assert all(r.name in text and str(r.bytes) in text and r.why in text for r in residuals)


# --- what is left out, and what is not done -----------------------------------------------------


def long_chain(x: np.ndarray) -> np.ndarray:
    for k in tuple(0.01 * j for j in range(250)):  # written out, as it is no list
        x = np.sin(x) * k + np.exp(x)
    return np.sum(x)


def test_large_programs_say_what_they_leave_out() -> None:
    lowered = tracejit.grad(long_chain).trace("f64[n]").lower()
    assert count(lowered.graph) > 2000
    html = lowered._repr_html_()
    assert len(html) < 500_000
    assert "left out here" in html and "print(graph) shows all" in html
    whole = lowered.report(limit=10_000)["ir"].to_html()
    assert "left out" not in whole
    assert whole.count("<tr") > count(lowered.graph)


def test_nothing_of_reports_is_imported_before_one_is_looked_at() -> None:
    program = ("import sys, numpy as np, tracejit\n"
               "g = tracejit.grad(lambda x: np.sum(x * x))\n"
               "t = g.trace('f64[n]').lower().compile()\n"
               "print([m for m in sys.modules if m.startswith('tracejit.inspection.')])\n"
               "t._repr_html_()\n"
               "print('tracejit.inspection.report' in sys.modules)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


def test_a_part_that_is_not_there_is_said_so() -> None:
    traced = tracejit.grad(np.sin).trace("float")
    with pytest.raises(KeyError, match="no part 'source' here; there are overview, ir"):
        traced.report()["source"]


# --- transformed functions ----------------------------------------------------------------------


def test_transformed_functions_show_their_specialisations() -> None:
    @tracejit.grad
    def f(x: Any, flag: Any = True) -> Any:
        return np.sum(x * x if flag else x)

    assert "0 specialisations" in str(f.report())
    f(np.ones(3))
    f(np.ones((2, 2)), flag=False)
    text = str(f.report())
    assert "2 specialisations" in text and "f64[:, :], False" in text
    assert "backward of %" in text or "return" in text
    assert "<details" in f._repr_html_()


def test_numbers_are_shown_where_sizes_are_known() -> None:
    f = tracejit.grad(lambda x: np.sum(np.exp(x) * x))
    text = str(f.trace(np.ones(7)).report()["overview"])
    assert "2*n" in text and "14 flops" in text and "n = 7" in text
    assert "as numbers" not in str(f.trace("f64[n]").report()["overview"])


def test_a_compiled_program_has_its_machine_code_on_request() -> None:
    compiled = tracejit.grad(np.cos).trace("float").lower().compile()
    report = compiled.report()
    assert "Not shown here: " in str(report)
    assert "define" in str(report["llvm"]) and "ret" in str(report["asm"])


def test_the_code_beside_a_line_is_that_lines() -> None:
    def f(x: Any) -> Any:
        y = np.sin(x)
        return np.sum(y * y)

    first = f.__code__.co_firstlineno
    (table,) = tables_in(part(tracejit.grad(f).trace("f64[n]").lower(), "lines").elements)
    cells = {int(row.cells[0]) - first: row.cells for row in table.rows}
    assert "y = np.sin(x)" in cells[1][1]
    assert "sin(" in cells[1][2] and "← " in cells[1][2] and "cos(" in cells[1][3]
    assert "return" in cells[2][1] and "sin(" not in cells[2][3]


# --- the renderers ------------------------------------------------------------------------------


def test_text_and_html_escape_and_align() -> None:
    rows = TableRow(("x<y\n&z", "1")), TableRow(("q", "23"), "backward", anchor="q")
    table = Table(("a", "n"), rows, frozenset("a"), frozenset("n"))
    code = CodeBlock((Line("if a < b:", 9), Line("    pass", 10, "added")), "code")
    section = Section("T", "t", [table, code, Paragraph("end & more")], "s")
    assert render_text([section]).split("\n") == [
        "", "T  (s)", "------", "  a     n", "  x<y   1", "  &z", "< q    23", "code",
        " 9  if a < b:", "10      pass", "end & more"]
    html = render_html([section], "k-")
    Checker(html)
    assert "x&lt;y<br>&amp;z" in html and 'id="k-q"' in html and "<ins>10      pass</ins>" in html


def test_explain_says_where_time_and_memory_go() -> None:
    def f(x: Any, rate: Any) -> Any:
        for _ in range(10):
            x = x - rate * x * x
        return np.sum(x)

    text = " ".join(str(tracejit.explain(tracejit.grad(f), np.ones(4), 0.1)).split())
    line = f.__code__.co_firstlineno + 1
    assert f"loop at test_reports.py:{line} runs 10 times." in text
    assert "stores x, 80*n bytes" in text
    assert "compiled once, for all n" in text
    assert "For n = 4 that is " in text
    with pytest.raises(TypeError, match="explain takes a transformed function"):
        tracejit.explain(f, np.ones(4), 0.1)  # type: ignore[arg-type]


def test_the_command_line_writes_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import numpy as np\ndef loss(x):\n    return np.sum(x**3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "tracejit", "report", "model:loss", "--spec", "f64[n]", "--grad",
         "-o", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "report.txt", "ir.txt", "ir_before_passes.txt", "why.txt",
                     "graph.svg", "graph.dot", "kernel.py", "kernel.ll", "kernel.s"}
    page = (tmp_path / "out" / "index.html").read_text()
    Checker(page.partition("<body>")[2].partition("</body>")[0])
    assert "LLVM" in page and "model.py:3" in page


def test_a_part_that_is_asked_for_is_unfolded() -> None:
    traced = tracejit.grad(lambda x: np.sum(np.sin(x))).trace("f64[n]")
    whole, alone = traced.report().to_html(), traced.report()["passes"].to_html()
    assert "<details><summary><b>Passes" in whole
    assert "<details open><summary><b>Passes" in alone
