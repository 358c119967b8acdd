"""Cases for tests and descriptions of samples in `scipy.stats`: a function and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["STATISTICS_CASES"]

RNG = np.random.default_rng(4)
X, LONG, TABLE = RNG.normal(size=9), RNG.gamma(2.0, size=14), RNG.normal(size=(3, 9))
SHARES = RNG.uniform(0.05, 0.9, size=5)
SINGLE, WHOLE = LONG.astype(np.float32), np.arange(9) ** 2
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
for _name in ("skewtest", "kurtosistest"):
    STATISTICS_CASES[_name] += [(_of(_name, alternative=side), LONG) for side in SIDES]
STATISTICS_CASES = {f"scipy.stats.{name}": cases for name, cases in STATISTICS_CASES.items()}
