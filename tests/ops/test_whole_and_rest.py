"""`modf`: parts are NumPy's bit by bit, and the rest has the slope 1 at whole numbers, too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

EDGES = [0.0, -0.0, 1.0, -2.0, 2.5, -2.5, 1e300, 5e-324, -5e-324, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("disable_jit", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parts_are_numpys(dtype: type, disable_jit: bool) -> None:
    with np.errstate(all="ignore"):
        x = np.array(EDGES).astype(dtype)
    with tracejit.config(disable_jit=disable_jit):
        for found, wanted in zip(tracejit.jit(np.modf)(x), np.modf(x), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
            known = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("modf", [np.modf, math.modf])
def test_the_rest_has_the_slope_of_its_number(modf: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        for x in (0.0, -0.0, 1.0, -2.0, 2.5, -0.3):
            assert tracejit.grad(lambda v: modf(v)[0])(x) == 1.0
            assert tracejit.grad(lambda v: modf(v)[1])(x) == 0.0
