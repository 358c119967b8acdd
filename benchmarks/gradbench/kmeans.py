"""GradBench's `kmeans`: Newton's direction of the sum of squared distances to the next centroid.

The Hessian is diagonal, so its product with ones is its diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation


def cost(centroids: Any, points: Any) -> Any:
    difference = points[:, None, :] - centroids[None, :, :]
    return np.sum(np.min(np.sum(difference * difference, axis=2), axis=1))


def direction(centroids: Any, points: Any) -> Any:
    gradient, diagonal = tracejit.jvp(lambda c: tracejit.grad(cost)(c, points), (centroids,),
                                      (np.ones_like(centroids),))
    return gradient / diagonal


def prepare(given: Any) -> tuple[Any, ...]:
    return np.array(given["centroids"]), np.array(given["points"])


FUNCTIONS = {"cost": Evaluation(prepare, tracejit.jit(cost)),
             "dir": Evaluation(prepare, tracejit.jit(direction))}
