"""Special functions of statistics and probability, under SciPy's names where it has them.

Derivatives after Abramowitz and Stegun, chapters 6 and 7.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ops.cotangents import Primal
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


def _j1_partial(z: Primal, x: Primal) -> Any:
    """The derivative of J1, J0(x) - J1(x) / x; a half at 0."""
    is_zero = x == 0.0
    return apply("j0", x) - np.where(is_zero, 0.5, z / np.where(is_zero, 1.0, x))


elementwise("j0", None, "j0({0})", lambda z, x: (-apply("j1", x),), cost=20.0,
            reference=_reference(_of_libm("j0")), scipy=True)
elementwise("j1", None, "j1({0})", lambda z, x: (_j1_partial(z, x),), cost=20.0,
            reference=_reference(_of_libm("j1")), scipy=True)
