"""Hints on loops for LLVM's vectoriser, at the jumps that close them.

It makes a vector loop handle up to four vectors at once, with a loop over single elements for the
rest. That hides the latency of sums and calls of functions, but rows are often short: of 148
elements the last 20 are then done one by one. So the innermost of nested loops that only move and
combine elements takes one vector at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tracejit.codegen.loop_ir import Assign, If, Let, Loop, Node, While, children, expressions
from tracejit.codegen.scalar_intrinsics import QUICK
from tracejit.codegen.spelling import ATTRIBUTES

__all__ = ["mark_scalar", "mark_single_vectors", "single_vector_loops"]


def single_vector_loops(nodes: Sequence[Node], is_inside: bool = False) -> set[int]:
    """Return the identities of the loops that take single vectors.

    is_inside -- whether the nodes are in a loop
    """
    found: set[int] = set()
    for node in nodes:
        is_loop = isinstance(node, (Loop, While))
        for block in children(node):
            found |= single_vector_loops(block, is_inside or is_loop)
        if isinstance(node, Loop) and is_inside and not _has_loop(node.body) and (
                not _carries_or_calls(node.body, set())):
            found.add(id(node))
    return found


def _has_loop(nodes: Sequence[Node]) -> bool:
    return any(isinstance(n, (Loop, While)) or any(map(_has_loop, children(n))) for n in nodes)


def _carries_or_calls(nodes: Sequence[Node], read: set[str]) -> bool:
    """Whether an iteration needs a scalar of the one before, or calls a slow function.

    read -- the names that nodes before these have read
    """
    for node in nodes:
        for e in expressions(node):
            if e.calls - QUICK - ATTRIBUTES:
                return True
            read |= e.reads
        if isinstance(node, (Let, Assign)) and node.name in read:
            return True
        if isinstance(node, If) and any(_carries_or_calls(b, read) for b in children(node)):
            return True
    return False


def mark_single_vectors(module: ir.Module, jump: ir.Instruction) -> None:
    """Tell LLVM, at the jump that closes a loop, to take one vector at a time."""
    _mark(module, jump, "llvm.loop.interleave.count", ir.IntType(32)(1))


def mark_scalar(module: ir.Module, jump: ir.Instruction) -> None:
    """Tell LLVM, at the jump that closes a loop, to make no vectors of its numbers."""
    _mark(module, jump, "llvm.loop.vectorize.enable", ir.IntType(1)(0))


def _mark(module: ir.Module, jump: ir.Instruction, name: str, value: ir.Constant) -> None:
    hint = module.add_metadata([ir.MetaDataString(module, name), value])
    loop = module.add_metadata([hint, ir.IntType(32)(len(module.metadata))])
    loop.operands = (loop, hint)  # a loop is known by metadata that begin with themselves
    jump.set_metadata("llvm.loop", loop)
