"""`linearize`, `value_and_jacobian`, `taylor` and `gauss_newton`, against matrices and series."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import linalg

import tracejit


def stepped(x: Any, k: Any = 2) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) * x[i] if x[i] > 0.0 else y[i - 1] ** k
    return y


def writing(x: Any) -> Any:
    x *= 2.0
    return x[1:] * x[:-1]


POINT = np.array([0.3, 1.2, -0.4, 0.7])


def differences(f: Any, x: Any, v: Any) -> Any:
    h = 1e-6
    return (f(x + h * v) - f(x - h * v)) / (2.0 * h)


# --- linearize ----------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [stepped, writing])
def test_a_linearisation_is_the_derivative_at_its_point(function: Any) -> None:
    x = POINT.copy()
    value, along = tracejit.linearize(function, x)
    np.testing.assert_array_equal(x, POINT)
    np.testing.assert_allclose(value, function(POINT.copy()), rtol=1e-14)
    x[:] = np.nan  # the point stays
    for v in np.eye(4):
        np.testing.assert_allclose(along(v), differences(lambda x: function(x.copy()), POINT, v),
                                   rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(along(np.ones(4)), sum(map(along, np.eye(4))), rtol=1e-13)


def test_a_linearisation_of_nests_has_their_structure() -> None:
    def f(p: Any, y: Any) -> Any:
        return {"sum": p["a"] + y, "product": (p["a"] * p["b"], y ** 2)}

    value, along = tracejit.linearize(f, {"a": 2.0, "b": np.ones(2)}, 3.0)
    assert value["sum"] == 5.0 and value["product"][1] == 9.0
    dot = along({"a": 1.0, "b": np.zeros(2)}, 0.5)
    assert dot["sum"] == 1.5 and dot["product"][1] == 3.0
    np.testing.assert_array_equal(dot["product"][0], [1.0, 1.0])
    with pytest.raises(ValueError, match="shape"):
        along({"a": 1.0, "b": np.zeros(3)}, 0.5)


def test_captured_code_linearises() -> None:
    def of_two(x: Any) -> Any:
        value, along = tracejit.linearize(stepped, x)
        return np.sum(value * along(x) + along(np.ones(4)))

    slope = tracejit.grad(of_two)(POINT)
    for v in np.eye(4):
        assert slope @ v == pytest.approx(differences(tracejit.jit(of_two), POINT, v), rel=1e-6)


# --- value_and_jacobian -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_value_and_jacobian_are_those_of_the_function(mode: Any) -> None:
    for function, args in ((stepped, (3,)), (writing, ()), (lambda x: np.sum(x * x), ()),
                           (lambda x: x[:2, None] * x, ())):
        both, x = tracejit.value_and_jacobian(function, mode=mode), POINT.copy()
        value, matrix = both(x, *args)
        np.testing.assert_array_equal(x, POINT)
        np.testing.assert_allclose(value, function(POINT.copy(), *args), rtol=1e-14)
        for k, v in enumerate(np.eye(4)):
            np.testing.assert_allclose(
                matrix[..., k], differences(lambda x: function(x.copy(), *args), POINT, v),
                rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_within_captured_code_arguments_stay_as_they_are(mode: Any) -> None:
    def of_both(x: Any) -> Any:
        value, matrix = tracejit.value_and_jacobian(writing, mode=mode)(x)
        return np.sum(x) + np.sum(value) + np.sum(matrix)

    expected = np.sum(POINT) + np.sum(writing(POINT.copy())) + np.sum(
        tracejit.jacfwd(writing)(POINT))
    assert tracejit.jit(of_both)(POINT.copy()) == pytest.approx(expected)


def test_value_and_jacobian_by_name_and_of_nests() -> None:
    both = tracejit.value_and_jacobian(lambda a, b: {"u": a * b, "w": b ** 2}, argnums="b")
    value, matrix = both(2.0, np.array([1.0, 3.0]))
    np.testing.assert_array_equal(value["w"], [1.0, 9.0])
    np.testing.assert_array_equal(matrix["u"], 2.0 * np.eye(2))
    np.testing.assert_array_equal(matrix["w"], np.diag([2.0, 6.0]))
    (of_a, of_b) = tracejit.value_and_jacobian(lambda a, b: a * b, argnums=(0, 1))(2.0, 3.0)[1]
    assert (of_a, of_b) == (3.0, 2.0)
    assert list(inspect.signature(tracejit.value_and_jacobian(stepped)).parameters) == ["x", "k"]
    with pytest.raises(ValueError, match='"fwd" or "rev"'):
        tracejit.value_and_jacobian(stepped, mode="both")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="real float"):
        tracejit.value_and_jacobian(stepped)(np.arange(3))


# --- taylor -------------------------------------------------------------------------------------

SERIES = [
    (np.exp, 0.0, 2.0, [2.0 ** k / math.factorial(k) for k in range(7)]),
    (lambda x: 1.0 / (1.0 - x), 0.0, 1.0, [1.0] * 7),
    (np.sin, 0.0, 1.0, [0.0, 1.0, 0.0, -1 / 6, 0.0, 1 / 120, 0.0]),
    (np.log1p, 0.0, -1.0, [0.0, *(-1 / k for k in range(1, 7))]),
    (lambda x: x ** 3, 1.0, 2.0, [1.0, 6.0, 12.0, 8.0, 0.0, 0.0, 0.0]),
    (lambda x: np.tanh(x) if x >= 0.0 else -x, 0.0, 1.0, [0.0, 1.0, 0.0, -1 / 3, 0.0, 2 / 15, 0.0]),
]


@pytest.mark.parametrize(("function", "x", "v", "expected"), SERIES)
def test_coefficients_are_those_of_the_series(function: Any, x: Any, v: Any, expected: Any) -> None:
    np.testing.assert_allclose(tracejit.taylor(function, x, v, 6), expected, rtol=1e-13, atol=1e-14)


def test_coefficients_of_arrays_are_those_of_a_polynomial() -> None:
    def f(x: Any) -> Any:
        y = x * x
        for _ in range(2):
            y[1:] = y[1:] * x[:-1]
        return y.reshape(2, 2)

    v = np.array([1.0, -1.0, 0.5, 2.0])
    found = tracejit.taylor(f, POINT, v, 4)
    assert found.shape == (5, 2, 2)
    for t in (0.5, -1.0):
        np.testing.assert_allclose(np.polynomial.polynomial.polyval(t, found), f(POINT + t * v),
                                   rtol=1e-12)


def test_taylor_at_its_ends() -> None:
    assert tracejit.taylor(np.exp, 1.0, 1.0, 0).tolist() == [np.exp(1.0)]
    assert tracejit.taylor(np.sin, np.ones(2, np.float32), np.ones(2, np.float32), 2).dtype == "f4"
    assert tracejit.taylor(np.sin, np.ones(0), np.ones(0), 2).shape == (3, 0)
    slope = tracejit.grad(lambda x: tracejit.taylor(np.sin, x, 1.0, 2)[2])(0.3)
    assert slope == pytest.approx(-np.cos(0.3) / 2.0)
    with pytest.raises(ValueError, match="0 or more"):
        tracejit.taylor(np.sin, 1.0, 1.0, -1)
    with pytest.raises(ValueError, match="direction has the shape"):
        tracejit.taylor(np.sin, np.ones(2), np.ones(3), 1)


# --- gauss_newton -------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [stepped, writing, lambda x: np.sum(x * x)])
def test_the_gauss_newton_matrix_is_the_jacobians(function: Any) -> None:
    x = POINT.copy()
    matrix = tracejit.gauss_newton(function)(x)
    x[:] = 0.0
    dense = np.reshape(tracejit.jacfwd(function)(POINT), (-1, 4))
    np.testing.assert_allclose(matrix @ np.eye(4), dense.T @ dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(matrix.T @ np.eye(4), dense.T @ dense, rtol=1e-12, atol=1e-14)


def test_gauss_newton_steps_solve_least_squares() -> None:
    t = np.linspace(0.0, 2.0, 20)

    def residual(x: Any, y: Any) -> Any:
        return x[0] * np.exp(-x[1] * t) - y

    y, x = 3.0 * np.exp(-0.7 * t), np.array([2.5, 0.5])
    matrix, slope = tracejit.gauss_newton(residual), tracejit.grad(
        lambda x, y: 0.5 * np.sum(residual(x, y) ** 2))
    for _ in range(6):
        x = x - linalg.cg(matrix(x, y), slope(x, y), rtol=1e-12)[0]
    np.testing.assert_allclose(x, [3.0, 0.7], rtol=1e-8)
    found = optimize.minimize(lambda x: 0.5 * np.sum(residual(x, y) ** 2), [2.5, 0.5],
                              jac=lambda x: slope(x, y), hess=lambda x: matrix(x, y),
                              method="trust-constr")
    np.testing.assert_allclose(found.x, [3.0, 0.7], rtol=1e-4)
    with pytest.raises(TypeError, match=r"x\.astype\(float\)"):
        matrix(np.arange(2), y)

