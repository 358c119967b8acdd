"""Machine code is made of Loop IR, and computes what its emitted source does: Numba is the oracle.

The source is compiled by Numba as it stands, by `cfunc`; both run on the same arguments. Additions
keep their order and functions are not vectorised here, so that every bit has to agree.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from oracles import random_like
from samples import applications, dtypes_of, sampled
from test_golden import NAMES, module_of, traced_of

import tracejit
from tracejit.autodiff.transforms import pullback_graph
from tracejit.codegen.compile import Functions, compile_kernel, signature_of
from tracejit.codegen.expression_edits import integer
from tracejit.codegen.intrinsics import namespace
from tracejit.codegen.loop_expressions import (
    BOOL,
    F64,
    I64,
    ONE,
    ZERO,
    All,
    Bin,
    Cast,
    Const,
    Expression,
    Extent,
    InRange,
    Load,
    Select,
    Unary,
    Var,
)
from tracejit.codegen.loop_ir import Assign, If, Loop, Node, Return, Store, While
from tracejit.codegen.loop_verifier import verify_kernel
from tracejit.codegen.python_source import render_nodes
from tracejit.ir.core import Op
from tracejit.ir.dtypes import DTYPES
from tracejit.ir.interpreter import interpret
from tracejit.program.invocation import Invocation
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Lowered, Traced

NAMESPACE = namespace((), reassociate=False)


def by_translation(lowered: Lowered) -> Callable[..., list[Any]]:
    """Return a program as machine code that is made of Loop IR."""
    functions = Functions(lowered.kernel, NAMESPACE, "kernel.py")
    code = compile_kernel(functions, "entry")
    return _runner(lowered, code, code.address("entry"))


def by_numba(lowered: Lowered) -> Callable[..., list[Any]]:
    """Return a program as machine code that Numba makes of the emitted source."""
    names = dict(NAMESPACE)
    exec(lowered.source, names)
    kinds = signature_of(lowered.kernel)
    made = numba.cfunc(numba.types.int64(*kinds), error_model="numpy")(names["kernel"])
    sizes = len(lowered.kernel.graph.sizes)
    pointers = len(kinds) - sizes
    plain = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * pointers,
                             *[ctypes.c_int64] * sizes)(made.address)

    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                      ctypes.POINTER(ctypes.c_int64))
    def entry(ctx: int, places: Any, dims: Any) -> int:
        return int(plain(ctx, *places[:pointers - 1], *dims[:sizes]))

    return _runner(lowered, (made, plain, entry),
                   ctypes.cast(entry, ctypes.c_void_p).value or 0)


def _runner(lowered: Lowered, kept: object, address: int) -> Callable[..., list[Any]]:
    compiled = lowered.compile()
    invocation = Invocation(compiled.interface, (address, compiled.addresses()[1]), None)

    def run(*args: Any) -> list[Any]:
        assert kept and invocation.fits(args)
        return list(invocation.run(args))

    return run


def same_bits(lowered: Lowered, *args: Any) -> bool:
    """Return whether both compute the same bits."""
    copies = [[np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    found, expected = by_translation(lowered)(*copies[0]), by_numba(lowered)(*copies[1])
    return [_bits(x) for x in found] == [_bits(x) for x in expected]


def _bits(x: Any) -> tuple[str, tuple[int, ...], bytes]:
    x = np.asarray(x)
    with np.errstate(invalid="ignore"):
        x = np.where(x == x, x, np.nan).astype(x.dtype) if x.dtype.kind in "fc" else x
    return x.dtype.str, x.shape, x.tobytes()


# --- programs -----------------------------------------------------------------------------------

SIZES = {"n": 7, "m": 6, "d": 3, "k": 4, "t": 5}


def _value(spec: str) -> Any:
    """Return an argument of a spec: "f64[n, 2]", "int"."""
    if spec in ("int", "float"):
        return 3 if spec == "int" else 0.4
    kind, _, dims = spec.rstrip("]").partition("[")
    shape = [SIZES.get(d) or int(d) for d in dims.split(", ")]
    return np.random.default_rng(5).uniform(0.2, 3.0, shape).astype(DTYPES[kind])


@pytest.mark.parametrize("name", NAMES)
def test_golden_programs_compute_what_their_source_does(name: str) -> None:
    traced, specs = traced_of(name), module_of(name).arguments
    assert same_bits(traced.lower(), *map(_value, specs))


CASES = [pytest.param(op, dtype, id=f"{op.name}-{np.dtype(dtype).name}")
         for op in sampled() for dtype in dtypes_of(op)]


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_ops_compute_what_their_source_does(op: Op, dtype: Any) -> None:
    graph, operands, fixed = applications(op, dtype, (3,))
    wrt = [k for k, x in enumerate(operands) if x.dtype.kind in "fc" and not fixed[k]]
    if op.vjp is not None and not op.marked and wrt:
        rng = np.random.default_rng(4)
        cotangents = [random_like(rng, e) if np.asarray(e).dtype.kind in "fc" else
                      np.zeros_like(e) for e in interpret(graph, *operands)]
        graph = pullback_graph(graph, wrt, "pullback")
        operands = [*operands, *cotangents]
    assert same_bits(Traced(Program.of_graph(graph)).lower(), *operands)


# --- nodes --------------------------------------------------------------------------------------

AT, INNER, K, S = (Var(name, I64) for name in "ijks")
N = integer(3)


def _set(name: str, e: Expression) -> Assign:
    return Assign(name, e)


def _count(*terms: Expression) -> Assign:
    """Add to a number that depends on the order of all additions to it."""
    return Assign("s", functools.reduce(lambda a, b: Bin("+", a, b),
                                        [Bin("*", S, integer(3)), *terms]))


def _guarded(test: Expression) -> list[Node]:
    return [Loop("i", integer(-1), integer(5), [If(test, [_count(ONE)], [_count(AT)])])]


READ = Bin(">", Load("x", AT, F64), Const(0.5, F64))
INSIDE = InRange(ZERO, AT, N)
NODES: dict[str, list[Node]] = {
    "downwards": [Loop("i", ZERO, integer(5), [_count(AT)], reverse=True)],
    "downwards, empty": [Loop("i", integer(5), integer(2), [_count(AT)], reverse=True)],
    "in steps": [Loop("i", ONE, integer(9), [_count(AT)], step=integer(3))],
    "empty": [Loop("i", integer(5), integer(2), [_count(AT)])],
    "nested": [Loop("i", ZERO, N, [Loop("j", ZERO, AT, [_count(INNER)]), _count(AT)])],
    "one name, one after another": [Loop("i", ZERO, N, [_count(AT)])] * 2,
    "while": [_set("k", ZERO), While([_count(K)], Bin("<", K, N), [_set("k", Bin("+", K, ONE))])],
    "while, never": [While([_count(ONE)], Const(False, BOOL), [_count(N)])],
    "return in a loop": [Loop("i", ZERO, integer(9), [
        If(Bin("==", AT, N), [Store("out0", ZERO, Const(7.0, F64)), Return(integer(0))]),
        _count(AT)])],
    "both return": [If(Bin("<", S, ONE), [Return(ZERO)], [
        Store("out0", ZERO, Const(3.0, F64)), Return(ZERO)]), _count(ONE)],
    "one side returns": [If(Bin("<", S, ONE), [Return(ZERO)], [_count(N)]), _count(ONE)],
    "and, not computed": _guarded(Bin("and", INSIDE, READ)),
    "or, not computed": _guarded(Bin("or", Unary("not", INSIDE), READ)),
    "in a range that is read": _guarded(InRange(ZERO, AT, Cast(I64, Load("x", ZERO, F64)))),
    "all": _guarded(All((Bin("<", AT, N), Bin(">", AT, ZERO), Bin("!=", AT, ONE)))),
    "extent": [_count(Extent(integer(2), integer(7)), Extent(ZERO, N))],
    "number as a condition": _guarded(AT),
    "chosen": [_count(Select(Bin("<", S, N), integer(4), integer(5)))],
    "signs": [_count(Unary("-", N), Unary("~", N), Const(-4))],
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_do_what_python_does(name: str) -> None:
    """The source of nodes is Python: it runs as such, beside the machine code."""
    nodes = [Assign("s", ONE), *NODES[name], Store("out0", ZERO, Cast(F64, S)), Return(ZERO)]
    lowered = tracejit.grad(lambda x: np.sum(x)).trace(np.ones(3)).lower()
    lowered.kernel.nodes[:] = nodes
    verify_kernel(lowered.kernel)
    x, out = np.array([0.2, 0.9, 0.7]), np.full(3, -1.0)
    names: dict[str, Any] = {"select": lambda c, a, b: a if c else b, "f64": float, "i64": int}
    exec("\n".join(["def plain(x, out0):", *render_nodes(nodes, 1)]), names)
    names["plain"](x, out)
    (found,) = by_translation(lowered)(x)
    assert found[0] == out[0]
