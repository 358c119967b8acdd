"""Functions that are said to depend on the order of numbers alone do: SciPy's own results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tracejit.api  # noqa: F401  (fills the tables)
from tracejit.scipy_api.stats_reasons import ORDER_ALONE
from tracejit.trace.ground.reasons import REASONS

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=12), RNG.normal(0.4, 2.0, size=12), RNG.normal(-0.3, 1.5, size=12)

Case = Callable[[Any, Any, Any], Any]
CASES: dict[str, Case] = {
    "anderson_ksamp": lambda a, b, c: stats.anderson_ksamp(
        [a, b, c], variant="midrank").statistic,
    "ansari": lambda a, b, c: tuple(stats.ansari(a, b)),
    "brunnermunzel": lambda a, b, c: tuple(stats.brunnermunzel(a, b)),
    "bws_test": lambda a, b, c: stats.bws_test(
        a, b, method=stats.PermutationMethod(n_resamples=99, rng=1)).statistic,
    "chatterjeexi": lambda a, b, c: stats.chatterjeexi(a, b).statistic,
    "cramervonmises_2samp": lambda a, b, c: stats.cramervonmises_2samp(a, b).statistic,
    "friedmanchisquare": lambda a, b, c: tuple(stats.friedmanchisquare(a, b, c)),
    "kruskal": lambda a, b, c: tuple(stats.kruskal(a, b, c)),
    "ks_2samp": lambda a, b, c: tuple(stats.ks_2samp(a, b)),
    "logrank": lambda a, b, c: stats.logrank(np.exp(a), np.exp(b)).statistic,
    "mannwhitneyu": lambda a, b, c: tuple(stats.mannwhitneyu(a, b)),
    "median_test": lambda a, b, c: stats.median_test(a, b, c).statistic,
    "mood": lambda a, b, c: tuple(stats.mood(a, b)),
    "page_trend_test": lambda a, b, c: stats.page_trend_test(np.stack([a, b, c], 1)).statistic,
    "percentileofscore": lambda a, b, c: stats.percentileofscore(a, b[0]),
    "ranksums": lambda a, b, c: tuple(stats.ranksums(a, b)),
    "somersd": lambda a, b, c: stats.somersd(a, b).statistic,
    "spearmanrho": lambda a, b, c: stats.spearmanrho(a, b).statistic,
    "tiecorrect": lambda a, b, c: stats.tiecorrect(stats.rankdata(a)),
    "weightedtau": lambda a, b, c: stats.weightedtau(a, b).statistic,
    "wilcoxon": lambda a, b, c: tuple(stats.wilcoxon(a, b)),
}


def test_each_function_that_is_said_to_has_a_case() -> None:
    assert set(REASONS["scipy.stats"][ORDER_ALONE].split()) == set(CASES)


@pytest.mark.filterwarnings("ignore:p-value")
@pytest.mark.parametrize("name", sorted(CASES))
def test_small_changes_that_keep_the_order_change_nothing(name: str) -> None:
    if not hasattr(stats, name):
        pytest.skip("not of this SciPy")
    steps = 1e-7 * np.random.default_rng(6).normal(size=(3, 12))
    before, after = CASES[name](A, B, C), CASES[name](A + steps[0], B + steps[1], C + steps[2])
    assert before == after
