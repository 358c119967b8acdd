"""Kinds of matrices of `scipy.linalg`: factors, bands, matrices of a few numbers, questions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import zeros
from tracejit.scipy_api.plain_bands import band_factor, band_solution, real_pairs
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast, dims_of, same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import tracer_of

__all__: list[str] = []

_SIZE = "the size of a matrix"


def _ended(x: np.ndarray) -> Any:
    """Return the matrices with the order of their rows and columns turned, conjugate transposes."""
    return np.swapaxes(np.conj(x[..., ::-1, ::-1]), -1, -2)


def rq(a: object, overwrite_a: bool = False, lwork: object = None, mode: str = "full",
       check_finite: bool = True) -> Any:
    """Return an upper triangular and an orthogonal factor of matrices."""
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    x: Any = as_inexact(a)
    if x.ndim < 2:
        raise ValueError("expected matrix")
    q, r = FOREIGN["scipy.linalg.qr"](_ended(x), mode="economic" if mode == "economic" else "full")
    found = (_ended(r), _ended(q))
    return found[0] if mode == "r" else found if x.ndim == 2 else list(found)


def qr_multiply(a: object, c: object, mode: str = "right", pivoting: bool = False,
                conjugate: bool = False, overwrite_a: bool = False,
                overwrite_c: bool = False) -> Any:
    """Return the orthogonal factor of a matrix times another one, and the triangular factor."""
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument can only be 'left' or 'right' but not '{mode}'")
    if pivoting or overwrite_c:
        raise refuse("scipy.linalg.qr_multiply with pivoting= or overwrite_c= cannot be captured",
                     "Leave them out", "TJ203")
    x: Any = np.atleast_2d(as_inexact(a))
    other: Any = as_inexact(c)
    if x.ndim != 2 or other.ndim > 2:
        raise refuse("scipy.linalg.qr_multiply of stacks cannot be captured", "Use a loop", "TJ207")
    q, r = FOREIGN["scipy.linalg.qr"](x, mode="economic")
    q = np.conj(q) if conjugate else q
    shared = dims_of(other)[-1] if mode == "right" else dims_of(other)[0]
    if not same_dim(shared, dims_of(q)[0 if mode == "right" else 1]):
        raise ValueError("Array shapes are not compatible for a product with Q")
    return (q @ other if mode == "left" else other @ q), r


# --- bands ----------------------------------------------------------------------------------------


def _lowered(band: np.ndarray) -> Any:
    """Return an upper band as a lower one, or back: each is the other's conjugate transpose."""
    count = known_length(band, "how many diagonals a band has")
    return np.stack([np.roll(np.conj(band[count - 1 - k]), -k) for k in range(count)])


def _raised(band: np.ndarray) -> Any:
    count = known_length(band, "how many diagonals a band has")
    return np.stack([np.roll(np.conj(band[count - 1 - k]), count - 1 - k) for k in range(count)])


def _band(x: object, name: str) -> Any:
    band: Any = as_inexact(x)
    if band.ndim != 2:
        raise refuse(f"scipy.linalg.{name} of a stack of bands cannot be captured", "Use a loop",
                     "TJ207")
    return band


def cholesky_banded(ab: object, overwrite_ab: bool = False, lower: bool = False,
                    check_finite: bool = True) -> Any:
    """Return A. Cholesky's factor of a positive definite band."""
    band = _band(ab, "cholesky_banded")
    if lower:
        return call_function(band_factor, (band,), {})
    return _raised(call_function(band_factor, (_lowered(band),), {}))


def cho_solve_banded(cb_and_lower: tuple[object, bool], b: object, overwrite_b: bool = False,
                     check_finite: bool = True) -> Any:
    """Return the solution of a system whose factor is a band."""
    cb, lower = cb_and_lower
    band, given = _band(cb, "cho_solve_banded"), as_inexact(b)
    if not same_dim(dims_of(band)[-1], dims_of(given)[0]):
        raise ValueError("shapes of cb and b are not compatible.")
    dtype = np.result_type(band.dtype, given.dtype)
    columns: Any = cast(as_tracer(np.reshape(given, (given.shape[0], -1))), dtype)
    found = call_function(band_solution, (cast(as_tracer(band if lower else _lowered(band)), dtype),
                                          columns), {})
    return np.reshape(found, given.shape)


# --- matrices of a few numbers --------------------------------------------------------------------


def convolution_matrix(a: object, n: int, mode: str = "full") -> Any:
    """Return the matrix by which a vector of n numbers is convolved with another one."""
    x: Any = as_tracer(a)
    if x.ndim != 1:
        raise refuse("scipy.linalg.convolution_matrix of a stack cannot be captured", "Use a loop",
                     "TJ207")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    columns, count = operator.index(n), known_length(x, "the length of a convolution")
    if columns <= 0:
        raise ValueError("n must be a positive integer.")
    trim = 0 if mode == "full" else min(columns, count) - 1
    first = trim // 2 if mode == "same" else trim
    last = trim - first if mode == "same" else trim
    place = np.arange(first, columns + count - 1 - last)[:, None] - np.arange(columns)
    inside = (place >= 0) & (place < count)
    return np.where(inside, x[np.clip(place, 0, count - 1)], x.dtype.type(0))


def leslie(f: object, s: object) -> Any:
    """Return P. H. Leslie's matrix of births and survivals."""
    births: Any
    lives: Any
    births, lives = (np.atleast_1d(as_inexact(x)) for x in (f, s))
    if births.ndim != 1 or lives.ndim != 1:
        raise refuse("scipy.linalg.leslie of stacks cannot be captured", "Use a loop", "TJ207")
    n = known_length(births, _SIZE)
    if n != known_length(lives, _SIZE) + 1:
        raise ValueError("Incorrect lengths for f and s. The length of s along the last axis must "
                         "be one less than the length of f.")
    dtype = np.result_type(births.dtype, lives.dtype)
    below = np.concatenate([np.diag(lives), np.zeros((n - 1, 1))], axis=1)
    return np.concatenate([cast(as_tracer(births[None]), dtype), cast(as_tracer(below), dtype)])


def fiedler_companion(a: object) -> Any:
    """Return M. Fiedler's matrix with the roots of a polynomial, all but empty off a band."""
    given: Any = np.atleast_1d(as_inexact(a))
    if given.ndim != 1:
        raise refuse("scipy.linalg.fiedler_companion of a stack cannot be captured", "Use a loop",
                     "TJ207")
    count = known_length(given, "how many coefficients a polynomial has")
    if count == 1:
        return cast(as_tracer(zeros(0)), given.dtype)
    require(given[0] != 0, ValueError, "Leading coefficient is zero.")
    c: Any = given / given[0]
    n = count - 1
    rows: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(3, n, 2):
        rows[i][i - 2] = 1.0
    for i in range(0, n - 2, 2):
        rows[i][i + 2] = 1.0
    for i in range(2, n, 2):
        rows[i][i - 1] = -c[i + 1]
    for i in range(0, n - 1, 2):
        rows[i][i + 1] = -c[i + 2]
    rows[0][0] = -c[1]
    if n > 1:
        rows[1][0] = 1.0
    return np.stack([np.stack([cast(1.0 * as_tracer(x), given.dtype) for x in row])
                     for row in rows])


def diagsvd(s: object, M: int, N: int) -> Any:
    """Return the matrix of a size that has these numbers on its diagonal."""
    x: Any = as_inexact(s)
    count, rows, columns = known_length(x, _SIZE), operator.index(M), operator.index(N)
    if x.ndim != 1:
        raise refuse("scipy.linalg.diagsvd of a stack cannot be captured", "Use a loop", "TJ207")
    if count not in (rows, columns):
        raise ValueError("Length of s must be M or N.")
    if count == rows:
        return np.concatenate([np.diag(x), np.zeros((rows, columns - rows))], axis=1)
    return np.concatenate([np.diag(x), np.zeros((rows - columns, columns))])


def cdf2rdf(w: object, v: object) -> Any:
    """Return eigenvalues and vectors that are complex as real blocks and vectors."""
    values, vectors = (cast(as_inexact(x), np.complex128) for x in (w, v))
    if len(values.dims) != 1 or len(vectors.dims) != 2:
        raise refuse("scipy.linalg.cdf2rdf of stacks cannot be captured", "Use a loop", "TJ207")
    return call_function(real_pairs, (values, vectors), {})


# --- questions ------------------------------------------------------------------------------------


def _matrix(a: object) -> Any:
    x: Any = as_tracer(a)
    if x.ndim != 2:
        raise ValueError("Input array must be 2D.")
    return x


def bandwidth(a: object) -> Any:
    """Return how many diagonals below and above the main one have numbers that are not 0."""
    x = _matrix(a)
    away = iota(dims_of(x)[0])[:, None] - iota(dims_of(x)[1])
    found = []
    for sign in (1, -1):
        most = np.max(np.where(x != 0, sign * away, 0))
        found.append(tracer_of(as_tracer(most).value, weak=True))
    return tuple(found)


def _equal_to(x: np.ndarray, other: np.ndarray, atol: object, rtol: object) -> Any:
    if not same_dim(dims_of(x)[0], dims_of(x)[1]):
        raise ValueError("Input array must be square.")
    if atol is None and rtol is None:
        return np.all(x == other)
    return np.allclose(x, other, atol=1e-8 if atol is None else atol,  # type: ignore[arg-type]
                       rtol=1e-5 if rtol is None else rtol)  # type: ignore[arg-type]


def issymmetric(a: object, atol: object = None, rtol: object = None) -> Any:
    """Return whether a matrix is its transpose."""
    x = _matrix(a)
    return _equal_to(x, np.transpose(x), atol, rtol)


def ishermitian(a: object, atol: object = None, rtol: object = None) -> Any:
    """Return whether a matrix is its conjugate transpose."""
    x = _matrix(a)
    return _equal_to(x, np.conj(np.transpose(x)), atol, rtol)


captures_of_finite("scipy.linalg", {f.__name__: f for f in (
    rq, qr_multiply, cholesky_banded, cho_solve_banded, convolution_matrix, leslie,
    fiedler_companion, diagsvd, cdf2rdf, bandwidth, issymmetric, ishermitian)}, "fc")
