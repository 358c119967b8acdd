"""Python's functions of a generator, written in Python: captured like users' functions.

Each takes an item when Python's function does, and no more of them, so that the effects of the
generator between two items come in Python's order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from tracejit.trace.lists.iterables import (
    as_index,
    is_traced,
    item_in_turn,
    read_now,
)
from tracejit.trace.lists.orders import EMPTY, readable
from tracejit.trace.python.itertools_in_python import OF_ITERTOOLS

__all__ = ["MAKERS", "collected", "contained", "extended", "extreme", "first",
           "largest", "mapped", "multiplied", "read_one_by_one", "smallest",
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


MAKERS: dict[Any, Callable[..., object]] = {
    enumerate: _enumerate, map: _map, filter: _filter, any: _any, all: _all,
    functools.reduce: _reduce, **OF_ITERTOOLS}
"""The captured replacements of Python's functions, where they are called with a generator."""
