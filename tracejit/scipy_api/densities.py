"""The formulas of the distributions of `scipy.stats`, in standard form: a table of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.numpy_api.special import betaln, gammaln, log_ndtr, ndtri, xlog1py, xlogy
from tracejit.ops.cotangents import Primal
from tracejit.scipy_api.tails import TAILS
from tracejit.trace.values.equations import apply, cast

__all__ = ["CONTINUOUS", "DISCRETE", "Distribution"]

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Distribution:
    """A distribution without location and scale.

    formulas -- from a method's name to what it gives, of a number and the shapes
    shapes   -- the names of the shapes
    valid    -- whether shapes are right
    low, high -- the ends of the numbers of positive density, of the shapes
    inner    -- a number between them, whatever the shapes are
    discrete -- whether its numbers are whole
    nothing_at_low -- whether the density is 0 at the lower end, where its formula has no value
    """

    formulas: dict[str, Formula]
    shapes: tuple[str, ...] = ()
    valid: Formula = lambda: True
    low: Formula = lambda *shapes: -np.inf
    high: Formula = lambda *shapes: np.inf
    inner: float = 0.5
    discrete: bool = False
    nothing_at_low: bool = False


_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
_LOG_2, _LOG_PI, _ROOT_HALF = math.log(2.0), math.log(math.pi), math.sqrt(0.5)


def _ndtr(y: Primal) -> Any:
    return 0.5 * apply("erfc", -_ROOT_HALF * y)


def _positive(*shapes: np.ndarray) -> Any:
    valid: Any = True
    for s in shapes:
        valid = valid & (s > 0.0)
    return valid


def _zero(*shapes: object) -> float:
    return 0.0


def _one(*shapes: object) -> float:
    return 1.0


def _log_expit(y: np.ndarray) -> Any:
    return -np.logaddexp(0.0, -y)


def _expit(y: np.ndarray) -> Any:
    e = np.exp(-np.abs(y))
    return np.where(y >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))


def _of_log_sf(log_sf: Formula, log_pdf: Formula, quantile: Formula) -> dict[str, Formula]:
    """Return the formulas of a distribution whose survival function is simple.

    quantile -- of the negative logarithm of what is left
    """
    return {"logpdf": log_pdf, "logsf": log_sf, "sf": lambda y, *s: np.exp(log_sf(y, *s)),
            "cdf": lambda y, *s: -np.expm1(log_sf(y, *s)),
            "logcdf": lambda y, *s: np.log(-np.expm1(log_sf(y, *s))),
            "ppf": lambda q, *s: quantile(-np.log1p(-q), *s),
            "isf": lambda q, *s: quantile(-np.log(q), *s)}


def _symmetric(log_pdf: Formula, cdf: Formula, log_cdf: Formula,
               ppf: Formula) -> dict[str, Formula]:
    return {"logpdf": log_pdf, "cdf": cdf, "sf": lambda y: cdf(-y), "logcdf": log_cdf,
            "logsf": lambda y: log_cdf(-y), "ppf": ppf, "isf": lambda q: -ppf(q)}


def _t_logpdf(y: np.ndarray, df: np.ndarray) -> Any:
    far = np.isinf(df)
    r = np.where(far, 1.0, df)
    near = -betaln(0.5 * r, cast(0.5, np.float64)) - 0.5 * np.log(r)  # type: ignore[arg-type]
    return np.where(far, -0.5 * y * y - _HALF_LOG_2_PI,
                    near - 0.5 * (r + 1.0) * np.log1p(y * y / r))


def _laplace_logcdf(y: np.ndarray) -> Any:
    above = y > 0.0
    return np.where(above, np.log1p(-0.5 * np.exp(-np.where(above, y, 0.0))), y - _LOG_2)


def _lognorm_z(y: np.ndarray, s: np.ndarray) -> Any:
    return np.log(y) / s


def _f_logpdf(y: np.ndarray, n: np.ndarray, m: np.ndarray) -> Any:
    return (0.5 * m * np.log(m) + 0.5 * n * np.log(n) + xlogy(0.5 * n - 1.0, y)
            - 0.5 * (n + m) * np.log(m + n * y) - betaln(0.5 * n, 0.5 * m))


CONTINUOUS: dict[str, Distribution] = {
    "norm": Distribution(_symmetric(lambda y: -0.5 * y * y - _HALF_LOG_2_PI, _ndtr, log_ndtr,
                                    ndtri)),
    "logistic": Distribution(_symmetric(lambda y: -np.abs(y) - 2.0 * np.log1p(np.exp(-np.abs(y))),
                                        _expit, _log_expit, lambda q: np.log(q) - np.log1p(-q))),
    "laplace": Distribution(_symmetric(
        lambda y: -_LOG_2 - np.abs(y), lambda y: np.where(
            y > 0.0, 1.0 - 0.5 * np.exp(-np.abs(y)), 0.5 * np.exp(-np.abs(y))), _laplace_logcdf,
        lambda q: np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q)))),
    "cauchy": Distribution(_symmetric(
        lambda y: -_LOG_PI - np.log1p(y * y), lambda y: np.arctan2(1.0, -y) / np.pi,
        lambda y: np.log(np.arctan2(1.0, -y) / np.pi),
        lambda q: np.where(q == 0.5, 0.0, -1.0 / np.tan(np.pi * q)))),
    "gumbel_r": Distribution({
        "logpdf": lambda y: -y - np.exp(-y), "logcdf": lambda y: -np.exp(-y),
        "cdf": lambda y: np.exp(-np.exp(-y)), "sf": lambda y: -np.expm1(-np.exp(-y)),
        "logsf": lambda y: np.log(-np.expm1(-np.exp(-y))), "ppf": lambda q: -np.log(-np.log(q)),
        "isf": lambda q: -np.log(-np.log1p(-q))}),
    "gumbel_l": Distribution({
        "logpdf": lambda y: y - np.exp(y), "logsf": lambda y: -np.exp(y),
        "sf": lambda y: np.exp(-np.exp(y)), "cdf": lambda y: -np.expm1(-np.exp(y)),
        "logcdf": lambda y: np.log(-np.expm1(-np.exp(y))), "ppf": lambda q: np.log(-np.log1p(-q)),
        "isf": lambda q: np.log(-np.log(q))}),
    "t": Distribution({"logpdf": _t_logpdf}, ("df",), _positive),
    "vonmises": Distribution({"logpdf": lambda y, kappa: -2.0 * kappa * np.sin(0.5 * y) ** 2
                              - np.log(2.0 * np.pi * apply("i0e", kappa))}, ("kappa",),
                             lambda kappa: kappa >= 0.0),
    "expon": Distribution(_of_log_sf(lambda y: -y, lambda y: -y, lambda e: e), low=_zero),
    "weibull_min": Distribution(_of_log_sf(
        lambda y, c: -np.power(y, c), lambda y, c: np.log(c) + xlogy(c - 1.0, y) - np.power(y, c),
        lambda e, c: np.power(e, 1.0 / c)), ("c",), _positive, _zero),
    "rayleigh": Distribution(_of_log_sf(
        lambda y: -0.5 * y * y, lambda y: np.log(y) - 0.5 * y * y, lambda e: np.sqrt(2.0 * e)),
        low=_zero),
    "pareto": Distribution(_of_log_sf(
        lambda y, b: -b * np.log(y), lambda y, b: np.log(b) - (b + 1.0) * np.log(y),
        lambda e, b: np.exp(e / b)), ("b",), _positive, _one, inner=2.0),
    "uniform": Distribution({
        "logpdf": lambda y: 0.0 * y, "cdf": lambda y: y, "sf": lambda y: 1.0 - y,
        "logcdf": np.log, "logsf": lambda y: np.log1p(-y), "ppf": lambda q: q,
        "isf": lambda q: 1.0 - q}, low=_zero, high=_one),
    "lognorm": Distribution({
        "logpdf": lambda y, s: -0.5 * _lognorm_z(y, s) ** 2 - np.log(s * y) - _HALF_LOG_2_PI,
        "cdf": lambda y, s: _ndtr(_lognorm_z(y, s)), "sf": lambda y, s: _ndtr(-_lognorm_z(y, s)),
        "logcdf": lambda y, s: log_ndtr(_lognorm_z(y, s)),
        "logsf": lambda y, s: log_ndtr(-_lognorm_z(y, s)),
        "ppf": lambda q, s: np.exp(s * ndtri(q)), "isf": lambda q, s: np.exp(-s * ndtri(q))},
        ("s",), _positive, _zero, nothing_at_low=True),
    "halfnorm": Distribution({
        "logpdf": lambda y: -0.5 * y * y + _LOG_2 - _HALF_LOG_2_PI,
        "cdf": lambda y: apply("erf", _ROOT_HALF * y),
        "sf": lambda y: apply("erfc", _ROOT_HALF * y),
        "logsf": lambda y: log_ndtr(-y) + _LOG_2,
        "logcdf": lambda y: np.log(apply("erf", _ROOT_HALF * y)),
        "ppf": lambda q: ndtri(0.5 + 0.5 * q), "isf": lambda q: -ndtri(0.5 * q)}, low=_zero),
    "halfcauchy": Distribution({
        "logpdf": lambda y: _LOG_2 - _LOG_PI - np.log1p(y * y),
        "cdf": lambda y: 2.0 / np.pi * np.arctan(y),
        "sf": lambda y: 2.0 / np.pi * np.arctan2(1.0, y),
        "logcdf": lambda y: np.log(2.0 / np.pi * np.arctan(y)),
        "logsf": lambda y: np.log(2.0 / np.pi * np.arctan2(1.0, y)),
        "ppf": lambda q: np.tan(0.5 * np.pi * q), "isf": lambda q: 1.0 / np.tan(0.5 * np.pi * q)},
        low=_zero),
    "f": Distribution({"logpdf": _f_logpdf}, ("dfn", "dfd"), _positive, _zero),
    "gamma": Distribution({"logpdf": lambda y, a: xlogy(a - 1.0, y) - y - gammaln(a)}, ("a",),
                          _positive, _zero),
    "invgamma": Distribution({
        "logpdf": lambda y, a: -(a + 1.0) * np.log(y) - gammaln(a) - 1.0 / y}, ("a",), _positive,
        _zero, nothing_at_low=True),
    "chi2": Distribution({"logpdf": lambda y, df: xlogy(0.5 * df - 1.0, y) - 0.5 * y - gammaln(
        0.5 * df) - 0.5 * _LOG_2 * df}, ("df",), _positive, _zero),
    "beta": Distribution({"logpdf": lambda y, a, b: xlog1py(b - 1.0, -y) + xlogy(a - 1.0, y)
                          - betaln(a, b)}, ("a", "b"), _positive, _zero, _one),
    "invgauss": Distribution({"logpdf": lambda y, mu: -_HALF_LOG_2_PI - 1.5 * np.log(y)
                              - ((y - mu) / mu) ** 2 / (2.0 * y)}, ("mu",), _positive, _zero,
                             nothing_at_low=True),
}


def _is_whole(x: np.ndarray) -> Any:
    return x == np.floor(x)


def _binom(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> Any:
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways + xlogy(k, p) + xlog1py(n - k, -p)


DISCRETE: dict[str, Distribution] = {
    "poisson": Distribution({"logpmf": lambda k, mu: xlogy(k, mu) - gammaln(k + 1.0) - mu},
                            ("mu",), lambda mu: mu >= 0.0, _zero, inner=0.0, discrete=True),
    "binom": Distribution({"logpmf": _binom}, ("n", "p"), lambda n, p: (n >= 0.0) & _is_whole(n) & (
        p >= 0.0) & (p <= 1.0), _zero, lambda n, p: n, 0.0, True),
    "bernoulli": Distribution({"logpmf": lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p)}, ("p",),
                              lambda p: (p >= 0.0) & (p <= 1.0), _zero, _one, 0.0, True),
    "nbinom": Distribution({"logpmf": lambda k, n, p: gammaln(n + k) - gammaln(k + 1.0) - gammaln(n)
                            + n * np.log(p) + xlog1py(k, -p)}, ("n", "p"),
                           lambda n, p: (n > 0.0) & (p > 0.0) & (p <= 1.0), _zero, inner=0.0,
                           discrete=True),
    "geom": Distribution({"logpmf": lambda k, p: xlog1py(k - 1.0, -p) + np.log(p)}, ("p",),
                         lambda p: (p > 0.0) & (p <= 1.0), _one, inner=1.0, discrete=True),
}

for _name, _formulas in TAILS.items():
    (DISCRETE if _name in DISCRETE else CONTINUOUS)[_name].formulas.update(_formulas)
