"""Searches for quantiles and sums of probabilities, as Python would have them.

Captured like users' functions, on arrays: a loop goes on until the last element is done. Nothing
that is found here has a derivative but the sums; `quantiles.py` gives quantiles theirs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["least_count", "quantile_between", "total"]

MOST = 1500
"""How many steps a search takes: more than bisecting all doubles does."""


ALIKE = 1e-12
"""By how much the logarithms of two shares differ where a step more is the last one.

Of a number near 0 that has no digits of its own: the median of what is symmetric, say.
"""


def quantile_between(at: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]], p: np.ndarray,
                     q: np.ndarray, low: np.ndarray, high: np.ndarray,
                     start: np.ndarray) -> np.ndarray:
    """Return where a share p of a distribution is below, and q = 1 - p above.

    Newton's method on the logarithm of the smaller share, kept between ends that close in.

    at -- of numbers: the shares below and above them, and the density
    low, high, start -- the ends of the support, which may be infinite, and a number inside
    """
    small = p <= q
    wanted = np.where(small, p, q)
    y, step = start, 0.5 + 0.0 * start
    before = 0.0 * start + np.inf
    count, going = 0, True
    while going and count < MOST:
        count += 1
        below, above, density = at(y)
        share = np.where(small, below, above)
        left = np.where(small, share < wanted, share > wanted)
        low, high = np.where(left, y, low), np.where(left, high, y)
        some = (share > 0.0) & (density > 0.0)
        off = np.log(wanted) - np.log(np.where(some, share, 1.0))
        move = np.where(some, share, 1.0) / np.where(some, density, 1.0) * off
        move = np.where(some, np.where(small, move, -move), np.inf)
        near = (np.abs(move) <= 1e-8 * np.abs(y)) | (some & (np.abs(off) <= ALIKE))
        tried = y + move
        fine = (tried > low) & (tried < high) & (np.abs(move) <= 0.5 * before)
        leap = np.maximum(step, np.abs(y))
        half = np.where(np.isinf(high), y + leap, np.where(np.isinf(low), y - leap,
                                                           0.5 * low + 0.5 * high))
        after = np.where(fine | near, tried, half)
        step = 2.0 * step
        before = np.where(fine, np.abs(move), np.inf)
        closed = np.logical_not(np.abs(after - y) > 1e-16 * np.abs(y))
        y = np.where((after >= low) & (after <= high), after, y)
        going = bool(np.any(np.logical_not(near | closed)))
    return y


def least_count(below: Callable[..., np.ndarray], p: np.ndarray, low: np.ndarray,
                high: np.ndarray) -> np.ndarray:
    """Return the least whole number up to which a share p of a distribution lies.

    below     -- the distribution function
    low, high -- a number below the first one, and the last one; either may be infinite
    """
    wanted = p * (1.0 - 2e-16 * 8)
    far, step = np.isinf(low), 1.0 + 0.0 * p
    low = np.where(far, -1.0, low)
    while np.any(far):
        far = far & (below(low) >= wanted) & (low > -1e15)
        high = np.where(far, low, high)
        low = np.where(far, low - step, low)
        step = 2.0 * step
    far, step = np.isinf(high), 1.0 + 0.0 * p
    high = np.where(far, low + 1.0, high)
    while np.any(far):
        far = far & (below(high) < wanted) & (high < 1e15)
        low = np.where(far, high, low)
        high = np.where(far, high + step, high)
        step = 2.0 * step
    while np.any(high - low > 1.0):
        middle = np.floor(0.5 * (low + high))
        there = below(middle) >= wanted
        high, low = np.where(there, middle, high), np.where(there, low, middle)
    return high


def total(mass: Callable[..., np.ndarray], first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the sum of a function of whole numbers from the first one to the last one."""
    k, result = first, 0.0 * first
    while np.any(k <= last):
        inside = k <= last
        result = result + np.where(inside, mass(np.where(inside, k, first)), 0.0)
        k = k + 1.0
    return result
