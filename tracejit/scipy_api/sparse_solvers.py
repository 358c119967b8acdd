"""`spsolve`, `splu`, `factorized`, `cg` and their like: SuperLU called back, dense where small.

A system that is known to have at most `MOST_DENSE` unknowns is solved as a dense one: then compiled
code takes less time than a call of Python does, and needs no Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.superlu import ADJOINT, ORDERS, PLAIN, TRANSPOSED, Way
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.ops.calls import stop_gradient
from tracejit.ops.linalg import conjugate
from tracejit.scipy_api.plain_iterations import (
    biconjugate_gradients_end,
    conjugate_gradients_end,
    minimal_residuals_end,
)
from tracejit.scipy_api.sparse import Sparse, as_sparse, is_sparse
from tracejit.scipy_api.superlu import sparse_factors, sparse_solution
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, cast, emit, same_dim, to_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__: list[str] = []

MOST_DENSE = 64


class System:
    """A square sparse matrix to solve with.

    name    -- of SciPy's function, for messages
    dtype   -- of the solutions
    way     -- how SuperLU factorises it
    dense   -- the matrix as a dense one, of NaN if it is singular, its factors, and whether it
               is regular; or None
    """

    dense: tuple[Tracer, Tracer, Tracer, Tracer] | None

    def __init__(self, name: str, matrix: Sparse, dtype: np.dtype, way: Way) -> None:
        n = matrix.shape[0]
        data, row, column = matrix.elements
        self.name, self.size, self.dtype, self.way = name, n, dtype, way
        self.elements = cast(data, dtype), row, column
        self.dense = None
        if isinstance(n, int) and n <= MOST_DENSE:
            require(np.logical_not(np.any(np.isinf(data))), NotCaptured,
                    f"scipy.sparse.linalg.{name} of a matrix with infinities cannot be captured")
            a: Any = cast(matrix.toarray(), dtype)
            made = emit("lu_or_not", [stop_gradient(a).value])
            lu, pivots, regular = map(tracer_of, made)
            good: Any = np.logical_and(regular, np.logical_not(np.any(np.isnan(data))))
            one, none = dtype.type(1), dtype.type(np.nan)
            self.dense = as_tracer(a * np.where(good, one, none)), lu, pivots, good
        current().note(f"scipy.sparse.linalg.{name} solves a dense system of {n} unknowns here"
                       if self.dense is not None else
                       f"scipy.sparse.linalg.{name} calls SciPy's SuperLU while the program runs",
                       "TJ707")

    def require_factors(self) -> None:
        """Raise SciPy's error, in the run, where the matrix is singular."""
        if self.dense is None:
            sparse_factors(self.elements, self.size, self.way)
        else:
            require(self.dense[3], RuntimeError, "Factor is exactly singular")

    def solution(self, b: Tracer, which: int = PLAIN, warns: bool = False) -> Any:
        """Return the solution for one right side, or for several columns."""
        right = cast(b, self.dtype)
        if self.dense is None:
            return sparse_solution(self.elements, right, self.way, which, warns)
        a, lu, pivots, good = self.dense
        columns: Any = conjugate(right) if which == ADJOINT else right
        columns = columns if columns.ndim == 2 else np.reshape(columns, (-1, 1))
        x: Any = apply("solve", a, columns, lu, pivots, transposed=which != PLAIN)
        one, none = self.dtype.type(1), self.dtype.type(np.nan)
        x = np.where(good, one, none) * (conjugate(x) if which == ADJOINT else x)
        return x if right.ndim == 2 else np.reshape(x, (-1,))


def _square(matrix: Sparse, message: str) -> None:
    if not same_dim(to_dim(matrix.shape[0]), to_dim(matrix.shape[1])):
        raise ValueError(message.format(matrix.shape))


def _numbers(name: str, dtype: np.dtype) -> np.dtype:
    """Return the dtype in which a matrix is factorised; bools, singular or not, are refused."""
    if dtype == np.bool_:
        raise refuse(f"scipy.sparse.linalg.{name} of a matrix of bools", "Use .astype(float)",
                     "TJ218")
    return np.result_type(dtype, np.float32)


def spsolve(A: object, b: object, permc_spec: object = None, use_umfpack: bool = True) -> Any:
    """Return the solution of a sparse system."""
    if not is_sparse(A):
        raise refuse("scipy.sparse.linalg.spsolve of a dense matrix", "Use np.linalg.solve",
                     "TJ218")
    if is_sparse(b):
        raise refuse("scipy.sparse.linalg.spsolve with a sparse right side", "Give b.toarray()",
                     "TJ218")
    matrix, right = as_sparse(A), as_tracer(b)
    _square(matrix, "matrix must be square (has shape {0})")
    if len(right.dims) not in (1, 2):
        raise ValueError("object too deep for desired array")
    if not same_dim(to_dim(matrix.shape[0]), right.dims[0]):
        raise ValueError(f"matrix - rhs dimension mismatch ({matrix.shape} - {right.shape[0]})")
    dtype = np.result_type(_numbers("spsolve", matrix.elements[0].dtype), right.dtype)
    system = System("spsolve", matrix, dtype,
                    _way(matrix.format == "csr", permc_spec))
    if right.ndim == 2 and right.dims[1] == 1:
        right = as_tracer(np.reshape(right, (-1,)))
    return system.solution(right, warns=True)


def _way(by_rows: bool, order: object) -> Way:
    """Return how a matrix is factorised, with the order of columns that `permc_spec=` names."""
    if order is not None and order not in ORDERS:
        raise ValueError(f"permc_spec is {order!r}, and no order of columns")
    return Way(by_rows, 0 if order is None else ORDERS.index(str(order)))


# --- factors --------------------------------------------------------------------------------------


class Factors(Made):
    """The result of `splu`: a matrix whose method `solve` solves systems with it."""

    scipys = "scipy.sparse.linalg.SuperLU"

    def __init__(self, name: str, matrix: Sparse, way: Way) -> None:
        _square(matrix, "can only factor square matrices")
        self.shape = matrix.shape
        own = matrix.copy()
        self.system = System(name, own, _numbers(name, own.elements[0].dtype), way)
        self.system.require_factors()

    def __getattr__(self, name: str) -> Any:
        if name not in ("L", "U", "perm_r", "perm_c", "nnz"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of what splu gives", "Use scipy.linalg.lu of a dense matrix",
                     "TJ218")

    def solve(self, rhs: object, trans: str = "N") -> Any:
        """Solve with the matrix, with its transpose ("T") or the conjugate of that ("H")."""
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        right, kind = as_tracer(rhs), self.system.dtype
        if not np.can_cast(right.dtype, kind, "safe"):
            raise TypeError(f"Cannot cast array data from {right.dtype!r} to {kind!r} according to "
                            "the rule 'safe'")
        if len(right.dims) not in (1, 2):
            raise ValueError("object too deep for desired array")
        if not same_dim(to_dim(self.shape[0]), right.dims[0]):
            raise ValueError("b is of incompatible size")
        return self.system.solution(right, {"N": PLAIN, "T": TRANSPOSED, "H": ADJOINT}[trans])


def splu(A: object, permc_spec: object = None, diag_pivot_thresh: object = None,
         relax: object = None, panel_size: object = None, options: object = None) -> Factors:
    """Return a matrix to solve with."""
    return Factors("splu", as_sparse(A), _way(False, permc_spec))


def factorized(A: object) -> Callable[[object], object]:
    """Return the function that solves with a matrix."""
    return Factors("factorized", as_sparse(A), Way()).solve


# --- iterations -----------------------------------------------------------------------------------


def _is_tight(tolerance: object) -> bool:
    """Whether a tolerance is one with which the limit passes for the iteration's result."""
    return isinstance(tolerance, (int, float, np.number)) and bool(tolerance <= 1e-3)


def _iterative(name: str) -> Callable[..., Any]:
    """Return the capture of an iterative solver: a direct solution, the iteration's limit."""

    def solve(A: object, b: object, x0: object = None, *, rtol: object = 1e-05,
              atol: object = 0.0, restart: object = None, maxiter: object = None, M: object = None,
              callback: None = None, callback_type: object = None) -> Any:
        if callback is not None:
            raise refuse(f"scipy.sparse.linalg.{name} with callback=", "Leave it out", "TJ218")
        if M is not None:
            raise refuse(f"scipy.sparse.linalg.{name} with M=, by which SciPy's iteration goes",
                         "Leave M= out: the system is solved directly here", "TJ218")
        if maxiter is not None or not (_is_tight(rtol) and _is_tight(atol)):
            raise refuse(f"scipy.sparse.linalg.{name} that ends before its limit, by maxiter= or a "
                         "tolerance above 1e-3", "Leave maxiter= out, or use spsolve", "TJ218")
        matrix: Any = as_sparse(A) if is_sparse(A) else as_tracer(A)
        _numbers(name, (matrix.elements[0] if is_sparse(A) else matrix).dtype)
        right = as_tracer(b)
        if name == "cg":
            _require_hermitian(matrix)
        _require_end(name, matrix, right, x0, rtol, atol, restart)
        found = _direct(name, matrix, right)
        require(np.all(np.isfinite(found)), NotCaptured, f"scipy.sparse.linalg.{name} of a system "
                "whose solution is infinite or NaN cannot be captured")
        return found, 0

    return solve


def _direct(name: str, matrix: Sparse | Tracer, right: Tracer) -> Any:
    """Return the solution of a system, which is exact."""
    kind = as_inexact(matrix.elements[0] if isinstance(matrix, Sparse) else matrix).dtype
    dtype = np.result_type(kind, right.dtype)
    if isinstance(matrix, Sparse) and not _is_small(matrix):
        found = System(f"{name}, which is exact here,", matrix, dtype, Way()).solution(
            as_tracer(np.reshape(right, (-1,))))
        return found
    dense = cast(matrix.toarray() if isinstance(matrix, Sparse) else matrix, dtype)
    current().note(f"scipy.sparse.linalg.{name}, which is exact here, solves a dense system",
                   "TJ707")
    found = np.linalg.solve(dense, cast(right, dtype))
    return np.reshape(found, (-1,)) if right.ndim == 2 and right.dims[1] == 1 else found


def _is_small(matrix: Sparse) -> bool:
    return isinstance(matrix.shape[0], int) and matrix.shape[0] <= MOST_DENSE


def _require_hermitian(matrix: Sparse | Tracer) -> None:
    """Refuse a matrix that is not Hermitian; of a large one, products with a vector tell."""
    if isinstance(matrix, Sparse) and not _is_small(matrix):
        data, row, column = matrix.elements
        place: Any = cast(apply("iota", size=to_dim(matrix.shape[0])), np.float64) + 1.0
        v: Any = np.cos(place * place)
        turned = Sparse((conjugate(data), column, row), matrix.shape, matrix.kind)
        one, other = matrix.dot(v), turned.dot(v)
        room = Sparse((np.abs(data), row, column), matrix.shape, matrix.kind).dot(np.abs(v))
    else:
        a: Any = matrix.toarray() if isinstance(matrix, Sparse) else matrix
        one, other, room = a, np.conj(a.T), np.abs(a)
    require(np.all(np.abs(one - other) <= 1e-6 * np.max(room, initial=0)),
            NotCaptured, "scipy.sparse.linalg.cg of a matrix that is not Hermitian, for "
            "which it has no limit, cannot be captured")


_ENDS: dict[str, Callable[..., bool]] = {
    "cg": conjugate_gradients_end, "gmres": minimal_residuals_end,
    "bicgstab": biconjugate_gradients_end}


def _require_end(name: str, a: Sparse | Tracer, b: Tracer, x0: object, rtol: object, atol: object,
                 restart: object) -> None:
    """Require that SciPy's iteration comes to its end, since `info` is 0 here."""
    if isinstance(a, Sparse) and _is_small(a):
        a = a.toarray()
    numbers = a.elements[0] if isinstance(a, Sparse) else a
    dtype = np.result_type(numbers.dtype, b.dtype,
                           np.float32 if numbers.dtype.char in "fF" else np.float64)
    held: Any = stop_gradient(cast(numbers, dtype))
    matrix = Sparse((held, *a.elements[1:]), a.shape, a.kind) if isinstance(a, Sparse) else held
    right: Any = np.reshape(stop_gradient(cast(b, dtype)), (-1,))
    first: Any = (np.zeros_like(right) if x0 is None else right if isinstance(x0, str)
                  else stop_gradient(np.reshape(cast(as_tracer(x0), dtype), (-1,))))
    steps: Any = 20 if restart is None else restart
    size = () if name != "gmres" else (np.minimum(steps, len(right)),)
    require(call_function(_ENDS[name], (matrix, right, first, rtol, atol, *size), {}),
            NotCaptured, f"scipy.sparse.linalg.{name} of a system for which it does not end within "
            "its 10 n iterations cannot be captured. Use spsolve")


scipy_captures("scipy.sparse.linalg", {
    **{name: _iterative(name) for name in ("cg", "gmres", "bicgstab")}, "spsolve": spsolve,
    "splu": splu, "factorized": factorized})
