"""Ints of a call that say how many parts, orders or turns there are: NumPy's results, not errors.

A program is made for such an int, as for one that names an axis; an int that data makes is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

import tracejit

CASES: list[Callable[[int, Any], Any]] = [
    lambda k, x: np.array_split(x, k), lambda k, x: np.array_split(x, k + 2, axis=1),
    lambda k, x: np.split(x, k, axis=1), lambda k, x: np.hsplit(x, k), lambda k, x: np.rot90(x, k),
    lambda k, x: np.partition(x[0], k), lambda k, x: np.partition(x, (k, 0))[:, k],
    lambda k, x: np.diff(x, k), lambda k, x: np.linalg.matrix_power(x[:, :3], k),
    lambda k, x: np.polyint(x[0], k), lambda k, x: np.polyder(x[0], k),
    lambda k, x: np.tensordot(x[:, :4], x[:, 1:5], axes=k - 1), lambda k, x: np.round(x, k),
    lambda k, x: x.round(k), lambda k, x: np.polynomial.polynomial.polypow(x[0], k),
    lambda k, x: np.polynomial.hermite.hermfit(x[0], x[1], k),
    lambda k, x: (np.polynomial.Polynomial(x[0]) ** k).coef, lambda k, x: np.polyfit(x[0], x[1], k),
    lambda k, x: scipy.special.eval_legendre(k, x), lambda k, x: scipy.special.polygamma(k, x),
    lambda k, x: scipy.special.multigammaln(x + 3.0, k),
    lambda k, x: scipy.special.jvp(1, x, k), lambda k, x: scipy.special.diric(x, k),
    lambda k, x: scipy.stats.moment(x, k, axis=None), lambda k, x: scipy.stats.kstat(x, k),
    lambda k, x: scipy.ndimage.gaussian_filter(x, 1.0, order=k),
    lambda k, x: scipy.signal.savgol_filter(x[0], 5, k, mode="nearest"),
    lambda k, x: scipy.signal.butter(k, x[0, 0] * 0.01),
]


def parts(found: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (found if isinstance(found, (list, tuple)) else [found])]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_an_int_of_the_call_says_how_often(case: int) -> None:
    function = CASES[case]
    x = np.random.default_rng(case).uniform(0.5, 2.0, size=(4, 6))[:4 if case != 8 else 3]
    with tracejit.config(disable_jit=True):
        captured = tracejit.jit(function)
        for k in (2, 3, 2):
            for a, b in zip(parts(captured(k, x)), parts(function(k, x)), strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_an_int_that_data_makes_is_refused_at_its_line() -> None:
    def parts_by_data(x: np.ndarray) -> Any:
        n = 1
        for v in x:
            if v > 0.0:
                n += 1
        return np.array_split(x, n)[0]

    with tracejit.config(disable_jit=True), pytest.raises(
            tracejit.Refusal, match="how many parts an array is split into"):
        tracejit.jit(parts_by_data)(np.ones(4))
