"""Arrays that may not be written to any more, as a list whose length data decides may hold them."""

from __future__ import annotations

from collections.abc import Iterable

from tracejit.trace.containers.heap import held_by_program
from tracejit.trace.containers.runs import Stored, Views
from tracejit.trace.ground.context import Cell, current, refuse
from tracejit.trace.values.mixed import Mixed
from tracejit.trace.values.tracer import Tracer

__all__ = ["freeze", "freeze_like", "hand_over"]

_WHY = "writing to an array that is in a list whose length data decides"


def hand_over(x: object) -> None:
    """See to it that an array that goes to a list is not written to afterwards by another name.

    x -- an item, or a run of items
    """
    if isinstance(x, Views):
        _hand_over_named(x.handle.cell, len(x.shape))
    data = x.data if isinstance(x, Stored) else x
    if not isinstance(data, Tracer) or isinstance(data, Mixed) or not data.is_array:
        return
    trace, cell = current(), data.cell
    if cell.constant is None and not cell.sources and cell.depth >= trace.depth and not (
            cell.is_in_use(besides=data) or any(y is data for y in held_by_program())):
        return  # nothing else knows it
    _hand_over_named(cell, data.ndim)


def _hand_over_named(cell: Cell, axes: int) -> None:
    """Freeze the cell of an array with so many axes; refuse if a region writes to its kind."""
    trace, own = current(), cell.value.aval
    kinds = {(axes, own.dtype), (own.ndim, own.dtype)}
    if any(not kinds.isdisjoint(f.rewritten) for f in trace.frames):
        raise refuse(_WHY, "Append a copy: items.append(x.copy())", "TJ403")
    trace.in_lists |= kinds
    freeze(cell)


def freeze(cell: Cell) -> None:
    """Refuse writes from now on to an array, and to the arrays that it may be."""
    for c in (cell, *(ref() for ref in cell.sources)):
        if c is not None and c.constant is None:
            c.constant = _WHY
            current().frozen.append(c)


def freeze_like(storage: Tracer, items: Iterable[object]) -> None:
    """Refuse writes to the storage of a list if one of its items may not be written to."""
    arrays = (x.data if isinstance(x, Stored) else x for x in items)
    if any(isinstance(x, Tracer) and x.is_array and x.cell.constant is not None for x in arrays):
        freeze(storage.cell)
