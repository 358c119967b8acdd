"""Places in arrays: the elements that an index names; whether two places have none in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from math import gcd

from tracejit.ir.control import bounds_of, region_kind
from tracejit.ir.core import Eqn, Span
from tracejit.ir.dims import Dim, Ranges, is_nonneg

__all__ = ["are_apart", "ends_of", "numbers_of"]

Place = Sequence[Dim | Span]


def ends_of(at: Place) -> list[tuple[Dim, Dim]]:
    """Return the first and the last index of a place on each axis."""
    found: list[tuple[Dim, Dim]] = []
    for p in at:
        if isinstance(p, Span):
            ends = p.start, p.start + p.step * (p.size - 1)
            found.append(ends if p.step > 0 else ends[::-1])
        else:
            found.append((p, p))
    return found


def numbers_of(eqn: Eqn) -> tuple[Dim, Dim | None]:
    """Return the least number of an iteration, and the largest, if that is known before."""
    if region_kind(eqn) == "while":
        return 0, None
    low, high = bounds_of(eqn)
    return low, high - 1


def are_apart(p: Place, q: Place, ranges: Ranges | None = None) -> bool:
    """Return whether no element is in both places, which is known if it is so on one axis.

    Places are within the array and count from its beginning. Between the ends of `x[::2]` and
    `x[1::2]` neither is free of the other, but no even number is an odd one.

    ranges -- bounds of values in the places
    """
    for (first, last), (begin, end) in zip(ends_of(p), ends_of(q), strict=True):
        if is_nonneg(begin - last - 1, ranges) or is_nonneg(first - end - 1, ranges):
            return True
    return any(starmap(_never_meet, zip(p, q, strict=True)))


def _never_meet(p: Dim | Span, q: Dim | Span) -> bool:
    """Return whether two progressions of indices are different by their remainders."""
    (start, step), (begin, other) = (
        (s.start, s.step) if isinstance(s, Span) else (s, 0) for s in (p, q))
    d = start - begin
    constant, factors = (d, []) if isinstance(d, int) else (d.const, [c for _, c in d.terms])
    divisor = gcd(step, other, *factors)
    return constant % divisor != 0 if divisor else constant != 0
