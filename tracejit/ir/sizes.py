"""One set of sizes: sizes found equal are written as one, in all open blocks.

While a program is made, sizes turn out equal: NumPy needs two of them to agree. From then on one is
written as the other, in the equations that are there and in later ones, so that all readers
of types (rules of ops, gradients, a program put into another) see that the two are one.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval
from tracejit.ir.walk import copy_param, copy_type

__all__ = ["Equal", "settle_block", "settle_eqn", "settle_value"]

Equal = Mapping[Value, Dim]
"""The dim as which each size is written that turned out equal to another."""


def settle_value(v: Value, equal: Equal) -> None:
    """Give a value its type in the sizes that are left."""
    if isinstance(v.aval, Aval) and not v.aval.is_static:
        v.retype(copy_type(v.aval, equal))


def settle_eqn(eqn: Eqn, equal: Equal) -> None:
    """Write an equation in the sizes that are left, in place: whoever holds it sees it so."""
    for a in (*eqn.inputs, *eqn.outputs):
        if isinstance(a, Value):
            settle_value(a, equal)
    params = {k: copy_param(p, equal) for k, p in eqn.params.items()}
    object.__setattr__(eqn, "params", params)
    for region in eqn.regions:
        settle_block(region, equal)


def settle_block(block: Block, equal: Equal) -> None:
    """Write a block in the sizes that are left, in place."""
    for v in block.inputs:
        settle_value(v, equal)
    for eqn in block.eqns:
        settle_eqn(eqn, equal)
    for a in block.outputs:
        if isinstance(a, Value):
            settle_value(a, equal)
