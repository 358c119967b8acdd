"""Distributions of `scipy.stats` that end in powers on one side or both: a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.special import log_ndtr, ndtri
from tracejit.scipy_api.formulas import HALF_LOG_2_PI, Distribution, ndtr, positive, zero
from tracejit.scipy_api.quantiles import by_search, of_tails
from tracejit.trace.values.equations import apply

__all__ = ["POWER_TAILS", "breit_parts", "crystalball_parts"]


# --- a normal distribution with a power's tail, or two ------------------------------------------


def crystalball_parts(beta: np.ndarray, m: np.ndarray) -> tuple[Any, Any]:
    """Return the masses left and right of where the power begins, both times the same number."""
    left = m / beta / (m - 1.0) * np.exp(-0.5 * beta * beta)
    return left, math.sqrt(2.0 * math.pi) * ndtr(beta)


def _crystalball_power(y: np.ndarray, beta: np.ndarray, m: np.ndarray) -> Any:
    """Return the logarithm of the density where it is a power, 0 where that begins."""
    return -m * np.log1p(-(y + beta) * beta / m)


def _crystalball_logpdf(y: np.ndarray, beta: np.ndarray, m: np.ndarray) -> Any:
    left, right = crystalball_parts(beta, m)
    inside = y > -beta
    power = -0.5 * beta * beta + _crystalball_power(np.where(inside, -beta, y), beta, m)
    return np.where(inside, -0.5 * y * y, power) - np.log(left + right)


def _crystalball_tails(y: np.ndarray, beta: np.ndarray, m: np.ndarray) -> tuple[Any, Any]:
    left, right = crystalball_parts(beta, m)
    inside, whole = y > -beta, left + right
    lower = left * np.exp((1.0 - 1.0 / m) * _crystalball_power(
        np.where(inside, -beta, y), beta, m)) / whole
    upper = math.sqrt(2.0 * math.pi) * ndtr(-y) / whole
    return np.where(inside, 1.0 - upper, lower), np.where(inside, upper, 1.0 - lower)


def _crystalball_quantile(p: np.ndarray, q: np.ndarray, beta: np.ndarray, m: np.ndarray) -> Any:
    left, right = crystalball_parts(beta, m)
    power = p * (left + right) < left
    share = np.where(power, p * (left + right) / left, 0.5)
    far = -beta - m / beta * np.expm1(-np.log(share) / (m - 1.0))
    return np.where(power, far, -ndtri(np.where(power, 0.5, q * (left + right) / math.sqrt(
        2.0 * math.pi))))


def _log_mills(z: np.ndarray) -> Any:
    """Return the logarithm of the normal share above a number over the density there."""
    above = z > 0.0
    near = math.log(math.sqrt(0.5 * math.pi)) + np.log(apply(
        "erfcx", np.where(above, z, 0.0) * math.sqrt(0.5)))
    below_0 = np.where(above, 0.0, z)
    return np.where(above, near, log_ndtr(-below_0) + 0.5 * below_0 * below_0 + HALF_LOG_2_PI)


def _pareto_normal_parts(y: np.ndarray, u: np.ndarray, s: np.ndarray, a: np.ndarray,
                         b: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the normal number, and the logarithms of the parts of either tail."""
    z = (np.log(y) - u) / s
    log = -0.5 * z * z - HALF_LOG_2_PI
    return z, log + _log_mills(a * s - z), log + _log_mills(b * s + z)


def _pareto_normal_logpdf(y: np.ndarray, u: np.ndarray, s: np.ndarray, a: np.ndarray,
                          b: np.ndarray) -> Any:
    _, right, left = _pareto_normal_parts(y, u, s, a, b)
    return np.log(a) + np.log(b) - np.log(a + b) - np.log(y) + np.logaddexp(right, left)


def _pareto_normal_tails(y: np.ndarray, u: np.ndarray, s: np.ndarray, a: np.ndarray,
                         b: np.ndarray) -> tuple[Any, Any]:
    z, right, left = _pareto_normal_parts(y, u, s, a, b)
    off = (b * np.exp(right) - a * np.exp(left)) / (a + b)
    return np.exp(log_ndtr(z)) - off, np.exp(log_ndtr(-z)) + off


# --- Breit and Wigner's ------------------------------------------------------------------------


def breit_parts(rho: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the root of rho ** 2 + 1j rho, real and imaginary part, and that number's size."""
    size = rho * np.hypot(rho, 1.0)
    real = np.sqrt(0.5 * (size + rho * rho))
    return real, 0.5 * rho / real, size


def _breit_logpdf(y: np.ndarray, rho: np.ndarray) -> Any:
    real, _, size = breit_parts(rho)
    return np.log(2.0 * size / (rho * math.pi * real)) - np.log1p(
        ((y - rho) * (y + rho) / rho) ** 2)


def _breit_far(y: np.ndarray, rho: np.ndarray, size: np.ndarray) -> Any:
    """Return the share above a number, by powers of its inverse, times pi real / (2 size)."""
    t = 1.0 / (y * y)
    before, last, power, total = 0.0 * rho, 1.0 + 0.0 * rho, t / y, 0.0 * rho
    for n in range(12):
        total = total + last * power / (3 + 2 * n)
        before, last = last, 2.0 * rho * rho * last - size * size * before
        power = power * t
    return rho * total


def _breit_tails(y: np.ndarray, rho: np.ndarray) -> tuple[Any, Any]:
    """Return the shares by partial fractions."""
    real, imaginary, size = breit_parts(rho)
    square = y * y
    far = square > 50.0 * size
    at = np.where(far, 1.0, y)
    half_log = np.arctanh(2.0 * real * at / (at * at + size))
    across, along = 2.0 * imaginary * at, size - at * at
    whole = math.pi * real
    lower = (real * np.arctan2(across, along) + imaginary * half_log) / whole
    upper = (real * np.arctan2(across, -along) - imaginary * half_log) / whole
    series = _breit_far(np.where(far, y, 10.0 * np.sqrt(size)), rho, size) * 2.0 * size / whole
    return np.where(far, 1.0 - series, lower), np.where(far, series, upper)


POWER_TAILS: dict[str, Distribution] = {
    "crystalball": Distribution({"logpdf": _crystalball_logpdf, **of_tails(
        _crystalball_tails, _crystalball_quantile)}, ("beta", "m"),
        lambda beta, m: (m > 1.0) & (beta > 0.0)),
    "dpareto_lognorm": Distribution(by_search(
        _pareto_normal_logpdf, _pareto_normal_tails, zero, start=lambda u, s, a, b: np.exp(u)),
        ("u", "s", "a", "b"), lambda u, s, a, b: (s > 0.0) & (a > 0.0) & (b > 0.0), zero,
        nothing_at_ends=True),
    "rel_breitwigner": Distribution(by_search(
        _breit_logpdf, _breit_tails, zero, start=lambda rho: rho), ("rho",), positive, zero),
}
