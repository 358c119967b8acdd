"""Derivatives of SciPy's C functions of real numbers; the formulas are those of NIST's DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ops.bessel_kin import struve_partial
from tracejit.ops.cotangents import Primal
from tracejit.ops.scipy_functions import PARTIALS, UNKNOWN, Formula, special
from tracejit.trace.values.equations import apply, cast

__all__: list[str] = []

_DEGREE = math.pi / 180.0


def _by_last(count: int, derivative: Formula) -> Callable[..., tuple[object, ...]]:
    """Return partials of a function whose derivative by its last operand alone has a formula."""
    return lambda z, *operands: (UNKNOWN,) * (count - 1) + (derivative(z, *operands),)


def _quotient(slope: Primal, x: Primal, at_zero: float) -> Any:
    """Return a quotient by x, and what it tends to at 0."""
    zero = x == 0.0
    return np.where(zero, at_zero, slope / np.where(zero, 1.0, x))


# --- Kelvin's functions: 10.61.4 ----------------------------------------------------------------

PARTIALS.update({
    **{name: _by_last(1, lambda z, x, name=name: special(f"{name}p", x))
       for name in ("ber", "bei", "ker", "kei")},
    "berp": lambda z, x: (-special("bei", x) - _quotient(z, x, 0.0),),
    "beip": lambda z, x: (special("ber", x) - _quotient(z, x, 0.5),),
    "kerp": lambda z, x: (-special("kei", x) - z / x,),
    "keip": lambda z, x: (special("ker", x) - z / x,)})


# --- Bessel's and Struve's functions: 10.6.1, 11.4.26 and 11.4.27 -------------------------------


def _between(name: str, sign: float, v: Primal, x: Primal) -> Any:
    return 0.5 * (special(name, v - 1.0, x) + sign * special(name, v + 1.0, x))


def _bessel_polynomial(z: Primal, a: Primal, power: Primal, nu: Primal) -> tuple[object, ...]:
    """The integrals of x ** power J(2 a x) from 0 to 1, by a.

    SciPy's series of an order below 0 may end too early, so only a small one takes orders apart.
    """
    small = np.abs(a) < 0.5
    near, far = np.where(small, a, 0.25), np.where(small, 1.0, a)
    series = special("besselpoly", near, power + 1.0, nu - 1.0) - special(
        "besselpoly", near, power + 1.0, nu + 1.0)
    parts = (apply("jv", nu, 2.0 * far) - (power + 1.0) * z) / far
    return np.where(small, series, parts), UNKNOWN, UNKNOWN


PARTIALS.update({
    **{name: _by_last(2, lambda z, v, x, name=name: _between(name, -1.0, v, x))
       for name in ("jve", "yve")},
    "modstruve": _by_last(2, lambda z, v, x: struve_partial(
        lambda n, t: special("modstruve", n, t), 1.0, v, x)), "besselpoly": _bessel_polynomial})


# --- integrals of such functions, by their ends -------------------------------------------------


def _j(order: int, x: Primal) -> Any:
    return apply("jv", cast(float(order), np.float64), x)


def _y0(x: Primal) -> Any:
    return apply("yv", cast(0.0, np.float64), x)


def _i0(x: Primal) -> Any:
    return np.exp(np.abs(x)) * apply("ive", cast(0.0, np.float64), x)


def _k0(x: Primal) -> Any:
    return np.exp(-x) * apply("kve", cast(0.0, np.float64), x)


def _h0(x: Primal) -> Any:
    return apply("struve", cast(0.0, np.float64), x)


def _less_one(x: Primal, sign: float, far: Formula) -> Any:
    """Return (1 - J0(x)) / x for a sign of -1, (I0(x) - 1) / x for 1: near 0 by its series."""
    small = np.abs(x) < 1.0
    square = np.where(small, 0.25 * x * x, 0.0)
    series: Any = 1.0
    for k in range(11, 1, -1):
        series = 1.0 + sign * square / (k * k) * series
    away = np.where(small, 1.0, x)
    return np.where(small, 0.25 * x * series, sign * (far(away) - 1.0) / away)


def _struve_over(x: Primal) -> Any:
    """Return H0(x) / x: near 0 by its series, 11.2.1."""
    small = np.abs(x) < 1.0
    square = np.where(small, x * x, 0.0)
    series: Any = 1.0
    for k in range(10, 0, -1):
        series = 1.0 - square / (2 * k + 1) ** 2 * series
    away: Any = np.where(small, 1.0, x)
    return np.where(small, 2.0 / math.pi * series, _h0(away) / away)


_INTEGRANDS: dict[str, Callable[[Any], Any]] = {
    "it2struve0": lambda x: -_struve_over(x), "itstruve0": _h0,
    "itmodstruve0": lambda x: special("modstruve", 0.0, x),
    "iti0k0_0": _i0, "iti0k0_1": _k0, "itj0y0_0": lambda x: _j(0, x), "itj0y0_1": _y0,
    "it2i0k0_0": lambda x: _less_one(x, 1.0, _i0), "it2i0k0_1": lambda x: -_k0(x) / x,
    "it2j0y0_0": lambda x: _less_one(x, -1.0, lambda t: _j(0, t)),
    "it2j0y0_1": lambda x: -_y0(x) / x,
    "itairy_0": lambda x: apply("airy_ai", x), "itairy_1": lambda x: apply("airy_bi", x),
    "itairy_2": lambda x: apply("airy_ai", -x), "itairy_3": lambda x: apply("airy_bi", -x)}
PARTIALS.update({name: lambda z, x, of=of: (of(x),) for name, of in _INTEGRANDS.items()})


# --- functions of parabolic cylinders, Mathieu's: 12.2, 12.14, 28.2 and 28.20 -------------------


def _mathieu(kind: str, angular: bool, z: Primal, m: Primal, q: Primal, x: Primal) -> Any:
    """Return the second derivative by radians, of an x in degrees, or by x."""
    characteristic = special(f"mathieu_{kind}", m, q)
    wave = np.cos(2.0 * _DEGREE * x) if angular else np.cosh(2.0 * x)
    return (1.0 if not angular else -1.0) * (characteristic - 2.0 * q * wave)


def _of_mathieu(name: str, kind: str, *, angular: bool) -> None:
    scale = _DEGREE if angular else 1.0
    PARTIALS[f"mathieu_{name}_0"] = _by_last(3, lambda z, m, q, x: scale * special(
        f"mathieu_{name}_1", m, q, x))
    PARTIALS[f"mathieu_{name}_1"] = _by_last(3, lambda z, m, q, x: scale * _mathieu(
        kind, angular, z, m, q, x) * special(f"mathieu_{name}_0", m, q, x))


for _name, _kind in (("cem", "a"), ("sem", "b")):
    _of_mathieu(_name, _kind, angular=True)
    for _number in "12":
        _of_mathieu(f"mod{_name}{_number}", _kind, angular=False)


def _of_cylinder(name: str, factor: Formula) -> None:
    PARTIALS[f"{name}_0"] = _by_last(2, lambda z, v, x: special(f"{name}_1", v, x))
    PARTIALS[f"{name}_1"] = _by_last(2, lambda z, v, x: factor(v, x) * special(f"{name}_0", v, x))


for _name in ("pbdv", "pbvv"):
    _of_cylinder(_name, lambda v, x: 0.25 * x * x - v - 0.5)
_of_cylinder("pbwa", lambda a, x: a - 0.25 * x * x)


# --- spheroidal wave functions: 30.2.1, 30.2.4 and 30.2.7 ---------------------------------------


def _spheroidal(shape: str, radial: bool, m: Primal, c: Primal, value: Primal, x: Primal) -> Any:
    """Return the second derivative over the function, and over the first derivative."""
    square = -x * x if shape == "obl" and radial else x * x
    rest = 1.0 - square
    oblate = c * c * (1.0 if shape == "obl" else -1.0) * square
    return rest, value + oblate - m * m / rest


def _of_spheroid(shape: str, kind: str, how: str) -> None:
    name = f"{shape}_{kind}{how}"
    # of x below 1 along an angle, of x above 1, or imaginary, along a radius
    sign = -1.0 if shape == "obl" and kind != "ang1" else 1.0

    def second(z: Primal, m: Primal, n: Primal, c: Primal, *own: Primal) -> Any:
        *given, x = own
        value = given[0] if given else special(f"{shape}_cv", m, n, c)
        rest, factor = _spheroidal(shape, kind != "ang1", m, c, value, x)
        first = special(f"{name}_0", m, n, c, *own)
        return (2.0 * sign * x * z - sign * factor * first) / rest

    count = 5 if how else 4
    PARTIALS[f"{name}_0"] = _by_last(count, lambda z, *operands: special(f"{name}_1", *operands))
    PARTIALS[f"{name}_1"] = _by_last(count, second)


for _name in ("obl", "pro"):
    for _kind in ("ang1", "rad1"):  # SciPy's derivatives of rad2 are not those of its values
        for _how in ("", "_cv"):
            _of_spheroid(_name, _kind, _how)


# --- hypergeometric functions, Wright's: 13.3.22, 15.5.1, 10.46.1 -------------------------------

PARTIALS.update({
    "hyp0f1": _by_last(2, lambda z, v, x: special("hyp0f1", v + 1.0, x) / v),
    "hyperu": _by_last(3, lambda z, a, b, x: -a * special("hyperu", a + 1.0, b + 1.0, x)),
    "wright_bessel": _by_last(3, lambda z, a, b, x: special("wright_bessel", a, a + b, x)),
    "log_wright_bessel": _by_last(3, lambda z, a, b, x: np.exp(
        special("log_wright_bessel", a, a + b, x) - z)),
    "wrightomega": lambda z, x: (z / (1.0 + z),),
    "ndtri_exp": lambda z, y: (math.sqrt(2.0 * math.pi) * np.exp(y + 0.5 * z * z),)})
