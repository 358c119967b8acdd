"""Hypergeometric functions of real numbers, for float64: series in twice the precision.

Where terms cancel, the digits that are left are counted: a result with fewer than about twelve is
NaN. Arguments below 0 are transformed (Kummer's, Pfaff's and Euler's formulas: Abramowitz and
Stegun, 13.1.27 and 15.3.3 to 15.3.5); next to 1 Taylor's series of the differential equation lead
from 0.75 on. Products are split after T. J. Dekker, Numer. Math. 18, 1971. Numba compiles these
functions, which call earlier ones alone.
"""

from __future__ import annotations

import math
from math import gamma as tgamma
from math import lgamma

__all__ = ["FUNCTIONS"]

_NEAR_ONE = 0.75
_SHIFT = 2.0 ** -664
_LOG_SHIFT = 664.0 * math.log(2.0)
_ENOUGH = 1e-12


def sum_of_two(x: float, y: float) -> tuple[float, float]:
    """Return a rounded sum and its rounding error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def product_of_two(x: float, y: float) -> tuple[float, float]:
    """Return a rounded product and its rounding error."""
    product = x * y
    big, far = 134217729.0 * x, 134217729.0 * y
    x_high, y_high = big - (big - x), far - (far - y)
    x_low, y_low = x - x_high, y - y_high
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def times(x: float, x_low: float, y: float, y_low: float) -> tuple[float, float]:
    """Return the product of two numbers, each in two parts."""
    product, rest = product_of_two(x, y)
    return sum_of_two(product, rest + (x * y_low + x_low * y))


def over(x: float, x_low: float, y: float, y_low: float) -> tuple[float, float]:
    """Return the quotient of two numbers, each in two parts."""
    first = x / y
    product, rest = times(y, y_low, first, 0.0)
    return sum_of_two(first, ((x - product) - rest + x_low) / y)


def is_end(x: float) -> bool:
    """Return whether x is 0, -1, -2 and so on."""
    return x <= 0.0 and x == math.floor(x)


def hyper_series(a: tuple[float, float], b: tuple[float, float], c: float, x: float,
                 pair: bool) -> tuple[float, float, float]:
    """Return the series of 2F1, or without `b` of 1F1, its largest term, and its power of 2**664.
    """
    term, term_low, total, total_low = 1.0, 0.0, 1.0, 0.0
    most, shifts = 1.0, 0.0
    for n in range(20000):
        up, up_low = sum_of_two(a[0], n + 0.0)
        term, term_low = times(term, term_low, up, up_low + a[1])
        if pair:
            up, up_low = sum_of_two(b[0], n + 0.0)
            term, term_low = times(term, term_low, up, up_low + b[1])
        if term == 0.0:
            break
        term, term_low = times(term, term_low, x, 0.0)
        down, down_low = sum_of_two(c, n + 0.0)
        down, down_low = times(down, down_low, n + 1.0, 0.0)
        term, term_low = over(term, term_low, down, down_low)
        total, rest = sum_of_two(total, term)
        total, total_low = sum_of_two(total, rest + (total_low + term_low))
        most = max(most, abs(term))
        if abs(term) < 1e-33 * most or abs(term) < 1e-19 * abs(total):
            growth = abs(x * (a[0] + n) / ((c + n) * (n + 1.0)) * (b[0] + n if pair else 1.0))
            if n > -a[0] and n > -c and (n > -b[0] or not pair) and growth < 0.95:
                break
        if most > 1e200:
            term, term_low, total = term * _SHIFT, term_low * _SHIFT, total * _SHIFT
            total_low, most, shifts = total_low * _SHIFT, most * _SHIFT, shifts + 1.0
    return total, most, shifts


def hyper_gauss(a: tuple[float, float], b: tuple[float, float], c: float, z: float) -> float:
    """Return the series of 2F1; NaN where too few digits are left."""
    total, most, shifts = hyper_series(a, b, c, z, True)
    if not most * 1e-29 <= _ENOUGH * abs(total):
        return math.nan
    while shifts > 0.0:
        total, shifts = total / _SHIFT, shifts - 1.0
    return total


def hyper_far(a: float, b: float, size: float) -> float:
    """Return 1F1 of a large number below 0: Abramowitz and Stegun, 13.5.1."""
    term = total = 1.0
    for n in range(200):
        term *= (a + n) * (a - b + 1.0 + n) / ((n + 1.0) * size)
        total += term
        if abs(term) < 1e-17 * abs(total):
            break
    if not abs(term) < 1e-15 * abs(total):
        return math.nan
    return tgamma(b) / tgamma(b - a) * math.exp(-a * math.log(size)) * total


def hyper_1f1(a: float, b: float, x: float) -> float:
    """Return Kummer's function M(a, b, x); NaN where it is not known well enough."""
    if not abs(a) < 1e6 or not abs(b) < 1e6 or x != x:
        return math.nan
    if math.isinf(x) and a > 0.0 and b > 0.0:
        return math.inf if x > 0.0 else 0.0
    if is_end(b) and not (is_end(a) and b <= a < 0.0):
        return math.inf
    if a == 0.0 or x == 0.0:
        return 1.0
    turned = x < 0.0 and not is_end(a)
    first = sum_of_two(b, -a) if turned else (a, 0.0)
    size = abs(x)
    if size > 2000.0 and not is_end(first[0]):
        small = abs(a) < 80.0 and abs(b) < 80.0
        if not turned:
            return math.inf * tgamma(b) * tgamma(a) if small else math.nan
        return hyper_far(a, b, size) if small else math.nan
    total, most, shifts = hyper_series(first, (1.0, 0.0), b, size if turned else x, False)
    if not most * 1e-29 <= _ENOUGH * abs(total):
        return math.nan
    if shifts == 0.0 and not turned:
        return total
    return total * math.exp(shifts * _LOG_SHIFT - (size if turned else 0.0))


def hyper_near_one(a: float, b: float, c: float, rest: float) -> float:
    """Return 2F1 of 1 - rest, which is above 0.75, of a c not below a + b."""
    value = hyper_gauss((a, 0.0), (b, 0.0), c, _NEAR_ONE)
    slope = a * b / c * hyper_gauss((a + 1.0, 0.0), (b + 1.0, 0.0), c + 1.0, _NEAR_ONE)
    lost = 0.0
    here = 1.0 - _NEAR_ONE
    while here > rest:
        there = max(rest, 0.5 * here)
        u = (here - there) / here
        g, h, power = value, slope * here, 1.0  # of powers of u
        total, total_slope, most = g, h, abs(g)
        for k in range(400):
            g, h = h, ((k + a) * (k + b) * here * g - (k + 1.0) * (
                k * (2.0 * here - 1.0) + c - (a + b + 1.0) * (1.0 - here)) * h) / (
                    (k + 1.0) * (k + 2.0) * (1.0 - here))
            power *= u
            total += g * power
            total_slope += (k + 2.0) * h * power
            most = max(most, abs(g * power))
            if k > 4 and (k + 2.0) * abs(h * power) < 1e-18 * abs(total_slope) and abs(
                    g * power) < 1e-17 * abs(total):
                break
        value, slope, here = total, total_slope / here, there
        lost = max(lost, 2e-16 * most)
    return value if lost <= _ENOUGH * abs(value) else math.nan


def hyper_inside(a: float, b: float, c: float, z: float, rest: float) -> float:
    """Return 2F1 of a z from -0.5 to 1, of which `rest` is 1 - z."""
    if z <= _NEAR_ONE or is_end(a) or is_end(b):
        return hyper_gauss((a, 0.0), (b, 0.0), c, z)
    first, second = c - a, c - b
    if is_end(first) or is_end(second):
        return math.exp((first - b) * math.log(rest)) * hyper_gauss(
            sum_of_two(c, -a), sum_of_two(c, -b), c, z)
    if c < a + b:
        return math.exp((first - b) * math.log(rest)) * hyper_near_one(first, second, c, rest)
    return hyper_near_one(a, b, c, rest)


def hyper_2f1(a: float, b: float, c: float, z: float) -> float:
    """Return Gauss's function F(a, b; c; z); NaN where it is not known well enough."""
    if not abs(a) < 1e4 or not abs(b) < 1e4 or not abs(c) < 1e4 or not abs(z) < 1e300:
        return math.nan
    if z == 0.0 or a == 0.0 or b == 0.0:
        return 1.0
    ends = is_end(a) or is_end(b)
    if is_end(c) and not ((is_end(a) and a >= c) or (is_end(b) and b >= c)):
        return math.inf
    if is_end(c) and (a == c or b == c) and z < 1.0:  # as SciPy takes it: no polynomial
        return math.exp(-(b if a == c else a) * math.log1p(-z))
    if z == 1.0 and not ends:
        away = c - a - b
        if away <= 0.0:
            return math.inf
        if is_end(c - a) or is_end(c - b):
            return 0.0
        if max(c, away, c - a, c - b) < 170.0:
            return tgamma(c) / tgamma(c - a) * (tgamma(away) / tgamma(c - b))
        return math.exp(lgamma(c) - lgamma(c - a) + lgamma(away) - lgamma(c - b)) if min(
            c, c - a, c - b) > 0.0 else math.nan
    if ends:
        return hyper_gauss((a, 0.0), (b, 0.0), c, z)
    if z > 1.0:
        return math.nan
    if z >= -0.5:
        return hyper_inside(a, b, c, z, 1.0 - z)
    least, most = min(a, b), max(a, b)
    return math.exp(-least * math.log1p(-z)) * hyper_inside(
        least, c - most, c, z / (z - 1.0), 1.0 / (1.0 - z))


FUNCTIONS = (sum_of_two, product_of_two, times, over, is_end, hyper_series, hyper_gauss,
             hyper_far, hyper_1f1, hyper_near_one, hyper_inside, hyper_2f1)
