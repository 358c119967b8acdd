"""Means, variances, entropies, medians and intervals of the distributions of `scipy.stats`.

The formulas are of the standard distributions, without location and scale: Johnson, Kotz and
Balakrishnan, "Continuous Univariate Distributions", and "Univariate Discrete Distributions".
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from tracejit.numpy_api.special import EULER, betaln, gammaln
from tracejit.ops.calls import stop_gradient
from tracejit.ops.gamma import digamma
from tracejit.scipy_api.densities import CONTINUOUS, DISCRETE
from tracejit.scipy_api.distributions import Parameters, bound, double, valid_of
from tracejit.scipy_api.formulas import HALF_LOG_2_PI, LOG_2, LOG_PI, Distribution, Formula, zero
from tracejit.scipy_api.further_moments import FURTHER, ROOT_2_PI, Moments, above, fixed
from tracejit.scipy_api.power_factors import power_log
from tracejit.scipy_api.quantiles import summed
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

def _power(x: float, c: np.ndarray) -> Any:
    """Return a power's expectation for Weibull's distribution of shape c."""
    return np.exp(gammaln(1.0 + x / c))


def _of_gamma(a: np.ndarray) -> Any:
    return a + gammaln(a) + (1.0 - a) * digamma(a)


def _of_beta(a: np.ndarray, b: np.ndarray) -> Any:
    return (betaln(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b)
            + (a + b - 2.0) * digamma(a + b))


def _of_t(n: np.ndarray) -> Any:
    half = 0.5 * n
    return ((half + 0.5) * (digamma(half + 0.5) - digamma(half)) + 0.5 * np.log(n)
            + betaln(half, 0.5 + 0.0 * half))


def _mean_of_chi(n: np.ndarray) -> Any:
    return math.sqrt(2.0) * np.exp(gammaln(0.5 * n + 0.5) - gammaln(0.5 * n))


def _mean_of_nakagami(n: np.ndarray) -> Any:
    return np.exp(gammaln(n + 0.5) - gammaln(n)) / np.sqrt(n)


def _mean_of_loguniform(a: np.ndarray, b: np.ndarray) -> Any:
    return (b - a) / np.log(b / a)


def _lean(a: np.ndarray) -> Any:
    """Return how far the skew normal distribution leans, between -1 and 1."""
    return a / np.sqrt(1.0 + a * a)


def _of_counts(m: np.ndarray) -> Any:
    """Return the entropy of Poisson's counts, a sum around the mean: no digits are outside."""

    def term(k: np.ndarray, m: np.ndarray) -> Any:
        log = power_log(k, m) - gammaln(k + 1.0) - m
        some = log > -700.0
        return np.where(some, -np.exp(log) * np.where(some, log, 0.0), 0.0)

    middle = stop_gradient(m)
    wide = 12.0 * np.sqrt(middle) + 40.0
    first = np.maximum(np.floor(middle - wide), 0.0)
    return summed(term, first, np.ceil(middle + wide), m)


def _of_two(p: np.ndarray) -> Any:
    """Return the entropy of an event."""
    inside = (p > 0.0) & (p < 1.0)
    q = np.where(inside, p, 0.5)
    return np.where(inside, -q * np.log(q) - (1.0 - q) * np.log1p(-q), 0.0)


_WEIBULL = Moments(lambda c: _power(1.0, c), lambda c: _power(2.0, c) - _power(1.0, c) ** 2,
                    lambda c: EULER * (1.0 - 1.0 / c) - np.log(c) + 1.0)
_GAMMA = Moments(lambda a: a, lambda a: a, _of_gamma)
_LOGUNIFORM = Moments(
    _mean_of_loguniform, lambda a, b: 0.5 * (b * b - a * a) / np.log(b / a)
    - _mean_of_loguniform(a, b) ** 2, lambda a, b: 0.5 * np.log(a * b) + np.log(np.log(b / a)))

MOMENTS: dict[str, Moments] = {
    "norm": fixed(0.0, 1.0, HALF_LOG_2_PI + 0.5), "uniform": fixed(0.5, 1.0 / 12.0, 0.0),
    "expon": fixed(1.0, 1.0, 1.0), "laplace": fixed(0.0, 2.0, LOG_2 + 1.0),
    "logistic": fixed(0.0, math.pi ** 2 / 3.0, 2.0),
    "gumbel_r": fixed(EULER, math.pi ** 2 / 6.0, EULER + 1.0),
    "gumbel_l": fixed(-EULER, math.pi ** 2 / 6.0, EULER + 1.0),
    "rayleigh": fixed(math.sqrt(0.5 * math.pi), 2.0 - 0.5 * math.pi,
                       1.0 + 0.5 * EULER - 0.5 * LOG_2),
    "maxwell": fixed(2.0 * ROOT_2_PI, 3.0 - 8.0 / math.pi, EULER + HALF_LOG_2_PI - 0.5),
    "halfnorm": fixed(ROOT_2_PI, 1.0 - 2.0 / math.pi, 0.5 * (LOG_PI - LOG_2) + 0.5),
    "halflogistic": fixed(2.0 * LOG_2, math.pi ** 2 / 3.0 - 4.0 * LOG_2 ** 2, 2.0 - LOG_2),
    "arcsine": fixed(0.5, 0.125, LOG_PI - 2.0 * LOG_2), "semicircular": fixed(0.0, 0.25),
    "hypsecant": fixed(0.0, 0.25 * math.pi ** 2), "wald": fixed(1.0, 1.0),
    "cosine": fixed(0.0, math.pi ** 2 / 3.0 - 2.0), "moyal": fixed(EULER + LOG_2,
                                                                  0.5 * math.pi ** 2),
    "gamma": _GAMMA, "erlang": _GAMMA,
    "chi2": Moments(lambda n: n, lambda n: 2.0 * n, lambda n: _of_gamma(0.5 * n) + LOG_2),
    "chi": Moments(_mean_of_chi, lambda n: n - _mean_of_chi(n) ** 2, lambda n: gammaln(0.5 * n)
                    + 0.5 * (n - LOG_2 - (n - 1.0) * digamma(0.5 * n))),
    "beta": Moments(lambda a, b: a / (a + b),
                     lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1.0)), _of_beta),
    "lognorm": Moments(lambda s: np.exp(0.5 * s * s), lambda s: np.expm1(s * s) * np.exp(s * s),
                        lambda s: 0.5 + HALF_LOG_2_PI + np.log(s)),
    "t": Moments(lambda n: above(1.0, n, zero),
                  lambda n: above(2.0, n, lambda n: n / (n - 2.0),
                                   np.where(n > 1.0, np.inf, np.nan)), _of_t),
    "weibull_min": _WEIBULL, "weibull_max": Moments(lambda c: -_power(1.0, c), *_WEIBULL[1:]),
    "pareto": Moments(lambda b: above(1.0, b, lambda b: b / (b - 1.0)),
                       lambda b: above(2.0, b, lambda b: b / ((b - 2.0) * (b - 1.0) ** 2)),
                       lambda b: 1.0 + 1.0 / b - np.log(b)),
    "lomax": Moments(lambda c: above(1.0, c, lambda c: 1.0 / (c - 1.0)),
                      lambda c: above(2.0, c, lambda c: c / ((c - 2.0) * (c - 1.0) ** 2)),
                      lambda c: 1.0 + 1.0 / c - np.log(c)),
    "invgamma": Moments(lambda a: above(1.0, a, lambda a: 1.0 / (a - 1.0)),
                         lambda a: above(2.0, a, lambda a: 1.0 / ((a - 2.0) * (a - 1.0) ** 2)),
                         lambda a: a + gammaln(a) - (1.0 + a) * digamma(a)),
    "f": Moments(lambda m, n: above(2.0, n, lambda n: n / (n - 2.0)), lambda m, n: above(
        4.0, n, lambda n: 2.0 * n * n * (m + n - 2.0) / (m * (n - 2.0) ** 2 * (n - 4.0)))),
    "triang": Moments(lambda c: (1.0 + c) / 3.0, lambda c: (1.0 - c + c * c) / 18.0,
                       lambda c: 0.5 - LOG_2 + 0.0 * c),
    "invgauss": Moments(lambda m: m, lambda m: m ** 3), "loguniform": _LOGUNIFORM,
    "reciprocal": _LOGUNIFORM,
    "powerlaw": Moments(lambda a: a / (a + 1.0), lambda a: a / ((a + 2.0) * (a + 1.0) ** 2),
                         lambda a: 1.0 - 1.0 / a - np.log(a)),
    "nakagami": Moments(_mean_of_nakagami, lambda n: 1.0 - _mean_of_nakagami(n) ** 2),
    "skewnorm": Moments(lambda a: ROOT_2_PI * _lean(a),
                         lambda a: 1.0 - 2.0 / math.pi * _lean(a) ** 2),
    "dgamma": Moments(zero, lambda a: a * (a + 1.0)),
    "laplace_asymmetric": Moments(lambda k: 1.0 / k - k, lambda k: 1.0 / (k * k) + k * k),
    "gennorm": Moments(zero, lambda b: np.exp(gammaln(3.0 / b) - gammaln(1.0 / b)),
                        lambda b: 1.0 / b - np.log(0.5 * b) + gammaln(1.0 / b)),
    **FURTHER, "exponnorm": Moments(lambda k: k, lambda k: 1.0 + k * k),
    "poisson": Moments(lambda m: m, lambda m: m, _of_counts),
    "binom": Moments(lambda n, p: n * p, lambda n, p: n * p * (1.0 - p)),
    "bernoulli": Moments(lambda p: p, lambda p: p * (1.0 - p), _of_two),
    "nbinom": Moments(lambda n, p: n * (1.0 - p) / p, lambda n, p: n * (1.0 - p) / (p * p)),
    "geom": Moments(lambda p: 1.0 / p, lambda p: (1.0 - p) / (p * p)),
    "randint": Moments(lambda a, b: 0.5 * (a + b - 1.0), lambda a, b: ((b - a) ** 2 - 1.0) / 12.0,
                        lambda a, b: np.log(b - a)),
    "skellam": Moments(lambda m, n: m - n, lambda m, n: m + n),
    "planck": Moments(lambda a: 1.0 / np.expm1(a), lambda a: np.exp(-a) / np.expm1(-a) ** 2),
    "dlaplace": Moments(zero, lambda a: 2.0 * np.exp(a) / np.expm1(a) ** 2),
    "betabinom": Moments(lambda n, a, b: n * a / (a + b), lambda n, a, b: n * a * b * (a + b + n)
                          / ((a + b) ** 2 * (a + b + 1.0)))}


def _result(d: Distribution, args: Parameters, formula: Formula, moved: Formula) -> Any:
    """Return a formula of the shapes, moved and scaled, NaN for wrong parameters."""
    valid = valid_of(d, args) & (args.loc == args.loc)
    safe = d.safe(valid, args.shapes)
    scale = np.where(valid, args.scale, 1.0)
    return np.where(valid, moved(formula(*safe), args.loc, scale), np.nan)[()]


_MOVED: dict[str, Formula] = {
    "mean": lambda value, loc, scale: value * scale + loc,
    "var": lambda value, loc, scale: value * scale * scale,
    "std": lambda value, loc, scale: np.sqrt(value * scale * scale),
    "entropy": lambda value, loc, scale: value + np.log(scale)}


def _moment(name: str, d: Distribution, what: str, *args: object, **kwargs: object) -> Any:
    formula = getattr(MOMENTS[name], "var" if what == "std" else what)
    return _result(d, bound(name, d, args, kwargs), formula, _MOVED[what])


def _stats(name: str, d: Distribution, *args: object, **kwargs: object) -> Any:
    """Return the mean and the variance; which of them may be said after the parameters."""
    most = len(d.shapes) + (1 if d.discrete else 2)
    args, behind = args[:most], args[most:]
    if behind and "moments" in kwargs:
        raise TypeError("_parse_args_stats() got multiple values for argument 'moments'")
    if len(behind) > 1:
        raise TypeError(f"_parse_args_stats() takes from {len(d.shapes) + 1} to {most + 2} "
                        f"positional arguments but {most + len(behind) + 1} were given")
    moments: Any = behind[0] if behind else kwargs.pop("moments", "mv")
    if set(moments) - {"m", "v"}:
        raise refuse(f"scipy.stats.{name}.stats of other moments than the mean and the variance "
                     "cannot be captured", 'Ask for moments="mv"', "TJ203")
    found = tuple(_moment(name, d, what, *args, **kwargs)
                  for sign, what in (("m", "mean"), ("v", "var")) if sign in moments)
    return found[0] if len(found) == 1 else found


def _median(quantile: Formula, *args: object, **kwargs: object) -> Any:
    return quantile(0.5, *args, **kwargs)


def _interval(quantile: Formula, confidence: object, *args: object,
              **kwargs: object) -> Any:
    """Return the ends between which a part of the distribution is, the same outside of each."""
    c = double(confidence)
    require(np.all(np.logical_not((c > 1.0) | (c < 0.0))), ValueError,
            "alpha must be between 0 and 1 inclusive")
    return tuple(quantile(0.5 * q, *args, **kwargs) for q in (1.0 - c, 1.0 + c))


for _name, _d in {**CONTINUOUS, **DISCRETE}.items():
    _methods = DISTRIBUTIONS[_name]
    if _name in MOMENTS:
        _entropy = () if MOMENTS[_name].entropy is None else ("entropy",)
        _methods.update({_what: partial(_moment, _name, _d, _what)
                         for _what in ("mean", "var", "std", *_entropy)})
        _methods["stats"] = partial(_stats, _name, _d)
    if "ppf" in _methods:
        _methods.update(median=partial(_median, _methods["ppf"]),
                        interval=partial(_interval, _methods["ppf"]))
