"""Functions with branches or loops of their own, as small Numba functions for any target."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from tracejit.ir import (
    bessel_kin,
    bessel_orders,
    complex_arguments,
    counts,
    hypergeometric,
    incomplete,
    integrals,
)
from tracejit.ir.bessel import i0e, i1e
from tracejit.ir.jacobi import symmetric_eigen
from tracejit.ir.quantiles import normal_quantile

__all__ = ["definitions", "functions", "linked"]

SPECIAL = (i0e, i1e, normal_quantile, *incomplete.FUNCTIONS, *counts.FUNCTIONS,
           *bessel_orders.FUNCTIONS, *integrals.FUNCTIONS, *bessel_kin.FUNCTIONS,
           *complex_arguments.FUNCTIONS, *hypergeometric.FUNCTIONS)
"""Special functions, each behind its callees."""


def functions(names: dict[str, object]) -> dict[str, Any]:
    """Return the functions by name, compiled for the CPU, made with the intrinsics in `names`."""
    from tracejit.codegen.numba_contexts import Helper

    return linked(definitions(names), Helper, names)


def linked(plain: dict[str, FunctionType], compiled: Callable[[FunctionType], object],
           names: dict[str, Any]) -> dict[str, Any]:
    """Return functions compiled, each calling the compiled forms of the functions before it.

    The gamma function is C's, by its name in `names`: Numba's own is in no library for C programs.
    """
    made: dict[str, Any] = {name: names[name] for name in ("tgamma", "lgamma")}
    for name, fn in plain.items():
        code = fn.__code__
        called = {n: made[n] for n in (*code.co_names, *code.co_freevars) if n in made}
        if called:
            cells = tuple(CellType(called[n]) if n in called else cell
                          for n, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True))
            fn = FunctionType(code, {**fn.__globals__, **called}, fn.__name__,
                              fn.__defaults__, cells)
        made[name] = compiled(fn)
    return made


def definitions(names: dict[str, Any]) -> dict[str, Any]:
    """Return the functions by name, uncompiled, made with the scalar functions in `names`."""
    # long, because it is a table: each function is one row, and all close over the same seven
    select, floor, fmod, copysign = (names[n] for n in ("select", "floor", "fmod", "copysign"))
    exp, log, nan = names["exp"], names["log"], names["nan"]

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

    def cdiv(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: R. L. Smith, Algorithm 116, Communications of the ACM 5, 1962."""
        a, b, c, d = x.real, x.imag, y.real, y.imag
        if abs(c) >= abs(d):
            if c == 0 and d == 0:
                return complex(a / abs(c), b / abs(c))
            ratio = d / c
            scale = 1 / (c + d * ratio)
            return complex((a + b * ratio) * scale, (b - a * ratio) * scale)
        ratio = c / d
        scale = 1 / (d + c * ratio)
        return complex((a * ratio + b) * scale, (b * ratio - a) * scale)

    def cpow(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: small whole powers are products, powers of 0 are 0 or NaN."""
        a, b, u, v = x.real, x.imag, y.real, y.imag
        if v == 0 and floor(u) == u and -100 < u < 100:
            if u == 0:
                return complex(1.0, 0.0)
            if a == 0 and b == 0 and u < 0:
                return complex(nan, nan)
            n = int(abs(u))
            real, imag, c, d = u / u, u - u, a, b  # 1 and 0 of this type
            if 0 < u < 4:
                real, imag = a, b
                n -= 1
            while n > 0:
                if n & 1:
                    real, imag = real * c - imag * d, real * d + imag * c
                c, d = c * c - d * d, c * d + d * c
                n >>= 1
            power = complex(real, imag)
            if u > 0:
                return power
            return cdiv(complex(u / u, u - u), power)  # type: ignore[no-untyped-call]
        if a == 0 and b == 0:
            return complex(0.0, 0.0) if u > 0 else complex(nan, nan)
        power = log(x)
        c, d = power.real, power.imag
        return exp(complex(u * c - v * d, u * d + v * c))

    def ipow(x, y):  # type: ignore[no-untyped-def]
        """An integer power by repeated squaring."""
        result = x * 0 + 1
        while y > 0:
            if y & 1:
                result = result * x
            x = x * x
            y = y >> 1
        return result

    def ishl(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: nothing is left after 64 places."""
        return x << y if 0 <= y < 64 else x ^ x  # x * 0 of a uint64 would be a float

    def ishr(x, y):  # type: ignore[no-untyped-def]
        """As NumPy: only the sign is left after 64 places."""
        if 0 <= y < 64:
            return x >> y
        return ~(x ^ x) if x < 0 else x ^ x

    def irem(x, y):  # type: ignore[no-untyped-def]
        """The remainder with the sign of the dividend; 0 of a division by zero, as in NumPy."""
        if y == 0:
            return x * 0
        rest = x % y
        return rest - y if rest != 0 and (rest < 0) != (x < 0) else rest

    def igcd(x, y):  # type: ignore[no-untyped-def]
        """The greatest common divisor, as NumPy: of 0 and 0 it is 0."""
        a, b = x, y
        while b != 0:  # a division by -1 may overflow
            a, b = b, b ^ b if b == -1 else a % b
        return (a ^ a) - a if a < 0 else a

    def ilcm(x, y):  # type: ignore[no-untyped-def]
        """The least common multiple, as NumPy: of 0 it is 0."""
        a, b = x, y
        while b != 0:
            a, b = b, b ^ b if b == -1 else a % b
        if x == 0 or y == 0:
            return x ^ x
        quotient = x // ((a ^ a) - a if a < 0 else a)
        found = quotient * y  # which may overflow
        return (found ^ found) - found if (quotient < 0) != (y < 0) else found

    def argsort(x, order, work, start, n):  # type: ignore[no-untyped-def]
        """Stable merge sort of `x[start:start + n]`, NaN last; `order`, `work` have room for n."""
        for i in range(n):
            order[start + i] = i
        width = 1
        while width < n:
            lo = 0
            while lo < n:
                middle = min(lo + width, n)
                end = min(lo + 2 * width, n)
                i, j = lo, middle
                for k in range(lo, end):
                    take_left = j >= end
                    if i < middle and j < end:
                        a = x[start + order[start + i]]
                        b = x[start + order[start + j]]
                        take_left = not (b < a or (a != a and b == b))
                    if take_left:
                        work[start + k] = order[start + i]
                        i += 1
                    else:
                        work[start + k] = order[start + j]
                        j += 1
                lo = end
            for k in range(n):
                order[start + k] = work[start + k]
            width *= 2

    def search(a, x, found, n, count, right):  # type: ignore[no-untyped-def]
        """Where `count` numbers stand among n sorted ones, behind equal ones if right; NaN last."""
        for start in range(0, count, 64):  # side by side, as each waits for memory
            stop, left = min(start + 64, count), n
            for i in range(start, stop):
                found[i] = 0
            while left > 0:
                half = (left + 1) >> 1
                left -= half
                for i in range(start, stop):
                    v, w = x[i], a[found[i] + half - 1]
                    before = (w <= v if right else w < v) | (v != v) & ((right != 0) | (w == w))
                    found[i] += select(before, half, 0)

    def place_of(a, v, n, right):  # type: ignore[no-untyped-def]
        """Where one number stands, as `search` finds it."""
        place = 0
        while n > 0:
            half = (n + 1) >> 1
            n -= half
            w = a[place + half - 1]
            before = (w <= v if right else w < v) | (v != v) & ((right != 0) | (w == w))
            place += select(before, half, 0)
        return place

    def positions(mask, found, n, count):  # type: ignore[no-untyped-def]
        """Where a mask of n elements is true, which is at `count` places; without branches."""
        i, k = 0, 0
        while k < count and i < n:
            found[k] = i
            k += 1 if mask[i] else 0
            i += 1

    return {fn.__name__: fn for fn in (
        floor_divide, remainder, cdiv, cpow, ipow, ishl, ishr, irem, igcd, ilcm, argsort, search,
        place_of, positions, *SPECIAL)} | {"eigh": symmetric_eigen}
