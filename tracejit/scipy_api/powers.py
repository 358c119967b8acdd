"""Distributions of `scipy.stats` that are powers and parts of simpler ones: a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import gammaln, log_ndtr, ndtri, xlog1py, xlogy
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    Distribution,
    ndtr,
    of_log_sf,
    positive,
    zero,
)
from tracejit.scipy_api.power_factors import power_log
from tracejit.scipy_api.probability import gamma_tails, root_of_gamma
from tracejit.scipy_api.quantiles import of_tails
from tracejit.scipy_api.tails import turned
from tracejit.trace.values.equations import apply

__all__ = ["POWERS"]


def _power_normal(z: np.ndarray, c: np.ndarray) -> Any:
    """Return the logarithm of a density: of the least of c normal numbers."""
    return np.log(c) - HALF_LOG_2_PI - 0.5 * z * z + (c - 1.0) * log_ndtr(-z)


def _alpha_tails(y: np.ndarray, a: np.ndarray) -> tuple[Any, Any]:
    whole = ndtr(a)
    below = ndtr(a - 1.0 / y) / whole
    return below, (whole - ndtr(a - 1.0 / y)) / whole


def _half_logistic_power(y: np.ndarray, c: np.ndarray) -> Any:
    return np.exp(np.log1p(-c * y) / c)


POWERS: dict[str, Distribution] = {
    "powernorm": Distribution(of_log_sf(
        lambda y, c: c * log_ndtr(-y), _power_normal,
        lambda e, c: -ndtri(np.exp(-e / c))), ("c",), positive),
    "powerlognorm": Distribution(of_log_sf(
        lambda y, c, s: c * log_ndtr(-np.log(y) / s),
        lambda y, c, s: _power_normal(np.log(y) / s, c) - np.log(y * s),
        lambda e, c, s: np.exp(-s * ndtri(np.exp(-e / c)))), ("c", "s"), positive, zero,
        nothing_at_ends=True),
    "exponpow": Distribution(of_log_sf(
        lambda y, b: -np.expm1(np.power(y, b)),
        lambda y, b: np.log(b) + power_log(b - 1.0, y) + np.power(y, b) - np.expm1(np.power(y, b)),
        lambda e, b: np.power(np.log1p(e), 1.0 / b)) | {  # SciPy's logarithm of 0 is minus infinity
            "logsf": lambda y, b: np.log(np.exp(-np.expm1(np.power(y, b))))}, ("b",), positive,
        zero),
    "halfgennorm": Distribution({
        "logpdf": lambda y, beta: np.log(beta) - gammaln(1.0 / beta) - np.power(y, beta),
        **of_tails(lambda y, beta: gamma_tails(1.0 / beta, np.power(y, beta)),
                   root_of_gamma)},
        ("beta",), positive, zero),
    "levy_l": Distribution({
        "logpdf": lambda y: -HALF_LOG_2_PI - 1.5 * np.log(-y) + 0.5 / y, **of_tails(
            lambda y: (apply("erf", np.sqrt(-0.5 / y)), apply("erfc", np.sqrt(-0.5 / y))),
            lambda p, q: -1.0 / ndtri(0.5 * q) ** 2)}, high=zero, inner=-0.5,
        nothing_at_ends=True),
    "mielke": Distribution({
        "logpdf": lambda y, k, s: np.log(k) + xlogy(k - 1.0, y) - xlog1py(
            1.0 + k / s, np.power(y, s)), **of_tails(
            lambda y, k, s: (np.exp(-k / s * np.log1p(np.power(y, -s))),
                             -np.expm1(-k / s * np.log1p(np.power(y, -s)))),
            lambda p, q, k, s: np.power(np.expm1(-s / k * np.log(p)), -1.0 / s))},
        ("k", "s"), positive, zero),
    "alpha": Distribution({
        "logpdf": lambda y, a: -2.0 * np.log(y) - log_ndtr(a) - HALF_LOG_2_PI
        - 0.5 * (a - 1.0 / y) ** 2, **of_tails(
            _alpha_tails, lambda p, q, a: 1.0 / (a - ndtri(p * ndtr(a))))}, ("a",), positive,
        zero, nothing_at_ends=True),
    "genhalflogistic": Distribution({
        "logpdf": lambda y, c: LOG_2 + xlogy(1.0 / c - 1.0, 1.0 - c * y) - 2.0 * np.log1p(
            _half_logistic_power(y, c)), **of_tails(
            lambda y, c: turned((2.0 * _half_logistic_power(y, c) / (
                1.0 + _half_logistic_power(y, c)), (1.0 - _half_logistic_power(y, c)) / (
                    1.0 + _half_logistic_power(y, c)))),
            lambda p, q, c: -np.expm1(c * np.log(q / (1.0 + p))) / c)}, ("c",), positive, zero,
        lambda c: 1.0 / c, inner=0.01),
}
