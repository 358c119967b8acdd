"""The plan of a call: sizes, the shapes of results and the workspace, from the arguments' shapes.

`SizePlan` says it for any machine; `codegen/cuda/plan.py` writes it for devices. For the CPU it is
a small LLVM function `i64 plan(dims, out)`: `dims` holds the shape of every array argument and the
number of every int argument, in order; `out` receives the graph's sizes, the shapes of its array
results, and the bytes of the arena. Of a result whose size the kernel finds out, the caller makes
room for the shape. It returns nonzero where the arguments do not fit this program.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.slots import arena_size
from tracejit.ir.core import Graph, Value, param_dims
from tracejit.ir.dims import Dim, Expr, IntegerCall, bare_value, dim_values, product
from tracejit.ir.types import Aval
from tracejit.ir.walk import all_eqns

__all__ = ["Condition", "Overflowing", "SizePlan", "plan_dims", "plan_text", "size_plan"]

Condition = tuple[Dim, str, bool]
"""`dim relation 0` must be this truth value."""

WORD = ir.IntType(64)

TOO_MUCH = 2 ** 62
"""The bytes of an arena that nobody has: the plan says so where its numbers have more than 64 bits.
"""


@dataclass(frozen=True)
class SizePlan:
    """The facts that follow from the shapes and ints of a call, before a machine's code.

    given      -- the dims that a call gives, in order: the dims of its arrays, and its ints
    sizes      -- by size, the number of the dim that it is read off
    checks     -- numbers of the other dims, each with the dim that it has to equal
    conditions -- the other conditions on sizes and ints
    shapes     -- the results' shapes; of one whose size the kernel finds out, room for its shape
    """

    given: tuple[Dim, ...]
    sizes: dict[Value, int]
    checks: tuple[tuple[int, Dim], ...]
    conditions: tuple[Condition, ...]
    shapes: tuple[tuple[Dim, ...], ...]


def size_plan(kernel: Kernel, conditions: Sequence[Condition]) -> SizePlan:
    """Return the plan of a kernel: sizes are read off the shapes that have them bare."""
    given = tuple(_given(kernel.graph))
    sizes: dict[Value, int] = {}
    checks = []
    for k, d in enumerate(given):
        size = bare_value(d)
        if size is not None and size not in sizes:
            sizes[size] = k
        else:
            checks.append((k, d))
    return SizePlan(given, sizes, tuple(checks), tuple(conditions), tuple(_shapes(kernel)))


def _given(graph: Graph) -> Iterator[Dim]:
    for v in graph.inputs:
        if v.aval.shape:
            yield from v.aval.shape
        elif v.aval.dtype == np.int64:
            yield v.dim


def _shapes(kernel: Kernel) -> Iterator[tuple[Dim, ...]]:
    for k, a in enumerate(kernel.graph.outputs):
        assert isinstance(a.aval, Aval)
        yield (len(a.aval.shape),) if k in kernel.found else a.aval.shape


def plan_dims(kernel: Kernel) -> list[Dim]:
    """Return the dims that the plan writes: sizes, shapes of array results, bytes of the arena."""
    shapes = [d for shape in _shapes(kernel) for d in shape]
    return [*(v.dim for v in kernel.graph.sizes), *shapes, arena_size(kernel)]


def plan_text(kernel: Kernel, conditions: Sequence[Condition]) -> str:
    """Return LLVM text of the plan, the function `PLAN`."""
    plan = size_plan(kernel, conditions)
    module = ir.Module()
    module.triple = ""
    table = WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(WORD, [table, table]), "PLAN")
    builder = ir.IRBuilder(function.append_basic_block())
    given, out = function.args
    words = [builder.load(builder.gep(given, [WORD(k)])) for k in range(len(plan.given))]

    def number(d: Dim) -> Any:
        return dim_code(builder, d, lambda v: words[plan.sizes[v]])

    checked = Overflowing(builder)
    bad = ir.IntType(1)(0)
    for k, d in plan.checks:
        bad = builder.or_(bad, builder.icmp_signed("!=", number(d), words[k]))
    for d, relation, truth in plan.conditions:
        holds = builder.icmp_signed(relation, number(d), WORD(0))
        bad = builder.or_(bad, builder.not_(holds) if truth else holds)
    made = [dim_code(checked, d, lambda v: words[plan.sizes[v]])
            for d in (*_counts(kernel.graph, plan.sizes), *plan_dims(kernel))]
    made = made[-len(plan_dims(kernel)):]
    too_much = builder.or_(checked.overflow, builder.icmp_signed(">", made[-1], WORD(TOO_MUCH)))
    made[-1] = builder.select(too_much, WORD(TOO_MUCH), made[-1])
    for k, word in enumerate(made):
        builder.store(word, builder.gep(out, [WORD(k)]))
    builder.ret(builder.zext(bad, WORD))
    return str(module)


def _counts(graph: Graph, sizes: Container[Value]) -> dict[Dim, None]:
    """Return the numbers of elements, and others, that sizes of a call multiply up to.

    Arrays count whether they are stored or not: NumPy has all of them.
    """
    numbers: dict[Dim, None] = {}
    for eqn in all_eqns(graph.block):
        for v in eqn.outputs:
            if isinstance(v.aval, Aval):
                numbers[product(v.aval.shape)] = None
        if eqn.op.dims is None:  # else it is an int of the program's, which checks it
            numbers.update(dict.fromkeys(param_dims(eqn.params)))
    return {d: None for d in numbers if isinstance(d, Expr)
            and any(len(monomial) > 1 for monomial, _ in d.terms)
            and all(v in sizes for v in dim_values(d))}


class Overflowing:
    """Arithmetic on words that notes where it overflows; all else is the builder's."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder, self.overflow = builder, ir.IntType(1)(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.builder, name)

    def add(self, x: ir.Value, y: ir.Value) -> Any:
        return self._note(self.builder.sadd_with_overflow(x, y))

    def mul(self, x: ir.Value, y: ir.Value) -> Any:
        return self._note(self.builder.smul_with_overflow(x, y))

    def _note(self, pair: object) -> Any:
        self.overflow = self.builder.or_(self.overflow, self.builder.extract_value(pair, 1))
        return self.builder.extract_value(pair, 0)


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
    is_zero = builder.icmp_signed("==", right, WORD(0))  # then the result is 0, as in the kernel
    safe, left = builder.select(is_zero, WORD(1), right), builder.select(is_zero, WORD(0), left)
    quotient, rest = builder.sdiv(left, safe), builder.srem(left, safe)
    opposite = builder.icmp_signed("<", builder.xor(rest, safe), WORD(0))
    adjust = builder.and_(builder.icmp_signed("!=", rest, WORD(0)), opposite)
    if a.fn == "mod":
        return builder.select(adjust, builder.add(rest, safe), rest)
    return builder.select(adjust, builder.sub(quotient, WORD(1)), quotient)
