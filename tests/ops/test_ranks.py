"""Statistics, ranks and slopes of samples: SciPy's numbers, and derivatives by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rank_cases import RANK_CASES, TABLE, TIED, X, Y
from scipy import stats
from test_numpy_cases import check_case
from test_pieces import second

import tracejit
from tracejit.errors import NotCaptured, Refusal


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("fn", "args"), [
    pytest.param(fn, args, id=f"{name}-{k}") for name, cases in RANK_CASES.items()
    for k, (fn, *args) in enumerate(cases)])
def test_values_are_scipys_and_derivatives_differences(fn: Any, args: list[Any]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(fn, tuple(args))


@pytest.mark.parametrize("fn", [
    lambda x, y: stats.kstat(x, 3) + stats.tvar(y, (-2.0, 2.0)), lambda x, y: stats.yeojohnson_llf(
        0.7, x) + stats.jarque_bera(y)[0], lambda x, y: stats.f_oneway(x, y)[1]])
def test_second_derivatives_are_differences_of_the_first(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        check_case(second(fn, 2), (X, Y))


def test_correlations_of_ranks_have_no_derivatives() -> None:
    with tracejit.config(disable_jit=True):
        for fn in (stats.spearmanr, stats.kendalltau):
            assert not np.any(tracejit.grad(lambda x, f=fn: f(x, Y)[0])(X))


@pytest.mark.parametrize(("fn", "x"), [
    (lambda x: stats.kstat(x, 5), X), (lambda x: stats.kstatvar(x, 3), X),
    (lambda x: stats.rankdata(x, "first"), X), (lambda x: stats.spearmanr(x, X)[0], Y[:5]),
    (lambda x: stats.kendalltau(x, X)[0], Y[:5]), (lambda x: stats.f_oneway(x)[0], X),
    (lambda x: stats.theilslopes(x, X)[0], Y[:5]),
    (lambda x: stats.theilslopes(x, method="both")[0], Y)])
def test_errors_are_scipys(fn: Any, x: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        fn(x)
    with tracejit.config(disable_jit=True), pytest.raises((ValueError, TypeError)):
        tracejit.jit(fn)(x)


@pytest.mark.parametrize(("fn", "x", "words"), [
    (lambda x: stats.yeojohnson(x)[0], X, "yeojohnson_llf"),
    (lambda x: stats.spearmanr(x)[0], TABLE, "two vectors"),
    (lambda x: stats.kendalltau(x, Y, variant="c")[0], X, "variant="),
    (lambda x: stats.theilslopes(Y, x)[0], TIED * 1.0, "equal"),
    (lambda x: stats.spearmanr(x, x)[0], X[:2], "three pairs")])
def test_what_is_not_captured_is_refused(fn: Any, x: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises((Refusal, NotCaptured), match=words):
        tracejit.jit(fn)(x)
