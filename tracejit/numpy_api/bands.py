"""Eigenvalues and eigenvectors of symmetric bands, which are dense matrices on the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.linalg import of_wide
from tracejit.numpy_api.stacks import in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import factored, implied
from tracejit.ops.linalg import transpose_last
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import as_operand, cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _dense(band: Tracer, lower: bool) -> Any:
    """Return the matrix of a band, whose rows are its diagonals."""
    count = need_int(band.dims[0], "how many diagonals a band has")
    n = as_operand(band.dims[1])
    rows: Any = band
    main: Any = rows[0] if lower else rows[-1]
    if band.dtype.kind == "c":
        main = cast(np.real(main), band.dtype)
    whole: Any = np.diag(main)
    for k in range(1, count):
        row = rows[k][:n - k] if lower else np.conj(rows[count - 1 - k][k:])
        whole = whole + np.diag(np.conj(row), k) + np.diag(row, -k)
    return whole


def _eigen(band: Tracer, lower: bool) -> tuple[Any, Any]:
    """Return eigenvalues and vectors as the routine gives them that SciPy calls."""
    values, rows, *_ = factored("eigh of band", transpose_last(stop_gradient(band)),
                                options="L" if lower else "U")[1:]
    return tuple(implied("eigh L", [values, transpose_last(rows)],
                         as_tracer(_dense(band, lower))))


def _chosen(values: Tracer, select: object, select_range: Sequence[int] | None, name: str) -> Any:
    """Return the eigenvalues that are asked for: all, or those of numbers in a range."""
    if select in ("a", "all", 0):
        return values
    if select not in ("i", "index", 2):
        raise refuse(f"scipy.linalg.{name} with select={select!r}, of which data says how many "
                     "there are, cannot be captured", "Take those of np.linalg.eigvalsh that are "
                     "in the range", "TJ212")
    bounds = select_range or ()
    if any(isinstance(x, TracedOperand) for x in bounds):
        raise refuse(f"scipy.linalg.{name} with a traced select_range= cannot be captured",
                     "Use constants", "TJ205")
    first, last = map(int, bounds)
    size = need_int(values.dims[0], "how many eigenvalues there are")
    if min(first, last) < 0 or max(first, last) >= size:
        raise ValueError("select_range out of bounds")
    if first > last:
        raise ValueError(f"select_range={select_range!r} is not in order")
    found: Any = values
    return found[first:last + 1]


def _refuse_vectors_of_some(select: object, name: str) -> None:
    if select not in ("a", "all", 0):
        raise refuse(f"scipy.linalg.{name} of eigenvectors with select= cannot be captured",
                     "Leave select out, and take columns", "TJ203")
    current().note("the eigenvalues of a band are those of a dense matrix on the way back",
                   "TJ707")


def eig_banded(a_band: object, lower: bool = False, eigvals_only: bool = False,
               overwrite_a_band: bool = False, select: object = "a",
               select_range: Sequence[int] | None = None, max_ev: int = 0) -> Any:
    """Return the eigenvalues and eigenvectors of a symmetric or Hermitian band."""
    band: Any = as_inexact(a_band)
    if len(band.dims) != 2:
        raise ValueError("expected a 2-D array")
    if same_dim(band.dims[0], 0):
        raise refuse("scipy.linalg.eig_banded of no diagonals cannot be captured",
                     "Return something else where there are none", "TJ213")
    if not eigvals_only:
        _refuse_vectors_of_some(select, "eig_banded")
    values, vectors = _eigen(band, bool(lower))
    if eigvals_only:
        return _chosen(values, select, select_range, "eig_banded")
    return values, vectors


def eigvals_banded(a_band: object, lower: bool = False, overwrite_a_band: bool = False,
                   select: object = "a", select_range: Sequence[int] | None = None) -> Any:
    """Return the eigenvalues of a symmetric or Hermitian band."""
    return eig_banded(a_band, lower, True, overwrite_a_band, select, select_range)


def eigh_tridiagonal(d: object, e: object, eigvals_only: bool = False, select: object = "a",
                     select_range: Sequence[int] | None = None, tol: float = 0.0,
                     lapack_driver: str = "auto") -> Any:
    """Return the eigenvalues and eigenvectors of a symmetric tridiagonal matrix."""
    main, beside = as_inexact(d), as_inexact(e)
    if "c" in (main.dtype.kind, beside.dtype.kind):
        raise TypeError("Only real arrays currently supported")
    if len(main.dims) != 1 or len(beside.dims) != 1:
        raise ValueError("expected a 1-D array")
    if not same_dim(main.dims[0], beside.dims[0] + 1):
        raise ValueError(f"d ({main.shape[0]}) must have one more element than e "
                         f"({beside.shape[0]})")
    if not eigvals_only:
        _refuse_vectors_of_some(select, "eigh_tridiagonal")
        if lapack_driver not in ("auto", "stevd"):
            raise refuse(f"scipy.linalg.eigh_tridiagonal with lapack_driver={lapack_driver!r} "
                         "cannot be captured", "Leave it out", "TJ203")
    dtype = np.result_type(main.dtype, beside.dtype)
    rows: list[Any] = [cast(main, dtype), np.concatenate([cast(beside, dtype), np.zeros(1, dtype)])]
    values, vectors = _eigen(as_tracer(np.stack(rows)), True)
    if eigvals_only:
        return _chosen(values, select, select_range, "eigh_tridiagonal")
    return values, vectors


def eigvalsh_tridiagonal(d: object, e: object, select: object = "a",
                         select_range: Sequence[int] | None = None, tol: float = 0.0,
                         lapack_driver: str = "auto") -> Any:
    """Return the eigenvalues of a symmetric tridiagonal matrix."""
    return eigh_tridiagonal(d, e, True, select, select_range, tol, lapack_driver)


scipy_captures("scipy.linalg", {
    f.__name__: checks_finite(of_wide(f.__name__, in_stacks(f, *arrays))) for f, arrays in (
        (eig_banded, [("a_band", 2)]), (eigvals_banded, [("a_band", 2)]),
        (eigh_tridiagonal, [("d", 1), ("e", 1)]), (eigvalsh_tridiagonal, [("d", 1), ("e", 1)]))})
