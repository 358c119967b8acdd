"""Which equation made a value: what rules of derivatives ask about the cotangents that they get."""

from __future__ import annotations

from tracejit.ir.core import Eqn, Value
from tracejit.trace.ground.context import current
from tracejit.trace.values.tracer import Tracer

__all__ = ["maker_of", "recent_maker_of"]

NEAR = 256
"""How many of a block's last equations are recent."""


def recent_maker_of(x: object) -> Eqn | None:
    """Return the equation that made the value of a handle, if it is one of the block's last."""
    if not isinstance(x, Tracer):
        return None
    value = x.value
    return next((eqn for eqn in current().builder.scope.eqns[:-NEAR:-1] if value in eqn.outputs),
                None)


def maker_of(v: object) -> Eqn | None:
    """Return the equation that made a value, in this block or one around it."""
    if not isinstance(v, Value):
        return None
    return next((eqn for scope in reversed(current().builder.scopes)
                 for eqn in reversed(scope.eqns) if v in eqn.outputs), None)
