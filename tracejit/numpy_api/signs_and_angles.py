"""The sign of a matrix and the angles between subspaces, as in `scipy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.factors import double, single_again
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.plainly import sign_of_matrix
from tracejit.numpy_api.stacks import in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.ops.linalg import adjoint
from tracejit.ops.systems import sylvester_solution
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

Parts = Sequence[Any]


def signm(A: object) -> Any:
    """Return the sign of a matrix: N. J. Higham, Functions of Matrices (2008), chapter 5."""
    x = double(A, square=True)
    if is_nothing(x.dims[0]):
        raise refuse("scipy.linalg.signm of an empty matrix cannot be captured",
                     "Return something else where the size is 0", "TJ213")
    values = np.linalg.eigvals(stop_gradient(x))
    near = np.min(np.abs(np.real(values))) <= 1e-10 * np.max(np.abs(values))
    require_ours(np.logical_not(near), NotCaptured, "scipy.linalg.signm of a matrix with "
                 "an eigenvalue on the imaginary axis, or next to it, is not captured. Shift it")
    found: Any = call_function(sign_of_matrix, (stop_gradient(x),), {})
    return single_again(implied("signm", [as_tracer(found)], x)[0], A)


def _moved(s: np.ndarray, a: np.ndarray, t: np.ndarray) -> Any:
    """Return the solution L of N L + L N = t - s t s, where N is s a."""
    root = s @ a
    return sylvester_solution(root, root, t - s @ t @ s)


def _jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    return [_moved(results[0], operands[0], tangents[0])]


def _vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    if cts[0] is None:
        return [None]
    s, a = (adjoint(x) for x in (results[0], operands[0]))
    found = sylvester_solution(s @ a, s @ a, cts[0])
    return [found - s @ found @ s]


RULES["signm"] = Rule(_jvp, _vjp)


def _basis(x: Tracer) -> Any:
    """Return an orthonormal basis of what the columns of a matrix span."""
    if current().decide(x.dims[0] - x.dims[1], "<", "whether a basis has too many vectors") is not (
            False):
        raise refuse("scipy.linalg.subspace_angles of more vectors than they have components "
                     "cannot be captured", "Take their basis by scipy.linalg.orth before", "TJ213")
    q, r = np.linalg.qr(x)
    size = np.abs(np.diagonal(r))
    require_ours(np.min(size) > 1e-10 * np.max(size), NotCaptured, "scipy.linalg.subspace_angles "
                 "of vectors that depend on each other is not captured. Take their basis by "
                 "scipy.linalg.orth before")
    return q


def subspace_angles(A: object, B: object) -> Any:
    """Return the angles between two subspaces, the largest first.

    A. V. Knyazev and M. E. Argentati, SIAM J. Sci. Comput. 23 (2002).
    """
    given = [double(m) for m in (A, B)]
    for m in given:
        if len(m.dims) != 2:
            raise ValueError(f"expected 2D array, got shape {m.shape}")
    if not same_dim(given[0].dims[0], given[1].dims[0]):
        raise ValueError("A and B must have the same number of rows, got "
                         f"{given[0].shape[0]} and {given[1].shape[0]}")
    if any(is_nothing(d) for m in given for d in m.dims):
        raise refuse("scipy.linalg.subspace_angles of an empty array cannot be captured",
                     "Return something else where the size is 0", "TJ213")
    p, q = map(_basis, given)
    both: Any = adjoint(p) @ q
    fewer = current().decide(given[0].dims[1] - given[1].dims[1], "<",
                             "which basis has fewer vectors")
    away = p - q @ adjoint(as_tracer(both)) if fewer else q - p @ both
    cosines, sines = (np.linalg.svd(m, compute_uv=False) for m in (both, away))
    return single_again(np.arctan2(sines, cosines[::-1]), A, B)


scipy_captures("scipy.linalg", {
    "signm": in_stacks(signm, ("A", 2)),
    "subspace_angles": checks_finite(in_stacks(subspace_angles, ("A", 2), ("B", 2)))})
