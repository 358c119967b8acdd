"""Numbers of int arrays without axes, of which sizes are made: at every call, by every entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


def one(n: Any, x: Any) -> Any:
    return np.zeros(int(n)) + x[0]


def in_a_list(n: Any, x: Any) -> Any:
    return [np.arange(int(np.max(n)) + 1) * x[1]]


def in_a_tuple(n: Any, x: Any) -> Any:
    return np.full(int(n), x[-1]), x * 2.0


def of_no_size(n: Any, x: Any) -> Any:
    return x * n


def of_both(n: Any, x: Any) -> Any:
    return np.sum(np.outer(np.arange(int(n)), x), axis=0)


@pytest.mark.parametrize("f", [one, in_a_list, in_a_tuple, of_no_size, of_both],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", [np.array, np.int64, int])
def test_every_call_has_its_own_sizes(f: Callable[..., Any], kind: Callable[..., Any]) -> None:
    compiled = tracejit.jit(f)
    for n, m in ((5, 3), (3, 3), (3, 2), (7, 4), (0, 2), (2, 6)):
        x = np.linspace(0.5, 2.0, m)
        found, expected = compiled(kind(n), x), f(kind(n), x)
        found, expected = ((r if isinstance(r, (list, tuple)) else [r]) for r in (found, expected))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
            assert np.shape(ours) == np.shape(theirs)


SCALARS = (np.float64, np.float32, np.float16, np.complex64, np.complex128, np.bool_, np.int8,
           np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


@pytest.mark.parametrize("kind", SCALARS, ids=lambda k: k.__name__)
def test_scalars_of_every_dtype_are_read_at_every_call(kind: Any) -> None:
    compiled = tracejit.jit(lambda s, x, k: (s * x, s, x * k))
    for value, k in ((1, 3), (0, 2), (1, 5), (0, -7)):
        s, x = kind(value), np.array([0.5, 2.0])
        for found, expected in zip(compiled(s, x, np.int64(k)), (s * x, s, x * k), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
    big = kind(1) if kind is np.bool_ else kind(97)
    assert compiled(big, np.ones(2), 2)[1] == big


def test_gradients_too() -> None:
    def loss(n: Any, x: Any) -> Any:
        return np.sum(x[0] * np.arange(int(n) + 1) ** 2) + np.sum(x)

    gradient = tracejit.grad(loss, argnums=1)
    for n, m in ((5, 2), (3, 4), (4, 4), (1, 2)):
        x = np.ones(m)
        expected = np.ones(m)
        expected[0] += np.sum(np.arange(n + 1) ** 2)
        np.testing.assert_allclose(gradient(np.array(n), x), expected, rtol=1e-14)
