"""Calls of users' compiled functions, with the addresses of their operands and results."""

from __future__ import annotations

from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import ONE, ZERO, Array, Bin, Expression, Load, Var, Word
from tracejit.codegen.loop_ir import Assign
from tracejit.codegen.native import bind_native
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Eqn, Value
from tracejit.ir.lowering import Native

__all__ = ["NjitCalls"]


class NjitCalls:
    """Writes calls of users' compiled functions."""

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code

    def lower(self, eqn: Eqn, how: Native) -> None:
        """Call a function, and leave the kernel if it failed."""
        types = [a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs]
        words: list[Expression] = [Word(bind_native(eqn.op.name, how.function, *types))]
        for a in eqn.inputs:
            words += self.code.words(a)
        scalars: list[tuple[Value, Array]] = []
        for v in eqn.outputs:
            if is_array(v):
                words += self.code.words(v)
            else:
                scalars.append((v, self._room_for(v)))
                words.append(scalars[-1][1])
        status = self.frame.variable("status")
        self.frame.add(Assign(status.name, call("call_native", *words), self.frame.origin(eqn)))
        self._check(status, eqn)
        for v, array in scalars:
            self.frame.set_scalar(v, Load(array.name, ZERO, array.dtype))

    def _room_for(self, v: Value) -> Array:
        """Return memory for a result that is a number."""
        buffer = self.frame.buffers.make_inner(Value(v.aval.with_shape((1,))))
        buffer.name = self.frame.fresh(f"r{self.frame.labels[v]}")
        return Array(buffer.name, buffer.dtype)

    def _check(self, status: Var, eqn: Eqn) -> None:
        name = repr(eqn.op.name).replace("{", "{{").replace("}", "}}")
        self.frame.fail(Bin("==", status, ONE), "RuntimeError", f"the function of op {name} raised "
                        "an exception; call it by itself to see which", [], eqn)
        self.frame.fail(Bin("==", status, integer(2)), "ValueError",
                        Native.OTHER_SHAPE.format(name), [], eqn)
