"""Parts of the gamma and beta distributions, and their derivatives by the shapes, for float64.

A part is the integral of the density, times powers of centred logarithms, up to x, or, with a
minus sign, from x on: the integral on the smaller side of the mean is taken. Derivatives by the
shapes bring down powers of logarithms. The integrals run over u, the difference of the logarithms
(of the log-odds) of the variable and of x, where they fall exponentially, by the double
exponential rule: H. Takahasi and M. Mori, Publ. RIMS 9, 1974. Numba compiles these functions,
which call earlier ones alone.
"""

from __future__ import annotations

import math
from math import gamma as tgamma
from math import lgamma

from tracejit.ir.quantiles import normal_quantile

__all__ = ["FUNCTIONS", "SMALL_X", "beta_part", "gamma_part", "stirling_rest"]

_ROOT_2_PI = 2.5066282746310005024
_PLACES = [8.4 / 128 * i - 3.6 for i in range(129)]
_NODES = tuple([math.exp(s - math.exp(-s)) for s in _PLACES])
_WEIGHTS = tuple([8.4 / 128 * (1.0 + math.exp(-s)) * u
                  for s, u in zip(_PLACES, _NODES, strict=True)])
SMALL_X = 1.5
"""Up to this x the lower part of a gamma distribution is taken, whatever its shape is."""


def stirling_rest(z: float) -> float:
    """Return log(gamma(z)) less Stirling's formula, of a z above 0."""
    total = 0.0
    while z < 10.0:
        total += (z + 0.5) * math.log1p(1.0 / z) - 1.0
        z += 1.0
    t = 1.0 / (z * z)
    return total + (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t * (
        1 / 1188 - t * (691 / 360360 - t / 156)))))) / z


def log_excess(m: float) -> float:
    """Return m - log(1 + m)."""
    if abs(m) >= 0.3:
        return m - math.log1p(m)
    r = m / (2.0 + m)
    square = r * r
    total = 0.0
    for k in range(14, 0, -1):
        total = total * square + 1.0 / (2 * k + 1)
    return 2.0 * square / (1.0 - r) - 2.0 * r * square * total


def scalar_digamma(x: float) -> float:
    """Return the derivative of log(gamma(x)), of an x above 0."""
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    return total + math.log(x) - 0.5 / x - t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (
        1 / 240 - t * (1 / 132 - t * (691 / 32760 - t / 12))))))


def gamma_front(a: float, x: float) -> float:
    """Return x**a exp(-x) / gamma(a)."""
    if a < 10.0:
        return math.exp(a * math.log(x) - x) / tgamma(a)
    m = (x - a) / a
    excess = log_excess(m) if m > -0.5 else m - math.log(x / a)
    return math.exp(-a * excess - stirling_rest(a)) * math.sqrt(a) / _ROOT_2_PI


def gamma_density(a: float, x: float) -> float:
    """Return x**(a - 1) exp(-x) / gamma(a)."""
    if not (a > 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else 1.0 if a == 1.0 else 0.0
    return gamma_front(a, x) / x if x < 1e300 else 0.0


def gamma_part(a: float, x: float, k: float) -> float:
    """Return a part of a gamma distribution, times the k-th power of its centred logarithm."""
    if not (a > 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0 or x > 1e300:
        return 0.0
    front = gamma_front(a, x)
    if front == 0.0:
        return 0.0
    away = math.log(x) - scalar_digamma(a)
    below = x <= max(a, SMALL_X)
    slope = max(abs(a - x), math.sqrt(x))
    scale = 1.0 / a if below and a < 1.0 else 1.0 / slope
    total = 0.0
    for i in range(129):
        u = scale * _NODES[i]
        if u > 700.0 and not below:
            break
        exponent = -a * u - x * math.expm1(-u) if below else a * u - x * math.expm1(u)
        if exponent < -60.0 and i > 64:
            break
        value = math.exp(exponent) * _WEIGHTS[i]
        log = away - u if below else away + u
        for _ in range(int(k)):
            value *= log
        total += value
    total *= front * scale
    return total if below else -total


def beta_front(a: float, b: float, x: float, y: float) -> float:
    """Return x**a y**b / beta(a, b), where y is 1 - x."""
    s = a + b
    m = y * a - x * b
    in_a, in_b = -m / a, m / b
    if abs(in_a) < 0.3 and abs(in_b) < 0.3:
        exponent = -a * log_excess(in_a) - b * log_excess(in_b)
    else:
        exponent = a * (math.log1p(in_a) if abs(in_a) < 0.5 else math.log(x * (s / a)))
        exponent += b * (math.log1p(in_b) if abs(in_b) < 0.5 else math.log(y * (s / b)))
    exponent += stirling_rest(s) - stirling_rest(a) - stirling_rest(b)
    return math.exp(exponent) * math.sqrt(a * (b / s)) / _ROOT_2_PI


def beta_density(a: float, b: float, x: float, y: float) -> float:
    """Return x**(a - 1) y**(b - 1) / beta(a, b), where y is 1 - x."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and y >= 0.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else b if a == 1.0 else 0.0
    if y == 0.0:
        return math.inf if b < 1.0 else a if b == 1.0 else 0.0
    return beta_front(a, b, x, y) / (x * y)


def beta_part(a: float, b: float, x: float, y: float, j: float, k: float) -> float:
    """Return a part of a beta distribution, times powers of the centred logarithms of x and y."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and y >= 0.0):
        return math.nan
    if x == 0.0 or y == 0.0:
        return 0.0
    below = x * b <= y * a
    of_s = scalar_digamma(a + b)
    in_x, in_y = of_s - scalar_digamma(a), of_s - scalar_digamma(b)
    if not below:
        a, b, x, y, j, k, in_x, in_y = b, a, y, x, k, j, in_y, in_x
    front = beta_front(a, b, x, y)
    if front == 0.0:
        return 0.0
    in_x += math.log(x) if x < 0.5 else math.log1p(-y)
    in_y += math.log(y) if y < 0.5 else math.log1p(-x)
    s = a + b
    slope = max(abs(y * a - x * b), math.sqrt(s * x * y))
    scale = 1.0 / a if a < 1.0 else 1.0 / slope
    total = 0.0
    for i in range(129):
        u = scale * _NODES[i]
        if x < 0.5 or u > 30.0:  # the logarithms of how much x and y change
            to_y = -math.log1p(x * math.expm1(-u)) if x < 0.5 else -math.log(y + x * math.exp(-u))
            to_x = -u + to_y
            exponent = -a * u + s * to_y
        else:
            to_x = -math.log1p(y * math.expm1(u))
            to_y = u + to_x
            exponent = b * u + s * to_x
        if exponent < -60.0 and i > 64:
            break
        value = math.exp(exponent) * _WEIGHTS[i]
        for _ in range(int(j)):
            value *= in_x + to_x
        for _ in range(int(k)):
            value *= in_y + to_y
        total += value
    total *= front * scale
    return total if below else -total


def gamma_quantile(a: float, p: float, q: float) -> float:
    """Return where the gamma distribution function is p, which is 1 - q: by Newton's method.

    The logarithms of both tails are concave functions of log(x): from the second step on, steps go
    one way.
    """
    if not (a > 0.0 and p >= 0.0 and q >= 0.0):
        return math.nan
    if p == 0.0 or q == 0.0:
        return 0.0 if p == 0.0 else math.inf
    z = normal_quantile(0.5 - q if p > 0.5 else p - 0.5, min(p, q))
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * math.sqrt(a))
    t = math.log(a) + 3.0 * math.log(root) if root > 0.2 else (
        math.log(p) + lgamma(a + 1.0)) / a
    t = max(t, -690.0)
    last, is_reached = t, False
    for _ in range(80):
        x = math.exp(t)
        part = gamma_part(a, x, 0.0)
        below = x <= max(a, SMALL_X)
        lower = part if below else 1.0 + part
        upper = 1.0 - part if below else -part
        tail, wanted = (lower, p) if p <= q else (upper, q)
        if tail <= 0.0:  # too far out for a number
            t = 0.5 * (t + last) if is_reached else t + (0.25 if p <= q else -0.25)
            continue
        last, is_reached = t, True
        move = (math.log(tail / wanted)) * tail / (gamma_front(a, x) + 1e-320)
        move = min(max(-move if p <= q else move, -8.0 - 4.0 / a), 3.0)
        t = max(t + move, -745.0)
        if abs(move) <= 1e-15 * max(1.0, abs(t)) or t == -745.0:
            break
    return math.exp(t)


def beta_quantile(a: float, b: float, p: float, q: float) -> float:
    """Return where the beta distribution function is p, which is 1 - q: by Newton's method.

    The logarithms of both tails are concave functions of the log-odds of x.
    """
    if not (a > 0.0 and b > 0.0 and p >= 0.0 and q >= 0.0):
        return math.nan
    if p == 0.0 or q == 0.0:
        return 0.0 if p == 0.0 else 1.0
    z = normal_quantile(0.5 - q if p > 0.5 else p - 0.5, min(p, q))
    t = math.log(a / b) + z * math.sqrt(1.0 / a + 1.0 / b)
    if p <= q and a < 1.0:
        t = min(t, (math.log(p * a) + lgamma(a) + lgamma(b) - lgamma(a + b)) / a)
    elif a >= 0.0 and p > q and b < 1.0:
        t = max(t, -(math.log(q * b) + lgamma(a) + lgamma(b) - lgamma(a + b)) / b)
    last = math.log(a / b)
    for _ in range(80):
        t = min(max(t, -740.0), 740.0)
        x = math.exp(t) / (1.0 + math.exp(t)) if t < 0.0 else 1.0 / (1.0 + math.exp(-t))
        y = math.exp(-t) / (1.0 + math.exp(-t)) if t > 0.0 else 1.0 / (1.0 + math.exp(t))
        part = beta_part(a, b, x, y, 0.0, 0.0)
        below = x * b <= y * a
        lower = part if below else 1.0 + part
        upper = 1.0 - part if below else -part
        tail, wanted = (lower, p) if p <= q else (upper, q)
        if tail <= 0.0:
            t = 0.5 * (t + last)
            continue
        last = t
        move = math.log(tail / wanted) * tail / (beta_front(a, b, x, y) + 1e-320)
        move = min(max(-move if p <= q else move, -60.0 - 4.0 / a), 60.0 + 4.0 / b)
        t += move
        if abs(move) <= 1e-15 * max(1.0, abs(t)):
            break
    return math.exp(t) / (1.0 + math.exp(t)) if t < 0.0 else 1.0 / (1.0 + math.exp(-min(t, 740.0)))


def student_t(y: float, df: float) -> float:
    """Return Student's distribution function."""
    if not df > 0.0 or y != y:
        return math.nan
    if math.isinf(y):
        return 0.0 if y < 0.0 else 1.0
    if math.isinf(df):
        return 0.5 * math.erfc(-y * 0.70710678118654752)
    square = y * y
    if square > df * 1e100:
        x, rest = df / square, 1.0
    else:
        x, rest = df / (df + square), square / (df + square)
    part = beta_part(0.5 * df, 0.5, x, rest, 0.0, 0.0)
    tail = 0.5 * (part if x <= rest * df else 1.0 + part)
    return tail if y < 0.0 else 1.0 - tail


def student_t_quantile(p: float, q: float, df: float) -> float:
    """Return where Student's distribution function is p, which is 1 - q."""
    if not (df > 0.0 and p >= 0.0 and q >= 0.0):
        return math.nan
    tail = min(p, q)
    if p == q or tail == 0.0:
        return 0.0 if p == q else -math.inf if p == 0.0 else math.inf
    if math.isinf(df):
        return normal_quantile(0.5 - q if p > 0.5 else p - 0.5, tail)
    middle = abs(p - 0.5) + abs(q - 0.5)
    x = beta_quantile(0.5 * df, 0.5, 2.0 * tail, middle)
    rest = beta_quantile(0.5, 0.5 * df, middle, 2.0 * tail)
    size = math.sqrt(df) * math.sqrt(rest / x) if x > 0.0 else math.inf
    return -size if p < q else size


FUNCTIONS = (stirling_rest, log_excess, scalar_digamma, gamma_front, gamma_density, gamma_part,
             beta_front, beta_density, beta_part, gamma_quantile, beta_quantile, student_t,
             student_t_quantile)
