"""Eigenvalues and eigenvectors of a symmetric matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lowering import Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import apply, cast, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["decomposed"]


def decomposed(a: Tracer) -> tuple[Any, Any]:
    """Return eigenvalues in order, and eigenvectors as columns."""
    values, vectors, _ = emit("eigh", [a.value])
    return tracer_of(values), tracer_of(vectors)


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    """Values, vectors, and room for the matrix while it is made diagonal."""
    (a,) = avals
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise IRError(f"{a} is not a square matrix")
    return only(a.with_shape(a.shape[:1]), a, Aval(np.dtype(np.float64), a.shape))


def _reference(a: np.ndarray) -> Any:
    values, vectors = np.linalg.eigh(a)
    return values, vectors, np.zeros(np.shape(a))


def _gaps(values: np.ndarray, moved: np.ndarray) -> Any:
    """Return `moved` over the gaps between eigenvalues.

    Where two are equal, their vectors are any of a plane: results that do not depend on the choice
    move by nothing, and results that do have no derivative, NaN.
    """
    gap = values[None, :] - values[:, None]
    equal = gap == 0.0
    tiny = np.max(np.abs(moved), initial=0.0) * 1e-10
    free = np.where(np.abs(moved) > tiny, np.nan, 0.0)
    i = apply("iota", size=values.dims[0])  # type: ignore[attr-defined]
    free = np.where(i[:, None] == i[None, :], 0.0, free)
    return cast(np.where(equal, free, moved / np.where(equal, 1.0, gap)), values.dtype)


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """V (diag(w_bar) + (V' V_bar - V_bar' V) / 2 / gaps) V'."""
    values, vectors = (sweep.operand(v) for v in eqn.outputs[:2])
    v: Any = vectors
    turned = np.swapaxes(v, 0, 1)
    total: Any = None
    if cts[0] is not None:
        total = (v * dense(cts[0])[None, :]) @ turned
    if cts[1] is not None:
        inner: Any = turned @ dense(cts[1])
        skew = 0.5 * (inner - np.swapaxes(inner, 0, 1))
        part = v @ _gaps(values, skew) @ turned
        total = part if total is None else total + part
    return [total]


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    values, v = (sweep.operand(x) for x in eqn.outputs[:2])
    vectors: Any = v
    (tangent,) = tangents
    symmetric: Any = 0.5 * (tangent + np.swapaxes(tangent, 0, 1))  # type: ignore[arg-type]
    inner = np.swapaxes(vectors, 0, 1) @ symmetric @ vectors
    return [np.diagonal(inner).copy(), vectors @ _gaps(values, inner), None]


def _of_symmetric(x: np.ndarray) -> Any:
    values, vectors = decomposed(x + np.swapaxes(x, 0, 1))
    return values, vectors * vectors


structural("eigh", _reference, _infer, Library("eigh"), _vjp, _jvp, cost=500.0,
           samples=lambda n: [((n, n), _of_symmetric)])
