"""Loops over the elements of one vector: they are short, and as good as straight-line code.

Rows of 8 numbers are one vector of 512 bits, or two of 256. LLVM makes one operation on vectors of
such a loop, where the same written out, element by element, stays scalar.
"""

from __future__ import annotations

from tracejit.codegen.expression_edits import known_integer
from tracejit.codegen.loop_ir import Assign, Let, Loop, Node, Store
from tracejit.codegen.schedule import LANES

__all__ = ["is_vector"]


def is_vector(node: Node) -> bool:
    """Return whether a node is a loop over one vector, which does nothing but compute."""
    return isinstance(node, Loop) and not node.blocks and (
        known_integer(node.lo) == 0 and known_integer(node.hi) == LANES) and all(
        isinstance(n, (Let, Assign, Store)) for n in node.body)
