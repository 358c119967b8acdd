"""Lists of tuples or lists that get longer in a counted loop: a list for each place in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.trace.containers.places import is_number, map_content
from tracejit.trace.containers.runs import Run, Stored
from tracejit.trace.ground.context import Frame
from tracejit.trace.ground.restarts import PlaceInCode, Unroll
from tracejit.trace.lists.growing import Growing
from tracejit.trace.lists.list_runs import is_plain_number
from tracejit.trace.lists.read_only import freeze_like
from tracejit.trace.lists.rows import (
    Rows,
    as_node,
    is_changeable_row,
    is_wide_row,
    places_of,
    put_object,
    same_rows,
)

__all__ = ["GrowingRows", "as_rows", "holds_tuples", "refuse_shared_items"]


class GrowingRows(Growing):
    """One list of tuples, or of lists, that gets longer in a loop.

    template -- a tuple or list that is like the items
    columns  -- for each place in the items, a growing list of the contents there
    made     -- the lists that an iteration puts into it
    """

    rows: Rows | None
    made: list[list[Any]]

    def __init__(self, container: list[object], where: PlaceInCode, before: list[object],
                 template: object) -> None:
        has_runs = any(isinstance(x, Run) for x in before)
        items = [] if has_runs else before
        super().__init__(container, where, before if has_runs else [])
        self.template = map_content(lambda x: 0 if is_plain_number(x) else None, as_node(template))
        columns = zip(*(self._places(x) for x in items), strict=True) if items else (
            () for _ in places_of(template))
        self.columns = [Growing([], where, list(column)) for column in columns]
        self.made = []

    @property
    def parts(self) -> Sequence[Growing]:
        """Return the lists that are stored."""
        return self.columns

    def _places(self, x: object) -> list[Any]:
        if not same_rows(x, self.template) or not all(map(is_number, places_of(x))):
            raise Unroll("a list gets items that are no tuples of numbers and arrays, all alike")
        if type(x) is list and not is_changeable_row(x):
            raise Unroll("a list gets lists of arrays")
        return places_of(x)

    def prepare(self, lo: Dim, hi: Dim) -> None:
        """Make the storage of each column for all iterations, once its kind is known."""
        super().prepare(lo, hi)
        for c in self.columns:
            c.prepare(lo, hi)

    def enter(self, frame: Frame, turn: Dim, trips: Dim) -> None:
        """Give the list the items with which iteration number `turn` of `trips` begins."""
        super().enter(frame, turn, trips)
        for c in self.columns:
            c.enter(frame, turn, trips)
        runs = [c.run for c in self.columns]
        self.rows = None if any(r is None for r in runs) else Rows(runs, self.template, self.where)
        self.container[:] = [*self.kept, *([] if self.rows is None else [self.rows])]

    def note_begun(self) -> None:
        """Note the contents of the storage when an iteration begins."""
        for c in self.columns:
            c.note_begun()

    def leave(self, frame: Frame, inside: set[Value]) -> bool:
        """Put the new items into the storage; return False where their guessed form was wrong."""
        self.run = self.rows
        front, back = self._taken(frame)
        if not front and not back:
            raise Unroll("a list gets no items that stay")
        rows = [[self._places(x) for x in items] for items in (front, back)]
        self.made = [x for x in (*front, *back) if type(x) is list]
        for x in (*front, *back):
            try:
                put_object(x, self.where)
            except Refusal as e:
                raise Unroll(str(e), e) from None
        if any(id(x) not in frame.created for x in self.made):
            raise Unroll("a list gets one list several times")
        done = []
        for k, c in enumerate(self.columns):
            first, last = ([places[k] for places in items] for items in rows)
            c.container[:] = [*first, *([] if c.run is None else [c.run]), *last]
            done.append(c.leave(frame, inside))
        return all(done)

    def finished(self) -> list[Any]:
        """Return the items of the list after the loop."""
        runs = []
        for c in self.columns:
            assert c.storage is not None
            assert c.kind is not None
            freeze_like(c.storage, (*c.first, *c.new))
            runs.append(Stored(c.storage, 0, c.kind[1], c.where))
        return [*self.kept, Rows(runs, self.template, self.where)]


def holds_tuples(xs: Sequence[object]) -> bool:
    """Return whether some items of a list are tuples."""
    return any(isinstance(x, tuple) for x in xs)


def refuse_shared_items(lists: Sequence[Growing], held: Sequence[object]) -> None:
    """Unroll a loop of which an iteration leaves a list in two places, one of them in a list.

    held -- the lists that it leaves in names and the like
    """
    ids = [id(x) for g in lists if isinstance(g, GrowingRows) for x in g.made]
    if len(set(ids)) < len(ids) or not {id(x) for x in held}.isdisjoint(ids):
        raise Unroll("a list that goes to a list has another name, too")


def as_rows(g: Growing) -> Growing:
    """Return a `GrowingRows` for a list that turns out to get tuples or lists; else g itself."""
    new = [x for x in g.container if isinstance(x, tuple) or is_changeable_row(x) or is_wide_row(x)]
    if type(g) is not Growing or g.first or g.kind is not None or not new or not new[0]:
        return g
    rows = GrowingRows(g.container, g.where, g.before, new[0])
    rows.rows = None
    rows.index, rows.index_at, rows.turn, rows.trips = g.index, g.index_at, g.turn, g.trips
    for c in rows.columns:
        c.turn, c.trips = g.turn, g.trips
    return rows
