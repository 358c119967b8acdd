"""Statistics of samples that are small, tied or unknown, and of wrong arguments, are SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from statistics_cases import EDGES, LONG, TABLE, X
from test_numpy_cases import assert_identical

import tracejit
from tracejit.errors import Refusal


def _outcome(fn: Any, args: list[Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return fn(*args)
    except Exception as e:
        return type(e)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("fn", "args"), [
    pytest.param(fn, args, id=f"{name}-{k}") for name, cases in EDGES.items()
    for k, (fn, *args) in enumerate(cases)])
def test_edges_and_errors_are_scipys(fn: Any, args: list[Any]) -> None:
    expected = _outcome(fn, args)
    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(fn), args)
    if isinstance(expected, type):
        assert isinstance(found, type)
        assert issubclass(found, expected)
    else:
        assert_identical(found, expected)


@pytest.mark.parametrize(("fn", "x", "words"), [
    (lambda x: stats.quantile(x, [0.3, 0.4]), X, "for each share"),
    (lambda x: stats.quantile(x, 0.3, method="round_nearest"), X, "method="),
    (lambda x: stats.obrientransform(x, x[:3]), X, "unlike sizes"),
    (lambda x: stats.chi2_contingency(x, method=3)[0], TABLE ** 2, "method="),
    (lambda x: stats.tukey_hsd(x, 2.0 * x).confidence_interval(), X, "confidence_interval"),
    (lambda x: stats.probplot(x[:1])[0][0], X, "two numbers"),
    (lambda x: stats.kstest(x, x + 1.0)[0], X, "order of the numbers"),
    (lambda x: stats.anderson(x, "logistic")[0], X, "searches"),
    (lambda x: stats.siegelslopes(x, 0.0 * x)[0], X, "equal"),
    (lambda x: stats.binned_statistic(x, x, np.ptp)[0], X, "function of yours"),
    (lambda x: stats.trim1(x, x[0]), LONG, "constant"),
    (lambda x: stats.tmin(x, [1.0, 2.0]), LONG, "loop")])
def test_what_is_not_captured_is_refused(fn: Any, x: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match=words):
        tracejit.jit(fn)(x)
