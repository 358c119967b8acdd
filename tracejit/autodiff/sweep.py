"""The services that rules of ops share in both modes: operands, zeros, and the emission of ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Atom, Block, Literal, Op, Params, Value
from tracejit.ir.optable import find_op
from tracejit.ir.types import Aval, Type
from tracejit.ops import cotangents
from tracejit.trace.ground.context import Trace
from tracejit.trace.values.equations import apply, atom_of
from tracejit.trace.values.tracer import tracer_of

__all__ = ["Sweep"]


class Sweep:
    """A walk over a block's equations that emits further ones by the rules of their ops."""

    trace: Trace
    builder: Any

    def __init__(self, trace: Trace) -> None:
        self.trace, self.builder = trace, trace.builder

    def operand(self, a: Atom) -> Any:
        """Return an operand for use in a rule: a tracer, a NumPy scalar, or a Log's value."""
        if isinstance(a, Literal):
            return a.val
        return a if a.is_log else tracer_of(a)

    def zeros(self, t: Type) -> Any:
        """Return zeros of a type; of a Log, an empty one."""
        return cotangents.zeros(t) if isinstance(t, Aval) else self.new_log(t.dtype)

    def new_log(self, dtype: np.dtype) -> Value:
        """Return an empty Log."""
        log: Value
        (log,) = self.builder.emit(find_op("log_new"), [], {"dtype": dtype})
        return log

    def apply(self, op: Op | str, *operands: object, **params: object) -> Any:
        """Return the one result of an op."""
        return apply(op, *operands, **params)

    def emit(self, op: str, operands: Sequence[object], params: Params | None = None,
             regions: Sequence[Block] = ()) -> list[Any]:
        """Return the results of an op, Logs among them."""
        atoms = [a if isinstance(a, Value) else atom_of(a) for a in operands]
        return [self.operand(v) for v in self.builder.emit(find_op(op), atoms, params, regions)]
