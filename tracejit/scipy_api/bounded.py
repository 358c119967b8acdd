"""Distributions of `scipy.stats` between two ends, truncated or all around a circle: a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.special import betaln, exprel, xlogy
from tracejit.scipy_api.areas import LEFT, either_tail
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    Distribution,
    Formula,
    one,
    positive,
    zero,
)
from tracejit.scipy_api.probability import beta_tails, betaincinv, gamma_tails, gammaincinv
from tracejit.scipy_api.quantiles import by_search, of_tails
from tracejit.trace.values.equations import apply, cast

__all__ = ["BOUNDED", "below_three_halves", "of_vonmises", "pareto_mass", "weibull_powers"]


# --- Argus --------------------------------------------------------------------------------------


def below_three_halves(x: np.ndarray) -> Any:
    """Return the share of the gamma distribution of shape 1.5 below a number."""
    return gamma_tails(cast(1.5, np.float64), x)[0]  # type: ignore[arg-type]


def _argus_logpdf(y: np.ndarray, chi: np.ndarray) -> Any:
    half = 0.5 * chi * chi
    return (3.0 * np.log(chi) - HALF_LOG_2_PI + LOG_2 - np.log(below_three_halves(half))
            + np.log(y) + 0.5 * np.log1p(-y * y) - half * (1.0 - y) * (1.0 + y))


def _argus_tails(y: np.ndarray, chi: np.ndarray) -> tuple[Any, Any]:
    half = 0.5 * chi * chi
    upper = below_three_halves(half * (1.0 - y) * (1.0 + y)) / below_three_halves(half)
    return 1.0 - upper, upper


def _argus_quantile(p: np.ndarray, q: np.ndarray, chi: np.ndarray) -> Any:
    half = 0.5 * chi * chi
    share = q * below_three_halves(half)
    found = gammaincinv(cast(1.5, np.float64), share, 1.0 - share)  # type: ignore[arg-type]
    return np.sqrt(1.0 - found / half)


# --- a symmetric beta distribution, a trapezoid -------------------------------------------------


def _rdist_logpdf(y: np.ndarray, c: np.ndarray) -> Any:
    half = 0.5 * c
    return (xlogy(half - 1.0, 0.5 + 0.5 * y) + xlogy(half - 1.0, 0.5 - 0.5 * y)
            - betaln(half, half) - LOG_2)


def _trapezoid_sides(y: np.ndarray, c: np.ndarray, d: np.ndarray) -> tuple[Any, ...]:
    """Return whether a number is left and right of the top, and the sides' lengths."""
    left, right = y < c, y > d
    return left, right, np.where(left, c, 1.0), np.where(right, 1.0 - d, 1.0)


def _trapezoid_logpdf(y: np.ndarray, c: np.ndarray, d: np.ndarray) -> Any:
    left, right, rise, fall = _trapezoid_sides(y, c, d)
    return LOG_2 - np.log(1.0 + d - c) + np.log(
        np.where(left, y / rise, np.where(right, (1.0 - y) / fall, 1.0)))


def _trapezoid_tails(y: np.ndarray, c: np.ndarray, d: np.ndarray) -> tuple[Any, Any]:
    left, right, rise, fall = _trapezoid_sides(y, c, d)
    whole = 1.0 + d - c
    lower, upper = y * y / rise / whole, (1.0 - y) ** 2 / fall / whole
    middle = (2.0 * y - c) / whole
    return (np.where(left, lower, np.where(right, 1.0 - upper, middle)),
            np.where(left, 1.0 - lower, np.where(right, upper, 1.0 - middle)))


def _trapezoid_quantile(p: np.ndarray, q: np.ndarray, c: np.ndarray, d: np.ndarray) -> Any:
    whole = 1.0 + d - c
    left, right = p * whole < c, q * whole < 1.0 - d
    return np.where(left, np.sqrt(np.where(left, p * c * whole, 1.0)), np.where(
        right, 1.0 - np.sqrt(np.where(right, q * (1.0 - d) * whole, 1.0)), 0.5 * (p * whole + c)))


# --- truncated ----------------------------------------------------------------------------------


def pareto_mass(log: np.ndarray, b: np.ndarray) -> Any:
    """Return the integral of x ** (-b - 1) from 1 to a number with this logarithm."""
    return log * exprel(-b * log)


def _truncpareto_logpdf(y: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    return -(b + 1.0) * np.log(y) - np.log(pareto_mass(np.log(c), b))


def _truncpareto_tails(y: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    log, whole = np.log(y), pareto_mass(np.log(c), b)
    return (pareto_mass(log, b) / whole,
            np.exp(-b * log) * pareto_mass(np.log(c / y), b) / whole)


def _truncpareto_quantile(p: np.ndarray, q: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    return np.exp(-np.log1p(p * np.expm1(-b * np.log(c))) / b)


def weibull_powers(c: np.ndarray, *xs: np.ndarray) -> list[Any]:
    """Return powers of numbers."""
    return [np.power(x, c) for x in xs]


def _truncweibull_logpdf(y: np.ndarray, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    at, first, last = weibull_powers(c, y, a, b)
    return (np.log(c) + xlogy(c - 1.0, y) + (first - at)
            - np.log(-np.expm1(first - last)))


def _truncweibull_tails(y: np.ndarray, c: np.ndarray, a: np.ndarray,
                        b: np.ndarray) -> tuple[Any, Any]:
    at, first, last = weibull_powers(c, y, a, b)
    whole = np.expm1(first - last)
    return np.expm1(first - at) / whole, np.exp(first - at) * np.expm1(at - last) / whole


def _truncweibull_quantile(p: np.ndarray, q: np.ndarray, c: np.ndarray, a: np.ndarray,
                           b: np.ndarray) -> Any:
    first, last = weibull_powers(c, a, b)
    return np.power(first - np.log1p(p * np.expm1(first - last)), 1.0 / c)


# --- around a circle ----------------------------------------------------------------------------


def vonmises_logpdf(y: np.ndarray, kappa: np.ndarray) -> Any:
    """Return the logarithm of the density of von Mises' distribution."""
    return -2.0 * kappa * np.sin(0.5 * y) ** 2 - np.log(2.0 * np.pi * apply("i0e", kappa))


def _vonmises_tails(y: np.ndarray, kappa: np.ndarray) -> tuple[Any, Any]:
    """Return the shares of an angle between minus pi and pi."""
    near = np.sin(0.5 * y) ** 2 + 0.5 * LEFT / np.maximum(kappa, 1e-3)
    end = np.where(near < 1.0, 2.0 * np.arcsin(np.sqrt(np.minimum(near, 1.0))), math.pi)
    return either_tail(vonmises_logpdf, y, 0.0 * y, np.maximum(end - np.abs(y), 0.0), kappa)


def _around(tails: Formula) -> Formula:
    """Return the shares of an angle that has gone round: whole turns count."""

    def of_turns(y: np.ndarray, *shapes: np.ndarray) -> tuple[Any, Any]:
        turns = np.rint(y / (2.0 * math.pi))
        lower, upper = tails(y - 2.0 * math.pi * turns, *shapes)
        return turns + lower, upper - turns

    return of_turns


def of_vonmises(turning: bool = False) -> dict[str, Formula]:
    """Return the methods of von Mises' distribution, of angles that may have gone round or not."""
    methods = by_search(vonmises_logpdf, _vonmises_tails, lambda kappa: -math.pi,
                        lambda kappa: math.pi)
    return methods | of_tails(_around(_vonmises_tails), None) if turning else methods


def _wrapcauchy_tails(y: np.ndarray, c: np.ndarray) -> tuple[Any, Any]:
    across, along = (1.0 + c) / (1.0 - c) * np.sin(0.5 * y), np.cos(0.5 * y)
    return np.arctan2(across, along) / math.pi, np.arctan2(across, -along) / math.pi


def _wrapcauchy_quantile(p: np.ndarray, q: np.ndarray, c: np.ndarray) -> Any:
    small = p < q
    turn = math.pi * np.where(small, p, q)
    found = 2.0 * np.arctan2((1.0 - c) / (1.0 + c) * np.sin(turn), np.cos(turn))
    return np.where(small, found, 2.0 * math.pi - found)


BOUNDED: dict[str, Distribution] = {
    "argus": Distribution({"logpdf": _argus_logpdf, **of_tails(_argus_tails, _argus_quantile)},
                          ("chi",), positive, zero, one, nothing_at_ends=True),
    "rdist": Distribution({"logpdf": _rdist_logpdf, **of_tails(
        lambda y, c: beta_tails(0.5 * c, 0.5 * c, 0.5 + 0.5 * y, 0.5 - 0.5 * y),
        lambda p, q, c: betaincinv(0.5 * c, 0.5 * c, p, q) - betaincinv(0.5 * c, 0.5 * c, q, p))},
        ("c",), positive, lambda c: -1.0, one, inner=0.0),
    "trapezoid": Distribution({"logpdf": _trapezoid_logpdf, **of_tails(
        _trapezoid_tails, _trapezoid_quantile)}, ("c", "d"),
        lambda c, d: (c >= 0.0) & (d <= 1.0) & (d >= c), zero, one),
    "truncpareto": Distribution({"logpdf": _truncpareto_logpdf, **of_tails(
        _truncpareto_tails, _truncpareto_quantile)}, ("b", "c"),
        lambda b, c: (b != 0.0) & (c > 1.0), one, lambda b, c: c, inner=1.01),
    "truncweibull_min": Distribution({"logpdf": _truncweibull_logpdf, **of_tails(
        _truncweibull_tails, _truncweibull_quantile)}, ("c", "a", "b"),
        lambda c, a, b: (a >= 0.0) & (b > a) & (c > 0.0), lambda c, a, b: a, lambda c, a, b: b,
        inner=1.0),
    "vonmises_line": Distribution(of_vonmises(), ("kappa",), lambda kappa: kappa >= 0.0,
                                  lambda kappa: -math.pi, lambda kappa: math.pi, inner=0.0),
    "wrapcauchy": Distribution({
        "logpdf": lambda y, c: np.log((1.0 - c) * (1.0 + c)) - np.log(2.0 * math.pi * (
            (1.0 - c) ** 2 + 4.0 * c * np.sin(0.5 * y) ** 2)),
        **of_tails(_wrapcauchy_tails, _wrapcauchy_quantile)}, ("c",),
        lambda c: (c > 0.0) & (c < 1.0), zero, lambda c: 2.0 * math.pi, inner=1.0),
}
