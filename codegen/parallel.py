"""Loops that threads may share, cut out as functions of a stretch of their iterations.

    for i in range(n):                      def part0(lo, hi, x, out0):
        out0[i] = exp(x[i])                     for i in range(lo, hi):
                                                    out0[i] = exp(x[i])

                                            if parallel_for(ctx, "part0", 0, n, 3008, x, out0):
                                                return -1

The stretches, of 3008 iterations here, depend on sizes and on the cost of an iteration only. So
results have the same bits for every number of threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tracejit.codegen.context import INTERRUPTED
from tracejit.codegen.expression_edits import call, every, integer
from tracejit.codegen.kernel import Kernel, LoopPart
from tracejit.codegen.loop_costs import loops_around, stretch_of
from tracejit.codegen.loop_expressions import I64, ZERO, Array, Bin, Call, Load, Slice, Var, Word
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    children,
    every_node,
    expressions,
)
from tracejit.codegen.node_names import defined_in, exposed_in, used_in
from tracejit.codegen.scalars import names_where

__all__ = ["cut_out_parts"]


def cut_out_parts(kernel: Kernel) -> None:
    """Cut the loops that threads may share out of a kernel, as its parts."""
    _Parts(kernel).block(kernel.nodes)


_OUTSIDE = frozenset({*names_where(context=True), *names_where(effect=True), "advance", "slot",
                      "call_native"})
"""The functions that no part calls: they need the kernel's context, or memory that grows."""


class _Parts:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.buffers = {b.name: b.dtype for b in kernel.buffers}
        self.taken = {*self.buffers, *kernel.size_names, *defined_in([*kernel.head, *kernel.nodes]),
                      *(n.var for n in every_node(kernel.nodes) if isinstance(n, Loop))}

    def block(self, nodes: list[Node], outside: frozenset[str] = frozenset()) -> None:
        """Cut loops out of a block.

        outside -- the names that are read outside of it
        """
        reads = [{*used_in([node])} for node in nodes]
        counts = Counter(name for names in reads for name in names)
        for k, node in enumerate(nodes):
            if not _has_independent(node):
                continue
            others = outside | {name for name, n in counts.items() if n > (name in reads[k])}
            shared = _shared_loop(node) if isinstance(node, Loop) else None
            if shared is not None and self._is_part(node, shared, others):  # type: ignore[arg-type]
                nodes[k] = self._cut_out(node, shared)  # type: ignore[arg-type]
            elif isinstance(node, If):
                for inner, other in ((node.then, node.other), (node.other, node.then)):
                    self.block(inner, others | exposed_in(other, set()))
            else:
                for inner in children(node):
                    rest = [n for block in children(node) if block is not inner for n in block]
                    heads = {name for e in expressions(node) for name in e.reads}
                    self.block(inner, others | heads | {*used_in(rest)})

    def _is_part(self, whole: Loop, shared: Loop, outside: frozenset[str]) -> bool:
        """Whether a loop computes nothing but elements of buffers, in any order of one loop's
        iterations: its own, or a loop's inside.
        """
        assigned = {n.name for n in every_node(whole.body) if isinstance(n, Assign)}
        defined = {*defined_in(whole.body)}
        if shared.reverse or assigned & outside or exposed_in([whole], set()) & defined:
            return False
        own = {*defined, *(n.var for n in every_node([whole]) if isinstance(n, Loop))}
        if not _computes(whole) or shared.lo.reads & own or shared.hi.reads & own or any(
                isinstance(n, Return) or _has_foreign_calls(n) for n in every_node([whole])):
            return False
        written = {n.buffer for n in every_node(whole.body) if isinstance(n, Store)}
        if shared.blocks and not written <= set(shared.results):
            return False
        lets = [e.reads for loop in loops_around(whole, shared) for n in loop.body
                if isinstance(n, Let) for e in expressions(n)]
        if any(written & reads for reads in lets):
            return False
        arrays = written | {e.buffer if isinstance(e, Load) else e.name
                            for n in every_node([whole]) for x in expressions(n)
                            for e in every(x) if isinstance(e, (Load, Array))}
        return arrays <= {*self.buffers}

    def _cut_out(self, whole: Loop, shared: Loop) -> If:
        name = f"part{len(self.kernel.parts)}"
        lo, hi = (Var(self._fresh(f"{name}_{end}"), I64) for end in ("lo", "hi"))
        grain = stretch_of(whole, shared)
        bounds = (shared.lo, shared.hi)
        shared.lo, shared.hi = lo, hi
        arguments = tuple(self._arguments(whole, {lo.name, hi.name}))
        self.kernel.parts.append(LoopPart(name, lo, hi, arguments, whole))
        status = call("parallel_for", Word(name), *bounds, grain, *arguments)
        return If(Bin("!=", status, ZERO), [Return(integer(INTERRUPTED))], origin=whole.origin)

    def _fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _arguments(self, whole: Loop, known: set[str]) -> Iterator[Array | Var]:
        """Yield the buffers and scalars from outside that a loop names, in a fixed order."""
        kinds = {e.name: e.dtype for node in every_node([whole]) for x in expressions(node)
                 for e in every(x) if isinstance(e, Var)}
        for name in sorted(exposed_in([whole], known)):
            yield (Array(name, self.buffers[name]) if name in self.buffers
                   else Var(name, kinds[name]))


def _shared_loop(loop: Loop) -> Loop | None:
    """Return the loop whose iterations threads may share: a loop, or the only loop in it.

        for i in range(n):
            a = x[i]
            for j in range(m):
                y[j] = y[j] + a * z[j]

    An iteration of the inner one touches elements that no other iteration of it touches, for any
    number of the outer one; so a thread may do some of its iterations for all numbers of that.
    """
    if loop.independent:
        return loop
    inner = [n for n in loop.body if not isinstance(n, Let)]
    if loop.nest is None or len(inner) != 1 or not isinstance(inner[0], Loop) or (
            inner[0].nest is None or inner[0] is not loop.body[-1]):
        return None
    return _shared_loop(inner[0])


def _computes(loop: Loop) -> bool:
    """Whether a loop does more than fill arrays with numbers."""
    return any(isinstance(n, Do) or any(isinstance(e, (Load, Call)) for x in expressions(n)
                                        for e in every(x)) for n in every_node(loop.body))


def _has_independent(node: Node) -> bool:
    return any(isinstance(n, Loop) and n.independent for n in every_node([node]))


def _has_foreign_calls(node: Node) -> bool:
    if isinstance(node, Do):
        return node.call.fn.name not in ("scalar_loop", "gemm_at", "gemm_block")
    return any(e.calls & _OUTSIDE or any(isinstance(x, (Array, Slice)) for x in every(e))
               for e in expressions(node))
