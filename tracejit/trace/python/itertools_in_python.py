"""The functions of `itertools`, written in Python: captured like users' functions."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from tracejit.trace.lists.iterables import ends_of_slice, read_now

__all__ = ["ENDLESS", "OF_ITERTOOLS", "mapped_together"]

T = TypeVar("T")
S = TypeVar("S")


def mapped_together(fn: Callable[..., S], g: Iterable[tuple[object, ...]]) -> Iterator[S]:
    """Yield `fn(*xs) for xs in g`."""
    for xs in g:
        yield fn(*xs)


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


OF_ITERTOOLS: dict[Any, Callable[..., object]] = {
    itertools.islice: _islice, itertools.chain: _chain,
    itertools.chain.from_iterable: _chain_from, itertools.takewhile: _takewhile,
    itertools.dropwhile: _dropwhile, itertools.filterfalse: _filterfalse,
    itertools.compress: _compress, itertools.starmap: mapped_together,
    itertools.groupby: _groupby, itertools.accumulate: _accumulate,
    itertools.pairwise: _pairwise}
"""The functions that go through items which a generator yields, or data decides on."""


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
