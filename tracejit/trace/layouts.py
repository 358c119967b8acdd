"""How NumPy lays an array out in memory, on which it rests whether a reshape is a view or a copy.

Values of the graph have no layout. What NumPy makes lies in C order, or in the order of what it is
made from ("K"): a cell is taken to lie in C order if no axes were permuted on the way to its first
value. Where nothing is known, a copy is made that may be the array (`Cell.stands_for`); if a
program is refused for that, its capture begins again and compares sizes (`decides_layouts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tracejit.ir.core import Atom, Eqn, Span, Value
from tracejit.ir.dims import Dim, product
from tracejit.ir.types import Aval
from tracejit.trace.context import Cell, current
from tracejit.trace.equations import apply
from tracejit.trace.indexing import view
from tracejit.trace.tracer import Tracer, tracer_of
from tracejit.trace.views import IndexStep, ReshapeStep, TransposeStep

__all__ = ["contiguous", "lay_out", "ravelled", "reshaped"]

_WHY = "it decides whether an array is reshaped as a view or as a copy"

Axes = Sequence[tuple[Dim, Dim]]
"""Per axis its size and its stride, in elements."""


class _Unknown(Exception):
    """Nothing is known of an array's layout."""


def reshaped(a: Tracer, shape: tuple[Dim, ...]) -> Tracer:
    """Return an array in another shape: a view where NumPy has one, else a copy."""
    try:
        fits: bool | None = _reshape(_axes(a), shape) is not None
    except _Unknown:
        fits = None
    if fits:
        return _noted(view(a, ReshapeStep(shape, a.aval.shape)), a)
    return _copied(apply("reshape", a, shape=shape), a, fits)


def ravelled(a: Tracer) -> Tracer:
    """Return a flat array: a view of what is contiguous, else a copy."""
    shape = (product(a.dims),)
    fits = _is_contiguous(a)
    if fits:
        return _noted(a if len(a.dims) == 1 else view(a, ReshapeStep(shape, a.aval.shape)), a)
    return _copied(apply("reshape", a, shape=shape), a, fits)


def contiguous(a: Tracer) -> Tracer:
    """Return an array as it is if it is contiguous, else a copy."""
    fits = _is_contiguous(a)
    return _noted(a, a) if fits else _copied(tracer_of(a.value), a, fits)


def _copied(copy: Tracer, a: Tracer, fits: bool | None) -> Tracer:
    copy.cell.in_c_order = fits is not None
    if fits is None:
        copy.cell.stands_for([a.cell])
    return _noted(copy, a)


def _noted(result: Tracer, a: Tracer) -> Tracer:
    current().laid_out.append((a.cell, result.cell))
    return result


def lay_out(result: Tracer, order: str | None, like: object = None) -> Tracer:
    """Note that something is an array, and its order of axes; "K" is that of another one."""
    result.cell.is_array = True
    if len(result.dims) > 1:
        if order == "C":
            result.cell.in_c_order = True
        elif order == "F" or (isinstance(like, Tracer) and not _is_in_c_order(like)):
            result.cell.in_c_order = False
    return result


def _is_in_c_order(x: Tracer) -> bool:
    """Whether it is known that the axes of an array lie in C order, with gaps or without."""
    return _cell_is_in_c_order(x.cell) and not any(isinstance(s, TransposeStep) for s in x.steps)


def _cell_is_in_c_order(cell: Cell) -> bool:
    if cell.in_c_order is not None:
        return cell.in_c_order
    makers: dict[Value, tuple[Atom, ...] | None] = {}
    pending: list[Atom] = [cell.first]
    seen: set[Atom] = set()
    trace = current()
    while pending:
        v = pending.pop()
        if v in seen or not (isinstance(v, Value) and isinstance(v.aval, Aval)) or (
                len(v.aval.shape) < 2):
            continue
        seen.add(v)
        makers = makers or {v: a for s in trace.builder.scopes for e in s.eqns
                            for v, a in _sources(e)}
        if v in trace.permuted or v in trace.carried:  # of a loop that is being traced
            return False
        sources = makers.get(v, ())
        if sources is None:
            return False
        pending += sources
    return True


def _sources(eqn: Eqn) -> Iterator[tuple[Value, tuple[Atom, ...] | None]]:
    """Yield the results of an equation and of its regions, each with what decides its order."""
    sources = (*eqn.inputs, *(v for r in eqn.regions for v in r.outputs))
    for v in eqn.outputs:
        yield v, None if eqn.op.permutes else sources
    for region in eqn.regions:
        for v, start in zip(region.inputs[1:], eqn.inputs, strict=False):
            yield v, (start,)
        for e in region.eqns:
            yield from _sources(e)


# --- strides ------------------------------------------------------------------------------------


def _axes(x: Tracer) -> Axes:
    """Return sizes and strides of what a handle shows."""
    shape = x.cell.value.aval.shape
    if x.cell.in_c_order is False or (len(shape) > 1 and not _cell_is_in_c_order(x.cell)):
        raise _Unknown
    axes = _row_major(shape)
    for step in x.steps:
        if isinstance(step, IndexStep):
            axes = [(place.size, stride * place.step)
                    for place, (_, stride) in zip(step.at, axes, strict=True)
                    if isinstance(place, Span)]
        elif isinstance(step, TransposeStep):
            axes = [axes[k] for k in step.axes]
        else:
            strides = _reshape(axes, step.shape)
            if strides is None:
                raise _Unknown
            axes = list(zip(step.shape, strides, strict=True))
    return axes


def _row_major(shape: Sequence[Dim], last: Dim = 1) -> list[tuple[Dim, Dim]]:
    return [(_size(d), last * product(tuple(map(_size, shape[k + 1:]))))
            for k, d in enumerate(shape)]


def _is_contiguous(x: Tracer) -> bool | None:
    try:
        axes = [(d, s) for d, s in _axes(x) if d != 1]
        if axes == _row_major([d for d, _ in axes]):
            return True
        axes = [(d, s) for d, s in axes if not _equal(d, 1)]
        return all(_equal(s, t) for (_, s), (_, t) in zip(
            axes, _row_major([d for d, _ in axes]), strict=True))
    except _Unknown:
        return None


def _reshape(axes: Axes, shape: Sequence[Dim]) -> list[Dim] | None:
    """Return the strides of a view of another shape; None where NumPy needs a copy.

    Axes are split, or merged with neighbours next to which they lie, in groups of one size.
    """
    shape = [_size(d) for d in shape]
    old, new = [(_size(d), s) for d, s in axes if d != 1], [d for d in shape if d != 1]
    if [d for d, _ in old] == new:
        strides = iter([s for _, s in old])
        return [1 if d == 1 else next(strides) for d in shape]
    if old == _row_major([d for d, _ in old]):
        return [s for _, s in _row_major(shape)]
    old, result, k = [(d, s) for d, s in old if not _equal(d, 1)], [], 0
    while k < len(shape) and old:
        (size, _), group, split = old[0], [old.pop(0)], [shape[k]]
        k += 1
        while not _equal(size, product(tuple(split))):
            if _is_less(size, product(tuple(split))):
                if not old:
                    raise _Unknown  # of an empty array
                group.append(old.pop(0))
                size = size * group[-1][0]
            elif k == len(shape):
                raise _Unknown
            else:
                split.append(shape[k])
                k += 1
        if not all(_equal(s, d * t) for (_, s), (d, t) in pairwise(group)):
            return None
        result += [s for _, s in _row_major(split, group[-1][1])]
    return [*result, *(1 for _ in shape[k:])]


def _size(d: Dim) -> Dim:
    return current().canonical(d)


def _equal(a: Dim, b: Dim) -> bool:
    return _decided(a, b, "==")


def _is_less(a: Dim, b: Dim) -> bool:
    return _decided(a, b, "<")


def _decided(a: Dim, b: Dim, relation: str) -> bool:
    trace, difference = current(), _size(a) - _size(b)
    if not isinstance(difference, int) and not trace.decides_layouts:
        trace.undecided = True
        raise _Unknown
    truth = trace.decide(difference, relation, _WHY)
    if truth is None:
        raise _Unknown
    return truth
