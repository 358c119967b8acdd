"""The order of objects that methods of their own compare: captured like users' functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["order_by_comparing"]


def _require_a_strict_order(keys: Sequence[float], order: np.ndarray) -> None:
    """Raise an error unless keys that are equal one by one are so to all others, as no NaN is."""
    first, before = 0, -1  # of the keys equal to the last one, and of those in front of them
    for k in range(1, len(order)):
        is_next = bool(keys[order[k - 1]] < keys[order[k]])
        is_strict = bool(keys[order[first]] < keys[order[k]]) == is_next
        if is_next:
            before, first = first, k
        elif before >= 0 and not keys[order[before]] < keys[order[k]]:
            is_strict = False
        if not is_strict:
            raise ValueError("a list is sorted of which the order rests on the items that Python "
                             "compares: a NaN may be in it")


def order_by_comparing(keys: Sequence[float]) -> np.ndarray:
    """Return the indices that sort keys with an `__lt__` of their own; equal keys stay in order."""
    n = len(keys)
    order = np.arange(n)
    for end in range(1, n):
        lo, hi = 0, end
        while lo < hi:
            middle = (lo + hi) // 2
            if keys[end] < keys[order[middle]]:
                hi = middle
            else:
                lo = middle + 1
        for k in range(end, 0, -1):
            if k > lo:
                order[k] = order[k - 1]
        order[lo] = end
    _require_a_strict_order(keys, order)
    return order
