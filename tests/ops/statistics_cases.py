"""Cases for tests and descriptions of samples in `scipy.stats`: a function and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["EDGES", "STATISTICS_CASES"]

RNG = np.random.default_rng(4)
X, LONG, TABLE = RNG.normal(size=9), RNG.gamma(2.0, size=14), RNG.normal(size=(3, 9))
SHARES = RNG.uniform(0.05, 0.9, size=5)
SINGLE, WHOLE = LONG.astype(np.float32), np.arange(9) ** 2
VALUES = np.sin(3.0 * np.arange(14.0) ** 2)
SQUARES = np.abs(TABLE) + 0.3
SIDES = ("less", "greater")


def _of(name: str, **options: Any) -> Callable[..., Any]:
    return lambda *xs: tuple(getattr(stats, name)(*xs, **options))


def _table(**options: Any) -> Callable[..., Any]:
    def of(x: np.ndarray) -> Any:
        found = stats.chi2_contingency(x, **options)
        return found[0], found.pvalue, x[0] * found.dof, found.expected_freq

    return of


def _moments(name: str) -> list[tuple[Any, ...]]:
    return [(_of(name), LONG), (_of(name, axis=1), TABLE), (_of(name, axis=None), TABLE),
            (_of(name), SINGLE), (_of(name, axis=1, keepdims=True), TABLE), (_of(name), WHOLE)]


STATISTICS_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{name: _moments(name) for name in ("skewtest", "kurtosistest", "normaltest")},
    "describe": [(_of("describe"), LONG), (_of("describe", axis=1, ddof=2, bias=False), TABLE),
                 (_of("describe", axis=None), TABLE), (_of("describe"), WHOLE),
                 (_of("describe", axis=(0, 1)), TABLE)],
    "ttest_ind_from_stats": [
        *((lambda a, b, c, d, o=o: tuple(stats.ttest_ind_from_stats(a, b, 6, c, d, 8, **o)),
           0.3, 1.2, 0.9, 1.5) for o in (
               {}, {"equal_var": False, "alternative": "less"}, {"alternative": "greater"})),
        (lambda a, b: tuple(stats.ttest_ind_from_stats(a, b, 6, a[::-1], b + 1.0, 8)), X, X * X)],
    "power_divergence": [
        *((_of("power_divergence", lambda_=power), LONG) for power in (
            "pearson", "log-likelihood", "freeman-tukey", "mod-log-likelihood", "neyman",
            "cressie-read", 0.3, None)),
        (lambda x: tuple(stats.power_divergence(x, x[::-1], lambda_=0)), LONG),
        (_of("power_divergence", axis=None, ddof=1, lambda_=0.5), SQUARES),
        (_of("power_divergence", axis=1, keepdims=True), SQUARES.astype(np.float32))],
    "chi2_contingency": [
        (_table(), SQUARES), (_table(correction=False), SQUARES[:2, :2]),
        (_table(lambda_="log-likelihood"), 9.0 * SQUARES[:2, :2]),
        (_table(), SQUARES.reshape(3, 3, 3)), (_table(), np.array([[3, 4, 2], [6, 9, 7]]))],
    "combine_pvalues": [
        *((_of("combine_pvalues", method=m, **o), p) for m in (
            "fisher", "pearson", "mudholkar_george", "tippett", "stouffer") for p, o in (
                (SHARES, {}), (SHARES.astype(np.float32), {}),
                (0.3 * SQUARES, {"axis": 1, "keepdims": True}))),
        (lambda p, w: tuple(stats.combine_pvalues(p, "stouffer", w)), SHARES, 1.0 + SHARES)],
    "pointbiserialr": [
        (lambda x: tuple(stats.pointbiserialr(x > 1.5, x)), LONG),
        (_of("pointbiserialr"), X, TABLE[0]),
        (_of("pointbiserialr", axis=1), TABLE, TABLE[::-1] ** 2),
        (lambda x: tuple(stats.pointbiserialr(x > 1.5, x)), SINGLE)]}


def _fields(name: str, **options: Any) -> Callable[..., Any]:
    """Return a test whose result is no tuple."""
    def of(*xs: np.ndarray) -> Any:
        found = getattr(stats, name)(*xs, **options)
        return found.statistic, found.pvalue

    return of


def _spreads(name: str) -> list[tuple[Any, ...]]:
    return [(_fields(name), X, LONG), (_fields(name), X, LONG, 2.0 * X[:5]),
            (_fields(name, axis=1, keepdims=True), TABLE, TABLE[0] ** 2),
            (_fields(name, axis=None), TABLE, SQUARES),
            (_fields(name), X.astype(np.float32), SINGLE)]


def _plain(name: str, **options: Any) -> Callable[..., Any]:
    return lambda *xs: getattr(stats, name)(*xs, **options) * 1.0


def _kept(name: str, share: float, **options: Any) -> Callable[..., Any]:
    return lambda x: np.sort(getattr(stats, name)(x, share, **options), axis=options.get("axis", 0))


def _directions(**options: Any) -> Callable[..., Any]:
    def of(x: np.ndarray) -> Any:
        found = stats.directional_stats(x, **options)
        return found.mean_direction, found.mean_resultant_length

    return of


def _flat(found: Any) -> tuple[Any, ...]:
    """Return the numbers of tuples in tuples."""
    return tuple(y for x in found for y in (_flat(x) if isinstance(x, tuple) else (x,)))


def _plot(name: str, **options: Any) -> Callable[..., Any]:
    return lambda x: _flat(getattr(stats, name)(x, **options))


def _bins(name: str, **options: Any) -> Callable[..., Any]:
    """Return a statistic in bins, with their numbers as floats."""
    def of(*xs: np.ndarray) -> Any:
        *found, number = getattr(stats, name)(*xs, **options)
        return (*found, 1.0 * number)

    return of


STATISTICS_CASES |= {
    **{name: _spreads(name) for name in ("bartlett", "levene", "alexandergovern")},
    "fligner": [(_of("fligner"), X, LONG), (_of("fligner", axis=1), TABLE, TABLE[0] ** 2)],
    "obrientransform": [(stats.obrientransform, X, TABLE[0]), (stats.obrientransform, X)],
    "tukey_hsd": [(_fields("tukey_hsd"), X, LONG)],
    **{name: [(_plain(name), X), (lambda x, f=name, b=bound: getattr(stats, f)(x, b) * 1.0, X),
              (lambda x, f=name, b=bound: getattr(stats, f)(x, b, 1, False), TABLE),
              (_plain(name, axis=None), TABLE.astype(np.float32))]
       for name, bound in (("tmin", -0.3), ("tmax", 0.4))},
    "trim1": [(_kept("trim1", 0.2), X), (_kept("trim1", 0.2, tail="left", axis=1), TABLE)],
    "trimboth": [(_kept("trimboth", 0.2), X), (_kept("trimboth", 0.2, axis=1), TABLE),
                 (_kept("trimboth", 0.2), WHOLE)],
    "scoreatpercentile": [
        (lambda x: stats.scoreatpercentile(x, 30) * 1.0, X),
        (lambda x: stats.scoreatpercentile(x, [20, 50], axis=1), TABLE),
        (lambda x: stats.scoreatpercentile(x, [20, 50]), TABLE),
        (lambda x: stats.scoreatpercentile(x, [20, 60.0, 100], (-0.5, 0.9)), X),
        *((lambda x, m=m: stats.scoreatpercentile(x, 40, interpolation_method=m) * 1.0, X)
          for m in ("lower", "higher")), (lambda x: stats.scoreatpercentile(x, 30), WHOLE)],
    "mode": [(_of("mode"), X), (_of("mode"), TABLE), (_of("mode"), np.array([3, 1, 1, 2, 3])),
             (_of("mode", axis=1, keepdims=True), TABLE)],
    "lmoment": [(_plain("lmoment"), X), (_plain("lmoment"), SINGLE), (_plain("lmoment"), WHOLE),
                (_plain("lmoment", axis=1, order=[1, 3], keepdims=True), TABLE),
                (_plain("lmoment", axis=1, order=5, standardize=False), TABLE),
                (_plain("lmoment", order=3, axis=None), TABLE)],
    "expectile": [*((_plain("expectile", alpha=a), x) for a in (0.01, 0.3, 0.9)
                    for x in (X, TABLE, X[:2])),
                  (lambda x, w, a: stats.expectile(x, a, weights=w) * 1.0, X, X * X + 0.1, 0.7),
                  (_plain("expectile", alpha=0), X), (_plain("expectile", alpha=1), X)],
    "quantile": [*((lambda x, p, m=m: stats.quantile(x, p, method=m) * 1.0, X, 0.33) for m in (
        "linear", "harrell-davis", "hazen", "weibull", "inverted_cdf", "averaged_inverted_cdf",
        "closest_observation", "interpolated_inverted_cdf", "median_unbiased",
        "normal_unbiased")),
        *((lambda x, m=m: stats.quantile(x, 0.3, method=m, axis=1, keepdims=True),
           TABLE.astype(np.float32)) for m in ("linear", "harrell-davis"))],
    "directional_stats": [
        (_directions(), TABLE), (_directions(axis=1), TABLE.reshape(3, 3, 3)),
        (_directions(normalize=False), TABLE.astype(np.float32))],
    "false_discovery_control": [
        (stats.false_discovery_control, SHARES),
        (lambda p: stats.false_discovery_control(p, method="by"), SHARES),
        (lambda p: stats.false_discovery_control(0.2 * p, axis=1), SQUARES),
        (lambda p: stats.false_discovery_control(0.2 * p, axis=None), SQUARES),
        (stats.false_discovery_control, SHARES.astype(np.float32))]}
STATISTICS_CASES |= {
    "probplot": [(_plot("probplot"), X), (lambda x: stats.probplot(x, fit=False), X),
                 (lambda x, a: _flat(stats.probplot(x, (a,), stats.gamma)), LONG, 1.7),
                 (_plot("probplot", dist="expon"), LONG)],
    "boxcox_normplot": [(lambda x: stats.boxcox_normplot(x, -1, 2, N=4), LONG)],
    "yeojohnson_normplot": [(lambda x: stats.yeojohnson_normplot(x, -1, 2, N=4), X)],
    "ppcc_plot": [(lambda x: stats.ppcc_plot(x, -0.4, 0.3, N=3), X)],
    "anderson": [(_of("anderson"), X), (_of("anderson", dist="expon"), LONG)],
    "ks_1samp": [(lambda x, a=a, m=m: tuple(stats.ks_1samp(x, stats.norm.cdf, (), a, m)), X)
                 for m in ("auto", "exact", "approx", "asymp")
                 for a in ("two-sided", "less", "greater")],
    "kstest": [(lambda x, m, s: tuple(stats.kstest(x, "norm", (m, s))), X, 0.2, 1.3),
               (lambda x: tuple(stats.kstest(x, lambda z: 1.0 / (1.0 + np.exp(-z)))), X)],
    "bayes_mvs": [(_plot("bayes_mvs"), X), (_plot("bayes_mvs", alpha=0.7), LONG)],
    "siegelslopes": [(_of("siegelslopes"), X, TABLE[0]), (_of("siegelslopes"), X),
                     (_of("siegelslopes", method="separate"), X, TABLE[1]),
                     (_of("siegelslopes"), WHOLE)],
    "binned_statistic": [
        *((_bins("binned_statistic", statistic=s, **o), LONG, VALUES)
          for s in ("mean", "std", "median", "count", "sum", "min", "max")
          for o in ({"bins": 4}, {"bins": 3, "range": (0.3, 3.0)}, {"bins": [0.0, 1.0, 2.5]})),
        (lambda x, v: stats.binned_statistic(x, np.stack([v, 2.0 * v]), bins=3)[0], X, TABLE[1])],
    "binned_statistic_2d": [(_bins("binned_statistic_2d", bins=(2, 3)), X, TABLE[0], TABLE[1])],
    "binned_statistic_dd": [(lambda x, v: stats.binned_statistic_dd(
        x, v, "sum", bins=(2, 3, 1))[0], TABLE.T, X)]}
STATISTICS_CASES["levene"] += [(_of("levene", center=c, proportiontocut=0.2), X, LONG)
                               for c in ("mean", "trimmed")]
STATISTICS_CASES["fligner"] += [(_of("fligner", center=c, proportiontocut=0.2), X, LONG)
                                for c in ("mean", "trimmed")]
for _name in ("skewtest", "kurtosistest"):
    STATISTICS_CASES[_name] += [(_of(_name, alternative=side), LONG) for side in SIDES]
STATISTICS_CASES = {f"scipy.stats.{name}": cases for name, cases in STATISTICS_CASES.items()}

NONE, UNKNOWN = X[:1], np.append(X, np.nan)
TIED = np.array([2.0, 4.0, 4.0, 1.0, 4.0, 2.0, 6.0, 1.0])
EDGES: dict[str, list[tuple[Any, ...]]] = {
    **{name: [(_of(name), X[:k]) for k in (1, 3, 6)] + [(_of(name), UNKNOWN), (
        _of(name, alternative="both") if name != "normaltest" else _of(name), X)]
       for name in ("skewtest", "kurtosistest", "normaltest")},
    "describe": [(_of("describe"), NONE), (_of("describe"), UNKNOWN)],
    "ttest_ind_from_stats": [(lambda a: tuple(stats.ttest_ind_from_stats(
        a, a, 1, 3, 4, 1, equal_var=e)), 0.5) for e in (True, False)],
    "power_divergence": [(_of("power_divergence", lambda_="no"), LONG),
                         (lambda x: tuple(stats.power_divergence(x, 2.0 * x)), LONG),
                         (_of("power_divergence"), UNKNOWN), (_of("power_divergence"), NONE)],
    "chi2_contingency": [(_table(), np.array(x)) for x in (
        [[0, 4, 2], [0, 9, 7]], [[0, 4, 2], [-1, 9, 7]], [[3.0, 2.0]])],
    "combine_pvalues": [(_of("combine_pvalues", method=m), p) for m in (
        "fisher", "pearson", "tippett", "stouffer", "mudholkar_george") for p in (
            np.array([0.0, 0.5]), np.array([0.5]), np.array([0.5, np.nan]))] + [
        (_of("combine_pvalues", method="none"), SHARES)],
    **{name: [(_fields(name), X, *rest) for rest in ((), (NONE,), (UNKNOWN,), (0.0 * X,))]
       for name in ("bartlett", "levene", "fligner", "alexandergovern")},
    "centres": [(_of(name, center="no"), X, LONG) for name in ("levene", "fligner")],
    "tukey_hsd": [(_fields("tukey_hsd"), X, *rest) for rest in ((), (TABLE,), (NONE,), (UNKNOWN,), (
        LONG, X + 1.0))] + [(_fields("tukey_hsd", equal_var=False), X, LONG)],
    "tmin": [(lambda x, b=b: stats.tmin(x, b), x) for b in (10.0, -0.3) for x in (X, UNKNOWN)],
    "tmax": [(lambda x: stats.tmax(x, 0.4, axis=1), np.array(x)) for x in (
        [[-1.0, -2.0], [3.0, 0.1], [1.0, 2.0]], [[-1.0, np.nan], [3.0, 0.1], [1.0, 2.0]])],
    "trimboth": [(_kept("trimboth", 0.6), X)],
    "scoreatpercentile": [(lambda x, p=p: stats.scoreatpercentile(x, p), x)
                          for p in (130, -1, 100, 0, 37) for x in (X, UNKNOWN, TIED)],
    "mode": [(_of("mode"), np.array(x)) for x in (
        TIED, [np.nan, np.nan, 1.0], [np.nan, 1.0, 1.0], [0.5])],
    "lmoment": [(stats.lmoment, x) for x in (X[:1], X[:2], X[:3], UNKNOWN, TIED)] + [
        (_plain("lmoment", order=n), X) for n in (0, 1.5, [[1, 2]], [], 20)],
    "expectile": [(_plain("expectile", alpha=a), x) for a in (0.2, 0.5, 1.2, -0.1)
                  for x in (NONE, UNKNOWN, TIED, np.ones(7))],
    "quantile": [(lambda x, m=m, p=p: stats.quantile(x, p, method=m) * 1.0, x)
                 for m in ("linear", "inverted_cdf", "harrell-davis")
                 for p in (0.0, 1.0, 1.2, 0.5, np.nan, 1) for x in (X, UNKNOWN, TIED, NONE)],
    "directional_stats": [(_directions(), X)],
    "plots": [(lambda x: stats.boxcox_normplot(x, *ends, N=3), x) for x, ends in (
        (X, (-1, 2)), (LONG, (3, 2)))],
    "anderson": [(_of("anderson"), x) for x in (NONE, UNKNOWN, WHOLE)],
    "kstest": [(lambda x: tuple(stats.kstest(x, "norm")), x) for x in (NONE, UNKNOWN, TIED)] + [
        (lambda x: (lambda r: (r.statistic_location, r.statistic_sign))(stats.kstest(
            x, "norm")), x) for x in (X, LONG)] + [
        (_plain("kstest", cdf="norm", alternative="no"), X)],
    "bayes_mvs": [(_plot("bayes_mvs"), x) for x in (NONE, np.tile(X, 120))] + [
        (_plot("bayes_mvs", alpha=1.5), X)],
    "siegelslopes": [(_of("siegelslopes"), X, LONG), (_of("siegelslopes", method="no"), X)],
    "binned_statistic": [(_bins("binned_statistic"), *xs) for xs in (
        (X, UNKNOWN[1:]), (UNKNOWN[1:], X), (X[:3], X), (WHOLE % 7, X), (0.0 * X, X))] + [
        (_bins("binned_statistic", statistic="no"), X, X)],
    "false_discovery_control": [(stats.false_discovery_control, p) for p in (
        3.0 * SHARES, np.array([0.3, 0.3, 0.1]))] + [
        (_plain("false_discovery_control", method="no"), SHARES)]}
"""Samples of one number, with ties or NaN, and wrong arguments."""
