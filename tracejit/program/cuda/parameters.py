"""The parameters of a kernel as the driver takes them: a slot of eight bytes each, laid out once.

Numba passes an array of one axis as seven: two owners, which are not used, the number of elements,
their size in bytes, the address, the extent, and the stride in bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import Parameter

__all__ = ["CONTEXT_DTYPE", "WORDS", "Packing", "DeviceSpan"]

WORDS = 7
"""Parameters of an array."""
CONTEXT_DTYPE = np.dtype(np.float64)


class DeviceSpan:
    """Elements in a row in the memory of a device."""

    address: int
    count: int
    dtype: np.dtype
    words: tuple[int, ...]

    __slots__ = ("address", "count", "dtype", "words")

    def __init__(self, address: int, count: int, dtype: np.dtype) -> None:
        self.address, self.count, self.dtype = address, count, dtype
        size = dtype.itemsize
        self.words = (0, 0, count, size, address, count, size)


class Packing:
    """Room for the parameters of one kernel, the context first.

    slots   -- the parameters, as bytes
    address -- where the places of the parameters are, as `cuLaunchKernel` wants them
    """

    kinds: tuple[tuple[np.dtype, bool], ...]
    layout: struct.Struct
    slots: bytearray

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        kinds = [(CONTEXT_DTYPE, True), *((p.dtype, p.is_array) for p in parameters)]
        self.kinds = tuple(kinds)
        self.layout = struct.Struct("<" + "".join(
            f"{WORDS}Q" if is_array else f"{_code(dtype)}{8 - dtype.itemsize}x"
            for dtype, is_array in kinds))
        count = sum(WORDS if is_array else 1 for _, is_array in kinds)
        self.slots = bytearray(8 * count)
        start = np.frombuffer(self.slots, np.uint8).ctypes.data
        self._places = start + 8 * np.arange(count, dtype=np.uint64)
        self.address: int = self._places.ctypes.data

    def pack(self, arguments: Sequence[object]) -> None:
        """Set the parameters for a launch: spans and numbers."""
        words: list[Any] = []
        for x in arguments:
            if type(x) is DeviceSpan:
                words += x.words
            else:
                words.append(x)
        self.layout.pack_into(self.slots, 0, *words)

    def unpack(self) -> list[Any]:
        """Return the objects that were packed."""
        words = iter(self.layout.unpack(self.slots))
        found: list[Any] = []
        for dtype, is_array in self.kinds:
            if is_array:
                _, _, count, _, address, _, _ = (next(words) for _ in range(WORDS))
                found.append(DeviceSpan(address, count, dtype))
            else:
                found.append(dtype.type(next(words)))
        return found


def _code(dtype: np.dtype) -> str:
    """Return the letter that `struct` has for numbers of a dtype."""
    return {"l": "q", "L": "Q"}.get(dtype.char, dtype.char)
