"""Bessel functions of any real order, for float64: N. M. Temme's series and Steed's fractions.

Up to x = 2 the functions of the second kind of an order within a half of 0 have series (N. M.
Temme, J. Comput. Phys. 19 and 21, 1975 and 1976), beyond they follow from a continued fraction (A.
R. Barnett, J. Comput. Phys. 46, 1982); recurrences lead to other orders, the Wronskian to the first
kind. Far out are Hankel's expansions. Numba compiles these functions; they call earlier ones.
"""

from __future__ import annotations

import math
from math import gamma as tgamma

__all__ = ["FUNCTIONS"]

_RGAMMA_EVEN = (
    1.0, -0.6558780715202538811, 0.1665386113822914895, -0.009621971527876973562,
    -0.001165167591859065112, 0.0001280502823881161862, -1.250493482142670657e-6,
    -2.056338416977607103e-7, 5.00200764446922293e-9, 1.04342671169110051e-10,
    -3.696805618642205708e-12)
_RGAMMA_ODD = (
    0.5772156649015328606, -0.04200263503409523553, -0.04219773455554433675,
    0.007218943246663099542, -0.0002152416741149509728, -0.00002013485478078823866,
    1.133027231981695882e-6, 6.116095104481415818e-9, -1.181274570487020145e-9,
    7.782263439905071254e-12, 5.100370287454475979e-13)
"""The Taylor coefficients of 1 / gamma(1 + m) at m = 0."""


def temme_gammas(m: float) -> tuple[float, float]:
    """Return half the difference, by m, and half the sum of 1 / gamma(1 - m), 1 / gamma(1 + m)."""
    square = m * m
    even = odd = 0.0
    for k in range(10, -1, -1):
        even, odd = even * square + _RGAMMA_EVEN[k], odd * square + _RGAMMA_ODD[k]
    return -odd, even


def sine_of_pi(v: float) -> float:
    """Return sin(pi v), 0 of whole numbers."""
    rest = v - 2.0 * math.floor(0.5 * v)
    return 0.0 if rest == 0.0 or rest == 1.0 else math.sin(math.pi * rest)


def cosine_of_pi(v: float) -> float:
    """Return cos(pi v), 0 of halves."""
    rest = abs(v - 2.0 * math.floor(0.5 * v))
    return 0.0 if rest == 0.5 or rest == 1.5 else math.cos(math.pi * rest)


def hankel_jy(v: float, x: float) -> tuple[float, float]:
    """Return J and Y far out, by Hankel's expansion."""
    in_phase, across, term = 1.0, 0.0, 1.0
    for k in range(1, 60):
        factor = (4.0 * v * v - (2 * k - 1) ** 2) / (8.0 * k * x)
        if abs(factor) >= 1.0 or abs(term) < 1e-18:
            break
        term *= factor
        if k % 2 == 1:
            across += term if k % 4 == 1 else -term
        else:
            in_phase += term if k % 4 == 0 else -term
    size = math.sqrt(2.0 / (math.pi * x))
    turn = 0.5 * v + 0.25
    c, s, cos_x, sin_x = cosine_of_pi(turn), sine_of_pi(turn), math.cos(x), math.sin(x)
    cos, sin = cos_x * c + sin_x * s, sin_x * c - cos_x * s
    return size * (in_phase * cos - across * sin), size * (in_phase * sin + across * cos)


def near_zero(v: float, x: float, sign: float) -> float:
    """Return the first terms of J, with a sign of -1, or of I, of an order of 0 or above."""
    square = sign * 0.25 * x * x
    return 0.5 ** v * x ** v / tgamma(1.0 + v) * (
        1.0 + square / (v + 1.0) * (1.0 + 0.5 * square / (v + 2.0))) if v < 170.0 else 0.0


def temme_y(m: float, x: float) -> tuple[float, float]:
    """Return Y of an order within a half of 0, and of the next one, of an x up to 2."""
    log = math.log(2.0) - math.log(x)
    turn, sigma = math.pi * m, m * log
    to_sine = 1.0 if abs(turn) < 1e-8 else turn / math.sin(turn)
    to_sinh = 1.0 if abs(sigma) < 1e-8 else math.sinh(sigma) / sigma
    half, e = temme_gammas(m), math.exp(sigma)
    f = 2.0 / math.pi * to_sine * (math.cosh(sigma) * half[0] + to_sinh * log * half[1])
    p = e / (math.pi * (half[1] - m * half[0]))
    q = 1.0 / (e * math.pi * (half[1] + m * half[0]))
    sine = 1.0 if abs(turn) < 1e-8 else math.sin(0.5 * turn) / (0.5 * turn)
    r = math.pi * (0.5 * turn) * sine * sine
    c, first, second = 1.0, f + r * q, p
    for k in range(1, 40):
        f = (k * f + p + q) / (k * k - m * m)
        c *= -0.25 * x * x / k
        p /= k - m
        q /= k + m
        g = f + r * q
        first += c * g
        second += c * (p - k * g)
    return -first, -second * 2.0 / x


def bessel_jy(v: float, x: float) -> tuple[float, float]:
    """Return J and Y of an order that is not below 0, of an x above 0."""
    if not (x < 1e17 and v < 1e5):
        return (0.0, 0.0) if x >= 1e17 and v < 1e5 else (math.nan, math.nan)
    if x > 30.0 and x > 0.5 * v * v + 10.0:
        return hankel_jy(v, x)
    steps = int(v + 0.5) if x < 2.0 else max(0, int(v - x + 1.5))
    m, inverse = v - steps, 1.0 / x
    if x < 1e-4:
        y, above = temme_y(m, x)
        for k in range(1, steps + 1):
            y, above = above, 2.0 * (m + k) * inverse * above - (0.0 if math.isinf(above) else y)
        return near_zero(v, x, -1.0), y
    ratio, sign = max(v * inverse, 1e-300), 1.0
    b, d, c = 2.0 * v * inverse, 0.0, ratio
    for _ in range(100000):  # J' / J
        b += 2.0 * inverse
        d = b - d
        d = 1e-300 if abs(d) < 1e-300 else d
        c = b - 1.0 / c
        c = 1e-300 if abs(c) < 1e-300 else c
        d = 1.0 / d
        ratio *= c * d
        sign = -sign if d < 0.0 else sign
        if abs(c * d - 1.0) < 2e-16:
            break
    j = sign * 1e-100
    slope, last, order = ratio * j, j, v * inverse
    for _ in range(steps):
        lower = order * j + slope
        order -= inverse
        slope, j = order * lower - j, lower
        if abs(j) > 1e100:
            slope, j, last = slope * 1e-200, j * 1e-200, last * 1e-200
    j = 1e-300 if j == 0.0 else j
    f = slope / j
    if x < 2.0:
        y, above = temme_y(m, x)
        of_m = 2.0 * inverse / math.pi / (m * inverse * y - above - f * y)
    else:
        top = complex(0.25 - m * m, 0.0)
        low = complex(2.0 * x, 2.0)
        big = small = 1.0 / low
        fraction = top * small
        for k in range(1, 10000):
            top += 2.0 * k
            low += 2.0j
            small = 1.0 / (low + top * small)
            big = low if k == 1 else low + top / big
            change = big * small
            fraction *= change
            if abs(change.real - 1.0) + abs(change.imag) < 2e-16:
                break
        pq = complex(-0.5 * inverse, 1.0) + 1.0j * inverse * fraction
        p, q = pq.real, pq.imag
        gamma = (p - f) / q
        of_m = math.copysign(math.sqrt(2.0 * inverse / math.pi / (q + gamma * (p - f))), j)
        y = gamma * of_m
        above = m * inverse * y - (p * y + q * of_m)
    for k in range(1, steps + 1):
        y, above = above, 2.0 * (m + k) * inverse * above - y
        if math.isinf(above) and k < steps:
            y = above
            break
    return last * (of_m / j), y


def temme_k(m: float, x: float) -> tuple[float, float]:
    """Return exp(x) K of an order within a half of 0, and of the next one, of an x up to 2."""
    log = math.log(2.0) - math.log(x)
    turn, sigma = math.pi * m, m * log
    to_sine = 1.0 if abs(turn) < 1e-8 else turn / math.sin(turn)
    to_sinh = 1.0 if abs(sigma) < 1e-8 else math.sinh(sigma) / sigma
    half, e = temme_gammas(m), math.exp(sigma)
    f = to_sine * (math.cosh(sigma) * half[0] + to_sinh * log * half[1])
    p = 0.5 * e / (half[1] - m * half[0])
    q = 0.5 / (e * (half[1] + m * half[0]))
    c, first, second = 1.0, f, p
    for k in range(1, 40):
        f = (k * f + p + q) / (k * k - m * m)
        c *= 0.25 * x * x / k
        p /= k - m
        q /= k + m
        first += c * f
        second += c * (p - k * f)
    return math.exp(x) * first, math.exp(x) * second * 2.0 / x


def steed_k(m: float, x: float) -> tuple[float, float]:
    """Return exp(x) K of an order within a half of 0, and of the next one, of an x from 2 on."""
    b = 2.0 * (1.0 + x)
    d = 1.0 / b
    change = fraction = d
    first, second = 0.0, 1.0
    start = 0.25 - m * m
    weight = c = start
    a = -start
    total = 1.0 + weight * change
    for k in range(2, 10000):
        a -= 2.0 * (k - 1)
        c = -a * c / k
        first, second = second, (first - b * second) / a
        weight += c * second
        b += 2.0
        d = 1.0 / (b + a * d)
        change *= b * d - 1.0
        fraction += change
        total += weight * change
        if abs(weight * change) < 1e-17 * abs(total):
            break
    value = math.sqrt(math.pi / (2.0 * x)) / total
    return value, value * (m + x + 0.5 - start * fraction) / x


def bessel_ik(v: float, x: float) -> tuple[float, float]:
    """Return exp(-x) I and exp(x) K of an order that is not below 0, of an x above 0."""
    if not v < 1e5:
        return math.nan, math.nan
    if x > 50.0 and x > v * v:
        i = k = term = 1.0
        for n in range(1, 60):
            factor = (4.0 * v * v - (2 * n - 1) ** 2) / (8.0 * n * x)
            if abs(factor) >= 1.0 or abs(term) < 1e-18:
                break
            term *= factor
            k += term
            i += term if n % 2 == 0 else -term
        return i / math.sqrt(2.0 * math.pi * x), k * math.sqrt(math.pi / (2.0 * x))
    steps = int(v + 0.5)
    m, inverse = v - steps, 1.0 / x
    if x < 1e-4:
        k, above = temme_k(m, x)
        for n in range(1, steps + 1):
            k, above = above, 2.0 * (m + n) * inverse * above + k
        return math.exp(-x) * near_zero(v, x, 1.0), k
    ratio = max(v * inverse, 1e-300)
    b, d, c = 2.0 * v * inverse, 0.0, ratio
    for _ in range(100000):  # I' / I
        b += 2.0 * inverse
        d = 1.0 / (b + d)
        c = b + 1.0 / c
        ratio *= c * d
        if abs(c * d - 1.0) < 2e-16:
            break
    i = last = 1e-100
    slope, order = ratio * i, v * inverse
    for _ in range(steps):
        lower = order * i + slope
        order -= inverse
        slope, i = order * lower + i, lower
        if i > 1e100:
            slope, i, last = slope * 1e-200, i * 1e-200, last * 1e-200
    k, above = temme_k(m, x) if x < 2.0 else steed_k(m, x)
    of_m = inverse / (slope / i * k - (m * inverse * k - above))
    for n in range(1, steps + 1):
        k, above = above, 2.0 * (m + n) * inverse * above + k
    return last * (of_m / i), k


def bessel_j(v: float, x: float) -> float:
    """Return the Bessel function of the first kind, of an x below 0 for whole orders."""
    if math.isinf(v):
        return 0.0 * x
    whole = v == math.floor(v)
    if v != v or x != x or (x < 0.0 and not whole):
        return math.nan
    order, sign = abs(v), 1.0
    if (x < 0.0) != (v < 0.0 and whole) and whole and order != 2.0 * math.floor(0.5 * order):
        sign = -1.0
    if x == 0.0:
        return 1.0 if v == 0.0 else 0.0 if v > 0.0 or whole else math.copysign(
            math.inf, tgamma(1.0 + v))
    if math.isinf(x):
        return 0.0
    j, y = bessel_jy(order, abs(x))
    if v >= 0.0 or whole:
        return sign * j
    return cosine_of_pi(order) * j - sine_of_pi(order) * y


def bessel_y(v: float, x: float) -> float:
    """Return the Bessel function of the second kind."""
    if math.isinf(v):
        return -math.inf if x == 0.0 else math.nan
    if v != v or not x >= 0.0:
        return math.nan
    order = abs(v)
    if x == 0.0:
        turns = math.ceil(order - 0.5) if v < 0.0 else 0.0
        return -math.inf if turns == 2.0 * math.floor(0.5 * turns) else math.inf
    if math.isinf(x):
        return 0.0
    j, y = bessel_jy(order, x)
    if v >= 0.0:
        return y
    if v == math.floor(v):
        return y if order == 2.0 * math.floor(0.5 * order) else -y
    cosine = cosine_of_pi(order)
    return sine_of_pi(order) * j + (cosine * y if cosine != 0.0 else 0.0)


def bessel_ie(v: float, x: float) -> float:
    """Return exp(-|x|) times the modified Bessel function of the first kind."""
    if math.isinf(v):
        return 0.0 * x
    whole = v == math.floor(v)
    if v != v or x != x or (x < 0.0 and not whole):
        return math.nan
    order = abs(v)
    if x == 0.0:
        return 1.0 if v == 0.0 else 0.0 if v > 0.0 or whole else math.nan
    if math.isinf(x):
        return 0.0
    i, k = bessel_ik(order, abs(x))
    if v < 0.0 and not whole:
        return i + 2.0 / math.pi * sine_of_pi(order) * math.exp(-2.0 * x) * k
    return -i if x < 0.0 and order != 2.0 * math.floor(0.5 * order) else i


def bessel_ke(v: float, x: float) -> float:
    """Return exp(x) times the modified Bessel function of the second kind."""
    if math.isinf(v):
        return math.inf if x == 0.0 else math.nan
    if v != v or not x >= 0.0:
        return math.nan
    if x == 0.0 or math.isinf(x):
        return math.inf if x == 0.0 else 0.0
    return bessel_ik(abs(v), x)[1]


FUNCTIONS = (temme_gammas, sine_of_pi, cosine_of_pi, hankel_jy, near_zero, temme_y, bessel_jy,
             temme_k, steed_k, bessel_ik, bessel_j, bessel_y, bessel_ie, bessel_ke)
