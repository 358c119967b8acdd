"""GradBench's `hello`: a square, and twice a number as the gradient of its square."""

from __future__ import annotations

from typing import Any

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def square(x: Any) -> Any:
    return x * x


FUNCTIONS = {"square": Evaluation(lambda x: (x,), tracejit.jit(square)),
             "double": Evaluation(lambda x: (x,), tracejit.grad(square))}
