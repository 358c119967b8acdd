"""The names in a kernel's nodes: the dtypes of arrays and scalars."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import I64, Call, Expression, promoted
from tracejit.codegen.loop_ir import Assign, Let, Loop, Node, every_node

__all__ = ["dtypes_of", "is_array_expression"]

ARRAYS = ("log_base", "advance")
"""Functions whose results are arrays."""


def is_array_expression(e: Expression) -> bool:
    """Return whether an expression is a part of a Log."""
    return isinstance(e, Call) and e.fn.name in ARRAYS


def dtypes_of(kernel: Kernel) -> dict[str, np.dtype]:
    """Return the dtype of every array, size, loop variable and scalar of a kernel, by name."""
    found = {b.name: b.dtype for b in kernel.buffers}
    found.update(dict.fromkeys(kernel.size_names, I64))
    _visit(every_node([*kernel.head, *kernel.nodes]), found)
    return found


def _visit(nodes: Iterable[Node], found: dict[str, np.dtype]) -> None:
    for node in nodes:
        if isinstance(node, (Let, Assign)):
            kind = node.expression.dtype
            found[node.name] = promoted(found.get(node.name, kind), kind)
        elif isinstance(node, Loop):
            found[node.var] = I64
