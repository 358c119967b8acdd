"""Derivatives of factors and solutions of systems: triangular, banded, and Sylvester's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ops.implicit import FAMILIES, RULES, Rule, assured, factored, implied
from tracejit.ops.linalg import adjoint, conjugate, transpose_last
from tracejit.trace.values.equations import apply, dims_of
from tracejit.trace.values.tracer import Tracer

__all__ = ["band_solution", "sylvester_solution"]

Parts = Sequence[Any]


# --- A = L U, without exchanges -------------------------------------------------------------------


def _lower(packed: np.ndarray) -> Any:
    i = apply("iota", size=dims_of(packed)[0])
    row, column = i[:, None], i[None, :]
    one, zero = packed.dtype.type(1), packed.dtype.type(0)
    return np.where(row > column, packed, np.where(row == column, one, zero))


def _solved(triangle: np.ndarray, b: np.ndarray, lower: bool, transposed: bool) -> Any:
    return apply("triangular_solve", triangle, b, lower=lower, transposed=transposed)


def _lu_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (packed,), (t,) = results, tangents
    lower, upper = _lower(packed), np.triu(packed)
    left = _solved(lower, t, True, False)
    m = transpose_last(_solved(upper, transpose_last(left), False, True))
    return [lower @ np.tril(m, -1) + np.triu(m) @ upper]


def _lu_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (packed,), (ct,) = results, cts
    if ct is None:
        return [None]
    lower, upper = _lower(packed), np.triu(packed)
    inner = np.tril(adjoint(lower) @ np.tril(ct, -1), -1) + np.triu(
        np.triu(ct) @ adjoint(upper))
    left = conjugate(_solved(lower, conjugate(inner), True, True))
    return [adjoint(_solved(upper, adjoint(left), False, False))]


RULES["lu"] = Rule(_lu_jvp, _lu_vjp)


# --- A X + X B = C --------------------------------------------------------------------------------


def sylvester_solution(a: Tracer, b: Tracer, c: Tracer) -> Any:
    """Return the solution, by Schur's forms of both matrices: R. Bartels and G. Stewart (1972)."""
    own, other = transpose_last(_stopped(a)), conjugate(_stopped(b))
    place = 2 if c.dtype.kind == "c" else 3
    r, u = (factored("schur", own)[k] for k in (0, place))
    s, v = (factored("schur", other)[k] for k in (0, place))
    u, v = transpose_last(u), transpose_last(v)
    inner = adjoint(u) @ _stopped(c) @ v
    y, scale = factored("sylvester", transpose_last(inner), r, s, options="NC")
    x = u @ (transpose_last(y) * scale[0]) @ adjoint(v)
    return implied("sylvester", [x], a, b, c)[0]


def _stopped(x: Tracer) -> Tracer:
    return apply("stop_gradient", x)


def _sylvester_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (x,), (a, b, _) = results, operands
    a_dot, b_dot, total = tangents
    for part in (None if a_dot is None else a_dot @ x, None if b_dot is None else x @ b_dot):
        if part is not None:
            total = -part if total is None else total - part
    return [sylvester_solution(a, b, total)]


def _sylvester_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (x,), (a, b, _), (ct,) = results, operands, cts
    if ct is None:
        return [None, None, None]
    c_bar = sylvester_solution(adjoint(a), adjoint(b), ct)
    return [-(c_bar @ adjoint(x)), -(adjoint(x) @ c_bar), c_bar]


RULES["sylvester"] = Rule(_sylvester_jvp, _sylvester_vjp)


# --- S S = A --------------------------------------------------------------------------------------


def _root_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (s,), (t,) = results, tangents
    return [sylvester_solution(s, s, t)]


def _root_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (s,), (ct,) = results, cts
    return [None if ct is None else sylvester_solution(adjoint(s), adjoint(s), ct)]


RULES["sqrtm"] = Rule(_root_jvp, _root_vjp)


# --- A = U P, U orthogonal, P positive ------------------------------------------------------------

_SINGULAR = ("the derivative of a polar factor, or of a rotation that fits, does not exist where "
             "the matrix is singular")


def _if_regular(p: np.ndarray, x: np.ndarray | None) -> Any:
    """Return x, or end with an error where a positive factor is singular."""
    if x is None:
        return None
    sizes = np.abs(np.linalg.eigvalsh(_stopped(p)))  # type: ignore[arg-type]
    fine = assured(np.all(sizes > np.sum(sizes) * (10.0 * np.finfo(sizes.dtype).eps)), _SINGULAR)
    return np.where(fine, x, x.dtype.type(0))


def _over(x: np.ndarray, p: np.ndarray) -> Any:
    """Return x over a Hermitian matrix to its right."""
    found: Any = np.linalg.solve(p, adjoint(x))
    return adjoint(found)


def _turn_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (u,), (_, p), (t, p_dot) = results, operands, tangents
    total = t if p_dot is None else -(u @ p_dot) if t is None else t - u @ p_dot
    return [_over(_if_regular(p, total), p)]


def _turn_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (u,), (_, p), (ct,) = results, operands, cts
    if ct is None:
        return [None, None]
    x_bar = _over(_if_regular(p, ct), p)
    return [x_bar, -(adjoint(u) @ x_bar)]


RULES["turn"] = Rule(_turn_jvp, _turn_vjp)
RULES["positive factor"] = Rule(
    lambda results, operands, tangents: _root_jvp(
        results, operands, [_if_regular(results[0], tangents[0])]),
    lambda results, operands, cts: _root_vjp(results, operands, [_if_regular(results[0], cts[0])]))


# --- A x = b, A a band ----------------------------------------------------------------------------


def band_solution(below: int, above: int, band: Tracer, b: Tracer) -> Any:
    """Solve with a band, whose rows are diagonals, the highest first: columns stay columns."""
    n = dims_of(band)[1]
    room = apply("full", band.dtype.type(0), shape=(below, n))
    stacked = np.concatenate([room, _stopped(band)], axis=0)
    _, x, _ = factored("band", transpose_last(stacked), transpose_last(_stopped(b)),
                       options=f"{below} {above}")
    return implied(f"band {below} {above}", [transpose_last(x)], band, b)[0]


def _diagonals(below: int, above: int, band: np.ndarray) -> Any:
    """Return the band of a matrix transposed: element (i, j) is at row `above + i - j`."""
    n = dims_of(band)[1]
    row, column = apply("iota", size=below + above + 1)[:, None], apply("iota", size=n)[None, :]
    other = column + row - below  # the row of the transposed, the column of the matrix
    inside = np.logical_and(other >= 0, other < band.shape[1])
    place = np.where(inside, other, 0)
    found = band[above + below - row + 0 * column, place]
    return np.where(inside, found, band.dtype.type(0))


def _band_rule(below: int, above: int) -> Rule:
    def product(band: np.ndarray, x: np.ndarray) -> Any:
        """Multiply a matrix of columns by a band."""
        total: Any = None
        for k in range(below + above + 1):
            shift = k - above  # element (j + shift, j) of the matrix
            part = band[k][:, None] * x
            moved = _moved(part, shift)
            total = moved if total is None else total + moved
        return total

    def jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
        (x,), (band, _) = results, operands
        band_dot, total = tangents
        if band_dot is not None:
            part = product(band_dot, x)
            total = -part if total is None else total - part
        return [band_solution(below, above, band, total)]

    def vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
        (x,), (band, _), (ct,) = results, operands, cts
        if ct is None:
            return [None, None]
        turned = conjugate(_diagonals(below, above, band))
        b_bar = band_solution(above, below, turned, ct)
        rows = [np.sum(_moved(b_bar, above - k) * conjugate(x), axis=1)
                for k in range(below + above + 1)]
        return [-np.stack(rows), b_bar]

    return Rule(jvp, vjp)


def _moved(x: np.ndarray, by: int) -> Any:
    """Return rows moved down, zeros coming in: of a negative number up."""
    i = apply("iota", size=dims_of(x)[0])
    source = i - by
    inside = np.logical_and(source >= 0, source < x.shape[0])
    return np.where(inside[:, None], x[np.where(inside, source, 0)], x.dtype.type(0))


FAMILIES["band"] = _band_rule
