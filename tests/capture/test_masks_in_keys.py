"""Masks in keys beside other parts: values, derivatives and errors are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit

ROWS, COLUMNS = np.array([True, False, True, True]), np.array([True, False, True])
GRID = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]], bool)
ONE = np.array([False, True, False, False])
A = np.arange(12.0).reshape(4, 3) * 0.3 - 1.1
T = np.arange(24.0).reshape(2, 4, 3) * 0.1 - 0.95

KEYS: dict[str, tuple[Any, Any]] = {
    "grid": (GRID, A), "rows": (ROWS, A), "rows, all": ((ROWS, slice(None)), A),
    "columns": ((slice(None), COLUMNS), A), "rows, one": ((ROWS, 0), A), "last": ((ROWS, -1), A),
    "one, columns": ((0, COLUMNS), A), "rows, list": ((ROWS, [0, 1, 2]), A),
    "two masks": ((ROWS, np.ones(3, bool)), A), "ix_": (np.ix_(ROWS, COLUMNS), A),
    "ix_ of a list": (np.ix_(ROWS, [0, 2]), A), "rows, None": ((ROWS, None), A),
    "None, grid": ((None, GRID), A), "list of bools": ([True, False, False, True], A),
    "tuple of lists": (([True, False, True, True], [0, 1, 2]), A),
    "slice": ((ROWS, slice(1, None)), A),
    "backwards": ((ROWS, slice(None, None, -1)), A), "against": ((ROWS, np.array([[0], [1]])), A),
    "one row, columns": ((ONE, COLUMNS), A), "..., columns": ((..., COLUMNS), T),
    "all, grid": ((slice(None), GRID), T), "one, grid": ((0, GRID), T),
    "all, rows": ((slice(None), ROWS), T), "all, rows, one": ((slice(None), ROWS, 0), T),
    "apart": ((np.array([True, False]), slice(None), COLUMNS), T),
    "list, rows": (([0, 1, 1], ROWS), T), "none": (np.zeros((4, 3), bool), A),
}
WRONG = {"sizes": ((ROWS, COLUMNS), A), "list": ((ROWS, [0, 1]), A),
         "lists": (([0, 1, 2], [0, 1]), A), "size": (COLUMNS, A),
         "axes": (np.ones((4, 3, 2), bool), A), "grid": (np.ones((4, 2), bool), A)}


def _put(key: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[key] = x.reshape(-1)[1] * 3.0
        y[key] *= x.reshape(-1)[2]
        return y

    return f


@pytest.mark.parametrize("name", KEYS)
def test_reads_and_writes_are_numpys(name: str) -> None:
    key, x = KEYS[name]
    with tracejit.config(disable_jit=True):
        for f in (lambda x: x[key] * 2.0, _put(key)):
            wanted = f(x)
            found = tracejit.jit(f)(x)
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
            weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape)

            def total(x: Any, f: Any = f, weights: Any = weights) -> Any:
                return np.sum(weights * f(x))

            assert_close(tracejit.grad(total)(x), numeric_gradient(total, [x], 0, 1e-6), 1e-7)


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_numpys(name: str) -> None:
    key, x = WRONG[name]
    for f in (lambda x: x[key], _put(key)):
        with pytest.raises(IndexError) as plain:
            f(x)
        with tracejit.config(disable_jit=True), pytest.raises(IndexError) as found:
            tracejit.jit(f)(x)
        assert str(found.value).partition("\n")[0].strip() == str(plain.value).strip()
