"""What the parts of a kernel share while it is lowered: its Logs, prints, failures and names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracejit.codegen.buffers import Buffers
from tracejit.codegen.elements import Elements
from tracejit.codegen.kernel import Shown
from tracejit.codegen.labels import label_copies, label_values
from tracejit.codegen.loop_expressions import ZERO, Expression, call, integer
from tracejit.codegen.loop_ir import If, Return
from tracejit.codegen.nests import NestEmitter
from tracejit.codegen.reserved import reserved_names
from tracejit.codegen.schedule import Apart
from tracejit.ir.core import Eqn, Graph, Value

__all__ = ["KernelEmitter"]


class KernelEmitter(NestEmitter):
    """Writes the code of one kernel.

    log_groups -- for each Log, the one of those that are the same memory that stands for them
    """

    def __init__(self, graph: Graph, carried_out: Graph, elements: Elements, buffers: Buffers,
                 log_groups: dict[Value, Value]) -> None:
        super().__init__(elements, buffers, label_copies(carried_out, label_values(graph)))
        self.graph, self.carried_out = graph, carried_out
        self.taken |= reserved_names(self.target)
        self.logs: list[np.dtype] = []
        self.prints: list[Shown] = []
        self.log_groups = log_groups
        self.log_of: dict[Value, int] = {}
        """Per group of Logs that are the same memory, its number."""
        self.apart: list[Apart] = []

    def fail(self, condition: Expression, error: str, message: str, values: Sequence[Expression],
             eqn: Eqn) -> None:
        """Leave the kernel with a failure where a condition holds."""
        status = integer(self.failure(error, message, eqn.site))
        left = Return(call("fail", status, *(*values, ZERO, ZERO)[:2]))
        self.nodes.append(If(condition, [left], origin=self.origin(eqn)))
