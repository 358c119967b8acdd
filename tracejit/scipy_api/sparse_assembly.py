"""Sparse matrices made of others: `kron`, `hstack`, `vstack`, `block_diag`, `eye`; and systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.plain_iterations import (
    biconjugate_gradients_end,
    conjugate_gradients_end,
    minimal_residuals_end,
)
from tracejit.scipy_api.sparse import Sparse, as_sparse, is_sparse, of_dense
from tracejit.scipy_api.sparse_making import dense_solution, require_finite, require_numbers
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, cast, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _matrices(given: Sequence[object]) -> tuple[list[Sparse], str]:
    """Return sparse matrices of sparse and dense ones, and "array" or "matrix" for the result."""
    found = [as_sparse(m) if is_sparse(m) else of_dense(as_tracer(m), "coo_matrix") for m in given]
    is_array = any(is_sparse(m) and s.kind.endswith("_array")
                   for m, s in zip(given, found, strict=True))
    return found, "array" if is_array else "matrix"


def kron(A: object, B: object, format: str | None = None) -> Sparse:
    """Return the Kronecker product."""
    (a, b), kind = _matrices([A, B])
    shape = a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]
    places: list[Any] = []
    for axis in (0, 1):
        own: Any = np.reshape(a.elements[1 + axis], (-1, 1))
        other: Any = np.reshape(b.elements[1 + axis], (1, -1))
        inside = (own < a.shape[axis]) & (other < b.shape[axis])
        places.append(np.where(inside, own * b.shape[axis] + other, shape[axis]))
    data: Any = np.reshape(a.elements[0], (-1, 1)) * np.reshape(b.elements[0], (1, -1))
    row, column = (np.reshape(p, (-1,)) for p in places)
    return Sparse((np.reshape(data, (-1,)), row, column), shape, f"{format or 'coo'}_{kind}")


def _stacked(axis: int) -> Callable[..., Sparse]:
    """Return the capture of `vstack` or `hstack`."""
    name, form = ("vstack", "csr") if axis == 0 else ("hstack", "csc")

    def stack(blocks: Sequence[object], format: str | None = None, dtype: None = None) -> Sparse:
        if dtype is not None:
            raise refuse(f"scipy.sparse.{name} with dtype=", "Cast the elements")
        found, kind = _matrices(list(blocks))
        across = found[0].shape[1 - axis]
        for m in found[1:]:
            if not same_dim(to_dim(m.shape[1 - axis]), to_dim(across), f"{name} of unlike shapes"):
                raise ValueError("Mismatching dimensions along axis {" + str(1 - axis) + "}")
        alike = all(m.format == form for m in found)
        return _placed(found, axis, across, f"{format or (form if alike else 'coo')}_{kind}")

    return stack


def _placed(found: list[Sparse], axis: int, across: object, kind: str) -> Sparse:
    """Return matrices behind one another along an axis, or along both where `across` is None."""
    along = [axis] if across is not None else [0, 1]
    total: list[Any] = [sum((m.shape[k] for m in found[1:]), found[0].shape[k])
                        if k in along else across for k in (0, 1)]
    parts: list[list[Any]] = [[], [], []]
    start: list[Any] = [0, 0]
    for m in found:
        data, *places = m.elements
        counts: Any = (places[0] < m.shape[0]) & (places[1] < m.shape[1])
        parts[0].append(data)
        for k in (0, 1):
            parts[1 + k].append(np.where(counts, places[k] + start[k], total[k]))
        for k in along:
            start[k] = start[k] + m.shape[k]
    data, row, column = (np.concatenate(p) for p in parts)
    return Sparse((data, row, column), (total[0], total[1]), kind)


def block_diag(mats: Sequence[object], format: str | None = None, dtype: None = None) -> Sparse:
    """Return the matrix with others on its diagonal."""
    if dtype is not None:
        raise refuse("scipy.sparse.block_diag with dtype=", "Cast the elements")
    found, kind = _matrices(list(mats))
    return _placed(found, 0, None, f"{format or 'coo'}_{kind}")


def _eye(kind: str) -> Callable[..., Sparse]:
    def eye(m: object, n: object = None, *, k: object = 0, dtype: object = float,
            format: str | None = None) -> Sparse:
        if need_int(to_dim(k), "the place of a diagonal") != 0 or not (
                n is None or same_dim(to_dim(n), to_dim(m))):
            raise refuse("scipy.sparse.eye of a matrix that is not square, or with k=",
                         "Use scipy.sparse.diags")
        place: Any = apply("iota", size=to_dim(m))
        one = apply("full", np.dtype(dtype).type(1), shape=(to_dim(m),))  # type: ignore[call-overload]
        side: Any = m
        return Sparse((one, place, place), (side, side), f"{format or 'dia'}_{kind}")

    return eye


def _identity(n: object, dtype: object = "d", format: str | None = None) -> Sparse:
    return _eye("matrix")(n, dtype=dtype, format=format)


# --- systems --------------------------------------------------------------------------------------


def _is_tight(tolerance: object) -> bool:
    """Whether a tolerance is one with which the limit passes for the iteration's result."""
    return isinstance(tolerance, (int, float, np.number)) and bool(tolerance <= 1e-3)


def _iterative(name: str) -> Callable[..., Any]:
    """Return the capture of an iterative solver: a direct solution, the iteration's limit."""

    def solve(A: object, b: object, x0: object = None, *, rtol: object = 1e-05,
              atol: object = 0.0, restart: object = None, maxiter: object = None, M: object = None,
              callback: None = None, callback_type: object = None) -> Any:
        if callback is not None:
            raise refuse(f"scipy.sparse.linalg.{name} with callback=", "Leave it out")
        if M is not None:
            raise refuse(f"scipy.sparse.linalg.{name} with M=, by which SciPy's iteration goes",
                         "Leave M= out: the system is solved directly here")
        if maxiter is not None or not (_is_tight(rtol) and _is_tight(atol)):
            raise refuse(f"scipy.sparse.linalg.{name} that ends before its limit, by maxiter= or a "
                         "tolerance above 1e-3", "Leave maxiter= out, or use spsolve")
        a: Any = as_sparse(A).toarray() if is_sparse(A) else as_tracer(A)
        if name == "cg":
            require(np.all(np.abs(a - np.conj(a.T)) <= 1e-6 * np.max(np.abs(a), initial=0)),
                    NotCaptured, "scipy.sparse.linalg.cg of a matrix that is not Hermitian, for "
                    "which it has no limit, cannot be captured")
        _require_end(name, a, as_tracer(b), x0, rtol, atol, restart)
        found = dense_solution(f"{name}, which is exact here,", A, b)
        require(np.all(np.isfinite(found)), NotCaptured, f"scipy.sparse.linalg.{name} of a system "
                "whose solution is infinite or NaN cannot be captured")
        return found, 0

    return solve


_ENDS: dict[str, Callable[..., bool]] = {
    "cg": conjugate_gradients_end, "gmres": minimal_residuals_end,
    "bicgstab": biconjugate_gradients_end}


def _require_end(name: str, a: Tracer, b: Tracer, x0: object, rtol: object, atol: object,
                 restart: object) -> None:
    """Require that SciPy's iteration comes to its end, since `info` is 0 here."""
    dtype = np.result_type(a.dtype, b.dtype, np.float32 if a.dtype.char in "fF" else np.float64)
    matrix: Any = stop_gradient(cast(a, dtype))
    right: Any = np.reshape(stop_gradient(cast(b, dtype)), (-1,))
    first: Any = (np.zeros_like(right) if x0 is None else right if isinstance(x0, str)
                  else stop_gradient(np.reshape(cast(as_tracer(x0), dtype), (-1,))))
    steps: Any = 20 if restart is None else restart
    size = () if name != "gmres" else (np.minimum(steps, len(right)),)
    require(call_function(_ENDS[name], (matrix, right, first, rtol, atol, *size), {}),
            NotCaptured, f"scipy.sparse.linalg.{name} of a system for which it does not end within "
            "its 10 n iterations cannot be captured. Use spsolve")


class Factors(Made):
    """The result of `splu`: a matrix whose method `solve` solves systems with it."""

    scipys = "scipy.sparse.linalg.SuperLU"

    def __init__(self, matrix: Sparse) -> None:
        if not same_dim(to_dim(matrix.shape[0]), to_dim(matrix.shape[1])):
            raise ValueError("can only factor square matrices")
        self.matrix, self.shape = matrix.copy(), matrix.shape
        data: Any = matrix.elements[0]
        require(np.logical_not(np.any(np.isnan(data))), RuntimeError, "Factor is exactly singular")
        require_finite("splu", data)

    def __getattr__(self, name: str) -> Any:
        if name not in ("L", "U", "perm_r", "perm_c", "nnz"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of what splu gives", "Use scipy.linalg.lu of a dense matrix")

    def solve(self, rhs: object, trans: str = "N") -> Any:
        """Solve with the matrix, with its transpose ("T") or the conjugate of that ("H")."""
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        kind, right = (as_tracer(x).dtype for x in (self.matrix.elements[0], rhs))
        require_numbers("splu", kind)
        kind = np.result_type(kind, np.float32)
        if not np.can_cast(right, kind, "safe"):
            raise TypeError(f"Cannot cast array data from {right!r} to {kind!r} according to the "
                            "rule 'safe'")
        matrix = self.matrix if trans == "N" else self.matrix.T
        if trans == "H":
            data, row, column = matrix.elements
            matrix = Sparse((np.conj(data), row, column), matrix.shape, matrix.kind)
        return dense_solution("splu", matrix, rhs, columns=True, least=np.float32)


def splu(A: object, permc_spec: object = None, diag_pivot_thresh: object = None,
         relax: object = None, panel_size: object = None, options: object = None) -> Factors:
    """Return a matrix to solve with."""
    return Factors(as_sparse(A))


def factorized(A: object) -> Callable[[object], object]:
    """Return the function that solves with a matrix."""
    return Factors(as_sparse(A)).solve


scipy_captures("scipy.sparse", {
    "kron": kron, "vstack": _stacked(0), "hstack": _stacked(1), "block_diag": block_diag,
    "eye": _eye("matrix"), "eye_array": _eye("array"), "identity": _identity})
scipy_captures("scipy.sparse.linalg", {
    **{name: _iterative(name) for name in ("cg", "gmres", "bicgstab")}, "splu": splu,
    "factorized": factorized})
