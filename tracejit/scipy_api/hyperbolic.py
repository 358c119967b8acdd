"""Distributions of `scipy.stats` that are integrals of hyperbolic functions, or roots: a table.

Areas are those over t of x = sinh(t) or x = exp(t), where densities fall doubly exponentially.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.special import exprel
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.areas import LEFT, area, either_tail
from tracejit.scipy_api.formulas import (
    LOG_2,
    LOG_PI,
    Distribution,
    expit,
    log_expit,
    size,
    zero,
)
from tracejit.scipy_api.plain_distributions import quantile_between
from tracejit.scipy_api.quantiles import by_search, of_tails
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply

__all__ = ["HYPERBOLIC"]


# --- normal and inverse Gaussian ----------------------------------------------------------------


def _norminvgauss_over_t(t: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    """Return the logarithm of the density of t = arcsinh(x)."""
    z = a * np.cosh(t)
    return np.log(a) - LOG_PI + np.log(apply("kve", np.float64(1.0), z)) + b * np.sinh(
        t) - z + np.sqrt((a - b) * (a + b))


def _norminvgauss_logpdf(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    root = np.sqrt(1.0 + y * y)
    bessel = apply("kve", np.float64(1.0), a * root)
    return np.log(a) - LOG_PI + np.log(bessel) + b * y - a * root + np.sqrt(
        (a - b) * (a + b)) - np.log(root)


def _norminvgauss_tails(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    fallen = a * np.sqrt(1.0 + y * y) - b * y + LEFT
    far = fallen + np.sqrt(fallen * fallen - (a - b) * (a + b))
    t, mode = np.arcsinh(y), np.arctanh(b / a)
    length = np.where(t > mode, np.log(far / (a - b)) - t, np.log(far / (a + b)) + t)
    return either_tail(_norminvgauss_over_t, t, mode, length, a, b)


# --- generalised inverse Gaussian ---------------------------------------------------------------


def _inverse_over_t(t: np.ndarray, p: np.ndarray, b: np.ndarray) -> Any:
    """Return the logarithm of the density of t = log(x), times a number."""
    return p * t - b * np.cosh(t)


def _fallen(s: np.ndarray, p: np.ndarray, w: np.ndarray) -> tuple[Any, Any]:
    """Return how far the logarithm is below its largest, s away from there, and the slope."""
    half = np.sinh(0.5 * s)
    return 2.0 * w * half * half + p * (np.sinh(s) - s), w * np.sinh(s) + 2.0 * p * half * half


def _reach(s: np.ndarray, p: np.ndarray, b: np.ndarray) -> Any:
    """Return how far from s > 0 the density reaches, away from its mode: Newton, from beyond."""
    w = np.hypot(p, b)
    most = _fallen(s, p, w)[0] + LEFT
    flat = np.maximum(-p, 1e-300)
    end = np.minimum(np.arccosh(1.0 + most / (w - np.maximum(-p, 0.0))), np.where(
        p < 0.0, most / flat + 1.0, np.inf))
    for _ in range(6):
        value, slope = _fallen(end, p, w)
        end = end - (value - most) / slope
    return end - s


def _inverse_parts(t: np.ndarray, p: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    """Return the area from t on, away from the mode, and all of it, over the mode's density."""
    mode = stop_gradient(np.arcsinh(p / b))
    top = stop_gradient(_inverse_over_t(mode, p, b))

    def density(v: np.ndarray, p: np.ndarray, b: np.ndarray, top: np.ndarray) -> Any:
        return _inverse_over_t(v, p, b) - top

    halves = [area(density, mode, _reach(0.0 * t, p, b), p, b, top),
              -area(density, mode, -_reach(0.0 * t, -p, b), p, b, top)]
    right = t > mode
    away, turned = np.where(right, t - mode, mode - t), np.where(right, p, -p)
    length = _reach(away, turned, b)
    tail = area(density, t, np.where(right, length, -length), p, b, top)
    return np.where(right, tail, -tail), halves[0] + halves[1]


def _geninvgauss_logpdf(y: np.ndarray, p: np.ndarray, b: np.ndarray) -> Any:
    mode = stop_gradient(np.arcsinh(p / b))
    top = stop_gradient(_inverse_over_t(mode, p, b))
    whole = _inverse_parts(mode + 0.0 * y, p, b)[1]
    return (p - 1.0) * np.log(y) - 0.5 * b * (y + 1.0 / y) - top - np.log(whole)


def _geninvgauss_tails(y: np.ndarray, p: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    t = np.log(y)
    part, whole = _inverse_parts(t, p, b)
    tail, right = part / whole, t > np.arcsinh(p / b)
    return np.where(right, 1.0 - tail, tail), np.where(right, tail, 1.0 - tail)


# --- Tukey's ------------------------------------------------------------------------------------


def _tukey_of(z: np.ndarray, lam: np.ndarray) -> tuple[Any, Any]:
    """Return the quantile of a share with this logit, and its slope by the logit."""
    logs = log_expit(z), log_expit(-z)
    value = logs[0] * exprel(lam * logs[0]) - logs[1] * exprel(lam * logs[1])
    return value, np.exp(lam * logs[0] + logs[1]) + np.exp(lam * logs[1] + logs[0])


def _tukey_logit(y: np.ndarray, lam: np.ndarray) -> Any:
    """Return the logit of the share below a number, by Newton's method and its derivatives."""
    away, shape = np.broadcast_arrays(stop_gradient(size(y)), stop_gradient(lam))
    some = away > 0.0

    def at(z: np.ndarray) -> tuple[Any, Any, Any]:
        value, slope = _tukey_of(z, shape)
        return value, value, slope

    wanted = np.where(some, away, 1.0)
    found = call_function(quantile_between, (
        at, wanted, 0.0 * wanted + np.inf, 0.0 * wanted, 0.0 * wanted + np.inf,
        0.0 * wanted + 1.0), {})
    z: Any = np.where(some, np.where(y > 0.0, found, -found), 0.0)
    for _ in range(3):
        value, slope = _tukey_of(z, lam)
        z = z + (y - value) / slope
    return z


def _tukey_ppf(p: np.ndarray, q: np.ndarray, lam: np.ndarray) -> Any:
    logs = np.log(p), np.log(q)
    return logs[0] * exprel(lam * logs[0]) - logs[1] * exprel(lam * logs[1])


def _tukey_end(sign: float) -> Any:
    def end(lam: np.ndarray) -> Any:
        return np.where(lam > 0.0, sign / np.where(lam > 0.0, lam, 1.0), sign * np.inf)

    return end


def _tukey_logpdf(y: np.ndarray, lam: np.ndarray) -> Any:
    z = _tukey_logit(y, lam)
    return -np.logaddexp((lam - 1.0) * log_expit(z), (lam - 1.0) * log_expit(-z))


# --- Kolmogorov's -------------------------------------------------------------------------------


_NEAR_ZERO = 0.03
"""Below which Kolmogorov's share of numbers is no double but 0."""


def _kolmogorov_low(y: np.ndarray) -> tuple[Any, Any]:
    """Return the logarithms of the share below a number up to 1, and of the density."""
    share: Any = 0.0
    density: Any = 0.0
    first = math.pi ** 2 / 8.0
    for k in range(1, 5):
        c = (2 * k - 1) ** 2 * first
        term = np.exp((first - c) / (y * y))
        share, density = share + term, density + term * (2.0 * c / (y * y) - 1.0)
    lead = 0.5 * math.log(2.0 * math.pi) - first / (y * y)
    return lead + np.log(share / y), lead + np.log(density / (y * y))


def _kolmogorov_high(y: np.ndarray) -> tuple[Any, Any]:
    """Return the logarithms of the share above a number from 1 on, and of the density."""
    share: Any = 0.0
    density: Any = 0.0
    for k in range(1, 6):
        term = (-1.0) ** (k - 1) * np.exp(-2.0 * (k * k - 1) * y * y)
        share, density = share + term, density + k * k * term
    return LOG_2 - 2.0 * y * y + np.log(share), 3.0 * LOG_2 - 2.0 * y * y + np.log(y * density)


def _kolmogorov_logpdf(y: np.ndarray) -> Any:
    low = y < 1.0
    none = y < 1e-150  # of which the square is 0
    return np.where(low, np.where(none, -np.inf, _kolmogorov_low(
        np.where(low & ~none, y, 1.0))[1]),
                    _kolmogorov_high(np.where(low, 1.0, y))[1])


def _kolmogorov_tails(y: np.ndarray) -> tuple[Any, Any]:
    low = y < 1.0
    some = low & (y > _NEAR_ZERO)
    lower = np.where(some | ~low, np.exp(_kolmogorov_low(np.where(some, y, 1.0))[0]), 0.0 * y)
    upper = np.exp(_kolmogorov_high(np.where(low, 1.0, y))[0])
    return np.where(low, lower, 1.0 - upper), np.where(low, 1.0 - lower, upper)


HYPERBOLIC: dict[str, Distribution] = {
    "norminvgauss": Distribution(by_search(_norminvgauss_logpdf, _norminvgauss_tails),
                                 ("a", "b"), lambda a, b: (a > 0.0) & (np.abs(b) < a)),
    "geninvgauss": Distribution(by_search(_geninvgauss_logpdf, _geninvgauss_tails, zero,
                                          start=lambda p, b: np.exp(np.arcsinh(p / b))),
                                ("p", "b"), lambda p, b: (p == p) & (b > 0.0), zero,
                                nothing_at_ends=True),
    "kstwobign": Distribution(by_search(_kolmogorov_logpdf, _kolmogorov_tails, zero,
                                        start=lambda: 0.8), low=zero, nothing_at_ends=True),
    "tukeylambda": Distribution({"logpdf": _tukey_logpdf, **of_tails(
        lambda y, lam: (expit(_tukey_logit(y, lam)), expit(-_tukey_logit(y, lam))), _tukey_ppf)},
        ("lam",), np.isfinite, _tukey_end(-1.0), _tukey_end(1.0), inner=0.0,
        nothing_at_ends=True),
}
