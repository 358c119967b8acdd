"""What is made of eigenvalues and singular values alone: norms, ranks, condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.factors import eigh, svd_with_vectors
from tracejit.numpy_api.linalg import inv, numeric, require_square
from tracejit.numpy_api.norms import SPECTRAL_NORMS, norm
from tracejit.numpy_api.stacks import over_stacks
from tracejit.ops.eigen import decomposed
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, as_operand, cast
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__: list[str] = []


def _values_of_one(a: np.ndarray) -> Any:
    return decomposed(as_tracer(a))[0]


@captures(np.linalg.eigvalsh)
def eigvalsh(a: object, UPLO: str = "L") -> Any:
    """Return the eigenvalues of symmetric matrices in order, from one triangle."""
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    m: Any = require_square(numeric(a))
    lower = UPLO.upper() == "L"
    half, rest = (np.tril(m), np.tril(m, -1)) if lower else (np.triu(m), np.triu(m, 1))
    if m.dtype.kind == "c":
        return eigh(a, UPLO)[0]
    whole = as_tracer(half + np.swapaxes(rest, -1, -2))
    return over_stacks(_values_of_one, "np.linalg.eigvalsh", (whole, 2))


def _singular_of_one(a: Tracer) -> Any:
    """Return the singular values: the largest eigenvalues of [[0, a], [a', 0]]."""
    m, n = a.dims
    zero = a.dtype.type(0)
    turned: Any = np.swapaxes(a, 0, 1)
    upper = np.concatenate([apply("full", zero, shape=(m, m)), a], axis=1)
    lower = np.concatenate([turned, apply("full", zero, shape=(n, n))], axis=1)
    values: Any = decomposed(as_tracer(np.concatenate([upper, lower], axis=0)))[0]
    found = values[::-1][:of_dim(minimum(m, n, current().builder.known))]
    return np.where(found < 0, zero, found)


def singular_values(a: object) -> Any:
    """Return the singular values of matrices, the largest first."""
    x = numeric(a)
    if len(x.dims) < 2:
        raise np.linalg.LinAlgError(f"{len(x.dims)}-dimensional array given. Array must be at "
                                    "least two-dimensional")
    if x.dtype.kind == "c":
        return svd_with_vectors(a, False, False)[1]
    return over_stacks(_singular_of_one, "np.linalg.svd", (x, 2))


@captures(np.linalg.svdvals)
def svdvals(x: object, /) -> Any:
    """Return the singular values of matrices, the largest first."""
    return singular_values(x)


@captures(np.linalg.svd)
def svd(a: object, full_matrices: bool = True, compute_uv: bool = True,
        hermitian: bool = False) -> Any:
    """Return the singular vectors and values of matrices, or the values alone."""
    return svd_with_vectors(a, full_matrices, hermitian) if compute_uv else singular_values(a)


def _spectral(x: np.ndarray, ord: object, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return a norm made of singular values."""
    values = singular_values(np.moveaxis(x, axes, (-2, -1)))
    folds: Any = {2: np.max, -2: np.min, "nuc": np.sum}
    result = folds[ord](values, axis=-1)
    return np.expand_dims(result, axes) if keepdims else result


SPECTRAL_NORMS.append(_spectral)


@captures(np.linalg.cond)
def cond(x: object, p: object = None) -> Any:
    """Return the condition number of matrices in a norm."""
    a: Any = numeric(x)
    if p in (None, 2, -2):
        values = singular_values(a)
        largest, least = values[..., 0], values[..., -1]
        return least / largest if p == -2 else np.where(least == 0, np.inf, largest / np.where(
            least == 0, 1, least))[()]
    return norm(a, p, (-2, -1)) * norm(inv(a), p, (-2, -1))


@captures(np.linalg.matrix_rank)
def matrix_rank(A: object, tol: object = None, hermitian: bool = False, *,
                rtol: float | None = None) -> Any:
    """Return how many singular values are not negligible."""
    a: Any = numeric(A)
    if len(a.dims) < 2:
        return tracer_of(cast(np.logical_not(np.all(a == 0)), np.int64).value, weak=True)
    if hermitian or tol is not None:
        raise refuse("numpy.linalg.matrix_rank with tol= or hermitian= cannot be captured",
                     "Count np.linalg.svd(a, compute_uv=False) > tol")
    values = singular_values(a)
    size = as_operand(maximum(a.dims[-2], a.dims[-1], current().builder.known))
    relative = np.asarray(rtol)[..., None] if rtol is not None else size * np.finfo(a.dtype).eps
    return np.sum(values > np.max(values, axis=-1, keepdims=True) * relative, axis=-1)
