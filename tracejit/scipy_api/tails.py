"""Distribution functions and quantiles of `scipy.stats` that are incomplete gammas and betas."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import log_ndtr
from tracejit.scipy_api.formulas import HALF_LOG_2_PI, Formula, zero
from tracejit.scipy_api.probability import (
    beta_tails,
    betaincinv,
    gamma_tails,
    gammaincinv,
    student_cdf,
    student_ppf,
)
from tracejit.scipy_api.quantiles import of_tails, quantile_of
from tracejit.trace.values.equations import apply, broadcast_dims, cast

__all__ = ["TAILS", "invgauss_logpdf", "invgauss_quantile", "invgauss_tails", "turned"]


def turned(pair: tuple[object, object]) -> tuple[Any, Any]:
    return pair[1], pair[0]


def _f_tails(y: np.ndarray, n: np.ndarray, m: np.ndarray) -> tuple[Any, Any]:
    whole = n * y + m
    return beta_tails(0.5 * n, 0.5 * m, n * y / whole, m / whole)


def _f_quantile(p: np.ndarray, q: np.ndarray, n: np.ndarray, m: np.ndarray) -> Any:
    return m * betaincinv(0.5 * n, 0.5 * m, p, q) / (n * betaincinv(0.5 * m, 0.5 * n, q, p))


def invgauss_logpdf(y: np.ndarray, mu: np.ndarray) -> Any:
    """Return the logarithm of the density of the inverse Gaussian distribution."""
    return -HALF_LOG_2_PI - 1.5 * np.log(y) - ((y - mu) / mu) ** 2 / (2.0 * y)


def invgauss_tails(y: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
    """Return the inverse Gaussian distribution function and its complement."""
    root = 1.0 / np.sqrt(y)
    near, far = root * (y / mu - 1.0), 2.0 / mu + log_ndtr(-root * (y / mu + 1.0))
    return (np.exp(log_ndtr(near)) + np.exp(far),
            np.exp(log_ndtr(-near)) - np.exp(far))


invgauss_quantile = quantile_of(invgauss_tails, invgauss_logpdf, zero, start=lambda mu: mu)


def _binom_tails(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> tuple[Any, Any]:
    inner = k < n
    count, trials = np.where(inner, k, 0.0), np.where(inner, n, 1.0)
    return beta_tails(trials - count, count + 1.0, 1.0 - p, p)


def _counted(kind: float, shapes: Formula) -> Formula:
    """Return the quantile of a count, which has no derivative."""

    def quantile(p: np.ndarray, q: np.ndarray, *given: np.ndarray) -> Any:
        n, share = shapes(*given)
        broadcast_dims([as_tracer(x).dims for x in (p, n, share)])
        return apply("count_quantile", cast(kind, np.float64), p, n, share)

    return quantile


def _nothing(x: np.ndarray) -> Any:
    return 0.0 * x


def _geom_quantile(p: np.ndarray, q: np.ndarray, share: np.ndarray) -> Any:
    count: Any = np.ceil(np.log1p(-p) / np.log1p(-share))
    before = -np.expm1(np.log1p(-share) * (count - 1.0))
    return np.where((before >= p) & (count > 1.0), count - 1.0, count)


def _geom_tails(k: np.ndarray, p: np.ndarray) -> tuple[Any, Any]:
    few = (p == 1.0) | ((p > 0.5) & (k <= 4.0))  # where it is a polynomial, up to its end
    log = np.where(few, -1.0, k) * np.log1p(-np.where(few, 0.5, p))
    power = np.power(np.where(few, 1.0 - p, 1.0), k)
    return np.where(few, 1.0 - power, -np.expm1(log)), np.where(few, power, np.exp(log))


TAILS: dict[str, dict[str, Formula]] = {
    "gamma": of_tails(lambda y, a: gamma_tails(a, y), lambda p, q, a: gammaincinv(a, p, q)),
    "chi2": of_tails(lambda y, v: gamma_tails(0.5 * v, 0.5 * y),
                lambda p, q, v: 2.0 * gammaincinv(0.5 * v, p, q)),
    "invgamma": of_tails(lambda y, a: turned(gamma_tails(a, 1.0 / y)),
                    lambda p, q, a: 1.0 / gammaincinv(a, q, p)),
    "beta": of_tails(lambda y, a, b: beta_tails(a, b, y, 1.0 - y),
                lambda p, q, a, b: betaincinv(a, b, p, q)),
    "f": of_tails(_f_tails, _f_quantile),
    "t": of_tails(lambda y, df: (student_cdf(y, df), student_cdf(-y, df)),
             lambda p, q, df: student_ppf(p, q, df)),
    "invgauss": of_tails(invgauss_tails, invgauss_quantile),
    "poisson": of_tails(lambda k, mu: turned(gamma_tails(k + 1.0, mu)),
                   _counted(0.0, lambda mu: (mu, _nothing(mu)))),
    "binom": of_tails(_binom_tails, _counted(1.0, lambda n, p: (n, p))),
    "bernoulli": of_tails(lambda k, p: (1.0 - p + 0.0 * k, p + 0.0 * k), _counted(
        1.0, lambda p: (1.0 + _nothing(p), p))),
    "nbinom": of_tails(lambda k, n, p: beta_tails(n, k + 1.0, p, 1.0 - p),
                  _counted(2.0, lambda n, p: (n, p))),
    "geom": of_tails(_geom_tails, _geom_quantile),
}
