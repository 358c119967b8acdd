"""Runs: the items of a list whose length only the graph knows.

A list in a capture is a Python list. Where a size says how many items it has, one thing in the
Python list, a run, stands for all of them: they are alike, and stored as one array, or they are
views of one. Users' code never sees a run: `list_items.py` has the operations on lists.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from tracejit.ir.core import Span, Value
from tracejit.ir.dims import Dim, dim_values, substitute
from tracejit.trace.ground.context import current, is_tracing
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import PlaceInCode, Relist
from tracejit.trace.ground.source import rewritten_source
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.ground.views import IndexStep, ReshapeStep, Step
from tracejit.trace.values.indexing import point_index, slice_span
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.mixed import Kinds, Mixed, is_mixed, unbounded, united
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["Run", "Stored", "Views", "array_of", "as_array_operand", "copies", "has_runs",
           "holds_runs", "length", "place_in_code"]

def place_in_code() -> PlaceInCode:
    """Return where captured code is, the same in every attempt of a capture."""
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        if rewritten_source(frame.f_code) is not None:
            found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


class Run:
    """Items of a list that are alike.

    where -- where the list was made
    """

    where: PlaceInCode

    __slots__ = ("where",)

    def __init__(self, where: PlaceInCode) -> None:
        self.where = where

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        raise NotImplementedError

    def item(self, k: object) -> Any:
        """Return an item; `IndexError` where there is none, at run time if need be."""
        raise NotImplementedError

    def walk(self) -> Callable[[Any], Any]:
        """Return the function of k from which a loop over the list gets item k."""
        return self.item

    def part(self, key: slice) -> Run:
        """Return the items that a slice of the list has."""
        raise NotImplementedError

    def copied(self) -> Run:
        """Return the items for another list: numbers of its own, or the same arrays."""
        raise NotImplementedError

    def spread(self) -> list[Any]:
        """Return the items that another list has in its place."""
        return [self.copied()]

    def array(self) -> Tracer:
        """Return an array of the items, with memory of its own."""
        raise NotImplementedError

    @property
    def is_numbers(self) -> bool:
        """Return whether the items are numbers."""
        return False

    def give_up(self, why: str) -> NoReturn:
        """Begin the capture again, the list made item by item."""
        need_int(self.count, why)
        raise Relist(self.where, None, why)

    def as_leaf(self) -> NoReturn:
        """Refuse to be the leaf of a nest: there is one for each item."""
        self.give_up("a list with as many items as a size says, as an argument or a result")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        self.give_up("comparing a list")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if is_tracing() and current().shown is None:
            self.give_up("text of a list")
        return "..."


class Stored(Run):
    """Items that are numbers, arrays or lists of them, in one array.

    data   -- the array; its first axis runs over the items
    nest   -- how many axes after the first one are lists
    kinds  -- the kinds of the numbers
    shared -- whether it is an item of another list's storage, so that it keeps its length
    """

    data: Tracer
    kinds: Kinds
    nest: int
    shared: bool

    __slots__ = ("data", "kinds", "nest", "shared")

    def __init__(self, data: Tracer, nest: int, kinds: Kinds, where: PlaceInCode,
                 shared: bool = False) -> None:
        super().__init__(where)
        self.data, self.nest, self.shared = data, nest, shared
        self.kinds = kinds if is_mixed(kinds) else unbounded(kinds)
        if isinstance(data, Tracer) and data.is_array and not nest:  # and no guess of one
            data.cell.rows_of = where

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        return self.data.dims[0]

    @property
    def has_length_by_data(self) -> bool:
        """Return whether data decides how many items there are."""
        trace = current()
        return any(not v.is_size and v not in trace.actual
                   for v in dim_values(trace.canonical(self.count)))

    @property
    def is_numbers(self) -> bool:
        """Return whether the items are numbers."""
        return self.data.ndim == 1

    @property
    def weak(self) -> bool:
        """Return whether the numbers are Python's own; begin again where some are."""
        if is_mixed(self.kinds):
            self.tell_apart()
        return all(k.weak for k in self.kinds)

    def tell_apart(self) -> NoReturn:
        """Begin the capture again, as something sees of which kind the numbers are."""
        self.give_up("its numbers are of several kinds, which something tells apart")

    def number(self, value: Value) -> Any:
        """Return a value as one of the numbers: `Mixed`, where they are of several kinds."""
        if is_mixed(self.kinds):
            return Mixed(tracer_of(value), self.kinds, self.tell_apart)
        return scalar_of(value, weak=self.weak)

    def item(self, k: object) -> Any:
        """Return an item: a number, or a view of the storage."""
        content = self.data[k]
        if self.nest:
            return [self.like(content, self.nest - 1, shared=True)]
        return self.number(content.value) if not content.is_array else content

    def like(self, data: Tracer, nest: int | None = None, shared: bool = False) -> Stored:
        """Return other items of the same kind."""
        return Stored(data, self.nest if nest is None else nest, self.kinds, self.where, shared)

    def is_like(self, other: Stored) -> bool:
        """Return whether a loop or branch may leave one where the other was.

        Numbers of other kinds begin the capture again: both are made as numbers of all of them.
        """
        if (self.nest, self.shared) != (other.nest, other.shared):
            return False
        kinds = united(self.kinds, other.kinds)
        made = self if isinstance(self.data, Tracer) else other
        for run, its in ((self, other.kinds), (other, self.kinds)):
            if run.kinds != kinds and (made.nest or made.is_numbers):
                raise Relist(run.where, its, "a list of numbers of another kind takes its place")
        return self.kinds == kinds

    def part(self, key: slice) -> Run:
        """Return the items that a slice has: numbers are copied, arrays and lists are shared."""
        return self.like(self.data[key]).copied()

    def copied(self) -> Run:
        """Return the items for another list."""
        return self.like(self.array() if self.is_numbers else Tracer(
            self.data.cell, self.data.steps))

    def array(self) -> Tracer:
        """Return an array of the items, with memory of its own."""
        result = tracer_of(self.data.value)
        result.cell.is_array = True
        return result


class Views(Run):
    """Items that are views of one array, or all the array itself.

    handle -- a view with `index` in it, a value that no longer means anything
    at     -- the index for item k
    shape  -- the shape of each
    """

    at: Callable[[Dim], Dim]
    handle: Tracer
    index: Value
    shape: tuple[Dim, ...]
    size: Dim

    __slots__ = ("at", "handle", "index", "items", "shape", "size")

    def __init__(self, size: Dim, handle: Tracer, index: Value, at: Callable[[Dim], Dim],
                 shape: tuple[Dim, ...], where: PlaceInCode) -> None:
        super().__init__(where)
        self.items: weakref.WeakValueDictionary[Dim, Tracer] = weakref.WeakValueDictionary()
        handle.cell.viewed_by = where
        self.size, self.handle, self.index, self.at = size, handle, index, at
        self.shape = shape

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        return current().canonical(self.size)

    def item(self, k: object) -> Any:
        """Return an item: a view, or the array itself where every item is that."""
        place = self.at(point_index(k, self.count, 0))
        steps = tuple(_moved(s, {self.index: place}) for s in self.handle.steps)
        if steps == self.handle.steps:
            return self.handle
        if place not in self.items:
            self.items[place] = item = Tracer(self.handle.cell, steps)
            return item
        return self.items[place]

    def part(self, key: slice) -> Run:
        """Return the items that a slice has."""
        span = slice_span(key, self.count)
        part = Views(span.size, self.handle, self.index,
                     lambda k: self.at(span.start + k * span.step), self.shape, self.where)
        part.items = self.items
        return part

    def copied(self) -> Run:
        """Return the items for another list."""
        return self

    def array(self) -> Tracer:
        """Return an array of the items, with memory of its own."""
        found: Tracer = ABOVE.filled(self.count, self.item, self.shape, self.handle.dtype)
        return found


def _moved(step: Step, mapping: Mapping[Value, Dim]) -> Step:
    """Return a step of a view with values replaced."""
    def moved(d: Any) -> Any:
        if isinstance(d, Span):
            return replace(d, start=substitute(d.start, mapping), size=substitute(d.size, mapping))
        return substitute(d, mapping)

    if isinstance(step, IndexStep):
        return IndexStep(tuple(map(moved, step.at)))
    if isinstance(step, ReshapeStep):
        return ReshapeStep(tuple(map(moved, step.shape)), tuple(map(moved, step.before)))
    return step


def step_values(handle: Tracer) -> set[Value]:
    """Return the values that the steps of a view are made of."""
    found: set[Value] = set()
    for step in handle.steps:
        dims: list[Any] = []
        if isinstance(step, IndexStep):
            for d in step.at:
                dims += [d.start, d.size] if isinstance(d, Span) else [d]
        elif isinstance(step, ReshapeStep):
            dims += [*step.shape, *step.before]
        for d in dims:
            found.update(dim_values(d))
    return found


# --- lists with runs ------------------------------------------------------------------------------


def has_runs(x: object) -> bool:
    """Return whether something is a list or tuple with a run in it."""
    return isinstance(x, (list, tuple)) and any(isinstance(p, Run) for p in x)


def holds_runs(x: object) -> bool:
    """Return whether a list or tuple has runs, in any depth."""
    return isinstance(x, (list, tuple)) and any(isinstance(p, Run) or holds_runs(p) for p in x)


def first_run(x: Any) -> Run:
    """Return the first run in a list or tuple, in any depth."""
    for p in x:
        if isinstance(p, Run):
            return p
        if holds_runs(p):
            return first_run(p)
    raise AssertionError


def length(xs: Any) -> Dim:
    """Return how many items a list has."""
    total: Dim = 0
    for p in xs:
        total = total + (p.count if isinstance(p, Run) else 1)
    return total


def copies(xs: Any) -> list[Any]:
    """Return the items that a list has for another list."""
    return [y for p in xs for y in (p.spread() if isinstance(p, Run) else [p])]


@above
def array_of(xs: Any, dtype: np.dtype | None = None) -> Tracer:
    """Return `np.array(xs)` of a list or tuple; of a dtype, where there is no run in the list."""
    if not has_runs(xs):
        return FUNCTIONS[np.array](as_array_operand(xs), dtype)  # type: ignore[no-any-return]
    pieces: list[Tracer] = []
    for is_run, group in itertools.groupby(xs, lambda p: isinstance(p, Run)):
        parts = list(group)
        pieces += [p.array() for p in parts] if is_run else [array_of(parts)]
    if any(p.ndim != pieces[0].ndim for p in pieces):
        raise ValueError("setting an array element with a sequence. The requested array has an "
                         "inhomogeneous shape after 1 dimensions.")
    return pieces[0] if len(pieces) == 1 else FUNCTIONS[np.concatenate](pieces)


def as_array_operand(x: Any) -> Any:
    """Return an argument as a function of arrays gets it: lists with runs are arrays."""
    if has_runs(x):
        return array_of(x)
    if holds_runs(x):
        items = [as_array_operand(y) for y in x]
        return tuple.__new__(type(x), items) if hasattr(x, "_fields") else type(x)(items)
    return x


def size_of(xs: object) -> Any:
    """Return `len(xs)` of a list."""
    return of_dim(length(xs))


def is_index(k: object) -> bool:
    """Return whether something can be the index of a list."""
    return isinstance(k, (int, np.integer, np.bool_, SymInt)) or (
        isinstance(k, Tracer) and not k.ndim and k.dtype.kind in "iub")
