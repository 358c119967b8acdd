"""Hints on loops for LLVM's vectoriser, at the jumps that close them.

It makes a vector loop handle up to four vectors at once, with a loop over single elements for the
rest. That hides the latency of sums and calls of functions, but rows are often short: of 148
elements the last 20 are then done one by one. So the innermost of nested loops that only move and
combine elements takes one vector at a time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

from llvmlite import ir
from numba.core import ir as numba_ir

from tracejit.codegen.scalar_intrinsics import QUICK

__all__ = ["mark_single_vectors", "single_vector_loops"]


def single_vector_loops(blocks: Mapping[int, numba_ir.Block]) -> set[Any]:
    """Return the blocks of Numba's IR at the ends of loops that take single vectors."""
    loops = [(block.body[-1].target, label) for label, block in blocks.items()
             if isinstance(block.body[-1], numba_ir.Jump) and block.body[-1].target <= label]
    labels = sorted(blocks)
    found = set()
    for head, last in loops:
        around = any(h < head and last < end for h, end in loops)
        inside = any(head < h and end <= last for h, end in loops)
        body = labels[bisect_left(labels, head):bisect_right(labels, last)]
        if around and not inside and not _carries_or_calls([blocks[label] for label in body]):
            found.add(blocks[last])
    return found


def _carries_or_calls(body: list[Any]) -> bool:
    """Whether an iteration needs a scalar of the one before, or calls a slow function."""
    read: set[str] = set()
    for block in body:
        for statement in block.body:
            if not isinstance(statement, numba_ir.Assign):
                continue
            value = statement.value
            if isinstance(value, numba_ir.Global) and value.name not in QUICK:
                return True
            read.update(v.name for v in statement.list_vars() if v is not statement.target)
            if statement.target.name in read:
                return True
    return False


def mark_single_vectors(module: ir.Module, jump: ir.Instruction) -> None:
    """Tell LLVM, at the jump that closes a loop, to take one vector at a time."""
    hint = module.add_metadata([ir.MetaDataString(module, "llvm.loop.interleave.count"),
                                ir.IntType(32)(1)])
    loop = module.add_metadata([hint, ir.IntType(32)(len(module.metadata))])
    loop.operands = (loop, hint)  # a loop is known by metadata that begin with themselves
    jump.set_metadata("llvm.loop", loop)
