"""A norm is convex: at 0, where it has a kink, its gradient is taken to be 0, for every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit


@pytest.mark.parametrize("kind", [np.float64, np.complex128, np.float32])
@pytest.mark.parametrize("order", [None, 1, 1.5, 2, 3, np.inf, "fro"])
def test_the_gradient_of_a_norm_at_zero_is_zero(order: Any, kind: Any) -> None:
    shape = (2, 2) if order == "fro" else (3,)
    with tracejit.config(disable_jit=True):
        value, gradient = tracejit.value_and_grad(lambda x: np.linalg.norm(x, order))(
            np.zeros(shape, kind))
    assert value == 0.0 and value.dtype == np.zeros(1, kind).real.dtype
    np.testing.assert_array_equal(gradient, np.zeros(shape, kind))


def test_nan_is_not_taken_for_zero() -> None:
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(lambda x: np.linalg.norm(x, 3))(np.array([1.0, np.nan]))
    assert np.isnan(gradient).all()
