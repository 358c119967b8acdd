"""`eigh`, `svd`, `qr`, `eig`, `pinv` and `lstsq` of NumPy: LAPACK's factors, with derivatives.

As NumPy does, they compute in double precision and round to single where the matrix is of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.core import Span
from tracejit.ir.dims import Dim, maximum, minimum
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.linalg import require_square
from tracejit.numpy_api.stacks import over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import assured, factored, implied
from tracejit.ops.linalg import adjoint, transpose_last
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["all_of", "columns_of", "double", "eig_of_one", "eigh_of", "is_less", "longest",
           "parts_of_triangle", "pinv_of", "qr_of", "rows_of", "single_again", "svd_of"]

_SINGLE = {np.dtype(np.float32): np.float32, np.dtype(np.complex64): np.complex64}


def double(a: object, square: bool = False) -> Tracer:
    """Return a matrix or a stack of them in double precision."""
    x = as_inexact(a)
    if len(x.dims) < 2:
        raise np.linalg.LinAlgError(f"{len(x.dims)}-dimensional array given. Array must be at "
                                    "least two-dimensional")
    x = require_square(x) if square else x
    return cast(x, np.complex128 if x.dtype.kind == "c" else np.float64)


def single_again(x: np.ndarray, *given: object) -> Any:
    """Return a result in the precision of the matrices that it is of."""
    if any(as_tracer(a).dtype not in _SINGLE for a in given):
        return x
    return cast(x, np.complex64 if x.dtype.kind == "c" else np.float32)


def all_of(function: Callable[..., object], what: str, a: object, x: Tracer) -> list[Any]:
    """Return the results of a function of a matrix for each of a stack, in its precision."""
    found = over_stacks(function, what, (x, 2))
    return [single_again(r, a) for r in (found if isinstance(found, tuple) else (found,))]


def is_less(a: Dim, b: Dim, what: str) -> bool:
    """Return whether a size is less than another, which the program then takes for granted."""
    less = current().decide(a - b, "<", what)
    if less is None:
        raise refuse("factors of a matrix whose form data decides cannot be captured",
                     "Make its sizes those of arguments", "TJ212")
    return bool(less)


# --- symmetric and Hermitian matrices -----------------------------------------------------------


def parts_of_triangle(m: Tracer, lower: bool) -> Tracer:
    """Return the symmetric or Hermitian matrix of which one triangle is given."""
    half: Any
    rest: Any
    half, rest = (np.tril(m), np.tril(m, -1)) if lower else (np.triu(m), np.triu(m, 1))
    turned: Any = np.swapaxes(rest, -1, -2)
    if half.dtype.kind == "c":
        turned = np.conj(turned)
        i = apply("iota", size=m.dims[-1])
        half = np.where(i[:, None] == i[None, :], cast(np.real(half), half.dtype), half)
    return as_tracer(half + turned)


def eigh_of(m: Tracer, lower: bool) -> tuple[Any, Any]:
    """Return eigenvalues in order, and eigenvectors as columns, of a symmetric matrix."""
    options = "L" if lower else "U"
    given = stop_gradient(m)
    rows, values, *_ = factored("eigh", transpose_last(given), options=options)
    return tuple(implied(f"eigh {options}", [values, transpose_last(rows)], m))


_EighResult: Any = type(np.linalg.eigh(np.eye(1)))


def _triangle_of(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper() == "L"


@captures(np.linalg.eigh)
def eigh(a: object, UPLO: str = "L") -> Any:
    """Return the eigenvalues and eigenvectors of symmetric matrices, from one triangle."""
    lower, x = _triangle_of(UPLO), double(a, square=True)
    return _EighResult(*all_of(lambda m: eigh_of(parts_of_triangle(m, lower), lower),
                                "np.linalg.eigh", a, x))


# --- singular values ----------------------------------------------------------------------------


def svd_of(a: Tracer, full: bool) -> tuple[Any, Any, Any]:
    """Return the singular vectors and values of a matrix."""
    m, n = a.dims
    k = minimum(m, n, current().builder.known)
    is_whole = same_dim(m, n)
    is_tall = not is_whole and (full or a.dtype.kind == "c") and is_less(
        n, m, "whether a matrix has more rows than columns")
    rule = "svd V" if is_whole or is_tall else "svd U"
    given = transpose_last(stop_gradient(a))
    _, s, ut, vc, *_ = factored("svd", given, options="A" if full and not is_whole else "S")
    u, vt = transpose_last(ut), transpose_last(vc)
    if not full or is_whole:
        return tuple(implied(rule, [u, s, vt], a))
    first, s, last = implied(rule, [columns_of(u, 0, k), s, rows_of(vt, 0, k)], a)
    if is_tall:
        (rest,) = implied("complement", [columns_of(u, k, m)], first)
        return concatenate([first, rest], 1), s, last
    (rest,) = implied("complement", [as_tracer(adjoint(rows_of(vt, k, n)))],
                      as_tracer(adjoint(last)))
    return first, s, concatenate([last, adjoint(rest)], 0)


def rows_of(x: Tracer, start: Dim, stop: Dim) -> Tracer:
    at = Span(start, stop - start), Span(0, x.dims[1])
    return apply("index", x, at=at)


def columns_of(x: Tracer, start: Dim, stop: Dim) -> Tracer:
    at = Span(0, x.dims[0]), Span(start, stop - start)
    return apply("index", x, at=at)


_SVDResult: Any = type(np.linalg.svd(np.eye(1)))


def svd_with_vectors(a: object, full_matrices: bool, hermitian: bool) -> Any:
    """Return the singular vectors and values of matrices."""
    if hermitian:
        return _SVDResult(*_svd_by_eigh(a))
    found = all_of(lambda m: svd_of(m, bool(full_matrices)), "np.linalg.svd", a, double(a))
    return _SVDResult(*found)


def _svd_by_eigh(a: object) -> tuple[Any, Any, Any]:
    """Return the singular vectors and values of symmetric matrices, from the lower triangle."""
    values, vectors = eigh(a)
    order = np.argsort(np.abs(values), axis=-1)[..., ::-1]
    signs = np.take_along_axis(np.copysign(np.ones_like(values), values), order, axis=-1)
    sizes = np.take_along_axis(np.abs(values), order, axis=-1)
    u = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    turned = u * signs[..., None, :]
    return u, sizes, np.conj(np.swapaxes(turned, -1, -2))


# --- orthogonal and triangular factors ----------------------------------------------------------


def qr_of(a: Tracer, mode: str) -> tuple[Any, ...]:
    """Return Q and R of a matrix, or R alone: "reduced", "complete" or "r"."""
    m, n = a.dims
    is_wide = not same_dim(m, n) and is_less(m, n, "whether a matrix has less rows than columns")
    square = columns_of(a, 0, m) if is_wide else a
    k = square.dims[1]
    h, tau, _ = factored("qr", transpose_last(stop_gradient(square)))
    qt, _ = factored("reflections", h, tau)
    upper: Any = np.triu(rows_of(transpose_last(h), 0, k))
    q, r = implied("qr", [transpose_last(qt), as_tracer(upper)], square)
    if is_wide:
        r = concatenate([r, adjoint(q) @ columns_of(a, m, n)], 1)
    if mode == "complete" and not is_wide and not same_dim(m, n):
        blank = apply("full", a.dtype.type(0), shape=(m - k, m))
        whole, _ = factored("reflections", concatenate([h, blank], 0), tau)
        (rest,) = implied("complement", [columns_of(transpose_last(whole), k, m)], q)
        q = concatenate([q, rest], 1)
        r = concatenate([r, apply("full", a.dtype.type(0), shape=(m - k, n))], 0)
    return (r,) if mode == "r" else (q, r)


_QRResult: Any = type(np.linalg.qr(np.eye(1)))


@captures(np.linalg.qr)
def qr(a: object, mode: str = "reduced") -> Any:
    """Return an orthogonal and an upper triangular factor of matrices."""
    if mode not in ("reduced", "complete", "r"):
        if mode in ("raw", "economic", "full", "f", "e"):
            raise refuse(f"numpy.linalg.qr with mode={mode!r} cannot be captured",
                         "Use 'reduced', 'complete' or 'r'", "TJ203")
        raise ValueError(f"Unrecognized mode '{mode}'")
    found = all_of(lambda m: qr_of(m, mode), "np.linalg.qr", a, double(a))
    return found[0] if mode == "r" else _QRResult(*found)


# --- general square matrices ----------------------------------------------------------------------


def eig_of_one(a: Tracer) -> tuple[Any, Any]:
    """Return the eigenvalues of a matrix, and eigenvectors as columns, both complex."""
    given = transpose_last(stop_gradient(a))
    if a.dtype.kind == "c":
        _, values, rows, *_ = factored("eig", given)
    else:
        _, real, imaginary, packed, *_ = factored("eig", given)
        values = real + 1j * imaginary
        k = apply("iota", size=real.dims[0])
        is_second, is_first = imaginary < 0.0, imaginary > 0.0
        own = packed[np.where(is_second, k - 1, k)]
        other = packed[np.where(is_first, k + 1, k)]
        sign = np.where(is_first, 1.0, np.where(is_second, -1.0, 0.0))
        rows = own + 1j * (sign[:, None] * other)
    return tuple(implied("eig", [as_tracer(values), transpose_last(rows)],
                         cast(a, np.complex128)))


_EigResult: Any = type(np.linalg.eig(np.eye(1)))


def _complex_again(x: np.ndarray, a: object) -> Any:
    return cast(x, np.complex64) if as_tracer(a).dtype in _SINGLE else x


@captures(np.linalg.eig)
def eig(a: object) -> Any:
    """Return the eigenvalues and eigenvectors of matrices, complex also where all are real."""
    found = over_stacks(eig_of_one, "np.linalg.eig", (double(a, square=True), 2))
    return _EigResult(*(_complex_again(x, a) for x in found))


@captures(np.linalg.eigvals)
def eigvals(a: object) -> Any:
    """Return the eigenvalues of matrices, complex also where all are real."""
    values = over_stacks(lambda m: eig_of_one(m)[0], "np.linalg.eigvals",
                         (double(a, square=True), 2))
    return _complex_again(values, a)


# --- least squares --------------------------------------------------------------------------------


def pinv_of(a: Tracer, share: np.ndarray | float, least: float = 0.0) -> tuple[Any, Any]:
    """Return the pseudoinverse of a matrix and its singular values.

    A singular value has to be above a share of the largest and `least`.
    """
    u, s, vt = svd_of(a, False)
    uh, known, v = (stop_gradient(x) for x in (adjoint(u), s, adjoint(vt)))
    large = known > least + share * np.max(known, initial=0.0)
    inverse = np.where(large, 1.0, 0.0) / np.where(large, known, 1.0)
    p = (v * inverse[None, :]) @ uh
    is_whole = np.all(np.logical_or(large, known <= 1e-10 * np.max(known, initial=0.0)))
    return implied("pinv", [as_tracer(p)], a, as_tracer(is_whole))[0], s


@captures(np.linalg.pinv)
def pinv(a: object, rcond: object = None, hermitian: bool = False, *,
         rtol: object = np._NoValue) -> Any:
    """Return the pseudoinverses of matrices."""
    x = double(a)
    if rcond is not None and rtol is not np._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else rtol
    if rcond is None:
        rcond = as_operand(longest(x)) * np.finfo(_own(a)).eps
    share = cast(as_tracer(rcond), np.float64)
    if len(share.dims) > len(x.dims) - 2:
        raise ValueError("non-broadcastable output operand: rcond has more axes than the stack of "
                         "matrices")
    if hermitian:
        x = parts_of_triangle(require_square(x), lower=True)  # NumPy reads the lower triangle
    found = over_stacks(lambda m, c: pinv_of(m, c)[0], "np.linalg.pinv", (x, 2), (share, 0))
    return single_again(found, a)


def longest(x: Tracer) -> Any:
    return maximum(x.dims[-2], x.dims[-1], current().builder.known)


def _own(a: object) -> Any:
    dtype = as_tracer(a).dtype
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


@captures(np.linalg.lstsq)
def lstsq(a: object, b: object, rcond: float | None = None) -> Any:
    """Return the least-squares solution of a system, squares of residuals, rank, singular values.

    Residuals exist for a matrix of full rank with more rows than columns: for any other NumPy's
    array of them is empty, and a program that reads them ends with an error.
    """
    x, right = double(a), as_tracer(b)
    if len(x.dims) != 2 or len(right.dims) not in (1, 2):
        raise np.linalg.LinAlgError(f"{len(x.dims)}-dimensional array given. Array must be "
                                    "two-dimensional")
    if not same_dim(x.dims[0], right.dims[0]):
        raise np.linalg.LinAlgError("Incompatible dimensions")
    if rcond is None:
        rcond = np.finfo(_own(a) if _own(b) in _SINGLE else np.dtype(np.float64)).eps * as_operand(
            longest(x))
    elif not isinstance(rcond, TracedOperand) and rcond < 0:
        rcond = float(np.finfo(np.float64).eps)  # as LAPACK has it
    dtype = np.result_type(_own(a), _own(b))
    wide: Any = cast(right, np.complex128 if dtype.kind == "c" else np.float64)
    p, s = pinv_of(cast(x, wide.dtype), rcond)
    solution = p @ wide
    rank = np.sum(stop_gradient(s) > rcond * np.max(stop_gradient(s), initial=0.0))
    residuals = _residuals(x, wide, solution, rank)
    real = np.float32 if dtype in _SINGLE else np.float64
    return (cast(solution, dtype), cast(residuals, real), cast(rank, np.int32),
            cast(s, real))


def _residuals(x: Tracer, b: Tracer, solution: np.ndarray, rank: np.ndarray) -> Any:
    m, n = x.dims
    if same_dim(m, n) or not is_less(n, m, "whether there are more equations than unknowns"):
        return apply("full", np.float64(0), shape=(0,))
    fine = assured(rank == of_dim(n), "the matrix has not full rank: NumPy gives no residuals then")
    left = np.abs(b - x @ solution)
    squares = np.sum(np.where(fine, left * left, 0.0), axis=0)
    return squares[None] if len(b.dims) == 1 else squares
