"""Whether SciPy takes a covariance matrix for a definite one; captured like users' functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["require_definite"]

SHARE = 1e6 * 2.220446049250313e-16
"""The share of the largest eigenvalue up to which SciPy takes another for 0."""


def require_definite(matrix: np.ndarray, least: np.ndarray, trace: np.ndarray,
                     inverse: Callable[[], np.ndarray]) -> np.ndarray:
    """Raise SciPy's error of a matrix of which an eigenvalue is 0 to so many digits.

    The eigenvalues are asked only where two bounds do not tell.

    least, trace -- a number below all eigenvalues, and their sum
    inverse      -- the inverse of Cholesky's factor, whose squares have the sum of the reciprocals
    """
    is_definite = least > SHARE * trace
    if np.logical_not(is_definite) and np.logical_not(
            trace * np.sum(inverse() ** 2) * SHARE < 1.0):
        values = np.linalg.eigvalsh(matrix)
        if np.logical_not(np.min(values) > SHARE * np.max(np.abs(values))):
            raise np.linalg.LinAlgError("When `allow_singular is False`, the input matrix must be "
                                        "symmetric positive definite.")
    return is_definite
