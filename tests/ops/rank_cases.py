"""Cases of statistics, ranks and slopes of `scipy.stats`: the call and its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

RNG = np.random.default_rng(4)
X, Y, Z = RNG.normal(size=9), RNG.normal(size=9), RNG.normal(size=6)
TABLE, LONG, SINGLE = RNG.normal(size=(3, 8)), RNG.normal(size=14), RNG.normal(
    size=9).astype(np.float32)
TIED = np.array([2, 4, 4, 1, 4, 2, 6, 1, 8])
MANY = RNG.normal(size=40)
WHOLE = np.array([3, 1, 2, 2, 7])
Case = tuple[Any, ...]


def _of(name: str, *given: Any, **options: Any) -> Case:
    return (lambda *xs: tuple(np.atleast_1d(getattr(stats, name)(*xs, **options))), *given)


RANK_CASES: dict[str, list[Case]] = {
    "kstat": [(lambda x, n=n: stats.kstat(x, n) * 1.0, X) for n in (1, 2, 3, 4)] + [
        (lambda x: stats.kstat(x, axis=1), TABLE), (lambda x: stats.kstat(x) * 1.0, WHOLE)],
    "kstatvar": [(lambda x, n=n: stats.kstatvar(x, n) * 1.0, X) for n in (1, 2)],
    **{name: [(lambda x, f=name: getattr(stats, f)(x) * 1.0, X),
              (lambda x, f=name: getattr(stats, f)(x, (-0.7, 0.9)) * 1.0, X),
              (lambda x, f=name: getattr(stats, f)(x, (None, 0.8), (True, False), axis=1), TABLE)]
       for name in ("tmean", "tvar", "tstd", "tsem")},
    "yeojohnson": [(lambda x, p: stats.yeojohnson(x, p), X, 0.7),
                   *((lambda x, p=p: stats.yeojohnson(x, p), X) for p in (0, 2, 2.5))],
    "yeojohnson_llf": [(lambda p, x: stats.yeojohnson_llf(p, x) * 1.0, 0.7, X),
                       (lambda p, x: stats.yeojohnson_llf(p, x, axis=1), 1.3, TABLE)],
    "differential_entropy": [
        *((lambda x, m=m: stats.differential_entropy(x, method=m) * 1.0, LONG) for m in (
            "auto", "vasicek", "van es", "ebrahimi")),
        (lambda x: stats.differential_entropy(x, base=2, axis=1), TABLE),
        (lambda x: stats.differential_entropy(x, window_length=3) * 1.0, LONG),
        (lambda x: stats.differential_entropy(x, window_length=5) * 1.0 + x[0], X)],
    "f_oneway": [_of("f_oneway", X, Y, Z), _of("f_oneway", X, 2.0 * Y + 1.0),
                 (lambda a, b: stats.f_oneway(a, b, axis=1)[0], TABLE, TABLE[:, ::-1] ** 2),
                 (lambda a, b: stats.f_oneway(a, b).pvalue * 1.0, X, Z)],
    "jarque_bera": [_of("jarque_bera", LONG), _of("jarque_bera", TABLE, axis=1)],
    "rankdata": [*((lambda x, m=m: x * stats.rankdata(x, m), x) for m in (
        "average", "min", "max", "dense", "ordinal") for x in (X, TIED)),
        (lambda x: stats.rankdata(x, axis=1) * x, TABLE), (lambda x: stats.rankdata(x), WHOLE),
        (lambda x: stats.rankdata(x, "dense"), WHOLE)],
    "spearmanr": [_of("spearmanr", X, Y), _of("spearmanr", TIED, X), _of("spearmanr", X, X)],
    "kendalltau": [_of("kendalltau", X, Y), _of("kendalltau", TIED, X),
                   _of("kendalltau", TIED, TIED[::-1].copy()), _of("kendalltau", X, -X),
                   _of("kendalltau", MANY, np.roll(MANY, 7) + MANY), _of("kendalltau", MANY, MANY),
                   _of("kendalltau", X, Y, method="asymptotic")],
    "theilslopes": [_of("theilslopes", X, Y), _of("theilslopes", Z), _of("theilslopes", TIED, X),
                    _of("theilslopes", Y, X, alpha=0.8, method="joint")]}
