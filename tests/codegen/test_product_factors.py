"""Factors of products that are parts of arrays: read where they lie, and NumPy's values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit

# A name, what makes the factor of an array, the array's shape for a factor of m by k, and whether
# BLAS reads it where it lies.
PARTS: dict[str, tuple[Any, Any, bool]] = {
    "whole": (lambda x: x, lambda m, k: (m, k), True),
    "transposed": (lambda x: x.T, lambda m, k: (k, m), True),
    "rows": (lambda x: x[2:-1], lambda m, k: (m + 3, k), True),
    "columns": (lambda x: x[:, 1:-2], lambda m, k: (m, k + 3), True),
    "both, transposed": (lambda x: x[3:, 1:-1].T, lambda m, k: (k + 3, m + 2), True),
    "every second row": (lambda x: x[1::2], lambda m, k: (2 * m + 1, k), True),
    "every second column": (lambda x: x[:, ::2], lambda m, k: (m, 2 * k), False),
    "rows backwards": (lambda x: x[::-1], lambda m, k: (m, k), False),
    "columns backwards": (lambda x: x[:, ::-1], lambda m, k: (m, k), False),
    "a plane": (lambda x: x[1], lambda m, k: (3, m, k), True),
    "a middle plane": (lambda x: x[:, 1], lambda m, k: (m, 2, k), True),
    "a last plane": (lambda x: x[:, :, 1], lambda m, k: (m, k, 2), False),
    "a plane's part, transposed": (lambda x: x[2, 1:, :-2].T, lambda m, k: (3, k + 1, m + 2), True),
    "a part of a part": (lambda x: x[1:, 2:][:-2, :-1], lambda m, k: (m + 3, k + 3), True),
    "an axis put in and out": (lambda x: x[:, None, 1:][:, 0], lambda m, k: (m, k + 1), True),
    "one row for all": (lambda x: np.broadcast_to(x, (len(x) * 0 + 24, x.shape[0])),
                        lambda m, k: (k,), False),
    "a diagonal": (lambda x: np.einsum("iij->ij", x), lambda m, k: (m, m, k), False),
    "computed": (lambda x: 2.0 * x[1:], lambda m, k: (m + 1, k), False),
    "reshaped": (lambda x: x.reshape(-1, x.shape[-1] // 2)[1:-1],
                 lambda m, k: (m // 2 + 1, 2 * k), True),
}


def _array(name: str, m: int, k: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, PARTS[name][1](m, k)).astype(np.float64)


def _calls(source: str) -> list[str]:
    lines = [line.strip() for line in source.splitlines()]
    return [line.partition("(")[0] for line in lines if line.startswith(("gemm", "small_gemm"))]


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_read_where_they_lie(name):
    """Values and derivatives of whole numbers are NumPy's, small and large, in verify mode too."""
    of, _, in_place = PARTS[name]

    def product(x, y, w):
        return np.sum(w * (of(x) @ y))

    for verify in (False, True):
        with tracejit.config(verify=verify):
            f = tracejit.value_and_grad(product, argnums=(0, 1))
            for m, k, n in ((24, 20, 18), (24, 2, 3)):
                x = _array(name, m, k, 1)
                y, w = np.ones((k, n)) * np.arange(n), np.arange(m * n, dtype=float).reshape(m, n)
                value, (by_x, by_y) = f(x, y, w)
                assert value == product(x, y, w)
                np.testing.assert_array_equal(by_y, of(x).T @ w)
                step = _array(name, m, k, 2)
                assert np.vdot(by_x, step) == product(step, y, w)  # it is linear
    compiled = tracejit.jit(lambda x, y: of(x) @ y).trace(x, y)
    assert any("_at" in call for call in _calls(compiled.lower().source)) == (
        in_place and name not in ("whole", "transposed"))
    copied = [v for v in compiled.lower().source.splitlines() if "] = x[" in v]
    assert bool(copied) == (not in_place and name != "computed")


@pytest.mark.parametrize(("left", "right"), list(itertools.combinations(
    [name for name, (_, _, in_place) in PARTS.items() if in_place], 2)))
def test_two_parts_are_a_product(left, right):
    """One of them is read the other way round, so that each stands on each side."""
    def product(x, y):
        return PARTS[left][0](x) @ PARTS[right][0](y).T

    f = tracejit.jit(product)
    for m, k, n in ((24, 20, 18), (4, 6, 8)):
        x, y = _array(left, m, k, 3), _array(right, n, k, 4)
        np.testing.assert_array_equal(f(x, y), product(x, y))


def kept(a, b):
    c = a[2:] @ b
    a[2:] = 0.0
    return c + np.sum(a)


def read_late(a, b):
    part = a[:, 1:]
    a[:, 2] = 7.0
    return part @ b[:-1]


def onto_itself(a, b):
    a[3:] = a[3:] @ b
    return a


def of_its_rows(a, b):
    a[1:5] = a[2:6] @ b
    return a


def in_a_loop(a, b):
    for k in range(3):
        a[k:] = a[k:, :] @ b / 8.0
        b[:, k:] += b[:, k:] @ a[k:len(b) - 0, k:][:b.shape[1] - k]
    return a + np.sum(b)


def left_of_a_branch(a, b):
    part = a[1:, :]
    if a[0, 0] > 0.0:
        a[:, 0] = b[0, 0]
        part = part @ b
    return part + 1.0


def of_what_grows(a, b):
    out = np.zeros((len(a), len(a)))
    for k in range(1, len(a)):
        out[:k, :k] += a[:k] @ a[:k].T
    return out


def factor_in_blocks(a, b):
    a = a @ a.T + 500.0 * np.eye(len(a))
    for k in range(0, len(a) - 5, 4):
        a[k + 4:, k:k + 4] = a[k + 4:, k:k + 4] @ np.linalg.inv(a[k:k + 4, k:k + 4])
        a[k + 4:, k + 4:] -= a[k + 4:, k:k + 4] @ a[k:k + 4, k + 4:]
    return a


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("f", [kept, read_late, onto_itself, of_its_rows, in_a_loop,
                               left_of_a_branch, of_what_grows, factor_in_blocks])
def test_arrays_that_change_are_read_as_they_were(f, verify):
    """A part is NumPy's view: read before and after the array is written to, in loops too."""
    rng = np.random.default_rng(6)

    def loss(a, b, w):
        a, b = a.copy(), b.copy()
        found = f(a, b)
        return np.sum(np.tanh(found / 50.0) * w[:found.shape[0], :found.shape[1]])

    with tracejit.config(verify=verify):
        g = tracejit.value_and_grad(loss, argnums=(0, 1))
        for n in (21, 26):
            a, b, w = rng.normal(size=(n, 20)), rng.normal(size=(20, 20)), rng.normal(size=(30, 30))
            value, slopes = g(a, b, w)
            np.testing.assert_allclose(value, loss(a, b, w), rtol=1e-10)
            for k, slope in enumerate(slopes):
                step = rng.normal(size=slope.shape)
                ends = [loss(*(x + h * step if j == k else x for j, x in enumerate((a, b))), w)
                        for h in (1e-5, -1e-5)]
                np.testing.assert_allclose(np.vdot(slope, step), (ends[0] - ends[1]) / 2e-5,
                                           rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_share_products_of_parts(threads):
    def product(x, y):
        return x[5:, 3:].T @ y[5:, :-1]

    f = tracejit.jit(product, threads=threads)
    for m, k, n in ((700, 60, 70), (30, 8, 9)):
        x, y = (np.random.default_rng(7).integers(-9, 9, s).astype(float)
                for s in ((k + 5, m + 3), (k + 5, n + 1)))
        np.testing.assert_array_equal(f(x, y), product(x, y))
