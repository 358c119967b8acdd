"""The discrete Fourier transform along the last axis, in either direction, not scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.fourier import ROOM
from tracejit.ir.lowering import Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["transformed"]


def transformed(x: Tracer, inverse: bool) -> Tracer:
    """Return the transform of complex rows; the inverse one is not divided by their length."""
    return tracer_of(emit("dft", [x.value], {"inverse": inverse})[0])


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    """The transform, and room that it needs for one row."""
    (x,) = avals
    if x.dtype.kind != "c" or not x.shape:
        raise IRError(f"{x} is no array of complex rows")
    return only(x, Aval(np.dtype(np.complex128), (x.shape[-1] * ROOM,)))


def _reference(x: np.ndarray | np.generic, inverse: bool) -> Any:
    if not np.size(x):
        return np.array(x), np.zeros(np.shape(x)[-1] * ROOM, complex)
    result = np.fft.ifft(x, norm="forward") if inverse else np.fft.fft(x)
    return result.astype(x.dtype), np.zeros(np.shape(x)[-1] * ROOM, complex)


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """The matrix is symmetric: its conjugate transpose is the other direction."""
    return [None if cts[0] is None else transformed(dense(cts[0]), not eqn.params["inverse"])]


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    (tangent,) = tangents
    assert isinstance(tangent, Tracer)
    return [transformed(tangent, eqn.params["inverse"]), None]


structural("dft", _reference, _infer, Library("dft"), _vjp, _jvp, cost=100.0, kinds="c",
           samples=lambda n: [((n,), lambda x: transformed(x, False)),
                              ((2, n + 3), lambda x: transformed(x, True))])
