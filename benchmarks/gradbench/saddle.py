"""GradBench's `saddle`: min over x of max over y of |x|² - |y|², both by descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.descent import argmax, argmin
from benchmarks.gradbench.evaluation import Evaluation

MODES: dict[str, Callable[..., Any]] = {"r": tracejit.jacrev, "f": tracejit.jacfwd}


def surface(x: Any, y: Any) -> Any:
    return (x[0] ** 2 + x[1] ** 2) - (y[0] ** 2 + y[1] ** 2)


def highest(x: Any, start: Any, mode: str) -> Any:
    """Return where the surface is highest along y."""
    return argmax(lambda y: surface(x, y), MODES[mode](lambda y: surface(x, y)), start)


def saddle(outer: str, inner: str) -> Callable[[Any], Any]:
    """Return both points as a function of the start of each descent."""
    def points(start: Any) -> Any:
        def top(x: Any) -> Any:
            return surface(x, highest(x, start, inner))

        x = argmin(top, MODES[outer](top), start)
        return np.concatenate([x, highest(x, start, inner)])

    return tracejit.jit(points)


FUNCTIONS = {outer + inner: Evaluation(lambda given: (np.array(given["start"]),),
                                       saddle(outer, inner))
             for outer in "rf" for inner in "rf"}
