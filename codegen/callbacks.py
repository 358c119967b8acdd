"""How calls of Python functions are lowered: addresses of operands and results, and a return."""

from __future__ import annotations

from tracejit.codegen.context import FAILED_OUTSIDE
from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.kernel import Called
from tracejit.codegen.loop_expressions import ZERO, Array, Bin, Expression, Load
from tracejit.codegen.loop_ir import Assign, If, Return
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Eqn, Value

__all__ = ["Callbacks"]


class Callbacks:
    """Writes calls of Python functions.

    called -- the function of each call, with its operands and results, by its number
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code
        self.called: list[Called] = []

    def lower(self, eqn: Eqn) -> None:
        """Call a function, and leave the kernel where it raised."""
        words: list[Expression] = [word for a in eqn.inputs for word in self.code.words(a)]
        scalars: list[tuple[Value, Array]] = []
        for v in eqn.outputs:
            if is_array(v):
                words += self.code.words(v)
            else:
                scalars.append((v, self._room_for(v)))
                words.append(scalars[-1][1])
        kinds = [tuple((a.aval.dtype, len(a.aval.shape)) for a in atoms)
                 for atoms in (eqn.inputs, eqn.outputs)]
        self.called.append((eqn.params["callee"], kinds[0], kinds[1]))
        status = self.frame.variable("status")
        called = call("call_back", integer(len(self.called) - 1), *words)
        self.frame.add(Assign(status.name, called, self.frame.origin(eqn)),
                       If(Bin("!=", status, ZERO), [Return(integer(FAILED_OUTSIDE))]))
        for v, array in scalars:
            self.frame.set_scalar(v, Load(array.name, ZERO, array.dtype))

    def _room_for(self, v: Value) -> Array:
        """Return memory for a result that is a number."""
        buffer = self.frame.buffers.make_inner(Value(v.aval.with_shape((1,))))
        buffer.name = self.frame.fresh(f"r{self.frame.labels[v]}")
        return Array(buffer.name, buffer.dtype)
