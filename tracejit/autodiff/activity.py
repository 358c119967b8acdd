"""Which values depend on the inputs that are differentiated: the forward of the two sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from tracejit.ir.control import LoopEqn, carried_in
from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.lowering import Region
from tracejit.ir.types import is_differentiable
from tracejit.ir.walk import free_values

__all__ = ["find_active"]


def find_active(eqns: Sequence[Eqn], active: set[Value],
                stopped: frozenset[Value] = frozenset()) -> None:
    """Add to `active` the values, also inside regions, that depend on values in it.

    Integers, truth values, the results of ops marked by `no_gradient` and the `stopped` values end
    the dependence.
    """
    for eqn in eqns:
        if isinstance(eqn.op.lowering, Region):
            _REGIONS[eqn.op.lowering.kind](eqn, active, stopped)
        elif not eqn.op.marked:
            operands = [*eqn.inputs, *(v for r in eqn.regions for v in free_values(r))]
            if any(a in active for a in operands if isinstance(a, Value)):
                _activate(eqn.outputs, active, stopped)


def _activate(values: Sequence[Value], active: set[Value], stopped: frozenset[Value]) -> None:
    active.update(v for v in values if is_differentiable(v.aval.dtype) and v not in stopped)


def _is_active(a: Atom, active: set[Value]) -> bool:
    return isinstance(a, Value) and a in active


def _branches(eqn: Eqn, active: set[Value], stopped: frozenset[Value]) -> None:
    for region in eqn.regions:
        find_active(region.eqns, active, stopped)
        _activate([v for v, a in zip(eqn.outputs, region.outputs, strict=True)
                   if _is_active(a, active)], active, stopped)


def _loop(eqn: Eqn, active: set[Value], stopped: frozenset[Value]) -> None:
    """A carried value is active if it begins so or becomes so in some iteration."""
    loop = LoopEqn(eqn)
    has = [_is_active(a, active) for a in loop.starts]
    while True:
        for region in eqn.regions:
            _activate([*compress(carried_in(region), has)], active, stopped)
            find_active(region.eqns, active, stopped)
        more = [h or _is_active(a, active) for h, a in zip(has, loop.yielded, strict=True)]
        if more == has:
            break
        has = more
    _activate([*compress(loop.results, has)], active, stopped)


_REGIONS = {"if": _branches, "map": _branches, "for": _loop, "while": _loop}
