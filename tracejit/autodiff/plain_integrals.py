"""Integrals of several functions by bisection alone, in Python that is captured.

Without QUADPACK's extrapolation, whose estimate of the error is too small by nine digits where a
function jumps inside of an interval, as slopes by a moving kink do.

A place between 0 and 1 is given by its distance from one end, so that bisection goes on towards
either end as far as numbers go. In halves the distance is 8 u^4: functions that are as x^-1/2 at an
end are smooth in u, and none has to be known closer to the end than the user's numbers tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["integrals"]

_MOST = 1000
"""The most intervals."""
_WANTED, _ALLOWED, _NOISE = 1e-10, 1e-6, 2e-15
"""The error with which no interval is bisected and the largest, as parts of the integral of a
function's absolute value; and what rounding makes, as a part of that of what it is a change of."""
_MOVES = 20
"""How often intervals that have no halves are moved by a little."""
_AT_ENDS = 4e-11
"""How far apart the two places next to an end are, for what they are, if it is come closer to."""
_EPS, _TINY, _HUGE = 2.220446049250313e-16, 2.2250738585072014e-308, 1e300
Functions = Callable[[float, float], tuple[np.ndarray, float, float]]
"""(distance, is_far) -> the values at a place, what they are small changes of, and the place in the
user's numbers."""
Rule = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The places of Kronrod's rule from -1 to 1, the weights of Gauss's, and of Kronrod's."""


def placed(u: float, end: float) -> tuple[float, float, float]:
    """Return a distance, its slope by u, and whether it is the distance from 1.

    end -- 0 for the whole interval, 1 for the half at 0, 2 for the half at 1
    """
    if end == 0.0:
        return u, 1.0, 0.0
    return 8.0 * u ** 4, 32.0 * u ** 3, end - 1.0


def judged(f: Functions, scales: np.ndarray, row: np.ndarray,
           rule: Rule) -> tuple[np.ndarray, bool, bool]:
    """Return what Kronrod's rule says of an interval, and whether it has halves.

    First the integrals, their errors by QUADPACK's estimate, beyond those of rounding, and the
    integrals of |f|; then whether all are finite: else they are zeros.
    """
    low, high, end = row
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    ys, terms, xs = np.zeros((21, len(scales))), np.zeros(21), np.zeros(21)
    distances = np.zeros(21)
    for i in range(21):
        distances[i], slope, is_far = placed(middle + half * rule[0][i], end)
        y, term, xs[i] = f(distances[i], is_far)
        ys[i], terms[i] = y * slope, term * slope
    gauss, kronrod = rule[1][:, None], rule[2][:, None]
    total, size = np.sum(kronrod * ys, axis=0), half * np.sum(kronrod * np.abs(ys), axis=0)
    spread = half * np.sum(kronrod * np.abs(ys - 0.5 * total), axis=0)
    error = half * np.abs(total - np.sum(gauss * ys, axis=0))
    ratio = 200.0 * error / np.where(spread == 0.0, 1.0, spread)
    error = np.where(spread == 0.0, error, spread * np.minimum(1.0, ratio * np.sqrt(ratio)))
    error = np.where(size > _TINY / (50.0 * _EPS), np.maximum(50.0 * _EPS * size, error), error)
    noise = _NOISE * half * np.sum(rule[2] * np.abs(terms) * coarseness(xs, distances, low, end))
    error = np.maximum(error - noise * scales, 0.0)
    first, second = (xs[11], xs[1]) if low == 0.0 < end else (xs[1], xs[0])
    apart = 100.0 * _EPS if low > 0.0 or end == 0.0 else _AT_ENDS
    has_halves = bool(abs(second - first) > apart * max(abs(first), abs(second)))
    is_finite = bool(np.all(np.isfinite(size)) and np.isfinite(noise))
    found = np.stack((half * total, error, size)) if is_finite else np.zeros((3, len(scales)))
    return found, is_finite, has_halves


def coarseness(xs: np.ndarray, distances: np.ndarray, low: float, end: float) -> np.ndarray:
    """Return how much coarser than numbers the distances of places from a finite end are."""
    if low > 0.0 or end == 0.0 or abs(xs[11]) > 10.0 * abs(xs[0]):
        return np.ones(21)
    length = abs(xs[0] - xs[11]) / (distances[0] - distances[11])
    found: np.ndarray = np.maximum(1.0, np.abs(xs) / np.maximum(length * distances, _TINY))
    return found


def split(rows: np.ndarray, at: int, count: int, has_halves: bool) -> int:
    """Bisect an interval; return how many there are. One that has no halves is moved by a little:
    there, a place of the rule is where a function is infinite.
    """
    low, high, end = rows[at]
    if not has_halves:
        rows[at, :2] += 0.0137 * (high - low)
        return count
    middle = 0.5 * (low + high)
    if end == 0.0:
        rows[at, 1:], rows[count] = (0.5, 1.0), (0.0, 0.5, 2.0)
    else:
        rows[at, 1], rows[count] = middle, (middle, high, end)
    return count + 1


def integrals(f: Functions, scales: np.ndarray, rule: Rule) -> tuple[np.ndarray, bool]:
    """Return integrals of functions from 0 to 1, and whether the estimates of all errors are small.

    The intervals do for each of the functions. A row of `rows` is the least and the largest u, and
    the end. Of an interval that is bisected the sums are taken back by computing them again.

    scales -- for each function the scale of rounding, as a factor of what it is a small change of
    """
    rows, measures = np.zeros((_MOST, 3)), np.zeros(_MOST)
    has_halves, is_bad = np.zeros(_MOST, dtype=bool), np.zeros(_MOST, dtype=bool)
    sums, wanted = np.zeros((3, len(scales))), np.zeros(len(scales))
    rows[0, 1] = 1.0
    count, worst, moves, first, last = 1, 0, 0, 1, 2
    goes_on = True
    while goes_on:
        for k in range(first, last):
            at = count - 1 if k == 2 else worst
            found, is_finite, halves = judged(f, scales, rows[at], rule)
            sums += -found if k == 0 else found
            wanted = _WANTED * sums[2] + _TINY
            if k == 0:
                count = split(rows, worst, count, bool(has_halves[worst]))
            else:
                is_bad[at], has_halves[at] = not is_finite, halves
                measures[at] = np.max(found[1] / wanted, initial=0.0) if is_finite else _HUGE
        left = np.max(sums[1] / wanted, initial=0.0)
        better = np.where(has_halves[:count] | is_bad[:count], measures[:count], 0.0)
        worst = int(np.argmax(better))
        goes_on = bool((left > 1.0 or np.any(is_bad[:count])) and count < _MOST
                       and moves < _MOVES and np.sum(better) > 0.1 * left)
        moves += not has_halves[worst]
        first, last = 0, 3 if has_halves[worst] else 2
    is_fine = np.all(sums[1] <= _ALLOWED * sums[2] + _TINY)
    return sums[0], bool(is_fine and not np.any(is_bad[:count]))
