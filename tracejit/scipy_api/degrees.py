"""Functions of `scipy.special` of constant degrees and orders, of one or of all up to one."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special_kinds import double_of_real
from tracejit.ops.scipy_functions import special
from tracejit.scipy_api.harmonics import legendre, normalized, sph_harm_y
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN, OBJECTS, scipy_captures
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import known_int

__all__: list[str] = []


def _whole(n: object, name: str, what: str = "degree") -> int:
    n = known_int(n, f"the {what} of scipy.special.{name}")
    if isinstance(n, TracedOperand) or not isinstance(n, (int, np.integer)):
        raise refuse(f"scipy.special.{name} of {what}s that are no constant int cannot be captured",
                     "Pass a Python int", "TJ205")
    return int(n)


def _require_values_alone(name: str, diff_n: object) -> None:
    if isinstance(diff_n, TracedOperand) or diff_n != 0:
        raise refuse(f"scipy.special.{name} with diff_n= cannot be captured",
                     "Leave it out, and use tracejit.grad or tracejit.jvp", "TJ203")


def _of_real(z: object, name: str) -> Any:
    return double_of_real(z, f"scipy.special.{name}")


def _all(values: list[np.ndarray]) -> Any:
    """Return values of all degrees, behind the axis that SciPy has for derivatives."""
    return np.stack(values)[None]


# --- Legendre's functions, of one degree or of all up to one --------------------------------------


def _legendre_p(n: object, z: object, *, diff_n: int = 0) -> Any:
    _require_values_alone("legendre_p", diff_n)
    return legendre(0, _whole(n, "legendre_p"), _of_real(z, "legendre_p"))[None]


def _legendre_p_all(n: object, z: object, *, diff_n: int = 0) -> Any:
    _require_values_alone("legendre_p_all", diff_n)
    given = _of_real(z, "legendre_p_all")
    return _all([legendre(0, k, given) for k in range(
        _whole(n, "legendre_p_all") + 1)])


def _associated(n: int, m: int, z: np.ndarray, norm: object) -> Any:
    """Return the associated Legendre function of a number from -1 to 1, as SciPy's is outside."""
    if abs(m) > n:
        return 0.0 * z
    inside = (np.abs(z) <= 1.0) | (m == 0)  # those of order 0 are polynomials
    found = legendre(m, n, np.where(inside, z, 0.0))
    if norm:
        found = found * math.sqrt((2 * n + 1) / 2 * math.factorial(n - m) / math.factorial(n + m))
    return np.where(inside, found, math.nan)


def _assoc_legendre_p(n: object, m: object, z: object, *, branch_cut: int = 2, norm: bool = False,
                      diff_n: int = 0) -> Any:
    _require_branch("assoc_legendre_p", branch_cut)
    _require_values_alone("assoc_legendre_p", diff_n)
    return _associated(_whole(n, "assoc_legendre_p"), _whole(m, "assoc_legendre_p", "order"),
                       _of_real(z, "assoc_legendre_p"), norm)[None]


def _require_branch(name: str, branch_cut: object) -> None:
    if isinstance(branch_cut, TracedOperand) or branch_cut != 2:
        raise refuse(f"scipy.special.{name} with branch_cut= other than 2 cannot be captured",
                     "Leave it out: numbers from -1 to 1 are on no branch cut", "TJ203")


def _orders(m: int) -> list[int]:
    """Return orders from 0 to m and then from -m to -1: SciPy's axis, where negative ones wrap."""
    return [*range(m + 1), *range(-m, 0)]


def _assoc_legendre_p_all(n: object, m: object, z: object, *, branch_cut: int = 2,
                          norm: bool = False, diff_n: int = 0) -> Any:
    name = "assoc_legendre_p_all"
    _require_branch(name, branch_cut)
    _require_values_alone(name, diff_n)
    given = _of_real(z, name)
    return _all([np.stack([_associated(k, j, given, norm) for j in _orders(
        _whole(m, name, "order"))]) for k in range(_whole(n, name) + 1)])


def _spherical(n: int, m: int, theta: np.ndarray) -> Any:
    height = np.sin(theta)
    sine = np.where(height < 0.0, -height, height)
    return (normalized(n, m, np.cos(theta), sine) if n >= abs(m) else 0.0) + 0.0 * theta


def _sph_legendre_p(n: object, m: object, theta: object, *, diff_n: int = 0) -> Any:
    _require_values_alone("sph_legendre_p", diff_n)
    return _spherical(_whole(n, "sph_legendre_p"), _whole(m, "sph_legendre_p", "order"),
                      _of_real(theta, "sph_legendre_p"))[None]


def _sph_legendre_p_all(n: object, m: object, theta: object, *, diff_n: int = 0) -> Any:
    name = "sph_legendre_p_all"
    _require_values_alone(name, diff_n)
    given = _of_real(theta, name)
    return _all([np.stack([_spherical(k, j, given) for j in _orders(_whole(
        m, name, "order"))]) for k in range(_whole(n, name) + 1)])


def _sph_harm_y_all(n: object, m: object, theta: object, phi: object, *, diff_n: int = 0) -> Any:
    name = "sph_harm_y_all"
    _require_values_alone(name, diff_n)
    return np.stack([np.stack([sph_harm_y(k, j, theta, phi) if k >= abs(j) else 0.0 * sph_harm_y(
        0, 0, theta, phi) for j in _orders(_whole(m, name, "order"))]) for k in range(
            _whole(n, name) + 1)])


# --- Bessel's functions, all up to an order, and their derivatives --------------------------------


def _riccati(function: str, name: str) -> Callable[..., Any]:
    """Return x f(x) of a spherical Bessel function f, and its derivative, of orders up to n."""
    def capture(n: object, x: object) -> Any:
        given, of = _of_real(x, name), FOREIGN[f"scipy.special.{function}"]
        values = [of(k, given) for k in range(_whole(n, name, "order") + 1)]
        slopes = [of(k, given, True) for k in range(len(values))]
        return (np.stack([given * v for v in values]),
                np.stack([v + given * s for v, s in zip(values, slopes, strict=True)]))

    return capture


def _cylinders(name: str) -> Callable[..., Any]:
    """Return the parabolic cylinder functions of orders up to v, and their derivatives."""
    def capture(v: object, x: object) -> Any:
        if isinstance(v, TracedOperand):
            v = _whole(v, f"{name}_seq", "order")
        given = _of_real(x, f"{name}_seq")
        order: Any = v
        count = int(order)
        if count < 0:
            raise refuse(f"scipy.special.{name}_seq of orders below 0 cannot be captured",
                         f"Call scipy.special.{name} of each order", "TJ213")
        orders = [order - count + k for k in range(max(count, 1) + 1)]
        return tuple([np.stack([special(f"{name}_{part}", v, given) for v in orders])
                      for part in (0, 1)])

    return capture


def _hankel_derivative(name: str) -> Callable[..., Any]:
    def capture(v: object, z: object, n: int = 1) -> Any:
        count, of = _whole(n, f"{name[0]}{name[-1]}vp", "derivative"), FOREIGN[
            f"scipy.special.{name}"]
        order: Any = as_tracer(v)
        return sum((-1.0) ** k * math.comb(count, k) * of(order - count + 2 * k, z)
                   for k in range(count + 1)) / 2.0 ** count

    return capture


def _assoc_laguerre(x: object, n: object, k: object = 0.0) -> Any:
    return FOREIGN["scipy.special.eval_genlaguerre"](n, k, x)


def _round(x: object) -> Any:
    given = as_tracer(x)
    return np.rint(given if given.dtype.kind == "f" else cast(given, np.float64))


class _Captured:
    """Stands for SciPy's module of ufuncs in its own functions: each is its capture."""

    def __getattr__(self, name: str) -> Any:
        return FOREIGN[f"scipy.special.{name}"]


def _on_captures(fn: FunctionType) -> FunctionType:
    """Return a function of SciPy's, and those that it has closed over, calling captures."""
    held = [cell.cell_contents for cell in fn.__closure__ or ()]
    cells = tuple([CellType(_on_captures(x) if isinstance(x, FunctionType) else x) for x in held])
    return FunctionType(fn.__code__, {**fn.__globals__, "_ufuncs": _Captured()}, fn.__name__,
                        fn.__defaults__, cells)


def _value_of_polynomial(polynomial: np.poly1d, x: np.ndarray) -> Any:
    """Return an orthogonal polynomial of an argument, by SciPy's function of its degree."""
    own = getattr(polynomial, "_eval_func", None)
    return np.polyval(polynomial.coeffs, x) if own is None else _on_captures(own)(x)


OBJECTS["scipy.special._orthogonal.orthopoly1d"] = {"__call__": _value_of_polynomial}
scipy_captures("scipy.special", {
    "legendre_p": _legendre_p, "legendre_p_all": _legendre_p_all,
    "assoc_legendre_p": _assoc_legendre_p, "assoc_legendre_p_all": _assoc_legendre_p_all,
    "sph_legendre_p": _sph_legendre_p, "sph_legendre_p_all": _sph_legendre_p_all,
    "sph_harm_y_all": _sph_harm_y_all, "assoc_laguerre": _assoc_laguerre, "round": _round,
    "riccati_jn": _riccati("spherical_jn", "riccati_jn"),
    "riccati_yn": _riccati("spherical_yn", "riccati_yn"),
    "pbdv_seq": _cylinders("pbdv"), "pbvv_seq": _cylinders("pbvv"),
    "h1vp": _hankel_derivative("hankel1"), "h2vp": _hankel_derivative("hankel2")})
