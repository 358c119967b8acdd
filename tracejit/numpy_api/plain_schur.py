"""From a real Schur form to a complex one, as Python would have it; captured like users' functions.

G. H. Golub and C. F. Van Loan, "Matrix Computations", on the turns that take one number away.
"""

from __future__ import annotations

import numpy as np

__all__ = ["turned_to_complex"]


def turned_to_complex(t: np.ndarray, z: np.ndarray, small: float,
                      places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a triangular matrix and its unitary one, of a real Schur form in complex numbers.

    small  -- below which share of its neighbours a number under the diagonal is none
    places -- 0, 1, 2, ... up to the size
    """
    t, z = t + 0.0, z + 0.0
    for k in range(t.shape[0] - 1):
        m = t.shape[0] - 1 - k
        if np.abs(t[m, m - 1]) > small * (np.abs(t[m - 1, m - 1]) + np.abs(t[m, m])):
            block = np.stack([np.stack([t[m - 1, m - 1], t[m - 1, m]]),
                              np.stack([t[m, m - 1], t[m, m]])])
            away = np.linalg.eigvals(block)[0] - t[m, m]
            length = np.sqrt(away.real ** 2 + away.imag ** 2
                             + t[m, m - 1].real ** 2 + t[m, m - 1].imag ** 2)
            c, s = away / length, t[m, m - 1] / length
            right, above = places >= m - 1, places <= m
            first, second = t[m - 1] + 0.0, t[m] + 0.0
            t[m - 1] = np.where(right, np.conj(c) * first + s * second, first)
            t[m] = np.where(right, c * second - s * first, second)
            first, second = t[:, m - 1] + 0.0, t[:, m] + 0.0
            t[:, m - 1] = np.where(above, c * first + np.conj(s) * second, first)
            t[:, m] = np.where(above, np.conj(c) * second - np.conj(s) * first, second)
            first, second = z[:, m - 1] + 0.0, z[:, m] + 0.0
            z[:, m - 1] = c * first + np.conj(s) * second
            z[:, m] = np.conj(c) * second - np.conj(s) * first
        t[m, m - 1] = 0.0
    return t, z
