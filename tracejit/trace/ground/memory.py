"""The memory of a capture's inputs: the facts about it that the program needs, and the refusals.

The only place where a capture asks how arguments and captured arrays lie, whether they share memory
and which are one object. An answer is noted as a `Fact` where the program depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from tracejit.errors import Restart
from tracejit.ir.core import Literal, Site, Value
from tracejit.ir.optable import find_op
from tracejit.trace.ground.context import Cell, current, refuse, refuse_at
from tracejit.trace.ground.copies import Source, shared
from tracejit.trace.ground.facts import Arrangement, Fact, arrangement_of
from tracejit.trace.ground.layouts import rule_of
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import above

_READ_ONLY = "assignment destination is read-only"
"""NumPy's message for a write to a read-only array."""

__all__ = ["Memory", "NeedOneArray"]


class NeedOneArray(Restart):
    """Two arguments are one array, which is written to: they are to share a cell."""

    first: int
    other: int

    def __init__(self, first: int, other: int) -> None:
        super().__init__()
        self.first, self.other = first, other


@dataclass(eq=False, slots=True)
class _Input:
    """An array among the graph's inputs, and the cell that stands for it.

    number  -- among the inputs
    content -- the array; None where the capture is made for a spec
    name    -- how messages call it
    """

    number: int
    content: Any
    name: str
    cell: Cell
    is_argument: bool


@above
class Memory:
    """The facts about its inputs' memory that a capture has asked for."""

    def __init__(self, united: dict[int, int], writes_back: bool = False) -> None:
        self.inputs: dict[int, _Input] = {}
        self.writes_back = writes_back
        """Whether the caller sees the function's writes to its arguments."""
        self.united = united
        """The arguments that are one array with an earlier one, by their numbers."""
        self.facts: dict[Fact, str] = {}
        """The facts that calls have to share, each with its line for `.why()`, "" for no line."""
        self.handles: dict[int, tuple[ref[Any], int]] = {}
        """By the id of an input's tracer: the tracer, and the number of the input."""
        self.cells: WeakKeyDictionary[Cell, int] = WeakKeyDictionary()
        """The number of the input whose elements a cell began with."""
        self.values: dict[Value, Any] = {}
        """The layouts of arrays that regions take as inputs."""
        self.memories: defaultdict[Value, set[Value]] = defaultdict(set)
        """By the elements after a write, or of a copy: those before, which chose the byte order."""
        self.writes: WeakKeyDictionary[Cell, Site | None] = WeakKeyDictionary()
        """Where a cell was first written to."""
        self.has_writes = False
        """Whether any cell was, one that is gone included."""
        self.sources: WeakKeyDictionary[Cell, Source] = WeakKeyDictionary()
        """The original of each copy that a transform hands on, by the copy's cell."""
        self.seen: dict[tuple[int, int], Site | None] = {}
        """Pairs of inputs: a copy of one was written to, where the other could be seen."""

    def enter(self, number: int, content: object, name: str, tracer: Any,
              is_argument: bool) -> None:
        """Note the tracer that stands for an array among the inputs."""
        self.inputs[number] = _Input(number, content, name, tracer.cell, is_argument)
        self.handles[id(tracer)] = ref(tracer), number
        self.cells.setdefault(tracer.cell, number)

    def is_of_caller(self, cell: Cell) -> bool:
        """Return whether the caller sees the final content of a cell, as an argument's."""
        return self.writes_back and any(x.is_argument and x.cell is cell
                                        for x in self.inputs.values())

    # --- layout ---------------------------------------------------------------------------------

    def arrangement(self, number: int) -> Arrangement:
        """Return how an input lies in memory; whoever depends on it calls `rest_on_layouts`."""
        return arrangement_of(self.inputs[number].content)

    def rest_on_layouts(self, numbers: Iterable[int]) -> None:
        """Note that the program holds for inputs that lie as these do."""
        for k in numbers:
            x = self.inputs[k]
            fact = Fact("arrangement", (k,), self.arrangement(k))
            kind = "in C order" if fact.truth is None else "in another order than C's, or with gaps"
            self.facts[fact] = (f"{x.name} lies {kind}, which decides whether an array is reshaped "
                                "as a view or as a copy")

    # --- kinds of arrays --------------------------------------------------------------------

    def require_plain(self, fact: str = "plain") -> None:
        """Refuse to tell the class of an array where an input is one of a subclass."""
        for k, x in self.inputs.items():
            self._note(fact, (k,))
            if not self._ask(fact, k):
                raise refuse(f"the class of an array is asked for, and {x.name}, a "
                             f"{type(x.content).__name__}, is captured as an array",
                             "Pass np.asarray(x), and the class or a flag beside it", "TJ310")

    def dtype_of_input(self, number: int, dtype: np.dtype) -> np.dtype:
        """Return the dtype of an input as users see it, in its own byte order."""
        self._note("native", (number,))
        return dtype if self._ask("native", number) else self.inputs[number].content.dtype

    # --- writes ---------------------------------------------------------------------------------

    def begin_as(self, tracer: Any, origin: Any, value: Value | None = None) -> None:
        """Note that a function gets a copy of an array in place of the array itself.

        The function is differentiated, or called for an element, inside another one.

        value -- the input of a region that it begins with
        """
        cell = tracer.cell
        cell.is_array = origin.is_array
        cell.layout = rule_of(origin)
        if value is not None:
            self.values[value] = cell.layout
        number = self._object(origin)
        if number is None and not origin.cell.sources:  # an object that others may get, too
            number = -1 - len(self.handles)
            self.handles[id(origin)] = ref(origin), number
        if number is not None:  # else data decides which it is
            self.handles[id(tracer)] = ref(tracer), number
        if origin.cell in self.cells:
            self.cells[cell] = self.cells[origin.cell]

    def note_write(self, cell: Cell) -> None:
        """Note a write; raise NumPy's error where the array cannot be written to."""
        self._note_site(cell, find_site())
        number = self.cells.get(cell)
        if number is not None and self.inputs[number].is_argument and (
                not self._ask("writeable", number)):
            self._note("writeable", (number,), f"{self.inputs[number].name} is read-only")
            if not current().frames:
                raise ValueError(_READ_ONLY)
            current().builder.emit(find_op("check"), [Literal(False, np.dtype(np.bool_))], {
                "error": "ValueError", "message": _READ_ONLY})  # the run tells if it gets here

    def may_be_written(self, *cells: Cell) -> bool:
        """Return whether some cells were written to, or, made in a region, may have been."""
        return any(c in self.writes for c in cells) or (
            self.has_writes and any(c.depth for c in cells))

    def hand_on_write(self, cell: Cell, to: Cell) -> None:
        """Note that another cell gets the writes to one, at the line of the write."""
        if cell in self.writes:
            self._note_site(to, self.writes[cell])

    def _note_site(self, cell: Cell, site: Site | None) -> None:
        self.has_writes = True
        for x in (cell, *cell.behind()):
            self.writes.setdefault(x, site)

    def note_seen(self, written: Cell, others: Iterable[Cell], read: Iterable[Cell]) -> None:
        """Note that a function wrote to a copy, and has others and reads cells from around."""
        number = self.cells.get(written)
        if number is None:
            return
        for cell in (*others, *read):
            other = self.cells.get(cell)
            if other is not None:
                self.seen.setdefault((number, other), self.writes.get(written))

    def refuse_read_only(self, cell: Cell, name: str) -> None:
        """Refuse a loop that writes by a name to an array which may be a read-only argument."""
        number = self.cells.get(cell)
        if number is None or not self.inputs[number].is_argument:
            return
        self._note("writeable", (number,))
        if not self._ask("writeable", number):
            raise refuse(f"{name!r} may be {self.inputs[number].name} in this loop, which writes "
                         "to it, and that is read-only", "Pass a copy of it: x.copy()", "TJ403")

    def refuse_lost_writes(self, tracers: Iterable[Any], what: str) -> None:
        """Refuse a function that writes to its arguments, where only its result counts."""
        self.refuse_changes({x.cell: x.cell.first for x in tracers}, what)

    def refuse_changes(self, before: Mapping[Cell, Value], what: str) -> None:
        """Refuse a function that wrote to one of some cells, which held values before."""
        for cell, value in before.items():
            if cell.holds_other_than(value):
                raise refuse_at(self.writes.get(cell), f"a function under {what} writes to an "
                                "argument, and only what it returns counts",
                                "Let it work on a copy: x = x.copy()", "TJ510")

    def _ask(self, kind: str, *numbers: int) -> Any:
        """Return the value of a fact in this call; for specs, its value for most arrays."""
        contents = [self.inputs[k].content for k in numbers]
        if any(x is None for x in contents):
            return kind in ("writeable", "plain", "unadorned", "native")
        return Fact.of(kind, numbers, contents).truth

    def _note(self, kind: str, numbers: tuple[int, ...], why: str = "") -> None:
        self.facts.setdefault(Fact(kind, numbers, self._ask(kind, *numbers)), why)

    def settle_writes(self, read: Container[int]) -> None:
        """Note the facts about inputs that were written to; refuse where they are not known.

        read -- the inputs that equations read, or that derivatives may be taken by

        Raises `NeedOneArray` where two arguments are one array.
        """
        for number, x in list(self.inputs.items()):
            if not x.is_argument:  # a variable, which shares memory with nothing
                continue
            if number not in self.united and x.cell.is_changed:
                self._settle(x, read, self.writes.get(x.cell))
        for (number, k), site in self.seen.items():
            if self.inputs[number].is_argument and self._can_be_written(number, site):
                self._settle_pair(number, k, site)
        for k, j in self.united.items():
            where = _where(self.writes.get(self.inputs[j].cell))
            self._note("one", (j, k), f"{where}{self.inputs[j].name} and {self.inputs[k].name} are "
                       "one array, which is written to")

    def _settle(self, written: _Input, read: Container[int], site: Site | None) -> None:
        if self._can_be_written(written.number, site):
            for k in self.inputs:
                if k in read:
                    self._settle_pair(written.number, k, site)

    def _can_be_written(self, number: int, site: Site | None) -> bool:
        """Note whether an input can be written to; refuse one with two elements at one place."""
        self._note("writeable", (number,))
        if not self._ask("writeable", number):
            return False
        if self._ask("sparse", number):
            raise refuse_at(site, f"{self.inputs[number].name}, which is written to, has several "
                            "elements at one place in memory", "Pass a copy: x.copy()", "TJ403")
        self._note("sparse", (number,))
        return True

    def _settle_pair(self, number: int, k: int, site: Site | None) -> None:
        """Note that a written input shares no memory with another, or refuse it."""
        if k == number or self._stand_for_one(k, number):
            return
        written, x = self.inputs[number], self.inputs[k]
        if not self._ask("overlap", number, k):
            why = f"is written to, and taken to share no memory with {x.name}"
            self._note("overlap", (number, k), f"{_where(site)}{written.name} {why}")
        elif x.is_argument and self._ask("one", number, k):
            raise NeedOneArray(*sorted((number, k)))
        else:
            raise shared(site, written.name, x.name)

    def _stand_for_one(self, k: int, j: int) -> bool:
        return self.united.get(k, k) == self.united.get(j, j)

    # --- identity -------------------------------------------------------------------------------

    def _object(self, x: object) -> int | None:
        """Return the number of the input that a handle stands for, as an object; None if none."""
        known, number = self.handles.get(id(x), (None, None))
        return number if known is not None and known() is x else None

    def are_one_object(self, a: object, b: object) -> bool | None:
        """Return whether two handles are one Python object; None where they are no inputs."""
        k, j = self._object(a), self._object(b)
        if k is None or j is None:
            return None
        if k == j:
            return True
        if min(k, j) < 0:
            return False
        self._note("identical", (min(k, j), max(k, j)),
                   f"whether {self.inputs[k].name} is {self.inputs[j].name} decides")
        return bool(self._ask("identical", k, j))


def _where(site: Site | None) -> str:
    return "" if site is None else f"{describe_line(site)}: "

