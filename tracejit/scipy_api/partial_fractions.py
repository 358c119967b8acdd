"""Partial fractions of `scipy.signal`, of systems whose poles are apart from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.fits import roots
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import zeros
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require_ours

__all__: list[str] = []


def _apart(p: np.ndarray, count: int, tol: float, name: str) -> None:
    """Refuse in the run poles that SciPy takes for one."""
    for k in range(1, count):
        require_ours(np.all(np.abs(p[k:] - p[:-k]) > tol), NotCaptured, f"scipy.signal.{name} of "
                     "poles that are one, or all but one, is not captured: their number depends "
                     "on data")


def _row(x: object, name: str) -> tuple[Any, int]:
    """Return coefficients in double precision, and how many there are."""
    given: Any = np.atleast_1d(as_inexact(x))
    given = cast(given, np.complex128 if given.dtype.kind == "c" else np.float64)
    return given, known_length(given, f"how many coefficients scipy.signal.{name} is given")


def _fractions(b: object, a: object, tol: float, name: str, turned: bool) -> Any:
    (top, n), (low, m) = _row(b, name), _row(a, name)
    if turned:
        top, low = top[::-1], low[::-1]
    require_ours((top[0] != 0) & (low[0] != 0) & (low[-1] != 0), NotCaptured,
                 f"scipy.signal.{name} of coefficients of which the first or the last is zero is "
                 "not captured: leave such out")
    poles: Any = roots(low[::-1] if turned else low)
    order = np.argsort(np.abs(poles), kind="stable")
    poles = poles[order]
    _apart(poles, m - 1, tol, name)
    whole: Any = as_tracer(zeros(0))
    if n >= m:
        whole, top = np.polydiv(top, low)
    at = 1.0 / poles if turned else poles
    away = at[:, None] - at[None, :] + np.eye(m - 1)
    found = np.polyval(top, at) / np.prod(away, axis=1) / low[0]
    return (-poles * found, poles, whole[::-1]) if turned else (found, poles, whole)


def residue(b: object, a: object, tol: float = 1e-3, rtype: str = "avg") -> Any:
    """Return residues, poles and the polynomial part of b(s) / a(s)."""
    return _fractions(b, a, tol, "residue", False)


def residuez(b: object, a: object, tol: float = 1e-3, rtype: str = "avg") -> Any:
    """Return residues, poles and the direct part of b(1 / z) / a(1 / z)."""
    return _fractions(b, a, tol, "residuez", True)


def _monic(poles: list[np.ndarray], like: np.ndarray) -> Any:
    """Return the polynomial of these roots."""
    found: Any = np.ones(1, like.dtype)
    for p in poles:
        found = np.convolve(found, np.stack([0.0 * p + 1.0, -p]))
    return found


def _joined(r: object, p: object, k: object, tol: float, name: str, turned: bool) -> Any:
    (shares, n), (poles, m), (whole, q) = (_row(x, name) for x in (r, p, k))
    if n != m:
        raise refuse(f"scipy.signal.{name} of {n} residues and {m} poles cannot be captured",
                     "Give one for each", "TJ213")
    _apart(poles, m, tol, name)
    low = _monic([poles[j] for j in range(m)], poles)
    total: Any = None
    if q:
        require_ours(whole[-1 if turned else 0] != 0, NotCaptured, f"scipy.signal.{name} of a "
                     "polynomial that ends with zero is not captured: leave zeros out")
        total = np.convolve(whole[::-1], low[::-1]) if turned else np.convolve(whole, low)
    for i in range(m):
        factor = _monic([poles[j] for j in range(m) if j != i], poles)
        factor = shares[i] * (factor[::-1] if turned else factor)
        if total is None:
            total = factor
        else:
            more = known_length(total, "coefficients") - m
            total = total + np.concatenate([np.zeros(more), factor])
    return (total[::-1] if turned else total), low


def invres(r: object, p: object, k: object, tol: float = 1e-3, rtype: str = "avg") -> Any:
    """Return the coefficients of a sum of partial fractions in s."""
    return _joined(r, p, k, tol, "invres", False)


def invresz(r: object, p: object, k: object, tol: float = 1e-3, rtype: str = "avg") -> Any:
    """Return the coefficients of a sum of partial fractions in 1 / z."""
    return _joined(r, p, k, tol, "invresz", True)


scipy_captures("scipy.signal", {
    "residue": residue, "residuez": residuez, "invres": invres, "invresz": invresz})
