"""Lists that get longer in a counted loop: their items are in one array, which the loop carries.

In iteration number k a list of n items that gets m more each time is a run of n + m k items, a view
of storage that was made for all of them before the loop; at its end the new items go to their
places. A trial finds out of which kind the items are, and how many each iteration adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracejit.ir.core import Span, Value
from tracejit.ir.dims import Dim, dim_values, maximum
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.runs import Run, Stored, array_of, has_runs, length
from tracejit.trace.ground.context import Cell, Frame, current
from tracejit.trace.ground.dispatch import Changing
from tracejit.trace.ground.restarts import Grows, PlaceInCode, Unroll
from tracejit.trace.ground.views import IndexStep
from tracejit.trace.lists.forms import has_length_by_data
from tracejit.trace.lists.read_only import freeze, freeze_like
from tracejit.trace.values.equations import dims_of, emit_value, lift
from tracejit.trace.values.mixed import Kinds, is_mixed, kinds_of, storage, united
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["MANY_ITEMS", "Growing"]

MANY_ITEMS = 12
"""How many iterations a loop may have, at the most, to be unrolled where it fills a list."""

Kind = tuple[tuple[Dim, ...], Kinds]
"""The shape of items, and the kinds of their numbers."""


def _kind_of(x: object) -> Kind:
    if isinstance(x, Stored) and not x.nest:
        return x.data.dims[1:], x.kinds
    if not is_number(x) or isinstance(x, Changing):
        raise Unroll(f"a list gets items of type {type(x).__name__}")
    x = lift(x)
    if isinstance(x, Tracer) and x.is_array and not x.dims:
        raise Unroll("a list gets arrays without axes")
    return dims_of(x), kinds_of(x)


def _joined(kinds: Sequence[Kind]) -> Kind:
    shape, numbers = kinds[0]
    unify = current().unify
    for other, its in kinds[1:]:
        if len(other) != len(shape) or any(
                not unify(a, b) for a, b in zip(shape, other, strict=True)):
            raise Unroll("a list gets items of different shapes")
        if shape and numbers != its:
            raise Unroll("a list gets arrays of different dtypes")
        numbers = united(numbers, its)
    if storage(numbers, ints=True) is None:
        raise Unroll("a list gets numbers of different kinds")
    return shape, numbers


class Growing:
    """One list that gets longer in a loop.

    front, back -- how many items it gets in an iteration at its two ends
    """

    new_kinds: Kinds
    container: list[Any]
    where: PlaceInCode
    before: list[Any]
    kept: list[Any]
    first: list[Any]
    first_kind: Kind | None
    turn: Dim
    trips: Dim
    all_trips: Dim
    index: Value
    index_at: Callable[[Dim], Dim]

    def __init__(self, container: list[object], where: PlaceInCode,
                 before: list[object] | None = None) -> None:
        self.container, self.where = container, where
        self.before = list(container) if before is None else before
        self.front: Dim = 0
        self.back: Dim = 0
        self.kind: Kind | None = None
        self.storage: Tracer | None = None
        self.outdated: Cell | None = None
        self.run: Run | None = None
        self.begun: Value | None = None
        self.is_written = False
        """Whether an iteration writes to items that were there before it."""
        self.shared: set[Any] = set()
        """The kinds of arrays of which it may have one several times."""
        self.new: list[object] = []
        """The items, and runs of items, that an iteration puts into the list."""
        self.kept = self.before if has_runs(self.before) else []
        """Runs and items that stay in front of the list, unchanged."""
        self.first = [] if self.kept else self.before
        """Items that are written to the storage before the loop."""
        self.first_kind = _joined([_kind_of(x) for x in self.first]) if self.first else None

    @property
    def parts(self) -> Sequence[Growing]:
        """Return the lists that are stored: this one."""
        return (self,)

    @property
    def stored(self) -> list[Tracer]:
        """Return the arrays that an iteration puts into the list."""
        return [x for x in self.new if isinstance(x, Tracer) and x.is_array]

    # --- before an iteration --------------------------------------------------------------------

    def prepare(self, lo: Dim, hi: Dim) -> None:
        """Make the storage for all iterations, once the kind of the items is known."""
        self.all_trips = trips = maximum(hi - lo, 0, current().builder.known)
        if self.kind is None or self.storage is not None:
            return
        shape, kinds = self.kind
        dtype = storage(kinds, ints=True)
        count = len(self.first) + (self.front + self.back) * trips
        self.storage = tracer_of(emit_value(
            "empty", [], {"shape": (count, *shape), "dtype": dtype}))
        self.storage.cell.is_array = True
        if self.first:
            begin = self.front * trips
            self.storage[of_dim(begin):of_dim(begin + len(self.first))] = array_of(self.first)

    def enter(self, frame: Frame, turn: Dim, trips: Dim) -> None:
        """Give the list the items with which iteration number `turn` of `trips` begins."""
        frame.created[id(self.container)] = self.container
        frame.growing.add(id(self.container))
        self.turn, self.trips = turn, trips
        self.run = None
        if self.storage is not None and self.kind is not None:
            shape, kinds = self.kind
            size = len(self.first) + (self.front + self.back) * turn
            span = Span(self.front * (trips - turn), size)
            at = (span, *(Span(0, d) for d in shape))
            self.run = Stored(Tracer(self.storage.cell, (IndexStep(at),)), 0, kinds, self.where)
        elif self.first:
            assert self.first_kind is not None
            self.run = Stored(array_of(self.first), 0, self.first_kind[1], self.where)
        self.container[:] = [*self.kept, *([] if self.run is None else [self.run])]

    def note_begun(self) -> None:
        """Note the contents of the storage when an iteration begins."""
        self.begun = None if self.storage is None else self.storage.cell.value

    # --- after an iteration ---------------------------------------------------------------------

    def leave(self, frame: Frame, inside: set[Value]) -> bool:
        """Put the new items into the storage; return False where their guessed form was wrong."""
        front, back = self._taken(frame)
        self.new = [*front, *back]
        counts = length(front), length(back)
        kinds = [_kind_of(x) for x in self.new]
        if any(v in inside for d in counts for v in dim_values(d)) or any(
                v in inside for shape, _ in kinds for d in shape for v in dim_values(d)):
            why = "how many items a list gets differs from one iteration to the next"
            if any(v in inside and v is not self.index for d in counts for v in dim_values(d)):
                raise Grows(frame, self.container, why, by_data=True)
            raise Unroll(why)
        if not kinds and self.first_kind is None:
            raise Unroll("a list gets no items that stay")
        known = [k for k in (self.first_kind, self.kind) if k is not None]
        kind = _joined([*known, *kinds])
        asked = current().list_kinds.get(self.where, frozenset())
        self.new_kinds = united(asked, *(numbers for _, numbers in kinds))
        kind = (kind[0], _joined([kind, ((), asked)])[1]) if asked and not kind[0] else kind
        if (*counts, kind) != (self.front, self.back, self.kind):
            self.outdated = None if self.storage is None else self.storage.cell
            self.front, self.back, self.kind, self.storage = *counts, kind, None
            return False
        self._refuse_shared(frame)
        assert self.storage is not None
        self.is_written = self.storage.cell.value is not self.begun
        self._store(front, back)
        return True

    def _taken(self, frame: Frame) -> tuple[list[Any], list[Any]]:
        """Return the new items at both ends; begin again where data decides how many there are."""
        try:
            return self._added()
        except Unroll as e:
            if has_length_by_data(self.container):
                raise Grows(frame, self.container, e.why, by_data=True) from None
            raise

    def _added(self) -> tuple[list[Any], list[Any]]:
        """Return the new items in front of the old ones, and the new items behind them."""
        parts, kept = list(self.container), len(self.kept)
        if any(a is not b for a, b in zip(parts, self.kept, strict=False)) or len(parts) < kept:
            raise Unroll("a list gets shorter, or other items, in a loop")
        parts = parts[kept:]
        if self.run is None:
            return [], parts
        places = [k for k, x in enumerate(parts) if x is self.run]
        if len(places) != 1 or (kept and places[0]):
            raise Unroll("a list gets shorter, or other items, in a loop")
        return parts[:places[0]], parts[places[0] + 1:]

    def _refuse_shared(self, frame: Frame) -> None:
        """Refuse arrays that are the same in several iterations or items, or written to in them."""
        cells = [x.cell for x in self.stored]
        if any(c.depth < frame.depth or c.sources for c in cells) or len(set(cells)) < len(cells):
            self._share(cells)
        rows = self.kind is not None and self.kind[0]
        if rows and self.storage is not None and self.storage.cell.value is not self.begun:
            raise Unroll("arrays in a list are written to in the loop that makes it longer")

    def _share(self, cells: Sequence[Cell]) -> None:
        """Let the list have one array several times, copied, which nobody may write to."""
        trace = current()
        kinds = {(c.value.aval.ndim, c.value.aval.dtype) for c in cells}
        kinds |= {(len(x.dims), x.dtype) for x in self.stored}
        if not trace.may_venture or any(not kinds.isdisjoint(f.wrote) for f in trace.frames
                                        if f.kind == "loop"):
            raise Unroll("a list gets one array several times")
        trace.ventured = True
        self.shared = kinds

    def _store(self, front: list[object], back: list[object]) -> None:
        assert self.storage is not None
        wrote = [(f, {*f.wrote}) for f in current().frames]
        size = len(self.first) + (self.front + self.back) * self.turn
        begin = self.front * (self.trips - self.turn)
        for place, items in ((begin - self.front, front), (begin + size, back)):
            for x in items:
                if isinstance(x, Run):
                    end = place + x.count
                    self.storage[of_dim(place):of_dim(end)] = x.array()
                    place = end
                else:
                    self.storage[of_dim(place)] = x
                    place = place + 1
        for frame, kinds in wrote:  # the program has written to none of these
            frame.wrote = kinds

    # --- afterwards -----------------------------------------------------------------------------

    def finished(self) -> list[Any]:
        """Return the items of the list after the loop."""
        assert self.storage is not None
        assert self.kind is not None
        kinds = self.kind[1]
        if self.shared:
            current().in_lists |= self.shared
            for x in (*self.first, *self.stored):
                freeze(x.cell)
        freeze_like(self.storage, (*self.first, *self.new))
        if is_mixed(kinds) and not self.front and not is_mixed(self.new_kinds) and (
                not self.is_written):
            rest = self.storage[len(self.first):]  # the first items are of a kind of their own
            return [*self.kept, *self.first, Stored(rest, 0, self.new_kinds, self.where)]
        return [*self.kept, Stored(self.storage, 0, kinds, self.where)]

    def relate(self, arrays: Sequence[object], others: Sequence[Growing]) -> None:
        """Note the arrays of names that may be items of the list."""
        assert self.storage is not None
        mine = self.storage.cell
        if not (self.kind is not None and self.kind[0]):
            return
        for x in (*arrays, *self.first):
            if isinstance(x, Tracer) and x.is_array and x.cell is not mine:
                mine.may_be(x.cell)
        for other in others:
            if other is not self and other.storage is not None and _share_one(self, other):
                mine.may_be(other.storage.cell)


def _share_one(a: Growing, b: Growing) -> bool:
    """Return whether two lists may hold one array."""
    def cells(g: Growing) -> set[Cell]:
        return {x.cell for x in (*g.stored, *g.first) if isinstance(x, Tracer) and x.is_array}

    return not cells(a).isdisjoint(cells(b))
