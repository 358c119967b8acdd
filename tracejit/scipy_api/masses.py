"""The formulas of distributions of counts of `scipy.stats`, in standard form: a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import betaln, gammaln
from tracejit.scipy_api.formulas import Distribution, one, positive, zero
from tracejit.scipy_api.noncentral import SKELLAM
from tracejit.scipy_api.power_factors import power_log, power_log1p
from tracejit.scipy_api.quantiles import before_zero, by_sums, counted_by, of_tails
from tracejit.scipy_api.urns import URNS, is_whole

__all__ = ["DISCRETE"]


def _binom(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> Any:
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways + power_log(k, p) + power_log1p(n - k, -p)


def _betabinom(k: np.ndarray, n: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    return -np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0) + betaln(k + a, n - k + b) - betaln(a, b)


def _betanbinom(k: np.ndarray, n: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    return -np.log(n + k) - betaln(n, k + 1.0) + betaln(a + n, b + k) - betaln(a, b)


def _dlaplace_tails(k: np.ndarray, a: np.ndarray) -> tuple[Any, Any]:
    right, whole = k >= 0.0, 1.0 + np.exp(-a)
    upper = np.exp(-a * (np.where(right, k, 0.0) + 1.0)) / whole
    lower = np.exp(a * np.where(right, 0.0, k)) / whole
    return np.where(right, 1.0 - upper, lower), np.where(right, upper, 1.0 - lower)


def _planck_tails(k: np.ndarray, rate: np.ndarray) -> tuple[Any, Any]:
    return -np.expm1(-rate * (k + 1.0)), np.exp(-rate * (k + 1.0))


def _randint_quantile(p: np.ndarray, q: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
    count = np.ceil(p * (high - low) + low) - 1.0
    before = np.maximum(count - 1.0, low)
    return np.where((before - low + 1.0) / (high - low) >= p, before, count)


DISCRETE: dict[str, Distribution] = {
    "poisson": Distribution({"logpmf": lambda k, mu: power_log(k, mu) - gammaln(k + 1.0) - mu},
                            ("mu",), lambda mu: mu >= 0.0, zero, inner=0.0, discrete=True),
    "binom": Distribution({"logpmf": _binom}, ("n", "p"), lambda n, p: (n >= 0.0) & is_whole(n) & (
        p >= 0.0) & (p <= 1.0), zero, lambda n, p: n, 0.0, True),
    "bernoulli": Distribution({"logpmf": lambda k, p: power_log(k, p) + power_log1p(
        1.0 - k, -p)}, ("p",),
                              lambda p: (p >= 0.0) & (p <= 1.0), zero, one, 0.0, True),
    "nbinom": Distribution({"logpmf": lambda k, n, p: gammaln(n + k) - gammaln(k + 1.0) - gammaln(n)
                            + power_log(n, p) + power_log1p(k, -p)}, ("n", "p"),
                           lambda n, p: (n > 0.0) & (p > 0.0) & (p <= 1.0), zero, inner=0.0,
                           discrete=True),
    "betabinom": Distribution(by_sums(_betabinom, zero, lambda n, a, b: n), ("n", "a", "b"),
                              lambda n, a, b: (n >= 0.0) & is_whole(n) & (a > 0.0) & (b > 0.0),
                              zero, lambda n, a, b: n, 0.0, True),
    "betanbinom": Distribution(by_sums(_betanbinom, zero), ("n", "a", "b"), lambda n, a, b: (
        n >= 0.0) & is_whole(n) & (a > 0.0) & (b > 0.0), zero, inner=0.0, discrete=True),
    "randint": Distribution({
        "logpmf": lambda k, low, high: -np.log(high - low) + 0.0 * k, **of_tails(
            lambda k, low, high: ((k - low + 1.0) / (high - low), (high - k - 1.0) / (high - low)),
            _randint_quantile)}, ("low", "high"), lambda low, high: (high > low) & is_whole(
                low) & is_whole(high), lambda low, high: low, lambda low, high: high - 1.0, 0.0,
        True),
    "planck": Distribution({
        "logpmf": lambda k, rate: np.log(-np.expm1(-rate)) - rate * k, **of_tails(
            _planck_tails, counted_by(_planck_tails, before_zero))},
        ("lambda_",), positive, zero, inner=0.0, discrete=True),
    "dlaplace": Distribution({
        "logpmf": lambda k, a: np.log(np.tanh(0.5 * a)) - a * np.abs(k), **of_tails(
            _dlaplace_tails, counted_by(_dlaplace_tails))}, ("a",), positive,
        inner=0.0, discrete=True),
    "logser": Distribution(by_sums(
        lambda k, p: power_log(k, p) - np.log(k) - np.log(-np.log1p(-p)), one), ("p",),
        lambda p: (p > 0.0) & (p < 1.0), one, inner=1.0, discrete=True, harmless=0.5),
    "skellam": SKELLAM,
    "geom": Distribution({"logpmf": lambda k, p: power_log1p(k - 1.0, -p) + power_log(
        1.0, p)}, ("p",),
                         lambda p: (p > 0.0) & (p <= 1.0), one, inner=1.0, discrete=True),
}
DISCRETE.update(URNS)
