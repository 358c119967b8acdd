"""Traps of other tools' solvers, with the numbers of their threads: right here, or refused.

Those of solutions that are none, singular systems, closures and events are in `test_solutions.py`
and `test_ode_events.py`, those of work that is split in `tests/runtime`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse.linalg as sl
from oracles import numeric_gradient
from scipy.integrate import solve_ivp

import tracejit
from tracejit import custom_root

A = np.array([[4.0, 1.0, 0.3], [0.5, 3.0, -1.0], [0.0, 0.7, 5.0]])
B = np.array([1.0, -2.0, 0.5])


def bisected(x0, a):
    low, high = 0.0, 10.0
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if middle ** 3 + middle < a else (low, middle)
    return 0.5 * (low + high)


def test_the_steps_of_a_bracket_are_not_differentiated_at_any_order() -> None:
    """jaxopt#141, jaxopt#143: 0, for a bracket's ends do not move, and 0 again at second order."""
    def by_bisection(a):
        return custom_root(lambda x, a: x ** 3 + x - a)(bisected)(1.0, a)

    def by_brentq(a):
        return so.brentq(lambda x: x ** 3 + x - a, 0.0, 10.0, xtol=1e-14)

    slope = 1.0 / 4.0  # at x = 1, where a = 2
    with tracejit.config(disable_jit=True):
        for f in (by_brentq, tracejit.jit(by_bisection)):
            np.testing.assert_allclose(tracejit.grad(f)(2.0), slope, rtol=1e-9)
            np.testing.assert_allclose(tracejit.grad(tracejit.grad(f))(2.0), -6.0 * slope ** 3,
                                       rtol=1e-8)


def test_a_preconditioner_is_not_used_for_the_transposed_system() -> None:
    """jax#29449: GMRES with M went to the transposed system with M, and not its transpose."""
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="with M="):
        tracejit.grad(lambda b: np.sum(sl.gmres(A, b, M=np.diag(1.0 / np.diag(A)))[0]))(B)


def test_least_squares_have_their_whole_hessian() -> None:
    """jaxopt#148: the Jacobian of the optimality conditions was Gauss and Newton's."""
    t, far = np.linspace(0.0, 2.0, 9), 1.0 + np.cos(5.0 * np.linspace(0.0, 2.0, 9))

    def rate(shift):
        return so.least_squares(lambda x: np.exp(-x[0] * t) * x[1] - far - shift * t,
                                np.array([1.0, 1.0]), ftol=1e-14, xtol=1e-14, gtol=1e-14).x[0]

    with tracejit.config(disable_jit=True):
        found = tracejit.grad(rate)(0.3)
    h = 1e-4
    np.testing.assert_allclose(found, (rate(0.3 + h) - rate(0.3 - h)) / (2.0 * h), rtol=1e-4)


def test_an_adjoint_does_not_integrate_the_state_backwards() -> None:
    """diffrax#596, torchdiffeq#88, torchdiffeq#211: a stable state backwards explodes."""
    def end(k):
        return solve_ivp(lambda t, y: -k * (y - np.cos(t)), (0.0, 20.0), np.array([3.0]),
                         rtol=1e-8, atol=1e-10).y[0, -1]

    # of the attractor: k (k cos t + sin t) / (1 + k^2), to which all solutions come
    k, t = 5.0, 20.0
    value = k * (k * np.cos(t) + np.sin(t)) / (1.0 + k * k)
    slope = (2.0 * k * np.cos(t) + np.sin(t)) / (1.0 + k * k) - 2.0 * k * value / (1.0 + k * k)
    with tracejit.config(disable_jit=True):
        found = tracejit.value_and_grad(end)(k)
    np.testing.assert_allclose(found, (value, slope), rtol=1e-6)


def test_the_sizes_of_steps_have_no_derivative() -> None:
    """torchdiffeq#284, diffrax#499, SciMLSensitivity#1094: the controller had a part in it."""
    def steps(k):
        found = solve_ivp(lambda t, y: -k * y, (0.0, 3.0), np.array([1.0, 0.5]))
        return found.t, found.y

    with tracejit.config(disable_jit=True):
        times = tracejit.jvp(lambda k: steps(k)[0], (1.3,), (1.0,))[1]
        assert np.all(times == 0.0)
        slope = tracejit.grad(lambda k: steps(k)[1][0, -1])(1.3)
    t, _ = steps(1.3)
    product, share = 1.0, 0.0  # of the polynomial by which a step multiplies, steps held
    for h in np.diff(t):
        z = -1.3 * h
        grows = 1 + z + z ** 2 / 2 + z ** 3 / 6 + z ** 4 / 24 + z ** 5 / 120 + z ** 6 / 600
        by_z = 1 + z + z ** 2 / 2 + z ** 3 / 6 + z ** 4 / 24 + z ** 5 / 100
        product, share = product * grows, share - h * by_z / grows
    np.testing.assert_allclose(slope, product * share, rtol=1e-9)


@pytest.mark.parametrize("directions", [1, 2, 3, 7])
def test_many_directions_are_each_right(directions: int) -> None:
    """casadi#4383, casadi#3783: Jacobians of a stiff solver, wrong from three directions on."""
    def end(p):
        n = len(p)
        k = np.arange(1.0, n + 1.0)
        return solve_ivp(lambda t, y: -p * k * y + p[0] * np.cos(t), (0.0, 1.0), np.ones(n),
                         method="BDF", t_eval=[1.0], rtol=1e-9, atol=1e-11).y[:, 0]

    p = np.linspace(0.7, 1.3, directions)
    weights = np.cos(np.arange(directions))
    expected = numeric_gradient(lambda p: weights @ end(p), [p], 0, 1e-4)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(weights @ tracejit.jacfwd(end)(p), expected, rtol=1e-5,
                                   atol=1e-6)
        np.testing.assert_allclose(tracejit.grad(lambda p: np.sum(weights * end(p)))(p), expected,
                                   rtol=1e-5, atol=1e-6)


def test_a_pattern_is_of_all_points() -> None:
    """OrdinaryDiffEq#2653, DifferentiationInterface#225, pounce#98: a pattern of one point's values
    missed elements; Julia's discourse 128337: a comparison has both branches."""
    def f(x: Any) -> Any:
        y = x * x[::-1]
        if x[0] > 0.0:
            y = y + x[2]
        return np.where(x > 1.0, y, x[1] * 0.0)

    jacobian = tracejit.sparse_jacobian(f)
    for x in (np.zeros(3), np.array([-1.0, 2.0, 3.0]), np.array([2.0, 0.0, 3.0])):
        expected = [numeric_gradient(lambda x, k=k: f(x)[k], [x], 0, 1e-6) for k in range(3)]
        np.testing.assert_allclose(jacobian(x).toarray(), expected, atol=1e-6)
