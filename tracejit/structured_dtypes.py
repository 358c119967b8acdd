"""Structured dtypes as texts, and structured arrays as their fields and back.

A structured array is a node of a nest (`tree.py`), like a dict: each field of numbers is an array
of its own, a view of the record's memory. So writes to a field go to the caller's records.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["KINDS", "dtype_of_text", "field_names", "fields_of", "joined", "kind_of_rows",
           "rank_of", "text_of_dtype"]

KINDS: tuple[type, ...] = (np.ndarray, np.recarray, np.memmap, np.void, np.record)
"""The classes of structured arrays, and of records."""
_ARRAYS = KINDS[:3]
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}


def fields_of(x: object) -> tuple[type, tuple[str, int], list[Any]] | None:
    """Return the kind of a structured array or record, its dtype as text and rank, and its fields.

    None for anything else, and for one that cannot be taken apart (`text_of_dtype`).
    """
    kind = type(x)
    if not isinstance(x, (np.ndarray, np.void)) or kind not in KINDS:
        return None
    if x.dtype.names is None or (text := text_of_dtype(x.dtype)) is None:
        return None
    return kind, (text, x.ndim), [x[name] for name in field_names(x.dtype)]


def text_of_dtype(dtype: np.dtype) -> str | None:
    """Return a structured dtype as text, by which kinds of calls are told apart.

    None where it has no field of numbers, fields that overlap, or titles.
    """
    return _text(dtype, dtype.type.__name__, dtype.isalignedstruct)


@functools.lru_cache(maxsize=1024)
def _text(dtype: np.dtype, kind: str, is_aligned: bool) -> str | None:
    # equal dtypes may differ in kind and alignment, which are for the cache alone
    return json.dumps(_described(dtype)) if _can_be_taken_apart(dtype) else None


def _can_be_taken_apart(dtype: np.dtype) -> bool:
    if not field_names(dtype):
        return False
    assert dtype.fields is not None
    if any(len(field) > 2 for field in dtype.fields.values()):
        return False
    places = sorted((field[1], field[0].itemsize) for field in dtype.fields.values())
    return all(a + size <= b for (a, size), (b, _) in itertools.pairwise(places))


def field_names(dtype: np.dtype) -> list[str]:
    """Return the fields that hold numbers, or records of numbers."""
    assert dtype.names is not None and dtype.fields is not None
    return [name for name in dtype.names if _holds_numbers(dtype.fields[name][0].base)]


def _holds_numbers(base: np.dtype) -> bool:
    if base.names is not None:
        return _can_be_taken_apart(base)
    return base.itemsize in _SIZES.get(base.kind, ())


def _described(dtype: np.dtype) -> Any:
    """Return a dtype as nested lists of texts and numbers."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [_described(base), list(shape)]
    if dtype.fields is None or dtype.names is None:
        return dtype.str
    parts = [[name, _described(dtype.fields[name][0]), int(dtype.fields[name][1])]
             for name in dtype.names]
    return {"fields": parts, "size": dtype.itemsize, "aligned": dtype.isalignedstruct,
            "record": dtype.type is np.record}


@functools.lru_cache(maxsize=1024)
def dtype_of_text(text: str) -> np.dtype:
    """Return the dtype of a text."""
    return _dtype_of(json.loads(text))


def _dtype_of(described: Any) -> np.dtype:
    if isinstance(described, str):
        return np.dtype(described)
    if isinstance(described, list):
        return np.dtype((_dtype_of(described[0]), tuple(described[1])))
    names, formats, offsets = zip(*[(name, _dtype_of(part), offset)
                                    for name, part, offset in described["fields"]], strict=True)
    made = np.dtype({"names": list(names), "formats": list(formats), "offsets": list(offsets),
                     "itemsize": described["size"]}, align=described["aligned"])
    return np.dtype((np.record, made)) if described["record"] else made


def kind_of_rows(dtype: np.dtype) -> type:
    """Return the class of an array's elements."""
    return np.record if dtype.type is np.record else np.void


def joined(kind: type, text: str, fields: Sequence[Any]) -> Any:
    """Return a structured array of its fields, among which one that is None is zero.

    None where each field is. Fields that lie in one record are left where they are. How many axes
    it has the fields say: functions that map give more than there were, or fewer.
    """
    dtype = dtype_of_text(text)
    if all(x is None for x in fields):
        return None
    ndim = rank_of(dtype, fields)
    if all(x is not None for x in fields) and kind in _ARRAYS:
        whole = _in_place(dtype, ndim, fields)
        if whole is not None:
            return whole.view(np.recarray) if kind is np.recarray else whole
    made = np.zeros(next(np.shape(x)[:ndim] for x in fields if x is not None), dtype)
    for name, x in zip(field_names(dtype), fields, strict=True):
        if x is not None:
            made[name] = x
    if ndim or kind in _ARRAYS:
        return made.view(np.recarray) if kind is np.recarray else made
    return made[()]


def rank_of(dtype: np.dtype, fields: Sequence[object]) -> int:
    """Return how many axes a structured array has, by its fields."""
    assert dtype.fields is not None
    return next(int(getattr(x, "ndim", 0)) - len(dtype.fields[name][0].shape)
                for name, x in zip(field_names(dtype), fields, strict=True) if x is not None)


def _owner(x: object) -> np.ndarray | None:
    """Return the array of which one is a view, in the end; None for one that is no view."""
    owner = x.base if isinstance(x, np.ndarray) else None
    while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
        owner = owner.base
    return owner if isinstance(owner, np.ndarray) else None


def _in_place(dtype: np.dtype, ndim: int, fields: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the array of which all fields are views, as a view of its memory; else None."""
    assert dtype.fields is not None
    owners = [_owner(x) for x in fields]
    base = owners[0]
    if base is None or not base.size or any(x is not base for x in owners):
        return None
    starts = {x.ctypes.data - dtype.fields[name][1]
              for name, x in zip(field_names(dtype), fields, strict=True)}
    strides = {x.strides[:ndim] for x in fields}
    if len(starts) != 1 or len(strides) != 1 or not fields[0].size:
        return None
    low, high = np.lib.array_utils.byte_bounds(base)
    memory: Any = (ctypes.c_char * (high - low)).from_address(low)
    memory.base = base  # which stays alive with it
    try:
        made: np.ndarray = np.ndarray(fields[0].shape[:ndim], dtype, memory,
                                      starts.pop() - low, strides.pop())
    except (TypeError, ValueError):  # outside of that memory
        return None
    made.flags.writeable = all(x.flags.writeable for x in fields)
    return made
