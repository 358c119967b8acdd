"""Equal largest or smallest elements share the derivative of their extremum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

AXES: list[tuple[tuple[int, ...], Any]] = [
    ((37,), None), ((5, 7), 1), ((5, 7), 0), ((5, 7), None), ((3, 4, 5), (0, 2)),
    ((3, 4, 5), (1, 2)), ((3, 4, 5), -1), ((4, 1), 1), ((5000,), None)]

MADE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "an argument": (lambda x: x, np.ones_like),
    "a polynomial": (lambda x: x * x * 0.25 + x * 1.5, lambda x: 0.5 * x + 1.5),
    "a call": (lambda x: np.exp(np.abs(x)), lambda x: np.sign(x) * np.exp(np.abs(x))),
    "all equal": (lambda x: x - x, lambda x: 0.0 * x),
}

VALUES: dict[str, Callable[[Any], Any]] = {
    "different": lambda x: x, "float32": lambda x: x.astype("f4"), "tied": np.round,
    "a NaN": lambda x: np.where(x > 0.7, np.nan, x),
    "infinite": lambda x: np.where(x > 0.5, np.inf, np.where(x < -0.5, -np.inf, x))}


def shares(y: np.ndarray, axis: Any, reduce: Callable[..., Any]) -> np.ndarray:
    """Return the derivative of an extremum: equal shares, of NaNs where there are any."""
    extremum = reduce(y, axis=axis, keepdims=True)
    among = np.where(np.isnan(extremum), np.isnan(y), y == extremum)
    return among / np.sum(among, axis=axis, keepdims=True)


@pytest.mark.parametrize("made", sorted(MADE))
@pytest.mark.parametrize(("shape", "axis"), AXES)
@pytest.mark.parametrize("which", ["max", "min"])
def test_equal_extrema_share_the_derivative(which: str, shape: tuple[int, ...], axis: Any,
                                                     made: str) -> None:
    make, slope = MADE[made]
    reduce = getattr(np, which)
    gradient = tracejit.grad(lambda x, w: np.sum(reduce(make(x), axis=axis) * w))
    rng = np.random.default_rng(len(shape))
    for name, change in VALUES.items():
        if name in ("a NaN", "infinite") and made != "an argument":
            continue  # what is made of them is not a number
        if name == "tied" and made == "a call":
            continue  # equal numbers may have other last bits, by vector code and without
        x = change(rng.normal(size=shape))
        w = rng.uniform(1.0, 2.0, np.shape(reduce(x, axis=axis))).astype(x.dtype)[()]
        spread = w if axis is None else np.expand_dims(w, axis)
        y = make(x)
        share = shares(y, axis, reduce)
        expected = np.where(share > 0.0, share * spread * slope(x), 0.0)
        np.testing.assert_allclose(gradient(x, w), expected, rtol=1e-5 if name == "float32"
                                   else 1e-12, err_msg=name)


@pytest.mark.parametrize("make", [lambda x, w: x * w + x, lambda x, w: np.exp(x) * w])
def test_what_a_loop_computes_again_has_its_place(make: Callable[[Any, Any], Any]) -> None:
    def f(x: Any, w: Any) -> Any:
        total, y = 0.0, x[0]
        for i in range(len(x)):
            y = np.tanh(make(y * x[i], w))
            total = total + np.max(y) * (i + 1.0) + np.min(np.cos(y) * w)
        return total

    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(6, 13)), rng.normal(size=13)
    up, down = rng.normal(size=x.shape), rng.normal(size=w.shape)
    step = 1e-6
    expected = (f(x + step * up, w + step * down) - f(x - step * up, w - step * down)) / (2 * step)
    for options in ({}, {"threads": 2}, {"fp": "strict"}):
        g, h = tracejit.grad(f, argnums=(0, 1), **options)(x, w)
        np.testing.assert_allclose(np.sum(g * up) + np.sum(h * down), expected, rtol=1e-6)


@pytest.mark.parametrize("special", [None, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("order", ["axis 0", "axis 1"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_loop_marks_equal_extrema_again(order: str, dtype: str, special: float | None) -> None:
    """The way back compares sums, which it computes again, with the extremum that it has."""
    axis = int(order[-1])

    def f(a: Any, A: Any) -> Any:
        for _ in range(5):
            a = np.max((a[:, None] if axis == 0 else a) + A, axis=axis)
        return a

    rng = np.random.default_rng(2)
    a, w = (rng.integers(0, 3, 19).astype(dtype) for _ in range(2))
    A = rng.integers(0, 3, (19, 19)).astype(dtype)
    if special is not None:
        A[3, 5] = special
    steps = [a]
    for _ in range(5):
        steps.append(np.max((steps[-1][:, None] if axis == 0 else steps[-1]) + A, axis=axis))
    a_bar, A_bar = w, np.zeros_like(A)
    for before in reversed(steps[:-1]):
        x = (before[:, None] if axis == 0 else before) + A
        share = shares(x, axis, np.max)
        spread = np.where(share > 0.0, share * np.expand_dims(a_bar, axis), 0.0)
        a_bar, A_bar = np.sum(spread, axis=1 - axis), A_bar + spread
    found = tracejit.grad(lambda a, A, w: np.sum(np.where(w > 0.0, f(a, A) * w, 0.0)),
                          argnums=(0, 1))(a, A, w)
    for mine, expected in zip(found, (a_bar, A_bar), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5 if dtype == "f4" else 1e-12)


def test_second_derivatives_go_through_extrema_in_loops() -> None:
    def f(a: Any, A: Any) -> Any:
        for _ in range(4):
            x = a[:, None] + A
            top = np.max(x, axis=0)
            a = np.log(np.sum(np.exp(x - top), axis=0)) + top * 0.9
        return np.sum(a * a)

    rng = np.random.default_rng(5)
    a, A, up = rng.normal(size=7), rng.normal(size=(7, 7)), rng.normal(size=7)
    gradient = tracejit.grad(f)
    expected = (gradient(a + 1e-6 * up, A) - gradient(a - 1e-6 * up, A)) / 2e-6
    np.testing.assert_allclose(tracejit.hvp(f, (a, A), (up, 0.0 * A))[0], expected, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, None])
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i1", "u2"])
def test_places_are_numpys(kind: str, axis: int | None) -> None:
    rng = np.random.default_rng(0)
    search = tracejit.jit(lambda x: (np.argmax(x, axis=axis), np.argmin(x, axis=axis)))
    for shape in ((3, 4, 37), (1, 1, 1), (2, 9, 1), (5, 1, 8)):
        x = rng.integers(0, 5, shape).astype(kind)
        if kind[0] == "f":
            x[rng.random(shape) < 0.1] = np.nan
            x[rng.random(shape) < 0.1] = -np.inf
            x[rng.random(shape) < 0.1] = -0.0
        elif kind == "i8":
            x[rng.random(shape) < 0.1] = np.iinfo(np.int64).max
        for found, expected in zip(search(x), (np.argmax(x, axis=axis), np.argmin(x, axis=axis)),
                                   strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", [2, -2])
def test_elements_that_are_computed_another_way_have_a_place(order: int) -> None:
    """The way back has singular values of an SVD with vectors, whose last bits may differ."""
    stack = np.random.default_rng(0).normal(size=(40, 3, 4))

    def norm(x: Any) -> Any:
        return np.linalg.matrix_norm(x, ord=order)

    with tracejit.GradientTape() as tape:
        x = tracejit.constant(stack)
        tape.watch(x)
        y = norm(x)
    found = np.asarray(tape.gradient(y, x))
    up = np.random.default_rng(1).normal(size=stack.shape)
    slopes = (norm(stack + 1e-6 * up) - norm(stack - 1e-6 * up)) / 2e-6
    np.testing.assert_allclose(np.sum(found * up, axis=(1, 2)), slopes, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tracejit.grad(lambda x: np.sum(norm(x)))(stack), found, rtol=1e-9,
                               atol=1e-12)
