"""Roots and logarithms of matrices, matrix equations, banded and Toeplitz systems, as in SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.factors import double, is_less, single_again
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.linalg import of_wide, require_square
from tracejit.numpy_api.matrices import toeplitz
from tracejit.numpy_api.plainly import (
    require_positive_band,
    triangular_logarithm,
    triangular_root,
)
from tracejit.numpy_api.stacks import VECTOR_OR_MATRIX, in_stacks, over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, assured, factored, implied
from tracejit.ops.linalg import adjoint, transpose_last
from tracejit.ops.systems import band_solution, sylvester_solution
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, cast, same_dim
from tracejit.trace.values.python_numbers import on_trial
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


# --- functions of matrices ------------------------------------------------------------------------


def _schur(a: Tracer) -> tuple[Any, Any]:
    """Return the Schur form of a matrix, and the basis that it is in."""
    t, _, z, *_ = factored("schur", transpose_last(cast(stop_gradient(a), np.complex128)))
    return transpose_last(t), transpose_last(z)


def _by_schur(a: Tracer, function: Callable[..., object], name: str) -> Any:
    """Return a function of a matrix, applied to its Schur form; real for a real matrix."""
    t, z = _schur(a)
    return _of_kind(a, z @ call_function(function, (t,), {}) @ adjoint(z), name)


def _of_kind(a: Tracer, found: Tracer, name: str) -> Any:
    """Return a function of a real matrix as real numbers, or raise an error in the run."""
    if a.dtype.kind == "c":
        return found
    real = assured(np.sum(np.abs(np.imag(found))) <= 1e-8 * np.sum(np.abs(found)),
                   f"scipy.linalg.{name} of this real matrix is complex: pass "
                   "a.astype(complex)")
    return np.where(real, np.real(found), 0.0)


def root_of(a: Tracer) -> Any:
    """Return the principal square root of a matrix."""
    return implied("sqrtm", [as_tracer(_by_schur(a, triangular_root, "sqrtm"))], a)[0]


def logarithm_of(a: Tracer) -> Any:
    """Return the principal logarithm of a matrix."""
    return implied("logm", [as_tracer(_by_schur(a, triangular_logarithm, "logm"))], a)[0]


def _moved_logarithm(a: Tracer, t: Tracer) -> Any:
    """Return the derivative along t: a block of log [[a, t], [0, a]].

    Both blocks have the one Schur form of a: of two that are found apart, an eigenvalue below 0 may
    lie on either side of the cut.
    """
    form, basis = _schur(a)
    inside = adjoint(basis) @ cast(stop_gradient(t), np.complex128) @ basis
    turn = _block(basis, np.zeros_like(basis), basis)
    found: Any = turn @ call_function(
        triangular_logarithm, (_block(form, inside, form),), {}) @ adjoint(turn)
    whole = as_tracer(_block(a, t, a))
    found = implied("logm", [as_tracer(_of_kind(whole, found, "logm"))], whole)[0]
    i = apply("iota", size=a.dims[0])
    return found[i[:, None], i[None, :] + a.shape[0]]


def _block(first: Tracer, right: Tracer, last: Tracer) -> Any:
    """Return [[first, right], [0, last]]."""
    below = np.concatenate([np.zeros_like(first), last], axis=1)
    return np.concatenate([np.concatenate([first, right], axis=1), below], axis=0)


RULES["logm"] = Rule(
    lambda results, operands, tangents: [_moved_logarithm(operands[0], tangents[0])],
    lambda results, operands, cts: [None if cts[0] is None else adjoint(_moved_logarithm(
        operands[0], as_tracer(adjoint(cts[0]))))])


def _of_square(name: str, function: Callable[[Tracer], object]) -> Callable[..., Any]:
    def capture(A: object) -> Any:
        found = over_stacks(function, f"scipy.linalg.{name}", (double(A, square=True), 2))
        return found if name == "logm" else single_again(found, A)

    return capture


# --- matrix equations -----------------------------------------------------------------------------


def _common(*matrices: object) -> list[Tracer]:
    """Return matrices in one precise dtype."""
    found = [double(x) for x in matrices]
    dtype = np.result_type(*(x.dtype for x in found))
    return [cast(x, dtype) for x in found]


def solve_sylvester(a: object, b: object, q: object) -> Any:
    """Return the X of A X + X B = Q."""
    left, right, c = _common(a, b, q)
    left, right = require_square(left), require_square(right)
    if not (same_dim(left.dims[0], c.dims[0]) and same_dim(right.dims[0], c.dims[1])):
        raise ValueError("the shapes of A, B and Q do not fit")
    c = apply("reshape", c, shape=(left.dims[0], right.dims[0]))
    return sylvester_solution(left, right, c)


def solve_continuous_lyapunov(a: object, q: object) -> Any:
    """Return the X of A X + X A^H = Q."""
    left, c = _common(a, q)
    return solve_sylvester(left, adjoint(left), c)


def solve_discrete_lyapunov(a: object, q: object, method: str | None = None) -> Any:
    """Return the X of A X A^H - X + Q = 0, as a system of its elements or by a bilinear map."""
    left, c = _common(a, q)
    left = require_square(left)
    if method is None:
        method = "direct" if is_less(left.dims[0], 10, "whether a matrix is small") else "bilinear"
    one: Any = np.eye(left.shape[0], dtype=left.dtype)
    if method == "direct":
        system = np.kron(left, np.conj(left))
        return np.linalg.solve(np.eye(system.shape[0]) - system,
                               np.reshape(c, -1)).reshape(c.shape)
    if method != "bilinear":
        raise ValueError(f"Unknown solver {method}")
    turned: Any = adjoint(left)
    inverse = np.linalg.inv(turned + one)
    b = (turned - one) @ inverse
    return solve_continuous_lyapunov(adjoint(b), -2 * np.linalg.inv(left + one) @ c @ inverse)


# --- banded and Toeplitz systems ------------------------------------------------------------------


def _count(x: object) -> int:
    if isinstance(x, Tracer) or not isinstance(x, (int, np.integer)):
        raise refuse("scipy.linalg.solve_banded with a traced number of diagonals cannot be "
                     "captured", "Pass a pair of ints", "TJ205")
    return int(x)


def solve_banded(l_and_u: tuple[int, int], ab: object, b: object) -> Any:
    """Solve a system whose matrix is given by its diagonals."""
    below, above = map(_count, l_and_u)
    band, right = double(ab), as_tracer(b)
    dtype = np.result_type(band.dtype, right.dtype)
    band, columns = cast(band, dtype), cast(right, dtype)
    if not same_dim(band.dims[0], below + above + 1):
        raise ValueError("invalid values for the number of lower and upper diagonals: l+u+1 "
                         f"({below + above + 1}) does not equal ab.shape[0] ({band.shape[0]})")
    if not same_dim(band.dims[1], columns.dims[0]):
        raise ValueError("shapes of ab and b are not compatible.")
    band = apply("reshape", band, shape=(below + above + 1, columns.dims[0]))
    matrix: Any = columns if len(columns.dims) == 2 else columns[:, None]
    x = band_solution(below, above, band, as_tracer(matrix))
    return single_again(x if len(columns.dims) == 2 else x[:, 0], ab, b)


def solveh_banded(ab: object, b: object, lower: bool = False) -> Any:
    """Solve a system whose symmetric matrix is given by its diagonals, to one side."""
    given: Any = double(ab)
    height = given.dims[0]
    known = current().number(height) if current().is_known(height) else None
    count = int(given.shape[0]) - 1 if known is None else known - 1
    rows = [given[k] for k in range(count + 1)]
    diagonal, others = (rows[0], rows[1:]) if lower else (rows[-1], rows[:-1][::-1])
    i = apply("iota", size=given.dims[1])
    n = given.shape[1]

    def beside(row: np.ndarray, by: int) -> Any:
        """Move a diagonal to the columns of the one on the other side."""
        place = i + by
        inside = np.logical_and(place >= 0, place < n)
        moved = row[np.where(inside, place, 0)]
        return np.where(inside, np.conj(moved) if moved.dtype.kind == "c" else moved, 0.0)

    sides = [(beside(row, -k), row) if lower else (row, beside(row, k))
             for k, row in enumerate(others, 1)]
    if given.dtype.kind == "c":
        diagonal = np.real(diagonal).astype(given.dtype)
    band = np.stack([*(above for above, _ in sides[::-1]), diagonal,
                     *(below for _, below in sides)])
    call_function(require_positive_band, (on_trial(band[count:]),), {})
    return single_again(solve_banded((count, count), band, b), ab, b)


def solve_toeplitz(c_or_cr: object, b: object) -> Any:
    """Solve a system whose matrix has constant diagonals."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return _of_diagonals(c, r, b)


def _solve_toeplitz(c: object, r: object, b: object) -> Any:
    return np.linalg.solve(toeplitz(c, r), as_tracer(b))


_of_diagonals = in_stacks(_solve_toeplitz, ("c", 1), ("r", 1), ("b", VECTOR_OR_MATRIX))


scipy_captures("scipy.linalg", {
    "sqrtm": of_wide("sqrtm", _of_square("sqrtm", root_of)),
    "logm": of_wide("logm", _of_square("logm", logarithm_of)),
    "solve_sylvester": in_stacks(solve_sylvester, ("a", 2), ("b", 2), ("q", 2)),
    **dict.fromkeys(("solve_continuous_lyapunov", "solve_lyapunov"),
                    in_stacks(solve_continuous_lyapunov, ("a", 2), ("q", 2))),
    "solve_discrete_lyapunov": in_stacks(solve_discrete_lyapunov, ("a", 2), ("q", 2)),
    "solve_banded": checks_finite(in_stacks(solve_banded, ("ab", 2), ("b", VECTOR_OR_MATRIX))),
    "solveh_banded": checks_finite(in_stacks(solveh_banded, ("ab", 2), ("b", VECTOR_OR_MATRIX))),
    "solve_toeplitz": checks_finite(solve_toeplitz)})
