"""c: a chain of ten transcendental functions over a million elements."""

from __future__ import annotations

from collections.abc import Callable
from math import atan, cos, exp, log, log1p, sin, sqrt, tanh
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload, with_names


def plain(x: Any) -> Any:
    y = np.sin(x)
    y = np.exp(y)
    y = np.tanh(y)
    y = np.log1p(y * y)
    y = np.cos(y)
    y = np.sqrt(1 + y * y)
    y = np.exp(-y)
    y = np.arctan(3 * y)
    y = np.tanh(y + x)
    y = np.log(2 + y)
    return np.sum(y)


def by_hand(x: Any) -> Any:
    n = x.size
    g = np.empty(n)
    s = 0.0
    for i in range(n):
        xi = x[i]
        y1 = sin(xi)
        y2 = exp(y1)
        y3 = tanh(y2)
        y4 = log1p(y3 * y3)
        y5 = cos(y4)
        y6 = sqrt(1 + y5 * y5)
        y7 = exp(-y6)
        y8 = atan(3 * y7)
        y9 = tanh(y8 + xi)
        s += log(2 + y9)
        dx = (1 - y9 * y9) / (2 + y9)
        a = dx * 3.0 / (1 + 9 * y7 * y7) * -y7 * (y5 / y6) * -sin(y4)
        a *= 2 * y3 / (1 + y3 * y3) * (1 - y3 * y3) * y2 * cos(xi)
        g[i] = dx + a
    return s, g


def hand_vec() -> Callable[..., Any]:
    from benchmarks.vector_math import vectorised

    names = {f: vectorised(f) for f in ("atan", "cos", "exp", "log", "log1p", "sin", "tanh")}
    compiled: Callable[..., Any] = numba.njit(error_model="numpy", fastmath=True)(
        with_names(by_hand, **names))
    return compiled


WORKLOAD = Workload(
    key="c", title="10 transcendentals, 1e6", plain=plain,
    arguments=lambda: (np.random.default_rng(0).uniform(-2, 2, 1_000_000),),
    hand=numba.njit(error_model="numpy")(by_hand), hand_vec=hand_vec,
    at_least=3, at_most=0.2)
