"""`linear_sum_assignment`: SciPy's places, and the derivative of the costs that are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tracejit

RNG = np.random.default_rng(3)


def _least(costs: Any) -> Any:
    rows, columns = linear_sum_assignment(costs)
    return costs[rows, columns].sum()


def _places(costs: Any, most: Any = False) -> Any:
    return linear_sum_assignment(costs, most)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (1, 1), (0, 3)])
@pytest.mark.parametrize("most", [False, True])
def test_places_are_scipys(shape: tuple[int, int], most: bool) -> None:
    costs = RNG.standard_normal(shape)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(_places)(costs, most)
    for x, y in zip(found, _places(costs, most), strict=True):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype


def test_the_derivative_is_by_the_costs_that_are_chosen() -> None:
    costs = RNG.standard_normal((3, 5))
    rows, columns = linear_sum_assignment(costs)
    right = np.zeros((3, 5))
    right[rows, columns] = 1.0
    value, found = tracejit.value_and_grad(_least)(costs)
    assert value == pytest.approx(_least(costs))
    np.testing.assert_array_equal(found, right)
    batch = RNG.standard_normal((4, 3, 5))
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.vmap(_least)(batch), [*map(_least, batch)], rtol=1e-14)
        np.testing.assert_array_equal(tracejit.jacfwd(_least)(costs), right)


@pytest.mark.parametrize("costs", [np.ones(3), np.full((2, 2), np.nan), np.full((2, 2), np.inf)])
def test_errors_are_scipys_own(costs: Any) -> None:
    for f in (_places, tracejit.jit(_places)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError,
                                                                        match=r"2-D|num|infea"):
            f(costs)
