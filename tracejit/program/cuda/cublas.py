"""Products of matrices by cuBLAS, which is found where it is installed and never required.

cuBLAS has its matrices column by column. A matrix of ours, row by row, is to it the transposed one,
so that C = A B is asked for as C' = B' A'.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

import numpy as np

from tracejit.errors import DeviceError
from tracejit.program.cuda.images import is_simulated
from tracejit.program.cuda.parameters import DeviceSpan

__all__ = ["Cublas", "find_cublas"]

LETTERS = {np.dtype(np.float32): "S", np.dtype(np.float64): "D"}
NUMBERS = {np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}
MAX_SIZE = 2 ** 31 - 1

_INT, _LONG, _POINTER = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p
PLAIN = (_POINTER, _INT, _INT, _INT, _INT, _INT, _POINTER, _POINTER, _INT, _POINTER, _INT, _POINTER,
         _POINTER, _INT)
"""handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc."""
STRIDED = (_POINTER, _INT, _INT, _INT, _INT, _INT, _POINTER, _POINTER, _INT, _LONG, _POINTER, _INT,
           _LONG, _POINTER, _POINTER, _INT, _LONG, _INT)
"""The same with a stride behind each leading dimension, and the number of products."""


@functools.cache
def find_cublas() -> Cublas | None:
    """Return the library; None where it is not installed, and in Numba's simulator."""
    if is_simulated():
        return None
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib("cublas").abs_path
        return None if path is None else Cublas(ctypes.CDLL(path))
    except (ImportError, RuntimeError, OSError):
        return None


def _require(status: int, what: str) -> None:
    if status:
        raise DeviceError(f"cuBLAS failed with status {status} in {what}")


class Cublas:
    """The library, with a handle for each device that it has been used on."""

    def __init__(self, library: object) -> None:
        self.library = library
        self.handles: dict[int, ctypes.c_void_p] = {}
        self._lock = threading.Lock()
        """A handle is for one thread at a time."""

    def product(self, is_left_t: bool, is_right_t: bool, batch: int, m: int, n: int, k: int,
                a: DeviceSpan, b: DeviceSpan, c: DeviceSpan, *, stream: int,
                device: int = 0) -> bool:
        """Write C[batch, m, n] = op(A)[batch, m, k] op(B)[batch, k, n]; return whether it can.

        a, b, c -- arrays of a device, elements in a row; op transposes where `is_..._t` says so
        stream  -- the address of the stream on which it is done, 0 for the default one

        It leaves empty products, and too large ones, to others. The library's default mode keeps
        float32 as precise as it is.
        """
        if min(batch, m, n, k) == 0 or max(batch, m, n, k) > MAX_SIZE:
            return False
        dtype = np.dtype(c.dtype)
        one, zero = NUMBERS[dtype](1.0), NUMBERS[dtype](0.0)
        left = int(is_left_t), (m if is_left_t else k), a.address, m * k
        right = int(is_right_t), (k if is_right_t else n), b.address, k * n
        name = f"cublas{LETTERS[dtype]}gemm"
        with self._lock:  # to the library, our B comes first
            head = (self._handle(device, stream), right[0], left[0], n, m, k, ctypes.byref(one))
            if batch == 1:
                call = self._function(f"{name}_v2", PLAIN)
                status = call(*head, right[2], right[1], left[2], left[1], ctypes.byref(zero),
                              c.address, n)
            else:
                call = self._function(f"{name}StridedBatched", STRIDED)
                status = call(*head, right[2], right[1], right[3], left[2], left[1], left[3],
                              ctypes.byref(zero), c.address, n, m * n, batch)
        _require(status, name)
        return True

    def _function(self, name: str, types: tuple[object, ...]) -> Any:
        function = getattr(self.library, name)
        function.argtypes, function.restype = types, ctypes.c_int
        return function

    def _handle(self, device: int, stream: int) -> ctypes.c_void_p:
        """Return the handle of a device, set to a stream."""
        handle = self.handles.get(device)
        if handle is None:
            handle = ctypes.c_void_p()
            create = self._function("cublasCreate_v2", (_POINTER,))
            _require(create(ctypes.byref(handle)), "cublasCreate")
            self.handles[device] = handle
        set_stream = self._function("cublasSetStream_v2", (_POINTER, _POINTER))
        _require(set_stream(handle, stream), "cublasSetStream")
        return handle

