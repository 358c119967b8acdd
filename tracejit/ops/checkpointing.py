"""Checkpoints: a part of the program that the way back computes again in place of storing it.

`checkpointed` is a body as one equation, so that the gradient pass meets it whole. Its way back is
the body's on copies of the values that the body reads, made by `again`: equations on the copies are
never taken for equal ones of the way forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.ir.core import Eqn, Value
from tracejit.ir.lowering import Alias, Inline
from tracejit.ir.types import Aval, is_differentiable
from tracejit.ir.walk import copy_block, free_values, without_prints
from tracejit.ops.calls import inline_region
from tracejit.ops.control import branches_jvp
from tracejit.ops.cotangents import Cotangent
from tracejit.ops.kinds import same_type, structural, yielded_types
from tracejit.ops.modes import ReverseMode
from tracejit.trace.values.equations import atom_of
from tracejit.trace.values.tracer import tracer_of

__all__: list[str] = []


def _checkpointed_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    (body,) = eqn.regions
    free = sweep.active_free(body)
    copies: dict[Value, Any] = {
        v: atom_of(sweep.apply("again", sweep.operand(v))) for v in free_values(body)
        if isinstance(v.aval, Aval) and is_differentiable(v.aval.dtype)}
    body = without_prints(copy_block(body, copies))
    given = [ct is not None for ct in cts]
    back, touched, _ = sweep.pullback_of(body, [], [copies[v] for v in free], given)
    free = [v for v in free if copies[v] in touched]
    operands = [atom_of(sweep.dense(ct, v.aval))
                for ct, v in zip(cts, eqn.outputs, strict=True) if ct is not None]
    operands += [atom_of(sweep.take_dense(v)) for v in free]
    results = inline_region(back, operands)
    sweep.cts.update((v, tracer_of(r)) for v, r in zip(free, results, strict=True))
    return []


structural("again", lambda x: x, same_type, Alias(), lambda sweep, eqn, cts: list(cts),
           lambda sweep, eqn, tangents: list(tangents), cost=0.0, exact=True, unique=True)
structural("checkpointed", lambda regions: tuple(regions[0]()), yielded_types,
           Inline("region", "checkpointed"), _checkpointed_vjp, branches_jvp)
