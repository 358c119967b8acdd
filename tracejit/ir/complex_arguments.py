"""Functions of complex numbers, for complex128: the Faddeeva function and Lambert's W.

The Faddeeva function is a trapezoidal sum with the residue of the pole that lies next to it (M. Al
Azah and S. N. Chandler-Wilde, SIAM J. Numer. Anal. 59, 2021), W is found by Halley's iteration (R.
M. Corless and others, Adv. Comput. Math. 5, 1996), near -1/e by its series there. Numba compiles
these functions, which call earlier ones alone.
"""

from __future__ import annotations

import cmath
import math

__all__ = ["FUNCTIONS"]

_ROOT_PI = 1.7724538509055160273
_STEP = math.sqrt(math.pi / 13.0)
_E, _E_REST = 2.718281828459045, 1.4456468917292502e-16
"""The number e, and the rest that a float lacks."""


def faddeeva_above(x: float, y: float) -> complex:
    """Return exp(-z * z) erfc(-1j z) of z = x + 1j y in the first quadrant."""
    z = complex(x, y)
    if x + y > 1e7:
        u, v = (y / x, x) if x > y else (x / y, y)  # no square overflows
        size = v * (1.0 + u * u) * _ROOT_PI
        return complex(u / size, 1.0 / size) if x > y else complex(1.0 / size, u / size)
    place = x / _STEP
    place -= math.floor(place)
    alone = y >= max(x, math.pi / _STEP)
    between = not alone and y < x and 0.25 <= place <= 0.75
    square, total = z * z, complex(0.0, 0.0)
    for k in range(13):
        t = k * _STEP if between else (k + 0.5) * _STEP
        term = math.exp(-t * t) / (square - t * t)
        total += 0.5 * term if between and k == 0 else term
    total *= complex(-y, x) * (2.0 * _STEP / math.pi)
    if alone:
        return total
    turn, fall = 2.0 * math.pi * x / _STEP, math.exp(-2.0 * math.pi * y / _STEP)
    pole = complex(fall * math.cos(turn), fall * math.sin(turn))
    size, turn = 2.0 * math.exp((y - x) * (y + x)), 2.0 * x * y
    wave = complex(size * math.cos(turn), -size * math.sin(turn))
    return total + wave * pole / (pole - 1.0 if between else pole + 1.0)


def faddeeva(z: complex) -> complex:
    """Return exp(-z * z) erfc(-1j z)."""
    x, y = z.real, z.imag
    if x != x or y != y:
        return complex(math.nan, math.nan)
    if math.isinf(x) or (math.isinf(y) and y > 0.0):
        return complex(0.0, 0.0)
    if math.isinf(y):
        return complex(math.inf, 0.0) if x == 0.0 else complex(math.nan, math.nan)
    above = faddeeva_above(abs(x), abs(y))
    if x == 0.0:
        above = complex(above.real, 0.0)
    if y < 0.0:
        up = (y - x) * (y + x)
        size, turn = 2.0 * math.exp(up) if up < 709.0 else math.inf, 2.0 * abs(x) * y
        if x == 0.0:
            return complex(size - above.real, 0.0)
        above = complex(size * math.cos(turn) - above.real, above.imag - size * math.sin(turn))
    return complex(above.real, -above.imag) if x < 0.0 else above


_ODD_TERMS = 27
_ODD = tuple(float(math.prod(range(1, 2 * k, 2))) for k in range(_ODD_TERMS))
"""The products of odd numbers 1, 1, 3, 15, ... of the asymptotic series of w and its kin."""


def odd_factorials(t: complex, order: complex) -> complex:
    """Return a derivative of the sum of (2 k - 1)!! t ** k for k from 1 to 26."""
    n = int(order.real)
    total = complex(0.0, 0.0)
    for j in range(_ODD_TERMS - max(n, 1)):
        k = _ODD_TERMS - 1 - j
        factor = _ODD[k]
        for i in range(n):
            factor *= k - i
        total = total * t + factor
    return total if n > 0 else total * t


def odd_factorials_real(t: float, order: float) -> float:
    """Return a derivative of the same sum of real numbers."""
    n, x = int(order), float(t)
    total = 0.0
    for j in range(_ODD_TERMS - max(n, 1)):
        k = _ODD_TERMS - 1 - j
        factor = _ODD[k]
        for i in range(n):
            factor *= k - i
        total = total * x + factor
    return total if n > 0 else total * x


def _branch_terms(count: int) -> tuple[float, ...]:
    """Return the coefficients of W in p = sqrt(2 (e z + 1)): Corless and others, (4.22)."""
    mu, alpha = [-1.0, 1.0], [2.0, -1.0]
    for k in range(2, count):
        alpha.append(sum(mu[j] * mu[k + 1 - j] for j in range(2, k)))
        mu.append((k - 1) / (k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4) - alpha[k] / 2
                  - mu[k - 1] / (k + 1))
    return tuple(mu)


_TERMS = 26
_BRANCH = _branch_terms(_TERMS)


def one_and_e_times(x: float) -> float:
    """Return 1 + e * x, with all digits where the two cancel."""
    product = _E * x
    if not 0.3 < -x < 0.45:
        return 1.0 + product
    big, far = 134217729.0 * _E, 134217729.0 * x
    e_high, x_high = big - (big - _E), far - (far - x)
    e_low, x_low = _E - e_high, x - x_high
    lost = ((e_high * x_high - product) + e_high * x_low + e_low * x_high) + e_low * x_low
    return (1.0 + product) + (lost + _E_REST * x)


def lambert_near(k: float, z: complex) -> bool:
    """Return whether a branch goes through -1 at z = -1 / e, from where z is."""
    return (k == -1.0 and z.imag >= 0.0) or (k == 1.0 and z.imag < 0.0)


def lambert_start(k: float, z: complex, square: complex) -> complex:
    """Return a number near W: the series around -1 / e, logarithms far from it."""
    p, second = cmath.sqrt(square), lambert_near(k, z)
    if (k == 0.0 or second) and abs(p) < 0.9:
        q = -p if second else p
        w = complex(_BRANCH[_TERMS - 1], 0.0)
        for n in range(_TERMS - 2, -1, -1):
            w = w * q + _BRANCH[n]
        return w
    if k == 0.0 and z.real < -0.1 and abs(p) < 1.6:
        return -1.0 + p * (1.0 - p / 3.0 + 11.0 / 72.0 * p * p)
    if k == 0.0 and abs(z) < 3.0 and z.real > -0.7:
        return cmath.log(1.0 + z)
    if k == -1.0 and z.imag == 0.0 and z.real < 0.0 <= square.real:
        first = math.log(-z.real)
        return complex(first - math.log(-first), 0.0)
    log = cmath.log(z) + complex(0.0, 2.0 * math.pi * k)
    return log - cmath.log(log) if abs(log) > 1e-3 else log


def lambert_w(z: complex, branch: complex) -> complex:
    """Return the solution w of w * exp(w) = z on a branch, which is a whole number."""
    k = branch.real
    if z.real != z.real or z.imag != z.imag:
        return z
    if z == 0.0:
        return z if k == 0.0 else complex(-math.inf, 0.0)
    if math.isinf(z.real) or math.isinf(z.imag):
        return complex(math.inf, math.atan2(z.imag, z.real) + 2.0 * math.pi * k)
    square = complex(2.0 * one_and_e_times(z.real), 2.0 * _E * z.imag)
    w = lambert_start(k, z, square)
    if abs(square) < 0.09 and (k == 0.0 or lambert_near(k, z)):
        return w
    for _ in range(60):
        if w.real >= 0.0:
            e = cmath.exp(-w)
            rest = w - z * e
            step = rest / (w + 1.0 - (w + 2.0) * rest / (2.0 * w + 2.0))
        else:
            e = cmath.exp(w)
            rest = w * e - z
            step = rest / (w * e + e - (w + 2.0) * rest / (2.0 * w + 2.0))
        w -= step
        if abs(step) <= 1e-15 * abs(w) or step != step:
            break
    real = z.imag == 0.0 and square.real >= 0.0 and (k == 0.0 or (k == -1.0 and z.real < 0.0))
    return complex(w.real, 0.0) if real else w


FUNCTIONS = (faddeeva_above, faddeeva, odd_factorials, odd_factorials_real,
             one_and_e_times, lambert_near, lambert_start, lambert_w)
