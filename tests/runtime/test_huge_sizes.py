"""An array of more bytes than there are is NumPy's error or a `MemoryError`, never a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import tracejit


@pytest.mark.parametrize("kind", ["by numbers", "constant"])
def test_an_array_that_does_not_fit_is_an_error(kind: str) -> None:
    path = Path(__file__).with_name("huge_sizes.py")
    done = subprocess.run([sys.executable, str(path), kind], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_empty_arrays_of_long_axes_are_numpys() -> None:
    def f(x: np.ndarray, n: int, m: int) -> tuple[np.ndarray, ...]:
        e = x[:0]
        return (np.zeros((0, n)).reshape(m, 0), e.reshape(n, 0).T.reshape(0, m),
                np.broadcast_to(e, (n, 0)), np.tile(e, (n, m)), np.repeat(np.repeat(e, n), m),
                np.outer(e, x))

    x = np.ones(3)
    for n, m in ((2, 5), (2 ** 40, 2 ** 30)):
        for found, wanted in zip(tracejit.jit(f)(x, n, m), f(x, n, m), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_njit_code_has_the_error_too() -> None:
    total = tracejit.jit(lambda x, n, m: np.sum(np.ones((n, m)) * x[0]))
    least = tracejit.jit(lambda x, n, m: np.sort(np.ones((n, m)) * x[0], axis=None)[0])

    @numba.njit
    def f(x: np.ndarray, n: int, m: int, k: int) -> float:
        return total(x, n, m) if k else least(x, n, m)

    x = np.ones(3)
    for k, wanted in ((0, 1.0), (1, 6.0)):
        assert f(x, 2, 3, k) == wanted
        with pytest.raises(MemoryError, match="needs 4611686018427387904 bytes"):
            f(x, 2 ** 40, 2 ** 30, k)
