"""Draws of random numbers: calls of NumPy's C functions with the memory that they fill."""

from __future__ import annotations

from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import call
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.libraries import bind_functions
from tracejit.codegen.loop_expressions import ZERO, Array, Expression, Load, Word
from tracejit.codegen.loop_ir import Do
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.dims import product
from tracejit.ir.draws import DRAWS

__all__ = ["lower_draw"]


def lower_draw(frame: KernelFrame, code: ScalarCode, eqn: Eqn) -> None:
    """Draw as many numbers as the result has, in its memory."""
    draw, out = DRAWS[eqn.params["kind"]], eqn.output
    bind_functions([f"tracejit_{draw.symbol}"])
    generator, *given = eqn.inputs
    count = code.dim(product(out.aval.shape))
    room = code.array(out)[0] if is_array(out) else _room_for(frame, out)
    parameters = [_parameter(code, a) for a in given]
    kind = Word(eqn.params["kind"])
    made = call(f"draw_{draw.form}", kind, code.atom(generator), *parameters, count, room)
    frame.add(Do(made, frame.origin(eqn)))
    if not is_array(out):
        frame.set_scalar(out, Load(room.name, ZERO, room.dtype))


def _parameter(code: ScalarCode, a: Atom) -> Expression:
    return code.array(a)[0] if is_array(a) else code.atom(a)


def _room_for(frame: KernelFrame, v: Value) -> Array:
    """Return memory for a number: a scalar that nothing reads would be left out, with its draw."""
    buffer = frame.buffers.make_inner(Value(v.aval.with_shape((1,))))
    buffer.name = frame.fresh(f"r{frame.labels[v]}")
    return Array(buffer.name, buffer.dtype)
