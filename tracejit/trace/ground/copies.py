"""The arrays that a transform within a capture hands on as copies: which of them are one array.

A function under `grad`, `jvp` or `vmap` gets copies of its arguments, so that it can write to them.
Arguments that are one array are one copy where the function writes to it, and a copy each where it
does not: then a derivative by one argument is by that alone. A capture begins with a copy each, and
begins again where a copy is written to that is to be one with another (`NeedOneCopy`). The two may
have become separate in a call further out, since copies are copied again by transforms within.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.core import Site, Value
from tracejit.trace.ground.context import Cell, current, refuse_at
from tracejit.trace.ground.restarts import NeedOneCopy

__all__ = ["Handed", "Source", "shared"]


@dataclass(frozen=True, slots=True)
class Source:
    """The array that a copy is a copy of.

    origin -- the handle on the array
    call   -- which call of a transform made the copy
    name   -- how messages name the argument
    """

    origin: Any
    call: Hashable
    name: str


class Handed:
    """The arguments of one call of a transform within a capture.

    call   -- which call it is, the same in every attempt of a capture
    leaves -- its arguments
    names  -- how messages name them
    chosen -- the leaves that are preferred to stand for others that are one array with them
    axes   -- the axis along which each is mapped over
    """

    def __init__(self, call: Hashable, leaves: Sequence[Any], names: Sequence[str],
                 chosen: Sequence[int] = (), axes: Sequence[int | None] | None = None) -> None:
        self.call, self.leaves, self.names, self.axes = call, leaves, names, axes
        self.copies: dict[int, Any] = {}
        """The handle that the function gets in place of an array, by the number of the leaf."""
        self.heads: dict[int, int] = {}
        """The leaves for which the copy of another stands, with the other's number."""
        one = current().one_copies
        arrays = [*chosen, *(k for k in range(len(leaves)) if k not in set(chosen))]
        for place, k in enumerate(arrays):
            for j in arrays[:place]:
                if j not in self.heads and self._pair(j, k) in one and self._are_one(j, k):
                    self.heads[k] = j
                    break

    def copy(self, k: int, make: Callable[[], Any], value: Value | None = None) -> Any:
        """Return the stand-in of a leaf: another leaf's copy, or one made now.

        value -- the input of a region that the copy begins with
        """
        origin = self.leaves[k]
        if not _is_array(origin):
            return make()
        j = self.heads.get(k)
        if j is None:
            found = make()
            if not _is_array(found):  # a number out of an array, which nothing writes to
                return found
        elif self.leaves[j] is origin:
            found = self.copies[j]
        else:
            found = type(origin)(self.copies[j].cell)
        self.copies[k] = found
        if j is None or found is not self.copies[j]:
            memory = current().memory
            memory.begin_as(found, origin, value)
            memory.sources.setdefault(found.cell, Source(origin, self.call, self.names[k]))
        return found

    def settle(self, read: Container[Cell] = (), chosen: Container[int] = ()) -> None:
        """Settle the writes to copies: no other copy or read cell may be the array that was copied.

        read   -- the cells from around that the function read
        chosen -- the leaves whose copies another call of this key settles with one another

        Raises `NeedOneCopy` where two are one array, `Refusal` where they share a part of one.
        """
        memory = current().memory
        for k, copy in self.copies.items():
            if not copy.cell.is_changed:
                continue
            site = memory.writes.get(copy.cell)
            mine = list(self._sources(k))
            for j, other in self.copies.items():
                if other.cell is not copy.cell and not (k in chosen and j in chosen):
                    self._settle_pair(site, mine, list(self._sources(j)))
            memory.note_seen(copy.cell, [x.cell for x in self.copies.values()], read)
            if any(s.origin.cell in read for s in mine):
                raise shared(site, self.names[k], "an array that the function reads from outside")

    def _settle_pair(self, site: Site | None, mine: Sequence[Source],
                     theirs: Sequence[Source]) -> None:
        for a in mine:
            for b in theirs:
                if not a.origin.cell.may_be_one_with(b.origin.cell):
                    continue
                pair = (a.call, frozenset((a.name, b.name)))
                if a.call == b.call and pair not in current().one_copies and (
                        current().restarts and _one_handle(a.origin, b.origin)):
                    raise NeedOneCopy(pair)
                raise shared(site, mine[0].name, theirs[0].name)

    def _sources(self, k: int) -> Iterator[Source]:
        """Yield the array of which a leaf is a copy, the one of which that is a copy, and so on."""
        source: Source | None = Source(self.leaves[k], self.call, self.names[k])
        while source is not None:
            yield source
            source = current().memory.sources.get(source.origin.cell)

    def _pair(self, j: int, k: int) -> tuple[Hashable, frozenset[str]]:
        return self.call, frozenset((self.names[j], self.names[k]))

    def _are_one(self, j: int, k: int) -> bool:
        a, b = self.leaves[j], self.leaves[k]
        return (_is_array(a) and _is_array(b) and _one_handle(a, b)
                and (self.axes is None or self.axes[j] == self.axes[k]))


def _is_array(x: object) -> bool:
    return bool(getattr(x, "is_array", False))


def _one_handle(a: Any, b: Any) -> bool:
    """Return whether two handles show the same elements of one array."""
    return a.cell is b.cell and a.steps == b.steps


def shared(site: Site | None, written: str, other: str) -> Refusal:
    """Return the refusal of a write that another name would see in a part."""
    return refuse_at(site, f"{written}, which is written to, shares memory with {other}",
                     "Pass a copy: x.copy()", "TJ403")
