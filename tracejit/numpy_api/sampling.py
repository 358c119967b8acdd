"""Permutations and choices at random, as NumPy's `Generator` makes them: captured like users' code.

Each draws the same numbers as NumPy, in its order; `interval` and `below` of a generator are the
two C functions that give one integer of 0 to a largest one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

__all__ = ["chosen_places", "shuffle_in_place", "shuffled_places", "weighted_places"]


class Drawing(Protocol):
    """A generator, as it is asked for integers."""

    def interval(self, last: int) -> int:
        """Draw an integer of 0 to `last`, as shuffling does."""

    def below(self, last: int) -> int:
        """Draw an integer of 0 to `last`, as choosing does."""

    def random(self, size: object) -> np.ndarray:
        """Draw floats of [0, 1)."""


def shuffled_places(rng: Drawing, n: int) -> np.ndarray:
    """Return the indices of n items in another order."""
    places = np.arange(n)
    for k in range(n - 1):
        i = n - 1 - k
        j = rng.interval(i)
        held = places[j]
        places[j] = places[i]
        places[i] = held
    return places


def shuffle_in_place(rng: Drawing, x: np.ndarray, axis: int) -> None:
    """Put an array into another order along an axis; for one without elements nothing is drawn."""
    if x.size > 0:
        x[...] = np.take(x, shuffled_places(rng, x.shape[axis]), axis)


def weighted_places(rng: Drawing, n: int, size: object, p: np.ndarray,
                    tolerance: float) -> np.ndarray:
    """Return indices below n, drawn with probabilities, with replacement.

    tolerance -- by how much the sum of the probabilities may differ from 1
    """
    weights = np.asarray(p, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if weights.shape[0] != n:
        raise ValueError("a and p must have same size")
    total = np.sum(weights)
    if np.isnan(total):
        raise ValueError("Probabilities contain NaN")
    if np.any(weights < 0.0):
        raise ValueError("Probabilities are not non-negative")
    if np.abs(total - 1.0) > tolerance:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more "
                         "information.")
    summed = np.cumsum(weights)
    summed = summed / summed[-1]
    return np.searchsorted(summed, rng.random(size), side="right")


def chosen_places(rng: Drawing, n: int, count: int, shuffle: bool) -> np.ndarray:
    """Return so many indices below n, drawn without replacement."""
    if count > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    found = np.zeros(count, dtype=np.int64)
    if n > 10000 and count > n // (50 if shuffle else 20):
        every = np.arange(n)
        _shuffle_last(rng, every, max(n - count, 1))
        for k in range(count):
            found[k] = every[n - count + k]
    else:
        taken = np.zeros(n, dtype=bool)
        for k in range(count):  # Floyd's algorithm
            j = n - count + k
            place = rng.below(j)
            if taken[place]:
                place = j
            taken[place] = True
            found[k] = place
        if shuffle:
            _shuffle_last(rng, found, 1)
    return found


def _shuffle_last(rng: Drawing, xs: np.ndarray, first: int) -> None:
    """Exchange each item, from the last to number `first`, for one that is not behind it."""
    n = xs.shape[0]
    for k in range(n - first):
        i = n - 1 - k
        j = rng.below(i)
        held = xs[j]
        xs[j] = xs[i]
        xs[i] = held
