"""Questions to a tape: recording, targets and sources, as a key and as values for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracejit.tape.notes import Record
from tracejit.tape.values import TapeValue

__all__ = ["BackwardRequest", "make_request"]


@dataclass(slots=True)
class BackwardRequest:
    """A recording as slots: numbers for values, in the order in which they are met.

    calls   -- per relevant record: the slots of its operands, the slots of its results
    targets -- the slots of the targets; `given` says whether each has a cotangent of its own
    sources -- the slots of the sources; -1 for one that the target cannot depend on
    leaves  -- the slots that no call fills: (slot, dtype or Python type, shape)
    held    -- the slots whose values the tape kept, with these
    numbers -- the slots of Python numbers, with these
    names, literals -- for printing: names of inputs, and numbers that are no inputs
    """

    records: list[Record]
    calls: list[tuple[tuple[int, ...], tuple[int, ...]]]
    targets: tuple[int, ...]
    given: tuple[bool, ...]
    sources: tuple[int, ...]
    leaves: list[tuple[int, Any, tuple[int, ...]]]
    held: dict[int, Any]
    numbers: dict[int, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    literals: dict[int, Any] = field(default_factory=dict)

    @property
    def key(self) -> Any:
        """Return the key that two recordings share if their way back is one program."""
        return (tuple([r[0].identity for r in self.records]), tuple(self.calls), self.targets,
                self.given, self.sources)


def make_request(records: Sequence[Record], saved: Sequence[Sequence[object]],
                 targets: Sequence[TapeValue], given: Sequence[bool], sources: Sequence[int],
                 names: dict[int, str] | None = None) -> BackwardRequest:
    """Return the request for the cotangents of `sources`, which are named by their uids."""
    relevant, needed = _relevant(records, targets)
    request = BackwardRequest([records[k] for k in relevant], [], (), tuple(given), (), [], {})
    numbering = _Numbering(request, is_for_the_eye=names is not None)
    if names is not None:  # sources come first, as arguments do
        made = {u for k in relevant for u in records[k][2]}
        numbering.lead(u for u in sources if u in needed and u not in made)
    for k in relevant:
        ins, outs = numbering.call(records[k])
        request.calls.append((ins, outs))
        if saved:
            places = (*ins, *outs)
            request.held.update((places[j], x)
                                for j, x in zip(records[k][0].reads, saved[k], strict=True))
    slots = numbering.slots
    for y in targets:  # one that no call made can be a source itself
        if y.uid not in slots:
            slots[y.uid] = numbering.next()
            request.leaves.append((slots[y.uid], y.dtype, y.shape))
    request.leaves.sort(key=lambda leaf: leaf[0])
    request.targets = tuple(slots[y.uid] for y in targets)
    request.sources = tuple(slots.get(u, -1) for u in sources)
    request.names = {slots[u]: name for u, name in (names or {}).items() if u in slots}
    return request


def _relevant(records: Sequence[Record],
              targets: Sequence[TapeValue]) -> tuple[list[int], set[int]]:
    """Return the places of the calls that lead to targets, and the uids of values on the way."""
    needed = {y.uid for y in targets}
    relevant = []
    for k in range(len(records) - 1, -1, -1):
        _, inputs, outputs, _, _ = records[k]
        if any(u in needed for u in outputs):
            relevant.append(k)
            needed.update(u for u in inputs if u)
    return relevant[::-1], needed


class _Numbering:
    """Gives slots to the values of calls, and notes which of them are leaves.

    slots   -- by the uids of values
    leading -- the uids that have a slot and are no leaf yet
    """

    def __init__(self, request: BackwardRequest, *, is_for_the_eye: bool) -> None:
        self.request, self.is_for_the_eye = request, is_for_the_eye
        self.slots: dict[int, int] = {}
        self.leading: set[int] = set()
        self.count = 0

    def next(self) -> int:
        """Return a new slot."""
        self.count += 1
        return self.count - 1

    def lead(self, uids: Iterable[int]) -> None:
        """Give the first slots to some values."""
        for u in uids:
            if u not in self.slots:
                self.slots[u] = self.next()
        self.leading = set(self.slots)

    def call(self, record: Record) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the slots of a call's operands and results."""
        plan, inputs, outputs, _, numbers = record
        rest = iter(numbers)
        ins = []
        for u, (kind, shape) in zip(inputs, plan.types, strict=False):
            if u in self.slots and u not in self.leading:
                ins.append(self.slots[u])
            else:
                number = next(rest) if isinstance(kind, type) else None
                ins.append(self._leaf(u, kind, shape, number))
        outs = []
        for u in outputs:
            self.slots[u] = self.next()
            outs.append(self.slots[u])
        return tuple(ins), tuple(outs)

    def _leaf(self, u: int, kind: object, shape: tuple[int, ...], number: object) -> int:
        if u in self.leading:
            self.leading.discard(u)
            slot = self.slots[u]
        else:
            slot = self.next()
            if u:
                self.slots[u] = slot
        if number is not None and self.is_for_the_eye:
            self.request.literals[slot] = number
            return slot
        self.request.leaves.append((slot, kind, shape))
        if number is not None:
            self.request.numbers[slot] = number
        return slot
