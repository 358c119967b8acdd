"""GradBench's `lse`: the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def logsumexp(x: Any) -> Any:
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def prepare(given: Any) -> tuple[Any, ...]:
    return (np.array(given["x"]),)


FUNCTIONS = {"primal": Evaluation(prepare, tracejit.jit(logsumexp)),
             "gradient": Evaluation(prepare, tracejit.grad(logsumexp))}
