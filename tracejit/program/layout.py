"""The memory layout of CPython and NumPy that the fast entry reads, and whether it holds here.

The offsets are for a 64-bit CPython with reference counts of one word and for NumPy 2; a check at
first use compares the fields read at them with Python's own answers. Where they do not hold, calls
go through the slower path.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ARRAY_DATA", "ARRAY_DESCR", "ARRAY_DIMS", "ARRAY_FLAGS", "ARRAY_NDIM", "CELL_CONTENT",
           "DICT_USED", "DICT_VERSION", "LIST_ITEMS", "LIST_SIZE", "MANAGED_DICT",
           "NUMPY_NEW_FROM_DESCR", "NUMPY_SCALAR", "OBJECT_TYPE", "Places", "SCALAR_VALUE",
           "STR_HASH", "class_version", "deque_item", "dict_address", "function_fields",
           "has_dict_versions",
           "is_known_layout", "is_read_plainly", "numpy_function", "places_in", "slot_offset",
           "structure_words", "version_of", "word_at"]

OBJECT_TYPE = 8
ARRAY_DATA, ARRAY_NDIM, ARRAY_DIMS, ARRAY_DESCR, ARRAY_FLAGS = 16, 24, 32, 56, 64
SCALAR_VALUE = 16
CELL_CONTENT = 16
LIST_SIZE, LIST_ITEMS = 16, 24
DICT_USED, DICT_VERSION = 16, 24
STR_HASH = 24
MANAGED_DICT = -24
"""Before an object: where the dict of its attributes is, for types with a flag that says so."""

NUMPY_NEW_FROM_DESCR, NUMPY_SCALAR = 94, 60


def numpy_function(index: int) -> int:
    """Return the address of a function of NumPy's C interface."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(np._core._multiarray_umath._ARRAY_API, None),  # type: ignore[attr-defined]
                        ctypes.POINTER(ctypes.c_void_p))
    address: int | None = table[index]
    assert address is not None
    return address


def word_at(address: int) -> int:
    """Return a word of memory."""
    return int(ctypes.c_int64.from_address(address).value)


@functools.cache
def is_known_layout() -> bool:
    """Return whether the offsets above are right in this process."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if getattr(sys, "_is_gil_enabled", lambda: True)() is False:
        return False
    try:
        return (_check_array() and _check_scalars() and _check_cell() and _check_containers()
                and len(function_fields()) == 3)
    except Exception:
        return False


def _check_array() -> bool:
    a = np.arange(6.0).reshape(2, 3)
    base = id(a)
    dims = word_at(base + ARRAY_DIMS)
    return (word_at(base + OBJECT_TYPE) == id(np.ndarray)
            and word_at(base + ARRAY_DATA) == a.ctypes.data
            and ctypes.c_int32.from_address(base + ARRAY_NDIM).value == 2
            and (word_at(dims), word_at(dims + 8)) == (2, 3)
            and word_at(base + ARRAY_DESCR) == id(np.dtype(np.float64))
            and ctypes.c_int32.from_address(base + ARRAY_FLAGS).value & 0x501 == 0x501)


def _check_scalars() -> bool:
    x, y = 1.25, np.float64(2.5)
    values = [ctypes.c_double.from_address(id(v) + SCALAR_VALUE).value for v in (x, y)]
    pairs = [(ctypes.c_double * 2).from_address(id(v) + SCALAR_VALUE)[:]
             for v in (3.0 + 4.0j, np.complex128(5.0 + 6.0j))]
    return values == [1.25, 2.5] and pairs == [[3.0, 4.0], [5.0, 6.0]]


@functools.cache
def function_fields() -> dict[str, int]:
    """Return where a function has its code and defaults: 0 there stands for None."""
    def probe(x: object = 1, *, y: object = 2) -> Any:
        return x, y

    words = {word_at(id(probe) + 8 * k): 8 * k for k in range(2, 12)}
    found = {name: words.get(id(getattr(probe, name)))
             for name in ("__code__", "__defaults__", "__kwdefaults__")}
    return {name: offset for name, offset in found.items() if offset is not None}


def _check_cell() -> bool:
    content: Any = object()

    def inner() -> Any:
        return content

    assert inner.__closure__ is not None
    return word_at(id(inner.__closure__[0]) + CELL_CONTENT) == id(content)


def _check_containers() -> bool:
    items, names, text = [object(), object()], {"a": 1, "b": 2, "c": 3}, "some text"
    return (word_at(id(items) + LIST_SIZE) == 2
            and word_at(word_at(id(items) + LIST_ITEMS) + 8) == id(items[1])
            and word_at(id(names) + DICT_USED) == 3
            and hash(text) == word_at(id(text) + STR_HASH)
            and hasattr(ctypes.pythonapi, "_PyDict_GetItem_KnownHash"))


@functools.cache
def has_dict_versions() -> bool:
    """Return whether a dict has a word that is another one after every change of it."""
    if sys.version_info[:2] not in ((3, 11), (3, 12)):
        return False

    class Probe:
        pass

    x = Probe()
    x.a = 1.0  # type: ignore[attr-defined]
    names = vars(x)
    seen = [word_at(id(names) + DICT_VERSION)]
    for k in range(2000):  # Python specialises code that runs often
        x.a = float(k)  # type: ignore[attr-defined]
        seen.append(word_at(id(names) + DICT_VERSION))
    for change in (lambda: names.update(a=2), lambda: names.setdefault("b", 1),
                   lambda: names.pop("b"), lambda: names.__setitem__("a", 3),
                   lambda: setattr(x, "c", 1), lambda: delattr(x, "c"), names.popitem,
                   names.clear):
        change()
        seen.append(word_at(id(names) + DICT_VERSION))
    return len({*seen}) == len(seen)


class Places(NamedTuple):
    """Where a dict has its values, as long as some words stay the same.

    Addresses are relative to the address of a cell's content.

    checks -- by address, the words that have to stay the same
    shared -- whether other objects have these keys, which stay at their places then; a key is
              right before its value otherwise
    values -- by a key's address: where its value is
    """

    checks: dict[int, int]
    shared: bool
    values: dict[int, int]


def places_in(x: dict[Any, Any]) -> Places | None:
    """Return where a dict has its values; None where that is not known."""
    if not has_dict_versions():
        return None
    table, split = word_at(id(x) + DICT_KEYS), word_at(id(x) + DICT_VALUES)
    head = word_at(table + 8)
    kind = (head >> 16) & 255
    if kind not in ((_SPLIT,) if split else (_TEXTS, _OF_ANY)):
        return None
    entries, count = table + _INDICES + (1 << ((head >> 8) & 255)), word_at(table + 24)
    size = 3 if kind == _OF_ANY else 2  # words of an entry: of any key the hash comes first
    words = (ctypes.c_int64 * (size * count)).from_address(entries)
    places: dict[int, int] = {}
    for k in range(count):
        at = size * (k + 1) - 2
        place = split + 8 * k if split else entries + 8 * (at + 1)
        if words[at] and word_at(place):
            places[words[at]] = place - CELL_CONTENT
    known = {id(key): id(value) for key, value in x.items()}
    if {key: word_at(p + CELL_CONTENT) for key, p in places.items()} != known:
        return None
    checks = {id(x) + DICT_KEYS: table, id(x) + DICT_VALUES: split, table + 8: head}
    return Places({at - CELL_CONTENT: word for at, word in checks.items()},
                  bool(split), places)


DICT_KEYS, DICT_VALUES = 32, 40
_INDICES = 32
"""Behind the head of a dict's table: the indices, and behind them the entries."""
_OF_ANY, _TEXTS, _SPLIT = 0, 1, 2
"""Kinds of tables: keys of any type, texts, or texts with the values of one object beside them."""


def structure_words(x: object) -> dict[int, int] | None:
    """Return, by address, the words that determine the content of a set, deque or OrderedDict.

    Each address can be read where the words before it are the same. None where there are too many,
    or where they are not known. Of a deque the words give the number and places of its items.
    """
    words, is_known = _STRUCTURES.get(type(x), (None, bool))
    return words(x) if words is not None and is_known() else None


def deque_item(x: deque[Any], k: int) -> int:
    """Return the address of the k-th item of a deque."""
    block, index = word_at(id(x) + _DEQUE_BLOCK), word_at(id(x) + _DEQUE_INDEX) + k
    for _ in range(index // _BLOCK):
        block = word_at(block + _NEXT_BLOCK)
    return block + 8 + 8 * (index % _BLOCK)


def _words_of_set(x: set[Any]) -> dict[int, int] | None:
    mask, table = word_at(id(x) + _SET_MASK), word_at(id(x) + _SET_TABLE)
    if mask >= _MOST_ENTRIES:
        return None
    places = [id(x) + _SET_MASK, id(x) + _SET_TABLE,
              *(table + 16 * k for k in range(mask + 1))]
    return {place: word_at(place) for place in places}


def _words_of_deque(x: deque[Any]) -> dict[int, int] | None:
    places = [id(x) + _DEQUE_SIZE, id(x) + _DEQUE_BLOCK, id(x) + _DEQUE_INDEX]
    block, last = word_at(places[1]), word_at(places[2]) + len(x) - 1
    if last >= _MOST_ENTRIES * _BLOCK:
        return None
    for _ in range(last // _BLOCK):
        places.append(block + _NEXT_BLOCK)
        block = word_at(block + _NEXT_BLOCK)
    return {place: word_at(place) for place in places}


def _words_of_ordered(x: OrderedDict[Any, Any]) -> dict[int, int] | None:
    places = [id(x) + DICT_USED, id(x) + _ORDER]
    return {place: word_at(place) for place in places}


_SET_MASK, _SET_TABLE = 32, 40
"""In a set: how many entries its table has, less one, and where; an entry is a key and a hash."""
_MOST_ENTRIES = 1 << 12
_DEQUE_SIZE, _DEQUE_BLOCK, _DEQUE_INDEX = 16, 24, 40
"""In a deque: how many items, the first block of them, and the place of the first item in it."""
_BLOCK, _NEXT_BLOCK = 64, 8 + 8 * 64
"""A block has a link back, so many items and, there, a link onward."""
_ORDER = 88
"""In an OrderedDict: a number that is another one after every change of keys or of their order."""


@functools.cache
def _check_set() -> bool:
    for n in (0, 3, 100):
        x = {object() for _ in range(n)}
        words = [*(_words_of_set(x) or {}).values()]
        dummies = len([k for k in words[2:] if k not in {id(y) for y in x}])
        if words[0] != len(words) - 3 or dummies + n != len(words) - 2:
            return False
    return True


@functools.cache
def _check_deque() -> bool:
    x = deque(object() for _ in range(200))
    for change in (x.popleft, x.pop, lambda: x.rotate(7), lambda: x.appendleft(object()),
                   lambda: x.append(object())):
        for _ in range(70):
            change()
        if word_at(id(x) + _DEQUE_SIZE) != len(x) or any(
                word_at(deque_item(x, k)) != id(y) for k, y in enumerate(x)):
            return False
    return True


@functools.cache
def _check_ordered() -> bool:
    x = OrderedDict(a=1, b=2)
    seen = {(word_at(id(x) + _ORDER), len(x))}
    changes = (lambda: x.move_to_end("a"), lambda: x.pop("a"), lambda: x.update(c=3),
               lambda: x.move_to_end("c", last=False), x.popitem, x.clear, lambda: x.update(d=4))
    for change in changes:
        change()
        seen.add((word_at(id(x) + _ORDER), len(x)))
    return len(seen) == len(changes) + 1 and max(seen)[0] < 1000


_STRUCTURES: dict[Any, tuple[Callable[[Any], dict[int, int] | None], Callable[[], bool]]] = {
    set: (_words_of_set, _check_set), deque: (_words_of_deque, _check_deque),
    OrderedDict: (_words_of_ordered, _check_ordered)}
"""By type: the words of a container, and whether the offsets are right in this process."""

@functools.cache
def class_version() -> int | None:
    """Return where a class has its version, which is another one after each change; None if not."""
    class Base:
        a = 1

    class Derived(Base):
        pass

    def words() -> list[int]:
        _ = Derived().a
        return [word_at(id(Derived) + 8 * k) for k in range(40, 60)]

    seen = [words()]
    for k in range(4):
        (Base if k % 2 else Derived).a = k
        seen.append(words())
    found = [8 * (40 + k) for k in range(20)
             if len({row[k] for row in seen}) == len(seen) and all(
                 0 < row[k] < 2**32 for row in seen)]
    return found[0] if len(found) == 1 else None


def version_of(cls: type) -> int:
    """Return the version of a class; 0 where it has none."""
    getattr(cls, "_not_there", None)  # looking a name up gives it one
    offset = class_version()
    return 0 if offset is None else word_at(id(cls) + offset)


def slot_offset(descriptor: object) -> int | None:
    """Return the offset of the field that a `__slots__` descriptor reads; None if unknown."""
    member = word_at(id(descriptor) + 40)
    kind = ctypes.c_int32.from_address(member + 8).value
    return word_at(member + 16) if kind in (_OBJECT, _OBJECT_OR_ERROR) else None


def dict_address(x: object) -> int:
    """Return where an object has its dict of attributes; 0 if unknown."""
    kind = type(x)
    if kind.__flags__ & _HAS_MANAGED_DICT:
        return id(x) + MANAGED_DICT
    offset = kind.__dictoffset__
    if offset < 0:  # from the end of an object whose items lie in it
        size = kind.__basicsize__ + abs(word_at(id(x) + _ITEMS)) * kind.__itemsize__
        offset += (size + 7) & ~7
    return id(x) + offset if offset > 0 else 0


_HAS_MANAGED_DICT = 1 << 4
_ITEMS = 16
"""In an object of a type with items: how many."""


def is_read_plainly(cls: type) -> bool:
    """Whether attributes of a class's objects are found like the attributes of plain objects."""
    getter: Any = cls.__getattribute__
    return getter is object.__getattribute__ or (
        _has_known_getter() and word_at(id(cls) + _GETTER) == word_at(id(object) + _GETTER))


@functools.cache
def _has_known_getter() -> bool:
    class Own:
        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name)

    getters = [word_at(id(cls) + _GETTER) for cls in (object, Own, type, partial, FunctionType)]
    return getters[0] == getters[3] == getters[4] and len({*getters[:3]}) == 3


_GETTER = 144
"""In a class: the function that gets attributes of its objects."""


_OBJECT, _OBJECT_OR_ERROR = 6, 16
