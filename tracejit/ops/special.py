"""Special functions of statistics and probability, under SciPy's names where it has them.

Derivatives after Abramowitz and Stegun, chapters 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ops.kinds import elementwise

__all__: list[str] = []

_2_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _reference(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a function of one number as one of arrays that keeps their dtype."""
    whole = np.vectorize(function, otypes=[np.float64])
    return lambda x: whole(x).astype(np.asarray(x).dtype)


elementwise("erf", None, "erf({0})", lambda z, x: (_2_BY_ROOT_PI * np.exp(-x * x),), cost=14.0,
            reference=_reference(math.erf))
elementwise("entr", None, "select({0} > {zero}, -{0} * log({0}), select({0} == {zero}, {zero}, "
            "log(select({0} < {zero}, {zero}, {0}))))",
            lambda z, x: (-np.log(np.where(x < 0.0, math.exp(-1.0), x)) - 1.0,), cost=12.0,
            reference=_reference(lambda x: -x * math.log(x) if x > 0.0 else -math.inf if x < 0.0
                                 else x * x), domain=(0.1, 2.0))
elementwise("erfc", None, "erfc({0})", lambda z, x: (-_2_BY_ROOT_PI * np.exp(-x * x),), cost=14.0,
            reference=_reference(math.erfc))
