"""Calls of functions outside of a kernel, with the addresses of their operands and results."""

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

__all__ = ["NjitCalls", "OutsideCalls"]


class OutsideCalls:
    """Gives the operands and results of a call of a function outside by their addresses."""

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code

    def words(self, eqn: Eqn) -> tuple[list[Expression], list[tuple[Value, Array]]]:
        """Return the words of all operands and results, and memory for results that are numbers."""
        words: list[Expression] = [word for a in eqn.inputs for word in self.code.words(a)]
        numbers: list[tuple[Value, Array]] = []
        for v in eqn.outputs:
            if is_array(v):
                words += self.code.words(v)
            else:
                numbers.append((v, self._room_for(v)))
                words.append(numbers[-1][1])
        return words, numbers

    def read(self, numbers: list[tuple[Value, Array]]) -> None:
        """Take the results that are numbers from their memory."""
        for v, array in numbers:
            self.frame.set_scalar(v, Load(array.name, ZERO, array.dtype))

    def _room_for(self, v: Value) -> Array:
        buffer = self.frame.buffers.make_inner(Value(v.aval.with_shape((1,))))
        buffer.name = self.frame.fresh(f"r{self.frame.labels[v]}")
        return Array(buffer.name, buffer.dtype)


class NjitCalls:
    """Writes calls of users' compiled functions."""

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.outside = frame, OutsideCalls(frame, code)

    def lower(self, eqn: Eqn, how: Native) -> None:
        """Call a function, and leave the kernel if it failed."""
        types = [a.aval for a in eqn.inputs], [v.aval for v in eqn.outputs]
        address = Word(bind_native(eqn.op.name, how.function, *types))
        words, numbers = self.outside.words(eqn)
        status = self.frame.variable("status")
        called = call("call_native", address, *words)
        self.frame.add(Assign(status.name, called, self.frame.origin(eqn)))
        self._check(status, eqn)
        self.outside.read(numbers)

    def _check(self, status: Var, eqn: Eqn) -> None:
        name = repr(eqn.op.name).replace("{", "{{").replace("}", "}}")
        self.frame.fail(Bin("==", status, ONE), "RuntimeError", f"the function of op {name} raised "
                        "an exception; call it by itself to see which", [], eqn)
        self.frame.fail(Bin("==", status, integer(2)), "ValueError",
                        Native.OTHER_SHAPE.format(name), [], eqn)
