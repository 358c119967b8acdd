"""Iterables of a `for` of which the number of items is only known at run time."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, SupportsIndex, cast

import numpy as np

from tracejit.ir.dims import Dim, maximum, minimum, product
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.references import Reference
from tracejit.trace.containers.runs import copies, has_runs
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, Changing
from tracejit.trace.ground.restarts import NeedOwnIterators
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.lists.known_lengths import need_run_of_many
from tracejit.trace.lists.live_items import LiveItems, TakenItems, require_length, with_numbers
from tracejit.trace.lists.rows import in_list
from tracejit.trace.state.changes import advance, note_made
from tracejit.trace.state.left_iterators import note_left
from tracejit.trace.state.uncaptured import read_indices
from tracejit.trace.values.equations import same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, no_sequence, tracer_of

__all__ = ["Iterated", "TracedIterable", "as_index", "as_now", "counted", "ends_of_slice",
           "is_traced", "item_in_turn", "make_enumerate", "make_ndenumerate", "make_ndindex",
           "make_reversed", "make_zip", "place_of", "read_now"]


class TracedIterable:
    """Items numbered from `lo` to `hi - 1`; `item(i)` gives item number i.

    In a range with a step, `lo` is 0 and `item` computes the number that the user sees.
    """

    lo: Dim
    hi: Dim
    item: Callable[[Any], Any]
    what: str
    reverse: bool

    def __init__(self, lo: Dim, hi: Dim, item: Callable[[Any], object], what: str,
                 reverse: bool = False) -> None:
        self.lo, self.hi, self.item, self.what, self.reverse = lo, hi, item, what, reverse
        self.walks: tuple[Any, ...] = ()
        """The lists that it runs over."""
        self.snapshots: int | None = None
        """How many states a loop over it keeps for its way back, in place of every iteration's."""

    @property
    def count(self) -> Dim:
        """Return the number of items."""
        return maximum(self.hi - self.lo, 0, current().builder.known)

    @property
    def is_of_runs(self) -> bool:
        """Return whether it runs over lists with runs in them, of more items than a few."""
        return any(map(has_runs, self.walks)) and (
            not isinstance(count := self.count, int) or count > MANY_ITEMS)

    def __iter__(self) -> Iterator[Any]:
        count = need_int(self.count, f"iterating over {self.what} where it cannot be a loop")
        return map(self.in_turn, range(count))  # each when its turn comes: a body may write to it

    def __len__(self) -> int:
        return need_int(self.count, f"len() of {self.what}")

    def __getitem__(self, k: Any) -> Any:
        numbers = range(need_int(self.count, f"an item of {self.what}"))
        if isinstance(k, slice):
            raise refuse(f"a slice of {self.what} with as many numbers as a size says",
                         "Give range() the ends that the slice has", "TJ409")
        return self.in_turn(numbers[k])

    def in_turn(self, k: object) -> Any:
        """Return the item of iteration k, counted from 0."""
        return self.item(of_dim(self.hi - 1) - k if self.reverse else of_dim(self.lo) + k)

    def without_first(self) -> TracedIterable:
        """Return the items of all iterations but the first."""
        rest = copy.copy(self)
        if self.reverse:
            rest.hi = self.hi - 1
        else:
            rest.lo = self.lo + 1
        return rest

    def turn(self, i: Any) -> Any:
        """Return which iteration has the item of number i, counted from 0."""
        return of_dim(self.hi - 1) - i if self.reverse else i - of_dim(self.lo)


def as_index(x: object) -> Any:
    """Return what stands for an int as one, as `x.__index__()` does."""
    if isinstance(x, Merged):
        x = x.as_int()
    if not isinstance(x, TracedOperand):
        read_indices([x])
        return operator.index(cast("SupportsIndex", x))
    if isinstance(x, Tracer):
        one = x.dtype.type(1)
        operator.index(one.item() if x.weak else one)  # which may raise
        return of_dim(to_dim(x + 0 if x.dtype.kind == "b" else x))
    return of_dim(to_dim(x))


class Iterated:
    """An iterator over traced items, of which all are taken at once or one after another, once."""

    def __init__(self, items: TracedIterable) -> None:
        self._items: TracedIterable | None = items
        self._rest: Iterator[Any] = iter(())
        self.walks = items.walks
        """The lists that it is in the midst of, or at the beginning."""
        self._lengths = [(xs, len(xs)) for xs in items.walks if not has_runs(xs)]
        current().iterators.add(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        items = self.all_at_once()
        if items is not None:
            self._rest, self.walks = iter(items), items.walks
        for xs, length in self._lengths:
            require_length(xs, length)
        try:
            return next(self._rest)
        except StopIteration:
            self.walks = ()
            raise

    def all_at_once(self) -> TracedIterable | None:
        """Return all items, if none was taken yet; there are none afterwards."""
        items, self._items, self.walks = self._items, None, ()
        for xs, length in self._lengths if items is not None else ():
            require_length(xs, length)
        return items


def counted(x: Any) -> TracedIterable | None:
    """Return the items of x as a traced iterable, for a `for`; None where Python goes through x."""
    if isinstance(x, TracedIterable):
        return x
    if isinstance(x, Iterated):
        advance(x)
        return x.all_at_once()
    if isinstance(x, Tracer):
        if not x.dims:
            raise no_sequence(x, "iteration over a 0-d array", "{} object is not iterable")
        if isinstance(x, Changing):
            x = x.read_value()
        own = Tracer(x.cell, x.steps)  # the loop's own handle: the name may be bound to another
        return TracedIterable(0, x.dims[0], lambda i: own[i], "an array")
    if hasattr(type(x), "counted_rows") and not getattr(x, "is_row", False):
        count, row = x.counted_rows()
        return TracedIterable(0, count, row, "a structured array, or an iterator")
    if has_runs(x) and len(x) == 1:
        run = in_list(x[0], x)
        items = TracedIterable(0, run.count, run.walk(), "a list")
        items.walks = (x,)
        return items
    return None


def _counted(x: Any) -> TracedIterable | None:
    """Return `counted(x)` for an iterator over x, with the items of a list with runs in one run."""
    need_run_of_many(x)
    if not has_runs(x) or len(x) == 1:
        items = counted(x)
        if isinstance(x, Iterated):
            note_left([x])
        return items
    items = counted([ABOVE.one_run(x)])
    if items is not None:
        items.walks = (x,)
    return items


def make_enumerate(iterable: Any, start: Any = 0) -> Any:
    """Return `enumerate(iterable, start)`."""
    items = _counted(iterable)
    if items is None:
        return enumerate(iterable, start)
    start = as_index(start)
    numbered = TracedIterable(items.lo, items.hi,
                              lambda i: (items.turn(i) + start, items.item(i)),
                              "enumerate()", items.reverse)
    numbered.snapshots, numbered.walks = items.snapshots, items.walks
    return Iterated(numbered)


def ends_of_slice(ends: tuple[object, ...]) -> tuple[Any, ...]:
    """Return the arguments of `islice()` as ints and None; raise Python's error for others."""
    plain: Any = [1 if isinstance(x, TracedOperand) and as_index(x) is not None else x
                  for x in ends]
    itertools.islice((), *plain)
    return tuple(None if x is None else as_index(x) for x in ends)


def as_now(x: object) -> Any:
    """Return a whole array as a copy with its present value; a view, or another thing, as it is."""
    if not isinstance(x, Tracer) or not x.is_array or x.steps:
        return x
    own = tracer_of(x.value)
    own.cell.is_array = True
    return own


def read_now(x: object) -> Any:
    """Return an item as it is now, for a reader that takes it before the next one is made."""
    if isinstance(x, Tracer) and x.is_array:
        return as_now(x if not x.steps else FUNCTIONS[np.array](x))
    if isinstance(x, list):
        return note_made(copies(x))
    if is_number(x) or isinstance(x, (str, bytes, tuple, type(None))):
        return x
    raise refuse(f"a {type(x).__name__} that a generator gives to what reads it at once",
                 "Write the loop out, or make the generator's items a list first: list(...)",
                 "TJ104")


def is_traced(x: object) -> bool:
    """Return whether something has as many items as the run says, and no other way to get them."""
    return isinstance(x, TracedIterable)


def item_in_turn(x: object, k: object) -> Any:
    """Return the item of iteration k, which there is."""
    assert isinstance(x, TracedIterable)
    return x.in_turn(k)


_ENDLESS = (itertools.cycle, itertools.count, itertools.repeat)


def make_zip(*iterables: object, strict: bool = False) -> Any:
    """Return `zip(*iterables)`, which ends with the shortest."""
    parts = [_counted(x) for x in iterables]
    if all(p is None for p in parts):
        return zip(*iterables, strict=strict)
    iterables = tuple(with_numbers(x) if part is None else x
                      for part, x in zip(parts, iterables, strict=True))
    sequences: list[Callable[[Any], Any]] = []
    size: Dim | None = None
    for part, x in zip(parts, iterables, strict=True):
        if part is None:
            if not isinstance(x, (list, tuple, range, LiveItems, TakenItems)):
                if isinstance(x, _ENDLESS) and current().restarts and not current().own_iterators:
                    raise NeedOwnIterators
                raise refuse(f"zip() of an array and a {type(x).__name__} cannot be captured",
                             "Use lists or arrays", "TJ409")
            part_count: Dim = len(x)
            sequences.append(partial(_plain_item, x, len(x)))
        else:
            part_count = part.count
            sequences.append(part.in_turn)
        if strict and size is not None and not same_dim(size, part_count):
            raise ValueError("zip() has arguments of different lengths")
        size = part_count if size is None else _shorter(size, part_count)
    assert size is not None
    zipped = TracedIterable(0, size, lambda k: tuple(item(k) for item in sequences), "zip()")
    zipped.walks = tuple(w for part, x in zip(parts, iterables, strict=True) for w in (
        part.walks if part is not None else (x,)))
    return Iterated(zipped)


def _plain_item(x: Sequence[object], length: int, k: Any) -> Any:
    require_length(x, length)
    return x[k if isinstance(k, int) else k.__index__()]


def _shorter(a: Dim, b: Dim) -> Dim:
    a, b = current().canonical(a), current().canonical(b)
    if a == b:
        return a
    trace = current()
    if trace.is_known(a) and trace.is_known(b) and trace.number(a) == trace.number(b) and (
            trace.unify(a, b)):
        return trace.canonical(a)
    return minimum(a, b, trace.builder.known)


def make_ndindex(*shape: Any) -> Any:
    """Return `np.ndindex(*shape)`, as a traced iterable where a size is traced."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if not any(isinstance(n, (SymInt, Tracer)) for n in sizes):
        return np.ndindex(*shape)
    dims = tuple(map(to_dim, sizes))
    return TracedIterable(0, product(dims), lambda k: place_of(k, dims), "np.ndindex()")


def make_ndenumerate(a: Tracer) -> Any:
    """Return `np.ndenumerate(a)`."""
    items = counted(a)
    if items is None:
        return np.ndenumerate(a)
    own = Tracer(a.cell, a.steps)

    def item(k: Any) -> Any:
        place = place_of(k, own.dims)
        return place, own[place]

    return TracedIterable(0, product(own.dims), item, "np.ndenumerate()")


def place_of(number: object, dims: tuple[Dim, ...]) -> tuple[Any, ...]:
    """Return the index of an element by its number in the order of C."""
    k: Any = number
    place = []
    for d in reversed(dims[1:]):
        place.append(k % of_dim(d))
        k = k // of_dim(d)
    return (k, *reversed(place))


def make_reversed(x: Any) -> Any:
    """Return `reversed(x)`."""
    if isinstance(x, Reference):
        return ABOVE.call_function(x.on_walk_back, (), {})
    items = _counted(x)
    if items is None:
        return reversed(x)
    if items.what.endswith(")"):
        raise TypeError(f"'{items.what[:-2]}' object is not reversible")
    backwards = TracedIterable(items.lo, items.hi, items.item, items.what, not items.reverse)
    backwards.walks = items.walks
    return Iterated(backwards)

