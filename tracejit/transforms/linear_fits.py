"""`scipy.optimize.nnls`: linear least squares of numbers that are not below 0, called back."""

from __future__ import annotations

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.callbacks import call_back
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.equations import Policy, equations_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import cast
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.bounds import Bounded
from tracejit.tree import flatten

__all__ = ["fitted"]

_REAL = np.dtype(np.float64)


def fitted(a: np.ndarray, b: np.ndarray, maxiter: int | None) -> tuple[np.ndarray, float]:
    """Return SciPy's solution, and the norm of what is left."""
    import scipy.optimize

    x, left = scipy.optimize.nnls(a, b, maxiter=maxiter)
    return np.asarray(x, float), float(left)


def _slope(x: Tracer, a: Tracer, b: Tracer) -> object:
    return a.T @ (a @ x - b)


def nnls(A: object, b: object, *, maxiter: object = None) -> tuple[object, ...]:
    """Return the x >= 0 for which |A x - b| is least, and that norm."""
    matrix, right = as_tracer(A), as_tracer(b)
    if len(matrix.dims) != 2 or len(right.dims) != 1 or "c" in (matrix.dtype.kind,
                                                               right.dtype.kind):
        raise refuse("scipy.optimize.nnls of complex numbers, or of anything but a matrix and a "
                     "vector, cannot be captured", "Pass np.ravel(b)", "TJ206")
    matrix, right = cast(matrix, _REAL), cast(right, _REAL)
    (x, _) = call_back(fitted, (stop_gradient(matrix), stop_gradient(right), maxiter),
                       flatten((0.0, 0.0))[1], ("array", "float"), (_REAL, _REAL),
                       ((matrix.dims[1],), ()))
    ends = Bounded(0.0, np.inf, x)
    found = ends.with_derivatives(equations_of(_slope, x, (matrix, right)), x, Policy(1e-6))
    left: Tracer = matrix @ found - right
    return found, np.linalg.norm(left)


scipy_captures("scipy.optimize", {"nnls": nnls})
