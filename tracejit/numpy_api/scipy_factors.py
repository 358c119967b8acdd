"""`lu`, `eigh`, `svd`, `qr`, `eig`, `pinv` and `lstsq` as `scipy.linalg` gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.factors import (
    all_of,
    columns_of,
    double,
    eig_of_one,
    eigh_of,
    is_less,
    longest,
    parts_of_triangle,
    pinv_of,
    qr_of,
    rows_of,
    single_again,
    svd_of,
)
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.linalg import of_wide, require_square
from tracejit.numpy_api.plainly import order_of_swaps
from tracejit.numpy_api.singular import singular_values
from tracejit.numpy_api.stacks import VECTOR_OR_MATRIX, in_stacks, over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import factored, implied
from tracejit.ops.linalg import adjoint, conjugate, transpose_last
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, same_dim
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["SCIPY"]

SCIPY: dict[str, Callable[..., Any]] = {}
"""The captures of this file, by name."""


def _enter(function: Callable[..., object]) -> Callable[..., object]:
    SCIPY[function.__name__.rstrip("_")] = function
    return function


def _refuse_unless(plain: bool, what: str, instead: str) -> None:
    if not plain:
        raise refuse(f"scipy.linalg.{what} cannot be captured", instead, "TJ203")


# --- A = P L U ------------------------------------------------------------------------------------


def _packed(a: Tracer) -> tuple[Any, Any, Any]:
    """Return L and U in one matrix, the order of rows that they are of, and LAPACK's pivots."""
    a = require_square(a) if same_dim(a.dims[0], a.dims[1]) else a
    m, n = a.dims
    known, pivots = factored("lu", transpose_last(stop_gradient(a)))
    pivots = pivots - 1
    order = call_function(order_of_swaps, (pivots, as_operand(m)), {})
    rows: Any = a[order]
    packed = transpose_last(known)
    if same_dim(m, n):
        return implied("lu", [packed], rows)[0], order, pivots
    if is_less(m, n, "whether a matrix has less rows than columns"):
        (square,) = implied("lu", [columns_of(packed, 0, m)], columns_of(rows, 0, m))
        right = apply("triangular_solve", _unit_lower(square), columns_of(rows, m, n), lower=True,
                      transposed=False)
        return concatenate([square, right], 1), order, pivots
    (square,) = implied("lu", [rows_of(packed, 0, n)], rows_of(rows, 0, n))
    below = apply("triangular_solve", as_tracer(np.triu(square)),
                  transpose_last(rows_of(rows, n, m)), lower=False, transposed=True)
    return concatenate([square, transpose_last(below)], 0), order, pivots


def _unit_lower(packed: Tracer) -> Tracer:
    """Return a lower triangle with ones on its diagonal."""
    m, n = packed.dims
    row, column = iota(m)[:, None], iota(n)[None, :]
    one, zero = packed.dtype.type(1), packed.dtype.type(0)
    return as_tracer(np.where(row > column, packed, np.where(row == column, one, zero)))


@_enter
def lu_factor(a: object) -> Any:
    """Return L and U in one matrix, and which rows were exchanged."""
    def pair(m: Tracer) -> tuple[Any, Any]:
        packed, _, pivots = _packed(m)
        return packed, cast(pivots, np.int32)

    packed, pivots = over_stacks(pair, "scipy.linalg.lu_factor", (double(a), 2))
    return single_again(packed, a), pivots


@_enter
def lu(a: object, permute_l: bool = False, p_indices: bool = False) -> Any:
    """Return P, L and U of matrices."""
    def triple(m: Tracer) -> tuple[Any, Any, Any]:
        packed, order, _ = _packed(m)
        rows, columns = m.dims
        is_wide = not same_dim(rows, columns) and is_less(
            rows, columns, "whether a matrix has less rows than columns")
        lower = _unit_lower(columns_of(packed, 0, rows) if is_wide else packed)
        upper = np.triu(packed if is_wide or same_dim(rows, columns)
                        else rows_of(packed, 0, columns))
        place = np.argsort(order)
        if permute_l:
            return lower[place], upper, upper
        if p_indices:
            return cast(place, np.int32), lower, upper
        return cast(as_tracer(order[None, :] == iota(rows)[:, None]), np.float64), lower, upper

    first, lower, upper = over_stacks(triple, "scipy.linalg.lu", (double(a), 2))
    lower, upper = single_again(lower, a), single_again(upper, a)
    if permute_l:
        return single_again(first, a), lower
    return (first if p_indices else single_again(first, a)), lower, upper


@_enter
def lu_solve(lu_and_piv: tuple[object, object], b: object, trans: int = 0) -> Any:
    """Solve systems with the pair that `lu_factor` returned."""
    return _lu_solve(*lu_and_piv, b, trans)


def _of_factors(lu: object, piv: object, b: object, trans: int) -> Any:
    packed, pivots, right = map(as_tracer, (lu, piv, b))
    dtype = np.result_type(packed.dtype, right.dtype, np.float32)
    packed, right = require_square(cast(packed, dtype)), cast(right, dtype)
    if not same_dim(packed.dims[0], right.dims[0]):
        raise ValueError(f"Shapes of lu {packed.shape} and b {right.shape} are incompatible")
    order = call_function(order_of_swaps, (pivots, as_operand(packed.dims[0])), {})
    columns: Any = right if len(right.dims) == 2 else right[:, None]
    lower, upper = _unit_lower(packed), as_tracer(np.triu(packed))
    turn = conjugate if trans == 2 else lambda x: x
    steps = [(upper, False), (lower, True)] if trans else [(lower, True), (upper, False)]
    x = turn(columns if trans else columns[order])
    for triangle, is_lower in steps:
        x = apply("triangular_solve", triangle, as_tracer(x), lower=is_lower,
                  transposed=bool(trans))
    x = turn(x[np.argsort(order)] if trans else x)
    return x if len(right.dims) == 2 else x[:, 0]


_lu_solve = in_stacks(_of_factors, ("lu", 2), ("piv", 1), ("b", VECTOR_OR_MATRIX))


# --- eigenvalues and singular values --------------------------------------------------------------


def _relatively_robust(m: Tracer, lower: bool) -> tuple[Any, Any]:
    """Return eigenvalues and vectors as the routine gives them that SciPy calls."""
    options = "L" if lower else "U"
    zero = apply("full", np.float64(0), shape=(1,))
    _, values, rows, *_ = factored("eigh of scipy", transpose_last(stop_gradient(m)), zero,
                                   options=options)
    return tuple(implied(f"eigh {options}", [values, transpose_last(rows)], m))


def _by_triangle(m: Tracer, b: Tracer | None, lower: bool) -> tuple[Any, Any]:
    m = parts_of_triangle(m, lower)
    if b is None:
        return _relatively_robust(m, lower)
    factor: Any = np.linalg.cholesky(parts_of_triangle(b, lower))
    half = np.linalg.solve(factor, m)
    turned = as_tracer(np.linalg.solve(factor, adjoint(as_tracer(half))))
    values, vectors = eigh_of(as_tracer(0.5 * (turned + adjoint(turned))), lower)
    return values, np.linalg.solve(adjoint(factor), vectors)


@_enter
def eigh(a: object, b: object = None, *, lower: bool = True, eigvals_only: bool = False,
         type: int = 1, subset_by_index: Sequence[object] | None = None,
         subset_by_value: object = None, driver: str | None = None) -> Any:
    """Return the eigenvalues and eigenvectors of symmetric matrices, from one triangle."""
    _refuse_unless(subset_by_value is None, "eigh with subset_by_value, whose result has a size "
                   "by data,", "Take the values by a mask of those of all")
    _refuse_unless(subset_by_index is None or eigvals_only, "eigh of a subset of vectors, whose "
                   "signs are others than those of all,", "Take a slice of what it gives of all")
    _refuse_unless(driver in (None, "evd") + (("evr",) if b is None else ("gvd",)) and type == 1,
                   f"eigh with driver={driver!r} and type={type}", "Leave them out")
    x = double(a, square=True)
    if b is None:
        find = eigh_of if driver == "evd" else _relatively_robust
        found = all_of(lambda m: find(parts_of_triangle(m, lower), lower), "scipy.linalg.eigh", a,
                       x)
    else:
        y = double(b, square=True)
        values, vectors = over_stacks(lambda m, n: _by_triangle(m, n, lower), "scipy.linalg.eigh",
                                      (x, 2), (y, 2))
        found = [single_again(values, a, b), single_again(vectors, a, b)]
    if subset_by_index is not None:
        return _those_between(found[0], subset_by_index)
    return found[0] if eigvals_only else tuple(found)


def _those_between(values: Tracer, ends: Sequence[object]) -> Any:
    """Return the eigenvalues from one place to another one, which is among them."""
    start, end = (known_int(x, "an end of subset_by_index") for x in ends)
    n = dims_of(values)[-1]
    if not 0 <= start <= end or current().decide(n - end, "<=", "how many eigenvalues there are"):
        raise ValueError(f"Requested eigenvalue indices are not valid. Valid range is [0, {n - 1}] "
                         f"and start <= end, but start={start}, end={end} is given")
    return values[..., start:end + 1]


@_enter
def eigvalsh(a: object, b: object = None, *, lower: bool = True, type: int = 1,
             subset_by_index: Sequence[object] | None = None, subset_by_value: object = None,
             driver: str | None = None) -> Any:
    """Return the eigenvalues of symmetric matrices, from one triangle."""
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index,
                subset_by_value=subset_by_value, driver=driver)


@_enter
def svd(a: object, full_matrices: bool = True, compute_uv: bool = True,
        lapack_driver: str = "gesdd") -> Any:
    """Return the singular vectors and values of matrices."""
    _refuse_unless(lapack_driver == "gesdd", f"svd with lapack_driver={lapack_driver!r}",
                   "Leave it out")
    if not compute_uv:
        return singular_values(a)
    return tuple(all_of(lambda m: svd_of(m, bool(full_matrices)), "scipy.linalg.svd", a, double(a)))


@_enter
def svdvals(a: object) -> Any:
    """Return the singular values of matrices."""
    return singular_values(a)


@_enter
def eig(a: object, b: object = None, left: bool = False, right: bool = True,
        homogeneous_eigvals: bool = False) -> Any:
    """Return the eigenvalues and right eigenvectors of matrices, all complex."""
    _refuse_unless(b is None and not left and not homogeneous_eigvals,
                   "eig with b, left or homogeneous_eigvals", "Leave them out")
    found = over_stacks(eig_of_one, "scipy.linalg.eig", (double(a, square=True), 2))
    values, vectors = (single_again(x, a) for x in found)
    return (values, vectors) if right else values


@_enter
def eigvals(a: object, b: object = None, homogeneous_eigvals: bool = False) -> Any:
    """Return the eigenvalues of matrices."""
    return eig(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


# --- orthogonal factors, least squares ------------------------------------------------------------


@_enter
def qr(a: object, mode: str = "full", pivoting: bool = False) -> Any:
    """Return an orthogonal and an upper triangular factor of matrices."""
    _refuse_unless(not pivoting and mode != "raw", "qr with pivoting or mode='raw'",
                   "Use mode='full', 'economic' or 'r' without pivoting")
    if mode not in ("full", "economic", "r"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    form = "reduced" if mode == "economic" else "complete"
    found = all_of(lambda m: qr_of(m, form), "scipy.linalg.qr", a, double(a))
    return (found[1],) if mode == "r" else tuple(found)


@_enter
def pinv(a: object, *, atol: float | None = None, rtol: float | None = None,
         return_rank: bool = False) -> Any:
    """Return the pseudoinverses of matrices."""
    x = double(a)
    given = as_tracer(a).dtype
    eps = np.finfo(given if given.kind in "fc" else np.float64).eps
    share = (as_operand(longest(x)) * eps if atol in (None, 0.0) else 0.0) if rtol is None else rtol
    least = 0.0 if atol is None else atol

    def one(m: Tracer) -> tuple[Any, Any]:
        p, s = pinv_of(m, share, least)
        return p, np.sum(s > least + share * np.max(s, initial=0.0))

    p, rank = over_stacks(one, "scipy.linalg.pinv", (x, 2))
    return (single_again(p, a), rank) if return_rank else single_again(p, a)


def lstsq(a: object, b: object, cond: float | None = None, lapack_driver: str | None = None) -> Any:
    """Return the least-squares solution of a system, squares of residuals, rank, singular values.
    """
    _refuse_unless(lapack_driver in (None, "gelsd"), f"lstsq with lapack_driver={lapack_driver!r}",
                   "Leave it out")
    given = as_tracer(a).dtype
    share = np.finfo(given if given.kind in "fc" else np.float64).eps if cond is None else cond
    found: tuple[Any, ...] = np.linalg.lstsq(as_tracer(a), as_tracer(b), share)
    x, residuals, rank, s = found
    count = as_tracer(residuals).dims[0]
    if same_dim(count, 0):
        residuals = cast(residuals, as_tracer(x).dtype)
    elif len(as_tracer(b).dims) == 1 and same_dim(count, 1):
        residuals = residuals[0]
    return x, residuals, tracer_of(cast(rank, np.int64).value, weak=True), s


SCIPY["lstsq"] = in_stacks(lstsq, ("a", 2), ("b", VECTOR_OR_MATRIX))
SCIPY.update({name: in_stacks(SCIPY[name], ("a", 2), ("b", 2))
              for name in ("eig", "eigh", "eigvals", "eigvalsh")})
SCIPY.update({name: in_stacks(SCIPY[name], ("a", 2))
              for name in ("lu_factor", "pinv", "qr", "svd", "svdvals")})
scipy_captures("scipy.linalg", {
    name: checks_finite(function if name == "lu_solve" else of_wide(name, function))
    for name, function in SCIPY.items()})
