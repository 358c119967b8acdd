"""Rounding to floats of two bytes, which are computed in float32: one op for each.

A result is a float32 that is such a half, rounded once from the operand, which may be of any real
dtype. Its derivative is the operand's own: rounding is taken for no part of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dtypes import HALVES
from tracejit.ir.lowering import Pointwise
from tracejit.ir.types import Aval, is_differentiable
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import apply

__all__: list[str] = []

F32 = np.dtype(np.float32)


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(avals[0].with_dtype(F32))


def _reference(half: np.dtype) -> Callable[..., object]:
    return lambda x: np.asarray(x).astype(half).astype(F32)


def _in_dtype(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else apply("cast", x, dtype=dtype)


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    source = eqn.inputs[0].aval.dtype
    return [_in_dtype(dense(cts[0]), source) if is_differentiable(source) else None]


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    return [_in_dtype(tangents[0], F32)]


for _half, _name in HALVES.items():
    structural(_name, _reference(_half), _infer, Pointwise(f"{_name}({{0}})", half=_half), _vjp,
               _jvp, exact=True)
