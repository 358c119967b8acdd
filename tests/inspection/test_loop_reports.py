"""Reports on loops: nests after fusion and why they are not fewer; which loops run on vectors.

Nests and reasons are compared with lists made by hand. Facts read from the assembly are compared
with LLVM's IR of the same program, with vectorisation switched on and off.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite.binding import ObjectFileRef
from program_laws import Program, arguments
from random_programs import random_program
from test_golden import NAMES, traced_of

import tracejit
from tracejit.codegen import compile as compiling
from tracejit.codegen.loop_expressions import I64, ONE, ZERO, Bin, Var
from tracejit.codegen.loop_ir import Assign, If, Let, Store
from tracejit.codegen.machine import target_machine
from tracejit.inspection.elements import Paragraph, Section, Table
from tracejit.inspection.machine import vectors
from tracejit.inspection.machine.assembly import AsmLoop, Assembly
from tracejit.inspection.machine.emitted import emitted_loops
from tracejit.inspection.machine.instructions import Instruction, instructions_of
from tracejit.inspection.machine.nests import nest_facts, unfused
from tracejit.inspection.machine.scalar import read_before_set
from tracejit.inspection.machine.vectors import VectorFacts, vector_facts
from tracejit.inspection.sections import loops
from tracejit.runtime.stages import Compiled, Lowered

X86 = pytest.mark.skipif(not vectors.can_be_read(), reason="reads the assembly of x86-64")


def lowered(f: Callable[..., Any], *specs: str, transform: Any = tracejit.jit) -> Lowered:
    """Return a function's program before it is compiled."""
    made: Lowered = transform(f).trace(*map(tracejit.spec, specs)).lower()
    return made


def chain(x: np.ndarray, k: float) -> float:
    return np.sum(np.exp(-k * x * x))


def softmax(x: np.ndarray, y: np.ndarray) -> float:
    e = np.exp(x - np.max(x))
    return np.sum(e / np.sum(e) * y)


# --- nests --------------------------------------------------------------------------------------


def nests_of(program: Lowered) -> list[tuple[Any, ...]]:
    """Return, per nest, the regions it is in, its extents, and the ops of its equations."""
    return [(n.inside, n.extents(), " ".join(e.op for e in n.loop.equations()))
            for n in nest_facts(program)]


def test_forward_and_backward_of_a_chain_are_one_nest() -> None:
    program = lowered(chain, "f64[n]", "float", transform=tracejit.value_and_grad)
    (nest,) = nest_facts(program)
    assert nest.extents() == [("n",)]
    assert [(e.op, e.result, e.role) for e in nest.loop.equations()] == [
        ("mul", "used at once", "forward"), ("mul", "used at once", "forward"),
        ("exp", "used at once", "forward"), ("reduce_sum", "summed", "forward"),
        ("mul", "used at once", "backward"), ("mul", "used at once", "backward"),
        ("mul", "used at once", "backward"), ("add", "put in out1", "backward")]
    assert nest.loop.roles() == {"forward", "backward"}
    assert unfused(program) == []


def test_nests_of_a_softmax_are_apart_by_its_sums() -> None:
    program = lowered(softmax, "f64[n]", "f64[n]")
    assert nests_of(program) == [((), [("n",)], "reduce_max"), ((), [("n",)], "sub exp reduce_sum"),
                                 ((), [("n",)], "sub exp div mul reduce_sum")]
    whole = "is needed as a whole, and is complete only behind that loop"
    assert [(u.nest, u.beside, u.label, u.depth, u.reason) for u in unfused(program)] == [
        (2, 1, "%3 (reduce_sum)", 0, f"%0 {whole}"), (3, 2, "%6 (reduce_sum)", 0, f"%3 {whole}")]


def test_nests_of_a_stencil_in_a_loop() -> None:
    program = traced_of("jacobi").lower()
    inner = ("max(n - 2, 0)", "max(m - 2, 0)")
    assert nests_of(program) == [
        ((), [("n", "m")], "copy"), (("%0",), [inner], "add add add mul"),
        (("%0",), [inner], "update"), ((), [("n", "m")], "add"),
        (("%11",), [inner] * 3, "index update mul accumulate mul accumulate"),
        (("%11",), [inner] * 2, "mul accumulate mul accumulate")]
    assert [(u.nest, u.beside, u.label.split()[0], u.depth) for u in unfused(program)] == [
        (3, 2, "%9", 0), (5, 5, "%17", 1), (5, 5, "%18", 1), (6, 5, "%19", 0), (6, 6, "%20", 1)]
    first, read = (f"an iteration writes elements of {name} that other iterations read"
                   for name in ("t9", "out0"))
    same = "different iterations write the same elements of out0"
    assert [u.reason for u in unfused(program)] == [first, read, same, read, same]


def test_nests_of_a_matrix_product() -> None:
    program = traced_of("matmul").lower()
    found = nest_facts(program)
    assert [(n.inside, n.extents()[0]) for n in found] == [
        (("%0",), ("n", "2")), (("%0",), ("n", "k", "2")), ((), ("n", "2")),
        (("%4",), ("2", "2")), (("%4",), ("n", "2", "2")), (("%3",), ("n", "2", "2")),
        ((), ("n", "2")), (("%9",), ("k", "2")), (("%9",), ("n", "k", "2")),
        (("%8",), ("n", "k", "2"))]
    assert [n.number for n in found if not n.lines] == [4]  # written out, 2 by 2
    assert [u.reason for u in unfused(program)] == [
        "it works on t3, which %3 (dot) in between makes"]


def test_a_recurrence_is_no_nest() -> None:
    assert nests_of(traced_of("inplace").lower()) == [((), [("n",)], "copy")]


def _cumulated(x: Any) -> Any:
    return np.cumsum(x) * 2.0


def _reversed(x: Any) -> Any:
    y = np.exp(x)
    return y, y[::-1] * 2.0


def _scattered(x: Any, k: Any) -> Any:
    y = np.zeros(x.shape[0])
    y[k] = x
    return y, y * 3.0


def _normalised(a: Any) -> Any:
    e = np.exp(a)
    return e / np.sum(e, axis=1)[:, None]


def _call_behind_loops(a: Any, w: Any) -> Any:
    return np.sum(a, axis=1), np.exp(w)


def _loops_behind_call(a: Any, w: Any) -> Any:
    return np.exp(w), a * np.sqrt(w)[:, None]


def _around_a_loop(x: Any) -> Any:
    y, total = np.sin(x), 0.0
    for i in range(len(x)):
        total = np.sin(total + y[i])
    return y, np.cos(x) * total


def _around_a_product(x: Any, w: Any) -> Any:
    n = x.shape[0]
    return np.sum(np.reshape(np.exp(x), (n, 1)) @ np.reshape(w, (1, n)), axis=1)


def _between_loops(a: Any, w: Any) -> Any:
    d = np.sqrt(w) * np.sum(a * 2.0, axis=1)
    return d, a * d[:, None]


REASONS = [
    (_cumulated, ["f64[n]"], 0, "a running sum, or the search for an element, has its innermost "
                                "loop to itself"),
    (_reversed, ["f64[n]"], 0, "an iteration reads elements of out0 that other iterations write"),
    (_scattered, ["f64[n]", "i64[n]"], 0, "an iteration may touch any element of out0"),
    (_normalised, ["f64[n, m]"], 1, "%1 is needed as a whole, and is complete only behind that "
                                    "loop"),
    (_call_behind_loops, ["f64[n, m]", "f64[n]"], 0,
     "it calls functions that are vectorised only in a loop without loops inside"),
    (_loops_behind_call, ["f64[n, m]", "f64[n]"], 0,
     "the loop calls functions that are vectorised only without loops inside"),
    (_around_a_loop, ["f64[n]"], 0, "%1 (for_) keeps its place in between"),
    (_around_a_product, ["f64[n]", "f64[n]"], 0, "it works on t3, which %3 (dot) in between makes"),
    (_between_loops, ["f64[n, m]", "f64[n]"], 1,
     "%3 (mul) comes in between, and only the last loop can be joined"),
]


@pytest.mark.parametrize(("f", "specs", "depth", "reason"), REASONS,
                         ids=[f.__name__.strip("_") for f, *_ in REASONS])
def test_the_last_nest_is_apart_for_a_reason(f: Callable[..., Any], specs: list[str], depth: int,
                                             reason: str) -> None:
    last = unfused(lowered(f, *specs))[-1]
    assert (last.depth, last.reason) == (depth, reason)


@pytest.mark.parametrize("seed", range(6))
def test_every_loop_over_elements_is_in_one_nest(seed: int) -> None:
    f = tracejit.grad(Program(random_program(seed, 16)).function)
    try:
        program = f.trace(*arguments(4)).lower()
    except tracejit.Refusal:
        pytest.skip("the program is refused")
    begin = Counter(line for n in nest_facts(program) for line in n.lines)
    source = program.source.splitlines()
    assert all(source[line - 1].lstrip().startswith("for ") for line in begin)
    found = emitted_loops(program.kernel)
    outermost = [loop.first for loop in found if loop.purpose == "elements" and not any(
        o.purpose == "elements" and o.first < loop.first <= o.last for o in found)]
    assert begin == Counter(outermost)
    labels = set(program.kernel.labels.values())
    assert all(e.label[1:] in labels for n in nest_facts(program) for e in n.loop.equations())


@pytest.mark.parametrize("name", NAMES)
def test_loops_are_on_the_lines_where_python_finds_them(name: str) -> None:
    program = traced_of(name).lower()
    found = [(loop.first, loop.last, ast.While if loop.text == "while True:" else ast.For)
             for loop in emitted_loops(program.kernel)]
    nodes = [node for node in ast.walk(ast.parse(program.source))
             if isinstance(node, (ast.For, ast.While))]
    assert found == sorted([(n.lineno, n.end_lineno, type(n)) for n in nodes], key=lambda x: x[0])


# --- vectors ------------------------------------------------------------------------------------


def of_ir(text: str) -> tuple[int, set[str]]:
    """Return how many loops the IR says are vectorised, and which vector functions it calls."""
    found = re.findall(r"^vector\.body\d*:", text, re.MULTILINE)
    return len(found), set(re.findall(r"call <[^>]*> @(_ZGV\w+)", text))


def of_report(facts: list[VectorFacts]) -> tuple[int, set[str]]:
    """Return the same as the report has it."""
    return (sum(f.verdict == "vectorised" for f in facts),
            {name for f in facts for v in f.versions for name in v.functions})


def chain_with_neighbours(x: np.ndarray, y: np.ndarray) -> float:
    """Sum with calls, and in a loop of its own, after it, arithmetic alone."""
    total = np.sum(np.exp(x) * y)
    z = np.zeros(x.shape[0])
    z[1:] = x[:-1] * total
    return total, z


def compiled_chain(**options: Any) -> Compiled:
    f = tracejit.jit(chain_with_neighbours, **options)
    made: Compiled = f.trace(*map(tracejit.spec, ("f64[n]", "f64[n]"))).lower().compile()
    return made


@X86
def test_the_report_agrees_with_the_ir_where_loops_are_vectorised() -> None:
    compiled = compiled_chain()
    facts = vector_facts(compiled)
    count, functions = of_report(facts)
    assert (count, functions) == of_ir(compiled.llvm)
    assert count > 0
    assert all(name in compiled.asm for name in functions)
    widest = max(map(int, re.findall(r"load <(\d+) x double>", compiled.llvm)))
    done = [f for f in facts if f.verdict == "vectorised"]
    assert {f.versions[0].shape for f in done} == {f"{widest} x f64"}
    assert not any(f.reasons for f in done)


@X86
def test_the_report_agrees_with_the_ir_in_strict_mode() -> None:
    compiled = compiled_chain(fp="strict")
    facts = vector_facts(compiled)
    assert of_report(facts) == of_ir(compiled.llvm)
    summing = [f for f in facts if f.verdict == "scalar" and f.versions[0].calls == ("exp",)]
    assert len(summing) == 1
    reasons = [re.sub(r"^s\w+", "s", reason) for reason in summing[0].reasons]
    assert reasons[-1] == 's is summed in order, with fp="strict"'
    if "has no vector version here" not in reasons[0]:  # where there is no libmvec
        assert reasons[0] == 'it calls exp, whose vector version fp="strict" does not allow'
    assert [f.verdict for f in facts if f.versions and not f.versions[0].calls].count(
        "vectorised") == of_ir(compiled.llvm)[0]


@X86
def test_the_report_says_scalar_where_vectorisation_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(module: Any, vectorises: bool) -> Any:
        options = tuning(module, vectorises)
        options.loop_vectorization = False
        return options

    tuning = compiling._tuning
    monkeypatch.setattr(compiling, "_tuning", without)
    compiled = compiled_chain()
    facts = vector_facts(compiled)
    assert of_ir(compiled.llvm) == of_report(facts) == (0, set())
    assert {f.verdict for f in facts if f.loop.is_innermost} <= {"scalar", "a call"}
    assert any(f.verdict == "scalar" for f in facts)


@X86
def test_a_recurrence_is_scalar_and_the_copy_before_it_is_not() -> None:
    facts = vector_facts(traced_of("inplace").lower().compile())
    assert [(f.loop.purpose, f.verdict, f.reasons) for f in facts] == [
        ("elements", "vectorised", ()), ("chunks between which it can be left", "around loops", ()),
        ("the program's", "scalar", ("it reads and writes out0 at different places",))]
    assert [(v.loads, v.stores) for v in facts[-1].versions] == [(1, 1)]


@X86
def test_small_loops_and_margins_say_why_they_are_scalar() -> None:
    facts = vector_facts(traced_of("second_order").lower().compile())
    assert [(f.loop.purpose, f.verdict) for f in facts] == [
        ("the margins", "around loops"), ("elements", "scalar"), ("elements", "vectorised")]
    assert facts[1].reasons == ("it is a margin of few iterations, which is kept scalar",)


@X86
@pytest.mark.parametrize("name", ["branch", "soft_dtw"])
def test_the_assembly_is_that_of_the_code_that_runs(name: str) -> None:
    compiled = traced_of(name).lower().compile()
    plain, with_lines = (list(map(str, instructions_of(text, compiled.symbol)))
                         for text in (compiled.asm, compiled.asm_with_lines()))
    assert plain == with_lines
    assert plain
    functions, symbol, beside = compiled._made_of
    machine = target_machine()
    again = compiling._translate(functions, symbol, machine, with_lines=True)
    module = compiling._optimise(compiling._linked(again, beside), machine, functions.kernel)
    assert _code(machine.emit_object(module)) == _code(compiled.code.object_code)


def _code(object_code: bytes) -> list[bytes]:
    return [section.data() for section in ObjectFileRef.from_data(object_code).sections()
            if section.is_text()]


def test_other_machines_are_told_that_their_code_is_not_read(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "aarch64-unknown-linux-gnu")
    assert not vectors.can_be_read()
    section = loops.vectors_section(None, 1000)  # type: ignore[arg-type]
    assert isinstance(section.elements[0], Paragraph)
    assert "not x86-64" in section.elements[0].text
    with pytest.raises(NotImplementedError, match="aarch64"):
        vector_facts(None)  # type: ignore[arg-type]


# --- the parts ----------------------------------------------------------------------------------

NESTED = """
kernel:
\t.file\t1 "/tmp" "kernel.py"
\t.loc\t1 3 1
\tmovabsq\t$exp, %r14
\tmovq\t%r14, 8(%rsp)
.LBB0_1:
\t.loc\t1 4 1
\txorl\t%ecx, %ecx
.LBB0_2:
\t.loc\t1 5 1
\tvmovupd\t(%rdi,%rcx,8), %ymm0
\tvaddpd\t(%rsi,%rcx,8), %ymm0, %ymm0
\tvmovupd\t%ymm0, (%rdx,%rcx,8)
\tvmovupd\t%ymm1, 32(%rsp)
\tcallq\t*%r14
\taddq\t$4, %rcx
\tjne\t.LBB0_2
\t.loc\t1 4 1
\tcallq\t*8(%rsp)
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
"""


def test_loops_of_assembly_are_found_with_their_lines_and_calls() -> None:
    assembly = Assembly(NESTED, "kernel", "kernel.py")
    (outer,) = assembly.loops
    (inner,) = outer.inner
    assert (outer.latch, inner.latch) == (4, 5)
    assert inner.own.shapes == [(4, "f64")]
    assert (inner.own.loads, inner.own.stores, inner.own.spills) == (2, 1, 1)
    assert inner.own.moved_bits == 256
    assert inner.own.calls == outer.own.calls == ("exp",)
    assert [str(i) for i in outer.own.instructions] == [
        "xorl %ecx, %ecx", "callq *8(%rsp)", "jne .LBB0_1"]


def test_a_register_that_paths_set_differently_is_not_followed() -> None:
    text = NESTED.replace("\txorl\t%ecx, %ecx\n", "\tjne\t.LBB0_2\n\tmovabsq\t$log, %r14\n")
    ((inner,),) = (outer.inner for outer in Assembly(text, "kernel").loops)
    assert inner.own.calls == ("",)


def test_calls_forget_what_they_may_overwrite() -> None:
    text = NESTED.replace("%r14", "%rax")
    assert Assembly(text, "kernel").loops[0].inner[0].own.calls == ("",)


def test_a_loop_entered_in_the_middle_is_one_loop() -> None:
    rows = [".LBB0_1:", "\taddq\t$1, %rax", ".LBB0_2:", "\taddq\t$2, %rax", "\tjne\t.LBB0_1"]
    text = "\nkernel:\n\tjmp\t.LBB0_2\n" + "\n".join(rows) + "\n\tretq\n.Lfunc_end0:\n"
    (loop,) = Assembly(text, "kernel").loops
    assert isinstance(loop, AsmLoop)
    assert loop.inner == ()
    assert len(loop.own.instructions) == 3


@pytest.mark.parametrize(("text", "reads", "writes", "shape"), [
    ("vmovupd\t(%rax), %ymm0", True, False, None),
    ("vmovupd\t%ymm0, (%rax)", False, True, None),
    ("addq\t$1, (%rax)", True, True, None),
    ("cmpq\t$1, (%rax)", True, False, None),
    ("leaq\t8(%rax), %rcx", False, False, None),
    ("vfmadd231pd\t(%rax), %zmm1, %zmm2", True, False, (8, "f64")),
    ("vmulps\t%xmm1, %xmm2, %xmm3", False, False, (4, "f32")),
    ("addpd\t%xmm1, %xmm2", False, False, (2, "f64")),
    ("vaddsd\t(%rax), %xmm1, %xmm2", True, False, None),
    ("vxorpd\t%xmm1, %xmm1, %xmm1", False, False, None),
    ("vpaddq\t%ymm1, %ymm2, %ymm3", False, False, (4, "i64")),
    ("vpsrad\t$1, %ymm2, %ymm3", False, False, (8, "i32")),
])
def test_instructions(text: str, reads: bool, writes: bool, shape: object) -> None:
    (i,) = instructions_of(f"\nf:\n\t{text}\n.Lfunc_end0:\n", "f")
    assert isinstance(i, Instruction)
    assert (i.reads, i.writes, i.shape) == (reads, writes, shape)


def test_a_name_set_by_both_branches_is_not_read_before() -> None:
    c, i, x, y = (Var(name, I64) for name in "cixy")
    both = [If(c, [Assign("x", ZERO)], [Assign("x", ONE)]), Store("t", i, Bin("+", x, y))]
    one = [If(c, [Assign("x", ONE), Let("z", x)]), Store("t", i, x)]
    assert read_before_set(both) == ["c", "i", "y"]
    assert read_before_set(one) == ["c", "i", "x"]


# --- sections -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_rows_have_a_cell_per_column_and_links_lead_somewhere(name: str) -> None:
    section = loops.loops_section(traced_of(name).lower(), 1000)
    tables = [e for e in section.elements if isinstance(e, Table)]
    tables += [e for s in section.elements if isinstance(s, Section) for e in s.elements
               if isinstance(e, Table)]
    assert all(len(row.cells) == len(t.columns) for t in tables for row in t.rows)
    anchors = [row.anchor for t in tables for row in t.rows if row.anchor]
    assert len(set(anchors)) == len(anchors)
    assert {row.link for t in tables for row in t.rows if row.link} <= set(anchors)


def test_the_section_shows_regions_nests_and_equations() -> None:
    section = loops.loops_section(traced_of("jacobi").lower(), 1000)
    table = section.elements[0]
    assert isinstance(table, Table)
    rows = [(row.depth, row.cells[0], row.role) for row in table.rows]
    assert rows[3:7] == [(0, "in %0", "forward"), (1, "nest 2: for max(n - 2, 0)", "forward"),
                         (2, "for max(m - 2, 0)", "forward"), (3, "%3", "forward")]
    assert section.summary == "6 nests"


@X86
def test_the_section_on_vectors_has_a_row_per_loop() -> None:
    compiled = traced_of("second_order").lower().compile()
    section = loops.vectors_section(compiled, 1000)
    (table,) = (e for e in section.elements if isinstance(e, Table))
    assert [row.cells[1] for row in table.rows] == [
        str(loop.first) for loop in emitted_loops(compiled.lowered.kernel)]
    assert section.summary == "1 of 2 innermost loops"
    source = compiled.source.splitlines()
    for row in table.rows:
        assert source[int(row.cells[1]) - 1].strip().startswith(row.cells[0])
