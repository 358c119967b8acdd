"""Second derivatives of H. H. Rosenbrock's valley, of `scipy.optimize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse

__all__: list[str] = []


def _parts(x: np.ndarray) -> tuple[Any, Any]:
    """Return the main diagonal of the second derivatives, and that beside it."""
    if x.ndim != 1 or known_length(x, "how many numbers a point has") < 2:
        raise refuse("the second derivatives of scipy.optimize.rosen of a single number, or of a "
                     "stack of points, cannot be captured", "Pass a point of two numbers or more",
                     "TJ213")
    first = 1200 * x[:1] ** 2 - 400 * x[1:2] + 2
    inner = 202 + 1200 * x[1:-1] ** 2 - 400 * x[2:]
    return np.concatenate([first, inner, 0.0 * x[-1:] + 200.0]), -400 * x[:-1]


def rosen_hess(x: object) -> Any:
    """Return the matrix of second derivatives."""
    main, beside = _parts(as_inexact(x))  # type: ignore[arg-type]
    return np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1)


def rosen_hess_prod(x: object, p: object) -> Any:
    """Return the matrix of second derivatives times a vector."""
    main, beside = _parts(as_inexact(x))  # type: ignore[arg-type]
    v: Any = as_inexact(p)
    if known_length(v, "how many numbers a direction has") != known_length(
            main, "how many numbers a point has"):
        raise refuse("scipy.optimize.rosen_hess_prod of a point and a direction of unlike lengths "
                     "cannot be captured", "Pass as many numbers for each", "TJ213")
    ahead, back, none = beside * v[1:], beside * v[:-1], np.zeros(1)
    return main * v + np.concatenate([ahead, none]) + np.concatenate([none, back])


captures_of_finite("scipy.optimize", {"rosen_hess": rosen_hess, "rosen_hess_prod": rosen_hess_prod})
