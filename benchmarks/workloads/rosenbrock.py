"""b: Rosenbrock's function, of few and of many variables."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@numba.njit(error_model="numpy")
def hand(x: Any) -> Any:
    n = x.size
    g = np.empty(n)
    value = carry = 0.0
    for i in range(n - 1):
        t = x[i + 1] - x[i] * x[i]
        u = 1.0 - x[i]
        value += 100.0 * t * t + u * u
        g[i] = carry - 400.0 * t * x[i] - 2.0 * u
        carry = 200.0 * t
    g[n - 1] = carry
    return value, g


def arguments(n: int) -> tuple[Any, ...]:
    return (np.random.default_rng(0).normal(size=n),)


WORKLOADS = (
    Workload(key="b10", title="Rosenbrock n=10", plain=plain, arguments=lambda: arguments(10),
             hand=hand, at_most=1.3),
    Workload(key="b1e5", title="Rosenbrock n=1e5", plain=plain,
             arguments=lambda: arguments(100_000), hand=hand, at_least=1, at_most=1.3),
)
