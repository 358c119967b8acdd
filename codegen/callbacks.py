"""How calls of Python functions are lowered: addresses of operands and results, and a return."""

from __future__ import annotations

from tracejit.codegen.context import FAILED_OUTSIDE
from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.kernel import Called
from tracejit.codegen.loop_expressions import ZERO, Bin
from tracejit.codegen.loop_ir import Assign, If, Return
from tracejit.codegen.native_calls import OutsideCalls
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Eqn

__all__ = ["Callbacks"]


class Callbacks:
    """Writes calls of Python functions.

    called -- the function of each call, with its operands and results, by its number
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.outside = frame, OutsideCalls(frame, code)
        self.called: list[Called] = []

    def lower(self, eqn: Eqn) -> None:
        """Call a function, and leave the kernel where it raised."""
        words, numbers = self.outside.words(eqn)
        kinds = [tuple((a.aval.dtype, len(a.aval.shape)) for a in atoms)
                 for atoms in (eqn.inputs, eqn.outputs)]
        self.called.append((eqn.params["callee"], kinds[0], kinds[1]))
        status = self.frame.variable("status")
        called = call("call_back", integer(len(self.called) - 1), *words)
        self.frame.add(Assign(status.name, called, self.frame.origin(eqn)),
                       If(Bin("!=", status, ZERO), [Return(integer(FAILED_OUTSIDE))]))
        self.outside.read(numbers)
