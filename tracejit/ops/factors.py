"""The derivatives of eigenvectors, singular vectors, orthogonal factors and pseudoinverses.

In terms of the factors: M. Giles, Collected matrix derivative results for forward and reverse mode
algorithmic differentiation (2008); G. H. Golub and V. Pereyra, The differentiation of
pseudo-inverses (1973). A cotangent is the gradient by real and imaginary part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ops.gaps import (
    EQUAL,
    diagonal_of,
    is_tiny,
    off_diagonal,
    quotients,
    touched,
    weighs,
)
from tracejit.ops.implicit import RULES, Rule, assured
from tracejit.trace.values.equations import apply, cast, dims_of
from tracejit.trace.values.tracer import Tracer

__all__ = ["GAUGE"]

Parts = Sequence[Any]


def _h(x: np.ndarray) -> Any:
    """Return a matrix transposed and conjugated."""
    turned = np.swapaxes(x, 0, 1)
    return np.conj(turned) if x.dtype.kind == "c" else turned


def _real(x: np.ndarray) -> Any:
    return np.real(x) if x.dtype.kind == "c" else x


def _either(a: np.ndarray | None, b: np.ndarray | None) -> Any:
    """Return the sum of two, of which either may be None."""
    return b if a is None else a if b is None else a + b


def _pairs(x: np.ndarray) -> Any:
    """Return for each pair of places whether one of the two is true."""
    return np.logical_or(x[:, None], x[None, :])


def _unsettled(values_ct: np.ndarray | None, vector_marks: Sequence[np.ndarray],
               skew: np.ndarray) -> Any:
    """Return for which pairs of equal values a loss may depend on how their vectors are turned.

    It does not where the vectors do not come into it, nor where both vectors do, but their values
    do not, and a turn changes nothing. A loss that has vectors and values may be f(A), of which
    these do not say the derivative.
    """
    marked = vector_marks[0]
    for other in vector_marks[1:]:
        marked = np.logical_or(marked, other)
    turns = weighs(skew) | (marked[:, None] != marked[None, :])
    if values_ct is not None:
        turns = np.logical_or(turns, _pairs(touched(values_ct, 0)))
    return np.logical_and(_pairs(marked), turns)


# --- symmetric and Hermitian matrices: A V = V diag(w) --------------------------------------------


_BY_VECTORS = EQUAL.format("eigenvectors", "eigenvalues")


def _gaps(w: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the gaps between values, where these are tiny, and where no element is diagonal."""
    gap = w[None, :] - w[:, None]
    return gap, is_tiny(gap, w), off_diagonal(dims_of(w)[0])


_FIRST, _LAST = slice(0, 1), slice(-1, None)


def _row(x: np.ndarray, row: slice) -> Any:
    """Return the first or last row of a matrix, which may have no rows, and then no columns."""
    return np.sum(x[row], axis=0)


def _eigh_rule(row: slice) -> Rule:
    """Return the rule for LAPACK's vectors, of which one row is real."""

    def jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
        (w, v), (t,) = results, tangents
        inner = _h(v) @ (0.5 * (t + _h(t))) @ v
        gap, tiny, apart = _gaps(w)
        moved = np.where(apart, inner, inner.dtype.type(0))
        v_dot = v @ quotients(moved, gap, tiny, weighs(inner) & apart, _BY_VECTORS)
        if v.dtype.kind == "c":
            v_dot = v_dot - v * (1j * np.imag(_row(v_dot, row) / np.real(_row(v, row))))[None, :]
        return [_real(diagonal_of(inner)), cast(v_dot, v.dtype)]

    def vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
        (w, v), (w_bar, v_bar) = results, cts
        total = None if w_bar is None else v * w_bar[None, :]
        if v_bar is not None:
            marks = touched(v_bar, 1)
            if v.dtype.kind == "c":
                turn = np.imag(diagonal_of(_h(v) @ v_bar)) / np.real(_row(v, row))
                v_bar = v_bar.copy()
                v_bar[row] -= 1j * turn[None, :]
            inner = _h(v) @ v_bar
            skew = 0.5 * (inner - _h(inner))
            gap, tiny, apart = _gaps(w)
            unsettled = _unsettled(w_bar, [marks], skew) & apart
            part = np.where(apart, skew, skew.dtype.type(0))
            total = _either(total, v @ quotients(part, gap, tiny, unsettled, _BY_VECTORS))
        return [None if total is None else cast(total @ _h(v), v.dtype)]

    return Rule(jvp, vjp)


RULES["eigh L"], RULES["eigh U"] = _eigh_rule(_FIRST), _eigh_rule(_LAST)


# --- singular values: A = U diag(s) V' ------------------------------------------------------------


_BY_SINGULAR = EQUAL.format("singular vectors", "singular values, with 0,")


def _svd_gaps(s: np.ndarray) -> tuple[Any, Any, Any, Any, Any]:
    gap, tiny, apart = _gaps(s)
    total = s[None, :] + s[:, None]
    return gap, tiny, total, is_tiny(total, s), apart


def _over_values(x: np.ndarray, s: np.ndarray, undetermined: np.ndarray) -> Any:
    """Return columns over the singular values that they belong to."""
    return quotients(x, s[None, :], is_tiny(s, s)[None, :], undetermined, _BY_SINGULAR)


def _svd_jvp(results: Parts, tangent: np.ndarray, real_in_u: bool) -> Parts:
    u, s, vt = results
    v, t = _h(vt), tangent
    inner = _h(u) @ t @ v
    gap, tiny, total, none, apart = _svd_gaps(s)
    turned = _h(inner)
    heavy = weighs(inner)
    heavy = heavy | np.swapaxes(heavy, 0, 1)
    plus = quotients(np.where(apart, inner + turned, inner.dtype.type(0)), gap, tiny,
                     heavy & apart, _BY_SINGULAR)
    minus = quotients(inner - turned, total, none, weighs(inner - turned), _BY_SINGULAR)
    left, right = t @ v - u @ inner, _h(t) @ u - v @ turned
    size = np.sum(np.abs(t)) * 1e-9
    u_dot = u @ (0.5 * (plus + minus)) + _over_values(left, s, np.abs(left) > size)
    v_dot = v @ (0.5 * (plus - minus)) + _over_values(right, s, np.abs(right) > size)
    if u.dtype.kind == "c":
        x, x_dot = (u, u_dot) if real_in_u else (v, v_dot)
        turn = 1j * np.imag(_row(x_dot, _FIRST) / np.real(_row(x, _FIRST)))
        u_dot, v_dot = u_dot - u * turn[None, :], v_dot - v * turn[None, :]
    return [cast(u_dot, u.dtype), _real(diagonal_of(inner)), cast(_h(v_dot), u.dtype)]


def _unturned(u: np.ndarray, v: np.ndarray, u_bar: np.ndarray | Tracer,
              v_bar: np.ndarray | Tracer, real_in_u: bool) -> tuple[Any, Any]:
    """Return cotangents of complex vectors without the part that turns pairs of them by a phase."""
    turn = sum(np.imag(diagonal_of(_h(x) @ ct)) for x, ct in ((u, u_bar), (v, v_bar)))
    x, ct = (u, u_bar) if real_in_u else (v, v_bar)
    first = apply("iota", size=dims_of(x)[0])[:, None] == 0
    ct = ct - np.where(first, (1j * turn / np.real(_row(x, _FIRST)))[None, :], x.dtype.type(0))
    return (ct, v_bar) if real_in_u else (u_bar, ct)


def _svd_vjp(results: Parts, cts: Parts, real_in_u: bool) -> Parts:
    (u, s, vt), (u_bar, s_bar, vt_bar) = results, cts
    v = _h(vt)
    inner: Any = None
    if s_bar is not None:
        inner = np.where(off_diagonal(dims_of(s)[0]), s.dtype.type(0),
                         np.where(s == 0, s.dtype.type(0), s_bar)[None, :])
    if u_bar is None and vt_bar is None:
        return [None if inner is None else u @ cast(inner, u.dtype) @ vt]
    marks = [*([] if u_bar is None else [touched(u_bar, 1)]),
             *([] if vt_bar is None else [touched(vt_bar, 0)])]
    whole = [ct is not None for ct in (u_bar, vt_bar)]
    u_bar = apply("full", u.dtype.type(0), shape=dims_of(u)) if u_bar is None else u_bar
    v_bar = apply("full", u.dtype.type(0), shape=dims_of(v)) if vt_bar is None else _h(vt_bar)
    if u.dtype.kind == "c":
        u_bar, v_bar = _unturned(u, v, u_bar, v_bar, real_in_u)
        whole = [True, True]
    x, y = _h(u) @ u_bar, vt @ v_bar
    gap, tiny, total, none, apart = _svd_gaps(s)
    both, other = (0.5 * (z - _h(z)) for z in (x + y, x - y))
    both = np.where(apart, both, both.dtype.type(0))
    plus = quotients(both, gap, tiny, _unsettled(s_bar, marks, both) & apart, _BY_SINGULAR)
    minus = quotients(other, total, none, weighs(other), _BY_SINGULAR)
    result = u @ _either(inner, plus + minus) @ vt
    values = None if s_bar is None else touched(s_bar, 0)
    if whole[0] and dims_of(u)[0] != dims_of(u)[1]:
        result = result + _outside(u_bar - u @ x, u_bar, s, marks[0], values) @ vt
    if whole[1] and dims_of(vt)[0] != dims_of(vt)[1]:
        rest = _outside(v_bar - v @ y, v_bar, s, marks[-1], values)
        result = result + u @ _h(rest)
    return [cast(result, u.dtype)]


def _outside(rest: np.ndarray, ct: np.ndarray | Tracer, s: np.ndarray, marks: np.ndarray,
             values: np.ndarray | None) -> Any:
    """Return the part of vectors outside the space of all of them, over the singular values."""
    unsettled = np.abs(rest) > np.sum(np.abs(ct)) * 1e-9
    if values is not None:
        unsettled = unsettled | (marks & values)[None, :]
    return _over_values(rest, s, unsettled)


def _svd_rule(real_in_u: bool) -> Rule:
    """Return the rule for LAPACK's complex vectors, in which the first row of U or V is real."""
    return Rule(lambda results, operands, tangents: _svd_jvp(results, tangents[0], real_in_u),
                lambda results, operands, cts: _svd_vjp(results, cts, real_in_u))


RULES["svd U"], RULES["svd V"] = _svd_rule(True), _svd_rule(False)


# --- A = Q R --------------------------------------------------------------------------------------


_RANK = ("the derivative of an orthogonal factor does not exist where columns of the matrix depend "
         "on one another")


def _by_upper(r: np.ndarray, x: np.ndarray, adjoint: bool) -> Any:
    """Return x over an upper triangular matrix, or over its adjoint."""
    size = np.abs(diagonal_of(r))
    eps = float(np.finfo(r.dtype).eps)
    fine = assured(np.all(size > np.sum(size) * eps), _RANK)
    r = np.where(fine, r, r.dtype.type(0))
    turned: Any = np.swapaxes(x, 0, 1)
    if r.dtype.kind == "c" and adjoint:
        turned = np.conj(apply("triangular_solve", r, np.conj(turned), lower=False,
                               transposed=False))
    else:
        turned = apply("triangular_solve", r, turned, lower=False, transposed=not adjoint)
    return np.swapaxes(turned, 0, 1)


def _qr_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (q, r), (t,) = results, tangents
    c = _by_upper(r, t, adjoint=False)
    m = _h(q) @ c
    below = np.tril(m, -1)
    turn = below - _h(below)
    if m.dtype.kind == "c":
        turn = turn + np.where(off_diagonal(dims_of(m)[0]), m.dtype.type(0), 1j * np.imag(m))
    upper = m - turn
    return [cast(c - q @ upper, q.dtype), cast(np.triu(upper @ r), r.dtype)]


def _qr_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (q, r), (q_bar, r_bar) = results, cts
    m: Any = None
    if r_bar is not None:
        m = r @ _h(np.triu(r_bar))
    if q_bar is not None:
        m = _either(m, -(_h(q_bar) @ q))
    below = np.tril(m, -1)
    diagonal = np.where(off_diagonal(dims_of(m)[0]), m.dtype.type(0), cast(_real(m), m.dtype))
    total = _either(q_bar, q @ (below + diagonal + _h(below)))
    return [cast(_by_upper(r, total, adjoint=True), q.dtype)]


RULES["qr"] = Rule(_qr_jvp, _qr_vjp)


# --- an orthogonal complement: turned as the space that it is orthogonal to -----------------------


GAUGE = ("the derivative by vectors that span a complement does not exist: any others would do. "
         "What depends on the complement alone, as their product Q Q', has one")


def _complement_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (rest,), (q,), (t,) = results, operands, tangents
    return [-(q @ (_h(t) @ rest))]


def _complement_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (rest,), (q,), (ct,) = results, operands, cts
    if ct is None:
        return [None]
    inner = _h(rest) @ ct
    skew = inner - _h(inner)
    fine = assured(np.all(np.abs(skew) <= np.sum(np.abs(ct)) * 1e-8), GAUGE)
    return [-np.where(fine, rest, rest.dtype.type(0)) @ (_h(ct) @ q)]


RULES["complement"] = Rule(_complement_jvp, _complement_vjp)


# --- pseudoinverses -------------------------------------------------------------------------------


_TRUNCATED = ("the derivative of a pseudoinverse that leaves out singular values which are not "
              "zero is not captured. Lower its rtol, or write it with np.linalg.svd")


def _kept(p: np.ndarray, is_whole: np.ndarray) -> Any:
    """Return a pseudoinverse, from which nothing was left out but rounding errors."""
    return np.where(assured(is_whole, _TRUNCATED), p, p.dtype.type(0))


def _pinv_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (p,), (a, is_whole), (t, _) = results, operands, tangents
    p, s = _kept(p, is_whole), _h(t)
    first, second = s - s @ (a @ p), s - (p @ a) @ s
    return [p @ (_h(p) @ first - t @ p) + second @ (_h(p) @ p)]


def _pinv_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (p,), (a, is_whole), (ct,) = results, operands, cts
    if ct is None:
        return [None, None]
    p = _kept(p, is_whole)
    g, p_h = _h(ct), _h(p)
    first, second = g - a @ (p @ g), g - (g @ p) @ a
    return [first @ p @ p_h - p_h @ ct @ p_h + p_h @ p @ second, None]


RULES["pinv"] = Rule(_pinv_jvp, _pinv_vjp)


# --- general square matrices: A V = V diag(w), vectors of length 1 --------------------------------


_DEFECTIVE = ("the derivative of eigenvalues and eigenvectors does not exist where the matrix has "
              "less eigenvectors than rows, or all but has")


def _inverse(v: np.ndarray) -> Any:
    found = np.linalg.inv(v)
    most = 1e-6 / float(np.finfo(v.dtype).eps)
    fine = assured(np.all(np.abs(found) < most), _DEFECTIVE)
    return np.where(fine, found, v.dtype.type(0))


def _largest(v: np.ndarray) -> tuple[Any, Any]:
    """Return the places of the largest elements of columns, which are real, as indices."""
    columns = apply("iota", size=dims_of(v)[1])
    sizes = np.concatenate([np.abs(v), 0.0 * np.real(columns)[None, :]])  # of no rows, too
    return np.argmax(sizes, axis=0), columns


def _at(x: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Any:
    return apply("gather", x, rows, columns, axes=(0, 1), position=0)


def _eig_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (w, v), (t,) = results, tangents
    inner = _inverse(v) @ t @ v
    gap, tiny, apart = _gaps(w)
    moved = np.where(apart, inner, inner.dtype.type(0))
    d = v @ quotients(moved, gap, tiny, weighs(inner) & apart, _BY_VECTORS)
    at = _largest(v)
    along = np.sum(np.real(np.conj(v) * d), axis=0) + 1j * np.imag(_at(d, *at) / _at(v, *at))
    return [diagonal_of(inner), cast(d - v * along[None, :], v.dtype)]


def _eig_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (w, v), (w_bar, v_bar) = results, cts
    apart = off_diagonal(dims_of(w)[0])
    inner: Any = None
    if w_bar is not None:
        inner = np.where(apart, v.dtype.type(0), w_bar[None, :])
    if v_bar is not None:
        marks, (rows, columns) = touched(v_bar, 1), _largest(v)
        along = np.sum(np.conj(v) * v_bar, axis=0)
        turn = 1j * (np.imag(along) / np.real(_at(v, rows, columns)))
        v_bar = v_bar - v * np.real(along)[None, :]
        v_bar = v_bar - np.where(apply("iota", size=dims_of(v)[0])[:, None] == rows[None, :],
                                 turn[None, :], v.dtype.type(0))
        moved = _h(v) @ v_bar
        gap, tiny, _ = _gaps(w)
        moved = np.where(apart, moved, v.dtype.type(0))
        unsettled = _unsettled(w_bar, [marks], moved) & apart
        inner = _either(inner, quotients(moved, np.conj(gap), tiny, unsettled, _BY_VECTORS))
    return [None if inner is None else cast(_h(_inverse(v)) @ inner @ _h(v), v.dtype)]


RULES["eig"] = Rule(_eig_jvp, _eig_vjp)
