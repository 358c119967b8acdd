"""The arguments that cuBLAS gets are right, by a stand-in with the documented meaning of each.

The stand-in multiplies in the memory of this process, column by column, as the library's manual
defines C = alpha op(A) op(B) + beta C: A[i, j] at A + i + j * lda, and so on. It refuses leading
dimensions that the manual does not allow.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracejit.errors import DeviceError
from tracejit.program.cuda.cublas import Cublas

INVALID_VALUE = 7

INT, LONG, POINTER = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p


def by_columns(address: int, number: Any, rows: int, columns: int, lead: int) -> np.ndarray:
    """Return a matrix in column-major memory as a view."""
    size = lead * max(columns - 1, 0) + rows
    flat = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(number)), (size,))
    return np.lib.stride_tricks.as_strided(flat, (rows, columns),
                                           (flat.itemsize, lead * flat.itemsize))


def gemm(number: Any, transa: int, transb: int, m: int, n: int, k: int, alpha: int, a: int,
         lda: int, b: int, ldb: int, beta: int, c: int, ldc: int) -> int:
    """Do one product."""
    shapes = [(k, m) if transa else (m, k), (n, k) if transb else (k, n), (m, n)]
    if any(lead < max(1, rows) for lead, (rows, _) in zip((lda, ldb, ldc), shapes, strict=True)):
        return INVALID_VALUE
    x = by_columns(a, number, *shapes[0], lda)
    y = by_columns(b, number, *shapes[1], ldb)
    z = by_columns(c, number, *shapes[2], ldc)
    scales = [number.from_address(s).value for s in (alpha, beta)]
    z[...] = scales[0] * ((x.T if transa else x) @ (y.T if transb else y)) + scales[1] * z
    return 0


class Library:
    """Stands for libcublas."""

    def __init__(self) -> None:
        self.streams: list[int | None] = []
        self.created = 0
        plain = ctypes.CFUNCTYPE(INT, POINTER, INT, INT, INT, INT, INT, POINTER, POINTER, INT,
                                 POINTER, INT, POINTER, POINTER, INT)
        strided = ctypes.CFUNCTYPE(INT, POINTER, INT, INT, INT, INT, INT, POINTER, POINTER, INT,
                                   LONG, POINTER, INT, LONG, POINTER, POINTER, INT, LONG, INT)
        for letter, number in (("S", ctypes.c_float), ("D", ctypes.c_double)):
            setattr(self, f"cublas{letter}gemm_v2", plain(self._plain(number)))
            setattr(self, f"cublas{letter}gemmStridedBatched", strided(self._strided(number)))
        self.cublasCreate_v2 = ctypes.CFUNCTYPE(INT, POINTER)(self._create)
        self.cublasSetStream_v2 = ctypes.CFUNCTYPE(INT, POINTER, POINTER)(self._set_stream)

    def _create(self, place: int) -> int:
        self.created += 1
        POINTER.from_address(place).value = 1000 + self.created
        return 0

    def _set_stream(self, handle: int, stream: int | None) -> int:
        self.streams.append(stream)
        return 0 if handle == 1000 + self.created else 1

    def _plain(self, number: Any) -> Any:
        def call(handle: int, *args: Any) -> int:
            return gemm(number, *args) if handle == 1000 + self.created else 1

        return call

    def _strided(self, number: Any) -> Any:
        def call(handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int, a: int,
                 lda: int, stride_a: int, b: int, ldb: int, stride_b: int, beta: int, c: int,
                 ldc: int, stride_c: int, count: int) -> int:
            size = ctypes.sizeof(number)
            return max(gemm(number, transa, transb, m, n, k, alpha, a + z * stride_a * size, lda,
                            b + z * stride_b * size, ldb, beta, c + z * stride_c * size, ldc)
                       for z in range(count))

        return call


def on_device(x: np.ndarray) -> Any:
    """Stands for an array of a device."""
    return SimpleNamespace(dtype=x.dtype, address=x.ctypes.data)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("is_right_t", [False, True])
@pytest.mark.parametrize("is_left_t", [False, True])
def test_products_are_numpys(is_left_t: bool, is_right_t: bool, batch: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    m, n, k = 4, 7, 5
    a = rng.normal(size=(batch, k, m) if is_left_t else (batch, m, k)).astype(dtype)
    b = rng.normal(size=(batch, n, k) if is_right_t else (batch, k, n)).astype(dtype)
    c = np.full((batch, m, n), 9.0, dtype)
    library = Library()
    done = Cublas(library).product(is_left_t, is_right_t, batch, m, n, k, on_device(a),
                                   on_device(b), on_device(c), stream=0)
    assert done
    expected = (np.swapaxes(a, 1, 2) if is_left_t else a) @ (
        np.swapaxes(b, 1, 2) if is_right_t else b)
    np.testing.assert_allclose(c, expected, rtol=1e-5 if dtype == np.float32 else 1e-13)


def test_a_device_has_one_handle_and_each_product_its_stream() -> None:
    library = Library()
    blas = Cublas(library)
    x = np.eye(2)
    for stream in (0, 77, 77):
        blas.product(False, False, 1, 2, 2, 2, *map(on_device, (x, x, np.zeros((2, 2)))),
                     stream=stream)
    assert library.created == 1
    assert library.streams == [None, 77, 77]


@pytest.mark.parametrize("sizes", [(1, 0, 2, 2), (1, 2, 2, 0), (0, 2, 2, 2), (1, 2 ** 31, 2, 2)])
def test_what_is_empty_or_too_large_is_left_to_others(sizes: tuple[int, ...]) -> None:
    x = on_device(np.zeros(4))
    assert not Cublas(Library()).product(False, False, *sizes, x, x, x, stream=0)


def test_a_failure_is_said() -> None:
    library = Library()
    library.cublasDgemm_v2 = ctypes.CFUNCTYPE(INT, *library.cublasDgemm_v2.argtypes)(
        lambda *_: 13)
    x = on_device(np.eye(2))
    with pytest.raises(DeviceError, match="status 13"):
        Cublas(library).product(False, False, 1, 2, 2, 2, x, x, x, stream=0)
