"""Reshaping as NumPy does it: a view where the layout has one, else a copy."""

from __future__ import annotations

from tracejit.ir.dims import Dim, product
from tracejit.trace.ground.context import current
from tracejit.trace.ground.layouts import (
    COPY,
    UNKNOWN,
    Unknown,
    is_contiguous,
    layout_of,
    reshaped_axes,
)
from tracejit.trace.ground.views import ReshapeStep
from tracejit.trace.values.equations import apply
from tracejit.trace.values.indexing import view
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["contiguous", "ravelled", "reshaped"]


def reshaped(a: Tracer, shape: tuple[Dim, ...]) -> Tracer:
    """Return an array in another shape: a view where NumPy has one, else a copy."""
    asked: set[int] = set()
    if all(d == 1 for d in shape):  # of one element, a view however it lies
        return _noted(view(a, ReshapeStep(shape, a.aval.shape)), a, asked)
    try:
        fits: bool | None = reshaped_axes(layout_of(a, asked).axes, shape) is not None
    except Unknown:
        fits = None
    if fits:
        return _noted(view(a, ReshapeStep(shape, a.aval.shape)), a, asked)
    return _copied(apply("reshape", a, shape=shape), a, fits, asked)


def ravelled(a: Tracer) -> Tracer:
    """Return a flat array: a view of a contiguous array, else a copy."""
    shape = (product(a.dims),)
    asked: set[int] = set()
    fits = is_contiguous(a, asked)
    if fits:
        flat = len(a.dims) == 1
        shown = Tracer(a.cell, a.steps) if flat else view(a, ReshapeStep(shape, a.aval.shape))
        return _noted(shown, a, asked)
    return _copied(apply("reshape", a, shape=shape), a, fits, asked)


def contiguous(a: Tracer) -> Tracer:
    """Return an array as it is if it is contiguous, else a copy."""
    asked: set[int] = set()
    fits = is_contiguous(a, asked)
    return _noted(a, a, asked) if fits else _copied(tracer_of(a.value), a, fits, asked)


def _copied(copy: Tracer, a: Tracer, fits: bool | None, asked: set[int]) -> Tracer:
    copy.cell.layout = UNKNOWN if fits is None else COPY
    if fits is None:
        copy.cell.stands_for([a.cell])
    return _noted(copy, a, asked)


def _noted(result: Tracer, a: Tracer, asked: set[int]) -> Tracer:
    current().laid_out.append((a.cell, result.cell, frozenset(asked)))
    return result
