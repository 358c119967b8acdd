"""Deques, sets and dicts whose content data decides, with Python's behaviour.

Captured like users' classes, on lists whose length data decides. A deque has its items in two
lists, each with the number of items that have left it; a set and a dict have their keys in a list,
a dict in the order in which they came.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from tracejit.trace.containers.stand_ins import StandIn, as_key, is_walked
from tracejit.trace.lists.orders import changing, indexable, is_empty, is_known, readable

__all__ = ["KEYED", "DataCounter", "DataDefaultDict", "DataDeque", "DataDict", "DataSet"]


def _item(xs: list[object], k: int) -> Any:
    if is_empty(xs):
        raise IndexError("deque index out of range")
    indexable(xs)
    return xs[k]


def _put(xs: list[object], k: int, x: object) -> None:
    if is_empty(xs):
        raise IndexError("deque index out of range")
    indexable(xs)
    xs[k] = x


def _rest(xs: list[object], gone: int) -> Any:
    if is_empty(xs):
        return []
    if not is_known(gone):
        indexable(xs)
    return xs[gone:]


def _popped(owner: StandIn, xs: list[object]) -> Any:
    if is_empty(xs):
        raise IndexError("pop from an empty list")
    changing(owner, xs)
    return xs.pop()


class DataDeque(StandIn):
    """A deque: `_front` backwards, then `_back`; of each, the first `_gone` have left it."""

    kind: ClassVar[type] = deque

    def __init__(self, iterable: Iterable[object] = (), maxlen: int | None = None) -> None:
        self._front: list[Any] = []
        self._back: list[Any] = []
        self._front_gone = self._back_gone = 0
        self._limit = maxlen
        self.extend(iterable)

    @property
    def maxlen(self) -> Any:
        return self._limit

    def on__len__(self) -> Any:
        return len(self._front) - self._front_gone + len(self._back) - self._back_gone

    def on__bool__(self) -> Any:
        return self.on__len__() > 0

    def append(self, x: object) -> None:
        changing(self, self._back)
        self._back.append(x)
        if self._limit is not None and self.on__len__() > self._limit:
            self.popleft()

    def appendleft(self, x: object) -> None:
        changing(self, self._front)
        self._front.append(x)
        if self._limit is not None and self.on__len__() > self._limit:
            self.pop()

    def pop(self) -> Any:
        if self.on__len__() <= 0:
            raise IndexError("pop from an empty deque")
        if len(self._front) == 0 or len(self._back) > self._back_gone:
            return _popped(self, self._back)
        x = _item(self._front, self._front_gone)
        changing(self, self._back)
        self._front_gone = self._front_gone + 1
        return x

    def popleft(self) -> Any:
        if self.on__len__() <= 0:
            raise IndexError("pop from an empty deque")
        if len(self._front) > self._front_gone:
            return _popped(self, self._front)
        x = _item(self._back, self._back_gone)
        changing(self, self._back)
        self._back_gone = self._back_gone + 1
        return x

    def extend(self, iterable: Iterable[object]) -> None:
        for x in iterable:
            self.append(x)

    def extendleft(self, iterable: Iterable[object]) -> None:
        for x in iterable:
            self.appendleft(x)

    def clear(self) -> None:
        changing(self, self._front)
        changing(self, self._back)
        self._front.clear()
        self._back.clear()
        self._front_gone = 0
        self._back_gone = 0

    def copy(self) -> Any:
        return DataDeque(self.on_items(), self._limit)

    def on_place(self, k: int, error: str) -> Any:
        n = self.on__len__()
        if k < 0:
            k = k + n
        if k < 0 or k >= n:
            raise IndexError(error)
        return k

    def on__getitem__(self, k: int) -> Any:
        k = self.on_place(k, "deque index out of range")
        if len(self._front) == 0:
            return _item(self._back, self._back_gone + k)
        before = len(self._front) - self._front_gone
        if k < before:
            return _item(self._front, len(self._front) - 1 - k)
        return _item(self._back, self._back_gone + k - before)

    def on__setitem__(self, k: int, x: object) -> None:
        k = self.on_place(k, "deque index out of range")
        before = len(self._front) - self._front_gone
        if k < before:
            _put(self._front, len(self._front) - 1 - k, x)
        else:
            _put(self._back, self._back_gone + k - before, x)

    def on__contains__(self, x: object) -> Any:
        return x in self.on_items()

    def on_items(self) -> Any:
        if is_empty(self._front):
            return _rest(self._back, self._back_gone)
        return _rest(self._front, self._front_gone)[::-1] + _rest(self._back, self._back_gone)


class _Keyed(StandIn):
    """A container with keys: a set or a dict."""

    _names: list[Any]
    is_set: ClassVar[bool] = False

    def on__len__(self) -> Any:
        return len(self._names)

    def on__bool__(self) -> Any:
        return len(self._names) > 0

    def on_place(self, key: object) -> Any:
        """Return the place of a key; the number of keys if it is none of them."""
        key = as_key(key, self.is_set)
        indexable(self._names)
        place = len(self._names)
        for k in range(len(self._names)):
            if self._names[k] == key:
                place = k
                break
        return place

    def on__contains__(self, key: object) -> Any:
        return self.on_place(key) < len(self._names)


class DataSet(_Keyed):
    """A set. Its items have no order here: in CPython hashes decide on it."""

    kind: ClassVar[type] = set
    is_set: ClassVar[bool] = True

    def __init__(self, iterable: Iterable[object] = ()) -> None:
        self._names = []
        self.update(iterable)

    def add(self, key: object) -> None:
        if self.on_place(key) >= len(self._names):
            changing(self, self._names)
            self._names.append(key)

    def update(self, *iterables: Iterable[object]) -> None:
        for iterable in iterables:
            for key in iterable:
                self.add(key)

    def discard(self, key: object) -> None:
        changing(self, self._names)
        k = self.on_place(key)
        if k < len(self._names):
            last = _popped(self, self._names)
            if k < len(self._names):
                _put(self._names, k, last)

    def remove(self, key: object) -> None:
        changing(self, self._names)
        k = self.on_place(key)
        if k >= len(self._names):
            raise KeyError(f"{key}")
        last = _popped(self, self._names)
        if k < len(self._names):
            _put(self._names, k, last)

    def clear(self) -> None:
        changing(self, self._names)
        self._names.clear()

    def copy(self) -> Any:
        return DataSet(self._names)

    def on_items(self) -> Any:
        return [] if is_empty(self._names) else self._names


class DataDict(_Keyed):
    """A dict of numbers, or of tuples or arrays."""

    kind: ClassVar[type] = dict

    def __init__(self, items: Iterable[tuple[object, object]] = ()) -> None:
        self._names = []
        self._things: list[Any] = []
        self.update(items)

    def on__getitem__(self, key: object) -> Any:
        k = self.on_place(key)
        if k >= len(self._names):
            return self.on__missing__(key)
        return _item(self._things, k)

    def on__missing__(self, key: object) -> Any:
        raise KeyError(f"{key}")

    def on__setitem__(self, key: object, x: object) -> None:
        k = self.on_place(key)
        if k < len(self._names):
            _put(self._things, k, x)
        else:
            if is_walked(self):
                raise RuntimeError("dictionary changed size during iteration")
            changing(self, self._names, self._things)
            self._names.append(key)
            self._things.append(x)

    def on__delitem__(self, key: object) -> None:
        self.pop(key)

    def get(self, key: object, default: object = None) -> Any:
        k = self.on_place(key)
        if k >= len(self._names):
            return default
        return _item(self._things, k)

    def setdefault(self, key: object, default: object = None) -> Any:
        k = self.on_place(key)
        if k >= len(self._names):
            changing(self, self._names, self._things)
            self._names.append(key)
            self._things.append(default)
            return default
        return _item(self._things, k)

    def pop(self, key: object, *default: object) -> Any:
        changing(self, self._names, self._things)
        k = self.on_place(key)
        if k >= len(self._names):
            if default:
                return default[0]
            raise KeyError(f"{key}")
        x = _item(self._things, k)
        del self._names[k]
        del self._things[k]
        return x

    def popitem(self) -> Any:
        changing(self, self._names, self._things)
        if not self._names:
            raise KeyError("popitem(): dictionary is empty")
        return _popped(self, self._names), _popped(self, self._things)

    def clear(self) -> None:
        changing(self, self._names, self._things)
        self._names.clear()
        self._things.clear()

    def update(self, items: dict[object, object] | Iterable[tuple[object, object]] = (),
               **named: object) -> None:
        for key, x in items.items() if isinstance(items, dict) else items:
            self.on__setitem__(key, x)
        for name, x in named.items():
            self.on__setitem__(name, x)

    def copy(self) -> Any:
        return DataDict(zip(self._names, self._things, strict=True))

    def keys(self) -> Any:
        return DataKeys(self)

    def values(self) -> Any:
        return DataValues(self)

    def items(self) -> Any:
        return DataItems(self)

    def on_items(self) -> Any:
        return [] if is_empty(self._names) else self._names


class DataDefaultDict(DataDict):
    """A defaultdict."""

    kind: ClassVar[type] = defaultdict

    def __init__(self, default_factory: Callable[[], object] | None = None,
                 items: Iterable[tuple[object, object]] = ()) -> None:
        self._names = []
        self._things = []
        self._factory = default_factory
        self.update(items)

    @property
    def default_factory(self) -> Any:
        return self._factory

    def on__missing__(self, key: object) -> Any:
        if self._factory is None:
            raise KeyError(f"{key}")
        x = self._factory()
        changing(self, self._names, self._things)
        self._names.append(key)
        self._things.append(x)
        return x


class DataCounter(DataDict):
    """A Counter."""

    kind: ClassVar[type] = Counter

    def __init__(self, iterable: Iterable[object] = ()) -> None:
        self._names = []
        self._things = []
        self.update(iterable)

    def update(self, items: dict[object, object] | Iterable[object] = (),
               **named: object) -> None:
        for name, number in named.items():
            self.on__setitem__(name, self.on__getitem__(name) + number)
        if isinstance(items, dict):
            for key, count in items.items():
                self.on__setitem__(key, self.on__getitem__(key) + count)
        else:
            for key in items:
                self.on__setitem__(key, self.on__getitem__(key) + 1)

    def on__missing__(self, key: object) -> Any:
        return 0

    def most_common(self, n: int | None = None) -> Any:
        names, things = readable(self._names), readable(self._things)
        order = sorted(range(len(names)), key=lambda k: -things[k])
        found = [(names[k], things[k]) for k in order]
        return found if n is None else found[:max(n, 0)]

    def total(self) -> Any:
        return sum(self._things)


KEYED: dict[Any, Any] = {deque: DataDeque, set: DataSet, dict: DataDict,
                         defaultdict: DataDefaultDict, Counter: DataCounter}
"""The classes, by the classes of Python's that they stand for."""


class _View(StandIn):
    """The keys, values or items of a dict, as they are when they are asked for."""

    def __init__(self, owner: DataDict) -> None:
        self._owner = owner

    @property
    def owner(self) -> StandIn:
        return self._owner

    def on__len__(self) -> Any:
        return self._owner.on__len__()

    def on__bool__(self) -> Any:
        return self._owner.on__bool__()


class DataKeys(_View):
    """The keys of a dict."""

    kind: ClassVar[type] = type({}.keys())

    def empty(self) -> Any:
        return {}.keys()

    def on__contains__(self, x: object) -> Any:
        return self._owner.on__contains__(x)

    def on_items(self) -> Any:
        return self._owner.on_items()


class DataValues(_View):
    """The values of a dict."""

    kind: ClassVar[type] = type({}.values())

    def empty(self) -> Any:
        return {}.values()

    def on__contains__(self, x: object) -> Any:
        return x in self._owner._things

    def on_items(self) -> Any:
        return [] if is_empty(self._owner._names) else self._owner._things


class DataItems(_View):
    """The keys of a dict, each with its value."""

    kind: ClassVar[type] = type({}.items())

    def empty(self) -> Any:
        return {}.items()

    def on_items(self) -> Any:
        if is_empty(self._owner._names):
            return []
        return zip(self._owner._names, self._owner._things, strict=True)
