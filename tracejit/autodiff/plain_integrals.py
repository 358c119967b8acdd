"""Integrals by bisection alone, in Python that is captured: the intervals, and the sums over them.

Without QUADPACK's extrapolation, whose estimate of the error is too small by nine digits where a
function jumps inside of an interval, as slopes by a moving kink do.

A place between 0 and 1 is given by its distance from one end, so that bisection goes on towards
either end as far as numbers go. In halves the distance is 8 u^4: functions that are as x^-1/2 at an
end are smooth in u, and none has to be known closer to the end than the user's numbers tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["MOST", "added_up", "intervals"]

MOST = 1000
"""The most intervals."""
_WANTED, _ALLOWED = (1e-10, 1e-13), (1e-6, 1e-8)
"""The errors for which no interval is bisected, and the largest: as parts of the integral of |f|,
and of that of what f is a small difference of."""
_MOVES = 20
"""How often intervals that have no halves are moved by a little."""
_AT_ENDS = 4e-11
"""How far apart the two places next to an end are, for what they are, if it is come closer to."""
_EPS, _TINY, _HUGE = 2.220446049250313e-16, 2.2250738585072014e-308, 1e300
Function = Callable[[float, float], tuple[float, float, float]]
"""(distance, is_far) -> the value at a place, what it is a small difference of, if it is small, and
the place in the user's numbers."""
Rule = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The places of Kronrod's rule from -1 to 1, the weights of Gauss's, and of Kronrod's."""


def placed(u: float, end: float) -> tuple[float, float, float]:
    """Return a distance, its slope by u, and whether it is the distance from 1.

    end -- 0 for the whole interval, 1 for the half at 0, 2 for the half at 1
    """
    if end == 0.0:
        return u, 1.0, 0.0
    return 8.0 * u ** 4, 32.0 * u ** 3, end - 1.0


def judged(f: Function, low: float, high: float, end: float,
           rule: Rule) -> tuple[float, float, float, bool]:
    """Return the error of an integral, those of the absolute values, and whether it has halves."""
    places, gauss, kronrod = rule
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    ys, terms, xs = np.zeros(21), np.zeros(21), np.zeros(21)
    for i in range(21):
        distance, slope, is_far = placed(middle + half * places[i], end)
        y, term, xs[i] = f(distance, is_far)
        ys[i], terms[i] = y * slope, term * slope
    total, size = np.sum(kronrod * ys), half * np.sum(kronrod * np.abs(ys))
    whole = half * np.sum(kronrod * np.abs(terms))
    spread = half * np.sum(kronrod * np.abs(ys - 0.5 * total))
    error = half * abs(total - np.sum(gauss * ys))
    first, second = (xs[11], xs[1]) if low == 0.0 < end else (xs[1], xs[0])
    apart = 100.0 * _EPS if low > 0.0 or end == 0.0 else _AT_ENDS
    has_halves = bool(abs(second - first) > apart * max(abs(first), abs(second)))
    if not np.isfinite(size):  # at this place alone, as far as is known: it is an end of a half
        return _HUGE, 0.0, 0.0, has_halves
    if spread != 0.0 and error != 0.0:
        error = spread * min(1.0, (200.0 * error / spread) ** 1.5)
    if size > _TINY / (50.0 * _EPS):
        error = max(50.0 * _EPS * size, error)
    return error, size, whole if np.isfinite(whole) else 0.0, has_halves


def intervals(f: Function, most: int, rule: Rule) -> tuple[np.ndarray, int, bool]:
    """Return intervals over which Kronrod's rule has the integral of a function from 0 to 1.

    Besides how many they are, and whether the estimate of the error is small. A row is the least
    and the largest u, and the end.
    """
    rows, errors, sizes = np.zeros((most, 3)), np.zeros(most), np.zeros((most, 2))
    has_halves = np.zeros(most, dtype=bool)
    rows[0, 1] = 1.0
    count, worst, moves, left, size, whole = 1, 0, 0, _HUGE, 0.0, 0.0
    goes_on = True
    while goes_on:
        for k in range(min(count, 2)):
            at = count - 1 if k else worst
            errors[at], sizes[at, 0], sizes[at, 1], has_halves[at] = judged(
                f, rows[at, 0], rows[at, 1], rows[at, 2], rule)
        left = np.sum(errors[:count])
        size, whole = np.sum(sizes[:count, 0]), np.sum(sizes[:count, 1])
        better = np.where(has_halves[:count] | (errors[:count] == _HUGE), errors[:count], 0.0)
        worst = int(np.argmax(better))
        goes_on = bool(left > _WANTED[0] * size + _WANTED[1] * whole and count < most
                       and moves < _MOVES and np.sum(better) > 0.1 * left)
        if goes_on and count == 1:
            rows[0, 1] = rows[1, 1] = 0.5
            rows[0, 2], rows[1, 2] = 1.0, 2.0
            count = 2
        elif goes_on and has_halves[worst]:
            rows[count] = rows[worst]
            rows[worst, 1] = rows[count, 0] = 0.5 * (rows[worst, 0] + rows[worst, 1])
            count += 1
        elif goes_on:  # a place of the rule is where the function is infinite
            rows[worst, :2] += 0.0137 * (rows[worst, 1] - rows[worst, 0])
            moves += 1
    return rows, count, bool(left <= _ALLOWED[0] * size + _ALLOWED[1] * whole)


def added_up(f: Callable[[float, float], tuple[np.ndarray, ...]], rows: np.ndarray, count: int,
             totals: list[np.ndarray], rule: Rule) -> list[np.ndarray]:
    """Return the sums of several functions by Kronrod's rule over intervals.

    totals -- zeros of the shapes of the functions' values
    """
    for k in range(count):
        middle, half = 0.5 * (rows[k, 0] + rows[k, 1]), 0.5 * (rows[k, 1] - rows[k, 0])
        for i in range(21):
            distance, slope, is_far = placed(middle + half * rule[0][i], rows[k, 2])
            ys = f(distance, is_far)
            weight = half * rule[2][i] * slope
            totals = [total + weight * y for total, y in zip(totals, ys, strict=True)]
    return totals
