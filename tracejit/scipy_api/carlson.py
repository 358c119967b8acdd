"""Jacobi's elliptic functions, and Carlson's integrals R_C, R_G and R_J.

Values are SciPy's; derivatives are those of the formulas here: B. C. Carlson, Numer. Algorithms 10,
1995, and NIST's DLMF, 19.20.14, 19.21.10 and 22.16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import in_double
from tracejit.ops.calls import stop_gradient
from tracejit.ops.roots import root_of
from tracejit.ops.scipy_functions import special
from tracejit.scipy_api.duplication import duplicated, duplicated_d, duplicated_f
from tracejit.scipy_api.elliptic import incomplete
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function

__all__ = ["like"]


def like(found: np.ndarray, near: np.ndarray) -> Any:
    """Return a number with the derivatives of a formula for it."""
    return root_of(stop_gradient(found), near, np.ones_like(found))


# --- Carlson's integrals --------------------------------------------------------------------------


def _of_values(name: str, *operands: np.ndarray) -> Any:
    return special(name, *map(stop_gradient, operands))


def _rf(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    return call_function(duplicated_f, (*np.broadcast_arrays(x, y, z),), {})


def _rd(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    return call_function(duplicated_d, (*np.broadcast_arrays(x, y, z),), {})


def _rc(x: np.ndarray, y: np.ndarray) -> Any:
    """Return R_C, of a y below 0 by Cauchy's principal value."""
    below = y < 0.0
    a, b = np.where(below, x - y, x), np.where(below, -y, y)
    return np.where(below, np.sqrt(x) / np.sqrt(np.where(below, a, 1.0)), 1.0) * _rf(a, b, b)


def _in_order(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
    """Return three numbers in order: each has one place, also among equal ones.

    Extrema would share the derivative of equal numbers, of which only the first one is symmetric.
    """
    def pair(a: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
        turned = b < a
        return np.where(turned, b, a), np.where(turned, a, b)

    x, y = pair(x, y)
    y, z = pair(y, z)
    x, y = pair(x, y)
    return x, y, z


def _rg(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    low, middle, high = _in_order(x, y, z)
    one = middle == 0.0
    b, a = np.where(one, 1.0, middle), np.where(one, 1.0, low)
    c = np.where(one, 1.0, high)
    whole = b * _rf(a, c, b) + np.sqrt(a) * np.sqrt(c / b) + (b - a) * (c - b) / 3.0 * _rd(
        a, c, b)
    return 0.5 * np.where(one, np.sqrt(high), whole)


def _rj_above(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    return call_function(duplicated, (*np.broadcast_arrays(x, y, z, p),), {})


def _rj(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    low, middle, high = _in_order(x, y, z)
    below = p < 0.0
    q = np.where(below, -p, 1.0)
    turned = middle + (high - middle) * (middle - low) / (middle + q)
    above = np.where(below, turned, p)
    found = _rj_above(low, middle, high, above)
    product = above * q
    inner = low * high + product
    safe = np.where(below, inner, 1.0)
    root = np.sqrt(np.where(below, low, 1.0)) * np.sqrt(np.where(below, middle * high, 1.0) / safe)
    principal = ((above - middle) * found - 3.0 * _rf(low, middle, high)
                 + 3.0 * root * _rc(safe, np.where(below, product, 1.0))) / (middle + q)
    return np.where(below, principal, found)


# --- Jacobi's functions ---------------------------------------------------------------------------


def _amplitude(found: np.ndarray, u: np.ndarray, m: np.ndarray) -> tuple[Any, Any]:
    """Return the amplitude with its derivatives, by two steps of Newton's method, and a slope."""
    near, slope = found, np.ones_like(found)
    for _ in range(2):
        slope = np.sqrt(1.0 - m * np.sin(near) ** 2)
        near = near + (u - incomplete(True)(near, m)) * slope
    return near, slope


def ellipj(u: object, m: object) -> Any:
    """Return Jacobi's sn, cn and dn, and the amplitude."""
    def part(k: int) -> Any:
        def function(u: np.ndarray, m: np.ndarray) -> Any:
            angle, _ = _amplitude(_of_values("ellipj_3", u, m), u, m)
            sine = np.sin(angle)
            formulas = (sine, np.cos(angle), np.sqrt(1.0 - m * sine * sine), angle)
            return like(_of_values(f"ellipj_{k}", u, m), formulas[k])

        return in_double("ellipj", function)

    return tuple([part(k)(u, m) for k in range(4)])


scipy_captures("scipy.special", {
    **{name: in_double(name, lambda *xs, name=name, formula=formula: like(
        _of_values(name, *xs), formula(*xs))) for name, formula in (
            ("elliprc", _rc), ("elliprg", _rg), ("elliprj", _rj))},
    "ellipj": ellipj})
