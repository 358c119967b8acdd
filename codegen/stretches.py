"""Long loops that add to buffers, in stretches that threads share.

    for i in range(n):                  rows = max((n + 15) // 16, ...)
        for j in range(m):              if rows < n:
            t[j] = t[j] + x[i, j]           for s in range((n + rows - 1) // rows):
                                                for j in range(m):
                                                    sums_t[s * m + j] = 0.0
                                                for i in range(s * rows, ...):
                                                    for j in range(m):
                                                        sums_t[s * m + j] += x[i, j]
                                            for s in range((n + rows - 1) // rows):
                                                for j in range(m):
                                                    t[j] = t[j] + sums_t[s * m + j]
                                        else:
                                            ...

The loop over stretches is independent: each has sums of its own. How long stretches are depends on
sizes and costs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.expression_edits import call, every, integer
from tracejit.codegen.folds import identity_of
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_costs import STRETCHES, stretch_of
from tracejit.codegen.loop_expressions import I64, ONE, ZERO, Bin, Expression, Extent, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    If,
    Let,
    Loop,
    Node,
    Store,
    children,
    every_node,
    expressions,
)
from tracejit.codegen.node_copies import NodeCopier
from tracejit.codegen.node_names import defined_in, exposed_in
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim

__all__ = ["sum_in_stretches"]

APART = 32
"""Elements between the sums of two stretches: no cache line holds both, for each thread to wait for
the other at every addition."""
LEAST = 64
"""How many iterations a stretch has at the least, for its sums to be a small part of the work."""
MOST = 16
"""How many stretches there are at the most: so many times the memory of the sums is needed."""


def sum_in_stretches(kernel: Kernel, fresh: Callable[[str], str]) -> None:
    """Write the loops of a kernel that add to buffers so that threads can share them."""
    _Stretches(kernel, fresh).block(kernel.nodes)


class _Stretches:
    def __init__(self, kernel: Kernel, fresh: Callable[[str], str]) -> None:
        self.kernel, self.fresh = kernel, fresh
        self.buffers = {b.name: b for b in kernel.buffers}

    def block(self, nodes: list[Node]) -> None:
        """Go over a block, in place."""
        result: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop) and self._is_sum(node):
                result += self._in_stretches(node)
                continue
            if not (isinstance(node, Loop) and node.independent):
                for inner in children(node):
                    self.block(inner)
            result.append(node)
        nodes[:] = result

    def _is_sum(self, loop: Loop) -> bool:
        """Whether a loop carries nothing, and adds to buffers of which sizes say how large."""
        if not loop.sums or loop.independent or loop.step != ONE or loop.reverse:
            return False
        carried = exposed_in(loop.body, {loop.var}) & {*defined_in(loop.body)}
        return not carried and all(
            name in self.buffers and self._size(self.buffers[name].size) is not None
            and _only_adds(loop, name) for name in loop.sums)

    def _size(self, d: Dim) -> Expression | None:
        """Return a product of sizes; None for anything else."""
        if isinstance(d, int):
            return integer(d)
        if len(d.terms) != 1 or d.const:
            return None
        ((factors, number),) = d.terms
        total: Expression = integer(number)
        for k, a in enumerate(factors):
            if not isinstance(a, Value) or a not in self.kernel.graph.sizes:
                return None
            factor = Var(self.kernel.scalar_names[a], I64)
            total = factor if k == 0 and number == 1 else Bin("*", total, factor)
        return total

    def _in_stretches(self, loop: Loop) -> Iterator[Node]:
        rows, s = (Var(self.fresh(stem), I64) for stem in ("rows", "s"))
        length = loop.hi if loop.lo == ZERO else Extent(loop.lo, loop.hi)
        least = call("idiv", Bin("+", length, integer(MOST - 1)), integer(MOST))
        some = call("imax", least, integer(LEAST))
        yield Let(rows.name, call("imax", some, stretch_of(loop, loop)))
        start = Bin("*", s, rows)
        first: Expression = start if loop.lo == ZERO else Bin("+", loop.lo, start)
        inside: list[Node] = []
        behind: list[Node] = []
        places: dict[str, tuple[str, Expression]] = {}
        for name in loop.sums:
            fill, add, places[name] = self._own_sums(self.buffers[name], s)
            inside.append(fill)
            behind.append(add)
        own = {n.name: self.fresh(n.name) for n in every_node(loop.body)
               if isinstance(n, (Let, Assign))}
        copy = NodeCopier(own, {}, places).loop(loop)
        copy.lo, copy.hi, copy.sums = first, call("imin", Bin("+", first, rows), loop.hi), ()
        count = call("idiv", Bin("-", Bin("+", length, rows), ONE), rows)
        shared = Loop(s.name, ZERO, count, [*inside, copy], independent=True, role=STRETCHES)
        joined = Loop(s.name, ZERO, count, behind, role=STRETCHES)
        loop.sums = ()
        yield If(Bin("<", rows, length), [shared, joined], [loop])

    def _own_sums(self, buffer: Buffer, s: Var) -> tuple[Loop, Loop, tuple[str, Expression]]:
        """Return the loops that fill and join the sums of a stretch; their buffer and place in it.
        """
        sums = Buffer("arena", buffer.dtype, MOST * (buffer.size + APART), [],
                      self.fresh(f"sums_{buffer.name}"))
        self.kernel.arena.append(sums)
        size = self._size(buffer.size)
        assert size is not None
        k = Var(self.fresh("k"), I64)
        start = Bin("*", s, Bin("+", size, integer(APART)))
        at = Bin("+", start, k)
        fill = Loop(k.name, ZERO, size, [Store(sums.name, at, identity_of("add", sums.dtype))])
        total = Bin("+", Load(buffer.name, k, buffer.dtype), Load(sums.name, at, sums.dtype))
        return fill, Loop(k.name, ZERO, size, [Store(buffer.name, k, total)]), (sums.name, start)


def _only_adds(loop: Loop, name: str) -> bool:
    """Whether all that a loop does with a buffer is to add to elements of it."""
    stores = [n for n in every_node(loop.body) if isinstance(n, Store) and n.buffer == name]
    reads = sum(name in e.mentions for n in every_node(loop.body) for whole in expressions(n)
                for e in every(whole) if isinstance(e, Load) and e.buffer == name)
    return reads == len(stores) and all(
        isinstance(n.expression, Bin) and n.expression.op == "+"
        and n.expression.a == Load(name, n.index, n.expression.dtype) for n in stores)
