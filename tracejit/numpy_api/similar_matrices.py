"""Schur's and Hessenberg's form of a matrix, as `scipy.linalg` gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.factors import double, single_again
from tracejit.numpy_api.finite import checks_finite, require_finite
from tracejit.numpy_api.linalg import of_wide, require_square
from tracejit.numpy_api.plain_schur import turned_to_complex
from tracejit.numpy_api.stacks import in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import factored, implied
from tracejit.ops.linalg import transpose_last
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import as_operand, cast, same_dim
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _square(a: object, name: str) -> Tracer:
    x = as_tracer(a)
    if len(x.dims) != 2 or not same_dim(*x.dims):
        raise ValueError("expected square matrix")
    return require_square(as_inexact(x))


def schur(a: object, output: str = "real", lwork: object = None, overwrite_a: bool = False,
          sort: object = None) -> Any:
    """Return T and Z of a matrix Z T Z^H, where T is triangular but for blocks of two."""
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    if sort is not None:
        raise refuse("scipy.linalg.schur with sort= cannot be captured", "Leave it out", "TJ203")
    x = _square(a, "schur")
    if output[0] == "c":
        x = cast(x, np.result_type(x.dtype, np.complex64))
    t, *rest = factored("schur", transpose_last(stop_gradient(x)))
    z = rest[1 if x.dtype.kind == "c" else 2]
    return tuple(implied("schur", [transpose_last(t), transpose_last(z)], x))


def hessenberg(a: object, calc_q: bool = False, overwrite_a: bool = False) -> Any:
    """Return H, and with `calc_q` Q, of a matrix Q H Q^H: nothing is below H's subdiagonal."""
    given: Any = _square(a, "hessenberg")
    x = double(given)
    n = x.dims[0]
    few = current().decide(n - 3, "<", "whether a matrix is its own Hessenberg form")
    if few is None:
        raise refuse("scipy.linalg.hessenberg of a matrix of a size that data decides cannot be "
                     "captured", "Make its sizes those of arguments", "TJ212")
    if few and not is_nothing(n):
        own = as_tracer(a) + as_tracer(a).dtype.type(0)
        return (own, np.eye(as_operand(n))) if calc_q else own
    h, q = call_function(reflected, (x, np.eye(as_operand(n), dtype=x.dtype), _smooth,
                                     x.dtype.kind == "c"), {})
    h, q = (single_again(part, a) for part in (h, q))
    return (h, q) if calc_q else h


def rsf2csf(T: object, Z: object, check_finite: object = True) -> Any:
    """Return the triangular complex form of a real Schur form, and its unitary matrix."""
    if check_finite:
        require_finite((T, Z))
    t, z = (_square(x, "rsf2csf") for x in (T, Z))
    if not same_dim(t.dims[0], z.dims[0]):
        raise ValueError(f"Input array shapes must match: Z: {z.shape} vs. T: {t.shape}")
    dtype = np.result_type(t.dtype, z.dtype, np.complex64)
    small = float(np.finfo(dtype).eps)
    found = call_function(turned_to_complex, (cast(t, np.complex128), cast(z, np.complex128),
                                              small, iota(t.dims[0])), {})
    return tuple([cast(x, dtype) for x in found])


def _smooth(x: Tracer, is_smooth: object) -> Any:
    """Return a number whose derivative is refused in the run where there is none."""
    return implied("reflection", [as_tracer(x)], as_tracer(x), as_tracer(is_smooth))[0]


def reflected(a: np.ndarray, q: np.ndarray, smooth: Callable[..., np.ndarray],
              is_complex: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix between Householder's reflections, and their product: LAPACK's gehrd."""
    n = len(a)
    row = np.arange(n)
    h, whole = a + 0.0, q + 0.0
    for k in range(n - 1 if is_complex else n - 2):
        column = h[:, k]
        tail = np.where(row > k + 1, column, 0.0)
        alpha = column[k + 1]
        rest = np.sum(np.real(tail) ** 2 + np.imag(tail) ** 2)
        is_there = (rest > 0.0) | (np.imag(alpha) != 0.0)
        safe = np.where(is_there, rest + np.real(alpha) ** 2 + np.imag(alpha) ** 2, 1.0)
        beta = smooth(np.where(np.real(alpha) >= 0.0, -1.0, 1.0) * np.sqrt(safe), is_there)
        v = np.where(row == k + 1, 1.0, tail / np.where(is_there, alpha - beta, 1.0))
        tau = np.where(is_there, (beta - alpha) / beta, 0.0)
        h = h - np.conj(tau) * np.outer(v, np.conj(v) @ h)
        h = h - tau * np.outer(h @ v, np.conj(v))
        h[:, k] = np.where(row > k + 1, 0.0, np.where(
            (row == k + 1) & is_there, beta, h[:, k]))
        whole = whole - tau * np.outer(whole @ v, np.conj(v))
    return h, whole


scipy_captures("scipy.linalg", {
    f.__name__: checks_finite(of_wide(f.__name__, in_stacks(f, ("a", 2))))
    for f in (schur, hessenberg)})
scipy_captures("scipy.linalg", {"rsf2csf": of_wide("rsf2csf", rsf2csf)})
