"""Riccati's equations of matrices: solved by doubling, differentiated implicitly.

The algorithm is in E. Chu, H. Fan and W. Lin, Linear Algebra Appl. 396, 2005; the continuous
equation becomes a discrete one by Cayley's transform. A solution X is differentiated by the linear
equation that its differential solves, so that it has derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.factors import double
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.linalg import require_square
from tracejit.numpy_api.matrix_equations import solve_sylvester
from tracejit.numpy_api.plainly import discrete_riccati, doubled
from tracejit.numpy_api.stacks import in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, assured, implied
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import dims_of, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

Parts = Sequence[Any]


def _given(name: str, matrices: Sequence[object], scales: Sequence[object]) -> list[Any]:
    """Return A, B, Q and R, of sizes that agree."""
    if any(x is not None for x in scales):
        raise refuse(f"scipy.linalg.{name} with e= or s= cannot be captured",
                     "Multiply the equation out", "TJ203")
    found = [double(np.atleast_2d(as_tracer(m))) for m in matrices]
    if any(m.dtype.kind == "c" for m in found):
        raise refuse(f"scipy.linalg.{name} of complex matrices cannot be captured",
                     "Use matrices of twice the size", "TJ206")
    a, b, q, r = found
    if not (same_dim(a.dims[0], a.dims[1]) and same_dim(q.dims[0], a.dims[0])
            and same_dim(q.dims[1], a.dims[0]) and same_dim(b.dims[0], a.dims[0])):
        raise ValueError("Matrices a, q and b must fit")
    if not (same_dim(r.dims[0], b.dims[1]) and same_dim(r.dims[1], b.dims[1])):
        raise ValueError("Matrix b and r should have the same number of columns.")
    a, q, r = map(require_square, (a, q, r))
    for letter, m in (("q", q), ("r", r)):
        size, skew = (np.max(np.sum(np.abs(part), axis=0), initial=0.0) for part in (m, m - m.T))
        require(skew <= 100.0 * (np.nextafter(size, np.inf) - size), ValueError,
                f"Matrix {letter} should be symmetric/hermitian.")
    return [as_tracer(m) for m in (a, b, q, r)]


def _near(residual: np.ndarray, x: np.ndarray) -> Any:
    """Return a solution, or end with an error where the equation does not hold for it."""
    small = np.max(np.abs(residual)) <= 1e-6 * (1.0 + np.max(np.abs(x)))
    holds = assured(small, "Failed to find a finite solution.")
    return np.where(holds, x, 0.0)


def _zero(x: np.ndarray | None, like: np.ndarray) -> Any:
    return 0.0 * like if x is None else x


def _identity(a: np.ndarray) -> Any:
    i = iota(dims_of(a)[0])
    return np.where(i[:, None] == i[None, :], 1.0, 0.0)


# --- A^T X + X A - X G X + Q = 0 ------------------------------------------------------------------


def _closed(x: np.ndarray, a: np.ndarray, g: np.ndarray) -> Any:
    return a - g @ x


def _continuous_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (x,), (a, g, _) = results, operands
    a_dot, g_dot, q_dot = (_zero(t, like) for t, like in zip(tangents, operands, strict=True))
    right = a_dot.T @ x + x @ a_dot + q_dot - x @ g_dot @ x
    closed = _closed(x, a, g)
    return [solve_sylvester(closed.T, closed, -right)]


def _continuous_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (x,), (a, g, _) = results, operands
    if cts[0] is None:
        return [None, None, None]
    closed = _closed(x, a, g)
    y = -solve_sylvester(closed, closed.T, cts[0])
    return [x @ y.T + x.T @ y, -(x.T @ y @ x.T), y]


RULES["continuous_riccati"] = Rule(_continuous_jvp, _continuous_vjp)


def solve_continuous_are(a: object, b: object, q: object, r: object, e: None = None,
                         s: None = None, balanced: bool = True) -> Any:
    """Return the X of A^T X + X A - X B R^-1 B^T X + Q = 0 that makes A - B R^-1 B^T X stable."""
    p, h, k, w = _given("solve_continuous_are", (a, b, q, r), (e, s))
    given: list[Any] = [as_tracer(m) for m in (p, h @ np.linalg.solve(w, h.T), k)]
    fixed: list[Any] = [stop_gradient(m) for m in given]
    p, h, k = fixed
    x = call_function(doubled, _by_cayley(*fixed), {})
    x = _near(p.T @ x + x @ p - x @ h @ x + k, x)
    return implied("continuous_riccati", [as_tracer(x)], *given)[0]


def _by_cayley(a: np.ndarray, g: np.ndarray, q: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the matrices of the discrete equation that has the solution of a continuous one."""
    one = _identity(a)
    shift = 1.0 + np.sqrt(np.sum(a * a))
    moved = a - shift * one
    turned = np.linalg.solve(moved, g)
    back = np.linalg.inv(moved.T + q @ turned)
    return (one + 2.0 * shift * back.T, 2.0 * shift * turned @ back,
            2.0 * shift * back @ q @ np.linalg.inv(moved))


# --- A^T X A - X - A^T X B (R + B^T X B)^-1 B^T X A + Q = 0 --------------------------------------


def _feedback(x: np.ndarray, a: np.ndarray, b: np.ndarray, r: np.ndarray) -> Any:
    """Return (R + B^T X B)^-1 B^T X A, and A less B times it."""
    gain: Any = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
    return gain, a - b @ gain


def _stein(a: np.ndarray, c: np.ndarray) -> Any:
    """Return the X of A X A^T - X + C = 0, of a stable A, by a bilinear map."""
    one = _identity(a)
    inverse = np.linalg.inv(a.T + one)
    b = (a.T - one) @ inverse
    return solve_sylvester(b.T, b, -2.0 * np.linalg.inv(a + one) @ c @ inverse)


def _discrete_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (x,), (a, b, _, r) = results, operands
    a_dot, b_dot, q_dot, r_dot = (_zero(t, like)
                                  for t, like in zip(tangents, operands, strict=True))
    gain, closed = _feedback(x, a, b, r)
    half = (a_dot - b_dot @ gain).T @ x @ closed
    return [_stein(closed.T, half + half.T + q_dot + gain.T @ r_dot @ gain)]


def _discrete_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (x,), (a, b, _, r) = results, operands
    if cts[0] is None:
        return [None, None, None, None]
    gain, closed = _feedback(x, a, b, r)
    y = _stein(closed, cts[0])
    to_a = x @ closed @ (y + y.T)
    return [to_a, -(to_a @ gain.T), y, gain @ y @ gain.T]


RULES["discrete_riccati"] = Rule(_discrete_jvp, _discrete_vjp)


def solve_discrete_are(a: object, b: object, q: object, r: object, e: None = None,
                       s: None = None, balanced: bool = True) -> Any:
    """Return the X of A^T X A - X - A^T X B (R + B^T X B)^-1 B^T X A + Q = 0."""
    given = _given("solve_discrete_are", (a, b, q, r), (e, s))
    fixed: list[Any] = [stop_gradient(m) for m in given]
    p, h, k, w = fixed
    x = call_function(discrete_riccati, (*fixed, doubled), {})
    _, closed = _feedback(x, p, h, w)
    x = _near(p.T @ x @ closed - x + k, x)
    return implied("discrete_riccati", [as_tracer(x)], *given)[0]


scipy_captures("scipy.linalg", {
    f.__name__: checks_finite(in_stacks(f, *((name, 2) for name in "abqr")))
    for f in (solve_continuous_are, solve_discrete_are)})
