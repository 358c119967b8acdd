"""The check that Loop IR is well formed: names are set before they are read, and dtypes agree.

It runs between the passes on Loop IR in verify mode; tests have that on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracejit.codegen.expression_edits import every
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import (
    BOOL,
    I64,
    NONE,
    Array,
    Call,
    Expression,
    Load,
    Var,
    promoted,
)
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    every_node,
    expressions,
)
from tracejit.codegen.scalars import SCALARS
from tracejit.errors import IRError

__all__ = ["verify_kernel", "verify_nodes"]


def verify_kernel(kernel: Kernel) -> None:
    """Raise `IRError` for the first node of a kernel that is not well formed."""
    arrays = {b.name: b.dtype for b in kernel.buffers}
    scalars = dict.fromkeys(kernel.size_names, I64)
    verify_nodes([*kernel.head, *kernel.nodes], arrays, scalars)


def verify_nodes(nodes: Sequence[Node], arrays: dict[str, np.dtype],
                 scalars: dict[str, np.dtype]) -> None:
    """Check nodes that may read some arrays and scalars, by their names."""
    _Verifier(nodes, arrays, scalars).block(nodes, {*arrays, *scalars})


def _require(holds: bool, what: str, node: Node) -> None:
    if not holds:
        where = f" ({node.origin})" if str(node.origin) else ""
        raise IRError(f"Loop IR is wrong: {what}{where}")


class _Verifier:
    """Walks nodes in the order in which they run.

    arrays, scalars -- the dtypes that names have, wherever they are set
    """

    def __init__(self, nodes: Sequence[Node], arrays: dict[str, np.dtype],
                 scalars: dict[str, np.dtype]) -> None:
        self.arrays, self.scalars = dict(arrays), dict(scalars)
        lets: dict[str, Let] = {}
        for node in every_node(nodes):
            if isinstance(node, Loop):
                self.scalars[node.var] = I64
            elif isinstance(node, (Let, Assign)):
                _require(node.name not in lets, f"{node.name} is set by a Let and once more", node)
                if isinstance(node, Let):
                    lets[node.name] = node
                self._note(node)

    def _note(self, node: Let | Assign) -> None:
        e = node.expression
        is_array = isinstance(e, Array) or (isinstance(e, Call) and (
            e.fn.name in ("log_base", "advance")))
        kinds = self.arrays if is_array else self.scalars
        kinds[node.name] = promoted(kinds.get(node.name, e.dtype), e.dtype)

    def block(self, nodes: Sequence[Node], known: set[str]) -> set[str]:
        """Check a block before which some names are known; return the names known behind it."""
        known = set(known)
        for k, node in enumerate(nodes):
            if isinstance(node, Return):
                _require(k + 1 == len(nodes), "a Return is not the last node of its block", node)
            if isinstance(node, While):
                known = self.block(node.head, known)
            for e in expressions(node):
                self.expression(e, known, node)
            known = self._behind(node, known)
        return known

    def _behind(self, node: Node, known: set[str]) -> set[str]:
        if isinstance(node, (Let, Assign)):
            _require(node.expression.dtype != NONE, f"{node.name} is set to nothing", node)
            return known | {node.name}
        if isinstance(node, Store):
            _require(node.buffer in known, f"{node.buffer} is written before it is there", node)
            _require(node.buffer in self.arrays, f"{node.buffer} is no array", node)
            _require(node.index.dtype == I64, f"{node.index} is no index", node)
        elif isinstance(node, Loop):
            _require(node.lo.dtype == node.hi.dtype == I64, "a bound of a loop is no integer", node)
            self.block(node.body, known | {node.var})
        elif isinstance(node, While):
            _require(node.condition.dtype == BOOL, f"{node.condition} is no condition", node)
            self.block(node.body, known)
        elif isinstance(node, If):
            _require(node.condition.dtype.kind in "bi", f"{node.condition} is no condition", node)
            sides = [self.block(side, known) for side in (node.then, node.other)]
            ends = [bool(side) and isinstance(side[-1], Return) for side in (node.then, node.other)]
            left = [side for side, end in zip(sides, ends, strict=True) if not end]
            return set.intersection(*left) if left else known
        elif isinstance(node, Do):
            _require(node.call.dtype == NONE, f"the result of {node.call.fn.name} is lost", node)
        return known

    def expression(self, whole: Expression, known: set[str], node: Node) -> None:
        """Check an expression where some names are known."""
        for name in whole.mentions:
            _require(name in known, f"{name} is read before it is set", node)
        for e in every(whole):
            if isinstance(e, Var):
                kind = self.scalars.get(e.name)
                _require(kind == e.dtype, f"{e.name} is {kind}, and read as {e.dtype}", node)
            elif isinstance(e, (Load, Array)):
                name = e.buffer if isinstance(e, Load) else e.name
                kind = self.arrays.get(name)
                _require(kind == e.dtype, f"{name} has {kind}, and is read as {e.dtype}", node)
                if isinstance(e, Load):
                    _require(e.index.dtype == I64, f"{e.index} is no index", node)
            elif isinstance(e, Call):
                _require(e.fn is SCALARS.get(e.fn.name), f"{e.fn.name} has no row", node)
