"""`scipy.spatial.procrustes`: how far two sets of points differ but for place, size and turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import require_items
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN, scipy_captures
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _points(data: object) -> Any:
    given = as_tracer(data)
    if given.dtype.kind == "c":
        raise refuse("scipy.spatial.procrustes of complex numbers cannot be captured",
                     "Take their real parts", "TJ206")
    return cast(given, np.float64)


def procrustes(data1: object, data2: object) -> tuple[Any, Any, Any]:
    """Return two sets of points, both standardised and the second one fitted, and what is left."""
    first, second = _points(data1), _points(data2)
    if first.ndim != 2 or second.ndim != 2:
        raise ValueError("Input matrices must be two-dimensional")
    if not all(same_dim(p, q) for p, q in zip(first.dims, second.dims, strict=True)):
        raise ValueError("Input matrices must be of same shape")
    for d in first.dims:
        require_items(d, ValueError, "Input matrices must be >0 rows and >0 cols")
    centred: list[Any] = [x - np.mean(x, axis=0) for x in (first, second)]
    sizes: list[Any] = [np.linalg.norm(x) for x in centred]
    require((sizes[0] != 0.0) & (sizes[1] != 0.0), ValueError,
            "Input matrices must contain >1 unique points")
    left, right = (x / size for x, size in zip(centred, sizes, strict=True))
    turn, scale = FOREIGN["scipy.linalg.orthogonal_procrustes"](left, right)
    fitted = np.dot(right, turn.T) * scale
    return left, fitted, np.sum(np.square(left - fitted))


scipy_captures("scipy.spatial", {"procrustes": procrustes})
