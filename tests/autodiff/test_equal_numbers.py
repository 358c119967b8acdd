"""Where two numbers tie, an extremum has the mean of its two slopes; so what has a slope has it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tracejit

Y = 0.8
LOSSES: dict[str, Callable[[float], float]] = {
    "maximum": lambda z: np.maximum(z, 0.0) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "maximum of zero": lambda z: np.maximum(0.0, z) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "minimum": lambda z: -np.minimum(-z, 0.0) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "fmax": lambda z: np.fmax(z, 0.0) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "fmin": lambda z: -np.fmin(0.0, -z) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "clip": lambda z: np.clip(z, 0.0, None) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "Python's max": lambda z: max(z, 0.0) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "Python's min": lambda z: -min(0.0, -z) - z * Y + np.log1p(np.exp(-np.abs(z))),
    "maxima alone": lambda z: np.maximum(z, 0.0) - z * Y + np.log1p(np.exp(-np.maximum(z, -z))),
}
"""The loss of logistic regression, as it is written so that nothing overflows."""


@pytest.mark.parametrize("name", LOSSES)
def test_a_logistic_loss_has_its_slope_where_its_parts_have_none(name: str) -> None:
    loss = LOSSES[name]
    with tracejit.config(disable_jit=True):
        assert tracejit.grad(loss)(0.0) == pytest.approx(0.5 - Y, abs=1e-15)
        assert tracejit.jvp(loss, (0.0,), (2.0,))[1] == pytest.approx(1.0 - 2.0 * Y, abs=1e-15)


def test_compiled_and_of_arrays_it_has_it_too() -> None:
    def loss(w: np.ndarray, x: np.ndarray) -> float:
        z = x @ w
        return np.sum(np.maximum(z, 0.0) - z * Y + np.log1p(np.exp(-np.abs(z))))

    x = np.random.default_rng(0).normal(size=(20, 3))
    slope = tracejit.grad(loss)
    assert slope(np.zeros(3), x) == pytest.approx((0.5 - Y) * x.sum(axis=0), abs=1e-14)
    assert slope(np.zeros(3, np.float32), x.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin],
                         ids=lambda ufunc: ufunc.__name__)
def test_an_extremum_has_the_mean_of_its_slopes(ufunc: np.ufunc) -> None:
    """Along random lines through ties of random functions, beside differences on both sides."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b, direction = rng.normal(size=(3, 4))

        def f(x: np.ndarray, a: np.ndarray = a, b: np.ndarray = b) -> float:
            return np.sum(ufunc(np.sin(a * x), np.expm1(b * x)) * a)

        h = 1e-7
        mean = (f(h * direction) - f(-h * direction)) / (2.0 * h)
        with tracejit.config(disable_jit=True):
            assert tracejit.grad(f)(np.zeros(4)) @ direction == pytest.approx(mean, abs=1e-5)
            assert tracejit.jvp(f, (np.zeros(4),), (direction,))[1] == pytest.approx(mean, abs=1e-5)


NAN = np.nan
SIDES = [(np.maximum, NAN, 1.0, (0.0, 1.0)), (np.maximum, 1.0, NAN, (0.0, 1.0)),
         (np.minimum, NAN, NAN, (0.0, 1.0)), (np.fmax, NAN, 1.0, (0.0, 1.0)),
         (np.fmax, 1.0, NAN, (1.0, 0.0)), (np.fmin, NAN, NAN, (1.0, 0.0)),
         (np.fmin, 2.0, 1.0, (0.0, 1.0)), (np.maximum, np.inf, np.inf, (0.5, 0.5))]


@pytest.mark.parametrize(("ufunc", "x", "y", "right"), SIDES)
def test_one_of_two_that_differ_has_all_of_it(
        ufunc: np.ufunc, x: float, y: float, right: tuple[float, float]) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.grad(ufunc, argnums=(0, 1))(x, y) == right


@pytest.mark.parametrize("function", [max, min], ids=lambda function: function.__name__)
def test_pythons_extremes_have_pythons_bits(function: Callable[[float, float], float]) -> None:
    numbers = (NAN, 1.0, 2.0, 0.0, -0.0, np.inf, -np.inf, 5e-324)
    compiled = tracejit.jit(lambda x, y: function(x, y))
    for x in numbers:
        for y in numbers:
            bits = np.array([compiled(x, y), function(x, y)]).view(np.uint64)
            assert bits[0] == bits[1], (x, y)
