"""Which arrays names hold after a loop that binds them anew, and which writes others must see.

A name may be bound to one array after another, two may change places, an iteration may leave a name
as it was. Where a write could be missed by another name for the array, the loop is refused.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterator, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.context import Cell, current, refuse
from tracejit.trace.places import MaybeUnset
from tracejit.trace.source import rewritten_source
from tracejit.trace.tracer import CellPlace, Tracer

__all__ = ["array_of", "settle_aliases"]

_OPAQUE = (FrameType, ModuleType, type)
"""What is not looked into for arrays that a program holds."""


def settle_aliases(tracer: Any, names: Sequence[int], trips: Any) -> None:
    """Give the arrays that names held before the loop what writes in the loop left in them.

    A loop that swaps names (`u, v = v, u`) and writes to them writes by turns to the arrays that
    they held at first; which of the two a name holds at the end, the number of iterations says.
    """
    for cell in tracer.outdated:
        if cell in tracer.read:  # in the next iteration, after it became stale
            cell.refuse_stale()
    start, ended, now = (
        {k: x for k in names if (x := array_of(contents[k])) is not None} for contents in (
            [c.start for c in tracer.carried], tracer.ended,
            [c.place.get() for c in tracer.carried]))
    begun = {k: b for k in names if (b := tracer.begun[k]) is not None}
    written = {k for k, x in begun.items()
               if x.cell.value is not tracer.entered[k] or x.cell.touched}
    holder = {begun[k].cell: k for k in begun}
    source = {k: holder.get(x.cell) if not x.steps else None for k, x in ended.items()}
    steps = {j: [holder[c] for c in _behind(x) if c in holder] for j, x in ended.items()}
    for j in {j for k in written for j in _closure(k, steps) if j in start}:
        _outdate_choices(start[j].cell, tracer)
    rotating: set[int] = set()
    for k in names:
        cycle = [k]
        while (nxt := source.get(cycle[-1])) is not None and nxt != k and len(cycle) <= len(names):
            cycle.append(nxt)
        if source.get(cycle[-1]) != k or not set(cycle) <= set(start) or (
                len({start[j].cell for j in cycle}) < len(cycle)):
            continue
        rotating.add(k)
        if not written & set(cycle) or start[k].steps:
            continue
        if start[k].cell in tracer.read and _has_other_handles(start[k]):
            raise _rebound(getattr(tracer.carried[k].place, "name", "an array"))
        content: Any = None
        for turn, j in reversed(list(enumerate(_backwards(cycle, source)))):
            content = now[j] if content is None else np.where(
                trips % len(cycle) == turn, now[j], content)
        current().record(CellPlace(start[k].cell), start[k].cell.depth)
        start[k].cell.value = content.value
    carried = {c.place.key for c in tracer.carried}
    for k in names:
        name = getattr(tracer.carried[k].place, "name", "an array")
        came_from = _closure(k, steps)
        lasting = [] if k in rotating else [c for j in came_from for c in _lasting(ended, j)]
        twice = [x.cell for x in start.values()]
        shared = any(j in start and (twice.count(start[j].cell) > 1 or (
            (k not in rotating or start[j].steps) and _has_other_handles(start[j])))
            for j in came_from)
        shared = shared or any(_may_be_another(j, start) for j in came_from)
        shared = shared or any(c.is_in_use() for j in came_from if j in start
                               for c in _sources(start[j].cell))
        begins_written = k in start and any(CellPlace(cell).key in carried
                                            for cell in (start[k].cell, *_sources(start[k].cell)))
        if begins_written or (k in written and (lasting or shared)) or any(
                CellPlace(cell).key in carried for cell in lasting):
            raise _rebound(name)
        if k in written and k in start and k not in rotating and not start[k].steps:
            # the first iteration wrote to it: a loop around this one has to know
            start[k].cell.touch()
            current().record(CellPlace(start[k].cell), start[k].cell.depth)
            start[k].cell.value = now[k].cell.value
        if k not in now:
            continue
        may_hold = set().union(*(_closure(j, steps) for j in steps.get(k, ())))
        if k in start and k not in may_hold and (
                current().frames or _held_by_others(start[k])) and not _surely_runs(tracer):
            may_hold.add(k)
        begins = [start[j] for j in may_hold if j in start]
        twins = [] if k in rotating or k not in ended else [
            now[j].cell for j in now if j != k and j in ended
            and not {*_behind(ended[j])}.isdisjoint(_behind(ended[k]))]
        now[k].cell.stands_for([*lasting, *twins, *(c for x in begins for c in _held_by_others(x))])
        if current().frames:
            now[k].cell.origins.update(x.cell for x in begins)
            now[k].cell.may_begin_as(*(x.cell for x in begins))

    _link_what_began_as_one({k: _closure(k, steps) for k in now}, start, now)


def _outdate_choices(cell: Cell, tracer: Any) -> None:
    """Note a write to what a name held before the loop, and with it to what may stand for that."""
    choices = [choice for ref in cell.choices if (choice := ref()) is not None]
    cell.outdate_choices()
    for choice in choices:
        if choice in tracer.read:
            choice.refuse_stale()


def _link_what_began_as_one(came_from: dict[int, set[int]], start: dict[int, Tracer],
                            now: dict[int, Tracer]) -> None:
    """Note which names may hold one array after the loop because two names held it before."""
    pairs = [(p, q) for p, q in itertools.combinations(start, 2) if start[p].cell is start[q].cell]
    for p, q in pairs:
        for k, j in itertools.permutations(now, 2):
            if p in came_from[k] and q in came_from[j] and now[k].cell is not now[j].cell:
                now[k].cell.may_be(now[j].cell)


def _rebound(name: str) -> Refusal:
    return refuse(f"{name!r} is bound to one array after another in this loop, which writes to it, "
                  "while another name for the array is in use",
                  f"Copy it where it is bound: {name} = {name}.copy()")


def _surely_runs(tracer: Any) -> bool:
    """Whether a counted loop runs at least once in this call, which then is a guard."""
    return tracer.condition is None and current().decide(
        tracer.lo - tracer.hi, "<", "whether a loop runs decides which array a name holds") is True


def array_of(content: Any) -> Tracer | None:
    """Return the array that a name holds, also one that may be unset; None if it holds another."""
    content = content.content if isinstance(content, MaybeUnset) else content
    return content if isinstance(content, Tracer) and content.dims else None


def _lasting(ended: dict[int, Tracer], k: int) -> list[Cell]:
    """Return the cells behind what a name ends an iteration with that others hold in the next."""
    if k not in ended:
        return []
    depth, others = current().depth, {x.cell for j, x in ended.items() if j != k}
    return [c for c in _behind(ended[k]) if c.depth <= depth or c in others]


def _behind(x: Tracer) -> list[Cell]:
    return [x.cell, *x.cell.origins, *_sources(x.cell)]


def _may_be_another(k: int, start: dict[int, Tracer]) -> bool:
    """Whether the array that a name begins with may be the one that another name begins with."""
    if k not in start:
        return False
    cell = start[k].cell
    return any(j != k and x.cell is not cell and x.cell.may_be_one_with(cell)
               for j, x in start.items())


def _sources(cell: Cell) -> list[Cell]:
    return [c for ref in cell.sources if (c := ref()) is not None]


def _held_by_others(x: Tracer) -> list[Cell]:
    """Return the cells that a handle may be on and that others may have handles on."""
    return [*([x.cell] if _has_other_handles(x) else []), *_sources(x.cell)]


def _closure(k: int, steps: dict[int, list[int]]) -> set[int]:
    found, pending = set(), [k]
    while pending:
        j = pending.pop()
        if j not in found:
            found.add(j)
            pending += steps.get(j, ())
    return found


def _has_other_handles(x: Tracer) -> bool:
    """Whether the array of a handle has another handle, or the handle is held by the program."""
    if x.cell.is_in_use(besides=x):
        return True
    return any(v is x for v in _reachable())


def _reachable() -> Iterator[Any]:
    """Yield what the names of the captured functions that are running hold, in any depth."""
    pending: list[Any] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if rewritten_source(frame.f_code) is not None:
            names = frame.f_locals
            pending += names.values()
            if isinstance(names, dict):  # before Python 3.13 a copy that stays with the frame
                names.clear()
        frame = frame.f_back
    seen: set[int] = set()
    while pending:
        v = pending.pop()
        yield v
        if id(v) in seen or not gc.is_tracked(v) or isinstance(v, _OPAQUE) or (
                type(v).__module__.startswith("tracejit.")):
            continue
        seen.add(id(v))
        pending += ([*(v.__closure__ or ()), v.__defaults__, v.__kwdefaults__]
                    if isinstance(v, FunctionType) else gc.get_referents(v))


def _backwards(cycle: list[int], source: dict[int, int | None]) -> list[int]:
    """Return which name holds the first's array after 0, 1, 2 ... iterations."""
    holder = {source[k]: k for k in cycle}
    names = [cycle[0]]
    for _ in cycle[1:]:
        names.append(holder[names[-1]])
    return names
