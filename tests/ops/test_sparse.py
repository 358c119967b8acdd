"""Sparse matrices in captured functions: SciPy's values, right derivatives, nothing stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sparse_linalg
from oracles import numeric_gradient
from scipy.sparse.linalg import spsolve
from solver_cases import SOLVER_CASES

import tracejit
from tracejit.errors import Refusal
from tracejit.trace.ground.dispatch import FOREIGN

RNG = np.random.default_rng(5)
DENSE = np.where(RNG.uniform(size=(5, 4)) < 0.5, RNG.normal(size=(5, 4)), 0.0)
DENSE[2], DENSE[:, 1] = 0.0, 0.0
FORMATS = [f"{form}_{kind}" for form in ("csr", "csc", "coo", "dia")
           for kind in ("array", "matrix")]
X4, X5, X43, X35, X54 = (RNG.normal(size=s) for s in (4, 5, (4, 3), (3, 5), (5, 4)))


def _descend(a: Any, x: Any) -> Any:
    for _ in range(20):
        x = x - 0.1 * (a.T @ (a @ x))
    return x


OF_MATRICES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "a @ x": (lambda a, x: a @ x, X4), "a.dot(x)": (lambda a, x: a.dot(x), X4),
    "a @ m": (lambda a, x: a @ x, X43), "a.T @ x": (lambda a, x: a.T @ x, X5),
    "transpose": (lambda a, x: a.transpose() @ x, X5), "x @ a": (lambda a, x: x @ a, X5),
    "m @ a": (lambda a, x: x @ a, X35), "a.T.T": (lambda a, x: a.T.T @ x, X4),
    "normal": (lambda a, x: a.T @ (a @ x), X4), "2 a": (lambda a, x: (2.0 * a) @ x, X4),
    "s a": (lambda a, x: (x[0] * a) @ x, X4), "a s": (lambda a, x: (a * x[0]) @ x, X4),
    "a / s": (lambda a, x: (a / x[0]) @ x, X4), "-a": (lambda a, x: (-a) @ x, X4),
    "toarray": (lambda a, x: a.toarray() @ x, X4), "a + a": (lambda a, x: (a + a * x[1]) @ x, X4),
    "a - a": (lambda a, x: (a * x[0] - a) @ x, X4), "a + m": (lambda a, x: a + x, X54),
    "m - a": (lambda a, x: x - a, X54), "multiply": (lambda a, x: a.multiply(x).toarray(), X54),
    "rows": (lambda a, x: a.multiply(x).toarray(), X4), "diagonal": (
        lambda a, x: a.diagonal() * x, X4),
    "sum": (lambda a, x: a.sum() * x, X4), "trace": (lambda a, x: a.T.T.trace() * x, X4),
    "a.T a": (lambda a, x: (a.T @ a) @ x, X4), "item": (lambda a, x: a.T[0, 1] * x, X4),
    "part": (lambda a, x: a.T.tocsr()[1:3] @ x, X5), "loop": (_descend, X4),
    "format": (lambda a, x: x * (3.0 if (a * 2.0).format == "csr" else 2.0), X4),
    "issparse": (lambda a, x: x if sp.issparse(a.T) else 2.0 * x, X4),
    "type": (lambda a, x: x if type((a * 2.0).tocsc()).__name__.startswith("csc") else 2.0 * x, X4),
    "isinstance": (lambda a, x: x if isinstance(a.T, sp.csc_array) else 2.0 * x, X4)}


def _assert_scipys(f: Callable[[Any], Any], x: Any, compiled: bool = False) -> None:
    """Value and gradient, at two places."""
    gradient = tracejit.value_and_grad(f)
    for at in (x, 1.5 * x):
        with tracejit.config(disable_jit=not compiled, verify=True):
            value, found = gradient(at)
        np.testing.assert_allclose(value, f(at), rtol=1e-12)
        np.testing.assert_allclose(found, numeric_gradient(f, [at], 0, 1e-6), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize("kind", FORMATS)
def test_programs_with_matrices_are_scipys(kind: str, name: str) -> None:
    program, x = OF_MATRICES[name]
    a = getattr(sp, kind)(DENSE)
    if name in ("item", "part") and kind.startswith(("coo", "dia")):
        pytest.skip("has no items")
    _assert_scipys(lambda x: np.sum(np.sin(program(a, x))), x)


ROWS, COLUMNS = np.array([0, 1, 1, 3, 2, 0]), np.array([0, 2, 1, 0, 2, 0])
D, V, K = RNG.normal(size=6), RNG.normal(size=3), RNG.uniform(1.0, 2.0, size=6)
CSR = sp.csr_array(DENSE)


def _diffusion(k: Any) -> Any:
    a = sp.diags_array([-k[1:], 2.5 * k, -k[:-1]], offsets=[-1, 0, 1]).tocsc()
    return np.sum(spsolve(a, np.arange(len(k)) * 1.0) ** 2)


def _laplacian(k: Any) -> Any:
    line = sp.diags([k + 2.0, -k[1:], -k[1:]], [0, 1, -1])
    one = sp.eye(4)
    return np.sum(spsolve((sp.kron(line, one) + sp.kron(one, line)).tocsc(), np.ones(16)) ** 2)


MAKERS = ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix")
MADE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    **{f"{kind} by places": (lambda d, kind=kind: np.sum(
        (getattr(sp, kind)((d, (ROWS, COLUMNS)), shape=(4, 3)) @ V) ** 2), D)
       for kind in MAKERS},
    "csr by rows": (lambda d: np.sum((sp.csr_array((d, CSR.indices, CSR.indptr), shape=(5, 4))
                                      @ X4) ** 2), CSR.data.copy()),
    "csc by columns": (lambda d: np.sum((sp.csc_array((d, CSR.indices, CSR.indptr), shape=(4, 5))
                                         @ X5) ** 2), CSR.data.copy()),
    "of a dense one": (lambda m: np.sum((sp.csr_array(m) @ X4) ** 2), X54),
    "diags": (lambda x: np.sum(sp.diags(x) @ x), X4),
    "diags of numbers": (lambda x: np.sum(sp.diags(
        [x[0], -2.0, x[1]], [-1, 0, 1], shape=(4, 4)) @ x), X4),
    "diffusion": (_diffusion, K),
    "spsolve": (lambda b: np.sum(spsolve(sp.csc_array(np.eye(4) * 3.0 + 1.0), b) ** 2), X43),
    "kron": (lambda x: np.sum(np.cos(sp.kron(sp.diags_array(x), CSR).toarray())), X4),
    "kron by rows": (lambda x: np.sum(np.cos(sp.kron(CSR, sp.csr_matrix(x), format="csr")
                                             @ np.arange(12.0))), X43),
    "kron of a dense one": (lambda x: np.sum(np.cos(sp.kron(x, CSR).toarray())), X43),
    "vstack": (lambda x: np.sum(np.cos(sp.vstack([sp.diags_array(x), CSR, CSR * x[0]]).toarray())),
               X4),
    "hstack": (lambda x: np.sum(np.cos(sp.hstack([sp.diags_array(x), CSR.T], format="csc")
                                       @ np.arange(9.0))), X4),
    "block_diag": (lambda x: np.sum(np.cos(sp.block_diag([sp.diags_array(x), CSR]).toarray())), X4),
    "eye": (lambda x: np.sum((2.0 * sp.eye(len(x)) + sp.identity(len(x)) + sp.diags(x)) @ x), X4),
    "eye_array": (lambda x: np.sum((sp.eye_array(x.size) * x[0]) @ x), X4),
    "laplacian": (_laplacian, K[:4]),
    **{name: (lambda x, f=f: np.sum(np.cos(f(sp.diags_array(x * x + 2.0), x, rtol=1e-13)[0])), X4)
       for name, f in (("cg", sparse_linalg.cg), ("gmres", sparse_linalg.gmres),
                       ("bicgstab", sparse_linalg.bicgstab))},
    "no failure": (lambda x: x[0] * (1 + sparse_linalg.cg(sp.diags_array(x * x + 2.0), x)[1]), X4),
    **{f"splu {t}": (lambda x, t=t: np.sum(np.cos(sparse_linalg.splu(sp.diags_array(
        [x + 4.0, x[1:]], offsets=[0, 1]).tocsc()).solve(x, t))), X4) for t in "NTH"},
    "factorized": (lambda x: np.sum(np.cos(sparse_linalg.factorized(sp.diags_array(
        x * x + 2.0).tocsc())(np.arange(4.0)))), X4),
    "identity": (lambda x: np.sum((sp.eye_array(4) + x[0] * sp.diags_array(x)) @ x), X4)}


def test_every_function_captured_has_a_case() -> None:
    tested = {*MAKERS, "diags", "diags_array", "issparse", "kron", "vstack", "hstack",
              "block_diag", "eye", "eye_array", "identity", "linalg.spsolve", "linalg.cg",
              "linalg.gmres", "linalg.bicgstab", "linalg.splu", "linalg.factorized",
              *(name.removeprefix("scipy.sparse.") for name in SOLVER_CASES
                if name.startswith("scipy.sparse."))}
    assert {name.removeprefix("scipy.sparse.") for name in FOREIGN
            if name.startswith("scipy.sparse.")} == tested


@pytest.mark.parametrize("name", MADE)
def test_matrices_of_traced_elements_are_scipys(name: str) -> None:
    _assert_scipys(*MADE[name])


def test_compiled_programs_are_scipys() -> None:
    def f(d: Any) -> Any:
        a = sp.csr_array((d, (ROWS, COLUMNS)), shape=(4, 3))
        return np.sum((CSR.T @ np.concatenate([a @ V, d[:1]])) ** 2) + _diffusion(d ** 2 + 1.0)

    _assert_scipys(f, D, compiled=True)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_dtypes_are_scipys(dtype: Any) -> None:
    a = sp.csr_array((3.0 * DENSE).astype(dtype))
    with tracejit.config(disable_jit=True):
        for x in (X4, X4.astype(np.float32), X4 + 1j):
            found, expected = tracejit.jit(lambda x: a @ x)(x), a @ x
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_forward_mode_and_second_derivatives_are_right() -> None:
    def f(x: Any) -> Any:
        return np.sum((CSR @ x ** 2) ** 2)

    with tracejit.config(disable_jit=True):
        hessian = tracejit.hessian(f)(X4)
        rows = tracejit.vmap(tracejit.grad(f))(X43.T)
    gradient = tracejit.grad(f)
    np.testing.assert_allclose(rows, [gradient(x) for x in X43.T])
    expected = [numeric_gradient(lambda x, k=k: gradient(x)[k], [X4], 0, 1e-6) for k in range(4)]
    np.testing.assert_allclose(hessian, expected, rtol=1e-5, atol=1e-5)


def _with_slack(a: Any) -> None:
    a.data, a.indices = np.append(a.data, 7.0), np.append(a.indices, 1)


CHANGES: dict[str, Callable[[Any], object]] = {
    "an element": lambda a: a.data.__setitem__(0, 5.0),
    "places": lambda a: a.indices.__setitem__(slice(None), np.sort(a.indices)[::-1].copy()),
    "another data": lambda a: setattr(a, "data", a.data * 2.0),
    "fewer elements": lambda a: (a.data.__setitem__(1, 0.0), a.eliminate_zeros()),
    "more than are used": _with_slack, "an item": lambda a: a.__setitem__((0, 0), 9.0),
    "single precision": lambda a: setattr(a, "data", a.data.astype(np.float32))}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_a_matrix_are_seen(name: str) -> None:
    a = sp.csr_array(np.arange(1.0, 13.0).reshape(3, 4))
    with tracejit.config(disable_jit=True):
        f = tracejit.jit(lambda x: a @ x)
        f(X4)
        CHANGES[name](a)
        np.testing.assert_allclose(f(X4), a @ X4, rtol=1e-6)
        np.testing.assert_allclose(f(2.0 * X4), a @ (2.0 * X4), rtol=1e-6)


def test_another_matrix_is_another_argument() -> None:
    with tracejit.config(disable_jit=True):
        f = tracejit.grad(lambda x, a: np.sum((a @ x) ** 2))
        for kind in FORMATS:
            for dense in (DENSE, 2.0 * DENSE, DENSE[:3]):
                a = getattr(sp, kind)(dense)
                np.testing.assert_allclose(f(X4, a), 2.0 * dense.T @ (dense @ X4), atol=1e-12)


def test_errors_are_scipys_or_name_the_line() -> None:
    with tracejit.config(disable_jit=True):
        for program in (lambda x: CSR @ x[:3], lambda x: CSR.T @ x, lambda x: CSR @ x[0]):
            with pytest.raises(ValueError, match=r"dimension mismatch|Scalar operands"):
                tracejit.jit(program)(X4)
            with pytest.raises(ValueError, match=r"dimension mismatch|Scalar operands"):
                program(X4)
        with pytest.raises(ValueError, match="exceeds matrix dimensions"):
            tracejit.jit(lambda d: sp.coo_array((d, (ROWS, COLUMNS)), shape=(3, 3)).toarray())(D)
        blocks = sp.bsr_array(DENSE)
        for refused in (lambda x: CSR.T.max() * x, lambda x: blocks @ x, lambda x: CSR * x[0]):
            with pytest.raises(Refusal, match=r"test_sparse.py:\d+"):
                tracejit.jit(refused)(X4)


def _twice(x: Any) -> Any:
    a = CSR * x[0]
    b = a
    a *= 2.0
    return b @ x


REFUSED: dict[str, Callable[[Any], Any]] = {
    "equality": lambda x: x if CSR.T == CSR.T else 2.0 * x,
    "inequality": lambda x: x if CSR.T != CSR.T else 2.0 * x,
    "truth": lambda x: x if CSR.T else 2.0 * x, "not": lambda x: x if not CSR.T else 2.0 * x,
    "absolute value": lambda x: abs(CSR * x[0]) @ x, "power": lambda x: (CSR * x[0]) ** 2 @ x,
    "in place": _twice}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_operators_that_are_not_captured_are_no_other_objects(name: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match=r"test_sparse.py:\d+"):
        tracejit.jit(REFUSED[name])(X4)


@pytest.mark.parametrize(("indices", "indptr"), [
    ([0, 7, 1], [0, 1, 2, 3]), ([0, -1, 1], [0, 1, 2, 3]), ([0, 1, 1], [0, 1, 2, 2, 3]),
    ([0, 1, 1], [1, 1, 2, 3]), ([0, 1, 1], [0, 2, 1, 3]), ([0, 1], [0, 1, 2, 3])])
@pytest.mark.parametrize("compiled", [False, True])
def test_places_outside_of_a_matrix_are_errors(indices: list[int], indptr: list[int],
                                               compiled: bool) -> None:
    def f(d: Any, at: Any, ends: Any) -> Any:
        a = sp.csr_array((d, at, ends), shape=(3, 3))
        return a.T @ (a @ V)

    with tracejit.config(disable_jit=not compiled), pytest.raises(ValueError, match=r"ind|broad"):
        tracejit.jit(f)(D[:3], np.array(indices), np.array(indptr))


def test_places_that_were_changed_to_others_outside_are_errors() -> None:
    a = sp.csr_array(np.arange(1.0, 13.0).reshape(3, 4))
    for compiled in (False, True):
        with tracejit.config(disable_jit=not compiled):
            f = tracejit.jit(lambda x: a.T @ (a @ x))
            f(X4)
            a.indices[2] = 9
            with pytest.raises(ValueError, match="column index"):
                f(X4)
            a.indices[2] = 2


def test_what_a_library_object_becomes_while_it_is_captured_is_never_mixed_in() -> None:
    """A capture that runs once more would read the object after its change: refused instead."""
    items = sp.lil_array(np.eye(3))

    def f(x: Any) -> Any:
        y = x * items[0, 0]
        if items[0, 0] < 2.0:
            items[0, 0] = 2.0
        return y

    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match=r"test_sparse.py:\d+"):
        tracejit.jit(f)(X4)


def test_asking_for_operators_runs_no_code_of_users() -> None:
    asked = []

    class Scale:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            raise AttributeError(name)

        def __mul__(self, other: Any) -> Any:
            return 2.0 * other

        def __rmul__(self, other: Any) -> Any:
            return 3.0 * other

    scale = Scale()
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda x: scale * x[0] + x[1] * scale)(X4)
    assert found == 2.0 * X4[0] + 3.0 * X4[1]
    assert not [name for name in asked if not name.startswith("__")]
