"""Sizes below zero are errors as in NumPy, whether a size is constant, an argument or data's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

MAKES: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda x, n: np.zeros(n).sum() + x,
    "ones": lambda x, n: np.ones(n).sum() + x,
    "full": lambda x, n: np.full((2, n), x).sum(),
    "full of nothing": lambda x, n: np.full((0, n), x).sum(),
    "empty": lambda x, n: np.empty((n, 2)).size + x,
    "eye": lambda x, n: np.eye(n).sum() + x,
    "eye of columns": lambda x, n: np.eye(2, n).sum() + x,
    "identity": lambda x, n: np.identity(n).sum() + x,
    "tri": lambda x, n: np.tri(n).sum() + x,
    "indices": lambda x, n: np.indices((n, 2)).sum() + x,
    "arange": lambda x, n: np.arange(n).sum() + x,
    "linspace": lambda x, n: np.linspace(0.0, x, n).sum(),
    "geomspace": lambda x, n: np.geomspace(1.0, x + 1.0, n).sum(),
    "tile": lambda x, n: np.tile(x, n).sum(),
    "tile of rows": lambda x, n: np.tile(x * np.ones(3), (n, 2)).sum(),
    "repeat": lambda x, n: np.repeat(x * np.ones(3), n).sum(),
    "normal": lambda x, n: np.random.default_rng(3).normal(size=n).sum() + x,
    "in a loop": lambda x, n: sum(np.ones(n + k).sum() for k in range(2)) + x,
}


def _outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return f(*args)
    except ValueError as e:
        return type(e)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("make", MAKES)
def test_an_argument_below_zero_is_numpys_error(make: str, interpreted: bool) -> None:
    f = MAKES[make]
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=interpreted):
        for n in (3, -2, 0, -1, 2):
            expected = _outcome(f, 1.5, n)
            found = _outcome(compiled, 1.5, n)
            if isinstance(expected, type):
                assert found is expected
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [-2, 2])
@pytest.mark.parametrize("make", MAKES)
def test_a_constant_below_zero_is_numpys_error(make: str, n: int) -> None:
    f = MAKES[make]
    with tracejit.config(disable_jit=True):
        expected, found = _outcome(f, 1.5, n), _outcome(tracejit.jit(lambda x: f(x, n)), 1.5)
    assert found is expected or abs(found - expected) < 1e-12


@pytest.mark.parametrize("make", ["zeros", "full", "eye", "tile of rows", "repeat", "linspace"])
def test_a_size_of_data_below_zero_is_numpys_error(make: str) -> None:
    f = MAKES[make]
    compiled = tracejit.jit(lambda x, v: f(x, int(v)))
    with tracejit.config(disable_jit=True):
        for v in (3.2, -2.5, 0.0):
            expected, found = _outcome(f, 1.5, int(v)), _outcome(compiled, 1.5, v)
            assert found is expected or abs(found - expected) < 1e-12


def test_sizes_that_are_equal_in_one_call_are_not_in_all() -> None:
    compiled = tracejit.jit(lambda a, n: a + np.zeros(n))
    with tracejit.config(disable_jit=True):
        for size, n in ((4, 4), (1, 4), (4, 1), (1, 1)):
            assert compiled(np.ones(size), n).tolist() == [1.0] * max(size, n)
        with pytest.raises(ValueError, match="could not be broadcast"):
            compiled(np.ones(3), 4)
