"""`nnls`: SciPy's numbers, and the derivatives of the components that are free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

import tracejit

RNG = np.random.default_rng(5)
A = RNG.standard_normal((9, 5))
B = RNG.standard_normal(9)


def _numbers(a: Any, b: Any) -> Any:
    x, left = nnls(a, b)
    return np.append(x, left)


@pytest.mark.parametrize(("a", "b"), [(A, B), (np.abs(A), np.abs(B)), (A[:, :1], B)])
def test_fits_are_scipys_and_derivatives_are_right(a: Any, b: Any) -> None:
    h, t, u = 1e-6, RNG.standard_normal(a.shape), RNG.standard_normal(b.shape)
    right = (_numbers(a + h * t, b + h * u) - _numbers(a - h * t, b - h * u)) / (2.0 * h)
    with tracejit.config(disable_jit=True):
        value, found = tracejit.jvp(_numbers, (a, b), (t, u))
        back = tracejit.vjp(_numbers, a, b)[1](np.ones(len(value)))
    np.testing.assert_allclose(value, _numbers(a, b), rtol=1e-12)
    np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-8)
    assert np.sum(back[0] * t) + np.sum(back[1] * u) == pytest.approx(np.sum(found), rel=1e-9)


def test_second_derivatives_and_kernels_are_right() -> None:
    def f(b: Any) -> Any:
        return nnls(A, b)[1]

    g, h = tracejit.grad(f), 1e-5
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(g(B), tracejit.grad(f)(B), rtol=1e-12)
        second = tracejit.hessian(f)(B)
    right = [(g(B + h * e) - g(B - h * e)) / (2.0 * h) for e in np.eye(9)]
    np.testing.assert_allclose(second, right, rtol=1e-5, atol=1e-8)


def test_where_a_component_is_just_0_there_is_no_derivative() -> None:
    with tracejit.config(disable_jit=True):
        def f(b: Any) -> Any:
            return nnls(np.eye(2), b)[0][0]

        assert tracejit.jit(f)(np.array([0.0, 1.0])) == 0.0
        with pytest.raises(np.linalg.LinAlgError, match="a derivative to one side"):
            tracejit.grad(f)(np.array([0.0, 1.0]))
