"""Values that a user's op or gradient reads past its operands: no gradient would go to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.types import is_differentiable
from tracejit.ir.walk import free_values
from tracejit.trace.ground.context import current

__all__ = ["reads_past"]


def reads_past(given: Iterable[Atom], found: Iterable[Atom], made: Sequence[Eqn]) -> bool:
    """Return whether values depend on arguments of the capture otherwise than by given values.

    made -- the equations between, where all that is read may be made; others are looked at last
    """
    trace = current()
    ends = {leaf.value for leaf in trace.captured.leaves} | trace.captured.stands
    left = _sources(found, ends | {*given}, made)
    return bool(left) and bool(_sources(left, ends, [
        eqn for scope in trace.builder.scopes for eqn in scope.eqns]))


def _sources(found: Iterable[Atom], ends: set[Atom], eqns: Sequence[Eqn]) -> set[Atom]:
    """Return the values that no equation makes, and from which gradients lead to those found."""
    maker = {v: eqn for eqn in eqns for v in eqn.outputs}
    rest, seen, left = [*found], set(ends), set[Atom]()
    while rest:
        v = rest.pop()
        if not isinstance(v, Value) or v in seen or not is_differentiable(v.aval.dtype):
            continue
        seen.add(v)
        if v not in maker:
            left.add(v)
        elif not maker[v].op.marked:
            rest += [*maker[v].inputs, *(u for r in maker[v].regions for u in free_values(r))]
    return left
