"""Polynomials of roots, and of matrices, whose roots are eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.factors import eig_of_one
from tracejit.numpy_api.linalg import require_square
from tracejit.numpy_api.plainly import polynomial_of_roots
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.ops.linalg import adjoint
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.narrow_floats import require_lapacks_floats
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, cast, dims_of, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["poly", "polynomial_of"]

Parts = Sequence[Any]


@captures(np.poly)
def poly(seq_of_zeros: object) -> Any:
    """Return the coefficients of the polynomial with these roots, or of a matrix."""
    roots: Any = as_tracer(seq_of_zeros)
    if not roots.dims:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    if len(roots.dims) == 2 and (is_nothing(roots.dims[0]) or not same_dim(*roots.dims)):
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(roots.dims) == 2:
        return _of_matrix(require_square(as_inexact(roots)))
    if len(roots.dims) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    return polynomial_of(roots)


def polynomial_of(given: object) -> Any:
    """Return the coefficients of the polynomial with these roots, which are real."""
    roots = as_tracer(given)
    if current().decide(roots.dims[0], "==", "np.poly of no roots") is True:
        return 1.0
    if roots.dtype.kind == "c":
        others, turned = roots[:, None], np.conj(roots)
        are_paired = np.all(np.sum(others == roots[None, :], axis=1)
                            == np.sum(others == turned[None, :], axis=1))
        require_ours(are_paired, NotCaptured, "a polynomial of complex roots that are not "
                     "conjugate pairs has complex coefficients, and is not captured. Multiply the "
                     "factors with np.convolve")
        return np.real(call_function(polynomial_of_roots, (roots,), {}))
    is_computed_in = roots.dtype.kind == "f" and not is_half(roots.dtype)
    roots = roots if is_computed_in else cast(roots, np.float64)
    return call_function(polynomial_of_roots, (roots,), {})


def _of_matrix(a: Tracer) -> Any:
    """Return the coefficients of det(s I - A), which are smooth where eigenvalues are equal."""
    require_lapacks_floats(a)
    if a.dtype.kind == "c":
        raise refuse("np.poly of a matrix of complex numbers cannot be captured",
                     "Pass the roots", "TJ206")
    size = need_int(a.dims[0], "the size of a matrix with a polynomial")
    if not size:
        return 1.0
    values, _ = eig_of_one(stop_gradient(cast(a, np.float64)))
    found = cast(as_tracer(np.real(call_function(polynomial_of_roots, (values,), {}))), a.dtype)
    return implied("characteristic", [apply("reshape", found, shape=(size + 1,))], a)[0]


def _adjugates(c: np.ndarray, a: np.ndarray) -> list[Any]:
    """Return the matrices that are the coefficients of the adjugate of s I - A."""
    i = apply("iota", size=dims_of(a)[0])
    one: Any = cast(i[:, None] == i[None, :], a.dtype)
    found = [one]
    count: Any = dims_of(c)[0]
    for k in range(1, count - 1):
        found.append(a @ found[-1] + c[k] * one)
    return found


def _jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    (c,), (a,), (t,) = results, operands, tangents
    moved = [-np.sum(np.swapaxes(m, 0, 1) * t) for m in _adjugates(c, a)]
    return [np.stack([0.0 * c[0], *moved])]


def _vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (c,), (a,), (ct,) = results, operands, cts
    if ct is None:
        return [None]
    total: Any = 0.0
    for k, m in enumerate(_adjugates(c, a)):
        total = total - ct[k + 1] * adjoint(m)
    return [total]


RULES["characteristic"] = Rule(_jvp, _vjp)
