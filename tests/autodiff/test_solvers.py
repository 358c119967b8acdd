"""`hessp` and `linear_operator` are products with the dense matrices, as SciPy's solvers ask."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.sparse import linalg

import tracejit


def rosenbrock(x: Any, a: Any = 1.0, b: Any = 100.0) -> Any:
    return np.sum(b * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def stepped(x: Any, k: Any) -> Any:
    y = x.copy()
    for _ in range(k):
        y[1:] += 0.1 * np.sin(y[:-1] * y[1:])
        if y[0] > 0.5:
            y[0] = 0.9 * y[0] ** 2
    return np.sum(y * y)


def of_a_matrix(x: Any) -> Any:
    return np.linalg.slogdet(x @ x.T + 3.0 * np.eye(len(x)))[1]


OBJECTIVES = [(rosenbrock, (5,), (1.0, 100.0)), (rosenbrock, (4,), (2, 10)),
              (stepped, (4,), (3,)), (of_a_matrix, (3, 2), ())]


@pytest.mark.parametrize(("function", "shape", "args"), OBJECTIVES)
def test_hessp_is_the_hessian_times_a_direction(function: Any, shape: Any, args: Any) -> None:
    x, p = np.random.default_rng(0).normal(size=(2, *shape))
    hessian = tracejit.hessian(function)(x, *args).reshape(x.size, x.size)
    found = tracejit.hessp(function)(x, p, *args)
    assert found.shape == x.shape
    np.testing.assert_allclose(found.ravel(), hessian @ p.ravel(), rtol=1e-10, atol=1e-12)


def test_hessp_is_compiled_once_for_all_sizes() -> None:
    product = tracejit.hessp(rosenbrock)
    for n in (3, 5, 9):
        product(np.ones(n), np.ones(n), 1.0, 100.0)
    assert list(inspect.signature(product).parameters) == ["x", "p", "args"]
    with pytest.raises(ValueError, match="tangent has shape"):
        product(np.ones(3), np.ones(4), 1.0, 100.0)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"])
def test_scipy_minimises_with_it(method: str) -> None:
    found = optimize.minimize(tracejit.value_and_grad(rosenbrock), np.zeros(6), args=(1.0, 50.0),
                              jac=True, hessp=tracejit.hessp(rosenbrock), method=method, tol=1e-9)
    np.testing.assert_allclose(found.x, np.ones(6), rtol=1e-5)


def decays(x: Any, t: Any) -> Any:
    return x[0] * np.exp(-x[1] * t) + x[2]


def of_matrices(x: Any) -> Any:
    return x.T @ np.tanh(x)


def to_a_number(x: Any) -> Any:
    return np.sum(x ** 3)


MAPS = [(decays, (3,), (np.linspace(0.0, 1.0, 5),)), (of_matrices, (3, 2), ()),
        (to_a_number, (4,), ()), (stepped, (4,), (3,)),
        (lambda x: x[1:] * x[:-1], (6,), ()), (lambda x: x ** 2, (), ())]


@pytest.mark.parametrize(("function", "shape", "args"), MAPS)
def test_the_operator_is_the_jacobian(function: Any, shape: Any, args: Any) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    operator = tracejit.linear_operator(function, x, *args)
    dense = np.reshape(tracejit.jacobian(function)(x, *args), operator.shape)
    assert operator.shape == (np.size(function(x, *args)), x.size)
    np.testing.assert_allclose(operator @ np.eye(x.size), dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(operator.H @ np.eye(dense.shape[0]), dense.T, rtol=1e-12, atol=1e-14)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10 ** 6))
def test_rmatvec_is_the_adjoint_of_matvec(seed: int) -> None:
    rng = np.random.default_rng(seed)
    operator = tracejit.linear_operator(of_matrices, rng.normal(size=(3, 2)))
    v, w = rng.normal(size=operator.shape[1]), rng.normal(size=operator.shape[0])
    np.testing.assert_allclose(w @ (operator @ v), (operator.T @ w) @ v, rtol=1e-9, atol=1e-12)


def test_solvers_take_the_operator() -> None:
    t = np.linspace(0.0, 2.0, 12)
    x = np.array([1.0, 0.5, 0.2])
    operator, dense = tracejit.linear_operator(decays, x, t), tracejit.jacobian(decays)(x, t)
    b = np.cos(t)
    np.testing.assert_allclose(linalg.lsqr(operator, b, atol=1e-14, btol=1e-14)[0],
                               np.linalg.lstsq(dense, b)[0], rtol=1e-6)
    found = optimize.least_squares(lambda x: decays(x, t) - 2.0 * np.exp(-t), x, tr_solver="lsmr",
                                   jac=lambda x: tracejit.linear_operator(decays, x, t))
    np.testing.assert_allclose(found.x, [2.0, 1.0, 0.0], atol=1e-6)


def test_the_operator_stays_at_its_point() -> None:
    x = np.array([1.0, 2.0, 3.0])
    operator = tracejit.linear_operator(to_a_number, x)
    x[:] = 0.0
    np.testing.assert_allclose(operator @ np.eye(3), [[3.0, 12.0, 27.0]])


def test_a_function_may_write_to_its_argument() -> None:
    def doubled(x: Any) -> Any:
        x *= 2.0
        return x * x

    x = np.array([1.0, 2.0, 3.0])
    operator = tracejit.linear_operator(doubled, x)
    for _ in range(2):
        np.testing.assert_allclose(operator @ np.eye(3), np.diag(8.0 * x))
        np.testing.assert_allclose(operator.T @ np.eye(3), np.diag(8.0 * x))


def test_what_has_no_real_derivative_is_an_error() -> None:
    with pytest.raises(TypeError, match="returns a nest"):
        tracejit.linear_operator(lambda x: (x, x), np.ones(2))
    with pytest.raises(TypeError, match=r"x\.astype\(float\)"):
        tracejit.linear_operator(to_a_number, [1, 2])
    with pytest.raises(TypeError, match="returns complex128"):
        tracejit.linear_operator(lambda x: x * 1j, np.ones(2))


def folded(x: Any) -> Any:
    parts = np.zeros(2)
    for i in range(len(x)):
        parts[i % 2] = parts[i % 2] + x[i] ** 3
    return parts * 2.0 if parts[0] > 1.0 else parts


def gathered(x: Any) -> Any:
    rows = [float(v) * k for k, v in enumerate(x)]
    while sum(rows) > 4.0:
        rows = [0.5 * v + 0.01 * v * v for v in rows]
    return np.array(rows)


@pytest.mark.parametrize("function", [folded, gathered])
def test_operators_of_functions_with_loops_and_branches(function: Any) -> None:
    for x in (np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.4, 0.1, 0.7])):
        operator = tracejit.linear_operator(function, x)
        dense = np.stack([(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6
                          for e in np.eye(len(x))], axis=-1)
        np.testing.assert_allclose(operator @ np.eye(len(x)), dense, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(operator.T @ np.eye(len(dense)), dense.T, rtol=1e-6, atol=1e-8)
