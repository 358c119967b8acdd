"""Sums of zeros have NumPy's sign, by what they begin with; and a slope, whatever the sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

SUMS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, s: np.sum(x, initial=s), "method": lambda x, s: x.sum(initial=s),
    "no beginning": lambda x, s: np.sum(x), "reduce": lambda x, s: np.add.reduce(x, initial=s),
    "the first": lambda x, s: np.add.reduce(x, initial=None),
    "axis": lambda x, s: np.sum(np.stack([x, x]), axis=0, initial=s),
    "where": lambda x, s: np.sum(x, where=x > 1.0, initial=s),
    "constant": lambda x, s: np.sum(x, initial=-0.0), "Python": lambda x, s: sum(x, s),
    "product": lambda x, s: np.prod(x, initial=s), "running": lambda x, s: np.cumsum(x),
    "running back": lambda x, s: np.cumsum(x[::-1]),
    "of nothing, too": lambda x, s: np.cumulative_sum(x, include_initial=True),
    "complex": lambda x, s: np.sum(x + 0j * x, initial=complex(-0.0, -0.0))}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_zeros_have_numpys_sign(name: str) -> None:
    captured = tracejit.jit(lambda x, s: SUMS[name](x, s))
    for x in ([-0.0, -0.0], [-0.0, 0.0], [-1.0, 1.0], [2.0, -0.0], [-0.0]):
        for start in (-0.0, 0.0, 3.0):
            for interpreted in (True, False):
                with tracejit.config(disable_jit=interpreted):
                    found = np.asarray(captured(np.array(x), start))
                expected = np.asarray(SUMS[name](np.array(x), start))
                assert found.tobytes() == expected.tobytes(), (x, start, found, expected)


def test_a_sum_that_begins_below_zero_has_slopes() -> None:
    for f in (lambda x: np.sum(x, initial=-0.0), lambda x: np.add.reduce(x, initial=None)):
        for x in (np.array([-0.0, -0.0]), np.array([-0.0, 2.0])):
            assert tracejit.grad(f)(x).tolist() == [1.0, 1.0]
            assert tracejit.jvp(f, (x,), (np.ones(2),))[1] == 2.0
