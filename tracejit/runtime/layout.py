"""Where CPython and NumPy keep what the fast entry reads, and whether that holds here.

The offsets are those of a 64-bit CPython with reference counts of one word and of NumPy 2; a check
at first use compares what they give with what Python says. Where they do not hold, calls go through
the slower path.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

__all__ = ["ARRAY_DATA", "ARRAY_DESCR", "ARRAY_DIMS", "ARRAY_FLAGS", "ARRAY_NDIM", "CELL_CONTENT",
           "NUMPY_NEW_FROM_DESCR", "NUMPY_SCALAR", "OBJECT_TYPE", "SCALAR_VALUE",
           "function_fields", "is_known_layout", "numpy_function"]

OBJECT_TYPE = 8
ARRAY_DATA, ARRAY_NDIM, ARRAY_DIMS, ARRAY_DESCR, ARRAY_FLAGS = 16, 24, 32, 56, 64
SCALAR_VALUE = 16
CELL_CONTENT = 16

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


def _word(address: int) -> int:
    return int(ctypes.c_int64.from_address(address).value)


@functools.cache
def is_known_layout() -> bool:
    """Return whether the offsets above are right in this process."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if getattr(sys, "_is_gil_enabled", lambda: True)() is False:
        return False
    try:
        return (_check_array() and _check_scalars() and _check_cell()
                and len(function_fields()) == 3)
    except Exception:
        return False


def _check_array() -> bool:
    a = np.arange(6.0).reshape(2, 3)
    base = id(a)
    dims = _word(base + ARRAY_DIMS)
    return (_word(base + OBJECT_TYPE) == id(np.ndarray)
            and _word(base + ARRAY_DATA) == a.ctypes.data
            and ctypes.c_int32.from_address(base + ARRAY_NDIM).value == 2
            and (_word(dims), _word(dims + 8)) == (2, 3)
            and _word(base + ARRAY_DESCR) == id(np.dtype(np.float64))
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

    words = {_word(id(probe) + 8 * k): 8 * k for k in range(2, 12)}
    found = {name: words.get(id(getattr(probe, name)))
             for name in ("__code__", "__defaults__", "__kwdefaults__")}
    return {name: offset for name, offset in found.items() if offset is not None}


def _check_cell() -> bool:
    content: Any = object()

    def inner() -> Any:
        return content

    assert inner.__closure__ is not None
    return _word(id(inner.__closure__[0]) + CELL_CONTENT) == id(content)
