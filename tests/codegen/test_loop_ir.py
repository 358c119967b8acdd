"""Loop IR: the meaning and the spelling of trees, the results of passes, and who writes text."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from loop_text import expression, kind_of, nodes, text
from test_golden import NAMES, traced_of

import tracejit.api  # (fills the table of ops)
from tracejit.codegen.buffers import Buffer
from tracejit.codegen.cleanup import drop_unread, inline_once
from tracejit.codegen.cuda.device_nodes import for_device
from tracejit.codegen.cuda.functions import namespace as device_namespace
from tracejit.codegen.expression_edits import every, literal, plus, replaced, split_sum, times
from tracejit.codegen.interrupts import CHUNK, poll_loops
from tracejit.codegen.intrinsics import namespace
from tracejit.codegen.loop_expressions import (
    BOOL,
    F64,
    I64,
    ZERO,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Load,
    Unary,
    Var,
)
from tracejit.codegen.loop_ir import Let, Loop, Origin, Store, every_node, expressions
from tracejit.codegen.loop_verifier import verify_nodes
from tracejit.codegen.scalars import SCALARS, Scalar, names_where
from tracejit.codegen.slots import assign_slots
from tracejit.codegen.spelling import spelled
from tracejit.codegen.sums_in_loops import order_freely
from tracejit.codegen.templates import filled
from tracejit.errors import IRError
from tracejit.ir.core import Literal
from tracejit.ir.optable import OPS

X, Y, PLACE = Var("x", F64), Var("y", F64), Var("i", I64)
SUM, PRODUCT = Bin("+", X, Y), Bin("*", X, Y)


# --- spelling -----------------------------------------------------------------------------------

SPELLED = [
    (Bin("*", SUM, Y), "(x + y) * y"), (Bin("*", X, SUM), "x * (x + y)"),
    (Bin("-", X, SUM), "x - (x + y)"), (Bin("+", SUM, Y), "x + y + y"),
    (Bin("*", X, PRODUCT), "x * (x * y)"), (Bin("+", X, PRODUCT), "x + x * y"),
    (Bin("*", X, Unary("-", Y)), "x * (-y)"), (Bin("+", Unary("-", X), Y), "-x + y"),
    (Unary("-", SUM), "-(x + y)"), (Unary("-", Const(-1.0, F64)), "-(-1.0)"),
    (Bin("<", X, Const(-1.0, F64)), "x < (-1.0)"), (Bin("&", Bin("<", X, Y), Bin(">", X, Y)),
                                                  "(x < y) & (x > y)"),
    (Unary("not", Bin("<", X, Y)), "not (x < y)"), (Const(-0.0, F64), "-0.0"),
    (Const(0.5, np.dtype(np.float32)), "f32(0.5)"), (Const(True, BOOL), "True"),
    (Cast(BOOL, X), "bool_(x)"), (Load("t", plus(PLACE, Const(-1)), F64), "t[i - 1]"),
    (times(PLACE, times(PLACE, PLACE)), "i * i * i"),
    (plus(PLACE, plus(PLACE, PLACE)), "i + i + i"),
    (literal(Literal(np.inf, np.float64)), "inf"),
]


@pytest.mark.parametrize(("tree", "source"), SPELLED, ids=[source for _, source in SPELLED])
def test_a_tree_is_spelled_as_python_reads_it(tree: Expression, source: str) -> None:
    assert spelled(tree) == source
    names = {"x": 2.0, "y": -3.0, "i": 5, "t": [1.0] * 9, "inf": math.inf, "f32": np.float32,
             "bool_": bool}
    assert eval(source, names) == pytest.approx(_value(tree, names))


def _value(e: Expression, names: dict[str, Any]) -> Any:
    """Return the value of a tree, without its text."""
    if isinstance(e, Const):
        return e.value
    if isinstance(e, Var):
        return names[e.name]
    parts = [_value(part, names) for part in e.parts]
    if isinstance(e, Load):
        return names[e.buffer][parts[0]]
    if isinstance(e, Cast):
        return e.dtype.type(parts[0])
    if isinstance(e, Unary):
        return not parts[0] if e.op == "not" else -parts[0]
    assert isinstance(e, Bin)
    return {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
            "<": lambda a, b: a < b, ">": lambda a, b: a > b, "&": lambda a, b: a & b}[e.op](*parts)


def test_zeros_of_both_signs_differ() -> None:
    assert Const(0.0, F64) != Const(-0.0, F64)
    assert Const(math.nan, F64) == Const(math.nan, F64)
    assert Const(1, I64) != Const(1.0, F64)


@pytest.mark.parametrize(("source", "kind"), [
    ("x + y", "f8"), ("i + j", "i8"), ("i / j", "f8"), ("i * x", "f8"), ("x < y", "?"),
    ("not is_a", "?"), ("f32(x) * f32(y)", "f4"), ("f32(x) * y", "f8"), ("between(i, j, k)", "?"),
    ("select(x < y, i, x)", "f8"), ("imax(i, j)", "i8"), ("sin(f32(x))", "f4"), ("t[i]", "f8")])
def test_trees_know_their_dtypes(source: str, kind: str) -> None:
    assert expression(source).dtype == np.dtype(kind)


def test_names_are_read_in_the_order_of_the_text() -> None:
    e = expression("sin(x) + t[i] * select(is_a, x, y)")
    assert e.mentions == ("x", "t", "i", "is_a", "x", "y")
    assert e.calls == {"sin", "select"}
    assert spelled(replaced(e, {"x": SUM, "i": Const(3)})) == (
        "sin(x + y) + t[3] * select(is_a, x + y, y)")


def test_every_template_of_the_registry_is_a_tree() -> None:
    assert "sin" in OPS
    for op in OPS.values():
        how = op.lowering
        for template in (getattr(how, "expression", None), getattr(how, "integer", None)):
            if not isinstance(template, str):
                continue
            operands = {f"_{k}": Var(f"v{k}", F64) for k in range(6)}
            operands |= {"_zero": Const(0.0, F64), "_one": Const(1.0, F64)}
            tree = filled(template, operands, F64)
            assert {e.fn.name for e in every(tree) if isinstance(e, Call)} <= SCALARS.keys()
            plain = re.sub(r"\{(\d)\}", r"v\1", template).replace("{zero}", "0.0")
            plain = plain.replace("{one}", "1.0").replace("{t}", "f64")
            assert ast.dump(ast.parse(spelled(tree))) == ast.dump(ast.parse(plain)), template


# --- the table of scalar functions --------------------------------------------------------------


def test_the_cpu_has_every_function() -> None:
    python = {"abs", "complex", "real", "imag", "conjugate"}
    device = {"stretch", "matrix_product", "accumulate"}
    assert SCALARS.keys() - python - device <= namespace(()).keys()


def test_a_device_has_the_mathematics() -> None:
    refused = {"round_f16"}  # with the dtype
    assert {*names_where(libm=1), *names_where(libm=2), *names_where(quick=True)} - refused <= (
        device_namespace().keys())


def test_a_function_without_a_row_is_plain() -> None:
    assert expression("cuda_own(x)").dtype == F64
    assert isinstance(SCALARS["sin"], Scalar) and not SCALARS["sin"].context


# --- passes: text in, text out ------------------------------------------------------------------

DROPPED = [
    ("t[i] = x\nout[i] = y\n", "out[i] = y\n"),
    ("v = x + y\nt[i] = v\nout[i] = y\n", "out[i] = y\n"),
    ("for i in range(n):\n    t[i] = x\nout[0] = y\n", "out[0] = y\n"),
    ("t[i] = x\nout[i] = t[i]\n", "t[i] = x\nout[i] = t[i]\n"),
    ("if is_a:\n    t[i] = x\nelse:\n    t[i] = y\nout[0] = y\n", "out[0] = y\n"),
]


@pytest.mark.parametrize(("before", "after"), DROPPED)
def test_stores_that_nothing_reads_are_dropped(before: str, after: str) -> None:
    assert text(drop_unread(nodes(before), {"t"})) == after


INLINED = [
    ("v = x + y\nout[0] = v * y\n", "out[0] = (x + y) * y\n"),
    ("v = x + y\nout[0] = v * v\n", "v = x + y\nout[0] = v * v\n"),
    ("v = -x\nout[0] = y * v\n", "out[0] = y * (-x)\n"),
    ("v = t[0]\nt[0] = x\nout[0] = v\n", "v = t[0]\nt[0] = x\nout[0] = v\n"),
    ("v = x * y\nw = v + x\nout[0] = w\n", "out[0] = x * y + x\n"),
    ("m = i + 1\nout[m] = x\n", "out[i + 1] = x\n"),
    ("v = x + y\nif is_a:\n    out[0] = v\n", "v = x + y\nif is_a:\n    out[0] = v\n"),
]


@pytest.mark.parametrize(("before", "after"), INLINED)
def test_what_is_used_once_is_put_where_it_is_used(before: str, after: str) -> None:
    assert text(inline_once(nodes(before))) == after


ORDERED = [
    ("for i in range(n):\n    g[k] = g[k] + a[i] * x\n",
     "for i in range(n):\n    g[k] = radd(g[k], a[i] * x)\n"),
    ("s = 0.0\nfor i in range(n):\n    v = s + a[i]\n    s = v\nout[0] = s\n",
     "s = 0.0\nfor i in range(n):\n    v = radd(s, a[i])\n    s = v\nout[0] = s\n"),
    ("for i in range(n - 1, -1, -1):\n    h[i + k] = h[i + k] + a[i]\n    g[k] = g[k] + a[i]\n",
     "for i in range(n):\n    h[i + k] = h[i + k] + a[i]\n    g[k] = radd(g[k], a[i])\n"),
    ("for i in range(n - 1, -1, -1):\n    h[k - i] = a[i]\n",
     "for i in range(n):\n    h[k - i] = a[i]\n"),
]
IN_THEIR_ORDER = [
    "for i in range(n):\n    g[k] = g[k] + g[i]\n",
    "for i in range(n):\n    g[k] = g[k] + a[i]\n    h[i] = g[k]\n",
    "for i in range(n):\n    g[k] = g[k] + a[i]\n    g[m] = g[m] + x\n",
    "for i in range(n):\n    g[k] = g[k] + a[i]\n    k = k + 1\n",
    "for i in range(n):\n    k = j[i]\n    g[k] = g[k] + a[i]\n",
    "c = 0.0\ns = 0.0\nfor i in range(n):\n    v = a[i] - c\n    u = s + v\n    c = u - s - v\n"
    "    s = u\nout[0] = s\n",
    "for i in range(n - 1, -1, -1):\n    h[i] = h[i + 1] + a[i]\n",
    "for i in range(n - 1, -1, -1):\n    h[k] = a[i]\n",
    "for i in range(n - 1, -1, -1):\n    h[i] = x\n    h[i + 1] = y\n",
    "for i in range(n - 1, -1, -1):\n    k = j[i]\n    h[k] = a[i]\n",
    "s = 0.0\nfor i in range(n - 1, -1, -1):\n    s = s * a[i]\n    h[i] = s\n",
]


@pytest.mark.parametrize(("before", "after"), [*ORDERED, *((t, t) for t in IN_THEIR_ORDER)])
def test_sums_and_iterations_apart_come_in_any_order(before: str, after: str) -> None:
    block = nodes(before)
    order_freely(block, in_order=False)
    assert text(block) == after


def test_sums_in_order_stay_as_they_were() -> None:
    block = nodes(ORDERED[2][0])
    order_freely(block, in_order=True)
    assert text(block) == ORDERED[2][0]


def test_what_is_inlined_brings_its_origin() -> None:
    let = Let("v", SUM, Origin(("1",)))
    (store,) = inline_once([let, Store("out", ZERO, Var("v", F64), Origin(("2",), None, "why"))])
    assert store.origin == Origin(("1", "2"), None, "why")
    assert str(store.origin) == "%1 %2, a copy: why"


def test_lines_do_not_get_long() -> None:
    long = "v = " + " + ".join(["x"] * 30) + "\nout[0] = v\n"
    assert text(inline_once(nodes(long))) == long


def test_a_loop_of_the_program_can_be_left() -> None:
    (loop,) = nodes("for i in range(n):\n    t[i] = x\n")
    assert isinstance(loop, Loop)
    loop.blocks = (cast(Any, object()),)
    assert text(poll_loops([loop])) == (
        f"for i_chunk in range(0, n, {CHUNK}):\n    if interrupted(ctx, 0, 0):\n"
        f"        return -1\n    for i in range(i_chunk, imin(i_chunk + {CHUNK}, n)):\n"
        "        t[i] = x\n")


def test_a_device_is_given_its_logs() -> None:
    before = nodes("log0 = log_base(ctx, 0)\nm = log_capacity(ctx, 0)\n"
                   "if log_grow(ctx, 0, m + 1, 8) != 0:\n    return fail(ctx, 1, 0, 0)\n"
                   'trsm("L", "T", "N", n, m, a, b)\n')
    assert text(for_device(before, {})) == (
        "log0 = logmem0\nm = logcap0\nif log_grow(ctx, 0, m + 1, logcap0) != 0:\n"
        "    fail(ctx, 1, 0, 0)\n    return\ntrsm(True, True, False, n, m, a, b)\n")


def test_a_grid_is_spread_over_threads() -> None:
    (loop,) = nodes("for i in range(2, n):\n    t[i] = x\n")
    assert text(for_device([loop], {id(loop): "x"})) == (
        "for i in range(2 + at_x(), n, step_x()):\n    t[i] = x\n")


def test_buffers_that_are_not_needed_at_once_share_a_slot() -> None:
    body = nodes("a[0] = x\nb[0] = a[0]\nc[0] = b[0]\nout[0] = c[0]\n")
    arena = [Buffer("arena", F64, 3, [], name) for name in "abc"]
    kernel = SimpleNamespace(nodes=body, arena=arena, is_checked=False, carried_out=SimpleNamespace(
        block=SimpleNamespace(eqns=[])))
    for buffer in arena:
        buffer.values = [cast(Any, object())]
    assign_slots(cast(Any, kernel))
    assert [b.number for b in kernel.arena] == [0, 1, 0]


# --- the verifier -------------------------------------------------------------------------------

ARRAYS = {"t": F64, "out": F64}
SCALAR_NAMES = {name: kind_of(name) for name in ("x", "y", "n", "is_a")}

WRONG = [
    ("out[0] = z\n", "z is read before it is set"),
    ("if is_a:\n    z = x\nout[0] = z\n", "z is read before it is set"),
    ("out[x] = y\n", "x is no index"),
    ("out[0] = t[x]\n", "x is no index"),
    ("gone[0] = x\n", "gone is written before it is there"),
    ("for i in range(x):\n    t[i] = y\n", "a bound of a loop is no integer"),
    ("if x:\n    t[0] = y\n", "x is no condition"),
    ("m = 1.5\nout[m] = x\n", "m is float64, and read as int64"),
    ("out[0] = unheard_of(x)\n", "unheard_of has no row"),
    ("return 0\nout[0] = x\n", "a Return is not the last node of its block"),
    ("for i in range(n):\n    z = x\nout[0] = z\n", "z is read before it is set"),
]


@pytest.mark.parametrize(("source", "message"), WRONG)
def test_nodes_that_are_wrong_are_found(source: str, message: str) -> None:
    with pytest.raises(IRError, match=message):
        verify_nodes(nodes(source), ARRAYS, SCALAR_NAMES)


def test_a_name_that_a_let_sets_twice_is_found() -> None:
    with pytest.raises(IRError, match="z is set by a Let and once more"):
        verify_nodes([Let("z", X), Let("z", Y)], ARRAYS, SCALAR_NAMES)


def test_nodes_that_are_right_pass() -> None:
    verify_nodes(nodes("z = 0.0\nif is_a:\n    z = x\nout[0] = z\nfor i in range(n):\n"
                       "    w = t[i]\n    t[i] = w + z\nreturn 0\n"), ARRAYS, SCALAR_NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_well_formed_after_every_pass(name: str) -> None:
    """In verify mode lowering checks its nodes after each pass on them."""
    with tracejit.config(verify=True):
        lowered = traced_of(name).lower()
    read = {e for n in every_node(lowered.kernel.nodes) for whole in expressions(n)
            for e in every(whole)}
    assert all(isinstance(e, Expression) for e in read)


# --- who reads text ------------------------------------------------------------------------------

ROOT = Path(tracejit.__file__).parent
PARSERS = re.compile(r"\bast\.(?:parse|walk|unparse)|\btree_of\b|\bre\.\w+\(|\bpartition\("
                     r"|\bstartswith\(|\bendswith\(")
READS_TEXT = {
    # assembly, PTX, LLVM, and what assemblers and processors print
    "codegen/cuda/assembler.py", "codegen/njit_link.py", "codegen/export.py",
    "codegen/libraries.py", "inspection/machine/assembly.py", "inspection/machine/calls.py",
    "inspection/machine/instructions.py", "inspection/machine/vectors.py",
    "inspection/profiles/limits.py", "inspection/sections/loops.py",
    # the templates of the registry, and names
    "codegen/templates.py", "codegen/scalar_code.py", "codegen/c_names.py",
    "codegen/c_interface.py", "codegen/names.py",
    # printed graphs, differences of texts, sentences, places
    "inspection/sections/history.py", "inspection/sections/equations.py",
    "inspection/sections/listing.py", "inspection/sections/overview.py",
    "inspection/explaining.py", "inspection/html.py",
    # lines that are broken where they are long
    "codegen/python_source.py",
}
"""The files that take texts apart, by what: no file takes emitted source apart."""


def _files() -> list[Path]:
    return [p for folder in ("codegen", "inspection") for p in (ROOT / folder).rglob("*.py")]


def test_no_other_file_takes_text_apart() -> None:
    found = {str(path.relative_to(ROOT)) for path in _files()
             if PARSERS.search(path.read_text(encoding="utf-8"))}
    assert found <= READS_TEXT, found - READS_TEXT
    assert READS_TEXT <= found, READS_TEXT - found


def test_only_templates_are_parsed() -> None:
    """`ast` is Python's parser: in one file, for the registry."""
    users = [str(path.relative_to(ROOT)) for path in _files()
             if re.search(r"^\s*(?:import|from) ast\b", path.read_text(encoding="utf-8"), re.M)]
    assert users == ["codegen/templates.py"]


def test_expressions_are_made_of_no_text() -> None:
    """A node's expression is a tree: none of its constructors is given a string for one."""
    tree_fields = {"Let": (1,), "Assign": (1,), "Store": (1, 2), "Loop": (1, 2), "If": (0,),
                   "Do": (0,), "Return": (0,), "While": (1,)}
    for path in _files():
        for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                for k in tree_fields.get(n.func.id, ()):
                    given = n.args[k] if k < len(n.args) else None
                    is_text = isinstance(given, ast.JoinedStr) or (
                        isinstance(given, ast.Constant) and isinstance(given.value, str))
                    assert not is_text, f"{path}:{n.lineno}"


@pytest.mark.parametrize(("text_of_sum", "terms", "rest"), [
    ("n + m * k + i - 1", ["n", "m * k"], "i - 1"), ("n + m + i", ["n", "m"], "i"),
    ("i * n + j", [], "i * n + j"), ("n - m + i", ["n"], "0 - m + i"), ("n + m", ["n", "m"], "0"),
    ("i + n + 3", ["n"], "i + 3"), ("idiv(n, m) + n", ["n"], "idiv(n, m)"), ("7", [], "7")])
def test_sums_are_split_into_sizes_and_the_rest(text_of_sum: str, terms: list[str],
                                                rest: str) -> None:
    found, left = split_sum(expression(text_of_sum), {"n", "m", "k"})
    assert (list(map(str, found)), str(left)) == (terms, rest)
