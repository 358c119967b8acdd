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
from tracejit.codegen import blas_threads
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


@pytest.mark.parametrize("n", [N, 160])
@pytest.mark.parametrize("function", [product, factors, spectrum])
def test_results_are_numpys_and_threads_are_given_back(function: Any, n: int, threads: Any) -> None:
    """On either side of the size at which a product has all threads."""
    assert N ** 3 < SMALL < 160 ** 3
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
    a, b = np.random.default_rng(1).normal(size=(2, 110, 110))
    limit(1)
    wanted = a @ b
    limit(2)
    np.testing.assert_array_equal(f(a, b), wanted)
    assert threads() == 2
