"""Bessel functions, their derivatives of constant orders, and the spherical ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import in_double
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import known_int

__all__: list[str] = []


def _iv(v: np.ndarray, x: np.ndarray) -> Any:
    pole = (x == 0.0) & (v < 0.0) & (v != np.floor(v))
    return np.where(pole, np.inf, np.exp(np.abs(x)) * apply("ive", v, x))


def _kv(v: np.ndarray, x: np.ndarray) -> Any:
    return np.exp(-x) * apply("kve", v, x)


def _finite(name: str) -> Callable[..., Any]:
    """Return a function that is NaN at infinity, as SciPy's is, where its limit is 0."""
    return lambda *operands: np.where(np.isinf(operands[-1]), np.nan, apply(name, *operands))


_OF_ORDERS: dict[str, Callable[..., Any]] = {
    "jv": _finite("jv"), "yv": _finite("yv"), "ive": _finite("ive"), "kve": _finite("kve"),
    "yn": lambda v, x: _finite("yv")(np.trunc(v), x), "kn": lambda v, x: _kv(np.trunc(v), x),
    "iv": _iv, "kv": _kv}
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    **{name: _finite(name) for name in ("j0", "j1", "y0", "y1")},
    "k0": lambda x: _kv(_order(0), x), "k1": lambda x: _kv(_order(1), x),
    "k0e": lambda x: apply("kve", _order(0), x), "k1e": lambda x: apply("kve", _order(1), x)}


def _order(v: float) -> Any:
    return cast(float(v), np.float64)


def _whole(n: object, name: str) -> int:
    """Return an order or a number of derivatives, which has to be a constant."""
    n = known_int(n, "an order")
    if isinstance(n, TracedOperand) or not isinstance(n, (int, np.integer)) or n < 0:
        raise refuse(f"scipy.special.{name} of an order that is no constant int cannot be captured",
                     "Pass a Python int that is not below 0", "TJ205")
    return int(n)


def _derivative(name: str, sign: float) -> Callable[..., Any]:
    """Return the n-th derivative: of the sums of the functions of neighbouring orders."""
    function = in_double(name, _OF_ORDERS[name])

    def capture(v: object, z: object, n: int = 1) -> Any:
        count = _whole(n, f"{name}p")
        if count == 0:
            return function(v, z)
        order: Any = as_tracer(v)
        total: Any = 0.0
        for k in range(count + 1):  # orders of ints wrap around, as SciPy's do
            term: Any = function(order - count + 2 * k, z)
            total = total + sign ** k * math.comb(count, k) * term
        return (-1.0 if name == "kv" else 1.0) ** count * total / 2.0 ** count

    return capture


# --- spherical Bessel functions -----------------------------------------------------------------


def _series(n: int, z: np.ndarray, sign: float) -> Any:
    """Return j_n or i_n by the series around 0: Abramowitz and Stegun, 10.1.2 and 10.2.5."""
    square = 0.5 * sign * z * z
    total: Any = 1.0
    for k in range(16, 0, -1):
        total = 1.0 + square / (k * (2 * n + 2 * k + 1)) * total
    return total * _power(z, n) / math.prod(range(1, 2 * n + 2, 2))


def _power(z: np.ndarray, n: int) -> Any:
    result: Any = 1.0
    for _ in range(n):
        result = result * z
    return result


def _regular(n: int, z: np.ndarray, name: str) -> Any:
    small = np.abs(z) < 1.0
    near = _series(n, np.where(small, z, 0.0), -1.0 if name == "jv" else 1.0)
    endless = np.isinf(z)
    size = np.where(small | endless, 1.0, np.abs(z))
    function = _OF_ORDERS["jv" if name == "jv" else "iv"]
    far = np.sqrt(0.5 * math.pi / size) * function(_order(n + 0.5), size)
    end: Any = 0.0 if name == "jv" else np.where(endless, z, 1.0) ** 2  # of an infinite slope
    return np.where(small, near, np.where(z < 0.0, (-1.0) ** n, 1.0) * np.where(endless, end, far))


def _spherical_yn(n: int, z: np.ndarray) -> Any:
    zero = z == 0.0
    size = np.where(zero, 1.0, np.abs(z))
    value = np.sqrt(0.5 * math.pi / size) * apply("yv", _order(n + 0.5), size)
    return np.where(zero, -np.inf, np.where(z < 0.0, (-1.0) ** (n + 1), 1.0) * value)


def _spherical_kn(n: int, z: np.ndarray) -> Any:
    zero = z == 0.0
    size = np.where(zero, 1.0, z)
    value = np.where(zero, np.inf, np.sqrt(0.5 * math.pi / size) * _kv(_order(n + 0.5), size))
    return np.where(z == -np.inf, -np.inf, value)


_SPHERICAL: dict[str, tuple[Callable[..., Any], float, float]] = {
    "spherical_jn": (lambda n, z: _regular(n, z, "jv"), 1.0, -1.0),
    "spherical_in": (lambda n, z: _regular(n, z, "iv"), 1.0, 1.0),
    "spherical_yn": (_spherical_yn, 1.0, -1.0), "spherical_kn": (_spherical_kn, -1.0, -1.0)}
"""Each function with the signs of its derivative: of order n - 1, and of order n + 1."""
_REFLECTED = {"spherical_jn", "spherical_in", "spherical_yn"}
"""For which SciPy negates z, which bools refuse, and multiplies by a sign, which is an int64."""


def _spherical(name: str) -> Callable[..., Any]:
    function, before, behind = _SPHERICAL[name]

    def of_order(n: int, z: np.ndarray, derivative: bool) -> Any:
        if not derivative:
            return function(n, z)
        above = behind * (n + 1) / (2 * n + 1) * function(n + 1, z)
        return above if n == 0 else before * n / (2 * n + 1) * function(n - 1, z) + above

    def capture(n: object, z: object, derivative: bool = False) -> Any:
        x: Any = as_tracer(z)
        if x.dtype.kind == "c":
            raise refuse(f"scipy.special.{name} of complex numbers cannot be captured",
                         "Write it with sines and cosines", "TJ206")
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        if name in _REFLECTED:
            np.negative(x)
            dtype = np.dtype(np.float64)
        wide: Any = cast(x, np.float64)
        if isinstance(n, (list, tuple, np.ndarray)) and np.ndim(n):
            orders = np.asarray(n)
            if orders.ndim == 1 and len(x.dims) <= 1:
                parts = [of_order(_whole(k, name), wide[i] if x.dims and x.shape[0] != 1 else wide,
                                  bool(derivative)) for i, k in enumerate(orders.tolist())]
                return cast(np.stack([np.reshape(p, ()) for p in parts]), dtype)
        return cast(of_order(_whole(n, name), wide, bool(derivative)), dtype)

    return capture


scipy_captures("scipy.special", {
    **{name: in_double(name, function) for name, function in {**_OF_ORDERS, **_OF_NUMBERS}.items()},
    **{f"{name}p": _derivative(name, sign) for name, sign in (
        ("jv", -1.0), ("yv", -1.0), ("iv", 1.0), ("kv", 1.0))},
    **{name: _spherical(name) for name in _SPHERICAL},
})
