"""The plan of a call: sizes, the shapes of results and the workspace, from the arguments' shapes.

A small LLVM function `i64 plan(dims, out)`: `dims` holds the shape of every array argument and the
number of every int argument, in order; `out` receives the graph's sizes, the shapes of its array
results, and the bytes of the arena. Of a result whose size the kernel finds out, the caller makes
room for the shape. It returns nonzero where the arguments do not fit this program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.slots import arena_size
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, IntegerCall, bare_value
from tracejit.ir.types import Aval

__all__ = ["Condition", "plan_dims", "plan_text"]

Condition = tuple[Dim, str, bool]
"""`dim relation 0` must be this truth value."""

WORD = ir.IntType(64)


def plan_dims(kernel: Kernel) -> list[Dim]:
    """Return what the plan writes: sizes, shapes of array results, bytes of the arena."""
    graph = kernel.graph
    dims: list[Dim] = [v.dim for v in graph.sizes]
    for k, a in enumerate(graph.outputs):
        assert isinstance(a.aval, Aval)
        dims += (len(a.aval.shape),) if k in kernel.found else a.aval.shape
    return [*dims, arena_size(kernel)]


def plan_text(kernel: Kernel, conditions: Sequence[Condition], symbol: str, triple: str) -> str:
    """Return LLVM text of the plan."""
    module = ir.Module()
    module.triple = triple
    table = WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(WORD, [table, table]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    given, out = function.args
    known, checks = _bind(kernel, builder, given)

    def number(d: Dim) -> Any:
        return dim_code(builder, d, known.__getitem__)

    bad = ir.IntType(1)(0)
    for d, word in checks:
        bad = builder.or_(bad, builder.icmp_signed("!=", number(d), word))
    for d, relation, truth in conditions:
        holds = builder.icmp_signed(relation, number(d), WORD(0))
        bad = builder.or_(bad, builder.not_(holds) if truth else holds)
    for k, d in enumerate(plan_dims(kernel)):
        builder.store(number(d), builder.gep(out, [WORD(k)]))
    builder.ret(builder.zext(bad, WORD))
    return str(module)


def _bind(kernel: Kernel, builder: ir.IRBuilder,
          given: object) -> tuple[dict[Value, Any], list[tuple[Dim, Any]]]:
    """Read the sizes off the shapes that have them bare; all other dims become checks."""
    known: dict[Value, Any] = {}
    checks: list[tuple[Dim, Any]] = []
    place = 0
    for v in kernel.graph.inputs:
        assert isinstance(v.aval, Aval)
        dims: list[Dim] = list(v.aval.shape)
        if not dims and v.aval.dtype == np.int64:
            dims = [v.dim]
        for d in dims:
            word = builder.load(builder.gep(given, [WORD(place)]))
            place += 1
            size = bare_value(d)
            if size is not None and size not in known:
                known[size] = word
            else:
                checks.append((d, word))
    return known, checks


def dim_code(builder: ir.IRBuilder, d: Dim, known: Callable[[Value], object]) -> Any:
    """Emit the computation of a dim."""
    if isinstance(d, int):
        return WORD(d)
    total = WORD(d.const)
    for monomial, c in d.terms:
        term = WORD(c)
        for a in monomial:
            term = builder.mul(term, _atom_code(builder, a, known))
        total = builder.add(total, term)
    return total


def _atom_code(builder: ir.IRBuilder, a: Value | IntegerCall,
               known: Callable[[Value], object]) -> Any:
    if isinstance(a, Value):
        return known(a)
    left, right = (dim_code(builder, arg, known) for arg in a.args)
    if a.fn in ("max", "min"):
        test = builder.icmp_signed(">" if a.fn == "max" else "<", left, right)
        return builder.select(test, left, right)
    safe = builder.select(builder.icmp_signed("==", right, WORD(0)), WORD(1), right)
    quotient, rest = builder.sdiv(left, safe), builder.srem(left, safe)
    opposite = builder.icmp_signed("<", builder.xor(rest, safe), WORD(0))
    adjust = builder.and_(builder.icmp_signed("!=", rest, WORD(0)), opposite)
    if a.fn == "mod":
        return builder.select(adjust, builder.add(rest, safe), rest)
    return builder.select(adjust, builder.sub(quotient, WORD(1)), quotient)
