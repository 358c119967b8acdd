"""Distributions of `scipy.stats` of positive numbers: the other ones than in `densities.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import (
    betaln,
    exprel,
    gammaln,
    log1prel,
    ndtri,
    xlog1py,
    xlogy,
)
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    LOG_PI,
    ROOT_HALF,
    Distribution,
    Formula,
    log_of_rest,
    ndtr,
    of_log_sf,
    one,
    positive,
    zero,
)
from tracejit.scipy_api.power_factors import power_log
from tracejit.scipy_api.probability import beta_tails, betaincinv, gamma_tails, gammaincinv
from tracejit.scipy_api.quantiles import by_search, of_tails
from tracejit.scipy_api.tails import turned
from tracejit.trace.values.equations import apply

__all__ = ["RAYS"]


def _burr_logpdf(y: np.ndarray, c: np.ndarray, d: np.ndarray | float) -> Any:
    """Return the logarithm of Burr's density, by powers of y below 1, and of 1 / y above."""
    near = y < 1.0
    low, high = np.where(near, y, 0.5), np.where(near, 2.0, y)
    return np.log(c) + np.log(d) + np.where(
        near, xlogy(c * d - 1.0, low) - (d + 1.0) * np.log1p(np.power(low, c)),
        -(c + 1.0) * np.log(high) - (d + 1.0) * np.log1p(np.power(high, -c)))


def _of_log_cdf(log_cdf: Formula, log_pdf: Formula, quantile: Formula) -> dict[str, Formula]:
    """Return the formulas of a distribution whose distribution function is simple.

    quantile -- of the logarithm of the share
    """
    return {"logpdf": log_pdf, "logcdf": log_cdf, "cdf": lambda y, *s: np.exp(log_cdf(y, *s)),
            "sf": lambda y, *s: -np.expm1(log_cdf(y, *s)),
            "logsf": lambda y, *s: log_of_rest(log_cdf(y, *s)),
            "ppf": lambda q, *s: quantile(np.log(q), *s),
            "isf": lambda q, *s: quantile(np.log1p(-q), *s)}


def _by_gamma(log_pdf: Formula, shape: Formula, place: Formula,
              back: Formula) -> dict[str, Formula]:
    """Return the formulas of a distribution of numbers that are functions of gamma's.

    shape, place -- the parameter of the gamma distribution; its number
    back         -- from its number to the distribution's number
    """
    return {"logpdf": log_pdf, **of_tails(
        lambda y, *s: gamma_tails(shape(*s), place(y, *s)),
        lambda p, q, *s: back(gammaincinv(shape(*s), p, q), *s))}


def _exponweib_logpdf(y: np.ndarray, a: np.ndarray, c: np.ndarray) -> Any:
    power = np.power(y, c)
    return np.log(a) + np.log(c) + xlogy(a - 1.0, -np.expm1(-power)) - power + power_log(c - 1.0, y)


def _fatigue_z(y: np.ndarray, c: np.ndarray) -> Any:
    return (np.sqrt(y) - 1.0 / np.sqrt(y)) / c


def _fatigue_quantile(z: np.ndarray) -> Any:
    return 0.25 * (z + np.sqrt(z * z + 4.0)) ** 2


def _gengamma_logpdf(y: np.ndarray, a: np.ndarray, c: np.ndarray) -> Any:
    inside = (y != 0.0) | (c > 0.0)
    at = np.where(inside, y, 1.0)
    return np.where(inside, np.log(np.abs(c)) + power_log(c * a - 1.0, at) - np.power(
        at, c) - gammaln(a), -np.inf)


def _either(straight: np.ndarray, pair: tuple[np.ndarray, np.ndarray]) -> tuple[Any, Any]:
    """Return two numbers, turned where they do not go straight."""
    first, second = pair
    return np.where(straight, first, second), np.where(straight, second, first)


def _folded(y: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    near, far = ROOT_HALF * (y - c), ROOT_HALF * (y + c)
    return (0.5 * (apply("erf", near) + apply("erf", far)),
            0.5 * (apply("erfc", near) + apply("erfc", far)))


def _folded_cauchy(y: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    return ((np.arctan(y - c) + np.arctan(y + c)) / np.pi,
            (np.arctan2(1.0, y - c) + np.arctan2(1.0, y + c)) / np.pi)


def _betaprime_tails(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    return beta_tails(a, b, y / (1.0 + y), 1.0 / (1.0 + y))


def _loglaplace_tails(y: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    below = y < 1.0
    less, more = 0.5 * np.power(y, c), 0.5 * np.power(y, -c)
    return np.where(below, less, 1.0 - more), np.where(below, 1.0 - less, more)


RAYS: dict[str, Distribution] = {
    "maxwell": Distribution(_by_gamma(
        lambda y: LOG_2 - HALF_LOG_2_PI + power_log(np.float64(2.0), y) - 0.5 * y * y,
        lambda: np.float64(1.5), lambda y: 0.5 * y * y, lambda g: np.sqrt(2.0 * g)), low=zero),
    "chi": Distribution(_by_gamma(
        lambda y, df: LOG_2 * (1.0 - 0.5 * df) - gammaln(0.5 * df) + power_log(df - 1.0, y)
        - 0.5 * y * y, lambda df: 0.5 * df, lambda y, df: 0.5 * y * y,
        lambda g, df: np.sqrt(2.0 * g)), ("df",), positive, zero),
    "gengamma": Distribution({"logpdf": _gengamma_logpdf, **of_tails(
        lambda y, a, c: _either(c > 0.0, gamma_tails(a, np.power(y, c))),
        lambda p, q, a, c: np.power(gammaincinv(a, *_either(c > 0.0, (p, q))), 1.0 / c))},
        ("a", "c"), lambda a, c: (a > 0.0) & (c != 0.0), zero),
    "nakagami": Distribution(_by_gamma(
        lambda y, nu: LOG_2 + xlogy(nu, nu) - gammaln(nu) + power_log(
            2.0 * nu - 1.0, y) - nu * y * y,
        lambda nu: nu, lambda y, nu: nu * y * y, lambda g, nu: np.sqrt(g / nu)), ("nu",),
        positive, zero),
    "erlang": Distribution(_by_gamma(
        lambda y, a: power_log(a - 1.0, y) - y - gammaln(a), lambda a: a, lambda y, a: y,
        lambda g, a: g), ("a",), positive, zero),
    "exponweib": Distribution({
        "logpdf": _exponweib_logpdf, **of_tails(
            lambda y, a, c: (np.power(-np.expm1(-np.power(y, c)), a),
                             -np.expm1(a * np.log1p(-np.exp(-np.power(y, c))))),
            lambda p, q, a, c: np.power(-np.log(-np.expm1(np.log(p) / a)), 1.0 / c))},
        ("a", "c"), positive, zero),
    "genpareto": Distribution(of_log_sf(
        lambda y, c: -y * log1prel(c * y), lambda y, c: -(c + 1.0) * y * log1prel(c * y),
        lambda e, c: e * exprel(c * e)), ("c",), np.isfinite, zero,
        lambda c: np.where(c < 0.0, -1.0 / np.where(c < 0.0, c, -1.0), np.inf)),
    "lomax": Distribution(of_log_sf(
        lambda y, c: -c * np.log1p(y), lambda y, c: np.log(c) - (c + 1.0) * np.log1p(y),
        lambda e, c: np.expm1(e / c)), ("c",), positive, zero),
    "gompertz": Distribution({
        "logpdf": lambda y, c: np.log(c) + y - c * np.expm1(y), **of_tails(
            lambda y, c: (-np.expm1(-c * np.expm1(y)), np.exp(-c * np.expm1(y))),
            lambda p, q, c: np.log1p(-np.log(q) / c))}, ("c",), positive, zero),
    "burr12": Distribution(of_log_sf(
        lambda y, c, d: xlog1py(-d, np.power(y, c)),
        lambda y, c, d: np.log(c) + np.log(d) + power_log(c - 1.0, y) + xlog1py(
            -d - 1.0, np.power(y, c)),
        lambda e, c, d: np.power(np.expm1(e / d), 1.0 / c)), ("c", "d"), positive, zero),
    "burr": Distribution(_of_log_cdf(
        lambda y, c, d: -d * np.log1p(np.power(y, -c)),
        _burr_logpdf,
        lambda e, c, d: np.power(np.expm1(-e / d), -1.0 / c)), ("c", "d"), positive, zero),
    "fisk": Distribution(_of_log_cdf(
        lambda y, c: -np.log1p(np.power(y, -c)),
        lambda y, c: _burr_logpdf(y, c, 1.0),
        lambda e, c: np.power(np.expm1(-e), -1.0 / c)), ("c",), positive, zero),
    "invweibull": Distribution(_of_log_cdf(
        lambda y, c: -np.power(y, -c),
        lambda y, c: np.log(c) - (c + 1.0) * np.log(y) - np.power(y, -c),
        lambda e, c: np.power(-e, -1.0 / c)), ("c",), positive, zero, nothing_at_ends=True),
    "halflogistic": Distribution({
        "logpdf": lambda y: LOG_2 - y - 2.0 * np.log1p(np.exp(-y)), **of_tails(
            lambda y: (np.tanh(0.5 * y), 2.0 / (1.0 + np.exp(y))),
            lambda p, q: 2.0 * np.arctanh(p))}, low=zero),
    "betaprime": Distribution({
        "logpdf": lambda y, a, b: power_log(a - 1.0, y) - xlog1py(a + b, y) - betaln(a, b),
        **of_tails(_betaprime_tails, lambda p, q, a, b: betaincinv(a, b, p, q) / betaincinv(
            b, a, q, p))}, ("a", "b"), positive, zero, nothing_at_ends=True),
    "levy": Distribution({
        "logpdf": lambda y: -HALF_LOG_2_PI - 1.5 * np.log(y) - 0.5 / y, **of_tails(
            lambda y: turned((apply("erf", np.sqrt(0.5 / y)), apply("erfc", np.sqrt(0.5 / y)))),
            lambda p, q: 1.0 / ndtri(0.5 * p) ** 2)}, low=zero, nothing_at_ends=True),
    "gibrat": Distribution({
        "logpdf": lambda y: -0.5 * np.log(y) ** 2 - np.log(y) - HALF_LOG_2_PI, **of_tails(
            lambda y: (ndtr(np.log(y)), ndtr(-np.log(y))), lambda p, q: np.exp(ndtri(p)))},
        low=zero, nothing_at_ends=True),
    "fatiguelife": Distribution({
        "logpdf": lambda y, c: np.log1p(y) - 0.5 * (y - 1.0) ** 2 / (y * c * c) - np.log(2.0 * c)
        - HALF_LOG_2_PI - 1.5 * np.log(y), **of_tails(
            lambda y, c: (ndtr(_fatigue_z(y, c)), ndtr(-_fatigue_z(y, c))),
            lambda p, q, c: _fatigue_quantile(c * ndtri(p)))}, ("c",), positive, zero,
        nothing_at_ends=True),
    "foldnorm": Distribution(by_search(
        lambda y, c: -HALF_LOG_2_PI - 0.5 * (y - c) ** 2 + np.log1p(np.exp(-2.0 * c * y)),
        _folded, zero, start=lambda c: c + 1.0), ("c",), lambda c: c >= 0.0, zero),
    "foldcauchy": Distribution(by_search(
        lambda y, c: -LOG_PI + np.log(1.0 / (1.0 + (y - c) ** 2) + 1.0 / (1.0 + (y + c) ** 2)),
        _folded_cauchy, zero, start=lambda c: c + 1.0), ("c",), lambda c: c >= 0.0, zero),
    "truncexpon": Distribution({
        "logpdf": lambda y, b: -y - np.log(-np.expm1(-b)), **of_tails(
            lambda y, b: (np.expm1(-y) / np.expm1(-b), (np.exp(-y) - np.exp(-b)) / -np.expm1(-b)),
            lambda p, q, b: -np.log1p(p * np.expm1(-b)))}, ("b",), positive, zero, lambda b: b),
    "kappa3": Distribution({
        "logpdf": lambda y, a: np.log(a) - (1.0 + 1.0 / a) * np.log(a + np.power(y, a)),
        **of_tails(lambda y, a: (y * np.power(a + np.power(y, a), -1.0 / a), -np.expm1(
            -np.log1p(a * np.power(y, -a)) / a)),
            lambda p, q, a: np.power(a / (np.power(p, -a) - 1.0), 1.0 / a))}, ("a",), positive,
        zero),
    "loglaplace": Distribution({
        "logpdf": lambda y, c: np.log(0.5 * c) + xlogy(np.where(y < 1.0, c - 1.0, -c - 1.0), y),
        **of_tails(_loglaplace_tails, lambda p, q, c: np.where(
            p < 0.5, np.power(2.0 * p, 1.0 / c), np.power(2.0 * q, -1.0 / c)))}, ("c",), positive,
        zero),
    "loguniform": Distribution({
        "logpdf": lambda y, a, b: -np.log(y) - np.log(np.log(b) - np.log(a)), **of_tails(
            lambda y, a, b: (np.log(y / a) / np.log(b / a), np.log(b / y) / np.log(b / a)),
            lambda p, q, a, b: np.exp(q * np.log(a) + p * np.log(b)))}, ("a", "b"),
        lambda a, b: (a > 0.0) & (b > a), lambda a, b: a, lambda a, b: b, inner=1.0),
    "powerlaw": Distribution(_of_log_cdf(
        lambda y, a: a * np.log(y), lambda y, a: np.where(  # SciPy's is 0 where it is infinite
            (y == 0.0) & (a < 1.0), -np.inf, np.log(a) + power_log(a - 1.0, y)),
        lambda e, a: np.exp(e / a)), ("a",), positive, zero, one),
}
RAYS["reciprocal"] = RAYS["loguniform"]
