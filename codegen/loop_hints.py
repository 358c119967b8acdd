"""Hints on loops for LLVM: for its vectoriser, at the jumps that close them, and for copies.

It makes a vector loop handle up to four vectors at once, with a loop over single elements for the
rest. That hides the latency of sums and calls of functions, but rows are often short: of 148
elements the last 20 are then done one by one. So the innermost of nested loops that only move and
combine elements takes one vector at a time.

Loops that call functions and are in no loop, or in blocks of one, take four where a call waits for
another: `exp(sin(x))`. They take two where calls wait for none, `exp(x) + sin(x)`: the processor
overlaps them anyhow, and what is kept on the stack around calls grows with the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tracejit.codegen.expression_edits import every
from tracejit.codegen.loop_expressions import ONE, Call, Expression, Select, Var
from tracejit.codegen.loop_ir import Assign, If, Let, Loop, Node, While, children, expressions
from tracejit.codegen.scalar_intrinsics import QUICK
from tracejit.codegen.spelling import ATTRIBUTES

__all__ = ["chooses_inside", "mark_scalar", "mark_vectors", "vectors_at_once"]


def vectors_at_once(nodes: Sequence[Node], is_inside: bool = False,
                    is_row: bool = False) -> dict[int, int]:
    """Return how many vectors loops take at once, by identity, where that is not left to LLVM.

    is_inside -- whether the nodes are in a loop
    is_row    -- whether that is another loop than one over blocks
    """
    found: dict[int, int] = {}
    for node in nodes:
        is_loop, is_block = isinstance(node, (Loop, While)), _is_over_blocks(node)
        for block in children(node):
            found |= vectors_at_once(block, is_inside or is_loop,
                                     is_row or (is_loop and not is_block))
        if not isinstance(node, Loop) or _has_loop(node.body):
            continue
        count, longest = _calls(node.body)
        if count and not is_row:
            found[id(node)] = 4 if count < 2 * longest else 2
        elif is_inside and not _carries_or_calls(node.body, set()):
            found[id(node)] = 1
    return found


SUMS = frozenset({"radd"})


def chooses_inside(nodes: Sequence[Node], is_inside: bool = False) -> bool:
    """Return whether an innermost loop has a condition in it, or calls what may have one.

    is_inside -- whether the nodes are in an innermost loop
    """
    for node in nodes:
        if is_inside and (isinstance(node, If) or any(
                _is_choice(e) for whole in expressions(node) for e in every(whole))):
            return True
        is_innermost = isinstance(node, (Loop, While)) and not any(map(_has_loop, children(node)))
        if any(chooses_inside(b, is_inside or is_innermost) for b in children(node)):
            return True
    return False


def _is_choice(e: Expression) -> bool:
    plain = QUICK | ATTRIBUTES | SUMS
    return isinstance(e, Select) or (
        isinstance(e, Call) and not e.fn.libm and e.fn.name not in plain)


def _is_over_blocks(node: Node) -> bool:
    return isinstance(node, Loop) and node.step != ONE


def _calls(nodes: Sequence[Node]) -> tuple[int, int]:
    """Return the number of calls that have vectors, and of those that wait for one another."""
    count, longest = 0, 0
    depths: dict[str, int] = {}

    def depth(e: Expression) -> int:
        nonlocal count
        inner = max(map(depth, e.parts), default=0)
        if isinstance(e, Var):
            return depths.get(e.name, 0)
        is_slow = isinstance(e, Call) and e.fn.libm > 0
        count += is_slow
        return inner + is_slow

    for node in nodes:
        for e in expressions(node):
            found = depth(e)
            longest = max(longest, found)
            if isinstance(node, (Let, Assign)):
                depths[node.name] = found
        for block in children(node):
            inside, deep = _calls(block)
            count, longest = count + inside, max(longest, deep)
    return count, longest


def _has_loop(nodes: Sequence[Node]) -> bool:
    return any(isinstance(n, (Loop, While)) or any(map(_has_loop, children(n))) for n in nodes)


def _carries_or_calls(nodes: Sequence[Node], read: set[str]) -> bool:
    """Whether an iteration needs a scalar of the one before, or calls a slow function.

    read -- the names that nodes before these have read
    """
    for node in nodes:
        for e in expressions(node):
            if e.calls - QUICK - ATTRIBUTES - SUMS:
                return True
            read |= e.reads
        if isinstance(node, (Let, Assign)) and node.name in read:
            return True
        if isinstance(node, If) and any(_carries_or_calls(b, read) for b in children(node)):
            return True
    return False


def mark_vectors(module: ir.Module, jump: ir.Instruction, count: int) -> None:
    """Tell LLVM, at the jump that closes a loop, to take so many vectors at a time."""
    _mark(module, jump, "llvm.loop.interleave.count", ir.IntType(32)(count))


def mark_scalar(module: ir.Module, jump: ir.Instruction) -> None:
    """Tell LLVM, at the jump that closes a loop, to make no vectors of its numbers."""
    _mark(module, jump, "llvm.loop.vectorize.enable", ir.IntType(1)(0))


def _mark(module: ir.Module, jump: ir.Instruction, name: str, value: ir.Constant) -> None:
    hint = module.add_metadata([ir.MetaDataString(module, name), value])
    loop = module.add_metadata([hint, ir.IntType(32)(len(module.metadata))])
    loop.operands = (loop, hint)  # a loop is known by metadata that begin with themselves
    jump.set_metadata("llvm.loop", loop)
