"""Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's method.

Numba compiles the function. G. H. Golub and C. F. Van Loan, Matrix Computations, 8.5.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["symmetric_eigen"]

_SWEEPS = 60


def symmetric_eigen(a: np.ndarray, values: np.ndarray, vectors: np.ndarray, work: np.ndarray,
                    n: int) -> int:
    """Write the eigenvalues of a matrix in order, and vectors as columns; nonzero if that fails."""
    for k in range(n * n):
        work[k] = a[k] * 1.0
        if not abs(work[k]) < math.inf:
            return 1
        vectors[k] = 0.0
    for i in range(n):
        vectors[i * n + i] = 1.0
    for sweep in range(_SWEEPS):
        rotated = 0
        for p in range(n):
            for q in range(p + 1, n):
                apq = work[p * n + q]
                app, aqq = work[p * n + p], work[q * n + q]
                if abs(apq) <= 1e-17 * math.sqrt(abs(app)) * math.sqrt(abs(aqq)) or apq == 0.0:
                    continue
                if sweep > 4 and abs(app) + abs(apq) == abs(app) and abs(aqq) + abs(apq) == abs(
                        aqq):
                    work[p * n + q] = work[q * n + p] = 0.0
                    continue
                rotated += 1
                theta = 0.5 * (aqq - app) / apq
                t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                if abs(theta) > 1e150:
                    t = 0.5 / abs(theta)
                if theta < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    x, y = work[k * n + p], work[k * n + q]
                    work[k * n + p], work[k * n + q] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = work[p * n + k], work[q * n + k]
                    work[p * n + k], work[q * n + k] = c * x - s * y, s * x + c * y
                work[p * n + q] = work[q * n + p] = 0.0
                for k in range(n):
                    x, y = vectors[k * n + p], vectors[k * n + q]
                    vectors[k * n + p], vectors[k * n + q] = c * x - s * y, s * x + c * y
        if rotated == 0:
            break
    for i in range(n):
        values[i] = work[i * n + i]
    for i in range(n):  # in order
        least = i
        for j in range(i + 1, n):
            if values[j] < values[least]:
                least = j
        if least != i:
            values[i], values[least] = values[least], values[i]
            for k in range(n):
                x, y = vectors[k * n + i], vectors[k * n + least]
                vectors[k * n + i], vectors[k * n + least] = y, x
    return 0
