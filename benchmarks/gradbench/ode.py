"""GradBench's `ode`: y_i' = x_i y_(i-1), y_0' = x_0, by Runge and Kutta's method of order 4."""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation

END = 2.0


def slope(x: Any, y: Any) -> Any:
    z = np.empty_like(x)
    z[0] = x[0]
    z[1:] = x[1:] * y[:-1]
    return z


def solve(x: Any, steps: int) -> Any:
    h = END / steps
    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + h / 2 * k1)
        k3 = slope(x, y + h / 2 * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def last(x: Any, steps: int) -> Any:
    return solve(x, steps)[-1]


def prepare(given: Any) -> tuple[Any, ...]:
    return np.array(given["x"]), given["s"]


FUNCTIONS = {"primal": Evaluation(prepare, tracejit.jit(solve)),
             "gradient": Evaluation(prepare, tracejit.grad(last))}
