"""Windows, Vandermonde matrices and `np.array_equal` are NumPy's for every size, also 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit

WINDOWS = (np.hanning, np.hamming, np.blackman, np.bartlett)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: w.__name__)
def test_windows(window: Any, n: int) -> None:
    x = np.arange(1.0, n + 1)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda x: x * window(len(x)))(x)
    np.testing.assert_allclose(found, x * window(n), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("columns", [None, 0, 1, 2, 4])
@pytest.mark.parametrize("dtype", [float, int, np.float32])
def test_vandermonde_matrices(dtype: Any, columns: int | None, increasing: bool) -> None:
    function = tracejit.jit(lambda x: np.vander(x, columns, increasing))
    with tracejit.config(disable_jit=True):
        for n in (0, 1, 3, 6):
            x = np.arange(n).astype(dtype)
            expected = np.vander(x, columns, increasing)
            assert function(x).dtype == expected.dtype
            np.testing.assert_array_equal(function(x), expected)


@pytest.mark.parametrize("increasing", [False, True])
def test_there_is_no_matrix_of_fewer_columns_than_none(increasing: bool) -> None:
    for f in (lambda x, n: np.vander(x, -1, increasing), lambda x, n: np.vander(x, n, increasing)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError, match="negative"):
            tracejit.jit(f)(np.ones(3), -1)


PAIRS = [(np.ones(3), np.ones(3)), (np.ones(3), np.ones(4)), (np.ones(3), np.zeros(3)),
         (np.array([np.nan]), np.array([np.nan])), (np.ones((1, 3)), np.ones(3)),
         (np.ones(0), np.ones(0)), (np.ones(1), np.ones(3)), (np.arange(3), np.arange(3.0))]


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_equal_arrays(a: np.ndarray, b: np.ndarray, equal_nan: bool) -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda a, b: np.array_equal(a, b, equal_nan=equal_nan))(a, b)
    assert found is np.array_equal(a, b, equal_nan=equal_nan)
