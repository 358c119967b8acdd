"""Tangents of what has no derivative are refused, and points of linearisation stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

import tracejit

X = np.array([1.0, 2.0, 3.0])


class Weights:
    """A class whose objects are no nests."""

    def __init__(self, w):
        self.w = w


def test_a_tangent_of_an_object_with_numbers_is_refused() -> None:
    def f(weights, x):
        return weights.w * x * x

    weights = Weights(np.ones(3))
    with pytest.raises(TypeError, match=r"object of Weights.*would count as 0"):
        tracejit.jvp(f, (weights, X), (Weights(np.ones(3)), X))
    value, tangent = tracejit.jvp(f, (weights, X), (0.0, np.ones(3)))
    np.testing.assert_allclose(value, X * X)
    np.testing.assert_allclose(tangent, 2.0 * X)


def test_a_tangent_of_an_int_is_refused_unless_it_is_zero() -> None:
    def f(x, k):
        return np.sum(x * k)

    for k in (3, np.array([3, 4, 5])):
        with pytest.raises(TypeError, match="int64, which has no derivative"):
            tracejit.jvp(f, (X, k), (np.zeros(3), np.ones(np.shape(k))[()]))
        for zero in (0 * k, 0.0 * k, k):
            _, tangent = tracejit.jvp(f, (X, k), (np.ones(3), zero))
            np.testing.assert_allclose(tangent, np.sum(k * np.ones(3)))


def test_an_object_that_changes_leaves_a_linearisation_as_it_is() -> None:
    weights = Weights([np.ones(3), {"factor": 2.0}])
    _, along = tracejit.linearize(
        lambda w, x: x ** 3 * w.w[1]["factor"] * w.w[0], weights, X)
    weights.w[0][:], weights.w[1]["factor"] = 7.0, 9.0
    np.testing.assert_allclose(along(0.0, np.ones(3)), 6.0 * X ** 2)


def test_captured_linearisations_are_those_of_plain_python() -> None:
    def writing(y):
        y[0] = y[1] * 2.0
        return y * y

    def f(x):
        value, along = tracejit.linearize(writing, x)
        x[2] = 10.0
        return value + 10.0 * along(np.ones(3)) + 100.0 * x

    # by hand: the value is (4 x1^2, x1^2, x2^2), and its derivative along ones (8 x1, 2 x1, 2 x2)
    expected = np.array([16.0 + 160.0 + 100.0, 4.0 + 40.0 + 200.0, 9.0 + 60.0 + 1000.0])
    np.testing.assert_allclose(f(X.copy()), expected)
    np.testing.assert_allclose(tracejit.jit(f)(X.copy()), expected)


@pytest.mark.parametrize("result", [None, (1.0, 2.0), 3, True, "a"])
def test_a_taylor_polynomial_is_of_floats(result: object) -> None:
    with pytest.raises(TypeError, match="one array or number of floats"):
        tracejit.taylor(lambda x: result, 1.0, 1.0, 2)


def residual(x, a, b=1.0):
    return x * x - a * b


@tracejit.custom_root(residual)
def root(x0, a, b=1.0):
    return float(np.sqrt(a * b))


def test_solvers_take_keywords() -> None:
    assert root(1.0, a=4.0, b=9.0) == 6.0
    slope = tracejit.grad(lambda a: root(x0=1.0, b=9.0, a=a))(4.0)
    np.testing.assert_allclose(slope, 9.0 / 12.0)

    @tracejit.custom_root(residual)
    def by_name(x0, a, *, b=1.0):
        return float(np.sqrt(a * b))

    with pytest.raises(TypeError, match="b of by_name can be given by name alone"):
        by_name(1.0, 4.0, b=2.0)


def test_captured_tangents_of_ints_are_refused_unless_they_are_zero() -> None:
    def along(x, n, t):
        return tracejit.jvp(lambda x, n: x * n, (x, n), (x, t))[1]

    np.testing.assert_allclose(tracejit.jit(lambda x, n: along(x, n, 0))(X, 3), 3.0 * X)
    for f in (lambda x, n: along(x, n, 1.0), lambda x, n: along(x, n, np.sum(x))):
        with pytest.raises(TypeError, match="int64, which has no derivative"):
            tracejit.jit(f)(X, 3)


def test_a_generator_needs_no_tangent_of_its_own() -> None:
    rng = np.random.default_rng(0)
    _, tangent = tracejit.jvp(lambda x, r: 2.0 * x, (X, rng), (X, rng))
    np.testing.assert_allclose(tangent, 2.0 * X)


@pytest.mark.parametrize("numbers", [(0, 2), (np.array([0, 0, 0]), np.array([2, 2, 1]))])
def test_a_pattern_that_is_given_is_compared_for_other_integers(numbers: tuple) -> None:
    pattern = np.eye(3)
    pattern[:, 0] = 1.0
    jacobian = tracejit.sparse_jacobian(lambda x, k: x * x[k], sparsity=pattern)
    right, wrong = numbers
    expected = np.eye(3) * X[0]
    expected[:, 0] += X
    np.testing.assert_allclose(jacobian(X, right).toarray(), expected)
    with pytest.raises(ValueError, match="misses element"):
        jacobian(X, wrong)
    with pytest.raises(ValueError, match="misses element"):
        jacobian(X, wrong)
