"""Factors and eigenvectors: where they are NumPy's, and their derivatives where two values meet."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from c_programs import call_from_c, undefined_symbols
from oracles import assert_close, assert_same, directional, numeric_gradient

import tracejit

RNG = np.random.default_rng(11)
G = RNG.normal(size=(3, 3))
A = RNG.normal(size=(4, 4))
LOW = RNG.normal(size=(4, 1)) @ RNG.normal(size=(1, 4))
LOW_SYMMETRIC = LOW @ LOW.T


def weighed(*results: Any) -> Any:
    """Return a sum over results, each element with a weight of its own."""
    total: Any = 0.0
    for k, x in enumerate(results):
        weights = np.cos(np.arange(float(np.prod(x.shape))).reshape(x.shape) + k)
        total = total + np.sum(weights * np.real(x)) + np.sum(np.sin(3.0 * weights) * np.imag(x))
    return total


FACTORS: dict[str, tuple[Callable[[Any], Any], tuple[int, int]]] = {
    "eigh": (lambda a: weighed(*np.linalg.eigh(a)), (4, 4)),
    "eigh U": (lambda a: weighed(*np.linalg.eigh(a, "U")), (4, 4)),
    "svd": (lambda a: weighed(*np.linalg.svd(a, full_matrices=False)), (4, 3)),
    "svd wide": (lambda a: weighed(*np.linalg.svd(a, full_matrices=False)), (3, 4)),
    "svd complement": (lambda a: weighed((lambda u: u[:, 2:] @ np.conj(u[:, 2:].T))(
        np.linalg.svd(a)[0])), (5, 2)),
    "svd null space": (lambda a: weighed((lambda v: np.conj(v[2:].T) @ v[2:])(
        np.linalg.svd(a)[2])), (2, 5)),
    "qr": (lambda a: weighed(*np.linalg.qr(a)), (4, 3)),
    "qr wide": (lambda a: weighed(*np.linalg.qr(a)), (3, 5)),
    "qr complement": (lambda a: weighed((lambda q: q[:, 2:] @ np.conj(q[:, 2:].T))(
        np.linalg.qr(a, "complete")[0])), (5, 2)),
    "pinv": (lambda a: weighed(np.linalg.pinv(a)), (4, 3)),
    "lstsq": (lambda a: weighed(np.linalg.lstsq(a, a[:, 0] * a[:, 1])[0]), (3, 5)),
    "inv": (lambda a: weighed(np.linalg.inv(a)), (4, 4)),
    "slogdet": (lambda a: weighed(*np.linalg.slogdet(a)), (4, 4)),
    "cholesky": (lambda a: weighed(np.linalg.cholesky(a @ np.conj(a.T))), (3, 3)),
    "solve": (lambda a: weighed(np.linalg.solve(a, a[0] * a[1])), (4, 4)),
}


@pytest.mark.parametrize("name", FACTORS)
def test_derivatives_by_complex_matrices_are_differences(name: str) -> None:
    loss, shape = FACTORS[name]
    x = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    v = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    with tracejit.config(disable_jit=True):
        (expected,) = directional(loss, [x], [v])
        assert_close(tracejit.jvp(loss, (x,), (v,))[1], expected, 1e-6)
        gradient = tracejit.grad(loss)
        assert_close(np.real(np.vdot(gradient(x), v)), expected, 1e-6)
        (moved,) = directional(gradient, [x], [v])
        assert_close(tracejit.jvp(gradient, (x,), (v,))[1], moved, 1e-5)


@pytest.mark.parametrize("name", FACTORS)
def test_derivatives_by_stacks_are_those_of_their_matrices(name: str) -> None:
    loss, shape = FACTORS[name]
    x = RNG.normal(size=(2, 2, *shape))
    with tracejit.config(disable_jit=True):
        def each(x: Any) -> Any:
            return loss(x[0, 0]) + loss(x[1, 1])

        np.testing.assert_allclose(tracejit.grad(each)(x)[1, 1], tracejit.grad(loss)(x[1, 1]))


STACKED: list[Callable[[Any], Any]] = [
    np.linalg.eigh, np.linalg.svd, lambda a: np.linalg.svd(a, False), np.linalg.qr,
    np.linalg.eigvals, np.linalg.pinv, lambda a: np.linalg.qr(a, "complete")[1]]


@pytest.mark.parametrize("f", STACKED)
@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 1, 3, 3), (0, 3, 3), (1, 1), (3, 3)])
def test_stacks_are_numpys(f: Any, shape: tuple[int, ...]) -> None:
    x = np.exp(1j * np.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape) ** 2)
    with tracejit.config(disable_jit=True):
        found, expected = tracejit.jit(f)(x), f(x)
    many = isinstance(expected, tuple)
    for a, b in zip(found if many else [found], expected if many else [expected], strict=True):
        assert_same(a, b, factor=100.0)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 3), (3, 1)])
@pytest.mark.parametrize("f", [np.linalg.svd, lambda a: np.linalg.svd(a, False), np.linalg.qr,
                               lambda a: (np.linalg.pinv(a),)])
def test_empty_and_small_matrices_are_numpys(f: Any, shape: tuple[int, int]) -> None:
    x = np.full(shape, -2.0)
    with tracejit.config(disable_jit=True):
        for a, b in zip(tracejit.jit(f)(x), f(x), strict=True):
            assert_same(a, b)


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig, np.linalg.svd,
                               lambda a: np.linalg.svd(a, False)])
def test_vectors_of_empty_matrices_have_empty_derivatives(f: Any, kind: Any) -> None:
    def total(a: Any) -> Any:
        return sum(np.sum(np.abs(x)) for x in f(a))

    shapes = [(0, 0)] if f in (np.linalg.eigh, np.linalg.eig) else [(0, 0), (0, 3), (3, 0)]
    for shape in shapes:
        with tracejit.config(disable_jit=True):
            gradient = tracejit.grad(total)
            assert gradient(np.zeros(shape, kind)).shape == shape
            twice = tracejit.grad(lambda a: np.sum(np.abs(gradient(a))))
            assert twice(np.zeros(shape, kind)).shape == shape


def test_single_precision_is_rounded_from_double_as_numpy_does() -> None:
    a = A.astype(np.float32)
    with tracejit.config(disable_jit=True):
        for f in (np.linalg.eigh, np.linalg.svd, np.linalg.qr):
            for x, y in zip(tracejit.jit(f)(a), f(a), strict=True):
                np.testing.assert_array_equal(x, y)
                assert x.dtype == y.dtype


# --- equal values ---------------------------------------------------------------------------------


def of_vectors(f: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a function of a symmetric matrix by its eigenvalues and eigenvectors."""
    return lambda a: f(*np.linalg.eigh((a + a.T) / 2.0))


SMOOTH: dict[str, tuple[Callable[[Any], Any], np.ndarray, Callable[[Any], Any]]] = {
    "a sum over equal values": (of_vectors(lambda w, v: np.sum(np.exp(w))), 2.0 * np.eye(3),
                                lambda x: np.exp(2.0) * np.eye(3)),
    "a space of equal values": (of_vectors(lambda w, v: np.sum(G * (v[:, :2] @ v[:, :2].T))),
                                np.diag([1.0, 1.0, 3.0]),
                                lambda x: numeric_gradient(of_vectors(
                                    lambda w, v: np.sum(G * (v[:, :2] @ v[:, :2].T))), [x], 0)),
    "a vector beside equal values": (
        of_vectors(lambda w, v: np.sqrt(w[-1]) * np.abs(v[0, -1])), LOW_SYMMETRIC,
        lambda x: numeric_gradient(of_vectors(lambda w, v: np.sqrt(w[-1]) * np.abs(v[0, -1])),
                                   [x], 0)),
    "singular values": (lambda a: np.sum(np.linalg.svd(a)[1] ** 2), 2.0 * np.eye(3),
                        lambda x: 2.0 * x),
    "the nearest rotation": (
        lambda a: (lambda u, s, vt: np.sum(G * (u @ vt)))(*np.linalg.svd(a)), 2.0 * np.eye(3),
        lambda x: (G - G.T) / 4.0),
    "a low rank": (lambda a: np.sum(np.linalg.svd(a)[0][:, 0] * np.linalg.svd(a)[2][0]), LOW,
                   lambda x: numeric_gradient(lambda a: np.sum(
                       np.linalg.svd(a)[0][:, 0] * np.linalg.svd(a)[2][0]), [x], 0)),
    "a pseudoinverse": (lambda a: np.sum(G * np.linalg.pinv(a)), 2.0 * np.eye(3),
                        lambda x: -G / 4.0),
    "least squares": (lambda a: np.sum(np.linalg.lstsq(a, a[:, 0] ** 2)[0]), np.eye(3),
                      lambda x: numeric_gradient(
                          lambda a: np.sum(np.linalg.lstsq(a, a[:, 0] ** 2)[0]), [x], 0)),
    "eigenvalues": (lambda a: np.real(np.sum(np.linalg.eigvals(a) ** 2)), 2.0 * np.eye(3),
                    lambda x: 2.0 * x),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_loss_that_no_turn_of_vectors_changes_has_its_gradient(name: str) -> None:
    loss, x, expected = SMOOTH[name]
    with tracejit.config(disable_jit=True):
        assert_close(tracejit.grad(loss)(x), expected(x), 1e-6)


UNSETTLED: dict[str, tuple[Callable[[Any], Any], np.ndarray, str]] = {
    "f(A)": (of_vectors(lambda w, v: np.sum(G * ((v * np.exp(w)) @ v.T))), np.eye(3), "eigenv"),
    "f(A) that is 0": (of_vectors(lambda w, v: ((v * np.log(w)) @ v.T)[0, 1]), np.eye(3), "eigenv"),
    "A of low rank": (of_vectors(lambda w, v: ((v * w) @ v.T)[0, 1]), LOW_SYMMETRIC, "eigenv"),
    "one of two vectors": (of_vectors(lambda w, v: v[0, 0] ** 2), np.diag([1.0, 1.0, 3.0]),
                           "eigenv"),
    "equal but for rounding": (of_vectors(lambda w, v: ((v * np.exp(w)) @ v.T)[0, 1]),
                               np.diag([1.0, 1.0 + 2e-16, 3.0]), "eigenv"),
    "U S V'": (lambda a: (lambda u, s, vt: np.sum(G * ((u * s) @ vt)))(*np.linalg.svd(a)),
               np.eye(3), "singular vectors"),
    "a Jordan block": (lambda a: np.real(np.sum(np.linalg.eigvals(a))),
                       np.array([[1.0, 1.0], [0.0, 1.0]]), "less eigenvectors"),
    "columns that depend on one another": (lambda a: np.sum(np.linalg.qr(a)[0]), np.ones((3, 2)),
                                           "depend"),
}


@pytest.mark.parametrize("name", UNSETTLED)
def test_a_loss_that_has_no_gradient_there_is_an_error_of_the_run(name: str) -> None:
    loss, x, words = UNSETTLED[name]
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(loss)
        with pytest.raises(np.linalg.LinAlgError, match=words):
            gradient(x)
        assert np.all(np.isfinite(gradient(x + 0.1 * RNG.normal(size=x.shape))))  # elsewhere it has


def test_a_loss_that_tells_vectors_of_a_complement_apart_is_an_error_of_the_run() -> None:
    gradient = tracejit.grad(lambda a: np.linalg.qr(a, "complete")[0][0, 3])
    with tracejit.config(disable_jit=True):
        with pytest.raises(np.linalg.LinAlgError, match="complement"):
            gradient(A[:, :2])
        assert_close(gradient(A[:, :3]), numeric_gradient(
            lambda a: np.linalg.qr(a, "complete")[0][0, 3], [A[:, :3]], 0), 1e-6)  # one alone


def test_residuals_of_a_matrix_that_has_not_full_rank_are_an_error_if_they_are_read() -> None:
    a, b = np.ones((4, 2)), np.arange(4.0)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(lambda a, b: np.linalg.lstsq(a, b)[0])(a, b),
                                   np.linalg.lstsq(a, b)[0])
        with pytest.raises(np.linalg.LinAlgError, match="full rank"):
            tracejit.jit(lambda a, b: np.linalg.lstsq(a, b)[1])(a, b)


def test_roots_beside_zeros_are_refused_by_the_run() -> None:
    with tracejit.config(disable_jit=True):
        for p in ([0.0, 1.0, 2.0], [1.0, 2.0, 0.0]):
            with pytest.raises(tracejit.Refusal, match=r"np\.roots"):
                tracejit.jit(np.roots)(np.array(p))


# --- machine code and C -------------------------------------------------------------------------


def every_factor(a: Any) -> Any:
    w, v = np.linalg.eigh(a @ a.T)
    u, s, vt = np.linalg.svd(a)
    q, r = np.linalg.qr(a)
    return weighed(w, v[:2], u[1:], s, vt, q, r) + np.sum(np.abs(np.linalg.eigvals(a)))


def test_kernels_compute_it_too() -> None:
    gradient = tracejit.grad(every_factor)
    for n in (4, 7):
        x = RNG.normal(size=(n, n))
        with tracejit.config(disable_jit=True):
            expected = gradient(x)
        assert_same(gradient(x), expected, factor=1e4)


def test_kernels_end_with_the_error_at_the_users_line() -> None:
    def loss(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * w) @ v.T)

    with pytest.raises(np.linalg.LinAlgError, match="eigenvectors does not exist") as caught:
        tracejit.grad(loss)(np.eye(3))
    assert any("test_factors.py" in str(note) for note in caught.value.__notes__) or any(
        "test_factors.py" in str(entry.path) for entry in caught.traceback)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_programs_call_numpys_lapack(tmp_path: Path) -> None:
    def f(a):
        w, v = np.linalg.eigh(a)
        return v * w

    g = tracejit.jit(f)
    a = A + A.T
    made = g.trace(a).lower().compile()
    found = call_from_c(tmp_path, made, "x0, 4, r0, workspace", "4", [a], [(float, (4, 4))])
    assert (found.status, found.message) == (0, "success")
    np.testing.assert_array_equal(found.results[0], g(a))
    assert "scipy_dsyevd_64_" in undefined_symbols(tmp_path / "lib.o")


def test_devices_refuse_it() -> None:
    pytest.importorskip("numba_cuda")
    with pytest.raises(tracejit.Refusal, match="LAPACK"):
        tracejit.jit(lambda a: np.linalg.eigh(a)[1], target="cuda").trace(A).lower()


# --- SciPy's ---------------------------------------------------------------------------------


def test_functions_of_a_real_matrix_that_are_complex_are_an_error_of_the_run() -> None:
    with tracejit.config(disable_jit=True):
        for f in (scipy.linalg.sqrtm, scipy.linalg.logm):
            with pytest.raises(np.linalg.LinAlgError, match="complex"):
                tracejit.jit(f)(np.diag([-1.0, 2.0]))
            found = tracejit.jit(f)(np.diag([-1.0, 2.0]).astype(complex))
            np.testing.assert_allclose(found, f(np.diag([-1.0, 2.0])), atol=1e-12)


@pytest.mark.parametrize("f", [scipy.linalg.sqrtm, scipy.linalg.logm, scipy.linalg.expm])
def test_functions_of_matrices_have_derivatives_at_equal_eigenvalues(f: Any) -> None:
    weights = np.zeros((3, 3))
    weights[0, 1] = 1.0
    with tracejit.config(disable_jit=True):
        for x in (np.eye(3), 2.0 * np.eye(3), np.diag([1.0, 1.0, 3.0])):
            gradient = tracejit.grad(lambda a: np.sum(weights * f(a)))
            assert_close(gradient(x), numeric_gradient(
                lambda a: np.sum(weights * f(a)), [x], 0, 1e-4), 1e-6)


CUT = [np.array([[-1.0, 0.3], [0.1, -2.0]]), np.diag([-1.0, -1.0]),
       np.array([[-0.6, 0.4, 0.2], [0.9, 1.3, -1.4], [-0.2, 1.1, 1.2]])]


@pytest.mark.parametrize(("part", "a"), [
    (np.real, CUT[0]), (np.imag, CUT[0]), (np.real, CUT[1]), (np.real, CUT[2])])
def test_a_logarithm_on_its_cut_has_derivatives_along_real_matrices(part: Any, a: Any) -> None:
    """Eigenvalues below 0 stay there: the imaginary part of the logarithm of each stays pi."""
    def f(x: Any) -> Any:
        return np.sum(weights * part(scipy.linalg.logm(x + 0j)))

    weights = np.random.default_rng(4).standard_normal(a.shape)
    with tracejit.config(disable_jit=True):
        assert_close(tracejit.grad(f)(a), numeric_gradient(f, [a], 0, 1e-6), 1e-6)


def test_lyapunovs_equation_with_a_complex_side_is_solved() -> None:
    a = np.array([[0.5, -2.0], [2.0, 1.0]])  # whose Schur form has a block: SciPy 1.17 is wrong
    q = np.array([[1.0, 1j], [-1j, 2.0]])
    with tracejit.config(disable_jit=True):
        x = tracejit.jit(scipy.linalg.solve_continuous_lyapunov)(a, q)
    np.testing.assert_allclose(a @ x + x @ a.T, q, atol=1e-12)


def test_a_pseudoinverse_that_leaves_out_singular_values_has_no_gradient() -> None:
    a = np.diag([3.0, 2.0, 0.5])
    with tracejit.config(disable_jit=True):
        f = tracejit.jit(lambda a: np.linalg.pinv(a, 0.3))
        np.testing.assert_allclose(f(a), np.linalg.pinv(a, 0.3))
        with pytest.raises(np.linalg.LinAlgError, match="leaves out"):
            tracejit.grad(lambda a: np.sum(np.linalg.pinv(a, 0.3)))(a)


def of_systems(a: Any, ab: Any) -> Any:
    factors = scipy.linalg.lu_factor(a)
    p, lower, upper = scipy.linalg.lu(a[:2])
    total = np.sum(scipy.linalg.lu_solve(factors, a[0])) + weighed(p, lower, upper)
    total = total + weighed(scipy.linalg.solve_banded((1, 1), ab, a[1]))
    return total + weighed(scipy.linalg.solve_sylvester(a, a.T + 9.0 * np.eye(4), a),
                           scipy.linalg.sqrtm(a @ a.T))


def test_kernels_solve_too() -> None:
    x, ab = A + 3.0 * np.eye(4), np.abs(RNG.normal(size=(3, 4))) + np.array([[0.0], [3.0], [0.0]])
    gradient = tracejit.grad(of_systems, argnums=(0, 1))
    with tracejit.config(disable_jit=True):
        expected = gradient(x, ab)
    for a, b in zip(gradient(x, ab), expected, strict=True):
        assert_same(a, b, factor=1e4)


@pytest.mark.parametrize("f", [
    lambda a: scipy.linalg.solve_continuous_are(a, np.eye(3)[:, :2], np.eye(3), np.eye(2)),
    lambda a: scipy.linalg.solve_discrete_are(a, np.eye(3)[:, :2], np.eye(3), np.eye(2)),
    lambda a: scipy.linalg.solve_discrete_are(a, np.eye(3)[:, :2], np.eye(3), np.zeros((2, 2))),
    lambda a: scipy.linalg.polar(a)[1]])
def test_second_derivatives_of_equations_of_matrices_are_differences(f: Any) -> None:
    a, v = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(lambda x: weighed(f(x)))
        (moved,) = directional(gradient, [a], [v])
        assert_close(tracejit.jvp(gradient, (a,), (v,))[1], moved, 1e-5)


@pytest.mark.parametrize("f", [
    scipy.linalg.polar, lambda a: scipy.linalg.polar(a, "left"),
    lambda a: scipy.linalg.orthogonal_procrustes(a, FLAT[::-1] ** 2),
    lambda a: scipy.linalg.polar(a * (1.0 + 2.0j))])
def test_turns_of_singular_matrices_are_scipys_and_have_no_derivative(f: Any) -> None:
    """They were the matrix over a factor that is singular, and no turns, without an error."""
    with tracejit.config(disable_jit=True):
        for x, y in zip(tracejit.jit(f)(FLAT), f(FLAT), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
        for part in (0, 1):
            with pytest.raises(np.linalg.LinAlgError, match="where the matrix is singular"):
                tracejit.grad(lambda x, k=part: np.sum(np.abs(f(x)[k])))(FLAT)


FLAT = np.random.default_rng(4).normal(size=(3, 3))
FLAT -= np.mean(FLAT, axis=0)
SINGULAR = {"none": np.zeros((2, 2)), "of rank 1": np.ones((2, 2)), "tiny": 1e-9 * np.eye(2),
            "of both signs": np.array([[1.0, 0.2], [0.2, -0.01]]), "one": np.eye(2)}


@pytest.mark.parametrize("name", list(SINGULAR))
def test_a_discrete_riccati_equation_takes_weights_that_are_singular(name: str) -> None:
    rng = np.random.default_rng(3)
    given = [rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), np.eye(3) + 0.3, SINGULAR[name]]
    ways = [np.ones((3, 3)), rng.normal(size=(3, 2)), np.eye(3), np.eye(2) - 0.5]

    def f(a: Any, b: Any, q: Any, r: Any) -> Any:
        return weighed(scipy.linalg.solve_discrete_are(a, b, q, r))

    with tracejit.config(disable_jit=True):
        value, gradients = tracejit.value_and_grad(f, argnums=(0, 1, 2, 3))(*given)
        for letter in "qr":
            k = "abqr".index(letter)
            lop = [x + np.triu(np.ones(x.shape), 1) if j == k else x for j, x in enumerate(given)]
            with pytest.raises(ValueError, match=f"Matrix {letter} should be symmetric"):
                tracejit.jit(f)(*lop)
    assert_close(value, f(*given), 1e-9)
    step = 1e-5
    for k, way in enumerate(ways):
        high, low = ([x + by * way if j == k else x for j, x in enumerate(given)]
                     for by in (step, -step))
        assert_close(np.sum(gradients[k] * way), (f(*high) - f(*low)) / (2.0 * step), 1e-6)
