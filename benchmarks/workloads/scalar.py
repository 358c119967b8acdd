"""a: a function of one number."""

from __future__ import annotations

from math import cos, exp, log1p, sin
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(x: Any) -> Any:
    return np.sin(x) * np.exp(-x * x) + np.log1p(x * x)


@numba.njit(error_model="numpy")
def hand(x: Any) -> Any:
    x2 = x * x
    e = exp(-x2)
    s = sin(x)
    return s * e + log1p(x2), cos(x) * e - 2 * x * s * e + 2 * x / (1 + x2)


WORKLOAD = Workload(key="a", title="scalar function", plain=plain, arguments=lambda: (0.7,),
                    hand=hand, at_least=25, at_most=1.3)
