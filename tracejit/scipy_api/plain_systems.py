"""Linear systems and peaks as Python would have them: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["crossings", "driven", "prominences", "stepped"]


def driven(grown: np.ndarray, given: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return states of a system, a row for each time: each is the last one's times `grown`, and
    the row of `given`."""
    states = np.zeros((len(given) + 1, len(start)), start.dtype)
    states[0] = start
    for i in range(len(given)):
        states[i + 1] = states[i] @ grown + given[i]
    return states


def stepped(a: np.ndarray, given: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return as many states of a system as there are rows in `given`, the first of which is
    `start`."""
    states = np.zeros((len(given), len(start)))
    states[0] = start
    for i in range(len(given) - 1):
        states[i + 1] = a @ states[i] + given[i]
    return states


def prominences(x: np.ndarray, peaks: np.ndarray,
                wide: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how far peaks are above their surroundings, and where these are lowest.

    wide -- within how many points on each side of a peak
    """
    high = np.zeros(len(peaks))
    left = np.zeros(len(peaks), np.int64)
    right = np.zeros(len(peaks), np.int64)
    for p in range(len(peaks)):
        peak = peaks[p]
        first, last = max(peak - wide, 0), min(peak + wide, len(x) - 1)
        i = base = peak
        while i >= first and x[i] <= x[peak]:
            if x[i] < x[base]:
                base = i
            i -= 1
        left[p] = base
        i = base = peak
        while i <= last and x[i] <= x[peak]:
            if x[i] < x[base]:
                base = i
            i += 1
        right[p] = base
        high[p] = x[peak] - max(x[left[p]], x[right[p]])
    return high, left, right


def crossings(x: np.ndarray, peaks: np.ndarray, heights: np.ndarray, left: np.ndarray,
              right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where lines through points are at heights, next to the left and right of peaks."""
    low = np.zeros(len(peaks))
    high = np.zeros(len(peaks))
    for p in range(len(peaks)):
        i = peaks[p]
        while i > left[p] and x[i] > heights[p]:
            i -= 1
        low[p] = i
        if x[i] < heights[p]:
            low[p] = i + (heights[p] - x[i]) / (x[i + 1] - x[i])
        i = peaks[p]
        while i < right[p] and x[i] > heights[p]:
            i += 1
        high[p] = i
        if x[i] < heights[p]:
            high[p] = i - (heights[p] - x[i]) / (x[i - 1] - x[i])
    return low, high
