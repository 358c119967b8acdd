"""Adaptive integrals of functions of one number, step by step as QUADPACK has them, in Python.

R. Piessens, E. de Doncker-Kapenga, C. W. Ueberhuber, D. K. Kahaner, QUADPACK, 1983: bisection of
the interval with the largest error (QAGS, and QAGI for ranges without end), Kronrod's rules, and
P. Wynn's epsilon algorithm. Captured like users' functions; errors have no derivative.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracejit.autodiff.kronrod import RULE_15, RULE_21
from tracejit.ops.calls import stop_gradient

__all__ = ["integral"]

Function = Callable[..., tuple[float, float]]
"""An integrand: its value, and the largest error of integrals that it takes itself."""

_EPS, _TINY, _HUGE = 2.220446049250313e-16, 2.2250738585072014e-308, 1.7976931348623157e308
_LONGEST = 50  # of an epsilon table


def value_at(f: Function, t: float, bound: float, ends: int,
             args: tuple[object, ...]) -> tuple[float, float]:
    """Return the integrand at a place: of a range without end at a place between 0 and 1.

    ends -- 0 for an interval, 1 and -1 for the range from `bound` to infinity and minus infinity,
    2 for all numbers
    """
    if ends == 0:
        return f(float(t), *args)
    x = bound + min(ends, 1) * (1.0 - t) / t
    y, error = f(float(x), *args)
    if ends == 2:
        other, second = f(-float(x), *args)
        y, error = y + other, max(error, second)
    return y / t / t, error


def by_rule(f: Function, low: float, high: float, bound: float, ends: int,
            args: tuple[object, ...]) -> tuple[float, float, float, float, float]:
    """Return an integral by Kronrod's rule, its error, and the integrals of |f| and |f - mean|.

    Besides, the largest error of the integrals that the integrand takes.
    """
    places, gauss, kronrod, by_gauss, by_kronrod = RULE_15 if ends else RULE_21
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    found = np.zeros(len(places))  # by one call: a program of integrals is short
    inner = 0.0
    for i in range(len(found)):
        found[i], other = value_at(f, middle + half * places[i], bound, ends, args)
        inner = max(inner, other)
    y, values = found[0], stop_gradient(found)
    coarse, total, size = by_gauss * y, by_kronrod * y, by_kronrod * abs(values[0])
    for j in range(len(gauss)):
        both = found[2 * j + 1] + found[2 * j + 2]
        if gauss[j] != 0.0:
            coarse += gauss[j] * both
        total += kronrod[j] * both
        size += kronrod[j] * (abs(values[2 * j + 1]) + abs(values[2 * j + 2]))
    mean = 0.5 * stop_gradient(total)
    spread = by_kronrod * abs(values[0] - mean)
    for j in range(len(gauss)):
        spread += kronrod[j] * (abs(values[2 * j + 1] - mean) + abs(values[2 * j + 2] - mean))
    length = abs(stop_gradient(half))
    size, spread = size * length, spread * length
    error = abs(stop_gradient((total - coarse) * half))
    if spread != 0.0 and error != 0.0:
        error = spread * min(1.0, (200.0 * error / spread) ** 1.5)
    if size > _TINY / (50.0 * _EPS):
        error = max(50.0 * _EPS * size, error)
    return total * half, error, size, spread, inner


def diagonal(table: np.ndarray, count: int) -> tuple[float, float, int, bool]:
    """Return a limit by the next diagonal of an epsilon table, and its error.

    Besides, how many numbers of the diagonal are of use, and whether the sequence is at its end.
    """
    error, limit = _HUGE, table[count - 1]
    table[count + 1], table[count - 1] = table[count - 1], _HUGE
    length, steps, k, i, settled = count, (count - 1) // 2, count - 1, 0, False
    while i < steps:
        i += 1
        e0, e1, e2, e3 = table[k - 2], table[k - 1], table[k + 2], table[k]
        by1, by2, by3 = abs(e1 - e3), abs(e2 - e1), abs(e1 - e0)
        is_near2 = by2 <= max(abs(e2), abs(e1)) * _EPS
        is_near3 = by3 <= max(abs(e1), abs(e0)) * _EPS
        if is_near2 and is_near3:
            limit, error, i, settled = e2, by2 + by3, steps, True
        else:
            table[k] = e1
            is_near = is_near2 or is_near3 or by1 <= max(abs(e1), abs(e3)) * _EPS
            slope = 0.0
            if not is_near:
                slope = 1.0 / (e1 - e3) + 1.0 / (e2 - e1) - 1.0 / (e1 - e0)
            if abs(slope * e1) <= 1e-4:
                length, i = 2 * i - 1, steps
            else:
                found = e1 + 1.0 / slope
                table[k] = found
                k -= 2
                tried = by2 + abs(found - e2) + by3
                if tried <= error:
                    error, limit = tried, found
    return limit, error, length, settled


def accelerated(table: np.ndarray, count: int, recent: np.ndarray,
                calls: int) -> tuple[float, float, int]:
    """Return the limit of a sequence by the epsilon algorithm, its error, and the table's length.

    table, count -- the lowest diagonal of the epsilon table with the next partial sum at its end,
    and how many numbers it holds; both are changed to those of the next diagonal
    recent, calls -- the last three limits, which are changed, and how many were made with this one
    """
    limit, error, length, settled = diagonal(table, count)
    if settled:
        return limit, max(error, 5.0 * _EPS * abs(limit)), count
    if length == _LONGEST:
        length = _LONGEST - 1
    start = 1 - count % 2
    for i in range((count - 1) // 2 + 1):
        table[start + 2 * i] = table[start + 2 * i + 2]
    if length != count:
        for i in range(length):
            table[i] = table[count - length + i]
    if calls < 4:
        recent[calls - 1], error = limit, _HUGE
    else:
        error = abs(limit - recent[2]) + abs(limit - recent[1]) + abs(limit - recent[0])
        recent[0], recent[1], recent[2] = recent[1], recent[2], limit
    return limit, max(error, 5.0 * _EPS * abs(limit)), length


class Bisection:
    """What bisection and extrapolation know of an integral.

    lows, highs, areas, errors -- of each interval its ends, its integral and that one's error
    count -- how many intervals there are; worst, rank -- the next to be bisected, and its place
    in `order`, by falling errors
    total, left -- the sums of the integrals and of the errors; wanted -- the error that will do
    best, best_error -- the best limit so far; inner -- the largest error of integrals within
    """

    def __init__(self, low: float, high: float, limit: int) -> None:
        self.lows, self.highs = np.zeros(limit), np.zeros(limit)
        self.areas, self.errors = np.zeros(limit), np.full(limit, -1.0)
        self.lows[0], self.highs[0] = low, high
        self.order = np.arange(limit)
        self.count, self.worst, self.rank = 0, 0, 0
        self.total, self.left, self.wanted = 0.0, 0.0, 0.0
        self.stalls = np.zeros(3, np.int64)
        self.is_rough, self.is_flawed, self.is_met = False, False, False
        self.table, self.length = np.zeros(_LONGEST + 2), 2
        self.recent, self.calls, self.tries = np.zeros(3), 0, 0
        self.best, self.best_error, self.correction = 0.0, _HUGE, 0.0
        self.small, self.larger, self.test = abs(high - low), 0.0, 0.0
        self.extrapolates, self.is_plain, self.inner = False, False, 0.0


def pieces_of_worst(s: Bisection, f: Function, bound: float, ends: int,
                    args: tuple[object, ...]) -> np.ndarray:
    """Return what `by_rule` finds for the halves of the worst interval; for the first as a whole.

    One call of `by_rule` has them all: a program has the integrand's code as often as it is called.
    """
    low, high = s.lows[s.worst], s.highs[s.worst]
    middle, found = 0.5 * (low + high), np.zeros((4, 2))
    halves = min(s.count, 1)
    for k in range(halves + 1):
        found[0, k], found[1, k], found[2, k], found[3, k], inner = by_rule(
            f, middle if k else low, middle if k < halves else high, bound, ends, args)
        s.inner = max(s.inner, inner)
    return found


def begin(s: Bisection, pieces: np.ndarray, epsabs: float, epsrel: float) -> bool:
    """Note the integral over the first interval; return whether it is near enough."""
    area, error, size, spread = pieces[:, 0]
    s.areas[0], s.errors[0], s.total, s.left, s.count = area, error, area, error, 1
    s.table[0], s.best = area, area
    s.wanted = max(epsabs, epsrel * abs(area))
    return bool(len(s.lows) == 1 or error == 0.0 or (
        error > s.wanted and error <= 100.0 * _EPS * size) or (
        error <= s.wanted and error != spread))


def bisect(s: Bisection, pieces: np.ndarray) -> tuple[float, float, float]:
    """Bisect the worst interval; return its error, that of the halves, and their length."""
    low, high = s.lows[s.worst], s.highs[s.worst]
    before, error, middle = s.areas[s.worst], s.errors[s.worst], 0.5 * (low + high)
    areas, errors, spreads = pieces[0], pieces[1], pieces[3]
    area, both = areas[0] + areas[1], errors[0] + errors[1]
    s.left += both - error
    s.total += area - before
    s.count += 1
    if spreads[0] != errors[0] and spreads[1] != errors[1]:
        if abs(before - area) <= 1e-5 * abs(area) and both >= 0.99 * error:
            s.stalls[1 if s.extrapolates else 0] += 1
        if s.count > 10 and both > error:
            s.stalls[2] += 1
    s.is_rough = s.is_rough or s.stalls[1] >= 5
    s.is_flawed = bool(s.stalls[0] + s.stalls[1] >= 10 or s.stalls[2] >= 20
                       or s.count == len(s.lows) or max(abs(low), abs(high)) <= (
                           1.0 + 100.0 * _EPS) * (abs(middle) + 1000.0 * _TINY))
    for k in range(2):
        at = s.worst if (k == 1) == (errors[1] > errors[0]) else s.count - 1
        s.lows[at], s.highs[at] = middle if k else low, high if k else middle
        s.areas[at], s.errors[at] = areas[k], errors[k]
    s.order[:] = np.argsort(-s.errors, kind="stable")
    s.rank = min(s.rank, int(np.sum(s.errors > s.errors[s.worst])))
    s.worst = s.order[s.rank]
    return error, both, abs(middle - low)


def is_wide(s: Bisection) -> bool:
    """Whether the worst interval is not among the shortest."""
    return bool(abs(s.highs[s.worst] - s.lows[s.worst]) > s.small)


def goes_on_with_wide(s: Bisection) -> bool:
    """Whether a longer interval is to be bisected before the next limit is computed."""
    if not s.extrapolates:
        if is_wide(s):
            return True
        s.extrapolates, s.rank = True, 1
    if s.is_rough or s.larger <= s.test:
        return False
    limit = len(s.lows)
    last = s.count if s.count <= 2 + limit // 2 else limit + 3 - s.count
    wide = False
    while s.rank < last and not wide:
        s.worst = s.order[s.rank]
        wide = is_wide(s)
        if not wide:
            s.rank += 1
    return wide


def extrapolate(s: Bisection, epsabs: float, epsrel: float) -> None:
    """Compute the next limit, and go back to the interval of the largest error."""
    s.length += 1
    s.table[s.length - 1] = s.total
    s.calls += 1
    found, error, s.length = accelerated(s.table, s.length, s.recent, s.calls)
    s.tries += 1
    s.is_flawed = s.tries > 5 and s.best_error < 1e-3 * s.left
    if error < s.best_error:
        s.tries, s.best, s.best_error, s.correction = 0, found, error, s.larger
        s.test = max(epsabs, epsrel * abs(found))
        s.is_met = error <= s.test
    s.is_plain = s.length == 1
    s.worst, s.rank, s.extrapolates = s.order[0], 0, False
    s.small, s.larger = 0.5 * s.small, s.left


def go_on(s: Bisection, pieces: np.ndarray, epsabs: float, epsrel: float) -> bool:
    """Bisect the worst interval and extrapolate; return whether the sum is near enough."""
    before, both, length = bisect(s, pieces)
    s.wanted = max(epsabs, epsrel * abs(s.total))
    reached = bool(s.left <= s.wanted)
    if s.count == 2:
        s.small, s.table[1] = 0.375 * s.small, s.total
        s.larger, s.test = s.left, s.wanted
    elif not (reached or s.is_flawed or s.is_plain):
        s.larger -= before
        if length > s.small:
            s.larger += both
        if not goes_on_with_wide(s):
            extrapolate(s, epsabs, epsrel)
    return reached


def integral(f: Function, low: float, high: float, bound: float, ends: int, epsabs: float,
             epsrel: float, limit: int, args: tuple[object, ...]) -> tuple[float, float, float]:
    """Return an integral and its error, by QAGS or QAGI, and the largest error of those within."""
    s, reached = Bisection(low, high, limit), False
    while s.count == 0 or not (reached or s.is_flawed or s.is_met):
        pieces = pieces_of_worst(s, f, bound, ends, args)
        reached = begin(s, pieces, epsabs, epsrel) if s.count == 0 else go_on(
            s, pieces, epsabs, epsrel)
    if s.is_rough:
        s.best_error += s.correction
    is_limit = not reached and s.best_error < _HUGE and is_better(s)
    value, error = (s.best, s.best_error) if is_limit else (float(np.sum(s.areas)), s.left)
    return value, error, s.inner


def is_better(s: Bisection) -> bool:
    """Whether the limit is nearer to the integral than the sum of all intervals is."""
    if not (s.is_flawed or s.is_rough):
        return True
    if s.best != 0.0 and s.total != 0.0:
        return bool(s.best_error / abs(s.best) <= s.left / abs(s.total))
    return bool(s.best_error <= s.left)
