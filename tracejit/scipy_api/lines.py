"""Distributions of `scipy.stats` of all numbers and of intervals: the other ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.special import exprel, gammaln, log1prel, log_ndtr, ndtri, xlogy
from tracejit.ops.cotangents import Primal
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    LOG_PI,
    ROOT_HALF,
    Distribution,
    expit,
    log_of_rest,
    ndtr,
    one,
    positive,
    size,
    zero,
)
from tracejit.scipy_api.power_factors import power_log
from tracejit.scipy_api.probability import gamma_tails, gammaincinv, root_of_gamma
from tracejit.scipy_api.quantiles import both_ways, by_search, of_tails, quantile_of
from tracejit.scipy_api.tails import turned
from tracejit.trace.values.equations import apply

__all__ = ["LINES"]


def _mirrored(y: np.ndarray, tail: np.ndarray) -> tuple[Any, Any]:
    """Return the distribution function and its complement for a symmetric distribution.

    tail -- the share beyond |y|
    """
    above = y > 0.0
    return np.where(above, 1.0 - tail, tail), np.where(above, tail, 1.0 - tail)


def _signed(p: np.ndarray, q: np.ndarray, size: np.ndarray) -> Any:
    """Return a quantile of a symmetric distribution by its size."""
    return np.where(p > q, size, -size)


def _smaller(p: np.ndarray, q: np.ndarray) -> Any:
    return np.where(p <= q, p, q)  # where they are equal, `_signed` has minus the size, too


def _extreme(y: np.ndarray, c: np.ndarray) -> Any:
    """Return log(1 - c y) / c, which is -y where c is 0."""
    return -y * log1prel(-c * y)


def _genextreme_logpdf(y: np.ndarray, c: np.ndarray) -> Any:
    end = c * y == 1.0  # where SciPy has 0 for an infinite density
    inside = _extreme(np.where(end, 0.0, y), c)
    return np.where(end, np.where(c == 1.0, 0.0, -np.inf), -np.exp(inside) + (1.0 - c) * inside)


def _genextreme_ends(c: np.ndarray, sign: float) -> Any:
    inside = sign * c > 0.0
    return np.where(inside, 1.0 / np.where(inside, c, 1.0), sign * np.inf)


def _asymmetric_tails(y: np.ndarray, k: np.ndarray) -> tuple[Any, Any]:
    above, whole = y >= 0.0, k + 1.0 / k
    upper = np.exp(-np.where(above, y, 0.0) * k) / (k * whole)
    lower = np.exp(np.where(above, 0.0, y) / k) * k / whole
    return np.where(above, 1.0 - upper, lower), np.where(above, upper, 1.0 - lower)


def _asymmetric_quantile(p: np.ndarray, q: np.ndarray, k: np.ndarray) -> Any:
    whole = k + 1.0 / k
    return np.where(p >= k / whole, -np.log(q * whole * k) / k, np.log(p * whole / k) * k)


def _exponnorm_far(y: np.ndarray, k: np.ndarray) -> Any:
    return (0.5 / k - y) / k + log_ndtr(y - 1.0 / k)


def _exponnorm_logpdf(y: np.ndarray, k: np.ndarray) -> Any:
    return -np.log(k) + _exponnorm_far(y, k)


def _exponnorm_tails(y: np.ndarray, k: np.ndarray) -> tuple[Any, Any]:
    far = np.exp(_exponnorm_far(y, k))
    return ndtr(y) - far, ndtr(-y) + far


def _skewcauchy_tails(y: np.ndarray, a: np.ndarray) -> tuple[Any, Any]:
    share, right = 0.5 * (1.0 - a), y > 0.0
    scale = np.where(right, 1.0 + a, 1.0 - a)
    turn = scale / np.pi * np.arctan(y / scale)
    return share + turn, 1.0 - share - turn


def _skewcauchy_quantile(p: np.ndarray, q: np.ndarray, a: np.ndarray) -> Any:
    right = p > 0.5 * (1.0 - a)
    scale, tail = np.where(right, 1.0 + a, 1.0 - a), np.where(right, q, p)
    size = scale / np.tan(np.pi * tail / scale)
    return np.where(right, size, -size)


def _triang_logpdf(y: np.ndarray, c: np.ndarray) -> Any:
    left = (y < c) | (c == 1.0)
    height = np.where(left, y / np.where(left, c, 1.0), (1.0 - y) / np.where(left, 1.0, 1.0 - c))
    return LOG_2 + np.log(height)


def _triang_tails(y: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    left = (y < c) | (c == 1.0)
    lower = y * y / np.where(left, c, 1.0)
    upper = (1.0 - y) ** 2 / np.where(left, 1.0, 1.0 - c)
    return np.where(left, lower, 1.0 - upper), np.where(left, 1.0 - lower, upper)


def _triang_quantile(p: np.ndarray, q: np.ndarray, c: np.ndarray) -> Any:
    left = p < c
    return np.where(left, np.sqrt(c * np.where(left, p, 1.0)),
                    1.0 - np.sqrt((1.0 - c) * np.where(left, 1.0, q)))


def _log_mass(a: Primal, b: Primal) -> Any:
    """Return the logarithm of the share of a normal distribution between two numbers."""
    right, across = a > 0.0, (a <= 0.0) & (b > 0.0)
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    first, last = log_ndtr(np.where(across, -1.0, low)), log_ndtr(np.where(across, 0.0, high))
    inner = [ndtr(np.where(across, x, -1.0)) for x in (a, -b)]
    within = np.log1p(-inner[0] - inner[1])
    return np.where(across, within, last + np.log(-np.expm1(first - last)))


def _truncnorm_logpdf(y: Primal, a: Primal, b: Primal) -> Any:
    return -0.5 * y * y - HALF_LOG_2_PI - _log_mass(a, b)


def _truncnorm_tails(y: Primal, a: Primal, b: Primal) -> tuple[Any, Any]:
    whole = _log_mass(a, b)
    return np.exp(_log_mass(a, y) - whole), np.exp(_log_mass(y, b) - whole)


def _arcsine_tails(y: np.ndarray) -> tuple[Any, Any]:
    return 2.0 / np.pi * np.arcsin(np.sqrt(y)), 2.0 / np.pi * np.arccos(np.sqrt(y))


def _semicircular_tails(y: np.ndarray) -> tuple[Any, Any]:
    turn = (y * np.sqrt(1.0 - y * y) + np.arcsin(y)) / np.pi
    return 0.5 + turn, 0.5 - turn


def _cosine_tail(u: np.ndarray) -> Any:
    """Return the share within u of an end: (u - sin(u)) / (2 pi), next to 0 by its series."""
    near = np.abs(u) < 0.5
    series: Any = 1.0
    t = np.where(near, u, 0.0)
    for k in range(15, 3, -2):
        series = 1.0 - t * t / (k * (k - 1)) * series
    return np.where(near, t * t * t / 6.0 * series, u - np.sin(u)) / (2.0 * math.pi)


def _gennorm_tail(y: np.ndarray, b: np.ndarray) -> Any:
    away = size(y)
    near = np.power(away, b) < 1e-17  # the first term of the series: DLMF 8.7.1
    return np.where(near, 0.5 - 0.5 * away * np.exp(-gammaln(1.0 + 1.0 / b)), 0.5 * gamma_tails(
        1.0 / b, np.power(np.where(near, 1.0, away), b))[1])


LINES: dict[str, Distribution] = {
    "gennorm": Distribution({
        "logpdf": lambda y, b: np.log(0.5 * b) - gammaln(1.0 / b) - np.power(np.abs(y), b),
        **of_tails(lambda y, b: _mirrored(y, _gennorm_tail(y, b)), lambda p, q, b: _signed(
            p, q, root_of_gamma(1.0 - 2.0 * _smaller(p, q), 2.0 * _smaller(p, q), b)))},
        ("beta",), positive),
    "dgamma": Distribution({
        "logpdf": lambda y, a: xlogy(a - 1.0, np.abs(y)) - np.abs(y) - LOG_2 - gammaln(a),
        **of_tails(lambda y, a: _mirrored(y, 0.5 * gamma_tails(a, size(y))[1]),
                   lambda p, q, a: _signed(p, q, gammaincinv(
                       a, 1.0 - 2.0 * _smaller(p, q), 2.0 * _smaller(p, q))))}, ("a",), positive),
    "dweibull": Distribution({
        "logpdf": lambda y, c: np.log(0.5 * c) + xlogy(c - 1.0, np.abs(y)) - np.power(
            np.abs(y), c),
        **of_tails(lambda y, c: _mirrored(y, 0.5 * np.exp(-np.power(size(y), c))),
                   lambda p, q, c: _signed(p, q, np.power(
                       -np.log(2.0 * _smaller(p, q)), 1.0 / c)))}, ("c",), positive),
    "genextreme": Distribution({
        "logpdf": _genextreme_logpdf,
        "logcdf": lambda y, c: -np.exp(_extreme(y, c)),
        "cdf": lambda y, c: np.exp(-np.exp(_extreme(y, c))),
        "sf": lambda y, c: -np.expm1(-np.exp(_extreme(y, c))),
        "logsf": lambda y, c: log_of_rest(-np.exp(_extreme(y, c))),
        "ppf": lambda q, c: -np.log(-np.log(q)) * exprel(c * np.log(-np.log(q))),
        "isf": lambda q, c: -np.log(-np.log1p(-q)) * exprel(c * np.log(-np.log1p(-q)))},
        ("c",), np.isfinite, lambda c: _genextreme_ends(c, -1.0),
        lambda c: _genextreme_ends(c, 1.0), inner=0.0),
    "weibull_max": Distribution({
        "logpdf": lambda y, c: np.log(c) + power_log(c - 1.0, -y) - np.power(-y, c),
        "logcdf": lambda y, c: -np.power(-y, c), "cdf": lambda y, c: np.exp(-np.power(-y, c)),
        "sf": lambda y, c: -np.expm1(-np.power(-y, c)),
        "logsf": lambda y, c: log_of_rest(-np.power(-y, c)),
        "ppf": lambda q, c: -np.power(-np.log(q), 1.0 / c),
        "isf": lambda q, c: -np.power(-np.log1p(-q), 1.0 / c)}, ("c",), positive, high=zero,
        inner=-0.5),
    "johnsonsu": Distribution({
        "logpdf": lambda y, a, b: np.log(b) - 0.5 * np.log1p(y * y) - HALF_LOG_2_PI - 0.5 * (
            a + b * np.arcsinh(y)) ** 2,
        **of_tails(lambda y, a, b: (ndtr(a + b * np.arcsinh(y)), ndtr(-a - b * np.arcsinh(y))),
                   lambda p, q, a, b: np.sinh((ndtri(p) - a) / b))}, ("a", "b"),
        lambda a, b: (b > 0.0) & (a == a)),
    "johnsonsb": Distribution({
        "logpdf": lambda y, a, b: np.log(b) - np.log(y * (1.0 - y)) - HALF_LOG_2_PI - 0.5 * (
            a + b * np.log(y / (1.0 - y))) ** 2,
        **of_tails(lambda y, a, b: (ndtr(a + b * np.log(y / (1.0 - y))),
                                    ndtr(-a - b * np.log(y / (1.0 - y)))),
                   lambda p, q, a, b: expit((ndtri(p) - a) / b))}, ("a", "b"),
        lambda a, b: (b > 0.0) & (a == a), zero, one, nothing_at_ends=True),
    "moyal": Distribution({
        "logpdf": lambda y: -0.5 * (y + np.exp(-y)) - HALF_LOG_2_PI,
        **of_tails(lambda y: turned((apply("erf", ROOT_HALF * np.exp(-0.5 * y)), apply(
            "erfc", ROOT_HALF * np.exp(-0.5 * y)))),
            lambda p, q: -2.0 * np.log(-ndtri(0.5 * p)))}, inner=0.0),
    "hypsecant": Distribution({
        "logpdf": lambda y: LOG_2 - LOG_PI - size(y) - np.log1p(np.exp(-2.0 * size(y))),
        **of_tails(lambda y: (2.0 / np.pi * np.arctan(np.exp(y)),
                              2.0 / np.pi * np.arctan(np.exp(-y))),
                   lambda p, q: np.log(np.tan(0.5 * np.pi * p)))}),
    "laplace_asymmetric": Distribution({
        "logpdf": lambda y, k: np.where(y >= 0.0, -y * k, y / k) - np.log(k + 1.0 / k),
        **of_tails(_asymmetric_tails, _asymmetric_quantile)}, ("kappa",), positive),
    "exponnorm": Distribution(by_search(
        _exponnorm_logpdf, _exponnorm_tails, start=lambda k: k), ("K",), positive),
    "genlogistic": Distribution({
        "logpdf": lambda y, c: np.log(c) - y - (c + 1.0) * np.logaddexp(0.0, -y),
        "logcdf": lambda y, c: -c * np.logaddexp(0.0, -y),
        "cdf": lambda y, c: np.exp(-c * np.logaddexp(0.0, -y)),
        "sf": lambda y, c: -np.expm1(-c * np.logaddexp(0.0, -y)),
        "logsf": lambda y, c: log_of_rest(-c * np.logaddexp(0.0, -y)),
        "ppf": lambda q, c: -np.log(np.expm1(-np.log(q) / c)),
        "isf": lambda q, c: -np.log(np.expm1(-np.log1p(-q) / c))}, ("c",), positive),
    "loggamma": Distribution({
        "logpdf": lambda y, c: c * y - np.exp(y) - gammaln(c), **of_tails(
            lambda y, c: gamma_tails(c, np.exp(y)),
            lambda p, q, c: np.log(gammaincinv(c, p, q)))}, ("c",), positive),
    "skewcauchy": Distribution({
        "logpdf": lambda y, a: -LOG_PI - np.log1p(y * y / (1.0 + a * np.sign(y)) ** 2),
        **of_tails(_skewcauchy_tails, _skewcauchy_quantile)}, ("a",), lambda a: np.abs(a) < 1.0),
    "arcsine": Distribution({
        "logpdf": lambda y: -LOG_PI - 0.5 * np.log(y * (1.0 - y)), **of_tails(
            _arcsine_tails, lambda p, q: np.sin(0.5 * np.pi * p) ** 2)}, low=zero, high=one),
    "triang": Distribution({"logpdf": _triang_logpdf, **of_tails(
        _triang_tails, _triang_quantile)}, ("c",), lambda c: (c >= 0.0) & (c <= 1.0), zero, one),
    "semicircular": Distribution(by_search(
        lambda y: math.log(2.0 / math.pi) + 0.5 * np.log1p(-y * y), _semicircular_tails,
        lambda: -1.0, one), low=lambda: -1.0, high=one, inner=0.0),
    "cosine": Distribution(by_search(
        lambda y: np.log1p(np.cos(y)) - math.log(2.0 * math.pi),
        lambda y: (_cosine_tail(y + math.pi), _cosine_tail(math.pi - y)), lambda: -math.pi,
        lambda: math.pi),
        low=lambda: -math.pi, high=lambda: math.pi, inner=0.0),
    "anglit": Distribution({
        "logpdf": lambda y: np.log(np.cos(2.0 * y)), **of_tails(
            lambda y: (np.sin(y + 0.25 * np.pi) ** 2, np.cos(y + 0.25 * np.pi) ** 2),
            lambda p, q: np.arcsin(np.sqrt(p)) - 0.25 * np.pi)},
        low=lambda: -0.25 * math.pi, high=lambda: 0.25 * math.pi, inner=0.0),
    "bradford": Distribution({
        "logpdf": lambda y, c: np.log(c) - np.log1p(c * y) - np.log(np.log1p(c)), **of_tails(
            lambda y, c: (np.log1p(c * y) / np.log1p(c), (np.log1p(c) - np.log1p(
                c * y)) / np.log1p(c)),
            lambda p, q, c: np.expm1(p * np.log1p(c)) / c)}, ("c",), positive, zero, one),
    "truncnorm": Distribution({
        "logpdf": _truncnorm_logpdf,
        "logcdf": lambda y, a, b: _log_mass(a, y) - _log_mass(a, b),
        "logsf": lambda y, a, b: _log_mass(y, b) - _log_mass(a, b),
        "cdf": lambda y, a, b: np.exp(_log_mass(a, y) - _log_mass(a, b)),
        "sf": lambda y, a, b: np.exp(_log_mass(y, b) - _log_mass(a, b)), **both_ways(quantile_of(
            _truncnorm_tails, _truncnorm_logpdf, lambda a, b: a, lambda a, b: b,
            lambda a, b: np.minimum(np.maximum(a, 0.0), b)))}, ("a", "b"),
        lambda a, b: a < b, lambda a, b: a, lambda a, b: b),
}
