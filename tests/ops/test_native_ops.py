"""`register_op` with `@njit` functions: called as they are, opaque, with registered gradients."""

from __future__ import annotations

import random
from typing import Any

import numba
import numpy as np
import pytest
from oracles import assert_close

import tracejit

X = np.linspace(0.1, 1.0, 4)


@numba.njit
def _wave(x: Any, a: Any) -> Any:
    result = np.empty_like(x)
    for i in range(len(x)):
        result[i] = np.sin(a * x[i])
    return result


@numba.njit
def _power_sum(x: Any, k: Any) -> Any:
    total = 0.0
    for v in x:
        total += v ** k
    return total, len(x)


wave = tracejit.register_op("TestWave", _wave)
power_sum = tracejit.register_op("TestPowerSum", _power_sum, num_outputs=2)


@tracejit.RegisterGradient("TestWave")
def _wave_grad(op: Any, grad: Any) -> Any:
    x, a = op.inputs
    slope = np.cos(a * x)
    return grad * a * slope, np.sum(grad * x * slope)


def model(x: Any, a: Any, n: Any) -> Any:
    for _ in range(n):
        x = wave(x, a) * 0.9
    return np.sum(x ** 2) * power_sum(x, 2)[1]


@pytest.mark.parametrize("verify", [False, True])
def test_value_is_that_of_the_function(verify: bool) -> None:
    with tracejit.config(verify=verify):
        assert_close(tracejit.jit(model)(X, 1.1, 3), model(X, 1.1, 3))


def test_interpreter_calls_it_too() -> None:
    with tracejit.config(disable_jit=True):
        assert_close(tracejit.jit(model)(X, 1.1, 3), model(X, 1.1, 3))


def test_gradient_is_the_registered_one() -> None:
    tracejit.no_gradient("TestPowerSum")
    x_bar, a_bar = tracejit.grad(model, argnums=(0, 1))(X, 1.1, 3)
    h = 1e-6
    for k, e in enumerate(np.eye(4)):
        slope = (model(X + h * e, 1.1, 3) - model(X - h * e, 1.1, 3)) / (2 * h)
        np.testing.assert_allclose(x_bar[k], slope, rtol=1e-6)
    slope = (model(X, 1.1 + h, 3) - model(X, 1.1 - h, 3)) / (2 * h)
    np.testing.assert_allclose(a_bar, slope, rtol=1e-6)


def test_without_a_gradient_it_is_a_lookup_error() -> None:
    op = tracejit.register_op("TestNoRule", numba.njit(lambda x: x * 2.0))
    with pytest.raises(LookupError, match="op 'TestNoRule' has no gradient"):
        tracejit.grad(lambda x: op(x) * 3.0)(1.0)


def test_a_function_that_writes_to_its_arguments_is_refused() -> None:
    @numba.njit
    def scribble(x: Any) -> Any:
        x[0] = 1.0
        return x.sum()

    op = tracejit.register_op("TestScribble", scribble)
    with pytest.raises(tracejit.Refusal, match="writes to its arguments"):
        tracejit.jit(lambda x: op(x))(X)


def test_a_result_of_another_shape_is_an_error() -> None:
    op = tracejit.register_op("TestShorter", numba.njit(lambda x: x[:2]))
    with pytest.raises(ValueError, match="'TestShorter' returned an array of another shape"):
        tracejit.jit(lambda x: np.sum(op(x)))(X)
    assert tracejit.jit(lambda x: np.sum(op(x)))(X[:2]) == np.sum(X[:2])


def test_an_exception_inside_is_an_error() -> None:
    @numba.njit
    def picky(x: Any) -> Any:
        if x > 2.0:
            raise ValueError("too large")
        return x

    op = tracejit.register_op("TestPicky", picky)
    call = tracejit.jit(lambda x: op(x) + 1.0)
    assert call(1.0) == 2.0
    with pytest.raises(RuntimeError, match="the function of op 'TestPicky' raised"):
        call(3.0)


@numba.njit
def _draws(x: Any) -> Any:
    return x * np.random.random()


@numba.njit
def _calls_draws(x: Any) -> Any:
    return _draws(x) + 1.0


@numba.njit
def _shuffles(x: Any) -> Any:
    y = x.copy()
    np.random.shuffle(y)
    return y


@numba.njit
def _seeds(x: Any) -> Any:
    np.random.seed(3)
    return x * 2.0


@numba.njit
def _draws_pythons(x: Any) -> Any:
    return x * random.gauss(0.0, 1.0)


@pytest.mark.parametrize("fn", [_draws, _calls_draws, _shuffles, _seeds, _draws_pythons],
                         ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("disable_jit", [False, True])
def test_a_function_that_draws_random_numbers_is_refused(fn: Any, disable_jit: bool) -> None:
    op = tracejit.register_op(f"TestDraws{fn.__name__}{disable_jit}", fn)
    with tracejit.config(disable_jit=disable_jit):
        for f in (lambda x: op(x) - op(x), lambda x: np.sum(op(x)), lambda x: op(op(x))):
            with pytest.raises(tracejit.Refusal, match=r"test_native_ops.*draws random numbers"):
                tracejit.jit(f)(X)
    assert np.shape(op(X)) == X.shape


OTHER_SHAPES = {"half": lambda x: x[::2].copy(), "twice": lambda x: np.concatenate((x, x))}


@pytest.mark.parametrize("name", OTHER_SHAPES)
@pytest.mark.parametrize("interpreted", [False, True])
def test_a_result_of_another_shape_is_an_error_in_compiled_and_in_interpreted_code(name,
                                                                                  interpreted):
    op = tracejit.register_op(f"OtherShape{name}{interpreted}", numba.njit(OTHER_SHAPES[name]))
    with tracejit.config(disable_jit=interpreted), pytest.raises(
            ValueError, match="returned an array of another shape"):
        tracejit.jit(lambda x: op(x) * 1.0)(np.arange(6.0))
