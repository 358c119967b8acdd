"""Python's functions of a generator, written in Python: captured like users' functions.

Each takes an item when Python's function does, and no more of them, so that the effects of the
generator between two items come in Python's order.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from tracejit.trace.lists.iterables import (
    as_index,
    ends_of_slice,
    is_traced,
    item_in_turn,
    read_now,
)
from tracejit.trace.lists.orders import EMPTY, readable

__all__ = ["ENDLESS", "MAKERS", "collected", "contained", "extended", "extreme", "first",
           "largest", "mapped", "mapped_together", "multiplied", "read_one_by_one", "smallest",
           "some", "summed", "zipped"]

_NO_LARGEST, _NO_SMALLEST = EMPTY["max"], EMPTY["min"]
T = TypeVar("T")
S = TypeVar("S")


def collected(g: Iterable[T]) -> list[T]:
    """Return `list(g)`."""
    found = []
    for x in g:
        found.append(x)
    return found


def some(g: Iterable[T], count: int | None) -> list[T]:
    """Return the first items, as many as there are up to a number, or all."""
    found = []
    for x in g:
        found.append(x)
        if count is not None and len(found) >= count:
            break
    return found


def read_one_by_one(g: Iterable[object]) -> list[object]:
    """Return the items of a generator, each of them read before the next one is taken."""
    found = []
    for x in g:
        found.append(read_now(x))
    return found


def extended(xs: list[T], g: Iterable[T]) -> None:
    """Carry out `xs.extend(g)`."""
    for x in g:
        xs.append(x)


def contained(g: Iterable[object], item: object) -> bool:
    """Return `item in g`."""
    found = False
    for x in g:
        if x is item or x == item:
            found = True
            break
    return found


def first(g: Iterable[T], *default: T) -> T:
    """Return `next(g)` of a generator that has not begun, or `next(g, default)`."""
    for x in g:
        return x
    if default:
        return default[0]
    raise StopIteration


def mapped(g: Iterable[T], element: Callable[[T], S],
           test: Callable[[T], object] | None = None) -> Iterator[S]:
    """Yield `element(x) for x in g if test(x)`."""
    for x in g:
        if test is None or test(x):
            yield element(x)


def mapped_together(fn: Callable[..., S], g: Iterable[tuple[Any, ...]]) -> Iterator[S]:
    """Yield `fn(*xs) for xs in g`."""
    for xs in g:
        yield fn(*xs)


def summed(g: Iterable[float], start: float = 0) -> float:
    """Return `sum(g, start)`."""
    total = start
    for x in g:
        total = total + x
    return total


def multiplied(g: Iterable[float], *, start: float = 1) -> float:
    """Return `math.prod(g, start=start)`."""
    total = start
    for x in g:
        total = total * x
    return total


def largest(g: Iterable[float]) -> float:
    """Return `max(g)` of numbers."""
    best = None
    for x in g:
        if best is None or x > best:
            best = x
    if best is None:
        raise ValueError(_NO_LARGEST)
    return best


def smallest(g: Iterable[float]) -> float:
    """Return `min(g)` of numbers."""
    best = None
    for x in g:
        if best is None or x < best:
            best = x
    if best is None:
        raise ValueError(_NO_SMALLEST)
    return best


def extreme(what: str, is_max: bool, g: Iterable[T], key: Callable[[T], float],
            *default: T) -> T:
    """Return `max(g, key=key)`, or `min`: the first of them."""
    items: list[T] = []
    keys: list[float] = []
    for x in g:
        items.append(read_now(x))
        keys.append(key(x))
    if not items:
        if default:
            return default[0]
        raise ValueError(what)
    items = readable(items)
    keys = readable(keys)
    best = 0
    for k in range(1, len(items)):
        if keys[k] > keys[best] if is_max else keys[k] < keys[best]:
            best = k
    return items[best]


Sequences = tuple[Sequence[object], ...]


def zipped(before: Sequences, g: Iterable[object], after: Sequences) -> Iterator[object]:
    """Yield `zip(*before, g, *after)`, where the others have items by number."""
    if not _are_longer(before, 0):
        return
    k = 0
    for x in g:
        if not _are_longer(after, k):
            return
        yield (*_items(before, k), x, *_items(after, k))
        k = k + 1
        if not _are_longer(before, k):
            return


def _are_longer(xs: Sequences, k: int) -> bool:
    longer = True
    for x in xs:
        if k >= len(x):
            longer = False
            break
    return longer


def _items(xs: Sequences, k: int) -> list[object]:
    return [item_in_turn(x, k) if is_traced(x) else x[k] for x in xs]


# --- the replacements of Python's functions -------------------------------------------------------


def _any(g: Iterable[object]) -> bool:
    found = False
    for x in g:
        if x:
            found = True
            break
    return found


def _all(g: Iterable[object]) -> bool:
    found = True
    for x in g:
        if not x:
            found = False
            break
    return found


def _reduce(function: Callable[[T, S], T], g: Iterable[S], initial: T) -> T:
    result = initial
    for x in g:
        result = function(result, x)
    return result


def _enumerate(iterable: Iterable[T], start: int = 0) -> Iterator[tuple[int, T]]:
    return _numbered(iterable, as_index(start))


def _numbered(iterable: Iterable[T], k: int) -> Iterator[tuple[int, T]]:
    for x in iterable:
        yield k, x
        k = k + 1


def _map(fn: Callable[[T], S], g: Iterable[T]) -> Iterator[S]:
    for x in g:
        yield fn(x)


def _filter(fn: Callable[[T], object] | None, g: Iterable[T]) -> Iterator[T]:
    for x in g:
        if x if fn is None else fn(x):
            yield x


def _islice(g: Iterable[T], *ends: int | None) -> Iterator[T]:
    ends = ends_of_slice(ends)
    start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    if stop is not None and stop < 0 and len(ends) == 1:
        raise ValueError(f"Stop argument for islice() {_MUST_BE}")
    if (start is not None and start < 0) or (stop is not None and stop < 0):
        raise ValueError(f"Indices for islice() {_MUST_BE}")
    if step is not None and step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _sliced(g, 0 if start is None else start, stop, 1 if step is None else step)


_MUST_BE = "must be None or an integer: 0 <= x <= sys.maxsize."


def _sliced(g: Iterable[T], wanted: int, stop: int | None, step: int) -> Iterator[T]:
    end = None if stop is None else max(wanted, stop)  # as many are taken where it is after `stop`
    k = 0
    if end is not None and end <= 0:
        return
    for x in g:
        if k == wanted and (stop is None or k < stop):
            yield x
            wanted = wanted + step
        k = k + 1
        if end is not None and k >= end:
            return


def _chain(*gs: Iterable[T]) -> Iterator[T]:
    for g in gs:
        yield from g


def _chain_from(gs: Iterable[Iterable[T]]) -> Iterator[T]:
    for g in gs:
        yield from g


def _takewhile(fn: Callable[[T], object], g: Iterable[T]) -> Iterator[T]:
    for x in g:
        if not fn(x):
            return
        yield x


def _dropwhile(fn: Callable[[T], object], g: Iterable[T]) -> Iterator[T]:
    drops = True
    for x in g:
        if drops:
            drops = bool(fn(x))
        if not drops:
            yield x


def _filterfalse(fn: Callable[[T], object] | None, g: Iterable[T]) -> Iterator[T]:
    for x in g:
        if not (x if fn is None else fn(x)):
            yield x


def _compress(data: Iterable[T], selectors: Iterable[object]) -> Iterator[T]:
    for x, selected in zip(data, selectors, strict=False):
        if selected:
            yield x


def _items_of(group: list[T]) -> Iterator[T]:
    for x in group:  # noqa: UP028
        yield x


def _groupby(iterable: Iterable[T], key: Callable[[T], S] | None = None
             ) -> Iterator[tuple[object, Iterator[T]]]:
    """Yield a key and its items, which are gone once the next group is asked for."""
    group: list[T] = []
    keys: list[object] = []
    for x in iterable:
        of_item = x if key is None else key(x)
        if len(keys) > 0 and of_item != keys[0]:
            yield keys[0], _items_of(group)
            group.clear()
            keys.clear()
        group.append(read_now(x))
        keys.append(read_now(of_item))
    if len(keys) > 0:
        yield keys[0], _items_of(group)
        group.clear()


def _accumulate(iterable: Iterable[T], func: Callable[[T, T], T] = operator.add, *,
                initial: T | None = None) -> Iterator[T]:
    total = initial
    if total is not None:
        yield total
    for x in iterable:
        total = x if total is None else func(total, x)
        yield total


def _pairwise(iterable: Iterable[T]) -> Iterator[tuple[T, T]]:
    before = None
    for x in iterable:
        if before is not None:
            yield before[0], x
        before = (x,)


MAKERS: dict[Any, Callable[..., object]] = {
    enumerate: _enumerate, map: _map, filter: _filter, itertools.islice: _islice,
    itertools.chain: _chain, itertools.chain.from_iterable: _chain_from,
    itertools.takewhile: _takewhile, itertools.dropwhile: _dropwhile,
    itertools.filterfalse: _filterfalse, itertools.compress: _compress,
    itertools.starmap: mapped_together, itertools.groupby: _groupby, itertools.accumulate: _accumulate,
    itertools.pairwise: _pairwise, any: _any, all: _all, functools.reduce: _reduce}
"""The captured replacements of Python's functions, where they are called with a generator."""


# --- iterators without an end ---------------------------------------------------------------------


def _cycle(iterable: Iterable[T]) -> Iterator[T]:
    items = list(iterable)
    while len(items) > 0:
        for x in items:  # noqa: UP028 (each is taken by itself)
            yield x


def _count(start: float = 0, step: float = 1) -> Iterator[float]:
    k = 0
    while True:
        yield start + k * step
        k = k + 1


def _repeat(item: T) -> Iterator[T]:
    while True:
        yield item


ENDLESS: dict[Any, Callable[..., object]] = {
    itertools.cycle: _cycle, itertools.count: _count, itertools.repeat: _repeat}
"""The captured forms of iterators that go on for ever, beside items that data counts."""
