"""`scipy.optimize.linear_sum_assignment`, called back: places, which have no derivative."""

from __future__ import annotations

import numpy as np

from tracejit.ir.dims import minimum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.callbacks import call_back
from tracejit.ops.calls import stop_gradient
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.tree import flatten

__all__ = ["assigned"]


def assigned(costs: np.ndarray, maximize: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of an assignment of least cost."""
    import scipy.optimize

    rows, columns = scipy.optimize.linear_sum_assignment(costs, maximize)
    return np.asarray(rows, np.int64), np.asarray(columns, np.int64)


def linear_sum_assignment(cost_matrix: object, maximize: object = False) -> tuple[object, ...]:
    """Return the rows and columns of an assignment of least cost."""
    costs = as_tracer(cost_matrix)
    if len(costs.dims) != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {len(costs.dims)} array")
    size = minimum(*costs.dims)
    places = np.dtype(np.int64)
    return tuple(call_back(assigned, (stop_gradient(costs), maximize), flatten((0, 0))[1],
                           ("array", "array"), (places, places), ((size,), (size,))))


scipy_captures("scipy.optimize", {"linear_sum_assignment": linear_sum_assignment})
