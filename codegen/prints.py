"""How prints are lowered: a call with the addresses of what is shown, and perhaps a return."""

from __future__ import annotations

from tracejit.codegen.context import INTERRUPTED
from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.loop_expressions import (
    I64,
    ZERO,
    Array,
    Bin,
    Expression,
    Var,
    call,
    integer,
)
from tracejit.codegen.loop_ir import Assign, If, Return
from tracejit.ir.core import Eqn, Value

__all__ = ["lower_print"]


def lower_print(self: KernelEmitter, eqn: Eqn) -> None:
    """Show operands, and leave the kernel if that is asked for."""
    words: list[Expression] = []
    for a in eqn.inputs:
        if is_array(a) and isinstance(a, Value):
            buffer = self.buffers.of[a]
            words += [Array(buffer.name, buffer.dtype), *map(self.dim, a.aval.shape)]
        else:
            words.append(call("slot", self.atom(a)))
    kinds = tuple((a.aval.dtype, len(a.aval.shape)) for a in eqn.inputs)
    self.prints.append((eqn.params["format"], kinds))
    status = Var(self.fresh("status"), I64)
    shown = call("show", integer(len(self.prints) - 1), *words)
    self.nodes.append(Assign(status.name, shown, self.origin(eqn)))
    self.nodes.append(If(Bin("!=", status, ZERO), [Return(integer(INTERRUPTED))]))
