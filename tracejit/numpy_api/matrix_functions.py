"""Functions of matrices, polar factors, and matrices made of vectors, as in `scipy.linalg`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.dims import product
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.factors import double, eig_of_one, is_less, single_again
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.linalg import of_wide
from tracejit.numpy_api.matrices import expm, toeplitz
from tracejit.numpy_api.matrix_equations import logarithm_of
from tracejit.numpy_api.stacks import VECTOR_OR_MATRIX, in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import assured, implied
from tracejit.ops.linalg import adjoint
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


# --- trigonometric and other functions ------------------------------------------------------------


def _circular(a: Tracer) -> tuple[Any, Any]:
    """Return the cosine and the sine of a matrix."""
    turned: Any = expm(1j * a)
    if a.dtype.kind != "c":
        return np.real(turned), np.imag(turned)
    back: Any = expm(-1j * a)
    return 0.5 * (turned + back), -0.5j * (turned - back)


def _hyperbolic(a: Tracer) -> tuple[Any, Any]:
    grows: Any = expm(a)
    falls: Any = expm(-a)
    return 0.5 * (grows + falls), 0.5 * (grows - falls)


def _of_pair(pair: Callable[[Tracer], tuple[Any, Any]],
             of: Callable[..., Any]) -> Callable[..., Any]:
    def capture(A: object) -> Any:
        return single_again(of(*pair(double(A, square=True))), A)

    return capture


def fractional_matrix_power(A: object, t: object) -> Any:
    """Return a power of a matrix."""
    if not isinstance(t, TracedOperand) and int(t) == t:  # type: ignore[call-overload]
        return np.linalg.matrix_power(as_tracer(A), int(t))  # type: ignore[call-overload]
    x = double(A, square=True)
    log: Any = logarithm_of(x)
    return expm(log * t)


def funm(A: object, func: Callable[..., object], disp: object = True) -> Any:
    """Return a function of a matrix, by that of its eigenvalues; real for a real matrix."""
    if disp is not True:
        raise refuse("scipy.linalg.funm with disp= cannot be captured", "Leave it out", "TJ203")
    x = double(A, square=True)
    values, vectors = eig_of_one(x)
    inverse: Any = np.linalg.inv(vectors)
    turned = np.sum(np.abs(vectors)) * np.sum(np.abs(inverse))
    require_ours(stop_gradient(turned) < 1e8, NotCaptured, "scipy.linalg.funm of a matrix whose "
                 "eigenvectors depend on each other, or all but do, is not captured")
    of_values: Any = call_function(func, (values,), {})
    found = (vectors * of_values) @ inverse
    if x.dtype.kind == "c":
        return single_again(found, A)
    real = assured(np.max(np.abs(np.imag(stop_gradient(found))), initial=0.0) <= 1e6 * np.finfo(
        np.float64).eps, "scipy.linalg.funm of this real matrix is complex: pass "
        "a.astype(complex)")
    return single_again(np.where(real, np.real(found), 0.0), A)


def expm_frechet(A: object, E: object, method: str | None = None, compute_expm: bool = True) -> Any:
    """Return the exponential of a matrix, and its derivative along another."""
    a, e = double(A, square=True), double(E, square=True)
    zero: Any = np.zeros_like(a)
    above, below = np.concatenate([a, e], axis=1), np.concatenate([zero, a], axis=1)
    whole: Any = expm(np.concatenate([above, below], axis=0))
    n = as_operand(a.dims[0])
    found = [single_again(x, A, E) if method == "blockEnlarge" else x
             for x in (whole[:n, :n], whole[:n, n:])]  # the other method computes in float64
    return tuple(found) if compute_expm else found[1]


# --- polar factors --------------------------------------------------------------------------------


def polar(a: object, side: str = "right") -> Any:
    """Return an orthogonal and a positive factor, differentiable at equal singular values too."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    x: Any = double(a)
    right = side == "right"
    m, n = x.dims
    few = current().decide((m - n) if right else (n - m), "<", "which factor a polar has")
    if few or few is None:
        raise refuse("scipy.linalg.polar of a matrix whose positive factor is singular cannot be "
                     "captured", "Use the other side", "TJ213")
    y = x if right else adjoint(x)
    w, s, vh = np.linalg.svd(stop_gradient(y), full_matrices=False)
    base: Any = adjoint(vh)
    found: Any = (base * s) @ vh
    p: Any = implied("positive factor", [as_tracer(found)], as_tracer(adjoint(y) @ y))[0]
    u = implied("turn", [as_tracer(w @ vh)], y, p)[0]
    return single_again(u if right else adjoint(u), a), single_again(p, a)


def orthogonal_procrustes(A: object, B: object) -> Any:
    """Return the rotation that takes one matrix nearest to another, and how far it scales."""
    product: Any = adjoint(double(B)) @ double(A)
    u, p = polar(adjoint(as_tracer(product)))
    return single_again(u, A, B), single_again(np.real(np.trace(p)), A, B)


# --- matrices of vectors --------------------------------------------------------------------------


def companion(a: object) -> Any:
    """Return the matrix whose eigenvalues are the roots of a polynomial."""
    c: Any = np.atleast_1d(as_tracer(a))
    if is_less(c.dims[-1], 2, "whether a polynomial is a constant"):
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    require(np.all(c[..., 0] != 0), ValueError, "The first coefficient(s) of `a` (i.e. elements "
            "of `a[..., 0]`) must not be zero.")
    first: Any = -c[..., 1:] / (1.0 * c[..., :1])
    n = as_operand(c.dims[-1]) - 1
    below: Any = np.eye(n, dtype=first.dtype)[:n - 1]
    rows = np.broadcast_to(below, (*first.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], rows], axis=-2)


def khatri_rao(a: np.ndarray, b: np.ndarray) -> Any:
    """Return the Kronecker products of columns."""
    x, y = as_tracer(a), as_tracer(b)
    whole: Any = x[:, None, :] * y[None, :, :]
    return np.reshape(whole, (x.shape[0] * y.shape[0], x.shape[1]))


def fiedler(a: object) -> Any:
    """Return the distances of numbers."""
    x: Any = np.atleast_1d(as_tracer(a))
    if is_nothing(product(x.dims)):
        return apply("full", np.float64(0), shape=(0,))
    return np.abs(x[..., :, None] - x[..., None, :])


def matmul_toeplitz(c_or_cr: object, x: object) -> Any:
    """Return the product with a matrix of constant diagonals, as a dense one."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return _product(c, r, x)


def _of_diagonals(c: object, r: object, x: object) -> Any:
    given = as_tracer(x)
    dtype = np.result_type(as_tracer(c).dtype, given.dtype, np.float64)
    return toeplitz(c, r) @ cast(given, dtype)


_product = in_stacks(_of_diagonals, ("c", 1), ("r", 1), ("x", VECTOR_OR_MATRIX))


def solve_circulant(c: object, b: object) -> Any:
    """Solve a system whose matrix is the circulant of a vector."""
    first, right = as_inexact(c), as_inexact(b)
    if len(first.dims) != 1 or len(right.dims) not in (1, 2):
        raise refuse("scipy.linalg.solve_circulant of stacks cannot be captured", "Use a loop",
                     "TJ207")
    if not same_dim(first.dims[0], right.dims[0]):
        raise ValueError("Shapes of c and b are incompatible")
    turned: Any = np.fft.fft(first)
    if not is_nothing(first.dims[0]):
        size = np.abs(turned)
        least = np.max(size) * as_operand(first.dims[0]) * np.finfo(np.float64).eps
        require(np.all(size > least), np.linalg.LinAlgError, "near singular circulant matrix.")
    turned = turned if len(right.dims) == 1 else turned[:, None]
    found: Any = np.fft.ifft(np.fft.fft(right, axis=0) / turned, axis=0)
    return found if "c" in (first.dtype.kind, right.dtype.kind) else np.real(found)


scipy_captures("scipy.linalg", {name: of_wide(name, function) for name, function in {
    "cosm": _of_pair(_circular, lambda c, s: c), "sinm": _of_pair(_circular, lambda c, s: s),
    "tanm": _of_pair(_circular, np.linalg.solve),
    "coshm": _of_pair(_hyperbolic, lambda c, s: c), "sinhm": _of_pair(_hyperbolic, lambda c, s: s),
    "tanhm": _of_pair(_hyperbolic, np.linalg.solve),
    "fractional_matrix_power": in_stacks(fractional_matrix_power, ("A", 2))}.items()})
scipy_captures("scipy.linalg", {
    "polar": checks_finite(of_wide("polar", in_stacks(polar, ("a", 2)))),
    "orthogonal_procrustes": checks_finite(of_wide("orthogonal_procrustes", in_stacks(
        orthogonal_procrustes, ("A", 2), ("B", 2)))),
    "funm": calling_back(of_wide("funm", in_stacks(funm, ("A", 2)))),
    "expm_frechet": checks_finite(in_stacks(expm_frechet, ("A", 2), ("E", 2))),
    "companion": companion,
    "khatri_rao": in_stacks(khatri_rao, ("a", 2), ("b", 2)),
    "fiedler": fiedler,
    "matmul_toeplitz": checks_finite(matmul_toeplitz), "solve_circulant": solve_circulant})
