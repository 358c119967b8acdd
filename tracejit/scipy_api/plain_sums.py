"""Recursions over how many numbers there are, as Python would have them.

Captured like users' functions, on arrays with a last axis of places; a loop goes on until the last
element is done. They have derivatives.
"""

from __future__ import annotations

import numpy as np

__all__ = ["chances_of_counts", "ladder", "spread_sums"]


def spread_sums(part: np.ndarray, places: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the densities of a sum of n uniform numbers at a fraction and each whole number more.

    The recursion adds positive numbers alone: C. de Boor, "A Practical Guide to Splines".

    part   -- the fraction, with a last axis of one
    places -- 0, 1, 2, ... up to n or more
    n      -- the count, with a last axis of one
    """
    at = part + places
    found = 0.0 * at + np.where(places == 0.0, 1.0, 0.0)
    k = 2.0
    while np.any(k <= n):
        before = np.concatenate([0.0 * found[..., :1], found[..., :-1]], axis=-1)
        found = np.where(k <= n, (at * found + (k - at) * before) / (k - 1.0), found)
        k = k + 1.0
    return found


def ladder(start: np.ndarray, step: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return a row times a power of a matrix, over n! (e / n) ** n.

    start, step, n -- (..., size), (..., size, size), and the power, with a last axis of one
    """
    found = start
    k = 1.0
    while np.any(k <= n):
        after = np.sum(np.expand_dims(found, -1) * step, axis=-2)
        found = np.where(k <= n, after * 0.36787944117144233, found)
        k = k + 1.0
    return found


def chances_of_counts(p: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the probabilities of each number of events, of independent ones.

    p      -- (..., events): the probabilities of the events
    places -- 0, 1, 2, ... up to the number of events
    """
    found = np.where(places == 0.0, 1.0, 0.0) + 0.0 * np.sum(p, axis=-1, keepdims=True)
    for k in range(p.shape[-1]):
        one = p[..., k:k + 1]
        before = np.concatenate([0.0 * found[..., :1], found[..., :-1]], axis=-1)
        found = (1.0 - one) * found + one * before
    return found
