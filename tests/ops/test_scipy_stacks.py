"""Functions of matrices in `scipy.linalg` on stacks: SciPy's values, derivatives of each one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl

import tracejit

pytestmark = pytest.mark.skipif(
    tuple(map(int, version("scipy").split(".")[:2])) < (1, 15), reason="SciPy 1.14 has no stacks")
RNG = np.random.default_rng(5)


def of(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def of_symmetric(solve: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b, q: solve(a, b, 0.5 * (q + np.swapaxes(q, -1, -2)), np.eye(2))


MATRICES = of(2, 3, 3) + 2.0 * np.eye(3)
DEEP = of(2, 1, 3, 3) + 2.0 * np.eye(3)
DEFINITE = MATRICES @ MATRICES.transpose(0, 2, 1)
BANDS = np.stack([of(2, 4), 4.0 + of(2, 4) ** 2], axis=1)
THREE = np.stack([of(2, 4), 4.0 + of(2, 4), of(2, 4)], axis=1)

CASES: dict[str, tuple[Any, ...]] = {
    "eig_banded values": (lambda a: sl.eig_banded(a, eigvals_only=True), BANDS),
    "eig_banded": (lambda a: [np.abs(x) for x in sl.eig_banded(a)], BANDS),
    "eigvals_banded": (sl.eigvals_banded, BANDS),
    "eigh_tridiagonal": (lambda d, e: [np.abs(x) for x in sl.eigh_tridiagonal(d, e)],
                         of(2, 4), of(3, 1, 3)),
    "eigvalsh_tridiagonal": (sl.eigvalsh_tridiagonal, of(2, 4), of(3)),
    "hessenberg": (lambda a: sl.hessenberg(a, calc_q=True), of(2, 4, 4)),
    "hessenberg alone": (sl.hessenberg, of(2, 2, 4, 4)),
    "schur": (lambda a: [np.abs(x) for x in sl.schur(a)], DEFINITE + np.triu(0.1 * MATRICES)),
    "polar": (sl.polar, MATRICES), "polar left": (lambda a: sl.polar(a, "left"), DEEP),
    "lstsq": (lambda a, b: sl.lstsq(a, b)[0], of(2, 4, 3), of(4)),
    "lstsq all": (lambda a, b: list(sl.lstsq(a, b))[:2], of(2, 1, 4, 3), of(3, 4, 2)),
    "khatri_rao": (sl.khatri_rao, of(2, 3, 2), of(4, 1, 2, 2)),
    "expm_frechet": (sl.expm_frechet, MATRICES, of(3, 3)),
    "expm_frechet alone": (lambda a, e: sl.expm_frechet(a, e, compute_expm=False), MATRICES, DEEP),
    "orthogonal_procrustes": (sl.orthogonal_procrustes, MATRICES, MATRICES[::-1] + 0.3),
    "subspace_angles": (sl.subspace_angles, of(2, 4, 2), of(4, 2)),
    "pinvh": (sl.pinvh, DEFINITE), "signm": (sl.signm, MATRICES),
    "fractional_matrix_power": (lambda a: sl.fractional_matrix_power(a, 0.5), DEFINITE),
    "companion": (sl.companion, of(2, 4) + 3.0), "fiedler": (sl.fiedler, of(2, 1, 3)),
    "circulant": (sl.circulant, of(2, 3)), "toeplitz": (sl.toeplitz, of(2, 3), of(4)),
    "toeplitz of columns": (sl.toeplitz, of(2, 3)),
    "matmul_toeplitz": (lambda c, x: sl.matmul_toeplitz(c, x), of(2, 3), of(3, 2)),
    "solve_toeplitz": (lambda c, r, b: sl.solve_toeplitz((c + 4.0 * np.eye(3)[0], r), b),
                       of(2, 3), of(3), of(3)),
    "solve_banded": (lambda a, b: sl.solve_banded((1, 1), a, b), THREE, of(4)),
    "solveh_banded": (sl.solveh_banded, BANDS, of(4, 2)),
    "lu_solve": (lambda a, b: sl.lu_solve(sl.lu_factor(a), b), MATRICES, of(3)),
    "solve_sylvester": (sl.solve_sylvester, MATRICES, DEEP, of(3, 3)),
    "solve_continuous_lyapunov": (sl.solve_continuous_lyapunov, MATRICES, DEFINITE),
    "solve_discrete_lyapunov": (lambda a, q: sl.solve_discrete_lyapunov(0.2 * a, q),
                                MATRICES, DEFINITE),
    "solve_continuous_are": (of_symmetric(sl.solve_continuous_are), MATRICES, of(3, 2), DEFINITE),
    "solve_discrete_are": (of_symmetric(sl.solve_discrete_are), MATRICES, of(3, 2), DEFINITE),
    "funm": (lambda a: sl.funm(a, lambda w: w * np.sin(w)), DEFINITE),
    "eigh": (lambda a, b: [np.abs(x) for x in sl.eigh(a, b)], DEFINITE, DEFINITE[0] + np.eye(3)),
    "svd": (lambda a: [np.abs(x) for x in sl.svd(a)], DEEP),
    "qr": (lambda a: [np.abs(x) for x in sl.qr(a)], MATRICES),
}


def leaves(found: object) -> list[np.ndarray]:
    return [np.asarray(x) for x in found] if isinstance(found, (list, tuple)) else [
        np.asarray(found)]


def loss_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a number that depends on each element of the results in another way."""
    def loss(*arrays: np.ndarray) -> Any:
        found = function(*arrays)
        total = 0.0
        for part in found if isinstance(found, (list, tuple)) else (found,):
            weights = np.cos(np.arange(np.size(part)) + 1.0).reshape(np.shape(part))
            total = total + np.sum(weights * part)
        return total

    return loss


def along(function: Callable[..., Any], at: tuple[np.ndarray, ...],
          way: tuple[np.ndarray, ...]) -> Any:
    """Return the derivative along a direction by differences of fourth order."""
    step = 2e-4

    def moved(by: float) -> Any:
        return function(*(x + by * step * v for x, v in zip(at, way, strict=True)))

    return (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step)


@pytest.mark.parametrize("case", list(CASES))
def test_a_stack_has_scipys_values(case: str) -> None:
    function, *arrays = CASES[case]
    expected = function(*arrays)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(function)(*arrays)
    assert type(found) is type(expected)
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("case", list(CASES))
def test_a_stack_has_the_derivatives_of_differences(case: str) -> None:
    function, *arrays = CASES[case]
    loss, at = loss_of(function), tuple(arrays)
    way = tuple(np.sin(np.arange(x.size) + 1.0).reshape(x.shape) for x in at)
    places = tuple(range(len(at)))

    def slope(*given: np.ndarray) -> Any:
        with tracejit.config(disable_jit=True):
            gradients = tracejit.grad(loss, argnums=places)(*given)
        return sum(np.sum(g * v) for g, v in zip(gradients, way, strict=True))

    first = along(loss, at, way)
    assert slope(*at) == pytest.approx(first, rel=1e-6, abs=1e-7)
    with tracejit.config(disable_jit=True):
        _, seconds = tracejit.jvp(tracejit.grad(loss, argnums=places), at, way)
    second = sum(np.sum(g * v) for g, v in zip(seconds, way, strict=True))
    assert second == pytest.approx(along(slope, at, way), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("case", ["eig_banded", "polar", "lstsq", "orthogonal_procrustes"])
def test_compiled_stacks_are_those_of_a_loop(case: str) -> None:
    function, *arrays = CASES[case]

    def one_by_one(first: np.ndarray, *rest: np.ndarray) -> Any:
        total = 0.0
        for k in range(len(first)):
            total = total + loss_of(function)(
                first[k:k + 1], *(x[k:k + 1] if x.ndim > 2 else x for x in rest))
        return total

    def at_once(first: np.ndarray, *rest: np.ndarray) -> Any:
        total = 0.0
        for part in leaves_of(function(first, *rest)):
            weights = np.cos(np.arange(np.size(part[0])) + 1.0).reshape(np.shape(part[0]))
            total = total + np.sum(weights * part)
        return total

    def leaves_of(found: Any) -> Any:
        return found if isinstance(found, (list, tuple)) else (found,)

    np.testing.assert_allclose(tracejit.grad(at_once)(*arrays),
                               tracejit.grad(one_by_one)(*arrays), rtol=1e-9, atol=1e-10)


EMPTY = ["eig_banded", "eigvalsh_tridiagonal", "hessenberg", "schur", "polar", "lstsq",
         "khatri_rao", "expm_frechet", "orthogonal_procrustes", "companion", "fiedler",
         "circulant", "toeplitz", "solve_sylvester", "solve_discrete_are", "eigh", "svd", "qr"]


@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_stack_is_scipys(case: str) -> None:
    function, *arrays = CASES[case]
    none = [np.zeros((0, *arrays[0].shape[1:])),
            *(x[0] if x.shape == arrays[0].shape else x for x in arrays[1:])]
    try:
        expected: object = np.shape(function(*none))
    except ValueError as error:
        expected = str(error).replace("`_", "`")  # of a function that this one calls
    with tracejit.config(disable_jit=True):
        try:
            found: object = np.shape(tracejit.jit(function)(*none))
        except ValueError as error:
            found = str(error).split(" (at ")[0]
    assert found == expected
