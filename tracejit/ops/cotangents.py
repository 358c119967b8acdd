"""Cotangents that are more than an array: masked ones, and contributions to part of an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval
from tracejit.trace.equations import apply
from tracejit.trace.tracer import Tracer

__all__ = ["Cotangent", "Masked", "Scattered", "Where", "add_cotangents", "apply_derivative",
           "dense", "scale", "sum_to", "unbroadcast", "zeros"]


@dataclass(frozen=True, slots=True)
class Where:
    """A derivative that is 1 where `mask` holds and 0 elsewhere, by selection, not by product."""

    mask: Any


@dataclass(frozen=True, slots=True)
class Masked:
    """A cotangent that is `value` where `mask` holds and zero elsewhere.

    What `where` sends to each branch. Rules multiply `value` and leave the mask, so that the
    infinity or NaN which an unselected branch has is never multiplied by a zero: 0 * inf is NaN.
    """

    mask: Any
    value: Any

    def dense(self) -> Any:
        """Return it as an array."""
        return np.where(self.mask, self.value, np.zeros((), self.value.dtype)[()])


@dataclass(frozen=True, slots=True)
class Scattered:
    """A contribution to part of an array: `add_to(accumulator)` returns the accumulator with it."""

    aval: Aval
    add_to: Callable[[Any], Any]


Cotangent = Tracer | Masked | Scattered | None


def zeros(aval: Aval) -> Tracer:
    """Return zeros of a type."""
    return apply("full", aval.dtype.type(0), shape=aval.shape)


def dense(ct: Any) -> Any:
    """Return any cotangent but None as an array."""
    if isinstance(ct, Masked):
        return ct.dense()
    if isinstance(ct, Scattered):
        return ct.add_to(zeros(ct.aval))
    return ct


def add_cotangents(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents; None is unconnected, not zero."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(b, Scattered):
        return b.add_to(dense(a))
    if isinstance(a, Scattered):
        return a.add_to(dense(b))
    if isinstance(a, Masked) and isinstance(b, Masked) and a.mask.value is b.mask.value:
        return Masked(a.mask, a.value + b.value)
    return dense(a) + dense(b)


def scale(ct: Any, d: Any) -> Any:
    """Return a cotangent times the conjugate of a derivative."""
    if isinstance(ct, Masked):
        if isinstance(d, Where):
            return Masked(ct.mask & d.mask, ct.value)
        return Masked(ct.mask, scale(ct.value, d))
    if isinstance(d, Where):
        return Masked(d.mask, ct)
    if isinstance(d, (int, float)) and d in (1, -1):
        return ct if d == 1 else -ct
    if getattr(d, "dtype", np.dtype(float)).kind == "c":
        d = np.conj(d)
    return ct * d


def apply_derivative(d: Any, tangent: Any) -> Any:
    """Return a derivative times a tangent."""
    if isinstance(d, Where):
        return np.where(d.mask, tangent, np.zeros((), tangent.dtype)[()])
    if isinstance(d, (int, float)) and d in (1, -1):
        return tangent if d == 1 else -tangent
    return d * tangent


def unbroadcast(ct: Any, aval: Aval) -> Any:
    """Return a cotangent summed over the axes along which an operand, an `aval`, was repeated."""
    if isinstance(ct, Masked):
        if ct.value.dims == aval.shape and ct.value.dtype == aval.dtype:
            return ct
        ct = ct.dense()
    if aval.dtype.kind != "c" and ct.dtype.kind == "c":
        ct = np.real(ct)
    return sum_to(ct, aval.shape)


def sum_to(ct: Any, shape: tuple[Dim, ...]) -> Any:
    """Return an array summed to the shape that broadcasting repeated it from."""
    dims = ct.dims
    if dims == shape:
        return ct
    extra = len(dims) - len(shape)
    axes = tuple(range(extra)) + tuple(
        k + extra for k, d in enumerate(shape) if d == 1 and dims[k + extra] != 1)
    if axes:
        ct = apply("reduce_sum", ct, axes=axes)
    return ct if ct.dims == shape else apply("reshape", ct, shape=shape)
