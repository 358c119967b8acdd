"""Distributions of `scipy.stats` whose shapes skew them, or make their tails heavy: a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import (
    betaln,
    beyond_stirling,
    exprel,
    gammaln,
    log1prel,
    log_ndtr,
    xlog1py,
)
from tracejit.scipy_api.areas import LEFT, area, either_tail
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    Distribution,
    log_of_rest,
    ndtr,
    one,
    positive,
    zero,
)
from tracejit.scipy_api.probability import beta_tails, betaincinv, gamma_tails
from tracejit.scipy_api.quantiles import by_search, of_tails
from tracejit.scipy_api.tails import invgauss_quantile, invgauss_tails, turned
from tracejit.trace.values.equations import apply

__all__ = ["SKEWED"]


# --- Jones and Faddy's, Hosking's, Pearson's, Tukey's -------------------------------------------


def _jones_shares(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    """Return the beta distribution's number, and 1 less it."""
    root = np.sqrt(a + b + y * y)
    right = y > 0.0
    small = 0.5 * (a + b) / (root * (root + np.where(right, y, -y)))
    return np.where(right, 1.0 - small, small), np.where(right, small, 1.0 - small)


def _jones_logpdf(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    x, rest = _jones_shares(y, a, b)
    return ((a + 0.5) * np.log(2.0 * x) + (b + 0.5) * np.log(2.0 * rest) - (a + b - 1.0) * LOG_2
            - betaln(a, b) - 0.5 * np.log(a + b))


def _jones_quantile(p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    x, rest = betaincinv(a, b, p, q), betaincinv(b, a, q, p)
    return (x - rest) * np.sqrt(a + b) / (2.0 * np.sqrt(x * rest))


def _kappa_log(y: np.ndarray, k: np.ndarray) -> Any:
    """Return log(1 - k y) / k, which is -y where k is 0."""
    return -y * log1prel(-k * y)


def _kappa_logcdf(y: np.ndarray, h: np.ndarray, k: np.ndarray) -> Any:
    return _kappa_log(np.exp(_kappa_log(y, k)), h)


def _kappa_logpdf(y: np.ndarray, h: np.ndarray, k: np.ndarray) -> Any:
    outer, inner = [np.where((shape == 1.0) & np.isinf(log), 0.0, (1.0 - shape) * log)
                    for shape, log in ((k, _kappa_log(y, k)), (h, _kappa_logcdf(y, h, k)))]
    return outer + inner


def _kappa_of_log(log: np.ndarray, h: np.ndarray, k: np.ndarray) -> Any:
    """Return the number where the distribution function has this logarithm."""
    inner = np.log(-log * exprel(h * log))
    return -inner * exprel(k * inner)


def _kappa_low(h: np.ndarray, k: np.ndarray) -> Any:
    ends, log = h > 0.0, np.log(np.where(h > 0.0, h, 1.0))
    other = np.where(k < 0.0, 1.0 / np.where(k < 0.0, k, -1.0), -np.inf)
    found = np.where(ends, log * exprel(-k * log), other)
    return np.where((h == h) & (k == k), found, np.nan)  # no number is inside, as SciPy has it


def _kappa_high(h: np.ndarray, k: np.ndarray) -> Any:
    found = np.where(k > 0.0, 1.0 / np.where(k > 0.0, k, 1.0), np.inf)
    return np.where((h == h) & (k == k), found, np.nan)


_NEARLY_NORMAL = 0.05


def _bend(u: np.ndarray) -> Any:
    """Return (log(1 + u) - u) / u ** 2, next to 0 by its series."""
    near = np.abs(u) < 0.1
    series: Any = 0.0
    t = np.where(near, u, 0.0)
    for k in range(20, 1, -1):
        series = series * -t - 1.0 / k
    far = np.where(near, 1.0, u)
    return np.where(near, series, (np.log1p(far) - far) / (far * far))


def _pearson_logpdf(y: np.ndarray, skew: np.ndarray) -> Any:
    inverse, u = 0.25 * skew * skew, 0.5 * y * skew  # the gamma distribution's shape, inverted
    small = inverse < 0.1
    near = y * y * _bend(np.where(small & (u > -1.0), u, 0.0)) - np.log1p(np.where(
        u > -1.0, u, 0.0)) - beyond_stirling(np.where(small, inverse, 0.1)) - HALF_LOG_2_PI
    shape = 1.0 / np.where(small, 1.0, inverse)
    place = np.where(small | (u < -1.0), 0.0, u)
    far = xlog1py(shape - 1.0, place) - shape * (1.0 + place) - gammaln(shape) + (
        shape - 0.5) * np.log(shape)
    outside = (u < -1.0) | (small & (u == -1.0))
    return np.where(outside, -np.inf, np.where(small, near, far))


def _pearson_near(y: np.ndarray, skew: np.ndarray) -> tuple[Any, Any]:
    """Return the shares where the distribution is nearly normal, as areas."""
    away = np.abs(y)
    length = np.sqrt(away * away + 2.6 * LEFT) - away
    return either_tail(_pearson_logpdf, y, -0.5 * skew, length, skew)


def _pearson_tails(y: np.ndarray, skew: np.ndarray) -> tuple[Any, Any]:
    small = np.abs(skew) < _NEARLY_NORMAL
    near = _pearson_near(np.where(small, y, 0.0), np.where(small, skew, 0.0))
    s = np.where(small, 1.0, skew)
    shape, place = 4.0 / (s * s), 1.0 + 0.5 * s * np.where(small, 0.0, y)
    lower, upper = gamma_tails(shape, shape * np.where(place > 0.0, place, 0.0))
    right = s > 0.0
    return (np.where(small, near[0], np.where(right, lower, upper)),
            np.where(small, near[1], np.where(right, upper, lower)))


def _pearson_end(sign: float) -> Any:
    def end(skew: np.ndarray) -> Any:
        bounded = sign * skew > 0.0
        return np.where(bounded, -2.0 / np.where(bounded, skew, 1.0), -sign * np.inf)

    return end


# --- others -------------------------------------------------------------------------------------


def _genexpon_logsf(y: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    return -a * y - b * (y - y * exprel(-c * y))


def _genexpon_logpdf(y: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    return np.log(a - b * np.expm1(-c * y)) + _genexpon_logsf(y, a, b, c)


def _genexpon_tails(y: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    log = _genexpon_logsf(y, a, b, c)
    return -np.expm1(log), np.exp(log)


def _skewnorm_logpdf(y: np.ndarray, a: np.ndarray) -> Any:
    return LOG_2 - HALF_LOG_2_PI - 0.5 * y * y + log_ndtr(a * y)


def _skewnorm_tails(y: np.ndarray, a: np.ndarray) -> tuple[Any, Any]:
    """Return the shares by Owen's function, and on the side of the light tail as an area."""
    right = a > 0.0
    b, z = np.where(right, a, -a), np.where(right, y, -y)
    near = z < 0.0
    away, steep = np.where(near, -z, 0.0), 1.0 + b * b
    length = 2.0 * LEFT / steep / (away + np.sqrt(away * away + 2.0 * LEFT / steep))
    tail = area(lambda v, c: _skewnorm_logpdf(-v, c), away, length, b)
    turn = 2.0 * apply("owens_t", np.where(near, 0.0, z), b)
    lower = np.where(near, tail, ndtr(z) - turn)
    upper = np.where(near, 1.0 - tail, ndtr(-z) + turn)
    return np.where(right, lower, upper), np.where(right, upper, lower)


SKEWED: dict[str, Distribution] = {
    "jf_skew_t": Distribution({"logpdf": _jones_logpdf, **of_tails(
        lambda y, a, b: beta_tails(a, b, *_jones_shares(y, a, b)), _jones_quantile)}, ("a", "b"),
        positive),
    "kappa4": Distribution({
        "logpdf": _kappa_logpdf, "logcdf": _kappa_logcdf,
        "cdf": lambda y, h, k: np.exp(_kappa_logcdf(y, h, k)),
        "sf": lambda y, h, k: -np.expm1(_kappa_logcdf(y, h, k)),
        "logsf": lambda y, h, k: log_of_rest(_kappa_logcdf(y, h, k)),
        "ppf": lambda q, h, k: _kappa_of_log(np.log(q), h, k),
        "isf": lambda q, h, k: _kappa_of_log(np.log1p(-q), h, k)}, ("h", "k"),
        lambda h, k: True, low=_kappa_low, high=_kappa_high, inner=0.0),
    "pearson3": Distribution(by_search(
        _pearson_logpdf, _pearson_tails, _pearson_end(1.0), _pearson_end(-1.0)), ("skew",),
        np.isfinite, inner=0.0),
    "genexpon": Distribution(by_search(_genexpon_logpdf, _genexpon_tails, zero, start=one),
                             ("a", "b", "c"), positive, zero),
    "recipinvgauss": Distribution({
        "logpdf": lambda y, mu: -HALF_LOG_2_PI - 0.5 * np.log(y) - (1.0 - mu * y) ** 2 / (
            2.0 * y * mu * mu),
        **of_tails(lambda y, mu: turned(invgauss_tails(1.0 / y, mu)),
                   lambda p, q, mu: 1.0 / invgauss_quantile(q, p, mu))}, ("mu",), positive, zero,
        nothing_at_ends=True),
    "skewnorm": Distribution(by_search(_skewnorm_logpdf, _skewnorm_tails), ("a",), np.isfinite),
}
