"""GradBench's `llsq`: a polynomial fitted to the sign of t at n points of [-1, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def squares(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        t = -1.0 + i * 2.0 / (n - 1.0)
        residual = np.sign(t)
        power = 1.0
        for j in range(len(x)):
            residual = residual - x[j] * power
            power = power * t
        total = total + residual * residual
    return total / 2.0


def prepare(given: Any) -> tuple[Any, ...]:
    return np.array(given["x"]), given["n"]


FUNCTIONS = {"primal": Evaluation(prepare, tracejit.jit(squares)),
             "gradient": Evaluation(prepare, tracejit.grad(squares))}
