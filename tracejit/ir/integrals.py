"""Integrals that have names, for float64: exponential, error, sine, Fresnel, Owen's and others.

Series near 0, continued fractions and asymptotic series far from it: M. Abramowitz and
I. A. Stegun, chapters 5, 7 and 27; Dawson's integral after G. B. Rybicki, Computers in Physics 3,
1989. Numba compiles these functions, which call earlier ones alone.
"""

from __future__ import annotations

import math

__all__ = ["FUNCTIONS"]

_EULER = 0.57721566490153286061
_ROOT_PI = 1.7724538509055160273


def exponential_integral(n: float, x: float) -> float:
    """Return the integral of exp(-x t) / t**n over t from 1 on, of a whole n."""
    if not (n >= 0.0 and x >= 0.0) or n != math.floor(n):
        return math.nan
    if x == 0.0:
        return math.inf if n <= 1.0 else 1.0 / (n - 1.0)
    if x > 745.0:
        return 0.0
    if n == 0.0:
        return math.exp(-x) / x
    if x > 1.0:
        b = x + n
        c, d = 1e300, 1.0 / b
        total = d
        for k in range(1, 2000):
            a = -k * (n - 1.0 + k)
            b += 2.0
            d = 1.0 / (a * d + b)
            c = b + a / c
            total *= c * d
            if abs(c * d - 1.0) < 2e-16:
                break
        return total * math.exp(-x)
    total = 1.0 / (n - 1.0) if n > 1.0 else -math.log(x) - _EULER
    term = 1.0
    for k in range(1, 400):
        term *= -x / k
        if k == n - 1.0:
            psi = -_EULER
            for i in range(1, k + 1):
                psi += 1.0 / i
            total += term * (psi - math.log(x))
        else:
            total -= term / (k - n + 1.0)
        if k >= n and abs(term) < 1e-18 * abs(total):
            break
    return total


def expi(x: float) -> float:
    """Return the exponential integral Ei."""
    if x != x or x == 0.0:
        return -math.inf if x == 0.0 else x
    if x < 0.0:
        return -exponential_integral(1.0, -x)
    if x > 50.0:
        if x > 715.0:
            return math.inf
        total = term = 1.0
        for k in range(1, 60):
            term *= k / x
            total += term
            if term < 1e-17 or k > x:
                break
        return math.exp(x - 8.0) / x * total * math.exp(8.0)
    total, term = 0.0, 1.0
    for k in range(1, 200):
        term *= x / k
        total += term / k
        if term < 1e-18 * total:
            break
    return _EULER + math.log(x) + total


def dawsn(x: float) -> float:
    """Return Dawson's integral."""
    size = abs(x)
    square = x * x
    if size < 0.2:
        total = 1.0
        for k in range(12, 0, -1):
            total = 1.0 - 2.0 * square / (2 * k + 1) * total
        return x * total
    if size > 30.0:
        t = 0.5 / square
        return 0.5 / x * (1.0 + t * (1.0 + 3.0 * t * (1.0 + 5.0 * t * (1.0 + 7.0 * t * (
            1.0 + 9.0 * t)))))
    middle = 2.0 * math.floor(2.5 * size) + 1.0
    total = 0.0
    for k in range(-18, 19):
        n = middle + 2.0 * k
        away = size - 0.2 * n
        total += math.exp(-away * away) / n
    return math.copysign(total / _ROOT_PI, x)


def erfcx(x: float) -> float:
    """Return exp(x * x) erfc(x)."""
    if x < 3.0:
        return math.exp(x * x) * math.erfc(x) if x > -26.64 else math.inf
    if x > 1e8:
        return 1.0 / (_ROOT_PI * x)
    rest = 0.0
    for k in range(90, 0, -1):
        rest = 0.5 * k / (x + rest)
    return 1.0 / (_ROOT_PI * (x + rest))


def erfi(x: float) -> float:
    """Return -1j erf(1j x)."""
    if abs(x) > 26.64:
        return math.copysign(math.inf, x)
    return 2.0 / _ROOT_PI * math.exp(x * x) * dawsn(x)


def sine_cosine_integrals(x: float) -> tuple[float, float]:
    """Return Si and Ci of an x above 0."""
    if x <= 2.0:
        sine, cosine, term = 0.0, 0.0, 1.0
        for k in range(1, 40):
            term *= x / k
            sign = 1.0 if k % 4 < 2 else -1.0
            if k % 2 == 1:
                sine += sign * term / k
            else:
                cosine += sign * term / k
        return sine, _EULER + math.log(x) + cosine
    if math.isinf(x):
        return 0.5 * math.pi, 0.0
    b = complex(1.0, x)
    c, d = complex(1e300, 0.0), 1.0 / b
    total = d
    for k in range(1, 500):
        a = -float(k * k)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        total *= c * d
        if abs((c * d).real - 1.0) + abs((c * d).imag) < 2e-16:
            break
    total *= complex(math.cos(x), -math.sin(x))
    return 0.5 * math.pi + total.imag, -total.real


def sine_integral(x: float) -> float:
    """Return Si."""
    if x == 0.0 or x != x:
        return x
    return math.copysign(sine_cosine_integrals(abs(x))[0], x)


def cosine_integral(x: float) -> float:
    """Return Ci."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    return sine_cosine_integrals(x)[1]


def fresnel(x: float) -> tuple[float, float]:
    """Return Fresnel's integrals S and C of an x that is not below 0."""
    if x > 1e7:
        return 0.5, 0.5
    angle = 0.5 * math.pi * x * x
    if x < 1.5:
        sine, cosine, term = 0.0, 0.0, x
        for k in range(40):
            sign = 1.0 if k % 4 < 2 else -1.0
            if k % 2 == 0:
                cosine += sign * term / (2 * k + 1)
            else:
                sine += sign * term / (2 * k + 1)
            term *= angle / (k + 1)
        return sine, cosine
    b = complex(1.0, -2.0 * angle)
    c, d = complex(1e300, 0.0), 1.0 / b
    total = d
    for k in range(1, 500):
        a = -float((2 * k - 1) * 2 * k)
        b += 4.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        total *= c * d
        if abs((c * d).real - 1.0) + abs((c * d).imag) < 2e-16:
            break
    whole = x * x - 4.0 * math.floor(0.25 * x * x)
    turn = complex(math.cos(0.5 * math.pi * whole), math.sin(0.5 * math.pi * whole))
    result = complex(0.5, 0.5) * (1.0 - turn * (total * complex(x, -x)))
    return result.imag, result.real


def fresnel_sine(x: float) -> float:
    """Return Fresnel's integral S."""
    return math.copysign(fresnel(abs(x))[0], x) if x == x else x


def fresnel_cosine(x: float) -> float:
    """Return Fresnel's integral C."""
    return math.copysign(fresnel(abs(x))[1], x) if x == x else x


def dilogarithm_near(u: float) -> float:
    """Return the dilogarithm of 1 - exp(-u), of a u within 0.7 of 0."""
    square = u * u
    total = -3617.0 / 510.0 / 355687428096000.0
    total = total * square + 7.0 / 6.0 / 1307674368000.0
    total = total * square - 691.0 / 2730.0 / 6227020800.0
    total = total * square + 5.0 / 66.0 / 39916800.0
    total = total * square - 1.0 / 30.0 / 362880.0
    total = total * square + 1.0 / 42.0 / 5040.0
    total = total * square - 1.0 / 30.0 / 120.0
    total = total * square + 1.0 / 36.0
    return u * (1.0 - 0.25 * u + total * square)


def spence(z: float) -> float:
    """Return the dilogarithm of 1 - z."""
    if not z >= 0.0:
        return math.nan
    if z == 0.0:
        return math.pi * math.pi / 6.0
    if math.isinf(z):
        return math.nan  # as SciPy has it
    if 0.5 <= z <= 2.0:
        return dilogarithm_near(-math.log(z))
    x = min(z, 1.0 / z)
    u = -math.log1p(-x)
    result = math.pi * math.pi / 6.0 + math.log(x) * u - dilogarithm_near(u)
    return result if z < 1.0 else -result - 0.5 * math.log(z) ** 2


_T_PLACES = [0.1 * i - 3.2 for i in range(65)]
_T_NODES = tuple([1.0 / (1.0 + math.exp(-math.pi * math.sinh(s))) for s in _T_PLACES])
_T_WEIGHTS = tuple([0.1 * math.pi * math.cosh(s) * v / (1.0 + math.exp(math.pi * math.sinh(s)))
                    for s, v in zip(_T_PLACES, _T_NODES, strict=True)])


def owens_t(h: float, a: float) -> float:
    """Return Owen's T: the integral of exp(-h**2 (1 + v**2) / 2) / (1 + v**2) / (2 pi), 0 to a."""
    if h != h or a != a:
        return math.nan
    h, end = abs(h), abs(a)
    if math.isinf(end):
        return math.copysign(0.25 * math.erfc(h * 0.70710678118654752), a)
    tail = turned = 0.0
    if end > 1.0:
        turned = 1.0
        q, r = 0.5 * math.erfc(h * math.sqrt(0.5)), 0.5 * math.erfc(h * end * math.sqrt(0.5))
        tail = 0.5 * (q + r) - q * r
        h, end = h * end, 1.0 / end
    if h > 39.0:
        return math.copysign(tail, a)
    part = min(end, 9.0 / h) if h > 0.0 else end
    total = 0.0
    for i in range(65):
        v = part * _T_NODES[i]
        total += _T_WEIGHTS[i] * part * math.exp(-0.5 * h * h * v * v) / (1.0 + v * v)
    total *= math.exp(-0.5 * h * h) / (2.0 * math.pi)
    return math.copysign(tail - total if turned else total, a)


FUNCTIONS = (exponential_integral, expi, dawsn, erfcx, erfi, sine_cosine_integrals, sine_integral,
             cosine_integral, fresnel, fresnel_sine, fresnel_cosine, dilogarithm_near,
             spence, owens_t)
