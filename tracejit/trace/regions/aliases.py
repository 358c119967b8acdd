"""Which arrays names hold after a loop that binds them anew, and which writes others must see.

A name may be bound to one array after another, two may change places, an iteration may leave a name
as it was. Where a write could be missed by another name for the array, the loop is refused.

A loop carries values, and Python's names hold arrays that others hold as well. Here `a` and `b`
change places, so `first` has been written to after one iteration, and again after three:

    def by_turns(x, n):
        a, b = 2.0 * x, 3.0 * x
        first = a
        for _ in range(n):
            a *= 7.0
            a, b = b, a
        return first

The graph's loop carries both contents. An iteration ends with `a` on the array that `b` began it
with, and the other way round: `source` is {a: b, b: a}, a cycle, and `rotating` has both names. The
loop writes to one of them, so `settle_rotation` gives the array that `a` held at first its content:
the content of `a` after an even number of iterations, of `b` after an odd one (%8; %9 is for the
array that `b` held):

    %0: f64[n] = mul(2.0, %x)
    %1: f64[n] = mul(3.0, %x)
    %2: f64[n], %3: f64[n] = for_(%0, %1) {lo=0, hi=%n_, reversed=False} [
      (%i: i64[], %a: f64[n], %b: f64[n]) {
        %4: f64[n] = mul(%a, 7.0)
        %5: f64[n] = update(%a, %4) {at=(0:n,)}
        yield %b, %5
      }
    ]
    %6: i64[] = size() {of=max(%n_, 0) % 2}
    %7: bool[] = equal(%6, 0)
    %8: f64[n] = select(%7, %2, %3)
    %9: f64[n] = select(%7, %3, %2)
    return %8

Where a name is left on an array of its own, no number of iterations says which array it held:

    def missed(x, n):
        a, b = 2.0 * x, 3.0 * x
        for _ in range(n):
            b[0] += 1.0
            b = a
        return np.sum(a)

Here `source` is {b: a} and the second iteration writes to the array of `a`, which the content of
`a` would miss: "'b' is bound to one array after another in this loop, which writes to it, while
another name for the array is in use".
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.trace.containers.heap import held_by_program
from tracejit.trace.containers.places import MaybeUnset
from tracejit.trace.ground.context import Cell, current, refuse
from tracejit.trace.values.tracer import CellPlace, Tracer

__all__ = ["Begun", "Bound", "array_of", "settle_aliases", "surely_runs"]


@dataclass(frozen=True, slots=True)
class Begun:
    """The array of a name when an iteration begins: no handle, so that it counts as no use."""

    cell: Cell
    steps: Any
    dims: tuple[Dim, ...]
    value: Value


@dataclass(frozen=True, slots=True)
class Bound:
    """A name that a loop binds to arrays, or an item of a list, tuple or dict in a name.

    Its arrays before the loop, at both ends of an iteration, and now; None where it holds none.
    Whether their sizes differ.
    """

    name: str
    start: Tracer | None
    begun: Begun | None
    ended: Tracer | None
    now: Tracer | None
    resized: bool = False


def settle_aliases(tracer: Any, bound: Sequence[Bound], trips: object) -> None:
    """Give the arrays that names held before the loop the contents that writes in it left there.

    A loop that swaps names (`u, v = v, u`) and writes to them writes by turns to the arrays that
    they held at first; which of the two a name holds at the end, the number of iterations says.
    """
    carried = {b.begun.cell for b in bound if b.begun is not None}
    for cell in tracer.outdated:
        lasts = cell in carried or cell.depth <= current().depth  # it is not made in an iteration
        if lasts and cell in tracer.read:  # in the next one, after it became stale
            cell.refuse_stale()
    bindings = _Bindings(tracer, bound)
    bindings.outdate_choices()
    for k in bindings.rotating:
        bindings.settle_rotation(k, trips)
    for k in range(len(bound)):
        bindings.refuse_missed_writes(k)
        bindings.write_back(k)
        bindings.note_choices(k)
    bindings.link_what_began_as_one()


class _Bindings:
    """The arrays that names held before a loop, at both ends of an iteration, and hold now.

    Names are places in `bound`. `source[k]` is the name whose array name k ends an
    iteration with, as a whole; `steps[k]` are all whose array, or a view of it, it may be.
    """

    def __init__(self, tracer: Any, bound: Sequence[Bound]) -> None:
        self.tracer, self.bound = tracer, bound
        self.start = {k: b.start for k, b in enumerate(bound) if b.start is not None}
        self.ended = {k: b.ended for k, b in enumerate(bound) if b.ended is not None}
        self.now = {k: b.now for k, b in enumerate(bound) if b.now is not None}
        self.begun = begun = {k: b.begun for k, b in enumerate(bound) if b.begun is not None}
        self.written = {k for k, x in begun.items()
                        if x.cell.value is not x.value or x.cell.touched}
        holder = {begun[k].cell: k for k in begun}
        self.source = {k: holder.get(x.cell) if not x.steps else None
                       for k, x in self.ended.items()}
        self.steps = {k: [holder[c] for c in _behind(x) if c in holder]
                      for k, x in self.ended.items()}
        self.carried_cells = {c.place.key for c in tracer.carried}
        self.rotating = {k: cycle for k in range(len(bound))
                         if (cycle := self._cycle(k)) is not None}
        """The names that change places, each with the names whose arrays it held, last first."""
        self.sharing = self._sharing()

    def _name(self, k: int) -> str:
        return self.bound[k].name

    def _came_from(self, k: int) -> set[int]:
        """Return the names whose array a name may hold after some iterations, itself included."""
        found, pending = set(), [k]
        while pending:
            j = pending.pop()
            if j not in found:
                found.add(j)
                pending += self.steps.get(j, ())
        return found

    def _cycle(self, k: int) -> list[int] | None:
        """Return the names that change places with one, which held arrays of their own; or None."""
        cycle = [k]
        while (nxt := self.source.get(cycle[-1])) is not None and nxt != k and (
                len(cycle) <= len(self.bound)):
            cycle.append(nxt)
        cells = {self.start[j].cell for j in cycle if j in self.start}
        return cycle if self.source.get(cycle[-1]) == k and len(cells) == len(cycle) else None

    def _sharing(self) -> set[frozenset[int]]:
        """Return the pairs of names that may hold one array, or parts of one, after an iteration.

        One may hold now the array that the other got an iteration before: `r = s; s = a[0]`.
        """
        pairs = [frozenset(p) for p in itertools.combinations(self.ended, 2)]
        behind = {k: {*_behind(x)} for k, x in self.ended.items()}
        found = {p for p in pairs if set.intersection(*(behind[k] for k in p))}
        while more := {p for p in pairs if p not in found and any(
                frozenset((i, j)) in found for i, j in itertools.product(
                    *(self.steps[k] for k in p)))}:
            found |= more
        return found

    # --- writes ---------------------------------------------------------------------------------

    def outdate_choices(self) -> None:
        """Note the writes to arrays that names held before the loop, and to their aliases."""
        for j in {j for k in self.written for j in self._came_from(k) if j in self.start}:
            cell = self.start[j].cell
            current().memory.refuse_read_only(cell, self._name(j))
            choices = [choice for ref in cell.choices if (choice := ref()) is not None]
            cell.outdate_choices()
            for choice in choices:
                if choice in self.tracer.read:
                    choice.refuse_stale()

    def settle_rotation(self, k: int, trips: Any) -> None:
        """Give the array that a name held at first its content after the changes of places."""
        cycle, cell = self.rotating[k], self.start[k].cell
        if not self.written & set(cycle) or self.start[k].steps:
            return
        if (cell in self.tracer.read and _has_other_handles(self.start[k])) or any(
                self.bound[j].resized or j not in self.now for j in cycle):
            raise _rebound(self._name(k))
        holder = {self.source[j]: j for j in cycle}
        held = [k]  # the names that hold the array after 0, 1, 2 ... iterations
        for _ in cycle[1:]:
            held.append(holder[held[-1]])
        content: Any = None
        for turn, j in reversed(list(enumerate(held))):
            content = self.now[j] if content is None else np.where(
                trips % len(cycle) == turn, self.now[j], content)
        self._write(cell, content.value, cycle)

    def refuse_missed_writes(self, k: int) -> None:
        """Refuse where a write by a name would be missed by another that may hold its array."""
        came_from = [j for j in self._came_from(k) if j in self.start]
        lasting = self._lasting(k)
        if k in self.written and (lasting or any(self._is_shared(j, k) for j in came_from)):
            raise _rebound(self._name(k))
        first = [self.start[k].cell, *_sources(self.start[k].cell)] if k in self.start else []
        if any(CellPlace(cell).key in self.carried_cells
               for cell in (*first, *lasting)):
            raise _rebound(self._name(k))

    def _is_shared(self, j: int, k: int) -> bool:
        """Whether others may hold the array that j held before the loop and that k came to hold."""
        x = self.start[j]
        return (any(i != j and y.cell.may_be_one_with(x.cell) for i, y in self.start.items())
                or x.cell.may_be_in_use()
                or ((k not in self.rotating or bool(x.steps)) and _is_seen_by_others(x)))

    def _lasting(self, k: int) -> list[Cell]:
        """Return the cells with which name k may end an iteration, and others begin the next."""
        if k in self.rotating:
            return []
        depth, found = current().depth, []
        for j in self._came_from(k):
            if j in self.ended:
                others = {x.cell for i, x in self.ended.items() if i != j}
                found += [c for c in _behind(self.ended[j]) if c.depth <= depth or c in others]
        return found

    def write_back(self, k: int) -> None:
        """Note that the first iteration wrote to the array that a name held before the loop."""
        if k in self.written and k in self.start and k not in self.rotating and (
                not self.start[k].steps):
            cell = self.start[k].cell
            cell.touch()  # a loop around this one has to know
            if self.bound[k].resized:
                cell.touched = True  # nothing is written to it that would say so
                self._leave_unread(k)
                return
            if k in self.now:  # else it holds a number now, and nobody the array
                self._write(cell, self.now[k].cell.value, [k])

    def _leave_unread(self, k: int) -> None:
        """Refuse a write to an array that the program may read, and that has another size now."""
        if _held_by_others(self.start[k]):
            raise _rebound(self._name(k))

    def _write(self, cell: Cell, content: Value, names: Iterable[int]) -> None:
        """Replace the content of an array from before the loop, which wrote to it by some names."""
        if cell.constant is not None:
            raise refuse(cell.constant, "Work on a copy: x = x.copy()", "TJ402")
        memory = current().memory
        for k in names:
            memory.hand_on_write(self.begun[k].cell, cell)
        current().record(CellPlace(cell), cell.depth)
        cell.value = content

    # --- the arrays of names after the loop -----------------------------------------------------

    def note_choices(self, k: int) -> None:
        """Note which arrays a name may hold after the loop."""
        if k not in self.now:
            return
        may_hold = set().union(*(self._came_from(j) for j in self.steps.get(k, ())))
        outside = k in self.start and k not in may_hold and self._is_outside_alone(k)
        if outside or (k in self.start and k not in may_hold and (
                current().frames or _held_by_others(self.start[k])) and not surely_runs(
                    self.tracer)):
            may_hold.add(k)
        begins = [self.start[j] for j in may_hold if j in self.start]
        twins = [] if k in self.rotating else [
            self.now[j].cell for j in self.now if frozenset((j, k)) in self.sharing]
        held = [c for x in begins for c in _held_by_others(x)]
        cell = self.now[k].cell
        cell.stands_for([*self._lasting(k), *twins, *held])
        if outside:
            cell.unless = self.start[k].cell, functools.partial(surely_runs, self.tracer)
        if current().frames:
            cell.origins.update(x.cell for x in begins)
            cell.may_begin_as(*(x.cell for x in begins))

    def _is_outside_alone(self, k: int) -> bool:
        """Whether a name began with an array that nothing in the function holds besides.

        A counted loop that runs leaves another array: that is decided where the name is written to.
        """
        x = self.start[k]
        return not current().frames and _is_seen_outside(x.cell) and not (
            _has_other_handles(x) or _sources(x.cell))

    def link_what_began_as_one(self) -> None:
        """Note which names may hold one array after the loop because two names held it before."""
        came_from = {k: self._came_from(k) for k in self.now}
        for p, q in itertools.combinations(self.start, 2):
            if self.start[p].cell is not self.start[q].cell:
                continue
            for k, j in itertools.permutations(self.now, 2):
                if p in came_from[k] and q in came_from[j] and (
                        self.now[k].cell is not self.now[j].cell):
                    self.now[k].cell.may_be(self.now[j].cell)


def _rebound(name: str) -> Refusal:
    return refuse(f"{name!r} is bound to one array after another in this loop, which writes to it, "
                  "while another name for the array is in use",
                  f"Copy it where it is bound: {name} = {name}.copy()", "TJ406")


def surely_runs(tracer: Any) -> bool:
    """Whether a counted loop runs at least once in this call, which then is a guard."""
    return tracer.condition is None and current().decide(
        tracer.lo - tracer.hi, "<", "whether a loop runs decides which array a name holds") is True


def array_of(content: object) -> Tracer | None:
    """Return the array that a name holds, also one that may be unset; None if it holds another."""
    content = content.content if isinstance(content, MaybeUnset) else content
    return content if isinstance(content, Tracer) and content.is_array else None


def _behind(x: Tracer) -> list[Cell]:
    return [x.cell, *x.cell.origins, *_sources(x.cell)]


def _sources(cell: Cell) -> list[Cell]:
    return [c for ref in cell.sources if (c := ref()) is not None]


def _held_by_others(x: Tracer) -> list[Cell]:
    """Return the cells that a handle may be on and that others may have handles on."""
    return [*([x.cell] if _is_seen_by_others(x) else []), *_sources(x.cell)]


def _is_seen_by_others(x: Tracer) -> bool:
    """Whether another name, or the caller, sees a write to the array of a handle."""
    return _has_other_handles(x) or _is_seen_outside(x.cell)


def _is_seen_outside(cell: Cell) -> bool:
    """Whether the caller, or another holder of an array that the function reads, sees a write."""
    return cell.constant is not None or current().memory.is_of_caller(cell)


def _has_other_handles(x: Tracer) -> bool:
    """Whether the array of a handle has another handle, or the handle is held by the program."""
    if x.cell.is_in_use(besides=x):
        return True
    return any(v is x for v in held_by_program())
