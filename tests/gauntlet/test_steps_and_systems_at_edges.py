"""Ranges with steps of nothing, lines through one number, systems and rows that are not finite.

Each is NumPy's or SciPy's result or error, or is refused at the line of the call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.sparse
import scipy.sparse.linalg as sl
import scipy.stats
from test_scipy_of_every_dtype import difference, outcome

import tracejit


def _in_all_ways(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the outcome of a captured function, and that of the function as it is."""
    def called(g: Callable[..., Any]) -> Any:
        try:
            with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
                return g(*args)
        except Exception as e:
            return e

    return called(tracejit.jit(f)), called(f)


NUMBERS = (0, 5, -3, 0.0, -0.0, 5.0, 0.5, np.inf, np.nan)


@pytest.mark.parametrize("step", NUMBERS)
@pytest.mark.parametrize("stop", NUMBERS)
def test_ranges_of_arrays_have_numpys_errors(stop: float, step: float) -> None:
    for f, args in ((lambda a, b: np.arange(0, a, b), (stop, step)),
                    (lambda a: np.arange(0, a, step), (stop,)),
                    (lambda b: np.arange(stop, 1.0, b), (step,))):
        found, expected = _in_all_ways(f, args)
        assert difference(found, expected) == "" or isinstance(expected, MemoryError)
        if isinstance(expected, ZeroDivisionError):
            assert type(found) is ZeroDivisionError


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("first", "second"), list(itertools.product([1, 2, 3, 4], repeat=2)))
def test_a_line_through_one_number_is_scipys(first: int, second: int) -> None:
    x, y = np.arange(first) / 3.0, np.sqrt(np.arange(1.0, 1.0 + second))
    f = lambda x, y: tuple(scipy.stats.linregress(x, y))  # noqa: E731
    ours, theirs = outcome(f, (x, y), True), outcome(f, (x, y), False)
    assert difference(ours, theirs, False, 1e-12) == ""
    assert not isinstance(ours, tracejit.Refusal)


MATRIX = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.5, 0.0, 4.0]])
SYSTEMS: dict[str, Callable[..., Any]] = {
    "splu": lambda a, b: sl.splu(scipy.sparse.csc_array(a)).solve(b),
    "splu, turned": lambda a, b: sl.splu(scipy.sparse.csc_array(a)).solve(b, "T"),
    "factorized": lambda a, b: sl.factorized(scipy.sparse.csc_array(a))(b),
    "spsolve": lambda a, b: sl.spsolve(scipy.sparse.csr_array(a), b)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", np.argwhere(MATRIX).tolist(), ids=str)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_of_numbers_that_are_not_finite_are_scipys(name: str, place: list[int],
                                                           number: float) -> None:
    a, b = MATRIX.copy(), np.array([1.0, -2.0, 3.0])
    a[tuple(place)] = number
    ours, theirs = (outcome(SYSTEMS[name], (a, b), captured) for captured in (True, False))
    assert difference(ours, theirs, False, 1e-12) == ""
    if np.isnan(number):
        assert not isinstance(ours, tracejit.Refusal)
    else:
        assert not isinstance(ours, tracejit.Refusal) or "with infinities" in str(ours)


def test_factors_of_nan_are_an_error_where_they_are_made() -> None:
    def f(a: np.ndarray) -> Any:
        sl.splu(scipy.sparse.csc_array(a))
        return np.sum(a)

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(MATRIX) == np.sum(MATRIX)
        with pytest.raises(RuntimeError, match="Factor is exactly singular"):
            tracejit.jit(f)(MATRIX * np.nan)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_transforms_of_infinities_are_refused(name: str, kind: int) -> None:
    transform = getattr(scipy.fft, name)
    for size, number in itertools.product((1, 3, 4, 5), (np.inf, -np.inf, np.nan, 0.5)):
        x = np.linspace(1.0, 2.0, size)
        x[size // 2] = number
        ours, theirs = (outcome(lambda x: transform(x, kind), (x,), captured)
                        for captured in (True, False))
        assert difference(ours, theirs, False, 1e-12) == ""
        met = np.isinf(number) or (kind == 1 and "s" in name and np.isnan(number))
        if met and not isinstance(theirs, Exception):
            assert "infinities" in str(ours)
        else:
            assert not isinstance(ours, tracejit.Refusal)
