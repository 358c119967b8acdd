"""`minimize`, `least_squares` and `curve_fit` between bounds: SciPy's numbers, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import tracejit

T = np.linspace(0.0, 2.0, 12)
Y = 2.5 * np.exp(-1.3 * T) + 0.1 * np.sin(9.0 * T)
A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
HALF = so.Bounds(0.0, np.inf)


def _cost(x: Any, p: Any) -> Any:
    return 0.5 * x @ A @ x - p @ x + 0.05 * np.sum(x ** 4)


def _slope(x: Any, p: Any) -> Any:
    return A @ x - p + 0.2 * x ** 3


def _start(p: Any) -> Any:
    return np.full(3, 0.5)


def by_pairs(p):
    return so.minimize(_cost, _start(p), args=(p,), jac=_slope,
                       bounds=[(0.0, None), (0.0, 0.4), (None, 5.0)],
                       options={"ftol": 1e-13, "gtol": 1e-11}).x


def by_bounds(p):
    return so.minimize(_cost, _start(p), args=(p,), jac=_slope, bounds=HALF, method="SLSQP",
                       options={"ftol": 1e-15}).x


def between_traced(p):
    ends = [(0.0, p[0]), (0.0, p[0] * 0.3), (-9.0, 9.0)]
    return so.minimize(_cost, _start(p), args=(p,), jac=_slope, bounds=ends,
                       options={"ftol": 1e-13, "gtol": 1e-11}).x


def the_value(p):
    found = so.minimize(_cost, _start(p), args=(p,), jac=_slope, bounds=[(0.0, 0.4)] * 3,
                        options={"ftol": 1e-13, "gtol": 1e-11})
    return np.array([found.fun, found.x[0]])


def squares(p):
    return so.least_squares(lambda x: np.concatenate((A @ x - p, 0.3 * x ** 2)), 0.4 * _start(p),
                            bounds=(0.0, [1.0, 0.25, np.inf]), xtol=1e-15, ftol=1e-15,
                            gtol=1e-15).x


def a_curve(p):
    return so.curve_fit(lambda t, a, k: a * np.exp(-k * t), T, Y * p[0], bounds=([0.0, 0.0], [
        9.0, 9.0]), xtol=1e-15, ftol=1e-15, gtol=1e-15)[0]


def a_curve_at_its_bound(p):
    return so.curve_fit(lambda t, a, k, c: a * np.exp(-k * t) + c, T, Y * p[0] - 0.3,
                        [1.0, 1.0, 0.5], bounds=(0.0, np.inf), xtol=1e-15, ftol=1e-15,
                        gtol=1e-15)[0]


P = np.array([1.3, 0.9, -0.7])


@pytest.mark.parametrize("f", [by_pairs, by_bounds, between_traced, the_value, squares, a_curve,
                               a_curve_at_its_bound])
def test_solutions_are_scipys_and_derivatives_are_right(f: Any) -> None:
    h = 1e-4
    differences = np.stack([(f(P + h * e) - f(P - h * e)) / (2.0 * h) for e in np.eye(3)], axis=1)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(P), f(P), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(tracejit.jacrev(f)(P), differences, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(tracejit.jacfwd(f)(P), differences, rtol=1e-4, atol=1e-5)


def test_kernels_and_second_derivatives_are_right() -> None:
    def f(p: Any) -> Any:
        return by_pairs(p)[2]

    h = 1e-4
    first = tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(first(P), tracejit.grad(f)(P), rtol=1e-9)
        second = tracejit.grad(lambda p: tracejit.grad(f)(p)[2])(P)
    differences = [(first(P + h * e)[2] - first(P - h * e)[2]) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(second, differences, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("a", [1.0, 0.0])
def test_where_a_bound_just_holds_there_is_a_value_and_no_derivative(a: float) -> None:
    def f(p: Any) -> Any:
        return so.minimize(lambda x: np.sum((x - p) ** 2), [0.5], bounds=[(0.0, 1.0)]).x[0]

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(a) == f(a)
        with pytest.raises(np.linalg.LinAlgError, match="a derivative to one side"):
            tracejit.grad(f)(a)
        assert tracejit.grad(f)(0.3) == pytest.approx(1.0)
        assert tracejit.grad(f)(1.3) == tracejit.grad(f)(-0.3) == 0.0


def test_wrong_bounds_are_scipys_errors() -> None:
    def f(p: Any) -> Any:
        return so.minimize(lambda x: np.sum((x - p) ** 2), [0.5], bounds=[(1.0, 0.0)]).x[0]

    for g in (f, tracejit.jit(f)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError, match="bound"):
            g(0.5)
