"""Membership and equality of ranges, written in Python: captured like users' functions."""

from __future__ import annotations

__all__ = ["are_equal", "is_within", "place_of"]


def is_within(x: float, is_int: bool, start: int, stop: int, step: int) -> bool:
    """Return whether a number is in a range, as a bool."""
    n = int(x) if is_int else float(x)
    if step > 0:
        inside = start <= n < stop
    else:
        inside = stop < n <= start
    return inside and (n - start) % step == 0


def are_equal(count: int, start: int, step: int, other_count: int, other_start: int,
              other_step: int) -> bool:
    """Return whether two ranges have equal numbers."""
    return count == other_count and (count == 0 or (
        start == other_start and (count == 1 or step == other_step)))


def place_of(is_there: bool, x: int, start: int, step: int) -> int:
    """Return the place of a number in a range."""
    if not is_there:
        raise ValueError("range.index(x): x is not in range")
    return (int(x) - start) // step
