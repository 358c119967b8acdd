"""Special functions of statistics and probability, under SciPy's names where it has them.

Derivatives after Abramowitz and Stegun, chapters 6 and 7.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.bessel import i0e, i1e
from tracejit.ir.quantiles import normal_quantile
from tracejit.ops.cotangents import Primal
from tracejit.ops.gamma import digamma
from tracejit.ops.kinds import elementwise
from tracejit.trace.values.equations import apply

__all__: list[str] = []

_2_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _reference(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a function of one number as one of arrays that keeps their dtype."""
    whole = np.vectorize(function, otypes=[np.float64])
    return lambda x: whole(x).astype(np.asarray(x).dtype)


elementwise("erf", None, "erf({0})", lambda z, x: (_2_BY_ROOT_PI * np.exp(-x * x),), cost=14.0,
            reference=_reference(math.erf), scipy=True)
elementwise("entr", None, "select({0} > {zero}, -{0} * log({0}), select({0} == {zero}, {zero}, "
            "log(select({0} < {zero}, {zero}, {0}))))",
            lambda z, x: (-np.log(np.where(x < 0.0, math.exp(-1.0), x)) - 1.0,), cost=12.0,
            reference=_reference(lambda x: -x * math.log(x) if x > 0.0 else -math.inf if x < 0.0
                                 else x * x), domain=(0.1, 2.0), scipy=True)
elementwise("erfc", None, "erfc({0})", lambda z, x: (-_2_BY_ROOT_PI * np.exp(-x * x),), cost=14.0,
            reference=_reference(math.erfc), scipy=True)


# --- Bessel functions of the first kind: Abramowitz and Stegun, chapter 9 -------------------------


def _of_libm(name: str) -> Callable[[float], float]:
    """Return a function of C's library that Python's `math` lacks."""
    def call(x: float) -> float:
        function = getattr(ctypes.CDLL(None), name)
        function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
        return float(function(x))

    return call


def _over_argument(z: Primal, x: Primal, sign: float, scale: object = 1.0) -> Any:
    """Return J1(x) / x, or I1(x) / x with a sign of 1: near 0 by the series, times a scale.

    The derivatives of the quotient z / x are differences of numbers that are 1 / x times as large.
    """
    near = np.abs(x) < 0.5
    square = np.where(near, 0.25 * x * x, 0.0)
    series: Any = 1.0
    for k in range(8, 0, -1):
        series = 1.0 + sign * square / (k * (k + 1)) * series
    return np.where(near, 0.5 * series * scale, z / np.where(near, 1.0, x))


def _j1_partial(z: Primal, x: Primal) -> Any:
    """The derivative of J1, J0(x) - J1(x) / x; a half at 0."""
    return apply("j0", x) - _over_argument(z, x, -1.0)


elementwise("j0", None, "j0({0})", lambda z, x: (-apply("j1", x),), cost=20.0,
            reference=_reference(_of_libm("j0")), scipy=True)
elementwise("j1", None, "j1({0})", lambda z, x: (_j1_partial(z, x),), cost=20.0,
            reference=_reference(_of_libm("j1")), scipy=True)
elementwise("y0", None, "y0({0})", lambda z, x: (-apply("y1", x),), cost=20.0,
            reference=_reference(_of_libm("y0")), scipy=True, domain=(0.2, 4.0))
elementwise("y1", None, "y1({0})", lambda z, x: (apply("y0", x) - z / x,), cost=20.0,
            reference=_reference(_of_libm("y1")), scipy=True, domain=(0.2, 4.0))


# --- modified Bessel functions ------------------------------------------------------------------


def _i1e_partial(z: Primal, x: Primal) -> Any:
    """The derivative of exp(-|x|) I1(x): exp(-|x|) I0(x) less z / x and sign(x) z; a half at 0."""
    ratio = _over_argument(z, x, 1.0, np.exp(-np.abs(x)))
    return apply("i0e", x) - ratio - np.sign(x) * z


elementwise("i0e", None, "i0e({0})", lambda z, x: (apply("i1e", x) - np.sign(x) * z,), cost=40.0,
            reference=_reference(i0e), scipy=True)
elementwise("i1e", None, "i1e({0})", lambda z, x: (_i1e_partial(z, x),), cost=40.0,
            reference=_reference(i1e), scipy=True)
elementwise("i0", None, "exp(fabs({0})) * i0e({0})", lambda z, x: (apply("i1", x),), cost=50.0,
            reference=_reference(lambda x: float(np.exp(abs(x))) * i0e(x)), scipy=True)
elementwise("i1", None, "exp(fabs({0})) * i1e({0})", lambda z, x: (
    apply("i0", x) - _over_argument(z, x, 1.0),), cost=50.0,
            reference=_reference(lambda x: float(np.exp(abs(x))) * i1e(x)), scipy=True)


# --- quantiles ----------------------------------------------------------------------------------


_ROOT_2_PI = math.sqrt(2.0 * math.pi)
_quantiles = np.vectorize(normal_quantile, otypes=[np.float64])

elementwise("normal_quantile", None, "normal_quantile({0}, {1})",
            lambda z, q, tail: (_ROOT_2_PI * np.exp(0.5 * z * z), None), cost=40.0,
            reference=lambda q, tail: _quantiles(q, tail).astype(np.asarray(q).dtype),
            domain=(0.05, 0.3))


# --- the gamma function -------------------------------------------------------------------------


elementwise("lgamma", None, "lgamma({0})", lambda z, x: (digamma(x),), cost=30.0,
            reference=_reference(_of_libm("lgamma")), domain=(0.2, 4.0))
elementwise("tgamma", None, "tgamma({0})", lambda z, x: (z * digamma(x),), cost=30.0,
            reference=_reference(_of_libm("tgamma")), domain=(0.2, 4.0))
