"""Distributions of counts of `scipy.stats`: drawn from urns, and falling as powers: a table.

N. L. Johnson, A. W. Kemp and S. Kotz, "Univariate Discrete Distributions", chapters 6 and 11;
the mode of Fisher's distribution after A. Fog, Communications in Statistics 37, 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import betaln, exprel, xlogy
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.formulas import Distribution, Formula, one, positive, zero
from tracejit.scipy_api.integrals import euler_maclaurin
from tracejit.scipy_api.peaks import log_area
from tracejit.scipy_api.quantiles import before_zero, by_sums, counted_by, of_tails, summed

__all__ = ["URNS", "fisher_power", "is_whole", "power_sum", "zeta_of"]


def is_whole(*xs: np.ndarray) -> Any:
    """Return whether numbers are whole."""
    whole: Any = True
    for x in xs:
        whole = whole & (x == np.floor(x))
    return whole


# --- urns ---------------------------------------------------------------------------------------


def _log_choose(n: np.ndarray, k: np.ndarray) -> Any:
    return -np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)


def _hypergeom(k: np.ndarray, whole: np.ndarray, good: np.ndarray, drawn: np.ndarray) -> Any:
    return _log_choose(good, k) + _log_choose(whole - good, drawn - k) - _log_choose(whole, drawn)


def _urn_low(whole: np.ndarray, good: np.ndarray, drawn: np.ndarray, *odds: np.ndarray) -> Any:
    return np.maximum(drawn - (whole - good), 0.0)


def _urn_high(whole: np.ndarray, good: np.ndarray, drawn: np.ndarray, *odds: np.ndarray) -> Any:
    return np.minimum(good, drawn)


def _nhypergeom(k: np.ndarray, whole: np.ndarray, good: np.ndarray, bad: np.ndarray) -> Any:
    """Return the logarithm of the probability of k good ones before so many bad ones."""
    some = bad > 0.0
    r = np.where(some, bad, 1.0)
    rest = np.where(some, whole, good + 1.0) - r - k
    found = _log_choose(k + r - 1.0, k) + _log_choose(rest, good - k) - _log_choose(
        np.where(some, whole, good + 1.0), good)
    return np.where(some, found, np.where(k == 0.0, 0.0, -np.inf))


def _fisher_weight(k: np.ndarray, whole: np.ndarray, good: np.ndarray, drawn: np.ndarray,
                   odds: np.ndarray) -> Any:
    return _log_choose(good, k) + _log_choose(whole - good, drawn - k) + k * np.log(odds)


def _fisher_mode(whole: np.ndarray, good: np.ndarray, drawn: np.ndarray,
                 odds: np.ndarray) -> Any:
    """Return the most probable number of good ones."""
    half = 0.5 * ((good + drawn + 2.0) * odds + whole - good - drawn)
    last = (good + 1.0) * (drawn + 1.0) * odds
    mode = np.floor(last / (half + np.sqrt(half * half - (odds - 1.0) * last)))
    low, high = _urn_low(whole, good, drawn), _urn_high(whole, good, drawn)
    return stop_gradient(np.minimum(np.maximum(mode, low), high))


def _fisher_sum(of: Formula, *shapes: np.ndarray) -> Any:
    """Return the sum of a function of counts, times their weights, over that of the mode."""
    top = _fisher_weight(_fisher_mode(*shapes), *shapes)
    return summed(lambda k, top, *s: of(k) * np.exp(_fisher_weight(k, *s) - top),
                  _urn_low(*shapes), _urn_high(*shapes), top, *shapes)


def _fisher(k: np.ndarray, *shapes: np.ndarray) -> Any:
    top = _fisher_weight(_fisher_mode(*shapes), *shapes)
    return _fisher_weight(k, *shapes) - top - np.log(_fisher_sum(np.ones_like, *shapes))


def fisher_power(n: int, *shapes: np.ndarray) -> Any:
    """Return the mean of a power of the count of Fisher's noncentral distribution."""
    return _fisher_sum(lambda k: k ** n, *shapes) / _fisher_sum(np.ones_like, *shapes)


def _urn_valid(whole: np.ndarray, good: np.ndarray, drawn: np.ndarray) -> Any:
    return (good >= 0.0) & (drawn >= 0.0) & (good <= whole) & (drawn <= whole) & is_whole(
        whole, good, drawn)


def _wallenius_over_u(u: np.ndarray, good: np.ndarray, bad: np.ndarray, odds: np.ndarray,
                      left: np.ndarray) -> Any:
    r = np.exp(u)
    return (xlogy(good, -np.expm1(-odds * r)) + xlogy(bad, -np.expm1(-r)) - left * r + u)


def _wallenius(k: np.ndarray, whole: np.ndarray, good: np.ndarray, drawn: np.ndarray,
               odds: np.ndarray) -> Any:
    """Return the logarithm of the probability of k good ones, by Wallenius' integral."""
    bad, others = drawn - k, whole - good
    left = odds * (good - k) + others - bad
    some = left > 0.0
    rest = np.where(some, left, 1.0)
    low, high = -np.log(rest) - 60.0, np.log(2.0 * (drawn + 60.0) / rest)
    found = log_area(_wallenius_over_u, low, high, k, bad, odds, rest) + np.log(rest)
    return np.where(some, _log_choose(good, k) + _log_choose(others, bad) + found, 0.0)


# --- powers -------------------------------------------------------------------------------------

_DIRECT = 13
"""From which number on a sum of powers is Euler and Maclaurin's."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def power_sum(first: np.ndarray, last: np.ndarray, s: np.ndarray) -> Any:
    """Return the sum of k ** -s over k from a first number, 1 or more, to a last one."""
    total: Any = 0.0
    for k in range(1, _DIRECT):
        total = total + np.where((first <= k) & (last >= k), np.exp(-s * np.log(float(k))), 0.0)
    far = (last >= _DIRECT) & (last >= first)
    low = np.where(far, np.maximum(first, float(_DIRECT)), float(_DIRECT))
    high = np.where(far, last, float(_DIRECT))
    log = np.log(high / low)
    ends = [np.exp(-s * np.log(x)) for x in (low, high)]
    found = ends[0] * low * log * exprel((1.0 - s) * log) + 0.5 * (ends[0] + ends[1])
    factor, scale, powers = s, 2.0, [ends[0] / low, ends[1] / high]
    for k, b in enumerate(_BERNOULLI):
        found = found + b / scale * factor * (powers[0] - powers[1])
        factor = factor * (s + (2 * k + 1)) * (s + (2 * k + 2))
        scale = scale * (2 * k + 3) * (2 * k + 4)
        powers = [powers[0] / (low * low), powers[1] / (high * high)]
    return total + np.where(far, found, 0.0)


def zeta_of(a: np.ndarray) -> Any:
    """Return Riemann's zeta function of a number above 1."""
    return euler_maclaurin(a, 1.0 + 0.0 * a)


def _zipf_tails(k: np.ndarray, a: np.ndarray) -> tuple[Any, Any]:
    upper = euler_maclaurin(a, k + 1.0) / zeta_of(a)
    return 1.0 - upper, upper


def _zipfian_tails(k: np.ndarray, a: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    first = 1.0 + 0.0 * k
    whole = power_sum(first, n, a)
    return power_sum(first, k, a) / whole, power_sum(k + 1.0, n, a) / whole


def _yulesimon_tails(k: np.ndarray, alpha: np.ndarray) -> tuple[Any, Any]:
    log = np.log(k) + betaln(k, alpha + 1.0)
    return -np.expm1(log), np.exp(log)


def _boltzmann_tails(k: np.ndarray, rate: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    below, whole = np.expm1(-rate * (k + 1.0)), np.expm1(-rate * n)
    return below / whole, np.exp(-rate * (k + 1.0)) * np.expm1(-rate * (n - k - 1.0)) / whole


URNS: dict[str, Distribution] = {
    "hypergeom": Distribution(by_sums(_hypergeom, _urn_low, _urn_high), ("M", "n", "N"),
                              lambda m, n, d: _urn_valid(m, n, d) & (m > 0.0), _urn_low,
                              _urn_high, 0.0, True),
    "nhypergeom": Distribution(by_sums(_nhypergeom, zero, lambda m, n, r: n), ("M", "n", "r"),
                               lambda m, n, r: (n >= 0.0) & (n <= m) & (r >= 0.0) & (
                                   r <= m - n) & is_whole(m, n, r), zero, lambda m, n, r: n,
                               0.0, True),
    "nchypergeom_fisher": Distribution(
        by_sums(_fisher, _urn_low, _urn_high), ("M", "n", "N", "odds"),
        lambda m, n, d, odds: _urn_valid(m, n, d) & (odds > 0.0), _urn_low, _urn_high, 0.0, True),
    "nchypergeom_wallenius": Distribution(
        by_sums(_wallenius, _urn_low, _urn_high), ("M", "n", "N", "odds"),
        lambda m, n, d, odds: _urn_valid(m, n, d) & (odds > 0.0), _urn_low, _urn_high, 0.0, True),
    "zipf": Distribution({"logpmf": lambda k, a: -a * np.log(k) - np.log(zeta_of(a)), **of_tails(
        _zipf_tails, counted_by(_zipf_tails, zero))}, ("a",), lambda a: a > 1.0, one, inner=1.0,
        discrete=True),
    "zipfian": Distribution({
        "logpmf": lambda k, a, n: -a * np.log(k) - np.log(power_sum(1.0 + 0.0 * k, n, a)),
        **of_tails(_zipfian_tails, counted_by(_zipfian_tails, zero, lambda a, n: n))},
        ("a", "n"), lambda a, n: (a >= 0.0) & (n >= 1.0) & (n <= 2.0 ** 53) & is_whole(n), one,
        lambda a, n: n, 1.0, True),
    "yulesimon": Distribution({
        "logpmf": lambda k, alpha: np.log(alpha) + betaln(k, alpha + 1.0), **of_tails(
            _yulesimon_tails, counted_by(_yulesimon_tails, zero))}, ("alpha",), positive, one,
        inner=1.0, discrete=True),
    "boltzmann": Distribution({
        "logpmf": lambda k, rate, n: np.log(np.expm1(-rate) / np.expm1(-rate * n)) - rate * k,
        **of_tails(_boltzmann_tails, counted_by(
            _boltzmann_tails, before_zero, lambda rate, n: n - 1.0))}, ("lambda_", "N"),
        lambda rate, n: (rate > 0.0) & (n > 0.0) & is_whole(n), zero, lambda rate, n: n - 1.0,
        0.0, True),
}
