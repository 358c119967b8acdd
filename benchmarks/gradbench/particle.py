"""GradBench's `particle`: the charge's place for which a particle hits the origin.

`rf` is reverse mode outside, for the descent, and forward mode inside, for the force.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.descent import argmin
from benchmarks.gradbench.evaluation import Evaluation

STEP = 0.1
MODES: dict[str, Callable[..., Any]] = {"r": tracejit.jacrev, "f": tracejit.jacfwd}


def potential(x: Any, w: Any) -> Any:
    first = x - np.array([10.0, 10.0 - w])
    second = x - np.array([10.0, 0.0])
    return 1.0 / np.sqrt(np.sum(first * first)) + 1.0 / np.sqrt(np.sum(second * second))


def missed(w: Any, mode: str) -> Any:
    """Return the squared distance from the origin at which a particle crosses the axis."""
    x = np.array([0.0, 8.0])
    velocity = np.array([0.75, 0.0])
    force = MODES[mode](potential)
    while True:
        acceleration = -force(x, w)
        x = x + STEP * velocity
        if x[1] <= 0.0:
            break
        velocity = velocity + STEP * acceleration
    at = x[0] - x[1] / velocity[1] * velocity[0]
    return at * at


def control(outer: str, inner: str) -> Callable[[Any], Any]:
    """Return the argmin over w as a function of its start."""
    def minimum(w: Any) -> Any:
        return argmin(lambda u: missed(u, inner),
                      MODES[outer](lambda u: missed(u, inner)), w)

    return tracejit.jit(minimum)


FUNCTIONS = {outer + inner: Evaluation(lambda given: (float(given["w"]),), control(outer, inner))
             for outer in "rf" for inner in "rf"}
