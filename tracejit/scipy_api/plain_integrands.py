"""What integrals ask of users' functions, captured like users' functions: values, ends, options."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ends_of", "exact", "of_others", "part_of"]


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
