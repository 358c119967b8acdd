"""The ops behind sizes that data decides: the places where a mask is true, and reads at them alone.

The number of places is an integer of the program, the sum of the mask: the size of the result.
Elements are then read and written at these places like at any other index array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Inline, Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Masked
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ReverseMode

__all__: list[str] = []


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (mask,) = avals
    if mask.dtype != np.bool_ or len(mask.shape) != 1:
        raise IRError(f"{mask} is not a mask with one axis")
    return only(Aval(np.dtype(np.int64), (params["size"],)))


def _positions(mask: np.ndarray, size: Dim) -> Any:
    found = np.flatnonzero(mask)
    if len(found) != size:
        raise IRError(f"a mask is true at {len(found)} places, not at {size}")
    return found


structural("positions", _positions, _infer, Library("positions"), marked=True, cost=2.0)


def _read_where_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    x, mask = avals
    if mask.shape != x.shape or mask.dtype != np.bool_:
        raise IRError(f"{mask} is not a mask for the elements of {x}")
    return only(x)


def _read_where_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """An element that is not read has no cotangent, as in `where`: it multiplies no infinity."""
    ct, mask = sweep.dense(cts[0], eqn.output.aval), sweep.operand(eqn.inputs[1])
    return [Masked(((mask, True),), ct, is_zero=True), None]


structural("read_where", lambda x, mask: x, _read_where_infer,
           Inline("operands", "read_where"),
           _read_where_vjp, lambda sweep, eqn, tangents: [tangents[0]], cost=0.0, exact=True)
