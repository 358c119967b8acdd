"""Discrete Fourier transforms along the last axis, not scaled: of complex and of real rows.

A real row's transform is known by its first half, and what it is a cotangent of is real, too: both
take half as long as transforms of complex rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dims import Dim, floor_div
from tracejit.ir.lowering import Library
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import cast, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["real_inverse", "real_transform", "transformed"]

ROOM, MORE_ROOM = 12, 4096
"""How many complex numbers transforms need room for at most: times the length of a row, and more.
"""
COMPLEX, REAL = np.dtype(np.complex128), np.dtype(np.float64)
_PRECISE = {np.dtype(dtype): np.complex64 for dtype in (np.float16, np.float32)}


def transformed(x: Tracer, inverse: bool) -> Any:
    """Return the transform of complex rows; the inverse one is not divided by their length.

    Transforms are computed in 64 bits, and are as precise as what is given.
    """
    found = emit("dft", [cast(x, COMPLEX).value], {"inverse": inverse})[0]
    return cast(tracer_of(found), x.dtype)


def real_transform(x: Tracer, part: str = "all") -> Any:
    """Return the transform of real rows.

    part -- "all"; "half" for the numbers up to the middle one, which say all; or "twice" for these
            with those between the first and the middle one doubled, as they stand for two
    """
    found = emit("real_dft", [cast(x, REAL).value], {"part": part})[0]
    return cast(tracer_of(found), _PRECISE.get(x.dtype, COMPLEX))


def real_inverse(x: Tracer, n: Dim, part: str = "all") -> Any:
    """Return the real part of the inverse transform of rows of n numbers, not divided by n.

    part -- what is given of the rows, as in `real_transform`: the rest of a "half" counts as zeros
    """
    found = emit("dft_real", [cast(x, COMPLEX).value], {"part": part, "length": n})[0]
    return cast(tracer_of(found), REAL if x.dtype == COMPLEX else np.float32)


def _room(n: Dim) -> Aval:
    return Aval(COMPLEX, (n * ROOM + MORE_ROOM,))


def _count(n: Dim, part: str) -> Dim:
    """Return how many numbers a part of a row has."""
    return n if part == "all" else floor_div(n, 2) + 1


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    """The transform, and room that it needs."""
    (x,) = avals
    if x.dtype != COMPLEX or not x.shape:
        raise IRError(f"{x} is no array of complex rows")
    return only(x, _room(x.shape[-1]))


def _infer_of_real(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (x,) = avals
    if x.dtype != REAL or not x.shape:
        raise IRError(f"{x} is no array of real rows")
    *others, n = x.shape
    return only(Aval(COMPLEX, (*others, _count(n, params["part"]))), _room(n))


def _infer_real(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (x,) = avals
    n = params["length"]
    if x.dtype != COMPLEX or not x.shape or x.shape[-1] != _count(n, params["part"]):
        raise IRError(f"{x} is no array of transforms of {n} numbers")
    return only(Aval(REAL, (*x.shape[:-1], n)), _room(n))


def _with_room(found: np.ndarray, n: int) -> Any:
    return found, np.zeros(n * ROOM + MORE_ROOM, complex)


def _scaled(x: np.ndarray, n: int, part: str) -> np.ndarray:
    """Return numbers, with those between the first and the middle one doubled for "twice"."""
    k = np.arange(np.shape(x)[-1])
    return np.where((part == "twice") & (k > 0) & (2 * k < n), x + x, x)


def _reference(x: np.ndarray | np.generic, inverse: bool) -> Any:
    n = np.shape(x)[-1]
    if not np.size(x):
        return _with_room(np.array(x), n)
    return _with_room(np.fft.ifft(x, norm="forward") if inverse else np.fft.fft(x), n)


def _reference_of_real(x: np.ndarray, part: str) -> Any:
    n = np.shape(x)[-1]
    if not np.size(x):
        count = n if part == "all" else n // 2 + 1
        return _with_room(np.zeros((*np.shape(x)[:-1], count), complex), n)
    return _with_room(_scaled(np.fft.fft(x) if part == "all" else np.fft.rfft(x), n, part), n)


def _reference_real(x: np.ndarray, part: str, length: int) -> Any:
    if not np.size(x):
        return _with_room(np.zeros((*np.shape(x)[:-1], length)), length)
    whole = np.zeros((*np.shape(x)[:-1], length), complex)
    whole[..., :np.shape(x)[-1]] = _scaled(x, length, part)
    return _with_room(np.fft.ifft(whole, norm="forward").real, length)


def _vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """The matrix is symmetric: its conjugate transpose is the other direction."""
    return [None if cts[0] is None else transformed(dense(cts[0]), not eqn.params["inverse"])]


def _vjp_of_real(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    n = eqn.inputs[0].aval.shape[-1]
    return [None if cts[0] is None else real_inverse(dense(cts[0]), n, eqn.params["part"])]


def _vjp_real(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    return [None if cts[0] is None else real_transform(dense(cts[0]), eqn.params["part"])]


def _jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    (tangent,) = tangents
    assert isinstance(tangent, Tracer)
    return [tracer_of(emit(eqn.op, [tangent.value], eqn.params)[0]), None]


structural("dft", _reference, _infer, Library("dft"), _vjp, _jvp, cost=100.0, kinds="c",
           samples=lambda n: [((n,), lambda x: transformed(x, False)),
                              ((2, n + 3), lambda x: transformed(x, True))])
structural("real_dft", _reference_of_real, _infer_of_real, Library("real_dft"), _vjp_of_real, _jvp,
           cost=50.0, samples=lambda n: [
               ((n + 1,), real_transform), ((2, n + 3), lambda x: real_transform(x, "half")),
               ((2, n + 2), lambda x: real_transform(x, "twice"))])
structural("dft_real", _reference_real, _infer_real, Library("dft_real"), _vjp_real, _jvp,
           cost=50.0, kinds="c", samples=lambda n: [
               ((n + 1,), lambda x: real_inverse(x, n + 1)),
               ((2, n + 1), lambda x: real_inverse(x, 2 * n + 1, "half")),
               ((2, n + 2), lambda x: real_inverse(x, 2 * n + 2, "twice"))])
