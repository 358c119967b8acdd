"""Containers without items by number that `zip` takes beside an array: items as they are then."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import ItemsView, KeysView, Sequence, ValuesView
from typing import Any

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.upward import ABOVE

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


def _within(x: _Held) -> tuple[list[object], list[object]]:
    """Return the keys that a dict or set has, and the contents of a dict or deque."""
    if isinstance(x, dict):
        return list(x), list(x.values())
    return ([], list(x)) if isinstance(x, deque) else (list(x), [])


def _are_same(xs: list[object], ys: list[object]) -> bool:
    return len(xs) == len(ys) and all(x is y for x, y in zip(xs, ys, strict=True))


def with_numbers(x: object) -> Any:
    """Return an iterable with items by number, where it is another container that has a length."""
    if isinstance(x, (str, bytes, frozenset)):
        return tuple(ABOVE.iterate(x))
    held = x
    if isinstance(x, (KeysView, ValuesView, ItemsView)):
        held = next((m for m in gc.get_referents(x) if isinstance(m, dict)), None)
    return LiveItems(x, held) if isinstance(held, (dict, set, deque)) else x


def require_length(xs: Sequence[Any], length: int) -> None:
    """Refuse a list of Python's that zip() runs over beside an array, if its length has changed."""
    if len(xs) != length:
        raise refuse("a list that changes its length while zip() runs over it and over an array",
                     "Run over its indices with `while k < len(items)`, or over a copy", "TJ421")
