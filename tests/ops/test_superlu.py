"""Sparse systems of any size: SciPy's own factors, called back, and derivatives by elements."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from oracles import numeric_gradient

import tracejit
from tracejit.errors import ExportError
from tracejit.ir import superlu
from tracejit.scipy_api import sparse_solvers

RNG = np.random.default_rng(11)
N = 9
PLACES = np.array(sorted({(i, (i * k + k) % N) for i in range(N) for k in range(4)}
                         | {(i, i) for i in range(N)}))
ROWS, COLUMNS = PLACES.T.copy()
DATA = RNG.normal(size=len(ROWS)) + np.where(ROWS == COLUMNS, 6.0, 0.0)
B, BS = RNG.normal(size=N), RNG.normal(size=(N, 2))


def matrix(d: Any, form: str = "csc") -> Any:
    a = sp.coo_array((d, (ROWS, COLUMNS)), shape=(N, N))
    return a.tocsr() if form == "csr" else a.tocsc()


def dense(d: Any) -> Any:
    a = np.zeros((N, N), d.dtype)
    a[ROWS, COLUMNS] = d
    return a


TURNED: dict[str, Callable[[Any], Any]] = {
    "N": lambda a: a, "T": lambda a: a.T, "H": lambda a: np.conj(a.T)}
SOLVERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{f"spsolve {form}": (lambda d, b, form=form: sl.spsolve(matrix(d, form), b),
                           lambda d, b: np.linalg.solve(dense(d), b)) for form in ("csr", "csc")},
    **{f"splu {t}": (lambda d, b, t=t: sl.splu(matrix(d)).solve(b, t),
                     lambda d, b, t=t: np.linalg.solve(TURNED[t](dense(d)), b)) for t in TURNED},
    "factorized": (lambda d, b: sl.factorized(matrix(d))(b),
                   lambda d, b: np.linalg.solve(dense(d), b)),
    "an order": (lambda d, b: sl.splu(matrix(d), permc_spec="MMD_AT_PLUS_A").solve(b),
                 lambda d, b: np.linalg.solve(dense(d), b))}


@pytest.fixture(params=[0, 64], ids=["SuperLU", "dense"])
def most_dense(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sparse_solvers, "MOST_DENSE", request.param)
    return int(request.param)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("name", SOLVERS)
def test_values_are_scipys_and_derivatives_those_of_a_dense_matrix(
        name: str, columns: int, most_dense: int) -> None:
    sparse, whole = SOLVERS[name]
    b = B if columns == 1 else BS

    def loss(solve: Callable[..., Any]) -> Callable[..., Any]:
        return lambda d, b: np.sum(np.sin(solve(d, b)) * np.exp(0.1 * b))

    dots = RNG.normal(size=DATA.shape), RNG.normal(size=b.shape)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(sparse)(DATA, b)
        if most_dense == 0:
            assert np.array_equal(found, sparse(DATA, b))  # bit by bit
        np.testing.assert_allclose(found, sparse(DATA, b), rtol=1e-12)
        ours, theirs = (tracejit.grad(loss(f), argnums=(0, 1))(DATA, b) for f in (sparse, whole))
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-13)
        forward = tracejit.jvp(loss(sparse), (DATA, b), dots)[1]
        np.testing.assert_allclose(forward, sum(np.vdot(g, t) for g, t in zip(
            ours, dots, strict=True)), rtol=1e-10)
        for order in (lambda f: tracejit.grad(lambda d: tracejit.jvp(f, (d, b), dots)[1]),
                      lambda f: tracejit.grad(lambda d: np.vdot(tracejit.grad(f)(d, b), dots[0])),
                      lambda f: lambda d: tracejit.jvp(tracejit.grad(f), (d, b), dots)[1]):
            np.testing.assert_allclose(order(loss(sparse))(DATA), order(loss(whole))(DATA),
                                       rtol=1e-9, atol=1e-12)
    expected = numeric_gradient(lambda d: loss(sparse)(d, b), [DATA], 0, 1e-6)
    np.testing.assert_allclose(ours[0], expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", SOLVERS)
def test_complex_systems_are_those_of_a_dense_matrix(name: str, most_dense: int) -> None:
    sparse, whole = SOLVERS[name]
    d, b = DATA + 1j * RNG.normal(size=DATA.shape), B + 0.3j
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(sparse)(d, b), sparse(d, b), rtol=1e-12)
        for f in (lambda s: lambda d, b: np.sum(np.abs(s(d, b)) ** 2),
                  lambda s: lambda d, b: np.real(np.sum(s(d, b) ** 2 * np.arange(N)))):
            ours, theirs = (tracejit.grad(f(s), argnums=(0, 1))(d, b) for s in (sparse, whole))
            for x, y in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-13)


def test_compiled_it_is_the_same_in_loops_and_maps() -> None:
    def tests(d: Any, b: Any) -> Any:
        factors, total = sl.splu(matrix(d)), 0.0
        for k in range(len(b)):
            total = total + np.sum(factors.solve(b * k) ** 2) + sl.spsolve(matrix(d, "csr"), b)[k]
        return total

    gradient = tracejit.value_and_grad(tests)
    value, found = gradient(DATA, B)
    np.testing.assert_allclose(value, tests(DATA, B), rtol=1e-12)
    np.testing.assert_allclose(found, numeric_gradient(lambda d: tests(d, B), [DATA], 0, 1e-6),
                               rtol=1e-5, atol=1e-7)
    ds = np.stack([DATA, 2.0 * DATA, DATA + 0.1])
    mapped = tracejit.vmap(tracejit.grad(tests), in_axes=(0, None))(ds, B)
    np.testing.assert_allclose(mapped, [gradient(d, B)[1] for d in ds], rtol=1e-12)


def test_a_matrix_is_factorised_once_for_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(sparse_solvers, "MOST_DENSE", 0)
    monkeypatch.setattr(sl, "splu", lambda *a, own=sl.splu, **k: made.append(1) or own(*a, **k))
    d = DATA + 0.25  # which no other test has
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(lambda d: np.sum(sl.spsolve(matrix(d), B) ** 2))
        gradient(d)
        assert len(made) == 1
        gradient(d + 0.5)
        assert len(made) == 2


def test_factors_are_of_these_elements_and_no_others() -> None:
    """Also where two matrices differ in one element, a sign of zero, places or their dtype."""
    n = 400
    i = np.arange(n)

    def solve(d: Any, b: Any, shift: Any) -> Any:
        a = sp.coo_array((np.concatenate([d, np.ones(n)]), (
            np.concatenate([i, i]), np.concatenate([i, (i + shift) % n]))), shape=(n, n))
        return sl.spsolve(a.tocsc(), b)

    staged, b = tracejit.jit(solve), np.cos(i)
    d = 3.0 + np.sin(i)
    for shift in (1, 2):
        for k in (0, 1, 77, 399):
            d[k] += 1.0
            assert np.array_equal(staged(d, b, shift), solve(d, b, shift))
    found = staged(d.astype(np.float32), b, 1)
    np.testing.assert_allclose(found, solve(d.astype(np.float32), b, 1), rtol=1e-6)


def test_factors_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = superlu._KeptFactors()
    arrays = [(np.ones(3) * k, np.arange(3), np.arange(3)) for k in range(1, 9)]
    monkeypatch.setattr(superlu, "MOST_FACTORS", 3)
    for x in arrays:
        kept.factors(x, 3, superlu.Way())
    assert [data[0][0] for data, _ in kept.found.values()] == [6.0, 7.0, 8.0]
    monkeypatch.setattr(superlu, "MOST_ELEMENTS", 1)
    kept.factors(arrays[0], 3, superlu.Way())
    assert [data[0][0] for data, _ in kept.found.values()] == [1.0]  # the newest always


def test_singular_matrices_are_scipys(most_dense: int) -> None:
    flat = np.where(ROWS == 3, 0.0, DATA)
    for bad in (flat, np.where(np.arange(len(DATA)) == 5, np.nan, DATA)):
        for form in ("csr", "csc"):
            solve = tracejit.jit(lambda d, form=form: sl.spsolve(matrix(d, form), B))
            slope = tracejit.grad(lambda d, form=form: np.sum(sl.spsolve(matrix(d, form), B)))
            with tracejit.config(disable_jit=True):
                if most_dense == 0:
                    with pytest.warns(sl.MatrixRankWarning, match="exactly singular"):
                        assert np.all(np.isnan(solve(bad)))
                    with pytest.warns(sl.MatrixRankWarning):
                        assert np.all(np.isnan(slope(bad)))
                else:
                    assert np.all(np.isnan(solve(bad))) and np.any(np.isnan(slope(bad)))
        with tracejit.config(disable_jit=True), pytest.raises(RuntimeError,
                                                              match="exactly singular"):
            tracejit.jit(lambda d: sl.splu(matrix(d)).solve(B))(bad)


@pytest.mark.filterwarnings("ignore::scipy.sparse.linalg.MatrixRankWarning")
def test_singular_matrices_are_scipys_when_compiled(most_dense: int) -> None:
    for bad in (np.where(ROWS == 3, 0.0, DATA), np.where(COLUMNS == 0, 0.0, DATA)):
        for form in ("csr", "csc"):
            found = tracejit.jit(lambda d, form=form: sl.spsolve(matrix(d, form), B))(bad)
            assert np.all(np.isnan(found))
        with pytest.raises(RuntimeError, match="exactly singular"):
            tracejit.jit(lambda d: sl.splu(matrix(d)).solve(B))(bad)


@pytest.mark.parametrize(("f", "text"), [
    (lambda d: sl.spsolve(sp.csc_array(np.ones((2, 3)) * d[0]), B), "matrix must be square"),
    (lambda d: sl.splu(sp.csc_array(np.ones((2, 3)) * d[0])), "can only factor square"),
    (lambda d: sl.spsolve(matrix(d), B[:4]), "matrix - rhs dimension mismatch"),
    (lambda d: sl.splu(matrix(d)).solve(B[:4]), "incompatible size"),
    (lambda d: sl.splu(matrix(d)).solve(np.ones((N, 1, 1))), "too deep")])
def test_errors_of_shapes_are_scipys(f: Callable[..., Any], text: str) -> None:
    for g in (f, tracejit.jit(f)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError, match=text):
            g(DATA)


def line(k: Any) -> Any:
    n = len(k)
    a = sp.diags_array([-np.ones(n - 1), 2.5 + k, -np.ones(n - 1)], offsets=[-1, 0, 1])
    return a.tocsc()


@pytest.mark.parametrize("solve", [
    lambda k, b: sl.spsolve(line(k), b), lambda k, b: sl.splu(line(k)).solve(b),
    lambda k, b: sl.cg(line(k), b, rtol=1e-12)[0], lambda k, b: sl.gmres(line(k), b, rtol=1e-12)[0],
    lambda k, b: sl.bicgstab(line(k), b, rtol=1e-12)[0]],
    ids=["spsolve", "splu", "cg", "gmres", "bicgstab"])
def test_nothing_is_dense(solve: Callable[..., Any]) -> None:
    """A matrix of 30 000 by 30 000 would take 7 GB."""
    n = 30_000
    k, b = 0.5 + 0.3 * np.cos(np.arange(n)), np.sin(np.arange(n))
    value, slope = tracejit.value_and_grad(lambda k, b: np.sum(solve(k, b) ** 2))(k, b)
    x = sl.spsolve(line(k), b)
    weights = sl.spsolve(line(k), 2.0 * x)  # (the matrix is symmetric)
    np.testing.assert_allclose(value, np.sum(x ** 2), rtol=1e-10)
    np.testing.assert_allclose(slope, -weights * x, rtol=1e-8, atol=1e-12)


def test_a_large_matrix_that_is_not_symmetric_has_no_conjugate_gradients() -> None:
    def solve(k: Any) -> Any:
        n = len(k)
        a = sp.diags_array([np.full(n, 3.0), k[1:]], offsets=[0, 1]).tocsr()
        return sl.cg(a, k, rtol=1e-10)[0]

    with pytest.raises(tracejit.Refusal, match="not Hermitian"):
        tracejit.jit(solve)(0.1 + np.cos(np.arange(100.0)))


def test_threads_have_factors_of_their_own() -> None:
    n, found = 300, {}
    program = tracejit.grad(lambda k: np.sum(sl.spsolve(line(k), k) ** 2))
    ks = [0.5 + 0.01 * j + 0.3 * np.cos(np.arange(n)) for j in range(4)]
    expected = [program(k) for k in ks]

    def work(j: int) -> None:
        found[j] = [program(ks[j]) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(j,)) for j in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(x, expected[j]) for j in range(4) for x in found[j])


def test_programs_without_python_need_a_small_system(tmp_path: Path) -> None:
    def small(d):
        return np.sum(sl.spsolve(sp.coo_array((d, (ROWS, COLUMNS)), shape=(N, N)).tocsc(), B) ** 2)

    def large(k):
        return np.sum(sl.spsolve(line(k), k) ** 2)

    with pytest.raises(ExportError, match="superlu_solution"):
        tracejit.jit(large).trace(tracejit.spec("f64[n]")).lower().compile().export(
            tmp_path / "large.o")
    called = tracejit.jit(large)
    with pytest.raises(Exception, match="superlu_solution"):
        numba.njit(lambda k: called(k))(np.ones(100))
    compiled = tracejit.jit(small).trace(tracejit.spec("f64[n]")).lower().compile()
    assert compiled.export(tmp_path / "small.o")


STORED = """
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sl, sys, tracejit

def f(k):
    i, n = np.arange(len(k)), len(k)
    a = sp.coo_array((np.concatenate([k + 4.0, k[1:]]), (
        np.concatenate([i, i[1:]]), np.concatenate([i, i[:-1]]))), shape=(n, n)).tocsc()
    return np.sum(sl.splu(a).solve(k) ** 2) + np.sum(sl.spsolve(a.tocsr(), k))

g = tracejit.value_and_grad(f)
print(*g(np.linspace(1.0, 2.0, 70)), "numba" in sys.modules)
"""


def test_stored_programs_call_superlu_too(tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "store"))
    script = tmp_path / "stored.py"
    script.write_text(STORED)
    first, second = (subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                                    check=True).stdout for _ in range(2))
    assert first.replace("True", "False") == second and second.endswith("False\n")
