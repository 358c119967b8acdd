"""Arrays that are known by DLPack alone, and said to lie on a CUDA device."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Exporting"]

_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Exporting:
    """An array with `__dlpack__` and nothing else.

    strides -- in elements; None where they follow from the shape
    streams -- for which streams it was asked for
    """

    def __init__(self, x: np.ndarray, strides: Sequence[int] | None = None,
                 ordinal: int = 0) -> None:
        self.x, self.ordinal, self.streams = x, ordinal, list[Any]()
        self._shape = np.array(x.shape, np.int64)
        self._strides = None if strides is None else np.array(strides, np.int64)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.ordinal

    def __dlpack__(self, *, stream: Any = None, **asked: Any) -> Any:
        self.streams.append(stream)
        strides = None if self._strides is None else self._strides.ctypes.data
        self._tensor = _Tensor(self.x.ctypes.data, 2, self.ordinal, self.x.ndim,
                               _KINDS[self.x.dtype.kind], 8 * self.x.itemsize, 1,
                               self._shape.ctypes.data, strides, 0, None, None)
        return _new(ctypes.addressof(self._tensor), b"dltensor", None)
