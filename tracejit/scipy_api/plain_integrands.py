"""What integrals ask of users' functions, captured like users' functions: values, ends, options."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracejit.autodiff.kronrod import FLAT_21

__all__ = ["ends_of", "exact", "of_others", "part_of", "rule_of_derivatives",
           "substituted"]


def exact(f: Callable[..., object], t: float, *args: object) -> tuple[float, float]:
    """Return the value of a function that takes no integrals itself, and no error."""
    return float(f(t, *args)), 0.0  # type: ignore[arg-type]


def part_of(f: Callable[..., object], k: int, *args: object) -> float:
    """Return the real or the imaginary part of a complex integrand."""
    y = complex(f(*args))  # type: ignore[call-overload]
    return y.imag if k else y.real


def of_others(given: object, others: tuple[object, ...]) -> object:
    """Return what a function of other numbers returns; what is no function is the same for all."""
    return given(*others) if callable(given) else given


def ends_of(limits: object, others: tuple[object, ...]) -> tuple[object, object]:
    """Return the ends of an interval: two numbers, or what a function of other numbers returns."""
    low, high = limits(*others) if callable(limits) else limits  # type: ignore[misc]
    return low, high


def rule_of_derivatives() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rule by which derivatives are integrated, which a stored program finds by name."""
    return FLAT_21


def substituted(f: Callable[[float], float], distance: float, is_far: float, low: float,
                high: float, bound: float, ends: int) -> tuple[float, float]:
    """Return a place of an interval or a range, and the integrand of the integral from 0 to 1.

    distance, is_far -- from 0, or from 1 if `is_far` is 1
    ends -- as in `value_at` of `plain_quadrature`
    """
    if ends == 0:
        length = high - low
        x = high - length * distance if is_far else low + length * distance
        return x, length * f(x)
    t, rest = (1.0 - distance, distance) if is_far else (distance, 1.0 - distance)
    x = bound + min(ends, 1) * rest / t
    y = f(x)
    if ends == 2:
        y = y + f(-x)
    return x, y / t / t
