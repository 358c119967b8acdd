"""Scalar functions with branches or loops of their own, as small Numba functions."""

from __future__ import annotations

from typing import Any

__all__ = ["functions"]


def functions(names: dict[str, Any]) -> dict[str, Any]:
    """Return the functions by name, made with the intrinsics in `names`."""
    from numba import njit

    select, floor, fmod, copysign = (names[n] for n in ("select", "floor", "fmod", "copysign"))

    def floor_divide(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: consistent with `remainder`, infinities and signed zeros included."""
        rest = fmod(x, y)
        if y == 0:
            return x / y
        quotient = (x - rest) / y
        if rest != 0 and (y < 0) != (rest < 0):
            quotient = quotient - 1
        if quotient == 0:
            return copysign(quotient * 0, x / y)
        whole = floor(quotient)
        return select(quotient - whole > 0.5, whole + 1, whole)

    def remainder(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: the sign of the divisor."""
        rest = fmod(x, y)
        if rest == 0:
            return copysign(rest * 0, y) if y != 0 else rest
        return rest + y if (y < 0) != (rest < 0) else rest

    def ipow(x, y):  # type: ignore[no-untyped-def]
        """An integer power by repeated squaring."""
        result = x * 0 + 1
        while y > 0:
            if y & 1:
                result = result * x
            x = x * x
            y = y >> 1
        return result

    return {fn.__name__: njit(fn, error_model="numpy") for fn in (floor_divide, remainder, ipow)}
