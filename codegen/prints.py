"""How prints are lowered: a call with the addresses of the values shown, and perhaps a return."""

from __future__ import annotations

from tracejit.codegen.context import INTERRUPTED
from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.kernel import Shown
from tracejit.codegen.loop_expressions import ZERO, Bin
from tracejit.codegen.loop_ir import Assign, If, Return
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Eqn
from tracejit.ir.showing import LINE

__all__ = ["Prints"]


class Prints:
    """Writes calls that show values.

    shown -- the values of each call, by its number
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code
        self.shown: list[Shown] = []

    def lower(self, eqn: Eqn) -> None:
        """Show operands, and leave the kernel if that is asked for."""
        words = [word for a in eqn.inputs for word in self.code.words(a)]
        kinds = tuple((a.aval.dtype, len(a.aval.shape)) for a in eqn.inputs)
        self.shown.append((eqn.params["format"], kinds, eqn.params.get("stream", LINE)))
        status = self.frame.variable("status")
        shown = call("show", integer(len(self.shown) - 1), *words)
        self.frame.add(Assign(status.name, shown, self.frame.origin(eqn)),
                       If(Bin("!=", status, ZERO), [Return(integer(INTERRUPTED))]))
