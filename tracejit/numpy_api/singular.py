"""Functions of eigenvalues and singular values alone: norms, ranks, condition numbers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.factors import eigh, svd_with_vectors
from tracejit.numpy_api.grids import unit_matrix
from tracejit.numpy_api.linalg import inv, require_square
from tracejit.numpy_api.norms import SPECTRAL_NORMS, known_order, norm
from tracejit.numpy_api.stacks import over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.eigen import decomposed
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, as_operand, cast, emit
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
    m: Any = require_square(as_inexact(a))
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
    x = as_inexact(a)
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
    if compute_uv:
        return svd_with_vectors(a, full_matrices, hermitian)
    return _sizes_of_eigenvalues(a) if hermitian else singular_values(a)


def _sizes_of_eigenvalues(a: object) -> Any:
    """Return the singular values of symmetric matrices, from the lower triangle."""
    return np.sort(np.abs(eigvalsh(a)), axis=-1)[..., ::-1]


def _spectral(x: np.ndarray, ord: object, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return a norm made of singular values."""
    values = singular_values(np.moveaxis(x, axes, (-2, -1)))
    folds: Any = {2: functools.partial(np.max, initial=0), -2: np.min, "nuc": np.sum}
    result = folds[ord](values, axis=-1)
    return np.expand_dims(result, axes) if keepdims else result


SPECTRAL_NORMS.append(_spectral)


@captures(np.linalg.cond)
def cond(x: object, p: object = None) -> Any:
    """Return the condition number of matrices in a norm."""
    a: Any = as_inexact(x)
    p = known_order(p)
    if any(current().are_equal(d, 0, "whether a matrix is empty") for d in a.dims[-2:]):
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        values = singular_values(a)
        above, below = values[..., 0], values[..., -1]
        above, below = (below, above) if p == -2 else (above, below)
        is_finite = below != 0
    else:
        inverse, is_finite = over_stacks(_inverse_or_not, "np.linalg.cond", (require_square(a), 2))
        above, below = norm(a, p, (-2, -1)) * norm(inverse, p, (-2, -1)), a.dtype.type(1).real
    ratio = above / np.where(is_finite, below, 1)
    unknown = np.any(np.isnan(a), axis=(-2, -1))
    found = np.where(is_finite & ~(np.isnan(ratio) & ~unknown), ratio, np.inf)
    return np.where(unknown, np.nan, found)[()]


def _inverse_or_not(a: Tracer) -> tuple[Any, Any]:
    """Return the inverse of a matrix, or of 1, and whether there is one."""
    *_, is_regular = map(tracer_of, emit("lu_or_not", [stop_gradient(a).value]))
    identity = unit_matrix(a.dims[0], a.dtype)
    return inv(np.where(is_regular, a, identity)), is_regular


@captures(np.linalg.matrix_rank)
def matrix_rank(A: object, tol: object = None, hermitian: bool = False, *,
                rtol: float | None = None) -> Any:
    """Return how many singular values are not negligible."""
    a: Any = as_inexact(A)
    if len(a.dims) < 2:
        return tracer_of(cast(np.logical_not(np.all(a == 0)), np.int64).value, weak=True)
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    values = _sizes_of_eigenvalues(a) if hermitian else singular_values(a)
    if tol is not None:
        return np.sum(values > np.expand_dims(as_tracer(tol), -1), axis=-1)
    size = as_operand(maximum(a.dims[-2], a.dims[-1], current().builder.known))
    relative: Any = size * np.finfo(a.dtype).eps
    if rtol is not None:
        relative = np.expand_dims(as_tracer(rtol), -1)
    return np.sum(values > np.max(values, axis=-1, keepdims=True, initial=0) * relative, axis=-1)
