"""SciPy's SuperLU as functions that a running program calls back: factors, and solutions by them.

The factors of a matrix are kept, in each thread, and found again by the matrix's elements, so that
the way back factorises nothing.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ADJOINT", "BORROWERS", "CONJUGATED", "ORDERS", "PLAIN", "TRANSPOSED", "Way",
           "superlu_factors", "superlu_solution"]

MOST_FACTORS, MOST_ELEMENTS = 64, 1 << 23
"""How many factors a thread keeps, and how many elements they may have, but for the newest."""
_SINGULAR = "Matrix is exactly singular"
PLAIN, TRANSPOSED, ADJOINT, CONJUGATED = range(4)
"""Of which matrix a system is: the one given, or another that its factors solve with, too."""
ORDERS = "COLAMD", "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A"
"""SuperLU's orders of columns, which `permc_spec=` names."""


class Way(NamedTuple):
    """How SuperLU factorises a matrix.

    by_rows -- whether it is given rows in the place of columns, as SciPy does with a csr matrix
    order   -- the number of the order of columns
    """

    by_rows: bool = False
    order: int = 0


class _KeptFactors(threading.local):
    """The factors that a thread has met last, with the elements that they are of."""

    def __init__(self) -> None:
        self.found: OrderedDict[object, tuple[list[np.ndarray], Any]] = OrderedDict()

    def factors(self, arrays: Sequence[np.ndarray], n: int, way: Way) -> Any:
        """Return the factors of a matrix, or None where it is singular."""
        data = arrays[0]
        key = n, way, data.dtype.char, len(data), _sample(data)
        if key not in self.found or not all(map(_same_bits, self.found[key][0], arrays)):
            self.found[key] = [x.copy() for x in arrays], _factors(arrays, n, way)
        self.found.move_to_end(key)
        self._forget()
        return self.found[key][1]

    def _forget(self) -> None:
        """Drop the oldest factors where there are too many, or too large ones."""
        left = MOST_ELEMENTS
        for count, key in enumerate(reversed([*self.found])):
            left -= getattr(self.found[key][1], "nnz", 0)
            if count and (count >= MOST_FACTORS or left < 0):
                del self.found[key]


_KEPT = _KeptFactors()


def _sample(data: np.ndarray) -> bytes:
    """Return some of the elements, by which most matrices are told apart."""
    return data[::1 + len(data) // 64].tobytes()


def _same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays are equal, NaN and signs of zeros included."""
    return x.nbytes == y.nbytes and bool(np.array_equal(x.view(np.int32), y.view(np.int32)))


def _factors(arrays: Sequence[np.ndarray], n: int, way: Way) -> Any:
    """Return SciPy's factors of a matrix, or of its transpose if that is what its rows are."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    data, row, column = arrays
    counts = (row < n) & (column < n) & (data != 0)
    places = row[counts].astype(np.intc), column[counts].astype(np.intc)
    matrix = coo_array((data[counts], places[::-1] if way.by_rows else places), shape=(n, n))
    try:
        return splu(matrix.tocsc(), permc_spec=ORDERS[way.order])
    except RuntimeError:  # of a matrix that is singular, or holds a NaN
        return None


def superlu_factors(data: np.ndarray, row: np.ndarray, column: np.ndarray, n: int,
                    by_rows: bool, order: int) -> tuple[()]:
    """Factorise a matrix, whose factors are kept; raise SciPy's error where it is singular."""
    if _KEPT.factors((data, row, column), n, Way(by_rows, order)) is None:
        raise RuntimeError("Factor is exactly singular")
    return ()


def superlu_solution(data: np.ndarray, row: np.ndarray, column: np.ndarray, b: np.ndarray,
                     by_rows: bool, order: int, which: int, warns: bool) -> np.ndarray:
    """Return the solution of a system by SciPy's factors, or NaN where it is singular.

    which -- the matrix: the one of the elements, its transpose, adjoint or conjugate
    """
    factors = _KEPT.factors((data, row, column), len(b), Way(by_rows, order))
    if factors is None:
        if warns:
            from scipy.sparse.linalg import MatrixRankWarning

            warnings.warn(_SINGULAR, MatrixRankWarning, stacklevel=2)
        return np.full_like(b, np.nan)
    turned = (which in (TRANSPOSED, ADJOINT)) != by_rows
    conjugated = which in (ADJOINT, CONJUGATED) and b.dtype.kind == "c"
    x = factors.solve(np.conj(b) if conjugated else b, "T" if turned else "N")
    return np.conj(x) if conjugated else np.ascontiguousarray(x)


BORROWERS: set[object] = {superlu_factors, superlu_solution}
"""Functions that neither write to their arrays nor keep them: they need no copies."""
