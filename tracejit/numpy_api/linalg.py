"""Systems and factors of matrices, as `numpy.linalg` and `scipy.linalg` have them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.grids import eye, unit_matrix
from tracejit.numpy_api.plain_minors import cofactors, slopes_of_cofactors
from tracejit.numpy_api.stacks import over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.ops.linalg import adjoint, conjugate
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures, scipy_captures
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.attempts import catches
from tracejit.trace.values.equations import apply, cast, emit, same_dim
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["cholesky", "inv", "of_wide", "require_square", "solve_triangular"]


def require_square(a: Tracer) -> Tracer:
    """Return a matrix or a stack of matrices whose last two sizes are written as one."""
    if len(a.dims) < 2:
        raise np.linalg.LinAlgError(f"{len(a.dims)}-dimensional array given. Array must be at "
                                    "least two-dimensional")
    if not same_dim(a.dims[-2], a.dims[-1]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    shape = (*a.dims[:-1], a.dims[-2])
    return a if a.aval.shape == shape else apply("reshape", a, shape=shape)


@captures(np.linalg.cholesky)
def cholesky(a: object, /, *, upper: bool = False) -> Any:
    """Return the lower Cholesky factor of a positive definite matrix, from its lower triangle.

    The upper factor is from the upper triangle: U = L^H, where L is the lower factor of A^H.
    """
    def factor(m: Tracer) -> Tracer:
        return adjoint(_lower(adjoint(m))) if upper else _lower(m)

    return over_stacks(factor, "np.linalg.cholesky", (require_square(as_inexact(a)), 2))


def _lower(m: Tracer) -> Tracer:
    """Return Cholesky's lower factor; in a `try` for LinAlgError, a failure takes its handler."""
    if not catches(np.linalg.LinAlgError):
        return apply("cholesky", m)
    lower, is_definite = map(tracer_of, emit("cholesky_or_not", [m.value]))
    ABOVE.require(is_definite, np.linalg.LinAlgError, "Matrix is not positive definite")
    return lower


def solve_triangular(a: object, b: object, trans: object = 0, lower: bool = False,
                     unit_diagonal: bool = False) -> Any:
    """Solve a triangular system, or each of a stack, as `scipy.linalg.solve_triangular`."""
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans is 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    turns = conjugate if trans in (2, "C") else lambda x: x

    def solve_one(a: Tracer, b: Tracer) -> Any:
        a, b = _system(a, b)
        if unit_diagonal:
            i = apply("iota", size=a.dims[0])
            a = as_tracer(np.where(i[:, None] == i[None, :], a.dtype.type(1), a))
        return turns(_on_columns(lambda m: apply("triangular_solve", a, m, lower=bool(lower),
                                                 transposed=trans not in (0, "N")), a, turns(b)))

    a, b = as_tracer(a), as_tracer(b)
    if len(a.dims) < 3 and len(b.dims) < 3:
        return solve_one(a, b)
    return over_stacks(solve_one, "scipy.linalg.solve_triangular", (require_square(a), 2),
                       (b, min(len(b.dims), 2)))


def _system(a: object, b: object) -> tuple[Tracer, Tracer]:
    """Return matrix and right-hand side of a system in one dtype, of sizes that agree."""
    a, b = as_inexact(a), as_inexact(b)
    if a.dims and b.dims and not same_dim(a.dims[0], b.dims[0]):
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    dtype = np.result_type(a.dtype, b.dtype)
    return cast(require_square(a), dtype), cast(b, dtype)


def _on_columns(solve: Any, a: Tracer, b: Tracer) -> Any:
    """Call a solver of matrices, also for a vector on the right-hand side."""
    n = a.dims[0]
    matrix = b if len(b.dims) == 2 else apply("reshape", b, shape=(n, 1))
    if matrix.aval.shape[0] != n:
        matrix = apply("reshape", matrix, shape=(n, matrix.dims[1]))
    result = solve(matrix)
    return result if len(b.dims) == 2 else apply("reshape", result, shape=(n,))


@captures(np.linalg.solve)
def solve(a: object, b: object) -> Any:
    """Solve a linear system, or a stack of systems."""
    a, b = as_tracer(a), as_tracer(b)
    own = 1 if len(b.dims) == 1 else 2
    return over_stacks(_solve_one, "np.linalg.solve", (require_square(as_inexact(a)), 2), (b, own))


def _solve_one(a: Tracer, b: Tracer) -> Any:
    a, b = _system(a, b)
    lu, pivots = _regular(a)
    return _on_columns(lambda m: apply("solve", a, m, lu, pivots, transposed=False), a, b)


def _factorized(a: Tracer) -> tuple[Tracer, Tracer]:
    """Return LU and pivots of a matrix that is regular: else the program ends with an error."""
    lu, pivots = map(tracer_of, emit("lu", [a.value]))
    ABOVE.require(np.all(np.diagonal(lu) != 0), np.linalg.LinAlgError, "Singular matrix")
    return lu, pivots


def _regular(a: Tracer) -> tuple[Tracer, Tracer]:
    """Return LU and pivots of a matrix; in a `try` for LinAlgError, a failure takes its handler."""
    if not catches(np.linalg.LinAlgError):
        return _factorized(a)
    lu, pivots, is_regular = map(tracer_of, emit("lu_or_not", [a.value]))
    ABOVE.require(is_regular, np.linalg.LinAlgError, "Singular matrix")
    return lu, pivots


@captures(np.linalg.inv)
def inv(a: object) -> Any:
    """Return the inverse of a matrix, or of each of a stack."""
    def invert(m: Tracer) -> Tracer:
        identity = unit_matrix(m.dims[0], m.dtype)
        return apply("solve", m, identity, *_regular(m), transposed=False)

    return over_stacks(invert, "np.linalg.inv", (require_square(as_inexact(a)), 2))


_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


@captures(np.linalg.slogdet)
def slogdet(a: object) -> Any:
    """Return sign and logarithm of the determinant."""
    return _SlogdetResult(*over_stacks(_slogdet_one, "np.linalg.slogdet",
                                       (require_square(as_inexact(a)), 2)))


def _slogdet_one(a: Tracer) -> tuple[Tracer, Tracer]:
    return _with_factors(a)[:2]


def _with_factors(a: Tracer) -> tuple[Tracer, Tracer, Tracer, Tracer]:
    """Return sign and logarithm of a determinant, LU and pivots, of a singular matrix, too."""
    lu, pivots = map(tracer_of, emit("lu", [a.value]))
    sign, logdet = emit("slogdet", [a.value, lu.value, pivots.value])
    return tracer_of(sign), tracer_of(logdet), lu, pivots


@captures(np.linalg.det)
def det(a: object) -> Any:
    """Return the determinant."""
    return over_stacks(_det_one, "np.linalg.det", (require_square(as_inexact(a)), 2))


def _det_one(a: Tracer) -> Any:
    sign, logdet, lu, pivots = _with_factors(a)
    found: Any = sign * np.exp(logdet)
    return implied("det", [as_tracer(found)], a, lu, pivots)[0]


def _cofactors(results: Sequence[np.ndarray], operands: Sequence[np.ndarray]) -> Any:
    """Return the derivatives of a determinant by the elements of its matrix."""
    a, lu, _ = operands

    def of_regular() -> Any:
        one = cast(eye(a.shape[0]), a.dtype)
        return results[0] * np.swapaxes(apply("solve", a, one, *operands[1:], transposed=False),
                                        0, 1)

    found = call_function(cofactors, (a, lu, of_regular, stop_gradient), {})
    return implied("cofactors", [stop_gradient(as_tracer(found))], *map(as_tracer, operands))[0]


RULES["det"] = Rule(
    lambda results, operands, tangents: [np.sum(_cofactors(results, operands) * tangents[0])],
    lambda results, operands, cts: [None if cts[0] is None else cts[0] * conjugate(
        _cofactors(results, operands)), None, None])


def _slopes(operands: Sequence[np.ndarray], along: object) -> Any:
    return call_function(slopes_of_cofactors, (*operands[:2], along, stop_gradient), {})


RULES["cofactors"] = Rule(  # they are the derivatives of a determinant: theirs are symmetric
    lambda results, operands, tangents: [_slopes(operands, tangents[0])],
    lambda results, operands, cts: [None if cts[0] is None else conjugate(
        _slopes(operands, conjugate(cts[0]))), None, None])


def cholesky_of(a: object, lower: bool = False) -> Any:
    """Return a Cholesky factor, as `scipy.linalg.cholesky`."""
    return cholesky(a, upper=not lower)


def _mirrored(is_hermitian: bool) -> Callable[[Tracer, bool], Any]:
    """Return the function that makes a symmetric or Hermitian matrix of one triangle."""
    def whole(a: Tracer, lower: bool) -> Any:
        half: Any = np.tril(a, -1) if lower else np.triu(a, 1)
        turned: Any = np.swapaxes(half, -1, -2)
        diagonal: Any = np.triu(np.tril(a))
        if is_hermitian and a.dtype.kind == "c":
            turned, diagonal = np.conj(turned), cast(np.real(diagonal), a.dtype)
        return half + turned + diagonal

    return whole


_symmetric, _hermitian = _mirrored(False), _mirrored(True)
_KINDS: dict[object, Callable[[Tracer, bool], Any]] = {
    **dict.fromkeys((None, "general", "gen", "banded"), lambda a, lower: a),
    **dict.fromkeys(("symmetric", "sym"), _symmetric),
    **dict.fromkeys(("hermitian", "her", "positive definite", "pos"), _hermitian),
    "diagonal": lambda a, lower: np.triu(np.tril(a)),
    "tridiagonal": lambda a, lower: np.triu(np.tril(a, 1), -1),
    "upper triangular": lambda a, lower: np.triu(a),
    "lower triangular": lambda a, lower: np.tril(a)}
"""What `assume_a` has SciPy read of a matrix."""


def solve_of(a: Any, b: object, lower: bool = False, *, assume_a: object = None,
             transposed: bool = False) -> Any:
    """Solve a linear system, as `scipy.linalg.solve`: of some matrices it reads one triangle."""
    if assume_a not in _KINDS:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    given = require_square(as_inexact(a))
    if transposed and given.dtype.kind == "c":
        raise NotImplementedError("scipy.linalg.solve can currently not solve a^T x = b or "
                                  "a^H x = b for complex matrices.")
    a = _KINDS[assume_a](given, bool(lower))
    if assume_a in ("positive definite", "pos"):
        right = as_tracer(b)
        return over_stacks(_solve_definite, "scipy.linalg.solve", (as_tracer(a), 2),
                           (right, 1 if len(right.dims) == 1 else 2))
    return solve(np.swapaxes(a, -1, -2) if transposed else a, b)


def _solve_definite(a: Tracer, b: Tracer) -> Any:
    """Solve a system by the Cholesky factor, which a matrix that is not definite has not."""
    factor = _lower(a)
    return solve_triangular(factor, solve_triangular(factor, b, "N", True), "C", True)


def det_of(a: object) -> Any:
    """Return a determinant, as `scipy.linalg.det`, of which single precision is made double."""
    a = as_tracer(a)
    return det(cast(a, np.complex128 if a.dtype.kind == "c" else np.float64))


def of_wide(name: str, function: Callable[..., object]) -> Callable[..., Any]:
    """Return a function of matrices that refuses small ints, of which SciPy makes float32."""

    @functools.wraps(function)
    def capture(a: object, *args: object, **kwargs: object) -> Any:
        dtype = as_tracer(a).dtype
        if dtype.kind in "biu" and dtype.itemsize < 4:
            raise refuse(f"scipy.linalg.{name} of {dtype} cannot be captured",
                         "Convert the matrix with .astype(np.float64) first", "TJ206")
        return function(a, *args, **kwargs)

    return capture


_MATRICES: dict[str, Callable[..., Any]] = {
    "solve_triangular": solve_triangular, "cholesky": cholesky_of, "solve": solve_of, "inv": inv,
    "det": det_of}
scipy_captures("scipy.linalg",
               {name: checks_finite(of_wide(name, function))
                for name, function in _MATRICES.items()})
