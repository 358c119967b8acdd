"""Systems, norms and exponentials of sparse matrices, which are dense on the way, and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact
from tracejit.scipy_api.sparse import as_sparse, is_sparse
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FOREIGN, scipy_captures
from tracejit.trace.values.equations import dims_of, same_dim, to_dim
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _dense(A: object, name: str) -> Any:
    """Return a sparse matrix in double precision as a dense one."""
    label = f"scipy.sparse.linalg.{name}"
    if name == "expm_multiply" and isinstance(A, (Tracer, np.ndarray)):
        A = FOREIGN["scipy.sparse.csr_array"](A)
    if not is_sparse(A):
        raise refuse(f"{label} of what is not sparse cannot be captured",
                     "Use the function of scipy.linalg", "TJ218")
    dense: Any = as_sparse(A).toarray()
    if dense.dtype.char not in "dD":
        raise refuse(f"{label} of an array of {dense.dtype} cannot be captured",
                     "Convert it with .astype(float)", "TJ218")
    require_ours(np.all(np.isfinite(dense)), NotCaptured, f"{label} of numbers that are infinite "
                 "or NaN cannot be captured. Leave them out, or call it outside")
    current().note(f"{label} is computed of a dense matrix", "TJ707")
    return dense


def spsolve_triangular(A: object, b: object, lower: bool = True, overwrite_A: bool = False,
                       overwrite_b: bool = False, unit_diagonal: bool = False) -> Any:
    """Return the solution of a triangular system."""
    a, given = _dense(A, "spsolve_triangular"), as_inexact(b)
    if not same_dim(dims_of(a)[0], dims_of(a)[1]):
        raise ValueError(f"A must be a square matrix but its shape is {a.shape}.")
    if len(given.dims) not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {given.shape}.")
    if not same_dim(dims_of(a)[0], dims_of(given)[0]):
        raise ValueError("The size of the dimensions of A must be equal to the size of the first "
                         "dimension of b.")
    if not unit_diagonal:
        require(np.all(np.diag(a) != 0), np.linalg.LinAlgError,
                "A is singular: zero entry on diagonal.")
    beyond = np.triu(a, 1) if lower else np.tril(a, -1)
    require_ours(np.all(beyond == 0), NotCaptured, "scipy.sparse.linalg.spsolve_triangular of a "
                 "matrix that is not triangular cannot be captured")
    return FOREIGN["scipy.linalg.solve_triangular"](a, given, lower=lower,
                                                    unit_diagonal=unit_diagonal)


def norm(x: object, ord: object = None, axis: object = None) -> Any:
    """Return a norm of a sparse matrix, or of its rows or columns."""
    if ord not in (None, "fro", "f", 1, -1, np.inf, -np.inf) or isinstance(axis, tuple):
        raise refuse(f"scipy.sparse.linalg.norm with ord={ord!r} or axis={axis!r} cannot be "
                     "captured", "Use 'fro', 1 or inf, and no axis or one", "TJ218")
    dense = _dense(x, "norm")
    if axis is not None and ord in ("fro", "f"):
        raise ValueError("Invalid norm order for vectors.")
    return np.linalg.norm(dense, "fro" if ord == "f" else ord, axis)  # type: ignore[call-overload]


def expm_multiply(A: object, B: object, start: object = None, stop: object = None,
                  num: object = None, endpoint: object = None, traceA: object = None) -> Any:
    """Return the exponential of a sparse matrix times vectors, at one time or at several."""
    a, b = _dense(A, "expm_multiply"), as_inexact(B)
    if start is stop is num is endpoint is None:
        return FOREIGN["scipy.linalg.expm"](a) @ b
    settings: Any = {"num": num, "endpoint": endpoint}
    given = {name: x for name, x in settings.items() if x is not None}
    times: Any = np.linspace(start, stop, **given)  # type: ignore[call-overload]
    return FOREIGN["scipy.linalg.expm"](times[:, None, None] * a) @ b


# --- blocks ---------------------------------------------------------------------------------------


def block_array(blocks: Sequence[Sequence[object]], *, format: str | None = None,
                dtype: None = None) -> Any:
    """Return the sparse matrix of blocks, all of which are given."""
    if not (blocks and all(isinstance(row, (list, tuple)) and row for row in blocks)):
        raise ValueError("blocks must be 2-D")
    if dtype is not None or any(x is None for row in blocks for x in row):
        raise refuse("scipy.sparse.block_array with dtype=, or of blocks that are None, cannot be "
                     "captured", "Pass scipy.sparse.coo_array of zeros for them", "TJ218")
    stacked = FOREIGN["scipy.sparse.hstack"], FOREIGN["scipy.sparse.vstack"]
    rows = [stacked[0](list(row), format="coo") for row in blocks]
    return stacked[1](rows, format=format or "coo")


def bmat(blocks: Sequence[Sequence[object]], format: str | None = None, dtype: None = None) -> Any:
    """Return the same, a sparse matrix of sparse matrices."""
    return block_array(blocks, format=format, dtype=dtype)


def kronsum(A: object, B: object, format: str | None = None) -> Any:
    """Return the Kronecker sum: kron(I, A) + kron(B, I)."""
    a, b = as_sparse(A), as_sparse(B)
    for m in (a, b):
        if not same_dim(to_dim(m.shape[0]), to_dim(m.shape[1])):
            raise ValueError("a matrix of a Kronecker sum is not square")
    eye, kron = FOREIGN["scipy.sparse.eye_array"], FOREIGN["scipy.sparse.kron"]
    form = format or "coo"
    return kron(eye(b.shape[0]), A, form) + kron(B, eye(a.shape[0]), form)


captures_of_finite("scipy.sparse.linalg", {
    "spsolve_triangular": spsolve_triangular, "norm": norm, "expm_multiply": expm_multiply}, "fc")
scipy_captures("scipy.sparse", {"block_array": block_array, "bmat": bmat, "kronsum": kronsum})
