"""Lists that are made with a place for each item, `[None] * n`, and get the items in a loop.

The places that are left are a run of their own, at one end of the list or at both: an iteration
that fills the next ones moves the border. So the items are a list that gets longer (`growing.py`),
at its back or, where the loop runs down, at its front. A trial finds out which.
"""

from __future__ import annotations

from typing import Any

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, is_nonneg, maximum, substitute
from tracejit.trace.containers.runs import Run, length
from tracejit.trace.ground.context import Frame, current
from tracejit.trace.ground.restarts import Grows, PlaceInCode, Unroll
from tracejit.trace.lists.growing import Growing
from tracejit.trace.lists.growing_rows import GrowingRows, holds_tuples
from tracejit.trace.values.equations import to_dim
from tracejit.trace.values.indexing import check_bounds, point_index, slice_span
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["Alike", "Filling", "Slots", "at_least_none", "growing_of", "located",
           "refuse_unless_filled"]


_FROM_THE_FRONT = "whether an index counts from the front"


def _place(k: object, size: Dim) -> Dim:
    """Return an index of one of some items as a dim, checked at run time where not proved."""
    trace = current()
    d = trace.canonical(to_dim(k))
    if is_nonneg(d, trace.builder.known) or not trace.decide(-d, "<=", _FROM_THE_FRONT):
        return point_index(k, size, 0)
    if not is_nonneg(size - d - 1, trace.builder.known):
        check_bounds(d, size, 0)
    return d


class Slots(Run):
    """Items that never change: an item that is set takes the place of one of them."""

    __slots__ = ()

    def bound(self, k: object, content: object) -> list[Any]:
        """Return the parts of the list that replace the items once item k is another one."""
        raise NotImplementedError


class Alike(Slots):
    """Items that are one object, which nobody can change."""

    __slots__ = ("content", "size")

    def __init__(self, content: object, size: Dim, where: PlaceInCode) -> None:
        super().__init__(where)
        self.content, self.size = content, size

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        return current().canonical(self.size)

    def item(self, k: Any) -> Any:
        """Return the object."""
        point_index(k, self.count, 0)
        return self.content

    def of_size(self, size: Dim) -> list[Alike]:
        """Return as many of the items, which may be none."""
        size = current().canonical(size)
        return [] if size == 0 else [Alike(self.content, size, self.where)]

    def bound(self, k: object, content: object) -> list[Any]:
        """Return the items before and behind item k, and another one between."""
        place = _place(k, self.count)
        return [*self.of_size(place), content, *self.of_size(self.count - place - 1)]

    def part(self, key: slice) -> Run:
        """Return the items that a slice of the list has."""
        return Alike(self.content, slice_span(key, self.count).size, self.where)

    def copied(self) -> Run:
        """Return the items for another list."""
        return self

    def array(self) -> Tracer:
        """Give the list up: an array of objects is none of numbers."""
        self.give_up("an array of a list that is not filled yet")


class _Trial(Slots):
    """A list of which a loop fills places that are not known yet.

    sample -- items that it has before the loop
    filled -- the places that an iteration fills, with the items
    """

    __slots__ = ("filled", "sample", "size")

    def __init__(self, size: Dim, sample: Run | None, where: PlaceInCode) -> None:
        super().__init__(where)
        self.size, self.sample = size, sample
        self.filled: list[tuple[Dim, Any]] = []

    @property
    def count(self) -> Dim:
        """Return how many places there are."""
        return current().canonical(self.size)

    def item(self, k: Any) -> Any:
        """Return an item of the kind that the list has."""
        place = self._place(k)
        for filled, content in self.filled:
            if filled == place:
                return content
        if self.sample is None:
            raise Unroll("a place in a list is read before it is filled")
        return self.sample.item(0)

    def bound(self, k: object, content: object) -> list[Any]:
        """Note that an iteration fills a place."""
        place = self._place(k)
        self.filled = [(p, x) for p, x in self.filled if p != place]
        self.filled.append((place, content))
        return [self]

    def _place(self, k: object) -> Dim:
        place = current().canonical(to_dim(k))
        return current().canonical(place + self.count) if isinstance(place, int) and (
            place < 0) else place

    def give_up(self, why: str) -> Any:
        """Unroll the loop."""
        raise Unroll(f"a list that it fills is used besides: {why}")


def located(xs: Any, k: object) -> tuple[int, Any] | None:
    """Return the run of a list that has item k, and which of it; None where that is not proved."""
    ranges = current().builder.known
    canonical = current().canonical
    rest = canonical(to_dim(k))
    if not is_nonneg(rest, ranges) and not current().decide(-rest, "<=", _FROM_THE_FRONT):
        return None
    for j, p in enumerate(xs):
        size = p.count if isinstance(p, Run) else 1
        if j == len(xs) - 1 or is_nonneg(size - rest - 1, ranges):
            return j, of_dim(rest)
        if not is_nonneg(rest - size, ranges):
            return None
        rest = canonical(rest - size)
    return None


def refuse_unless_filled(xs: Any) -> None:
    """Begin the outermost loop around again if it may fill places of a list that it reads."""
    if not any(isinstance(p, Alike) for p in xs):
        return
    for frame in current().frames:
        if frame.kind != "loop" or id(xs) in frame.created:
            continue
        if frame.grows and all(id(xs) not in f.created for f in current().frames[frame.depth - 1:]):
            raise Grows(frame, xs, "an item of a list of which some places are not filled")
        return


class Filling(Growing):
    """One list with places that a loop fills."""

    def __init__(self, container: list[Any], where: PlaceInCode) -> None:
        parts = list(container)
        lead = parts.pop(0) if isinstance(parts[0], Alike) else None
        tail = parts.pop() if parts and isinstance(parts[-1], Alike) else None
        self.slots = lead or tail
        assert self.slots is not None
        self.lead: Dim = lead.count if lead is not None else 0
        self.tail: Dim = tail.count if tail is not None else 0
        self.trial: _Trial | None = None
        self.is_known = self.is_down = False
        super().__init__(container, where, parts)

    def prepare(self, lo: Dim, hi: Dim) -> None:
        """Make the storage for all iterations, once the kind of the items is known."""
        super().prepare(lo, hi)
        self.all_trips = at_least_none(hi - lo, "how many places of a list a loop fills")

    def enter(self, frame: Frame, turn: Dim, trips: Dim) -> None:
        """Give the list the items with which iteration number `turn` of `trips` begins."""
        super().enter(frame, turn, trips)
        assert self.slots is not None
        if self.is_known:
            self.container[:] = [*self.slots.of_size(self.lead - self.front * turn),
                                 *self.container,
                                 *self.slots.of_size(self.tail - self.back * turn)]
            return
        size = self.lead + length(self.before) + self.tail
        sample = next((p for p in self.container if isinstance(p, Run)), None)
        self.trial = _Trial(size, sample, self.where)
        self.container[:] = [self.trial]

    def leave(self, frame: Frame, inside: set[Value]) -> bool:
        """Put the new items into the storage; return False where their guessed form was wrong."""
        if not self.is_known:
            assert self.trial is not None
            assert self.slots is not None
            if not self.trial.filled:
                self.slots.give_up("an item of a list of which some places are not filled")
            if len(self.container) != 1 or self.container[0] is not self.trial:
                raise Unroll("a list gets items in places that are not known")
            items = self._in_order(self.trial.filled)
            old = [*self.kept, *([] if self.run is None else [self.run])]
            self.container[:] = [*items, *old] if self.is_down else [*old, *items]
            self.is_known = True
            super().leave(frame, inside)
            return False
        self._take_slots()
        return super().leave(frame, inside)

    def _in_order(self, filled: list[tuple[Dim, object]]) -> list[Any]:
        """Return the items that an iteration puts side by side, and note where they go."""
        canonical = current().canonical
        first = [self._at(place, 0) for place, _ in filled]
        second = [self._at(place, 1) for place, _ in filled]
        offsets = [canonical(place - first[0]) for place in first]
        steps = {canonical(b - a) for a, b in zip(first, second, strict=True)}
        many = len(filled)
        if not all(isinstance(d, int) for d in offsets) or steps not in ({many}, {-many}):
            raise Unroll("a list gets items in places that are not side by side")
        numbers = [d for d in offsets if isinstance(d, int)]
        order = sorted(range(many), key=numbers.__getitem__)
        base = first[order[0]]
        if [numbers[j] - numbers[order[0]] for j in order] != list(range(many)):
            raise Unroll("a list gets items in places that are not side by side")
        self.is_down = steps == {-many}
        end = base + many if self.is_down else base
        if not self.before:
            self.lead, self.tail = end, self.lead + self.tail - end
        elif canonical(self.lead + (0 if self.is_down else length(self.before)) - end) != 0:
            raise Unroll("a list gets items in places that are not beside those it has")
        return [filled[j][1] for j in order]

    def _at(self, place: Dim, turn: int) -> Dim:
        """Return a place in an iteration, counted from 0."""
        return current().canonical(substitute(place, {self.index: self.index_at(turn)}))

    def _take_slots(self) -> None:
        """Remove the unfilled places from the list; `Unroll` if they are not the expected ones."""
        parts = list(self.container)
        ends = []
        for place in (0, -1):
            is_slots = parts and isinstance(parts[place], Alike)
            ends.append(parts.pop(place).count if is_slots else 0)
        turn, canonical = self.turn + 1, current().canonical
        if any(canonical(n - (before - more * turn)) != 0 for n, before, more in (
                (ends[0], self.lead, self.front), (ends[1], self.tail, self.back))):
            raise Unroll("a list gets items in other places from one iteration to the next")
        self.container[:] = parts

    def _added(self) -> tuple[list[Any], list[Any]]:
        """Return the new items in front of the old ones, and the new items behind them."""
        front, back = super()._added()
        return (back, []) if self.run is None and self.is_down else (front, back)

    def finished(self) -> list[Any]:
        """Return the items of the list after the loop."""
        assert self.slots is not None
        return [*self.slots.of_size(self.lead - self.front * self.all_trips), *super().finished(),
                *self.slots.of_size(self.tail - self.back * self.all_trips)]


def at_least_none(count: Dim, why: str) -> Dim:
    """Return a count, or 0 where it is negative; a guard says which where the call can tell."""
    trace = current()
    clamped = maximum(count, 0, trace.builder.known)
    if clamped == count:
        return count
    is_count = trace.decide(-count, "<=", why)
    return clamped if is_count is None else count if is_count else 0


def growing_of(container: list[object], where: PlaceInCode) -> Growing:
    """Return a `Growing`, or one of its kinds, for a list that gets items in a loop."""
    if any(isinstance(x, Alike) for x in (*container[:1], *container[-1:])):
        return Filling(container, where)
    if holds_tuples(container) and container[0]:
        return GrowingRows(container, where, list(container), container[0])
    return Growing(container, where)
