"""A search for the peak of a function and how far it reaches, as Python would have it.

Captured like users' functions, on arrays. Nothing that is found here has a derivative.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["peak_between"]

SHARE = 0.6180339887498949
"""The golden ratio's, by which an interval shrinks in each step."""
FLAT = 0.3
"""By how much the ends of an interval may be below its middle where a peak is found."""
NEAREST = 1e-14
"""The least distance that is looked at."""


def peak_between(at: Callable[..., np.ndarray], low: np.ndarray, high: np.ndarray,
                 depths: tuple[float, float]) -> tuple[np.ndarray, ...]:
    """Return where a function with one peak has it, and how far left and right it is less.

    The distances are those of the first depth, left and right, and those of the second.

    at        -- the function; minus infinity is less than any number
    low, high -- the ends of where to look, and of what is returned
    depths    -- how much less
    """
    first, last = low, high
    near, far = last - SHARE * (last - first), first + SHARE * (last - first)
    of_near, of_far = at(near), at(far)
    of_first, of_last = 0.0 * of_near - np.inf, 0.0 * of_far - np.inf
    least_width, going = 1e-13 * (high - low), True
    while going:
        left = of_near >= of_far
        of_first, of_last = np.where(left, of_first, of_near), np.where(left, of_far, of_last)
        first, last = np.where(left, first, near), np.where(left, far, last)
        tried = np.where(left, last - SHARE * (last - first), first + SHARE * (last - first))
        of_tried = at(tried)
        of_near, of_far = np.where(left, of_tried, of_far), np.where(left, of_near, of_tried)
        near, far = np.where(left, tried, far), np.where(left, near, tried)
        steep = np.minimum(of_first, of_last) < np.maximum(of_near, of_far) - FLAT
        going = bool(np.any(steep & (last - first > least_width)))
    peak = 0.5 * first + 0.5 * last
    top, sides = at(peak), (peak - low, high - peak)
    near, far = depths
    return (peak, *reached(at, peak, *sides, top - near), *reached(at, peak, *sides, top - far))


def reached(at: Callable[..., np.ndarray], peak: np.ndarray, left: np.ndarray, right: np.ndarray,
            least: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far left and right of its peak a function is more than a least number."""
    ends = [np.log(NEAREST) + 0.0 * peak, np.log(np.maximum(left, NEAREST)),
            np.log(NEAREST) + 0.0 * peak, np.log(np.maximum(right, NEAREST))]
    within, beyond, inside, outside = ends
    going = True
    while going:
        middle, other = 0.5 * (within + beyond), 0.5 * (inside + outside)
        more, further = at(peak - np.exp(middle)) > least, at(peak + np.exp(other)) > least
        within, beyond = np.where(more, middle, within), np.where(more, beyond, middle)
        inside, outside = np.where(further, other, inside), np.where(further, outside, other)
        going = bool(np.any(np.maximum(beyond - within, outside - inside) > 1e-2))
    return np.minimum(np.exp(beyond), left), np.minimum(np.exp(outside), right)
