"""The layout of the arena: which buffers share a slot, and an offset for each slot."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.cleanup import names_in
from tracejit.codegen.expression_edits import call, integer, plus, times
from tracejit.codegen.loop_expressions import I64, ZERO, Array, Bin, Const, Expression, Var
from tracejit.codegen.loop_ir import Let, Loop, Node, Store, While, children
from tracejit.ir.core import Block, Value
from tracejit.ir.dims import Dim, IntegerCall, ceil_div
from tracejit.ir.dtypes import dtype_name

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel

__all__ = ["ALIGNMENT", "ZONE", "arena_nodes", "arena_size", "assign_slots", "dim_expression",
           "dim_source", "enclosing_blocks", "slot_sizes"]

ALIGNMENT = 64
ZONE = 64
"""Bytes behind every buffer of the arena that verify mode watches."""


# --- which buffers share a slot -----------------------------------------------------------------


def assign_slots(kernel: Kernel) -> None:
    """Give every used buffer of the arena a slot, reusing slots of equal size.

    A buffer is needed from the first node that names it to the last; where a loop runs inside the
    block that it belongs to, all through the loop.
    """
    needed = _needed(kernel)
    kernel.arena = sorted((b for b in kernel.arena if b in needed), key=lambda b: needed[b])
    ends: list[tuple[Dim, np.dtype, int]] = []
    for buffer in kernel.arena:
        first, last = needed[buffer]
        free = (k for k, (size, dtype, end) in enumerate(ends)
                if size == buffer.size and dtype == buffer.dtype and end < first)
        number = next(free, None)
        if number is None or kernel.is_checked:
            number = len(ends)
            ends.append((buffer.size, buffer.dtype, last))
        ends[number] = (buffer.size, buffer.dtype, last)
        buffer.number = number


def _needed(kernel: Kernel) -> dict[Buffer, tuple[int, int]]:
    """Return from which node to which each buffer is needed."""
    search = _Spans(kernel)
    search.visit(kernel.nodes)
    return search.spans


class _Spans:
    """Goes over nodes, counting them, and notes the first and the last that need each buffer.

    open_loops -- with the buffers that are needed through all of each: they come from outside of it
    """

    def __init__(self, kernel: Kernel) -> None:
        self.outside = enclosing_blocks(kernel)
        self.named = {b.name: b for b in kernel.arena}
        self.spans: dict[Buffer, tuple[int, int]] = {}
        self.open_loops: list[tuple[Loop | While, list[Buffer]]] = []
        self.position = 0

    def note(self, buffer: Buffer, first: int, last: int) -> None:
        a, b = self.spans.get(buffer, (first, last))
        self.spans[buffer] = min(a, first), max(b, last)

    def touch(self, name: str) -> None:
        buffer = self.named.get(name)
        if buffer is None:
            return
        for loop, through in self.open_loops:
            if not self.outside[buffer] & {id(b) for b in loop.blocks}:
                through.append(buffer)
                return
        self.note(buffer, self.position, self.position)

    def visit(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self.position += 1
            first = self.position
            if isinstance(node, Store):
                self.touch(node.buffer)
            if isinstance(node, (Loop, While)):
                self.open_loops.append((node, []))
            for name in names_in(node):
                self.touch(name)
            for block in children(node):
                self.visit(block)
            if isinstance(node, (Loop, While)):
                self.position += 1
                for buffer in self.open_loops.pop()[1]:
                    self.note(buffer, first, self.position)


def enclosing_blocks(kernel: Kernel) -> dict[Buffer, set[int]]:
    """Return the blocks of the program around the arrays of each buffer."""
    chains: dict[Value, tuple[Block, ...]] = {}

    def visit(block: Block, chain: tuple[Block, ...]) -> None:
        for eqn in block.eqns:
            chains.update(dict.fromkeys(eqn.outputs, chain))
            for region in eqn.regions:
                chains.update(dict.fromkeys(region.inputs, chain))
                visit(region, (*chain, region))

    visit(kernel.carried_out.block, ())
    found = {}
    for buffer in kernel.arena:
        around = [{id(b) for b in chains.get(v, ())} for v in buffer.values]
        found[buffer] = set.intersection(*around) if around else set()
    return found


# --- where the slots lie ------------------------------------------------------------------------


def _zone(kernel: Kernel) -> int:
    return ZONE if kernel.is_checked else 0


def slot_sizes(kernel: Kernel) -> list[Dim]:
    """Return the bytes of every slot, rounded up to the alignment, zones included."""
    first = {b.number: b for b in reversed(kernel.arena)}
    return [ceil_div(first[k].size * first[k].dtype.itemsize, ALIGNMENT) * ALIGNMENT + _zone(kernel)
            for k in sorted(first)]


def arena_nodes(kernel: Kernel) -> list[Node]:
    """Return the nodes that lay the arena out: where each slot begins, and its buffers' pointers.

    In verify mode pointers know the sizes of their buffers.
    """
    first_scope = len(kernel.inputs) + len(kernel.outputs)
    numbers = sorted({b.number for b in kernel.arena})
    arena = Array("arena", np.dtype(np.uint8))
    nodes: list[Node] = []
    known = 0
    offset: Expression = ZERO
    for k, number in enumerate(numbers):
        buffers = [b for b in kernel.arena if b.number == number]
        for b in buffers:
            at = call(f"{dtype_name(b.dtype)}_at", arena, offset, integer(first_scope + number))
            nodes.append(Let(b.name, at))
        size = buffers[0].size * buffers[0].dtype.itemsize + ALIGNMENT - 1 + _zone(kernel)
        if isinstance(size, int) and isinstance(offset, Const):
            known += size // ALIGNMENT * ALIGNMENT
            offset = integer(known)
        elif k + 1 < len(numbers):
            parts = call("idiv", dim_expression(size, kernel.scalar_names), integer(ALIGNMENT))
            name = f"o{k + 1}"
            nodes.append(Let(name, Bin("+", offset, Bin("*", parts, integer(ALIGNMENT)))))
            offset = Var(name, I64)
    if kernel.is_checked:
        nodes += [Let(b.name, call("within", Array(b.name, b.dtype), dim_expression(
            b.size, kernel.scalar_names), integer(k))) for k, b in enumerate(kernel.buffers)]
    return nodes


def dim_expression(d: Dim, names: Mapping[Value, str]) -> Expression:
    """Return a dim as an expression over the names of sizes."""
    if isinstance(d, int):
        return integer(d)
    terms = []
    for monomial, c in d.terms:
        factors = [_dim_atom(a, names) for a in monomial]
        terms.append(functools.reduce(times, [integer(c), *factors] if c != 1 else factors))
    return functools.reduce(plus, [*terms, *([integer(d.const)] if d.const else [])])


def _dim_atom(a: Value | IntegerCall, names: Mapping[Value, str]) -> Expression:
    if isinstance(a, Value):
        return Var(names[a], I64)
    return call(_FUNCTIONS[a.fn], *(dim_expression(x, names) for x in a.args))


_FUNCTIONS = {"max": "imax", "min": "imin", "floordiv": "idiv", "mod": "imod"}


def dim_source(d: Dim, names: Mapping[Value, str], prefix: str = "") -> str:
    """Return a dim as source, with a prefix before the names of functions."""
    if isinstance(d, int):
        return str(d)
    terms = []
    for monomial, c in d.terms:
        factors = [names[a] if isinstance(a, Value) else _call_source(a, names, prefix)
                   for a in monomial]
        terms.append(" * ".join([*([str(c)] if c != 1 else []), *factors]))
    return " + ".join([*terms, *([str(d.const)] if d.const else [])]).replace("+ -", "- ")


def _call_source(a: IntegerCall, names: Mapping[Value, str], prefix: str) -> str:
    left, right = (dim_source(arg, names, prefix) for arg in a.args)
    return f"{prefix}{_FUNCTIONS[a.fn]}({left}, {right})"


def arena_size(kernel: Kernel) -> Dim:
    """Return the bytes of the whole arena."""
    return sum(slot_sizes(kernel), start=0)
