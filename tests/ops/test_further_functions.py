"""Functions of SciPy in tables of cases: its values, types, first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from image_cases import IMAGE_CASES
from interpolator_cases import INTERPOLATOR_CASES
from matrix_cases import MATRIX_CASES
from second_differences import assert_second_derivatives_are_differences
from solver_cases import SOLVER_CASES
from statistics_cases import STATISTICS_CASES
from system_cases import SYSTEM_CASES
from test_numpy_cases import check_case, leaves

import tracejit

FURTHER_CASES: dict[str, list[tuple[Any, ...]]] = {
    **SYSTEM_CASES, **MATRIX_CASES, **IMAGE_CASES, **SOLVER_CASES, **INTERPOLATOR_CASES,
    **STATISTICS_CASES}

PLACES = [(name, k) for name, cases in FURTHER_CASES.items() for k in range(len(cases))]
NOT_SMOOTH = ("minimum_phase", "rosen_hess", "rosen_hess_prod", "pade", "fligner", "tukey_hsd",
              "binned_statistic_dd", "ks_1samp", "bayes_mvs")
"""Functions with kinks that are tiny, without derivatives, or whose numbers are too large for the
differences; `tukey_hsd` is a studentized range, of which kernels take minutes to compile."""


def _is_real(args: tuple[Any, ...]) -> bool:
    return all(type(x) is float or getattr(x, "dtype", None) == np.float64 for x in args)


SMOOTH = [name for name, cases in FURTHER_CASES.items()
          if _is_real(cases[0][1:]) and name.rpartition(".")[2] not in NOT_SMOOTH]


def total_of(name: str) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a number made of all results of a function's first case, and its arguments."""
    fn, *args = FURTHER_CASES[name][0]

    def total(*xs: Any) -> Any:
        found = 0.0
        for k, result in enumerate(leaves(fn(*xs))):
            y = np.asarray(result)  # Python's numbers, too
            if y.dtype.kind == "c":
                found = found + np.sum(np.sin(np.real(y) + k)) + np.sum(np.cos(np.imag(y)))
            elif y.dtype.kind == "f":
                found = found + np.sum(np.sin(y + k))
        return found

    return total, [np.array(x) for x in args]


@pytest.mark.filterwarnings("ignore:As of SciPy")
@pytest.mark.parametrize(("name", "place"), PLACES)
def test_values_types_and_derivatives_are_scipys(name: str, place: int) -> None:
    fn, *args = FURTHER_CASES[name][place]
    with tracejit.config(disable_jit=True):
        check_case(fn, tuple(args))


@pytest.mark.filterwarnings("ignore:As of SciPy")
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_are_differences(name: str) -> None:
    assert_second_derivatives_are_differences(*total_of(name))


@pytest.mark.filterwarnings("ignore:As of SciPy")
@pytest.mark.parametrize("name", SMOOTH)
def test_kernels_have_the_interpreters_values(name: str) -> None:
    total, args = total_of(name)
    by = tracejit.value_and_grad(total, argnums=tuple(range(len(args))))
    value, gradients = by(*args)
    with tracejit.config(disable_jit=True):
        expected, of_each = by(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    for found, wanted in zip(gradients, of_each, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
