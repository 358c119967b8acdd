"""Determinants of matrices of any rank: NumPy's values, and minors for derivatives."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import tracejit

pytestmark = pytest.mark.filterwarnings("ignore")

_RANDOM = np.random.default_rng(5)
_FULL = _RANDOM.normal(size=(5, 5))
MATRICES = {
    "proportional rows": np.array([[1.0, 2.0], [2.0, 4.0]]), "zeros": np.zeros((2, 2)),
    "more zeros": np.zeros((3, 3)), "ones": np.ones((3, 3)), "one zero": np.zeros((1, 1)),
    "a progression": np.arange(9.0).reshape(3, 3), "small": 1e-5 * np.arange(9.0).reshape(3, 3),
    "a zero on the diagonal": np.diag([2.0, 0.0, 1.0]), "identity": np.eye(3), "full": _FULL,
    "rank 4": _FULL @ np.diag([1.0, 2.0, 0.5, 3.0, 0.0]) @ _FULL.T,
    "rank 3": _FULL @ np.diag([1.0, 0.0, 0.5, 3.0, 0.0]) @ _FULL.T,
    "rank 3 and a small value": _FULL @ np.diag([1.0, 0.0, 1e-3, 3.0, 0.0]) @ _FULL.T,
    "of rows of many sizes": np.array([[1.0, 2.0], [1e-9, 3e-9]]),
    "complex": np.array([[1.0 + 1.0j, 2.0], [2.0j, 4.0j / (1.0 + 1.0j)]]),
    "complex zeros": np.zeros((3, 3), complex)}


def minors(a: np.ndarray) -> np.ndarray:
    """Return the cofactors of a matrix: determinants of what is left without a row and a column."""
    return np.array([[(-1.0) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
                      for j in range(len(a))] for i in range(len(a))])


def det(a: Any) -> Any:
    """Return a determinant's real part."""
    return np.real(np.linalg.det(a))


@pytest.mark.parametrize("name", MATRICES)
def test_the_derivatives_of_a_determinant_are_minors(name: str) -> None:
    a = MATRICES[name]
    size = max(float(np.abs(a).max()), 1e-5)
    weights = _RANDOM.normal(size=a.shape)
    step = 1e-3 * size
    with tracejit.config(disable_jit=True):
        first = tracejit.grad(det)(a)
        second = tracejit.grad(lambda a: np.sum(np.real(tracejit.grad(det)(a)) * weights))(a)
        forward = tracejit.jvp(det, (a,), (weights.astype(a.dtype),))[1]
    scale = size ** (len(a) - 1)
    np.testing.assert_allclose(first, np.conj(minors(a)), rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(forward, np.sum(np.real(minors(a)) * weights), rtol=1e-9,
                               atol=1e-11 * scale)
    for k in np.ndindex(a.shape):
        d = np.zeros_like(a)
        d[k] = step
        slope = np.sum((minors(a + d) - minors(a - d)).real * weights) / (2.0 * step)
        assert abs(second[k].real - slope) <= 1e-5 * abs(slope) + 1e-6 * size ** (len(a) - 2)


def exact_slopes(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the derivatives of the weighted sum of a matrix's cofactors, by exact arithmetic."""
    n = len(a)
    whole = [[Fraction(float(x)) for x in row] for row in a]
    found = np.zeros(a.shape, object)
    for order in permutations(range(n)):
        sign = (-1) ** sum(order[j] > order[i] for i in range(n) for j in range(i))
        for i in range(n):
            for k in range(n):
                if i == k:
                    continue
                rest = Fraction(sign)
                for row in set(range(n)) - {i, k}:
                    rest *= whole[row][order[row]]
                found[k, order[k]] += rest * Fraction(float(weights[i, order[i]]))
    return found.astype(float)


@pytest.mark.parametrize("away", [1e-16, 1e-13, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2])
def test_second_derivatives_next_to_a_singular_matrix_have_all_digits(away: float) -> None:
    for name in ("a progression", "rank 4", "rank 3", "rank 3 and a small value", "small"):
        a = MATRICES[name] + away * np.eye(len(MATRICES[name]))
        weights = _RANDOM.normal(size=a.shape)
        with tracejit.config(disable_jit=True):
            found = tracejit.grad(lambda a, w=weights: np.sum(tracejit.grad(det)(a) * w))(a)
            forward = tracejit.jvp(tracejit.grad(det), (a,), (weights,))[1]
        expected = exact_slopes(a, weights)
        for each in (found, forward):
            np.testing.assert_allclose(each, expected, rtol=1e-10,
                                       atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("disable_jit", [True, False])
def test_a_singular_matrix_has_numpys_determinants(disable_jit: bool) -> None:
    with tracejit.config(disable_jit=disable_jit):
        both = tracejit.jit(lambda a: (np.linalg.det(a), *np.linalg.slogdet(a)))
        slopes = tracejit.grad(lambda a: np.sum(np.real(np.linalg.det(a))))
        for name in ("proportional rows", "zeros", "ones", "full", "complex"):
            a = MATRICES[name]
            for x in (a, np.stack([a, np.eye(len(a)).astype(a.dtype)])):
                for found, expected in zip(both(x), (np.linalg.det(x), *np.linalg.slogdet(x)),
                                           strict=True):
                    np.testing.assert_allclose(found, expected, rtol=1e-12)
            np.testing.assert_allclose(slopes(a), np.conj(minors(a)), rtol=1e-12, atol=1e-14)
        single = slopes(np.ones((2, 2), np.float32))
        np.testing.assert_allclose(single, [[1.0, -1.0], [-1.0, 1.0]], rtol=1e-6)


@pytest.mark.parametrize("disable_jit", [True, False])
@pytest.mark.parametrize("function", [
    lambda a: np.linalg.inv(a), lambda a: np.linalg.solve(a, a), lambda a: (np.linalg.inv(a), a)[1],
    lambda a: tracejit.grad(lambda a: np.linalg.slogdet(a)[1])(a)])
def test_other_functions_of_a_singular_matrix_raise(function: Any, disable_jit: bool) -> None:
    with tracejit.config(disable_jit=disable_jit):
        captured = tracejit.jit(lambda a: function(a))
        captured(np.eye(2) + 1.0)
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            captured(np.ones((2, 2)))
