"""Bases, Schur's and Hessenberg's form, bands: edges, second derivatives, what has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from linalg_cases import (
    BAND,
    BESIDE,
    FIVE,
    LINALG_CASES,
    MAIN,
    POSITIVE,
    TALL,
    TURNED,
    WIDE,
    of_space,
    sizes_of,
)
from test_numpy_cases import assert_identical, check_case

import tracejit


def _sum(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a number that depends on all of a function's results."""

    def total(*args: Any) -> Any:
        found = fn(*args)
        parts = found if isinstance(found, tuple) else (found,)
        s = 0.0
        for k, part in enumerate(parts):
            weights = np.cos(np.arange(part.size) + k).reshape(part.shape)
            s = s + np.sum(weights * part ** 2)
        return s

    return total


SECOND = [(name, lambda a, fn=fn, rest=tuple(rest): fn(a, *rest), x)
          for name, cases in LINALG_CASES.items() if name != "eigh_tridiagonal"
          for fn, x, *rest in cases if x.dtype == np.float64]


@pytest.mark.parametrize("case", SECOND, ids=[f"{name}-{k}" for k, (name, *_) in
                                              enumerate(SECOND)])
def test_the_derivative_of_the_gradient_is_the_differences(case: Any) -> None:
    _, fn, x = case
    direction = np.random.default_rng(5).standard_normal(x.shape)
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(_sum(fn))
        found = tracejit.grad(lambda a: np.sum(gradient(a) * direction))(x)
        h = 1e-4
        near, far = ([gradient(x + k * h * direction) for k in pair] for pair in ((1, -1), (2, -2)))
    wanted = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * h)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize("output", ["real", "complex"])
def test_of_complex_schur_forms_what_phases_leave_has_a_gradient(output: str) -> None:
    with tracejit.config(disable_jit=True):
        check_case(lambda a: sizes_of(scipy.linalg.schur(a, output)), (TURNED,), forward=False)
        check_case(lambda a: np.abs(scipy.linalg.schur(a, "complex")[0]), (FIVE,), forward=False)


@pytest.mark.parametrize(("fn", "x", "words"), [
    (lambda a: np.sum(scipy.linalg.schur(a)[0].real), TURNED, "phases"),
    (lambda a: np.sum(scipy.linalg.schur(a)[1] ** 3), np.diag([1.0, 1.0, 2.0]), "are equal"),
    (lambda a: np.sum(scipy.linalg.null_space(a) ** 3), WIDE[:2], "complement"),
    (lambda a: np.sum(scipy.linalg.hessenberg(a) ** 3), np.diag([1.0, 2.0, 3.0]), "reflection"),
    (lambda a: np.sum(scipy.linalg.eig_banded(a)[1] @ [1.0, 3.0]), np.array([[0.0] * 2, [1.0] * 2]),
     "are equal")])
def test_a_derivative_that_does_not_exist_is_an_error(fn: Any, x: Any, words: str) -> None:
    with (tracejit.config(disable_jit=True),
          pytest.raises(np.linalg.LinAlgError, match=words)):
        tracejit.grad(fn)(x)


LOW = TALL[:, :2] @ WIDE[:2]


def test_the_space_of_a_matrix_of_low_rank_moves_as_the_matrix_does() -> None:
    """Along directions that keep the rank, of which the ends are of low rank, too."""
    for basis in (scipy.linalg.orth, scipy.linalg.null_space):
        def of_factors(b: Any, c: Any, basis: Any = basis) -> Any:
            return of_space(basis(b @ c, rcond=1e-9))

        with tracejit.config(disable_jit=True):
            check_case(of_factors, (TALL[:, :2].copy(), WIDE[:2].copy()))


EDGES: list[tuple[Any, ...]] = [
    (scipy.linalg.orth, LOW), (scipy.linalg.orth, np.zeros((3, 2))), (scipy.linalg.orth, np.eye(3)),
    (scipy.linalg.null_space, np.zeros((2, 3))), (scipy.linalg.null_space, np.eye(2)),
    (lambda a: of_space(scipy.linalg.null_space(a)), LOW), (scipy.linalg.orth, [[1, 2], [3, 4]]),
    (scipy.linalg.pinvh, np.zeros((3, 3))), (scipy.linalg.pinvh, LOW @ LOW.T),
    (scipy.linalg.pinvh, np.array([[2.0]])), (scipy.linalg.pinvh, np.array([[2, 1], [1, 3]])),
    (scipy.linalg.schur, np.eye(3)), (scipy.linalg.schur, np.zeros((2, 2))),
    (scipy.linalg.schur, np.array([[1, 2], [3, 4]])), (scipy.linalg.schur, np.triu(FIVE)),
    (lambda a: scipy.linalg.schur(a, "complex"), np.eye(2, dtype=np.float32)),
    *((lambda a: scipy.linalg.hessenberg(a, True), x) for x in (
        np.eye(4), np.zeros((3, 3)), np.triu(FIVE), np.arange(9).reshape(3, 3), np.eye(2),
        np.array([[1, 2], [3, 4]]), np.tril(TURNED), np.eye(1))),
    (scipy.linalg.eig_banded, np.ones((1, 3))), (scipy.linalg.eig_banded, np.zeros((2, 3))),
    (scipy.linalg.eig_banded, np.array([[0, 1, 2], [3, 4, 5]])),
    (scipy.linalg.eigh_tridiagonal, np.ones(3), np.zeros(2)),
    (scipy.linalg.eigh_tridiagonal, np.array([1, 2, 3]), np.array([1, 1])),
    (scipy.linalg.eigh_tridiagonal, MAIN.astype(np.float32), BESIDE.astype(np.float32)),
]


@pytest.mark.parametrize("case", EDGES, ids=range(len(EDGES)))
def test_at_edges_values_are_scipys(case: tuple[Any, ...]) -> None:
    fn, *args = case
    arrays = [np.asarray(x) for x in args]
    with tracejit.config(disable_jit=True):
        assert_identical(tracejit.jit(lambda *xs: fn(*xs))(*arrays), fn(*arrays))


@pytest.mark.parametrize(("fn", "x"), [
    (scipy.linalg.schur, FIVE), (scipy.linalg.orth, TALL), (scipy.linalg.hessenberg, POSITIVE),
    (scipy.linalg.eig_banded, BAND), (scipy.linalg.eig_banded, BAND + 1j * BAND[::-1]),
    (lambda a: of_space(scipy.linalg.null_space(a)), WIDE)])
def test_compiled_forms_are_scipys(fn: Any, x: Any) -> None:
    assert_identical(tracejit.jit(lambda a: fn(a))(x), fn(x))


@pytest.mark.parametrize("fn", [
    scipy.linalg.pinvh, scipy.linalg.null_space, scipy.linalg.schur, scipy.linalg.hessenberg,
    scipy.linalg.eig_banded])
def test_numbers_that_are_not_finite_are_scipys_error(fn: Any) -> None:
    x = np.where(np.eye(3) == 1.0, np.nan, 1.0)
    with (tracejit.config(disable_jit=True),
          pytest.raises(ValueError, match="array must not contain infs or NaNs")):
        tracejit.jit(lambda a: fn(a))(x)


@pytest.mark.parametrize(("fn", "words"), [
    (lambda a: scipy.linalg.schur(a, sort="lhp"), "sort="),
    (lambda a: scipy.linalg.null_space(a, lapack_driver="gesvd"), "lapack_driver='gesvd'"),
    (lambda a: scipy.linalg.eig_banded(a, select="i", select_range=(0, 1)), "with select="),
    (lambda a: scipy.linalg.eigvals_banded(a, select="v", select_range=(0, 1)), "select='v'"),
    (lambda a: scipy.linalg.eigh_tridiagonal(a[0], a[1, 1:], lapack_driver="stemr"),
     "lapack_driver='stemr'")])
def test_what_is_not_supported_is_refused_by_name(fn: Any, words: str) -> None:
    with pytest.raises(tracejit.Refusal, match=words):
        tracejit.jit(lambda a: fn(a))(POSITIVE[:3, :3])
