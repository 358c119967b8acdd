"""Cotangents that are more than an array: masked ones, and contributions to part of an array."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval
from tracejit.trace.values.equations import apply, dims_of
from tracejit.trace.values.tracer import Tracer

__all__ = ["Cotangent", "Masked", "Primal", "Scattered", "Tangent", "Unread", "Where",
           "add_cotangents", "apply_derivative", "dense", "narrow", "scale", "sum_to",
           "unbroadcast", "zeros"]


@dataclass(frozen=True, slots=True)
class Where:
    """A derivative: `share` where `mask` holds, or does not, and 0 elsewhere, by selection."""

    mask: Any
    holds: bool = True
    share: Any = 1


@dataclass(frozen=True, slots=True)
class Masked:
    """A cotangent that is `value` where all `conditions` hold and zero elsewhere.

    `where` sends one to each branch. Rules multiply `value` and leave the conditions, so that the
    infinity or NaN which an unselected branch has is never multiplied by a zero: 0 * inf is NaN.

    conditions -- pairs of a mask and whether it shall hold, or not
    is_zero    -- whether `value` is zero elsewhere by itself
    """

    conditions: tuple[tuple[Any, bool], ...]
    value: Any
    is_zero: bool = False

    @property
    def mask(self) -> Any:
        """Return the mask where all conditions hold."""
        return functools.reduce(np.logical_and, [
            mask if holds else np.logical_not(mask) for mask, holds in self.conditions])

    @property
    def literals(self) -> list[tuple[Any, bool]]:
        """Return the conditions so that they can be compared."""
        return [(mask.value, holds) for mask, holds in self.conditions]

    def moved(self, by: Callable[[Any], Sequence[Any]]) -> list[Masked]:
        """Return the cotangents whose numbers and masks are put elsewhere.

        The numbers are masked here, too: a second derivative multiplies by what they become.
        """
        whole = dims_of(self.value)
        masks = [by(mask if dims_of(mask) == whole else apply("broadcast_to", mask, shape=whole))
                 if dims_of(mask) else None for mask, _ in self.conditions]
        return [Masked(tuple((mask if moved is None else moved[k], holds) for moved, (mask, holds)
                             in zip(masks, self.conditions, strict=True)), value, self.is_zero)
                for k, value in enumerate(by(self.dense()))]

    def dense(self) -> Any:
        """Return the cotangent as an array."""
        if self.is_zero:
            return self.value
        return np.where(self.mask, self.value, np.zeros((), self.value.dtype)[()])


@dataclass(frozen=True, slots=True)
class Scattered:
    """A contribution to part of an array: `add_to(accumulator)` returns the accumulator with it."""

    aval: Aval
    add_to: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Unread:
    """The cotangent of a Log that holds a list of which nothing is read: zeros, if they matter.

    aval -- of the array of all its items
    """

    aval: Aval


Cotangent = Tracer | Masked | Scattered | Unread | Value | None
"""A rule's cotangent of an output: of a Log, a Log; None where there is none."""

Primal = Tracer | np.number
"""An operand or a result in a rule: of a constant, a number of NumPy's."""

Tangent = Tracer | Value | None
"""Of a Log, a Log; None where there is none."""


def zeros(aval: Aval) -> Tracer:
    """Return zeros of a type."""
    return apply("full", aval.dtype.type(0), shape=aval.shape)


def dense(ct: Cotangent) -> Any:
    """Return any cotangent but None as an array."""
    if isinstance(ct, Masked):
        return ct.dense()
    if isinstance(ct, Scattered):
        return ct.add_to(zeros(ct.aval))
    return ct


def add_cotangents(a: Cotangent, b: Cotangent) -> Any:
    """Return the sum of two cotangents; None is unconnected, not zero."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(b, Scattered):
        return b.add_to(dense(a))
    if isinstance(a, Scattered):
        return a.add_to(dense(b))
    if isinstance(a, Masked) and isinstance(b, Masked):
        if a.literals == b.literals:
            return Masked(a.conditions, a.value + b.value)
        if a.literals[:-1] == b.literals[:-1] and a.literals[-1][0] is b.literals[-1][0]:
            return _merge_sides(a, b)
        return Masked(((a.mask | b.mask, True),), a.dense() + b.dense(), is_zero=True)
    return dense(a) + dense(b)


def _merge_sides(a: Masked, b: Masked) -> Any:
    """Return the sum of the cotangents that come from the two sides of one `where`."""
    *around, (mask, holds) = a.conditions
    value = np.where(mask, *(a.value, b.value) if holds else (b.value, a.value))
    return Masked(tuple(around), value) if around else value


def narrow(ct: Cotangent, mask: object, holds: bool = True) -> Masked:
    """Return a cotangent where a mask holds, or where it does not."""
    if isinstance(ct, Masked):
        return Masked((*ct.conditions, (mask, holds)), ct.value)
    return Masked(((mask, holds),), ct)


def scale(ct: Any, d: Any) -> Any:
    """Return a cotangent times the conjugate of a derivative."""
    if isinstance(d, Where):
        return narrow(scale(ct, d.share), d.mask, d.holds)
    if isinstance(ct, Masked):
        return Masked(ct.conditions, scale(ct.value, d), ct.is_zero and isinstance(d, (int, float)))
    if isinstance(d, (int, float)) and d in (1, -1):
        return ct if d == 1 else -ct
    if getattr(d, "dtype", np.dtype(float)).kind == "c":
        d = np.conj(d)
    return ct * d


def apply_derivative(d: object, tangent: Any) -> Any:
    """Return a derivative times a tangent."""
    if isinstance(d, Where):
        sides = apply_derivative(d.share, tangent), np.zeros((), tangent.dtype)[()]
        return np.where(d.mask, *sides if d.holds else sides[::-1])
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


def sum_to(ct: Tracer, shape: tuple[Dim, ...]) -> Any:
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
