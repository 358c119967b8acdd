"""Bands and pairs of complex numbers as Python would have them: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["band_factor", "band_solution", "real_pairs"]


def band_factor(band: np.ndarray) -> np.ndarray:
    """Return A. Cholesky's lower factor of a positive definite band, as such a band: its rows are
    the diagonals, the main one first."""
    c = band.copy()
    width, n = band.shape
    for j in range(n):
        if not c[0, j].real > 0.0:
            raise np.linalg.LinAlgError(f"{j + 1}-th leading minor not positive definite")
        c[0, j] = np.sqrt(c[0, j].real)
        count = min(width, n - j)
        for k in range(1, count):
            c[k, j] = c[k, j] / c[0, j]
        for k in range(1, count):
            for i in range(k, count):
                c[i - k, j + k] -= c[i, j] * np.conj(c[k, j])
    return c


def band_solution(c: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the solutions of a system whose lower factor is a band, a column for each."""
    y = b.copy()
    width, n = c.shape
    for j in range(n):
        y[j] = y[j] / c[0, j]
        for k in range(1, min(width, n - j)):
            y[j + k] -= c[k, j] * y[j]
    for i in range(n):
        j = n - 1 - i
        for k in range(1, min(width, n - j)):
            y[j] -= np.conj(c[k, j]) * y[j + k]
        y[j] = y[j] / np.conj(c[0, j])
    return y


def real_pairs(w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and vectors, in pairs that are conjugate, as real blocks and vectors."""
    values = np.diag(w.real)
    vectors = v.real.copy()
    first = -1
    for k in range(len(w)):
        if w[k].imag != 0.0:
            if first < 0:
                first = k
            else:
                values[first, k] = w[first].imag
                values[k, first] = w[k].imag
                vectors[:, first] = 0.5 * (v[:, k].imag - v[:, first].imag)
                vectors[:, k] = 0.5 * (v[:, k].real + v[:, first].real)
                first = -1
    if first >= 0:
        raise ValueError("expected complex-conjugate pairs of eigenvalues")
    return values, vectors
