"""Means, variances and entropies of the distributions with shapes that are rarer: a table.

The formulas are integrals of powers with each density, of the standard distributions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.special import gammaln
from tracejit.scipy_api.bounded import below_three_halves, pareto_mass, weibull_powers
from tracejit.scipy_api.formulas import Formula, zero
from tracejit.scipy_api.power_tails import breit_parts, crystalball_parts
from tracejit.scipy_api.probability import gamma_tails
from tracejit.scipy_api.urns import fisher_power, power_sum, zeta_of
from tracejit.trace.values.equations import apply

__all__ = ["FURTHER", "ROOT_2_PI", "Moments", "above", "fixed"]

ROOT_2_PI = math.sqrt(2.0 / math.pi)


class Moments(NamedTuple):
    """The mean, the variance and the entropy of a distribution, of its shapes."""

    mean: Formula
    var: Formula
    entropy: Formula | None = None


def fixed(mean: float, var: float, entropy: float | None = None) -> Moments:
    """Return the moments of a distribution without shapes."""
    return Moments(lambda: mean, lambda: var, None if entropy is None else lambda: entropy)


def above(least: float, shape: np.ndarray, formula: Formula,
           other: np.ndarray | float = np.inf) -> Any:
    """Return a formula of a shape above a bound, up to which there is another value."""
    known = shape > least
    return np.where(known, formula(np.where(known, shape, least + 1.0)), other)


def _of_powers(power: Formula, entropy: Formula | None = None) -> Moments:
    """Return the moments of a distribution of which the mean powers are known.

    power -- (n, *shapes) -> the mean of the n-th power
    """

    def variance(*shapes: np.ndarray) -> Any:
        square = power(2, *shapes)
        return np.where(np.isinf(square), square, square - power(1, *shapes) ** 2)

    return Moments(lambda *s: power(1, *s), variance, entropy)


_ARGUS_SQUARE = (0.4, 6 / 175, 2 / 2625, -94 / 1010625, -358 / 65690625)
"""The mean square of Argus' distribution, by powers of the square of its shape."""


def _argus_power(n: int, chi: np.ndarray) -> Any:
    """Return the mean, by a Bessel function, or the mean square."""
    square = chi * chi
    share = 0.5 * below_three_halves(0.5 * square)
    if n == 1:
        return math.sqrt(math.pi / 8.0) * chi * apply("i1e", 0.25 * square) / share
    small = chi < 0.1
    series: Any = 0.0
    t = np.where(small, square, 0.0)
    for c in reversed(_ARGUS_SQUARE):
        series = series * t + c
    far = np.where(small, 1.0, square)
    density = np.sqrt(far) * np.exp(-0.5 * far) / math.sqrt(2.0 * math.pi)
    return np.where(small, series, 1.0 - 3.0 / far + density / (
        0.5 * below_three_halves(0.5 * far)))


def _trapezoid_power(n: int, c: np.ndarray, d: np.ndarray) -> Any:
    top: Any = 1.0
    for _ in range(n + 1):
        top = top * d + 1.0
    return 2.0 / (1.0 + d - c) * (top - c ** (n + 1)) / ((n + 1) * (n + 2))


def _truncpareto_power(n: int, b: np.ndarray, c: np.ndarray) -> Any:
    return pareto_mass(np.log(c), b - n) / pareto_mass(np.log(c), b)


def _truncpareto_entropy(b: np.ndarray, c: np.ndarray) -> Any:
    log = np.log(c)
    return np.log(pareto_mass(log, b)) + (b + 1.0) * (1.0 / b - log / np.expm1(b * log))


def _truncweibull_power(n: int, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    first, last = weibull_powers(c, a, b)
    shape = n / c + 1.0
    inside = gamma_tails(shape, last)[0] - gamma_tails(shape, first)[0]
    return np.exp(gammaln(shape)) * inside / (np.exp(-first) * -np.expm1(first - last))


def _crystalball_power(n: int, beta: np.ndarray, m: np.ndarray) -> Any:
    """Return the mean of a power: a polynomial's with the power's tail, and the normal rest's."""
    left, right = crystalball_parts(beta, m)
    edge, scale = np.exp(-0.5 * beta * beta), m / beta
    away = scale - beta

    def tail(m: np.ndarray) -> Any:
        total: Any = 0.0
        for k in range(n + 1):
            total = total + math.comb(n, k) * (-1.0) ** k * away ** (n - k) * scale ** (
                k + 1) / (m - k - 1.0)
        return edge * total

    rest = edge if n == 1 else right - beta * edge
    return above(n + 1.0, m, tail) / (left + right) + rest / (left + right)


def _pareto_normal_power(n: int, u: np.ndarray, s: np.ndarray, a: np.ndarray,
                         b: np.ndarray) -> Any:
    return above(float(n), a, lambda a: a * b / ((a - n) * (b + n)), np.nan) * np.exp(
        n * u + 0.5 * n * n * s * s)


def _jones_power(n: int, a: np.ndarray, b: np.ndarray) -> Any:
    inside = (a > 0.5 * n) & (b > 0.5 * n)
    p, q = np.where(inside, a, 2.0), np.where(inside, b, 2.0)
    if n == 1:
        logs = [gammaln(x - 0.5) - gammaln(x) for x in (p, q)]
        found = 0.5 * (p - q) * np.sqrt(p + q) * np.exp(logs[0] + logs[1])
    else:
        found = 0.25 * (p + q) * (p / (q - 1.0) - 2.0 + q / (p - 1.0))
    return np.where(inside, found, np.nan)


def _breit_power(n: int, rho: np.ndarray) -> Any:
    real, _, size = breit_parts(rho)
    if n == 2:
        return size
    return size / (math.pi * real) * (0.5 * math.pi + np.arctan(rho))


def _gengamma_power(n: int, a: np.ndarray, c: np.ndarray) -> Any:
    shape = a + n / c
    sign = np.where((shape < 0.0) & (np.remainder(np.floor(shape), 2.0) != 0.0), -1.0, 1.0)
    return sign * np.exp(gammaln(shape) - gammaln(a))


def _rice_mean(b: np.ndarray) -> Any:
    x = 0.25 * b * b
    return math.sqrt(0.5 * math.pi) * (
        (1.0 + 2.0 * x) * apply("i0e", x) + 2.0 * x * apply("i1e", x))


def _lean(a: np.ndarray, b: np.ndarray) -> Any:
    return np.sqrt((a - b) * (a + b))


def _logser_power(n: int, p: np.ndarray) -> Any:
    return -p / ((1.0 - p) ** n * np.log1p(-p))


def _zipf_power(n: int, a: np.ndarray) -> Any:
    return above(n + 1.0, a, lambda a: zeta_of(a - n)) / zeta_of(a)


def _zipfian_power(n: int, a: np.ndarray, last: np.ndarray) -> Any:
    first = 1.0 + 0.0 * a
    return power_sum(first, last, a - n) / power_sum(first, last, a)


def _boltzmann_mean(rate: np.ndarray, n: np.ndarray) -> Any:
    return 1.0 / np.expm1(rate) - n / np.expm1(rate * n)


def _boltzmann_variance(rate: np.ndarray, n: np.ndarray) -> Any:
    one, all_of_them = (0.5 / np.sinh(0.5 * r) for r in (rate, rate * n))
    return one * one - (n * all_of_them) ** 2


def _yulesimon_variance(a: np.ndarray) -> Any:
    return above(2.0, a, lambda a: a * a / ((a - 2.0) * (a - 1.0) ** 2),
                 np.where(a > 1.0, np.inf, np.nan))


def _urn_variance(m: np.ndarray, n: np.ndarray, d: np.ndarray) -> Any:
    share = n / m
    return d * share * (1.0 - share) * (m - d) / (m - 1.0)


def _before_variance(m: np.ndarray, n: np.ndarray, r: np.ndarray) -> Any:
    rest = m - n + 1.0
    return r * (m + 1.0) * n / (rest * (rest + 1.0)) * (1.0 - r / rest)


FURTHER: dict[str, Moments] = {
    "argus": _of_powers(_argus_power), "rdist": Moments(zero, lambda c: 1.0 / (c + 1.0)),
    "trapezoid": _of_powers(_trapezoid_power, lambda c, d: 0.5 * (1.0 - d + c) / (
        1.0 + d - c) + np.log(0.5 * (1.0 + d - c))),
    "truncpareto": _of_powers(_truncpareto_power, _truncpareto_entropy),
    "truncweibull_min": _of_powers(_truncweibull_power),
    "crystalball": _of_powers(_crystalball_power),
    "dpareto_lognorm": _of_powers(_pareto_normal_power), "jf_skew_t": _of_powers(_jones_power),
    "pearson3": Moments(zero, lambda skew: 1.0 + 0.0 * skew),
    "recipinvgauss": Moments(lambda mu: 1.0 / mu + 1.0, lambda mu: 1.0 / mu + 2.0),
    "rel_breitwigner": _of_powers(_breit_power), "gengamma": _of_powers(_gengamma_power),
    "rice": Moments(_rice_mean, lambda b: 2.0 + b * b - _rice_mean(b) ** 2),
    "norminvgauss": Moments(lambda a, b: b / _lean(a, b), lambda a, b: a * a / _lean(a, b) ** 3),
    "ncx2": Moments(lambda df, nc: df + nc, lambda df, nc: 2.0 * df + 4.0 * nc),
    "ncf": Moments(
        lambda n, m, nc: above(2.0, m, lambda m: m * (n + nc) / (n * (m - 2.0)), np.nan),
        lambda n, m, nc: above(4.0, m, lambda m: 2.0 * (m / n) ** 2 * (
            (n + nc) ** 2 + (n + 2.0 * nc) * (m - 2.0)) / ((m - 2.0) ** 2 * (m - 4.0)), np.nan)),
    "betanbinom": Moments(
        lambda n, a, b: above(1.0, a, lambda a: n * b / (a - 1.0)),
        lambda n, a, b: above(2.0, a, lambda a: n * b * (n + a - 1.0) * (a + b - 1.0) / (
            (a - 2.0) * (a - 1.0) ** 2))),
    "logser": Moments(lambda p: _logser_power(1, p),
                      lambda p: _logser_power(2, p) - _logser_power(1, p) ** 2),
    "zipf": _of_powers(_zipf_power), "zipfian": _of_powers(_zipfian_power),
    "boltzmann": Moments(_boltzmann_mean, _boltzmann_variance),
    "yulesimon": Moments(lambda a: above(1.0, a, lambda a: a / (a - 1.0)), _yulesimon_variance),
    "hypergeom": Moments(lambda m, n, d: d * n / m, _urn_variance),
    "nhypergeom": Moments(lambda m, n, r: r * n / (m - n + 1.0), _before_variance),
    "nchypergeom_fisher": _of_powers(fisher_power),
}
