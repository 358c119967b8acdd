"""`np.mgrid` and `np.ogrid` of sizes and traced ends: NumPy's numbers, dtypes and shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

KEYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "one size": lambda n, a, s: slice(0, n),
    "one size, a step": lambda n, a, s: slice(1, n, 2),
    "one size, backwards": lambda n, a, s: slice(n, -2, -1),
    "one size as one axis": lambda n, a, s: (slice(None, n),),
    "one float step": lambda n, a, s: slice(0, n, 0.5),
    "as many numbers": lambda n, a, s: slice(0.5, a, 5j),
    "as many numbers of ints": lambda n, a, s: slice(0, n, 4j),
    "one number": lambda n, a, s: (slice(a, 3.0, 1j), slice(0, n)),
    "two sizes": lambda n, a, s: (slice(None, n), slice(None, n + 1)),
    "three": lambda n, a, s: (slice(0, n), slice(1, n, 2), slice(0, 2)),
    "ints and floats": lambda n, a, s: (slice(0, n), slice(0, a, 3j)),
    "a float start": lambda n, a, s: (slice(0, n), slice(a, a + 2.0, 3j)),
    "a float32": lambda n, a, s: (slice(s, s + s, 3j), slice(0, n)),
    "an array's number": lambda n, a, s: (slice(a, 4.0 * a, 4j), slice(a, -a, 3j)),
    "no numbers": lambda n, a, s: (slice(n, n), slice(0, n)),
}
N, A, S = 4, 1.7, np.float32(0.3)


@pytest.mark.parametrize("how", KEYS)
@pytest.mark.parametrize("grid", ["mgrid", "ogrid"])
def test_grids_are_numpys(grid: str, how: str) -> None:
    key = KEYS[how]

    def f(x: np.ndarray, a: float, s: Any) -> Any:
        return getattr(np, grid)[key(x.shape[0], a, s)]

    expected = f(np.zeros(N), A, S)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(f)(np.zeros(N), A, S)
    assert type(found) is type(expected)
    for x, e in zip(found, expected, strict=True):
        assert np.asarray(x).dtype == np.asarray(e).dtype
        np.testing.assert_array_equal(x, e)


def test_slopes_of_ends_at_all_sizes() -> None:
    def f(x: np.ndarray, a: float) -> float:
        rows, columns = np.mgrid[:x.shape[0], 0:a:3j]
        return float(np.sum(rows * columns ** 2 * x[:, None]))

    slope = tracejit.grad(f, argnums=1)
    for n in (2, 3, 5):
        x = np.arange(1.0, n + 1.0)
        expected = (f(x, A + 1e-6) - f(x, A - 1e-6)) / 2e-6
        assert slope(x, A) == pytest.approx(expected, rel=1e-8)


def test_an_index_that_is_no_slice_is_refused() -> None:
    def f(x: np.ndarray) -> Any:
        return np.mgrid[:x.shape[0], x.shape[0]]

    with pytest.raises(tracejit.Refusal, match=r"np\.mgrid with an index that is no slice"):
        tracejit.jit(f)(np.zeros(3))
