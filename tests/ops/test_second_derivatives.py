"""Second derivatives of the distributions and special functions: differences of the first ones.

The cases are those of the tables of values and first derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_cases import HEAVY_CASES
from scipy import stats
from scipy_cases import SPECIAL_CASES
from second_differences import assert_second_derivatives_are_differences, wrong_places
from test_distributions import (
    CASES,
    OF_COUNTS,
    broken_of,
    of_broken,
    points_of,
    with_whole,
)

import tracejit

pytestmark = pytest.mark.filterwarnings("ignore")
WEIGHTS = np.array([0.7, 1.3, 0.9, 1.1, 0.6])


def distributions() -> list[tuple[str, str]]:
    """Return the methods that have derivatives: quantiles of counts and whole shapes have none."""
    return [(name, what) for name, what in CASES if name not in OF_COUNTS or (
        what not in ("ppf", "isf") and broken_of(name))]


@pytest.mark.parametrize(("name", "what"), distributions())
def test_second_derivatives_of_distributions_are_differences(name: str, what: str) -> None:
    method, at = getattr(getattr(stats, name), what), points_of(name, what)
    of_moved = of_broken(name, what)
    if name in OF_COUNTS:
        def of_counts(*broken: Any) -> Any:
            return np.sum(WEIGHTS * method(at, *with_whole(name, broken)))

        assert_second_derivatives_are_differences(of_counts, [
            np.array(s) for s in broken_of(name)])
        return
    if what in ("ppf", "isf"):
        at = np.clip(at, 0.05, 0.95)
    elif name == "irwinhall":
        at = at + 0.1  # at whole numbers its polynomials meet

    def total(x: Any, *args: Any) -> Any:
        return np.sum(WEIGHTS[:3] * of_moved(-0.5 + 1.7 * x if what not in (
            "ppf", "isf") else x, *args))

    assert_second_derivatives_are_differences(total, [
        at[:3], *(np.array(s) for s in broken_of(name)), np.array(-0.5), np.array(1.7)])


def test_a_second_derivative_wrong_by_a_thousandth_is_caught() -> None:
    def tampered(x: Any) -> Any:
        c = tracejit.stop_gradient(x)
        return np.sum(0.999 * np.sin(x) + 0.001 * (np.sin(c) + np.cos(c) * (x - c)))

    args = [np.array([0.3, 1.1, -0.4])]
    with tracejit.config(disable_jit=True):
        assert wrong_places(lambda x: np.sum(np.sin(x)), args) == ([], 3)
        assert len(wrong_places(tampered, args)[0]) == 3


def _of_special() -> list[tuple[str, int]]:
    """Return the cases of functions of float64, with their places in the table."""
    return [(name, k) for name, cases in SPECIAL_CASES.items() for k, (_, *args) in enumerate(cases)
            if all(np.asarray(x).dtype == np.float64 for x in args) and name not in STEPS
            and name not in HEAVY_CASES]


STEPS = ("gammasgn",)
"""Functions whose derivatives are 0."""


def _real_sum(x: Any) -> Any:
    if isinstance(x, tuple):
        return sum(_real_sum(part) for part in x)
    return np.sum(np.real(x)) + 0.7 * np.sum(np.imag(x))


@pytest.mark.parametrize(("name", "place"), _of_special())
def test_second_derivatives_of_special_functions_are_differences(name: str, place: int) -> None:
    function, *args = SPECIAL_CASES[name][place]
    assert_second_derivatives_are_differences(lambda *xs: _real_sum(function(*xs)), args)
