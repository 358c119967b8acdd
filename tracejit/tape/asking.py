"""What is asked of a tape: recording, targets and sources, as a key and as values for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tracejit.tape.notes import Record
from tracejit.tape.values import TapeValue

__all__ = ["BackwardRequest", "make_request"]


@dataclass(slots=True)
class BackwardRequest:
    """A recording as slots: numbers for values, in the order in which they are met.

    calls   -- per relevant record: the slots of its operands, those of its results
    targets -- the slots of the targets; `given` says whether each has a cotangent of its own
    sources -- the slots of the sources; -1 for one that the target cannot depend on
    leaves  -- the slots that no call fills: (slot, dtype or Python type, shape)
    held    -- the slots whose values the tape kept, with these
    numbers -- the slots of Python numbers, with these
    names, literals -- for the eye: what inputs are called, and numbers that are no inputs
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
        """Return what two recordings share whose way back is one program."""
        return (tuple([r[0].identity for r in self.records]), tuple(self.calls), self.targets,
                self.given, self.sources)


def make_request(records: Sequence[Record], saved: Sequence[Sequence[object]],
                 targets: Sequence[TapeValue], given: Sequence[bool], sources: Sequence[int],
                 names: dict[int, str] | None = None) -> BackwardRequest:
    """Return the request for the cotangents of `sources`, which are named by their uids."""
    needed = {y.uid for y in targets}
    relevant = []
    for k in range(len(records) - 1, -1, -1):
        _, inputs, outputs, _, _ = records[k]
        if any(u in needed for u in outputs):
            relevant.append(k)
            needed.update(u for u in inputs if u)
    relevant.reverse()
    slots: dict[int, int] = {}
    count = 0
    request = BackwardRequest([records[k] for k in relevant], [], (), tuple(given), (), [], {})
    if names is not None:  # for the eye: sources come first, as arguments do
        made = {u for k in relevant for u in records[k][2]}
        for u in sources:
            if u in needed and u not in made and u not in slots:
                slots[u] = count
                count += 1
    leading = set(slots)
    for k in relevant:
        plan, inputs, outputs, _, numbers = records[k]
        rest = iter(numbers)
        ins = []
        for j, u in enumerate(inputs):
            if u and u in slots and u not in leading:
                ins.append(slots[u])
                continue
            slot = slots[u] if u in leading else count
            if u in leading:
                leading.discard(u)
            else:
                count += 1
                if u:
                    slots[u] = slot
            ins.append(slot)
            number = next(rest) if isinstance(plan.types[j][0], type) else None
            if number is not None and names is not None:
                request.literals[slot] = number
                continue
            request.leaves.append((slot, *plan.types[j]))
            if number is not None:
                request.numbers[slot] = number
        outs = []
        for u in outputs:
            slots[u] = count
            outs.append(count)
            count += 1
        request.calls.append((tuple(ins), tuple(outs)))
        if saved:
            places = (*ins, *outs)
            request.held.update((places[j], x)
                                for j, x in zip(plan.reads, saved[k], strict=True))
    for y in targets:  # one that no call made can be a source itself
        if y.uid not in slots:
            slots[y.uid] = count
            request.leaves.append((count, y.dtype, y.shape))
            count += 1
    request.leaves.sort(key=lambda leaf: leaf[0])
    request.targets = tuple(slots[y.uid] for y in targets)
    request.sources = tuple(slots.get(u, -1) for u in sources)
    request.names = {slots[u]: name for u, name in (names or {}).items() if u in slots}
    return request
