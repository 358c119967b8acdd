"""Random numbers: `draw` takes them from a generator of NumPy's, whose state it advances.

A draw has an effect: it stays where it is, in the order of the program, even if nothing reads it;
nothing draws it a second time. Operations on the numbers, `loc + scale * z`, are other equations,
and by these gradients flow; the number itself is a constant to them. A number of a gamma
distribution depends on the shape, by a path that is not known here: a gradient by it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.draws import DRAWS, carry_out
from tracejit.ir.lowering import Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.kinds import structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.ground.context import refuse_at

__all__: list[str] = []


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    draw = DRAWS[params["kind"]]
    count = {"fill": 1, "bounded": 3}.get(draw.form, 2)
    if len(avals) != count or any(a.dtype != draw.of for a in avals[1:]):
        raise IRError(f"draw of kind {params['kind']} does not take {', '.join(map(str, avals))}")
    return (Aval(draw.dtype, params["shape"]),)


def _refuse_shape(eqn: Eqn) -> Exception:
    return refuse_at(eqn.site, "the derivative of a number drawn from a gamma distribution by the "
                     "distribution's shape has no simple form",
                     "Differentiate by its scale, or stop the gradient at the shape: "
                     "tracejit.stop_gradient(shape)", "TJ503")


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    if any(map(sweep.wants, eqn.inputs)):
        raise _refuse_shape(eqn)
    return [None] * len(eqn.inputs)


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    if any(t is not None for t in tangents):
        raise _refuse_shape(eqn)
    return [None]


structural("draw", carry_out, _infer, Library("draw"), _vjp, _jvp, effect=True, unique=True,
           cost=20.0)
