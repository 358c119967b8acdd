"""OpenBLAS is kept to one thread while a small call runs, and is given its threads back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import tracejit
from tracejit.codegen import blas_threads, products
from tracejit.codegen.blas_threads import SMALL
from tracejit.codegen.libraries import find_blas, threads_of_blas

N = 40


def product(x: Any) -> Any:
    return np.sum((x @ x.T) ** 2)


def factors(x: Any) -> Any:
    a = x @ x.T + len(x) * np.eye(len(x))
    return np.sum(np.linalg.solve(a, x)) + np.sum(np.linalg.cholesky(a)) + np.linalg.slogdet(a)[1]


def spectrum(x: Any) -> Any:
    a = x + x.T
    return (np.sum(np.linalg.eigvalsh(a) ** 3) + np.sum(np.linalg.svd(x, compute_uv=False))
            + np.sum(np.linalg.qr(x)[1]))


def _function(symbol: str | int, *kinds: Any) -> Any:
    address = symbol if isinstance(symbol, int) else llvm.address_of_symbol(symbol)
    assert address is not None
    return ctypes.CFUNCTYPE(*kinds)(address)


def _functions_on_threads() -> tuple[int, int]:
    found = threads_of_blas()
    assert found is not None
    return found


def test_a_blas_that_cannot_be_told_is_called_as_it_is(monkeypatch: Any) -> None:
    made = []
    monkeypatch.setattr(blas_threads, "threads_of_blas", lambda: None)
    monkeypatch.setattr(blas_threads, "_LIMITED", set())
    monkeypatch.setattr(blas_threads, "_engine", made.append)
    monkeypatch.setattr(blas_threads, "_count_calls", blas_threads._count_calls.__wrapped__)
    blas_threads.limit_small_calls(["tracejit_dgemm"])
    assert made == []


@pytest.fixture
def threads() -> Iterator[Any]:
    """Return the function that tells how many threads OpenBLAS has: two, for the test."""
    if find_blas()[1] != 64:
        pytest.skip("BLAS is SciPy's here")
    get, put = _functions_on_threads()
    tell, limit = _function(get, ctypes.c_int), _function(put, None, ctypes.c_int)
    before = tell()
    limit(2)
    tracejit.jit(product)(np.ones((3, 3)))
    yield tell
    limit(before)


def test_the_first_call_sets_and_the_last_one_sets_back(threads: Any) -> None:
    enter, leave = (_function(f"tracejit_{what}_small", None) for what in ("enter", "leave"))
    seen = []
    for step in (enter, enter, leave, enter, leave, leave, enter, leave):
        step()
        seen.append(threads())
    assert seen == [1, 1, 1, 1, 1, 2, 1, 2]


@pytest.mark.parametrize("n", [N, 280])
@pytest.mark.parametrize("function", [product, factors, spectrum])
def test_results_are_numpys_and_threads_are_given_back(function: Any, n: int, threads: Any) -> None:
    """On either side of the size at which a factorisation has all threads."""
    assert N ** 3 < SMALL < 280 ** 3
    x = np.random.default_rng(n).normal(size=(n, n))
    np.testing.assert_allclose(tracejit.jit(function)(x), function(x), rtol=1e-9)
    assert threads() == 2


def test_threads_are_given_back_to_many_callers(threads: Any) -> None:
    f, x = tracejit.value_and_grad(factors), np.random.default_rng(0).normal(size=(N, N))
    wanted = f(x)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(f, [x] * 400))
    assert all(v == wanted[0] and np.array_equal(g, wanted[1]) for v, g in found)
    assert threads() == 2


def test_small_products_have_the_bits_of_one_thread(threads: Any) -> None:
    _, put = _functions_on_threads()
    limit, f = _function(put, None, ctypes.c_int), tracejit.jit(lambda a, b: a @ b)
    a, b = np.random.default_rng(1).normal(size=(2, 250, 250))
    limit(1)
    wanted = a @ b
    limit(2)
    np.testing.assert_array_equal(f(a, b), wanted)
    assert threads() == 2


KINDS: dict[str, tuple[Any, str]] = {
    "rows by columns": (lambda a, b: a @ b, "nk,km"),
    "columns by columns": (lambda a, b: a.T @ b, "kn,km"),
    "rows by rows": (lambda a, b: a @ b.T, "nk,mk"),
    "columns by rows": (lambda a, b: a.T @ b.T, "kn,mk"),
    "in a loop": (lambda a, b: _chain(a, b), "nk,kk"),
    "in a stack": (lambda a, b: np.stack([a, a]) @ b, "nk,km"),
    "by a part": (lambda a, b: a[1:] @ b[:, 2:], "nk,km"),
    "of float32": (lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float64),
                   "nk,km"),
}
"""Products, and the axes of their factors."""


def _chain(a: Any, b: Any) -> Any:
    for _ in range(3):
        a = np.tanh(a @ b)
    return a


@pytest.mark.parametrize("name", KINDS)
def test_blocks_of_rows_are_the_product_for_any_number_of_threads(
        name: str, threads: Any, monkeypatch: Any) -> None:
    """Sizes on both sides of whole blocks; the bits are the same, and NumPy's product is near."""
    for constant, value in (("BLOCK", 64), ("FEWEST_ROWS", 3), ("MOST_BLOCKS", 4)):
        monkeypatch.setattr(products, constant, value)
    product, axes = KINDS[name]
    with tracejit.config(disable_jit=True):
        plain = tracejit.value_and_grad(lambda a, b: np.sum(product(a, b) ** 2), argnums=(0, 1))
        plain(np.ones((2, 2)), np.ones((2, 2)))
    calls = [tracejit.value_and_grad(lambda a, b: np.sum(product(a, b) ** 2), argnums=(0, 1),
                                     threads=count) for count in (1, 2, 3, 7)]
    for n in (3, 17, 18, 24, 33):
        sizes, rng = {"n": n, "k": n + 5, "m": n // 2 + 8}, np.random.default_rng(n)
        a, b = (rng.normal(size=[sizes[c] for c in labels]) for labels in axes.split(","))
        results = [call(a, b) for call in calls]
        assert np.isclose(results[0][0], np.sum(product(a, b) ** 2), rtol=1e-5)
        assert len({value for value, _ in results}) == 1
        for _, gradients in results:
            assert all(map(np.array_equal, gradients, results[0][1]))
        for x, y in zip(results[0][1], plain(a, b)[1], strict=True):
            rounding = 1e-6 if name == "of float32" else 1e-13  # of the largest element
            assert np.max(np.abs(x - y)) <= rounding * np.max(np.abs(y))
    assert threads() == 2
