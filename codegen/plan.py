"""The plan of a call: sizes, the shapes of results and the workspace, from the arguments' shapes.

`SizePlan` says it for any machine; `codegen/cuda/plan.py` writes it for devices. For the CPU it is
a small LLVM function `i64 plan(dims, out)`: `dims` holds the shape of every array argument and the
number of every int argument, in order; `out` receives the graph's sizes, the shapes of its array
results, and the bytes of the arena. Of a result whose size the kernel finds out, the caller makes
room for the shape. It returns nonzero where the arguments do not fit this program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from tracejit.codegen.arithmetic import divided_by
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.slots import arena_size
from tracejit.ir.core import Graph, Value, param_dims
from tracejit.ir.dims import Dim, Expr, IntegerCall, bare_value, dim_values, product
from tracejit.ir.types import Aval
from tracejit.ir.walk import all_eqns

__all__ = ["Condition", "DimCode", "Overflowing", "SizePlan", "plan_dims", "plan_text", "size_plan"]

Condition = tuple[Dim, str, bool]
"""`dim relation 0` must be this truth value."""

WORD = ir.IntType(64)

TOO_MUCH = 2 ** 62
"""The bytes of an arena that nobody has: the plan says so where its numbers have more than 64 bits.
"""

LONG = 200
"""From how many instructions on a plan is not optimised.

LLVM takes time that grows faster than they do, and there is nothing to gain: the one of NPBench's
resnet, of 1700, was optimised in 75 ms and made code of in 60, and is in 20 as it stands.
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

    def word(v: Value) -> Any:
        return words[plan.sizes[v]]

    number, checked = DimCode(builder, word).of, Overflowing(builder)
    bad = ir.IntType(1)(0)
    for k, d in plan.checks:
        bad = builder.or_(bad, builder.icmp_signed("!=", number(d), words[k]))
    for d, relation, truth in plan.conditions:
        holds = builder.icmp_signed(relation, number(d), WORD(0))
        bad = builder.or_(bad, builder.not_(holds) if truth else holds)
    wanted = plan_dims(kernel)
    made = [*map(DimCode(checked, word).of, (*_counts(kernel.graph, plan.sizes), *wanted))]
    made = made[-len(wanted):]
    too_much = builder.or_(checked.overflow, builder.icmp_signed(">", made[-1], WORD(TOO_MUCH)))
    made[-1] = builder.select(too_much, WORD(TOO_MUCH), made[-1])
    for k, word in enumerate(made):
        builder.store(word, builder.gep(out, [WORD(k)]))
    builder.ret(builder.zext(bad, WORD))
    if len(builder.block.instructions) > LONG:
        for attribute in ("noinline", "optnone"):  # which go together
            function.attributes.add(attribute)
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


class DimCode:
    """Emits the computation of dims, each and each product of its first factors once.

    known -- the value of a size
    """

    def __init__(self, builder: Any, known: Callable[[Value], object]) -> None:
        self.builder, self.known = builder, known
        self._made: dict[object, Any] = {}

    def of(self, d: Dim) -> Any:
        """Return a dim's value."""
        if isinstance(d, int):
            return WORD(d)
        if d not in self._made:
            terms = [self._term(c, monomial) for monomial, c in d.terms]
            total = functools.reduce(self.builder.add, terms)
            self._made[d] = self.builder.add(WORD(d.const), total) if d.const else total
        return self._made[d]

    def _term(self, c: int, factors: tuple[Value | IntegerCall, ...]) -> Any:
        """Return a product of atoms, multiplied from the left, and of a number."""
        if (c, factors) not in self._made:
            if c != 1:
                self._made[c, factors] = self.builder.mul(self._term(1, factors), WORD(c))
            elif len(factors) == 1:
                self._made[c, factors] = self._atom(factors[0])
            else:
                self._made[c, factors] = self.builder.mul(
                    self._term(1, factors[:-1]), self._atom(factors[-1]))
        return self._made[c, factors]

    def _atom(self, a: Value | IntegerCall) -> Any:
        if isinstance(a, Value):
            return self.known(a)
        if a not in self._made:
            self._made[a] = self._call(a, *map(self.of, a.args))
        return self._made[a]

    def _call(self, a: IntegerCall, left: Any, right: Any) -> Any:
        builder = self.builder
        if a.fn in ("max", "min"):
            test = builder.icmp_signed(">" if a.fn == "max" else "<", left, right)
            return builder.select(test, left, right)
        divisor = a.args[1]
        if isinstance(divisor, int) and divisor > 0:
            return divided_by(builder, left, right, a.fn == "mod")
        is_zero = builder.icmp_signed("==", right, WORD(0))  # then the result is 0, as in kernels
        safe, left = builder.select(is_zero, WORD(1), right), builder.select(is_zero, WORD(0), left)
        quotient, rest = builder.sdiv(left, safe), builder.srem(left, safe)
        opposite = builder.icmp_signed("<", builder.xor(rest, safe), WORD(0))
        adjust = builder.and_(builder.icmp_signed("!=", rest, WORD(0)), opposite)
        if a.fn == "mod":
            return builder.select(adjust, builder.add(rest, safe), rest)
        return builder.select(adjust, builder.sub(quotient, WORD(1)), quotient)
