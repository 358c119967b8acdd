"""Containers without items by number that `zip` takes beside an array: items as they are then."""

from __future__ import annotations

import gc
import itertools
from collections import deque
from collections.abc import ItemsView, Iterator, KeysView, Sequence, ValuesView
from enum import EnumType
from typing import Any

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.state.changes import is_iterator
from tracejit.trace.state.left_iterators import iterators_in, note_left
from tracejit.trace.state.paths import is_users_type

__all__ = ["LiveItems", "require_length", "with_numbers"]

_Held = dict[Any, Any] | set[Any] | deque[Any]


class LiveItems(Sequence[Any]):
    """The items of a container, each as it is when its turn comes."""

    def __init__(self, of: object, held: _Held) -> None:
        self.of, self.held = of, held
        self._size, self._witness = len(held), iter(held)
        self._keys, self._contents = _within(held)
        self._items = tuple(ABOVE.iterate(of))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, k: int | slice) -> Any:
        """Return an item; the container is read again if contents, but no keys, have changed."""
        if isinstance(self.held, deque):
            next(self._witness, None)  # raises Python's error, however often the deque has changed
        elif len(self.held) != self._size:
            next(self._witness)
        keys, contents = _within(self.held)
        if not _are_same(keys, self._keys):
            raise refuse(f"a {type(self.held).__name__} whose keys change while zip() runs over it "
                         "and over an array", "Run over a copy: list(...)", "TJ421")
        if not _are_same(contents, self._contents):
            self._contents, self._items = contents, tuple(ABOVE.iterate(self.of))
        return self._items[k]


_MOST = 10_000
"""The most items that are taken of an iterator, which may have no end."""
_PLAIN = (*map(type, (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items()),
                      iter(set()), iter(""), iter(b""), iter(range(0)), iter(range(2 ** 70)),
                      iter(deque()), reversed([]), reversed(()), reversed({}), reversed(deque()))),
          itertools.chain, itertools.islice, itertools.pairwise, itertools.combinations,
          itertools.permutations, itertools.product, itertools.count, itertools.repeat,
          enumerate, zip)
"""The iterators that run no code of a user's."""


class TakenItems(Sequence[Any]):
    """The items that an iterator has left, which is read no more; what it runs over must stay."""

    def __init__(self, iterator: Iterator[object]) -> None:
        parts = [*iterators_in(iterator)]
        self._sources = [y for x in parts for y in gc.get_referents(x)
                         if isinstance(y, (list, dict, set, deque))]
        self._before = [_within(x) for x in self._sources]
        self._items = tuple(itertools.islice(iterator, _MOST + 1))
        note_left(parts)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, k: int | slice) -> Any:
        """Return an item, as it was when the iterator was given away."""
        for x, parts in zip(self._sources, self._before, strict=True):
            if not all(map(_are_same, _within(x), parts)):
                raise refuse(f"a {type(x).__name__} that changes while zip() runs over an iterator "
                             "over it and over an array", "Run over a copy: list(...)", "TJ421")
        return self._items[k]


def _within(x: _Held | list[object]) -> tuple[list[object], list[object]]:
    """Return the keys that a dict or set has, and the contents of a dict, deque or list."""
    if isinstance(x, dict):
        return list(x), list(x.values())
    return ([], list(x)) if isinstance(x, (deque, list)) else (list(x), [])


def _are_same(xs: list[object], ys: list[object]) -> bool:
    return len(xs) == len(ys) and all(x is y for x, y in zip(xs, ys, strict=True))


def _is_plain(x: object) -> bool:
    """Return whether an iterator, and all that it takes items from, runs no code of a user's."""
    if hasattr(type(x), "__next__"):
        if type(x) not in _PLAIN:
            return False
    elif type(x) is not tuple:
        return True
    return all(map(_is_plain, gc.get_referents(x)))


def with_numbers(x: object) -> Any:
    """Return an iterable with items by number, where another one has an end that is known."""
    if isinstance(x, (str, bytes, frozenset, EnumType)):
        return tuple(ABOVE.iterate(x))
    if isinstance(x, (list, tuple)):
        return x
    held = x
    if isinstance(x, (KeysView, ValuesView, ItemsView)):
        held = next((m for m in gc.get_referents(x) if isinstance(m, dict)), None)
    if isinstance(held, (dict, set, deque)):
        return LiveItems(x, held)
    if hasattr(type(x), "__iter__") and (is_iterator(x) or is_users_type(type(x))):
        iterator = ABOVE.iterate(x)
        if _is_plain(iterator):
            taken = TakenItems(iterator)
            return taken if len(taken) <= _MOST else x
    return x


def require_length(xs: Sequence[Any], length: int) -> None:
    """Refuse a list of Python's that zip() runs over beside an array, if its length has changed."""
    if len(xs) != length:
        raise refuse("a list that changes its length while zip() runs over it and over an array",
                     "Run over its indices with `while k < len(items)`, or over a copy", "TJ421")
