"""The formulas of continuous distributions of `scipy.stats`, in standard form: a table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tracejit.numpy_api.special import betaln, gammaln, log_ndtr, ndtri
from tracejit.scipy_api.bounded import BOUNDED, of_vonmises
from tracejit.scipy_api.empirical import EMPIRICAL
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    LOG_PI,
    ROOT_HALF,
    Distribution,
    expit,
    log_expit,
    log_of_rest,
    ndtr,
    of_log_sf,
    one,
    positive,
    size,
    symmetric,
    zero,
)
from tracejit.scipy_api.hyperbolic import HYPERBOLIC
from tracejit.scipy_api.lines import LINES
from tracejit.scipy_api.masses import DISCRETE
from tracejit.scipy_api.mixtures import MIXTURES
from tracejit.scipy_api.noncentral import NONCENTRAL
from tracejit.scipy_api.power_factors import power_log, power_log1p
from tracejit.scipy_api.power_tails import POWER_TAILS
from tracejit.scipy_api.powers import POWERS
from tracejit.scipy_api.ranges import RANGES
from tracejit.scipy_api.rays import RAYS
from tracejit.scipy_api.skewed import SKEWED
from tracejit.scipy_api.tails import TAILS, invgauss_logpdf
from tracejit.trace.values.equations import apply, cast

__all__ = ["CONTINUOUS", "DISCRETE"]


def _t_logpdf(y: np.ndarray, df: np.ndarray) -> Any:
    far = np.isinf(df)
    r = np.where(far, 1.0, df)
    near = -betaln(0.5 * r, cast(0.5, np.float64)) - 0.5 * np.log(r)  # type: ignore[arg-type]
    return np.where(far, -0.5 * y * y - HALF_LOG_2_PI,
                    near - 0.5 * (r + 1.0) * np.log1p(y * y / r))


def _laplace_logcdf(y: np.ndarray) -> Any:
    above = y > 0.0
    return np.where(above, np.log1p(-0.5 * np.exp(-np.where(above, y, 0.0))), y - LOG_2)


def _lognorm_z(y: np.ndarray, s: np.ndarray) -> Any:
    return np.log(y) / s


def _f_logpdf(y: np.ndarray, n: np.ndarray, m: np.ndarray) -> Any:
    return (0.5 * m * np.log(m) + 0.5 * n * np.log(n) + power_log(0.5 * n - 1.0, y)
            - 0.5 * (n + m) * np.log(m + n * y) - betaln(0.5 * n, 0.5 * m))


CONTINUOUS: dict[str, Distribution] = {
    "norm": Distribution(symmetric(lambda y: -0.5 * y * y - HALF_LOG_2_PI, ndtr, log_ndtr,
                                    ndtri)),
    "logistic": Distribution(symmetric(lambda y: -size(y) - 2.0 * np.log1p(np.exp(-size(y))),
                                        expit, log_expit, lambda q: np.log(q) - np.log1p(-q))),
    "laplace": Distribution(symmetric(
        lambda y: -LOG_2 - np.abs(y), lambda y: np.where(
            y > 0.0, 1.0 - 0.5 * np.exp(-size(y)), 0.5 * np.exp(-size(y))), _laplace_logcdf,
        lambda q: np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q)))),
    "cauchy": Distribution(symmetric(
        lambda y: -LOG_PI - np.log1p(y * y), lambda y: np.arctan2(1.0, -y) / np.pi,
        lambda y: np.log(np.arctan2(1.0, -y) / np.pi),
        lambda q: np.where(np.abs(q - 0.5) < 0.25, np.tan(np.pi * (q - 0.5)),
                           -1.0 / np.tan(np.pi * q)))),
    "gumbel_r": Distribution({
        "logpdf": lambda y: -y - np.exp(-y), "logcdf": lambda y: -np.exp(-y),
        "cdf": lambda y: np.exp(-np.exp(-y)), "sf": lambda y: -np.expm1(-np.exp(-y)),
        "logsf": lambda y: log_of_rest(-np.exp(-y)), "ppf": lambda q: -np.log(-np.log(q)),
        "isf": lambda q: -np.log(-np.log1p(-q))}),
    "gumbel_l": Distribution({
        "logpdf": lambda y: y - np.exp(y), "logsf": lambda y: -np.exp(y),
        "sf": lambda y: np.exp(-np.exp(y)), "cdf": lambda y: -np.expm1(-np.exp(y)),
        "logcdf": lambda y: log_of_rest(-np.exp(y)), "ppf": lambda q: np.log(-np.log1p(-q)),
        "isf": lambda q: np.log(-np.log(q))}),
    "t": Distribution({"logpdf": _t_logpdf}, ("df",), positive),
    "vonmises": Distribution(of_vonmises(turning=True), ("kappa",), lambda kappa: kappa >= 0.0),
    "expon": Distribution(of_log_sf(lambda y: -y, lambda y: -y, lambda e: e), low=zero),
    "weibull_min": Distribution(of_log_sf(
        lambda y, c: -np.power(y, c), lambda y, c: np.log(c) + power_log(c - 1.0, y) - np.power(
            y, c),
        lambda e, c: np.power(e, 1.0 / c)), ("c",), positive, zero),
    "rayleigh": Distribution(of_log_sf(
        lambda y: -0.5 * y * y, lambda y: power_log(np.float64(1.0), y) - 0.5 * y * y,
        lambda e: np.sqrt(2.0 * e)),
        low=zero),
    "pareto": Distribution(of_log_sf(
        lambda y, b: -b * np.log(y), lambda y, b: np.log(b) - (b + 1.0) * np.log(y),
        lambda e, b: np.exp(e / b)), ("b",), positive, one, inner=2.0),
    "uniform": Distribution({
        "logpdf": lambda y: 0.0 * y, "cdf": lambda y: y, "sf": lambda y: 1.0 - y,
        "logcdf": np.log, "logsf": lambda y: np.log1p(-y), "ppf": lambda q: q,
        "isf": lambda q: 1.0 - q}, low=zero, high=one),
    "lognorm": Distribution({
        "logpdf": lambda y, s: -0.5 * _lognorm_z(y, s) ** 2 - np.log(s * y) - HALF_LOG_2_PI,
        "cdf": lambda y, s: ndtr(_lognorm_z(y, s)), "sf": lambda y, s: ndtr(-_lognorm_z(y, s)),
        "logcdf": lambda y, s: log_ndtr(_lognorm_z(y, s)),
        "logsf": lambda y, s: log_ndtr(-_lognorm_z(y, s)),
        "ppf": lambda q, s: np.exp(s * ndtri(q)), "isf": lambda q, s: np.exp(-s * ndtri(q))},
        ("s",), positive, zero, nothing_at_ends=True),
    "halfnorm": Distribution({
        "logpdf": lambda y: -0.5 * y * y + LOG_2 - HALF_LOG_2_PI,
        "cdf": lambda y: apply("erf", ROOT_HALF * y),
        "sf": lambda y: apply("erfc", ROOT_HALF * y),
        "logsf": lambda y: log_ndtr(-y) + LOG_2,
        "logcdf": lambda y: np.log(apply("erf", ROOT_HALF * y)),
        "ppf": lambda q: ndtri(0.5 + 0.5 * q), "isf": lambda q: -ndtri(0.5 * q)}, low=zero),
    "halfcauchy": Distribution({
        "logpdf": lambda y: LOG_2 - LOG_PI - np.log1p(y * y),
        "cdf": lambda y: 2.0 / np.pi * np.arctan(y),
        "sf": lambda y: 2.0 / np.pi * np.arctan2(1.0, y),
        "logcdf": lambda y: np.log(2.0 / np.pi * np.arctan(y)),
        "logsf": lambda y: np.log(2.0 / np.pi * np.arctan2(1.0, y)),
        "ppf": lambda q: np.tan(0.5 * np.pi * q), "isf": lambda q: 1.0 / np.tan(0.5 * np.pi * q)},
        low=zero),
    "f": Distribution({"logpdf": _f_logpdf}, ("dfn", "dfd"), positive, zero),
    "gamma": Distribution({"logpdf": lambda y, a: power_log(a - 1.0, y) - y - gammaln(a)}, ("a",),
                          positive, zero),
    "invgamma": Distribution({
        "logpdf": lambda y, a: -(a + 1.0) * np.log(y) - gammaln(a) - 1.0 / y}, ("a",), positive,
        zero, nothing_at_ends=True),
    "chi2": Distribution({"logpdf": lambda y, df: power_log(0.5 * df - 1.0, y) - 0.5 * y - gammaln(
        0.5 * df) - 0.5 * LOG_2 * df}, ("df",), positive, zero),
    "beta": Distribution({"logpdf": lambda y, a, b: power_log1p(b - 1.0, -y) + power_log(
        a - 1.0, y) - betaln(a, b)}, ("a", "b"), positive, zero, one),
    "invgauss": Distribution({"logpdf": invgauss_logpdf}, ("mu",), positive, zero,
                             nothing_at_ends=True),
}


CONTINUOUS["wald"] = Distribution({
    what: partial(lambda formula, y: formula(y, np.float64(1.0)), formula)
    for what, formula in {**TAILS["invgauss"], "logpdf": invgauss_logpdf}.items()}, low=zero,
    nothing_at_ends=True)
for _table in (RAYS, LINES, POWERS, BOUNDED, SKEWED, POWER_TAILS, NONCENTRAL, HYPERBOLIC,
               MIXTURES, EMPIRICAL, RANGES):
    CONTINUOUS.update(_table)

for _name, _formulas in TAILS.items():
    (DISCRETE if _name in DISCRETE else CONTINUOUS)[_name].formulas.update(_formulas)
