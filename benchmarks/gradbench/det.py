"""GradBench's `det`: a determinant by expansion by minors.

The minors of the first m rows are as many as the sets of m columns, and each is computed once; a
set is a number whose bits are its columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def minors(a: Any) -> Any:
    n = len(a)
    found = np.zeros(2**n)
    found[0] = 1.0
    for columns in range(1, 2**n):
        row = -1
        for j in range(n):
            row = row + (columns >> j & 1)
        after = row
        value = 0.0
        for j in range(n):
            if columns >> j & 1:
                sign = 1.0 - 2.0 * (after & 1)
                value = value + sign * a[row, j] * found[columns ^ (1 << j)]
                after = after - 1
        found[columns] = value
    return found[2**n - 1]


def prepare(given: Any) -> tuple[Any, ...]:
    return (np.array(given["A"]).reshape(given["ell"], given["ell"]),)


FUNCTIONS = {"primal": Evaluation(prepare, tracejit.jit(minors)),
             "gradient": Evaluation(prepare, tracejit.grad(minors), lambda g: g.ravel().tolist())}
