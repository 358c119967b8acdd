"""Independent oracles: Python itself, central differences, and tolerances by dtype."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

TOLERANCES = {"f2": 1e-3, "f4": 2e-5, "f8": 1e-11, "c8": 2e-5, "c16": 1e-11}
"""Relative error allowed between two ways to compute one thing, by dtype."""

DIFFERENCE_TOLERANCE = 3e-6
"""Relative error allowed between a derivative and a central difference in float64."""


def assert_same(actual: Any, expected: Any, what: str = "", factor: float = 1.0) -> None:
    """Assert that two results have the same structure, dtypes, shapes and, nearly, values."""
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), what
        for a, e in zip(actual, expected, strict=True):
            assert_same(a, e, what, factor)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} is not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    if actual.dtype.kind in "biu":
        np.testing.assert_array_equal(actual, expected, what)
        return
    tolerance = TOLERANCES[actual.dtype.str[1:]] * factor
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * max(scale, 1.0),
                               err_msg=what)


def assert_close(actual: Any, expected: Any, tolerance: float = DIFFERENCE_TOLERANCE,
                 what: str = "") -> None:
    """Assert that numbers agree relative to the largest among them."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale,
                               err_msg=what)


def directional(function: Callable[..., Any], xs: Sequence[Any], vs: Sequence[Any],
                step: float = 1e-5) -> list[np.ndarray]:
    """Return each result's derivative along a direction, by a central difference of order 4."""

    def at(t: float) -> list[np.ndarray]:
        moved = [x if v is None else x + t * v for x, v in zip(xs, vs, strict=True)]
        results = function(*moved)
        results = results if isinstance(results, (tuple, list)) else [results]
        return [np.asarray(r) for r in results]

    near = zip(at(step), at(-step), strict=True)
    far = zip(at(2 * step), at(-2 * step), strict=True)
    return [(8 * (a - b) - (c - d)) / (12 * step) if a.dtype.kind in "fc" else np.zeros(a.shape)
            for (a, b), (c, d) in zip(near, far, strict=True)]


def numeric_gradient(function: Callable[..., Any], xs: Sequence[Any], k: int,
                     step: float = 1e-5) -> np.ndarray:
    """Return the gradient of a scalar function by its k-th argument, by central differences."""
    x = np.asarray(xs[k], dtype=float)
    result = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        direction = np.zeros(x.shape)
        direction[index] = 1.0
        vs = [direction if j == k else None for j in range(len(xs))]
        (result[index],) = directional(function, [np.asarray(a, float) if j == k else a
                                                  for j, a in enumerate(xs)], vs, step)
    return result


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return a function's result for copies of arguments, or its error."""
    try:
        return function(*copy.deepcopy(args))
    except Exception as e:
        return e


def random_like(rng: np.random.Generator, x: Any) -> np.ndarray:
    """Return normal random numbers of an array's shape and dtype."""
    x = np.asarray(x)
    result = rng.standard_normal(x.shape)
    if x.dtype.kind == "c":
        result = result + 1j * rng.standard_normal(x.shape)
    return result.astype(x.dtype)
