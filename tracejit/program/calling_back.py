"""Python functions that a running kernel calls: from addresses to arrays, and back."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.superlu import BORROWERS
from tracejit.trace.ground.callbacks import keep_error

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Called

__all__ = ["CallingBack"]

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


class CallingBack:
    """The C function through which a program calls Python's, from any thread.

    address -- its address, as long as this object lives
    """

    address: int

    def __init__(self, callbacks: Sequence[Called]) -> None:
        self._calls = [_call_of(*called) for called in callbacks]
        self._function = _CALLBACK(self._run)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def _run(self, number: int, words: int) -> int:
        """Call a function; keep what it raises aside, as C code cannot pass it on."""
        try:
            self._calls[number](words)
        except BaseException as e:
            keep_error(e)
            return 1
        return 0


def _copied(address: int, count: int) -> Any:
    """Return a copy of some bytes, which a function may write to."""
    return bytearray(ctypes.string_at(address, count))


def _lent(address: int, count: int) -> Any:
    """Return some bytes where they lie."""
    return (ctypes.c_char * count).from_address(address) if count else b""


def _call_of(callee: Any, inputs: Sequence[tuple[np.dtype, int]],
             outputs: Sequence[tuple[np.dtype, int]]) -> Callable[[int], None]:
    """Return the function of a table's address that calls `callee`."""
    kinds = [(dtype, ndim, dtype.itemsize) for dtype, ndim in (*inputs, *outputs)]
    given = len(inputs)
    lent = _lent if isinstance(callee.function, FunctionType) and (
        callee.function in BORROWERS) else _copied
    table_type = ctypes.c_int64 * sum(1 + ndim for _, ndim, _ in kinds)

    def run(words: int) -> None:
        table, place = table_type.from_address(words), 0
        operands, shapes, rooms = [], [], []
        for k, (dtype, ndim, size) in enumerate(kinds):
            shape = tuple(table[place + 1:place + 1 + ndim])
            count = math.prod(shape) * size if ndim else size
            if k < given:
                data = lent(table[place], count)
                operands.append(np.frombuffer(data, dtype).reshape(shape))
            else:
                shapes.append(shape)
                rooms.append((table[place], count))
            place += 1 + ndim
        for found, (address, count) in zip(callee.found(operands, shapes), rooms, strict=True):
            ctypes.memmove(address, found.tobytes(), count)

    return run
