"""Int arguments that make sizes 0 or negative in one call and not in the next: NumPy's results.

One compiled function is called with ints of both signs. What is empty in one of the calls is as
empty as an argument without elements, in compiled code too, where no reference raises the errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

FOLDS: dict[str, Callable[..., Any]] = {
    "max": np.max, "min": np.min, "ptp": np.ptp, "argmax": np.argmax, "argmin": np.argmin,
    "nanmax": np.nanmax, "reduce": np.maximum.reduce, "logaddexp": np.logaddexp.reduce,
    "largest norm": lambda x: np.linalg.norm(x, np.inf), "with initial": lambda x: np.max(
        x, initial=-1.0), "of rows": lambda x: np.argmax(np.outer(x, np.ones(2)), axis=0),
    "of complex": lambda x: np.argmax(x * 1j), "of bools": lambda x: np.argmin(x > 1.5),
    "resize": lambda x: np.resize(x, 3), "bincount": lambda x: np.bincount(x.astype(int)),
}
"""What has no result of an empty array, or another one than of numbers."""

SHAPES: dict[str, Callable[[Any, int], Any]] = {
    "edge": lambda x, n: np.pad(x, n, mode="edge"),
    "reflect": lambda x, n: np.pad(x, (0, n), mode="reflect"),
    "mean of few": lambda x, n: np.pad(x, 2, mode="mean", stat_length=n),
    "vander": lambda x, n: np.vander(x, n),
    "resize": lambda x, n: np.resize(x, (n, 2)),
    "reshape": lambda x, n: x.reshape(n, 2),
    "set a shape": lambda x, n: np.outer(x, x).reshape((2, n, 4)),
    "fftfreq": lambda x, n: np.fft.fftfreq(n),
    "diag_indices": lambda x, n: np.diag_indices(n)[0],
    "unravel_index": lambda x, n: np.unravel_index(2, (n, 2))[0],
    "polyder": lambda x, n: np.polyder(x, n),
    "reduceat": lambda x, n: np.add.reduceat(x, [0, n]),
    "int power": lambda x, n: 2 ** -n * x,
    "sign of powers": lambda x, n: (-1) ** n * x,
    "pow": lambda x, n: pow(n, n) * x,
}


def _outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return np.asarray(f(*args))
    except (ValueError, IndexError, ZeroDivisionError) as e:
        return type(e)


def _check(f: Callable[..., Any], calls: tuple[int, ...], interpreted: bool) -> None:
    x = np.array([1.0, 2.0, 3.0, 5.0])
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=interpreted), np.errstate(all="ignore"):
        for n in calls:
            expected, found = _outcome(f, x, n), _outcome(compiled, x, n)
            if isinstance(expected, type):
                assert found is expected, (n, found)
            else:
                assert not isinstance(found, type), (n, found)
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_folds_of_what_an_int_empties(name: str, interpreted: bool) -> None:
    fold = FOLDS[name]
    _check(lambda x, n: fold(x[:n]), (3, 0, 1), interpreted)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_folds_of_what_is_always_empty(name: str) -> None:
    fold = FOLDS[name]
    _check(lambda x, n: fold(x[:0]), (0,), False)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shapes_by_ints_of_both_signs(name: str, interpreted: bool) -> None:
    _check(SHAPES[name], (2, 0, -1, 1, -5), interpreted)


def test_a_size_that_is_left_open_by_an_argument_has_a_gradient() -> None:
    gradient = tracejit.grad(lambda x, n: np.sum(x.reshape(n, 2)[:, 0] * 2.0 ** -n))
    for n in (2, -1):
        expected = np.array([1.0, 0.0, 1.0, 0.0]) / 2.0 ** n
        np.testing.assert_allclose(gradient(np.ones(4), n), expected)
