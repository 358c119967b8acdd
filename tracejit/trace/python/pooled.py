"""Lists in other containers that data chooses among, with Python's behaviour.

Captured like users' classes. The items of all lists of a pool are in one list, each list's items
side by side, with room for more behind them; a list that outgrows its room moves to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from tracejit.trace.containers.references import Reference, Site
from tracejit.trace.lists.orders import changing, indexable, is_empty, is_known
from tracejit.trace.lists.pools import (
    begin_walk,
    end_walk,
    is_counted,
    no_copies,
    no_walk,
    own_place,
    own_size,
)

__all__ = ["DataList", "ListPool"]


class ListPool:
    """Lists by their numbers: where the items of each begin, how many it has and has room for."""

    is_held = True

    def __init__(self, site: Site) -> None:
        self.site = site
        self.items: list[Any] = []
        self.starts: list[int] = []
        self.counts: list[int] = []
        self.rooms: list[int] = []
        self.shown: list[Any] = []
        self.around: object = None
        self.walks = 0
        """How many loops run over lists of it that know how many items these have."""


def _item(xs: list[object], k: int) -> Any:
    if not is_known(k):
        indexable(xs)
        k = own_place(xs, k)
    return xs[k]


def _put(xs: list[object], k: int, x: object) -> None:
    if not is_known(k):
        indexable(xs)
        k = own_place(xs, k)
    xs[k] = x


class DataList(Reference):
    """A list of a pool."""

    kind: ClassVar[type] = list

    def __init__(self, pool: ListPool, iterable: Iterable[object] = ()) -> None:
        self._pool = pool
        changing(self, pool.starts, pool.counts, pool.rooms)
        self._number = len(pool.starts)
        pool.starts.append(0)
        pool.counts.append(0)
        pool.rooms.append(0)
        for x in iterable:
            self.append(x)

    # --- where the items are ------------------------------------------------------------------

    def on__len__(self) -> Any:
        return own_size(_item(self._pool.counts, self._number))

    def on_start(self) -> Any:
        """Return where in the pool the first item is."""
        return own_size(_item(self._pool.starts, self._number))

    def on__bool__(self) -> Any:
        return self.on__len__() > 0

    def on_item(self, k: int) -> Any:
        """Return the item of a number from 0 on."""
        return _item(self._pool.items, self.on_start() + k)

    def on_put(self, k: int, x: object) -> None:
        """Replace the item of a number from 0 on."""
        no_copies(self)
        _put(self._pool.items, self.on_start() + k, x)

    def on_place(self, k: int, error: str) -> Any:
        """Return the number from 0 on of an item; `IndexError` if there is none."""
        n = self.on__len__()
        if k < 0:
            k = k + n
        if k < 0 or k >= n or is_empty(self._pool.items):
            raise IndexError(error)
        return k

    def on_cut(self, n: int) -> None:
        """Keep the first n items."""
        no_walk(self._pool)
        changing(self, self._pool.items, self._pool.starts, self._pool.counts, self._pool.rooms)
        _put(self._pool.counts, self._number, n)

    # --- loops over it ------------------------------------------------------------------------

    def on_walk(self) -> Iterator[object]:
        """Yield the items as a loop over the list meets them, which may change it."""
        if is_empty(self._pool.items):
            return
        if is_counted(self._pool):
            k = 0
            while k < self.on__len__():
                yield self.on_item(k)
                k = k + 1
            return
        begin_walk(self._pool)
        for j in range(self.on__len__()):
            yield self.on_item(j)
        end_walk(self._pool)

    def on_walk_back(self) -> Iterator[object]:
        """Yield the items as `reversed` meets them."""
        if is_empty(self._pool.items):
            return
        k = self.on__len__() - 1
        while k >= 0:
            if k < self.on__len__():
                yield self.on_item(k)
            k = k - 1

    def on_items(self) -> Any:
        """Return a list of the program's own with the items."""
        if is_empty(self._pool.items):
            return []
        return self.on_part(0, self.on__len__())

    def on_part(self, begin: int, n: int) -> Any:
        """Return a list of the program's own with n items from a place on."""
        indexable(self._pool.items)
        start = self.on_start() + begin
        return self._pool.items[start:start + n]

    def on_unpack(self, count: int) -> None:
        """Require that there are so many items, which names are bound to."""
        n = self.on__len__()
        if n < count or is_empty(self._pool.items):
            raise ValueError(f"not enough values to unpack (expected {count}, got {n})")
        if n > count:
            raise ValueError(f"too many values to unpack (expected {count})")

    # --- methods of lists ---------------------------------------------------------------------

    def append(self, x: object) -> None:
        pool, number = self._pool, self._number
        no_walk(pool)
        changing(self, pool.items, pool.starts, pool.counts, pool.rooms)
        count = self.on__len__()
        if count == own_size(_item(pool.rooms, number)):
            self.on_move(count, x)
        else:
            _put(pool.items, self.on_start() + count, x)
        _put(pool.counts, number, count + 1)

    def on_move(self, count: int, x: object) -> None:
        """Let the list begin at the end of the pool, with one more item and room for others."""
        pool = self._pool
        begin = len(pool.items)
        if not is_empty(pool.items):
            pool.items.extend(self.on_part(0, count))
        for _ in range(count + 4):
            pool.items.append(x)
        _put(pool.starts, self._number, begin)
        _put(pool.rooms, self._number, 2 * count + 4)

    def extend(self, iterable: Iterable[object]) -> None:
        for x in self.on_items() if iterable is self else iterable:
            self.append(x)

    def pop(self, k: int = -1) -> Any:
        n = self.on__len__()
        if n == 0 or is_empty(self._pool.items):
            raise IndexError("pop from empty list")
        k = self.on_place(k, "pop index out of range")
        x = self.on_item(k)
        self.on_remove(k, n)
        return x

    def on_remove(self, k: int, n: int) -> None:
        """Let the items behind one, of n, take its place."""
        for j in range(k, n - 1):
            self.on_put(j, self.on_item(j + 1))
        self.on_cut(n - 1)

    def insert(self, k: int, x: object) -> None:
        n = self.on__len__()
        if k < 0:
            k = max(k + n, 0)
        k = min(k, n)
        self.append(x)
        for j in range(n, k, -1):
            self.on_put(j, self.on_item(j - 1))
        self.on_put(k, x)

    def remove(self, x: object) -> None:
        n = self.on__len__()
        k = self.on_find(x, n)
        if k >= n:
            raise ValueError("list.remove(x): x not in list")
        self.on_remove(k, n)

    def index(self, x: object) -> Any:
        n = self.on__len__()
        k = self.on_find(x, n)
        if k >= n:
            raise ValueError(f"{x} is not in list")
        return k

    def on_find(self, x: object, n: int) -> Any:
        """Return which of the first n items is equal to something; n where none is."""
        if is_empty(self._pool.items):
            return n
        found = n
        for k in range(n):
            if (self.on_item(k),) == (x,):
                found = k
                break
        return found

    def on__contains__(self, x: object) -> Any:
        n = self.on__len__()
        return self.on_find(x, n) < n

    def count(self, x: object) -> Any:
        found = 0
        for y in self.on_walk():
            if (y,) == (x,):
                found = found + 1
        return found

    def clear(self) -> None:
        self.on_cut(0)

    def copy(self) -> Any:
        return DataList(self._pool, self.on_items())

    def reverse(self) -> None:
        n = self.on__len__()
        if is_empty(self._pool.items):
            return
        for j in range(n // 2):
            x, y = self.on_item(j), self.on_item(n - 1 - j)
            self.on_put(j, y)
            self.on_put(n - 1 - j, x)

    def sort(self, *, key: Callable[[object], Any] | None = None, reverse: bool = False) -> None:
        k = 0
        for x in sorted(self.on_items(), key=key, reverse=reverse):
            self.on_put(k, x)
            k = k + 1

    def on__getitem__(self, k: int | slice) -> Any:
        if isinstance(k, slice):
            return self.on_slice(k)
        return self.on_item(self.on_place(k, "list index out of range"))

    def on_slice(self, k: slice) -> Any:
        """Return a new list with some of the items."""
        return DataList(self._pool, self.on_items()[k])

    def on__setitem__(self, k: int | slice, x: object) -> None:
        if isinstance(k, slice):
            self.on_assign(self.on_spliced(k, x))
        else:
            self.on_put(self.on_place(k, "list assignment index out of range"), x)

    def on_spliced(self, k: slice, xs: object) -> Any:
        """Return the items with others in the place of a slice."""
        items = self.on_items()
        items[k] = xs
        return items

    def on_assign(self, xs: Iterable[object]) -> None:
        """Let the list have other items."""
        self.on_cut(0)
        self.extend(xs)

    def on__delitem__(self, k: int | slice) -> None:
        if isinstance(k, slice):
            items = self.on_items()
            del items[k]
            self.on_assign(items)
        else:
            n = self.on__len__()
            self.on_remove(self.on_place(k, "list assignment index out of range"), n)

    # --- operators ----------------------------------------------------------------------------

    def on__add__(self, other: object) -> Any:
        if not isinstance(other, list):
            raise TypeError("can only concatenate list to list")
        made = self.copy()
        made.extend(other)
        return made

    def on__radd__(self, other: Iterable[object]) -> Any:
        made = DataList(self._pool, other)
        made.extend(self)
        return made

    def on__iadd__(self, other: Iterable[object]) -> Any:
        self.extend(other)
        return self

    def on__mul__(self, n: int) -> Any:
        made = DataList(self._pool)
        for _ in range(n):
            made.extend(self)
        return made

    def on__eq__(self, other: object) -> Any:
        if not isinstance(other, list):
            return False
        n = self.on__len__()
        same = len(other) == n
        if same and not is_empty(self._pool.items):
            k = 0
            for y in other:
                if (self.on_item(k),) != (y,):
                    same = False
                    break
                k = k + 1
        return same

    def on__lt__(self, other: object) -> Any:
        return self.on_order(other, True, False)

    def on__le__(self, other: object) -> Any:
        return self.on_order(other, True, True)

    def on__gt__(self, other: object) -> Any:
        return self.on_order(other, False, False)

    def on__ge__(self, other: object) -> Any:
        return self.on_order(other, False, True)

    def on_order(self, other: object, less: bool, same: bool) -> Any:
        """Return whether it comes before another list, or behind it; `same` if they are equal."""
        if not isinstance(other, list):
            raise TypeError("a list is compared with something else")
        n, m = self.on__len__(), len(other)
        found = n < m if less else n > m
        if n == m:
            found = same
        if not is_empty(self._pool.items):
            k = 0
            for y in other:
                if k >= n:
                    break
                x = self.on_item(k)
                if (x,) != (y,):
                    found = (x,) < (y,) if less else (x,) > (y,)
                    break
                k = k + 1
        return found

    def on__ne__(self, other: object) -> Any:
        return not self.on__eq__(other)
