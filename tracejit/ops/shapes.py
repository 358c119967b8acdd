"""Ops that move elements without computing: reshape, transpose, broadcast, slices, joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params, Span
from tracejit.ir.dims import Dim, product
from tracejit.ir.lowering import Alias, Inline, Pieces, View
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, sum_to
from tracejit.ops.kinds import linear, only, same_type, structural
from tracejit.ops.modes import ReverseMode
from tracejit.trace.values.equations import apply

__all__: list[str] = []


# --- the same elements in another shape ---------------------------------------------------------


def _reshape_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    more = product(params["shape"]) - product(avals[0].shape)
    if isinstance(more, int) and more:
        raise IRError(f"{avals[0]} cannot be reshaped to {params['shape']}")
    return only(avals[0].with_shape(params["shape"]))


def _reshape_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    shape = eqn.inputs[0].aval.shape
    return [apply("reshape" if eqn.output.aval.shape else "full", ct, shape=shape)]


linear("reshape", lambda x, shape: np.reshape(x, shape), _reshape_infer, Alias(),
       _reshape_transpose,
       cost=0.0, exact=True, moves=lambda params: True,
       samples=lambda n: [((2 * n,), {"shape": (2, n)}), ((2, 1, n), {"shape": (2 * n,)})])


def _transpose_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    if sorted(params["axes"]) != list(range(avals[0].ndim)):
        raise IRError(f"axes {params['axes']} do not permute {avals[0].ndim} axes")
    return only(avals[0].with_shape(tuple(avals[0].shape[k] for k in params["axes"])))


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _transpose_map(params: Params, index: Sequence[object],
                   shape: Sequence[Dim]) -> tuple[Any, ...]:
    return tuple(index[k] for k in _inverse(params["axes"]))


linear("transpose", lambda x, axes: np.transpose(x, axes), _transpose_infer,
       View(_transpose_map, "transpose"),
       lambda sweep, eqn, ct: [apply("transpose", ct, axes=_inverse(eqn.params["axes"]))],
       cost=0.0, exact=True, permutes=True, moves=lambda params: True,
       samples=lambda n: [((n, 3), {"axes": (1, 0)}), ((2, n, 4), {"axes": (2, 0, 1)})])


def _broadcast_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    shape = params["shape"]
    for d, s in zip(reversed(avals[0].shape), reversed(shape), strict=False):
        if d not in (1, s):
            raise IRError(f"{avals[0]} does not broadcast to {shape}")
    return only(avals[0].with_shape(shape))


def _broadcast_map(params: Params, index: Sequence[object],
                   shape: Sequence[Dim]) -> tuple[Any, ...]:
    kept = index[len(index) - len(shape):]
    return tuple(0 if d == 1 and s != 1 else i for i, d, s in
                 zip(kept, shape, params["shape"][len(index) - len(shape):], strict=True))


linear("broadcast_to", lambda x, shape: np.broadcast_to(x, shape), _broadcast_infer,
       View(_broadcast_map),
       lambda sweep, eqn, ct: [sum_to(ct, eqn.inputs[0].aval.shape)], cost=0.0, exact=True,
       samples=lambda n: [((n,), {"shape": (2, n)}), ((2, 1), {"shape": (2, n)})])


# --- joining ------------------------------------------------------------------------------------


def _concatenate_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    axis = params["axis"]
    first = avals[0]
    total: Dim = 0
    for a in avals:
        if a.shape[:axis] + a.shape[axis + 1:] != first.shape[:axis] + first.shape[axis + 1:]:
            raise IRError(f"{a} cannot be joined to {first} along axis {axis}")
        total = total + a.shape[axis]
    return only(first.with_shape((*first.shape[:axis], total, *first.shape[axis + 1:])))


def _concatenate_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    axis, parts = eqn.params["axis"], []
    start: Dim = 0
    for a in eqn.inputs:
        at = tuple(Span(start, d) if k == axis else Span(0, d) for k, d in enumerate(a.aval.shape))
        parts.append(apply("index", ct, at=at))
        start = start + a.aval.shape[axis]
    return parts


linear("concatenate", lambda *xs, axis: np.concatenate(xs, axis), _concatenate_infer, Pieces(),
       _concatenate_transpose, operands=None, exact=True, moves=lambda params: True,
       samples=lambda n: [((n,), (3,), {"axis": 0}), ((2, 2), (2, n), {"axis": 1})])


# --- names, and no derivative -------------------------------------------------------------------
# `named` keeps equal values apart (`tracejit/trace/values/identities.py`). `stop_gradient` is an op
# of its own, so that the printed program shows where the gradient ends and why.


structural("named", lambda x: x, same_type, Inline("operands"), lambda sweep, eqn, cts: list(cts),
           lambda sweep, eqn, tangents: list(tangents), cost=0.0, exact=True, unique=True)
structural("stop_gradient", lambda x: x, same_type, Inline("operands"), marked=True, cost=0.0,
           exact=True)
