"""Matrices of a form, factors and exponentials of `scipy.linalg`; products that NumPy names."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import product
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.linalg import cholesky, of_wide, solve_triangular
from tracejit.numpy_api.norms import norm
from tracejit.numpy_api.plainly import matrix_exponential
from tracejit.numpy_api.running_folds import cumprod, cumsum
from tracejit.numpy_api.shapes import ravel
from tracejit.numpy_api.stacks import in_stacks
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures, scipy_captures
from tracejit.trace.ground.modules import is_scipy_since
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


# --- factors ------------------------------------------------------------------------------------


def _triangles(factor: np.ndarray, a: np.ndarray, lower: bool) -> Any:
    """Return a factor in its triangle, and the matrix in the other one, as LAPACK leaves them."""
    return np.tril(factor) + np.triu(a, 1) if lower else np.triu(factor) + np.tril(a, -1)


def cho_factor(a: object, lower: bool = False) -> Any:
    """Return a Cholesky factor for `cho_solve`."""
    matrix: Any = as_tracer(a)
    if len(matrix.dims) != 2:
        raise refuse("scipy.linalg.cho_factor of a stack cannot be captured", "Use a loop", "TJ207")
    if not same_dim(matrix.dims[0], matrix.dims[1]):
        raise ValueError(f"Input array is expected to be square but has the shape: {matrix.shape}.")
    matrix = as_inexact(matrix)
    factor = cholesky(matrix, upper=not lower)  # the other triangle of which is zero since 1.18
    return factor if is_scipy_since(18) else _triangles(factor, matrix, lower), bool(lower)


def cho_solve(c_and_lower: tuple[object, object], b: object) -> Any:
    """Solve a system with the pair that `cho_factor` returned."""
    c, lower = c_and_lower
    if isinstance(lower, Tracer):
        raise refuse("scipy.linalg.cho_solve with a traced truth value cannot be captured",
                     "Pass True or False", "TJ205")
    if np.result_type(as_tracer(c).dtype, as_tracer(b).dtype).itemsize < 4:
        raise refuse("scipy.linalg.cho_solve of small ints, of which SciPy makes float32, cannot "
                     "be captured", "Convert them with .astype(np.float64) first", "TJ206")
    first, second = ("N", "C") if lower else ("C", "N")
    return solve_triangular(c, solve_triangular(c, b, first, bool(lower)), second, bool(lower))


# --- matrices of a form -------------------------------------------------------------------------


def _vector(x: object, name: str) -> Tracer:
    vector = as_tracer(x)
    if len(vector.dims) > 1:
        raise refuse(f"scipy.linalg.{name} of arrays of several axes cannot be captured",
                     "Pass vectors", "TJ207")
    return ravel(vector)


def _by_places(values: Tracer, places: np.ndarray) -> Tracer:
    return apply("gather", values, as_tracer(places), axes=(0,), position=0)


def toeplitz(c: object, r: object = None) -> Any:
    """Return the matrix with constant diagonals of a first column and a first row."""
    column: Any = _vector(c, "toeplitz")
    row: Any = _conjugate(column) if r is None else _vector(r, "toeplitz")
    values = concatenate([row[1:][::-1], column])
    i, j = iota(column.dims[0]), iota(row.dims[0])
    return _by_places(values, i[:, None] - j[None, :] + as_operand(row.dims[0] - 1))


def circulant(c: object) -> Any:
    """Return the matrix of which each column is the one before, turned by one."""
    columns: Any = np.atleast_1d(as_tracer(c))
    i = iota(columns.dims[-1])
    return columns[..., (i[:, None] - i[None, :]) % as_operand(columns.dims[-1])]


def hankel(c: object, r: object = None) -> Any:
    """Return the matrix with constant antidiagonals of a first column and a last row."""
    column: Any = _vector(c, "hankel")
    row: Any = np.zeros_like(column) if r is None else _vector(r, "hankel")
    values = concatenate([column, row[1:]])
    return _by_places(values, iota(column.dims[0])[:, None] + iota(row.dims[0])[None, :])


def block_diag(*arrs: object) -> Any:
    """Return matrices along the diagonal of one."""
    blocks: list[Any] = [np.atleast_2d(as_tracer(x)) for x in arrs]
    if any(len(b.dims) != 2 for b in blocks):
        raise refuse("scipy.linalg.block_diag of stacks cannot be captured", "Pass matrices",
                     "TJ207")
    dtype = np.result_type(*(b.dtype for b in blocks))
    widths = [b.dims[1] for b in blocks]
    rows = []
    for k, b in enumerate(blocks):
        sides = [apply("full", dtype.type(0), shape=(b.dims[0], sum(part)))
                 for part in (widths[:k], widths[k + 1:])]
        rows.append(concatenate([sides[0], cast(b, dtype), sides[1]], 1))
    return concatenate(rows, 0)


# --- functions of matrices ----------------------------------------------------------------------


def expm(A: object) -> Any:
    """Return the exponential of a matrix, or of each of a stack, by its series and squaring."""
    a = as_tracer(A)
    if len(a.dims) < 2:
        raise np.linalg.LinAlgError("The input array must be at least two-dimensional")
    if not same_dim(a.dims[-2], a.dims[-1]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    a = as_inexact(a)
    return call_function(matrix_exponential, (a,), {})


# --- products and norms -------------------------------------------------------------------------


def vecdot(x1: object, x2: object, /, *, axis: int = -1) -> Any:
    """Return the sums of products along an axis, of the first array's conjugate."""
    first: Any = as_tracer(x1)
    second: Any = as_tracer(x2)
    a: Any = np.moveaxis(first, axis, -1)
    b: Any = np.moveaxis(second, axis, -1)
    if not same_dim(a.dims[-1], b.dims[-1]):
        raise ValueError("vecdot: Input operand 1 has a mismatch in its core dimension 0, with "
                         "gufunc signature (n),(n)->()")
    products = _conjugate(a) * b  # and of bools
    if products.dtype.kind == "b":
        return np.any(products, axis=-1)
    return np.sum(products, axis=-1, dtype=products.dtype)  # small ints wrap around, as NumPy's do


def _conjugate(x: np.ndarray) -> Any:
    """Return the conjugate of complex numbers, and others as they are: no ints of bools."""
    return np.conj(x) if as_tracer(x).dtype.kind == "c" else x


captures(np.vecdot)(lambda x1, x2, /, *, axis=-1: vecdot(x1, x2, axis=axis))
captures(np.linalg.vecdot)(vecdot)


@captures(np.matvec)
def matvec(x1: np.ndarray, x2: np.ndarray, /) -> Any:
    """Return the products of matrices and vectors."""
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


@captures(np.vecmat)
def vecmat(x1: np.ndarray, x2: np.ndarray, /) -> Any:
    """Return the products of vectors, conjugate, and matrices."""
    return np.matmul(np.expand_dims(_conjugate(x1), -2), x2)[..., 0, :]


@captures(np.linalg.vector_norm)
def vector_norm(x: object, /, *, axis: object = None, keepdims: bool = False,
                ord: object = 2) -> Any:
    """Return the norm of vectors along an axis, or of all elements."""
    a: Any = as_tracer(x)
    if axis is None:
        result = norm(ravel(a), ord, 0)
        return np.reshape(result, (1,) * len(a.dims)) if keepdims else result
    if isinstance(axis, (tuple, list)):
        places = [normalize_axis(k, len(a.dims)) for k in axis]
        rest = [k for k in range(len(a.dims)) if k not in places]
        moved: Any = np.transpose(a, [*rest, *places])
        result = norm(np.reshape(moved, (*moved.shape[:len(rest)], -1)), ord, -1)
        return np.expand_dims(result, tuple(places)) if keepdims else result
    return norm(a, ord, normalize_axis(axis, len(a.dims)), keepdims)


@captures(np.linalg.matrix_norm)
def matrix_norm(x: object, /, *, keepdims: bool = False, ord: object = "fro") -> Any:
    """Return the norm of matrices in the last two axes."""
    return norm(as_tracer(x), ord, (-2, -1), keepdims)


# --- running folds ------------------------------------------------------------------------------


def _running(fold: Callable[..., object], first: int) -> Any:
    def function(x: object, /, *, axis: int | None = None, dtype: object = None,
                 out: object = None, include_initial: bool = False) -> Any:
        a: Any = np.atleast_1d(as_tracer(x))
        if axis is None and len(a.dims) > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is "
                             "required.")
        axis = normalize_axis(0 if axis is None else axis, len(a.dims))
        if include_initial and out is not None:
            raise refuse("a running fold with include_initial=True and out= cannot be captured",
                         "Assign the result", "TJ203")
        result: Any = fold(a, axis, dtype, out)
        if not include_initial:
            return result
        shape = (*result.dims[:axis], 1, *result.dims[axis + 1:])
        begin = apply("full", result.dtype.type(first), shape=shape)
        return concatenate([begin, result], axis)

    return function


@captures(np.linalg.tensorsolve)
def tensorsolve(a: object, b: object, axes: Sequence[int] | None = None) -> Any:
    """Return the x of which `tensordot(a, x, x.ndim)` is b."""
    x: Any = as_tracer(a)
    right: Any = as_tracer(b)
    if axes is not None:
        moved = [normalize_axis(k, x.ndim) for k in axes]
        x = np.transpose(x, [*(k for k in range(x.ndim) if k not in moved), *moved])
    if not same_dim(product(x.dims[right.ndim:]), product(x.dims[:right.ndim])):
        raise np.linalg.LinAlgError("Input arrays must satisfy the requirement "
                                    "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    shape = x.shape[right.ndim:]
    count = math.prod(shape)
    return np.reshape(np.linalg.solve(np.reshape(x, (count, count)), np.ravel(right)), shape)


@captures(np.linalg.tensorinv)
def tensorinv(a: object, ind: int = 2) -> Any:
    """Return the inverse of `tensordot(a, x, ind)`."""
    x: Any = as_tracer(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    if not same_dim(product(x.dims[ind:]), product(x.dims[:ind])):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    shape = x.shape[ind:] + x.shape[:ind]
    count = math.prod(x.shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(x, (count, count))), shape)


@captures(np.linalg.multi_dot)
def multi_dot(arrays: Any) -> Any:
    """Return the product of several arrays, from the left to the right."""
    given = [as_tracer(x) for x in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    last = len(given) - 1
    for k, x in enumerate(given if last > 1 else ()):
        if len(x.dims) != 2 and not (k in (0, last) and len(x.dims) == 1):
            raise np.linalg.LinAlgError(f"{len(x.dims)}-dimensional array given. Array must be "
                                        "two-dimensional")
    return functools.reduce(np.dot, given)


captures(np.cumulative_sum)(_running(cumsum, 0))
captures(np.cumulative_prod)(_running(cumprod, 1))

scipy_captures("scipy.linalg", {
    "cho_factor": checks_finite(of_wide("cho_factor", cho_factor)),
    "cho_solve": checks_finite(cho_solve), "toeplitz": in_stacks(toeplitz, ("c", 1), ("r", 1)),
    "circulant": circulant, "hankel": hankel, "block_diag": block_diag,
    "expm": of_wide("expm", expm)})
