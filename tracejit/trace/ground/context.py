"""The state of one capture: the builder, the open regions, assumptions and notes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tracejit.errors import Refusal, UncapturedError
from tracejit.ir.builder import Builder
from tracejit.ir.core import Site, Value
from tracejit.ir.dims import Dim, Expr, bare_value, dim_values, evaluate, substitute
from tracejit.ir.notes import Noted
from tracejit.trace.ground.active import CAPTURES, is_tracing
from tracejit.trace.ground.attributes import names_in, put_in_order
from tracejit.trace.ground.pool_facts import PoolFacts
from tracejit.trace.ground.public_names import called, public_name
from tracejit.trace.ground.reasons import WhyNot, reason_named, reason_of
from tracejit.trace.ground.source import (
    describe_line,
    find_site,
    is_of_library,
    runs_library_code,
)
from tracejit.trace.ground.upward import ABOVE

__all__ = ["CAPTURES", "Cell", "Frame", "Place", "SizeGuard", "Trace", "active", "bare_size",
           "current", "is_tracing", "refuse", "refuse_at", "refuse_outside",
           "require_no_reason"]


class Cell:
    """The storage that an array's handles share. Writing replaces its value."""

    decided_by: str
    depth: int
    first: Value
    handed_on: bool
    is_array: bool
    touched: bool
    value: Value

    __slots__ = ("__weakref__", "choices", "constant", "decided_by", "depth", "first", "handed_on",
                 "handles", "is_array", "layout", "origins", "rows_of", "sources", "stale",
                 "touched", "unless", "value", "viewed_by")

    def __init__(self, value: Value, depth: int = 0) -> None:
        self.value = self.first = value
        self.depth = depth
        self.handed_on = False
        """Whether a loop or branch made it to stand for an array that has another cell."""
        self.is_array = not value.is_log and bool(value.aval.shape)
        """Whether it is a NumPy array, possibly without axes, and not a scalar."""
        self.layout: Any = None
        """The rule by which NumPy's array lies in memory; None if its first value tells."""
        self.handles: list[weakref.ref[Any]] = []
        self.sources: tuple[Any, ...] = ()
        """Weak references to the cells of which data decides that this one stands for them."""
        self.decided_by = "data"
        """Which it is, as messages say."""
        self.choices: list[Any] = []
        """Weak references to the cells for which this one may be the source."""
        self.unless: tuple[Cell, Callable[[], bool]] | None = None
        """A source, and a test before a write of whether it is none after all."""
        self.origins: weakref.WeakSet[Cell] = weakref.WeakSet()
        """The cells with which iterations of loops around began, if this one may be one of them."""
        self.touched = False
        """Whether a cell of which this one is an origin was written to."""
        self.rows_of: Any = None
        """The place in the code of the list whose items, arrays, this cell stores."""
        self.viewed_by: Any = None
        """The place in the code of a list whose items are views of this cell."""
        self.constant: str | None = None
        """Why writing to this cell is refused."""
        self.stale: str | None = None
        """Where a source was written to, after which reading this cell is refused."""

    @property
    def is_changed(self) -> bool:
        """Return whether it holds another value than at first."""
        return self.holds_other_than(self.first)

    def holds_other_than(self, value: Value) -> bool:
        """Return whether it holds another value, names of values left aside."""
        without_name = current().without_name
        return without_name(self.value) is not without_name(value)

    def is_in_use(self, besides: object = None) -> bool:
        """Return whether there is a handle on this cell, besides one."""
        return any((h := ref()) is not None and h is not besides for ref in self.handles)

    def may_be_in_use(self) -> bool:
        """Return whether data decides that this cell is one that something else holds."""
        used = [c for ref in self.sources if (c := ref()) is not None and (
            c.is_in_use() or c.constant is not None)]
        if self.unless is None or used != [self.unless[0]] or not self.unless[1]():
            return bool(used)
        self.sources = tuple(ref for ref in self.sources if ref() is not used[0])
        self.unless = None
        return False

    def stands_for(self, cells: Iterable[Cell], apart: Iterable[Cell] = ()) -> None:
        """Note that data decides which of some cells this one is.

        A cell that may also be one of them may be this one, unless it is in `apart`.
        """
        found = {c for cell in cells for c in (cell, *(ref() for ref in cell.sources)) if c}
        found.discard(self)
        twins = {c for cell in found for ref in cell.choices if (c := ref()) is not None}
        self.sources = tuple(map(weakref.ref, found))
        self.may_begin_as(*found)
        for c in twins - {self, *apart}:
            self.may_be(c)
        for c in found:
            c.choices.append(weakref.ref(self))

    def may_begin_as(self, *cells: Cell) -> None:
        """Note that this cell may be one of some others' aliases: a write to it touches these."""
        for cell in cells:
            self.origins |= cell.origins
        self.origins.discard(self)

    def behind(self) -> Iterator[Cell]:
        """Yield the cells that this one may be: of loops around, or as data decides."""
        yield from self.origins
        yield from (c for ref in self.sources if (c := ref()) is not None)

    def touch(self) -> None:
        """Note a write for the loops around, which began with cells that this one may be."""
        for origin in self.behind():
            origin.touched = True

    def may_be_one_with(self, other: Cell) -> bool:
        """Return whether two cells are one, or data may decide that they are."""
        mine, theirs = ({c, *(ref() for ref in c.sources)} - {None} for c in (self, other))
        return not mine.isdisjoint(theirs)

    def may_be(self, other: Cell) -> None:
        """Note that two cells may be one."""
        self.sources += (weakref.ref(other),)
        other.sources += (weakref.ref(self),)

    def outdate_choices(self) -> None:
        """Note a write to this cell, and with it to the cells that it may be."""
        self.touch()
        for ref in self.choices:
            choice = ref()
            if choice is not None:
                choice.stale = describe_line(find_site())
                for frame in current().frames:
                    frame.outdated.append(choice)

    def note_read(self) -> None:
        """Note a read of this cell; refuse it after a write to a cell that it may be."""
        frames = current().frames
        if frames:
            frames[-1].read.add(self)
        self.refuse_stale()

    def refuse_stale(self) -> None:
        """Refuse to read this cell after a write to a cell that it may be."""
        if self.stale is not None:
            raise refuse(f"reading an array of which {self.decided_by} decides which array it is, "
                         f"after one that it may be was written to at {self.stale}",
                         "Copy it where it is bound: u = x.copy()", "TJ404")


class Place(Protocol):
    """A place that a region may change: a name, a cell, an item of a container."""

    @property
    def key(self) -> object:
        """Return the key that two places share if they are the same."""

    @property
    def depth(self) -> int | None:
        """Return in how many regions it was made; None for a name, which static analysis tracks."""

    def get(self) -> Any:
        """Return the present content."""

    def set(self, content: Any) -> None:
        """Replace the content."""


@dataclass(slots=True)
class Frame:
    """A region being traced, with its changes to places outside of it."""

    kind: str
    depth: int
    written: dict[object, tuple[Place, Any]] = field(default_factory=dict)
    """Each changed place with its content before the region."""
    created: dict[int, Any] = field(default_factory=dict)
    """Containers made inside the region, which it may change at will."""
    stand_ins: list[Any] = field(default_factory=list)
    """The lists and dicts that stand for the containers with which an iteration begins."""
    taken_in: list[tuple[list[Any], list[Any], list[Any]]] = field(default_factory=list)
    """Lists that a branch puts into lists; their items in the other branch, and after both."""
    contents: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """In a trial run: containers that it changed, with copies to put back."""
    read: set[Cell] = field(default_factory=set)
    """The cells that were read in it: equations do not say, as one may stand for several reads."""
    orders: dict[int, tuple[Any, list[Any]]] = field(default_factory=dict)
    """The dicts and objects that lost a key or attribute in it, with their order before."""
    outdated: list[Cell] = field(default_factory=list)
    """The cells that became stale in it."""
    counted: bool = True
    """Whether it is no `while`, if it is a loop."""
    changed: set[int] = field(default_factory=set)
    """The lists, by their ids, that got other items in it, by more than a write to one array."""
    is_long: bool = False
    """Whether it is a loop of more iterations than a few, or of a number that is not known."""
    grows: bool = False
    """Whether it is a loop that may carry the storage of a list that gets longer in it."""
    growing: set[int] = field(default_factory=set)
    """The lists of which it carries the storage, as they get longer by as much each time."""
    wrote: set[tuple[int, np.dtype]] = field(default_factory=set)
    """Ranks and dtypes of arrays that the program writes to in it."""
    rewritten: set[tuple[int, np.dtype]] = field(default_factory=set)
    """Ranks and dtypes of arrays that are written to in it and may be arrays of other cells."""
    by_data: bool = False
    """Whether data decides if it runs, of a branch, or how often, of a loop."""
    index: Value | None = None
    """The number of the iteration, if it is a loop."""
    indexed: list[Any] = field(default_factory=list)
    """The lists that are indexed by a number of such a loop, in case they get longer in it."""
    tags: dict[Value, frozenset[int]] = field(default_factory=dict)
    """The numbers that tags of choices may have in it (`choices.py`)."""
    is_rest: bool = False
    """Whether it is a branch with the code behind an operation in a `try`: not traced again."""
    left_by_errors: bool = False
    """Whether it is a loop that an error may end which a `try` around it catches."""
    where: Any = None
    """Where it is in the code, of a loop that an error may end if the capture begins again."""
    begun: list[Any] = field(default_factory=list)
    """The cells of arrays that an iteration begins with: which arrays these are is not known."""
    swallowed: Exception | None = None
    """The error of a branch that failed on the present guess of a loop's state and was skipped."""
    settled: bool = False
    """Whether no better guess of a loop's state is left: an error is one of the program's."""


@dataclass(frozen=True, slots=True)
class SizeGuard:
    """A fact about sizes that this capture rests on."""

    dim: Dim
    relation: str
    truth: bool
    reason: str


@dataclass(eq=False)
class Trace:
    """One capture. Equations go to `builder`; `frames` are the regions open around them."""

    builder: Builder = field(default_factory=lambda: Builder(find_site))
    names: bool = False
    """Whether results that users can name are values of their own (`identities.py`)."""
    unnamed: dict[Value, Value] = field(default_factory=dict)
    """The value without a name, by the value with one."""
    renamed: dict[Value, Value] = field(default_factory=dict)
    """The value before a tape gave it another identity, by the value since then."""
    tapes: list[Any] = field(default_factory=list)
    """All tapes of this capture."""
    restarts: bool = False
    """Whether the capture can begin again on other terms."""
    unifies: bool = True
    """Whether sizes may turn out equal yet; else the run checks it."""
    frames: list[Frame] = field(default_factory=list)
    actual: dict[Value, int] = field(default_factory=dict)
    """The numbers that sizes and int arguments have in the call that started the capture."""
    permuted: set[Value] = field(default_factory=set)
    """Values of arrays that lie in another order of axes than C's, or may."""
    recursions: dict[Any, list[int]] = field(default_factory=dict)
    """Per code of a function, in how many regions each of its running calls is."""
    running: list[tuple[Any, Any]] = field(default_factory=list)
    """The captured functions that are running, as they are and as they are rewritten."""
    kept: dict[int, dict[str, object]] = field(default_factory=dict)
    """The functions that are called after a call of a recursion, as they were before it."""
    functions_as_loops: set[Any] = field(default_factory=set)
    """The functions that call themselves as often as data says: file, code and which in it."""
    is_unrolled: bool = False
    """Whether a function that could not be made a loop calls itself in the capture."""
    deep_calls: int = 0
    """How many such calls there were that are many regions deep."""
    deep: Any = None
    """A function that calls itself many times, as there."""
    slices_fit: bool = True
    """Whether slices are taken to end within their axes, where sizes of other axes say where."""
    decides_layouts: bool = False
    """Whether sizes are compared, which leaves guards, to tell a view from a copy."""
    undecided: bool = False
    """Whether a view was not told from a copy for that."""
    laid_out: list[tuple[Cell, Cell, frozenset[int]]] = field(default_factory=list)
    """The reshapes that a layout decided: cell, cell of the result, numbers of the inputs."""
    composing: int = 0
    """How many captures of functions are running that are made of other captures."""
    memory: Any = field(default_factory=lambda: ABOVE.Memory({}))
    """The facts about the inputs' memory."""
    joined: list[Any] = field(default_factory=list)
    """The lists and dicts that may be others, depending on data."""
    opened_records: dict[int, Any] = field(default_factory=dict)
    """The objects that stand for others, with guesses or merged things for attributes."""
    tries_logs: bool = False
    """Whether a counted loop is traced with its lists in Logs, in place of being unrolled."""
    may_venture: bool = True
    """Whether loops are traced that can be unrolled, though later code may be refused then."""
    ventured: bool = False
    """Whether one was."""
    frozen: list[Cell] = field(default_factory=list)
    """The arrays that nobody may write to from then on, as they are in lists."""
    objects_in_lists: dict[int, Any] = field(default_factory=dict)
    """Objects that are items of lists whose length data decides, or were read from one."""
    classes_in_lists: dict[type, Any] = field(default_factory=dict)
    """Their classes, with where such a list gets longer."""
    ending: list[tuple[type, weakref.ref[Any]]] = field(default_factory=list)
    """The objects with `__del__` that captured code made."""
    instances: dict[int, Any] = field(default_factory=dict)
    """The objects of users' classes that were made where no loop was open."""
    own_names: dict[int, Any] = field(default_factory=dict)
    """The objects of which captured code has the `__dict__`, by its id."""
    shown_of_class: list[tuple[Any, str]] = field(default_factory=list)
    """Objects with attributes that are their class's, unless a loop or branch has set them."""
    key_orders: list[tuple[Any, Any, Any]] = field(default_factory=list)
    """Dicts and objects whose keys branches left in unlike orders, these, and which are there."""
    one_copies: set[tuple[Any, frozenset[str]]] = field(default_factory=set)
    """Calls of transforms with pairs of their arguments that are one array (`copies.py`)."""
    plain_lists: dict[Any, str] = field(default_factory=dict)
    """Where lists are made item by item, and why."""
    unsettled: set[Any] = field(default_factory=set)
    """The places in the code of loops whose carried contents do not settle."""
    run_lists: set[Any] = field(default_factory=set)
    """Where lists of a known length are made whose items are in runs: loops index them."""
    own_iterators: bool = False
    """Whether iterators without an end are generators of ours."""
    integrands_apart: bool = False
    """Whether integrands are captured as blocks, since integrals are taken in integrals."""
    by_steps: set[Any] = field(default_factory=set)
    """Where generators of the user's are made whose items are taken one after another."""
    list_kinds: dict[Any, Any] = field(default_factory=dict)
    """Where lists of numbers are made that hold others later: dtype, whether Python's."""
    log_changes: int = 0
    """How often a list was changed that gets longer as data decides (`data_lists.py`)."""
    changed_lists: dict[int, Any] = field(default_factory=dict)
    """The lists that were changed in place, by their ids."""
    chosen_lists: dict[int, Any] = field(default_factory=dict)
    """The lists of which data decides which other lists they are, by their ids."""
    in_lists: set[tuple[int, np.dtype]] = field(default_factory=set)
    """How many axes arrays with names have that are in lists whose length data decides."""
    walked: list[Any] = field(default_factory=list)
    """The lists over which loops are running."""
    gone_over: list[Any] = field(default_factory=list)
    """The lists that Python's own loops go through item by item."""
    iterators: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    """Iterators over traced items."""
    left: dict[int, Any] = field(default_factory=dict)
    """The iterators of which nobody knows how far they have come, by their ids."""
    unfinished: list[Any] = field(default_factory=list)
    """The lists of comprehensions that are being made: no iterator can be of these."""
    keyed: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """The deques, sets and dicts that captured code made, by their ids, and where."""
    used_keyed: set[Any] = field(default_factory=set)
    """The places in the code of such containers that are read or changed."""
    keyed_by_data: set[Any] = field(default_factory=set)
    """The places in the code of such containers whose content data decides (`stand_ins.py`)."""
    made_lists: dict[int, tuple[list[Any], int, Any]] = field(default_factory=dict)
    """The lists that captured code made, by their ids: with how many items, and where."""
    put_lists: dict[int, Any] = field(default_factory=dict)
    """The places in the code of such lists that went into containers with all their items."""
    nested: set[Any] = field(default_factory=set)
    """Where lists are made that are in other containers and get longer (`references.py`)."""
    pooled: dict[Any, Any] = field(default_factory=dict)
    """Where lists are made that have their items in pools: each with a place of the same pool."""
    counted_pools: set[Any] = field(default_factory=set)
    """The pools of which lists get longer or shorter while loops run over them."""
    pool_places: set[Value] = field(default_factory=set)
    """The values that are indices of lists of pools, of which ranges are taken to say so."""
    pools: dict[Any, Any] = field(default_factory=dict)
    """The pools, by the place that stands for all of theirs and the region around."""
    pool_facts: PoolFacts = field(default_factory=PoolFacts)
    """The facts about pools that earlier attempts have found out."""
    gone_through: set[type] = field(default_factory=set)
    """The classes of objects that loops over lists go through one by one."""
    written_out: int = 0
    """How many iterations of loops were written out since there are such classes."""
    made_classes: dict[type, None] = field(default_factory=dict)
    """The users' classes of which captured code made objects that may be in pools."""
    link_keys: dict[int, Any] = field(default_factory=dict)
    """The lists of pools, by their ids: under which key `PoolFacts.links` knows them."""
    of_pools: dict[int, list[Any]] = field(default_factory=dict)
    """The lists of pools, by their ids: no iterator of Python's goes through one."""
    carried: set[Value] = field(default_factory=set)
    """Indices and carried ints of the loops being traced."""
    wide: set[Value] = field(default_factory=set)
    """Python's ints that are elements of arrays or parts of floats: any of 64 bits, no counters."""
    guards: list[SizeGuard] = field(default_factory=list)
    checks: list[tuple[Dim, Dim, Site | None]] = field(default_factory=list)
    notes: list[object] = field(default_factory=list)
    captured: Any = None
    unseen: dict[str, None] = field(default_factory=dict)
    """The code and state that no guard sees: the program holds for one call."""
    outside: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    """The functions that are not captured and run just now, with their operands."""
    asked: list[tuple[int, Refusal]] = field(default_factory=list)
    """Refusals that a library's code may have caught, each with the number of calls open."""
    chooses: bool = False
    """Whether there is a choice (`choices.py`) anywhere."""
    made_again: set[object] = field(default_factory=set)
    """The code of functions that iterations make anew: one of them stands for all."""
    mixes: bool = False
    """Whether there is a number of several kinds (`mixed.py`) anywhere, which paths leave."""
    meanings: dict[Value, list[tuple[Any, ...]]] = field(default_factory=dict)
    """By traced truth, its consequences for the tags of choices."""
    tags: dict[Value, frozenset[int]] = field(default_factory=dict)
    """The numbers that tags may have outside of all regions."""
    watchers: list[Any] = field(default_factory=list)
    """The tapes that record in this capture."""
    refused: Exception | None = None
    """The refusal in the `repr` of a number, which Python may have caught."""
    unread: list[Any] | None = None
    """The numbers in the text that captured code is writing, if it is."""
    text_fields: list[Any] = field(default_factory=list)
    """The places of traced values in texts that captured code has written."""
    left_loops: set[Any] = field(default_factory=set)
    """Where the loops are that an error of the run ends, which a `try` around them catches."""
    attempts: list[Any] = field(default_factory=list)
    """The `try` statements around the code being traced; None where none of them can catch."""
    opened: list[Any] = field(default_factory=list)
    """Open branches, each with the code behind an operation that may raise in a `try`."""
    handled: list[Any] = field(default_factory=list)
    """The errors of the handlers that are running."""
    ends: list[Any] = field(default_factory=list)
    """The names that matter where the present branch, loop or body of a `try` ends."""
    shown: list[Any] | None = None
    """While the message of an error that depends on data is made: the numbers it shows."""

    @property
    def has_pools(self) -> bool:
        """Return whether lists or objects that captured code makes may be in pools."""
        return bool(self.pooled or self.pool_facts.classes)

    # --- regions --------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """Return how many regions are open."""
        return len(self.frames)

    @contextmanager
    def region(self, kind: str, inputs: tuple[Value, ...] = ()) -> Iterator[tuple[Frame, Any]]:
        """Open a region; on leaving it, every place that it changed has its old content again."""
        frame = Frame(kind, self.depth + 1)
        joined, opened = len(self.joined), len(self.opened)
        self.frames.append(frame)
        try:
            with self.builder.block(inputs) as scope:
                try:
                    yield frame, scope
                finally:
                    while len(self.opened) > opened:
                        self.opened[-1].give_up()
        finally:
            self.frames.pop()
            del self.joined[joined:]
            if self.frames:
                self.frames[-1].read |= frame.read
            for place, before in reversed(frame.written.values()):  # a list's, and then all of it
                held = getattr(place, "container", None)
                is_gone = isinstance(held, list) and getattr(place, "item", 0) >= len(held)
                if id(held) not in frame.contents and not is_gone:
                    place.set(before)  # a list may have become too short to have the item
            for x, names in frame.orders.values():
                put_in_order(x, names)
            for container, copy in frame.contents.values():
                container.clear()
                container.update(copy) if isinstance(copy, dict) else container.extend(copy)

    @contextmanager
    def watched(self) -> Iterator[Frame]:
        """Note in a frame the changes made meanwhile; unlike a region's changes, these stay."""
        frame = Frame("probe", self.depth + 1)
        self.frames.append(frame)
        try:
            yield frame
        finally:
            self.frames.pop()
            if self.frames:
                around = self.frames[-1]
                around.read |= frame.read
                around.created |= frame.created
                around.changed |= frame.changed
                around.rewritten |= frame.rewritten
                around.outdated += frame.outdated

    def record(self, place: Place, depth: int) -> None:
        """Note in every open region inside which `depth` is not that a place is about to change."""
        content = place.get()
        for frame in reversed(self.frames):
            if frame.depth <= depth:
                break
            # the content in a loop is the start of an iteration; around the loop it is the old one
            content = frame.written.setdefault(place.key, (place, content))[1]

    def record_loss(self, x: object, depth: int) -> None:
        """Note in these regions the order of a dict or object that is about to lose a key."""
        for frame in self.frames:
            if frame.depth > depth and id(x) not in frame.orders:
                frame.orders[id(x)] = x, names_in(x)

    def note(self, what: str, code: str, site: Site | None = None) -> None:
        """Add a line to `.why()`, with the code of the reason."""
        self.note_object(Noted(what if site is None else f"{describe_line(site)}: {what}", code))

    def note_object(self, note: object) -> None:
        """Add an object that has a text, and a `code`, to `.why()`."""
        if note not in self.notes:
            self.notes.append(note)

    def note_unseen(self, what: str) -> None:
        """Note that something was read that no guard sees."""
        if what not in self.unseen:
            self.unseen[what] = None
            self.note(f"{what} may give something else at the next call, and no guard sees it: the "
                      "function is captured anew at every call. Pass what it gives as an argument, "
                      "to be captured once", "TJ705", find_site())

    def before_rename(self, v: Value) -> Value:
        """Return the value that a value was before tapes gave it other identities."""
        while v in self.renamed:
            v = self.renamed[v]
        return v

    def without_name(self, v: Value) -> Value:
        """Return the value that has got a name, without it."""
        return self.unnamed.get(v, v)

    # --- sizes ----------------------------------------------------------------------------------

    def canonical(self, d: Dim) -> Dim:
        """Return a dim with sizes that turned out equal replaced by one of them."""
        return substitute(d, self.builder.equal)

    def is_known(self, d: Dim) -> bool:
        """Return whether a dim is made only of sizes and int arguments of the present call."""
        return all(v in self.actual for v in dim_values(d))

    def number(self, d: Dim) -> int:
        """Return the number that a known dim is in the present call."""
        return evaluate(d, lambda v: self.actual[v])

    def unify(self, a: Dim, b: Dim) -> bool:
        """Record that two different dims are one; False where the present call denies it."""
        a, b = self.canonical(a), self.canonical(b)
        if a == b:
            return True
        known = self.is_known(a) and self.is_known(b)
        if known and self.number(a) != self.number(b):
            return False
        sizes_only = all(v.is_size for d in (a, b) for v in dim_values(d))
        if not (sizes_only and self.unifies):
            return False
        for d, other in ((b, a), (a, b)):
            offset = d.const if isinstance(d, Expr) and isinstance(other, int) else 0
            v = bare_size(d - offset)  # of n - 96, which is 32, n
            if v is not None and v not in dim_values(other):
                self.builder.equate(v, other - offset)
                return True
        (v, *others), (w, *more) = ([*set(dim_values(d)), None] for d in (a, b))
        if v and w and others == more == [None] and known and self.actual[v] == self.actual[w] and (
                substitute(a, {v: w.dim}) == b):
            # n - 2 and m - 2: take it that n is m, else another program
            if v is not w:  # one size twice: two ways to write one dim
                self.builder.equate(v, w.dim)
            return True
        self.checks.append((a, b, find_site()))
        return True

    def decide(self, d: Dim, relation: str, why: str = "") -> bool | None:
        """Decide `d relation 0` from sizes, leaving a guard; None where data comes into it.

        With a reason, int arguments decide too.
        """
        if isinstance(d, int):
            return _RELATIONS[relation](d)
        if not self.is_known(d) or not (why or all(v.is_size for v in dim_values(d))):
            return None
        truth = _RELATIONS[relation](self.number(d))
        where = describe_line(find_site())
        reason = f"{where}: {why}" if why else f"a branch at {where} depends on sizes alone"
        self._guard(SizeGuard(d, relation, truth, reason))
        return truth

    def are_equal(self, a: Dim, b: Dim, why: str) -> bool:
        """Return whether two sizes are one in this call, leaving a guard if they are."""
        d = a - b
        if isinstance(d, int):
            return d == 0
        if not (self.is_known(d) and all(v.is_size for v in dim_values(d))) or self.number(d):
            return False
        self._guard(SizeGuard(d, "==", True, f"{describe_line(find_site())}: {why}"))
        return True

    def _guard(self, guard: SizeGuard) -> None:
        if guard not in self.guards:
            self.guards.append(guard)


_RELATIONS: dict[str, Callable[[int], bool]] = {
    "==": lambda n: n == 0, "!=": lambda n: n != 0, "<": lambda n: n < 0, "<=": lambda n: n <= 0,
}


def bare_size(d: Dim) -> Value | None:
    """Return the size that a dim is, or None if it is anything more."""
    v = bare_value(d)
    return v if v is not None and v.is_size else None


def current() -> Trace:
    """Return this thread's capture; `UncapturedError` if there is none."""
    if not CAPTURES.traces:
        raise UncapturedError("this only means something inside a function that tracejit captures; "
                              "decorate the function with @tracejit.jit or @tracejit.grad")
    trace: Trace = CAPTURES.traces[-1]
    return trace


@contextmanager
def active(trace: Trace) -> Iterator[Trace]:
    """Make a trace this thread's capture."""
    CAPTURES.traces.append(trace)
    try:
        yield trace
    finally:
        CAPTURES.traces.pop()


OF_MASKS = ("Compute with the data and a mask: np.sum(x, where=~mask), np.mean(x, where=~mask), "
            "np.where(mask, 0.0, x)")
"""The remedy in place of a function of masked arrays."""


def refuse_outside(what: str, remedy: str, code: str) -> Refusal:
    """Return the refusal of a request that uncaptured code makes of a traced value, by its name.

    what, remedy, code -- the text of the refusal if no uncaptured code is running
    """
    outside = current().outside if is_tracing() else []
    if not outside or not is_of_library(outside[-1][0]):
        return refuse(what, remedy, code)
    name = called(*outside[-1])
    refusal = _refuse_of_library(name, what, remedy, code)
    if runs_library_code():
        current().asked.append((len(outside), refusal))
    return refusal


def _refuse_of_library(name: str, what: str, remedy: str, code: str) -> Refusal:
    """Return the refusal of a request of a library's function, with the reason if there is one."""
    if (reason := reason_named(name)) is not None:
        return _refuse_by_reason(name, reason)
    if what != f"{name} cannot be captured":
        what = f"{name} cannot be captured: it asks a traced value for its numbers"
        remedy = OF_MASKS if name.startswith("numpy.ma.") else (
            "Write it with operations that are listed in docs/coverage.md, or make it an op with "
            "tracejit.register_op")
        code = "TJ202"
    return refuse(what, remedy, code)


def require_no_reason(fn: Callable[..., object]) -> None:
    """Refuse a function of NumPy or SciPy of which a table says why it is not captured."""
    if (reason := reason_of(fn)) is not None:
        raise _refuse_by_reason(public_name(fn), reason)


def _refuse_by_reason(name: str, reason: WhyNot) -> Refusal:
    return refuse(f"{name} cannot be captured: {reason.text}", reason.remedy, "TJ201")


def refuse(what: str, remedy: str, code: str) -> Refusal:
    """Return the refusal, to be raised, of a construct `what` at the user's line.

    code -- the code of the cause, from `tracejit/codes.py`
    """
    return refuse_at(find_site(), what, remedy, code)


def refuse_at(site: Site | None, what: str, remedy: str, code: str) -> Refusal:
    """Return the refusal, to be raised, of a construct `what` at a site."""
    return Refusal(f"{describe_line(site)}: {what}. {remedy}", code)
