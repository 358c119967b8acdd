"""The derivatives of Schur's form A = Z T Z^H: of a matrix whose eigenvalues are apart.

Z moves as Z K, where K is skew. What is below the diagonal of T stays zero, and the two diagonal
elements of a block of conjugate eigenvalues stay equal: so many equations has K below its diagonal.
Complex vectors may be turned by phases, which LAPACK leaves as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.ops.gaps import EQUAL, diagonal_of, is_tiny, off_diagonal
from tracejit.ops.implicit import RULES, Rule, assured
from tracejit.ops.linalg import adjoint
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of

__all__: list[str] = []

Parts = Sequence[Any]

_PHASES = ("the derivative by complex Schur vectors does not exist where a loss depends on their "
           "phases: any others would do")


def _blocks(t: np.ndarray) -> Any:
    """Return of each row whether a block of two conjugate eigenvalues begins there."""
    n = as_operand(dims_of(t)[0])
    i = apply("iota", size=dims_of(t)[0])
    below = t[np.where(i + 1 < n, i + 1, i), i]
    return (i + 1 < n) & (below != 0.0)


def _assured_apart(t: np.ndarray) -> Any:
    """Return True where no two eigenvalues are equal: else the program ends with an error."""
    values = diagonal_of(t)
    if t.dtype.kind != "c":
        n, i = as_operand(dims_of(t)[0]), apply("iota", size=dims_of(t)[0])
        first = _blocks(t)
        second = np.concatenate([first[:0], first])[np.where(i > 0, i - 1, 0)] & (i > 0)
        after = np.where(i + 1 < n, i + 1, i)
        size = np.sqrt(np.where(first, np.abs(t[i, after] * t[after, i]), 0.0))
        before = size[np.where(i > 0, i - 1, 0)]
        values = values + 1j * np.where(first, size, np.where(second, -before, 0.0))
    gap = values[:, None] - values[None, :]
    tiny = is_tiny(gap, np.abs(values)) & off_diagonal(dims_of(t)[0])
    return assured(np.logical_not(np.any(tiny)), EQUAL.format("Schur vectors", "eigenvalues"))


def _identity(size: Dim, dtype: np.dtype) -> Any:
    i = apply("iota", size=size)
    return cast(i[:, None] == i[None, :], dtype)


def _kron(a: np.ndarray, b: np.ndarray, size: Dim) -> Any:
    return apply("reshape", a[:, None, :, None] * b[None, :, None, :],
                 shape=(size, size))


def _system(t: np.ndarray) -> Any:
    """Return the matrix of the equations for all elements of K, row by row."""
    d = dims_of(t)[0]
    n, one, all_of = as_operand(d), _identity(d, t.dtype), _identity(d * d, t.dtype)
    product = _kron(t, one, d * d) - _kron(one, np.swapaxes(t, 0, 1), d * d)
    k = apply("iota", size=d * d)
    row, column = k // n, k % n
    if t.dtype.kind == "c":
        return np.where((row > column)[:, None], product, all_of)
    pairs = _is_pair(t, row, column)
    same = product[row * (n + 1)] - product[column * (n + 1)]
    mirrored = all_of + all_of[column * n + row]
    return np.where((row > column)[:, None], np.where(pairs[:, None], same, product), mirrored)


def _is_pair(t: np.ndarray, row: np.ndarray, column: np.ndarray) -> Any:
    """Return of places whether they are below the diagonal of a block."""
    return (row == column + 1) & _blocks(t)[column]


def _places(t: np.ndarray) -> tuple[Any, Any, Any]:
    i = apply("iota", size=dims_of(t)[0])
    row, column = i[:, None], i[None, :]
    return row > column, _is_pair(t, row + 0 * column, column + 0 * row), i


def _kept(t: np.ndarray) -> Any:
    """Return where T has elements: above the diagonal, and in blocks."""
    below, pairs, _ = _places(t)
    return ~below | pairs


def _solved(t: np.ndarray, right: np.ndarray, fine: np.ndarray, turned: bool) -> Any:
    """Return the solution of the equations for K, or of their adjoint."""
    d = dims_of(t)[0]
    system: Any = np.where(fine, _system(t), _identity(d * d, t.dtype))
    flat = apply("reshape", right, shape=(d * d,))
    found = np.linalg.solve(adjoint(system) if turned else system, flat)
    return apply("reshape", found, shape=(d, d))


def _jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (t, z), (a_dot,) = results, tangents
    if t.dtype.kind == "c":
        raise refuse("scipy.linalg.schur of complex numbers has no tangent: phases of the vectors "
                     "are LAPACK's", "Use reverse mode (tracejit.grad, tracejit.vjp)", "TJ504")
    inner = adjoint(z) @ a_dot @ z
    below, pairs, _ = _places(t)
    d = diagonal_of(inner)
    right = np.where(pairs, d[:, None] - d[None, :], np.where(below, inner, 0.0))
    fine = _assured_apart(t)
    k = -_solved(t, right, fine, False)
    t_dot = np.where(_kept(t), inner + t @ k - k @ t, 0.0)
    return [t_dot, z @ k]


def _vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    """Return the adjoint of `_jvp`: where K is complex, K is L - L^H of what is below."""
    (t, z), (t_bar, z_bar) = results, cts
    if t_bar is None and z_bar is None:
        return [None]
    zero = t.dtype.type(0)
    inner: Any = apply("full", zero, shape=dims_of(t)) if (
        t_bar is None) else np.where(_kept(t), t_bar, zero)
    k_bar: Any = adjoint(t) @ inner - inner @ adjoint(t)
    if z_bar is not None:
        k_bar = k_bar + adjoint(z) @ z_bar
    below, pairs, _ = _places(t)
    fine = _assured_apart(t)
    if t.dtype.kind == "c":
        turn = np.imag(diagonal_of(k_bar))
        settled = np.all(np.abs(turn) <= np.sum(np.abs(k_bar)) * 1e-8)
        fine = np.logical_and(fine, assured(settled, _PHASES))
        k_bar = np.where(below, k_bar - adjoint(k_bar), zero)
    right = _solved(t, k_bar, fine, True)
    a_bar = inner - np.where(below & ~pairs, right, zero)
    if t.dtype.kind != "c":
        weight = np.where(pairs, right, 0.0)
        d = np.sum(weight, axis=1) - np.sum(weight, axis=0)
        a_bar = a_bar - np.where(off_diagonal(dims_of(t)[0]), zero, d[:, None])
    return [cast(z @ a_bar @ adjoint(z), t.dtype)]


RULES["schur"] = Rule(_jvp, _vjp)


_DEFLATED = ("the derivative of a Hessenberg form does not exist where a column is zero already "
             "below the subdiagonal: its reflection may be any")

RULES["reflection"] = Rule(
    lambda results, operands, tangents: [np.where(
        assured(operands[1], _DEFLATED), tangents[0], results[0].dtype.type(0))],
    lambda results, operands, cts: [None if cts[0] is None else np.where(
        assured(operands[1], _DEFLATED), cts[0], results[0].dtype.type(0)), None])
