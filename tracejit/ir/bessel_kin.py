"""Airy's and Struve's functions, for float64, by Bessel functions and by series near 0.

M. Abramowitz and I. A. Stegun, 10.4.14 to 10.4.30 and 12.1.3 to 12.1.8; NIST's Digital Library of
Mathematical Functions, 9.6 and 11.5.2. Numba compiles these functions, which call functions of
`bessel_orders.py` and earlier ones alone.
"""

from __future__ import annotations

import math
from math import gamma as tgamma

from tracejit.ir.bessel_orders import bessel_ik, bessel_j, bessel_jy, bessel_y

__all__ = ["FUNCTIONS"]

_AI, _AIP = 0.35502805388781723926, 0.25881940379280679840
"""Ai(0) and -Ai'(0); those of Bi are root 3 times as large."""
_ROOT_3 = 1.7320508075688772935
_ROOT_PI = 1.7724538509055160273


def airy_near(x: float, which: int) -> float:
    """Return Ai, Ai', Bi or Bi' by the series around 0."""
    cube = x * x * x
    f, g, slope_f, slope_g = 1.0, x, 0.5 * x * x, 1.0
    a, b, c, d = f, g, slope_f, slope_g
    for k in range(1, 14):
        a *= cube / ((3 * k - 1) * (3 * k))
        b *= cube / ((3 * k) * (3 * k + 1))
        c *= cube / ((3 * k) * (3 * k + 2))
        d *= cube / ((3 * k - 2) * (3 * k))
        f, g, slope_f, slope_g = f + a, g + b, slope_f + c, slope_g + d
    if which == 0:
        return _AI * f - _AIP * g
    if which == 1:
        return _AI * slope_f - _AIP * slope_g
    return _ROOT_3 * (_AI * f + _AIP * g if which == 2 else _AI * slope_f + _AIP * slope_g)


def airy_function(x: float, kind: float) -> float:
    """Return Ai, Ai', Bi or Bi' (kind 0 to 3), or the same scaled (4 to 7)."""
    if x != x or math.isinf(x):
        return math.nan
    scaled, which = kind >= 4.0, int(kind) % 4
    if scaled and x < 0.0 and which < 2:
        return math.nan
    size = abs(x)
    root = math.sqrt(size)
    angle = 2.0 / 3.0 * size * root
    third = which % 2 == 0
    if size < 1.0:
        value = airy_near(x, which)
        return value if not scaled or x < 0.0 else value * math.exp(
            angle if which < 2 else -angle)
    if x < 0.0:
        j, y = bessel_jy(1.0 / 3.0 if third else 2.0 / 3.0, angle)
        if which == 0:
            return 0.5 * root * (j - y / _ROOT_3)
        if which == 1:
            return 0.5 * size * (j + y / _ROOT_3)
        return -0.5 * root * (j / _ROOT_3 + y) if which == 2 else 0.5 * size * (j / _ROOT_3 - y)
    i, k = bessel_ik(1.0 / 3.0 if third else 2.0 / 3.0, angle)
    weight = root if third else size
    if which < 2:
        value = k * weight / (math.pi * _ROOT_3)
        value = value if third else -value
        return value if scaled else value * math.exp(-angle)
    tail = _ROOT_3 / math.pi * math.exp(-2.0 * angle) * k
    value = weight / _ROOT_3 * (2.0 * i + tail)
    if scaled:
        return value
    return value * math.exp(angle - 30.0) * math.exp(30.0) if angle < 739.0 else math.inf


def struve_beyond(v: float, x: float) -> float:
    """Return H - Y by its integral, of x from 1 on; the rule is double exponential."""
    half = v + 0.5
    if half <= 0.0 and half == math.floor(half):
        return 0.0
    total, step = 0.0, 0.0625
    for k in range(-64, 108):
        u = k * step
        inner = math.exp(-u)
        s = math.exp(u - inner)
        if s < 750.0 and s > 0.0:
            total += math.exp((v - 0.5) * math.log1p((s / x) ** 2) - s) * s * (1.0 + inner)
    power = math.exp(v * math.log(0.5 * x))
    return 2.0 * step * total * power / (_ROOT_PI * tgamma(half) * x)


def struve(v: float, x: float) -> float:
    """Return Struve's function of an order, of an x below 0 for whole orders."""
    whole = v == math.floor(v)
    if v != v or x != x or (x < 0.0 and not whole) or not abs(v) < 160.0:
        return math.nan
    if x == 0.0:
        if v >= -1.0:
            return 2.0 / math.pi if v == -1.0 else 0.0
        above = v + 1.5
        if above == 0.0:
            return math.inf
        pole = above == math.floor(above)
        return math.nan if pole else math.copysign(math.inf, tgamma(above))
    if math.isinf(x):
        return math.inf if x > 0.0 and v >= 1.0 else math.nan
    size = abs(x)
    sign = -1.0 if x < 0.0 and 0.5 * v == math.floor(0.5 * v) else 1.0
    if v + 0.5 < 0.0 and v + 0.5 == math.floor(v + 0.5):
        n = -v - 0.5
        return bessel_j(n + 0.5, size) if 0.5 * n == math.floor(0.5 * n) else -bessel_j(
            n + 0.5, size)
    total, most = 0.0, math.inf
    if size < 80.0:
        quarter = 0.25 * size * size
        term = (0.5 * size) ** (v + 1.0) / (0.5 * _ROOT_PI * tgamma(v + 1.5))
        most = 0.0
        for k in range(300):
            total += term
            most = max(most, abs(term))
            term *= -quarter / ((k + 1.5) * (k + v + 1.5))
            if abs(term) < 1e-17 * abs(total) and k + v > 0.0:
                break
        if size < 4.0 or most < 100.0 * abs(total):
            return sign * total
    y, beyond = bessel_y(v, size), struve_beyond(v, size)
    return sign * (total if most < 4.0 * (abs(y) + abs(beyond)) else y + beyond)


FUNCTIONS = (airy_near, airy_function, struve_beyond, struve)
