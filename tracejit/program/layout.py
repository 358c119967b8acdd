"""Where CPython and NumPy keep what the fast entry reads, and whether that holds here.

The offsets are those of a 64-bit CPython with reference counts of one word and of NumPy 2; a check
at first use compares what they give with what Python says. Where they do not hold, calls go through
the slower path.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ARRAY_DATA", "ARRAY_DESCR", "ARRAY_DIMS", "ARRAY_FLAGS", "ARRAY_NDIM", "CELL_CONTENT",
           "DICT_USED", "DICT_VERSION", "LIST_ITEMS", "LIST_SIZE", "MANAGED_DICT",
           "NUMPY_NEW_FROM_DESCR", "NUMPY_SCALAR", "OBJECT_TYPE", "Places", "SCALAR_VALUE",
           "STR_HASH", "class_version", "function_fields", "has_dict_versions",
           "is_known_layout", "numpy_function", "places_in", "slot_offset", "version_of", "word_at"]

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
    return values == [1.25, 2.5]


@functools.cache
def function_fields() -> dict[str, int]:
    """Return where a function has its code and defaults: 0 there stands for None."""
    def probe(x: Any = 1, *, y: Any = 2) -> Any:
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
    """Where a dict has its values, as long as some words are what they are.

    Addresses are those less that of a cell's content.

    checks -- by address, the words that say so
    shared -- whether other objects have these keys, which stay at their places then; a key is
              right before its value otherwise
    values -- by a key's address: where its value is
    """

    checks: dict[int, int]
    shared: bool
    values: dict[int, int]


def places_in(x: dict[Any, Any]) -> Places | None:
    """Return where a dict whose keys are texts has its values; None where that is not known."""
    if not has_dict_versions():
        return None
    table, split = word_at(id(x) + DICT_KEYS), word_at(id(x) + DICT_VALUES)
    head = word_at(table + 8)
    if (head >> 16) & 255 != (_SPLIT if split else _TEXTS):
        return None
    entries, count = table + _INDICES + (1 << ((head >> 8) & 255)), word_at(table + 24)
    words = (ctypes.c_int64 * (2 * count)).from_address(entries)
    places: dict[int, int] = {}
    for k in range(count):
        place = split + 8 * k if split else entries + 16 * k + 8
        if words[2 * k] and word_at(place):
            places[words[2 * k]] = place - CELL_CONTENT
    known = {id(key): id(value) for key, value in x.items()}
    if {key: word_at(p + CELL_CONTENT) for key, p in places.items()} != known:
        return None
    checks = {id(x) + DICT_KEYS: table, id(x) + DICT_VALUES: split, table + 8: head}
    return Places({at - CELL_CONTENT: word for at, word in checks.items()},
                  bool(split), places)


DICT_KEYS, DICT_VALUES = 32, 40
_INDICES = 32
"""Behind the head of a dict's table: the indices, and behind them the entries."""
_TEXTS, _SPLIT = 1, 2
"""Kinds of tables: keys that are texts with values beside them, or with values of one object."""


@functools.cache
def class_version() -> int | None:
    """Return where a class has its version, which is another one after each change; None if not."""
    class Base:
        a = 1

    class Probe(Base):
        pass

    def words() -> list[int]:
        _ = Probe().a
        return [word_at(id(Probe) + 8 * k) for k in range(40, 60)]

    seen = [words()]
    for k in range(4):
        (Base if k % 2 else Probe).a = k
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


def slot_offset(descriptor: Any) -> int | None:
    """Return where objects have what a descriptor of `__slots__` reads; None if unknown."""
    member = word_at(id(descriptor) + 40)
    kind = ctypes.c_int32.from_address(member + 8).value
    return word_at(member + 16) if kind == _OBJECT_OR_ERROR else None


_OBJECT_OR_ERROR = 16
