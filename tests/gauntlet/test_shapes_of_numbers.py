"""Arrays whose shapes numbers among the arguments give: one memory under two names of its size.

NumPy is the oracle, for right numbers and for wrong ones, which end in its error before anything is
read or written beyond an array; verify mode looks at every index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

A = np.arange(12.0).reshape(3, 4) * 0.31 - 1.2
C = np.arange(16.0).reshape(4, 4) * 0.1 - 0.7


def reshaped(a: Any, c: Any, n: int, m: int) -> Any:
    return np.sum(np.sin(np.reshape(a * 2.0, (n, m))) * a[:n, :m])


def written_in_place(a: Any, c: Any, n: int, m: int) -> Any:
    b = a * 1.5
    view = b.reshape(n, m)
    view[0] = view[1] * 2.0
    b[2] *= b[0]
    return np.sum(view * view) + np.sum(b)


def returned(a: Any, c: Any, n: int, m: int) -> Any:
    return np.reshape(a + 1.0, (n, m))


def returned_both(a: Any, c: Any, n: int, m: int) -> Any:
    b = np.tanh(a)
    return b.reshape(n * m), b


def filled(a: Any, c: Any, n: int, m: int) -> Any:
    b = np.zeros((n, m))
    for i in range(n):
        b[i] = a[i] * i
        b[i, :] += c[i]
    return np.sum(b * a)


def multiplied_in_a_loop(a: Any, c: Any, n: int, m: int) -> Any:
    b = a.copy()
    for _ in range(3):
        b = np.reshape(np.reshape(b, (n, 1, m)) @ c, (n, m))
        b[0, 0] = 0.3
    return np.sum(b * a)


def triangle(a: Any, c: Any, n: int, m: int) -> Any:
    b = np.zeros((m, m))
    for i in range(m):
        b[i, i:m] = b[i:m, i] = a[:, i] @ a[:, i:m]
    return np.sum(b * c)


def rows(a: Any, c: Any, n: int, m: int) -> Any:
    b = a.copy()
    for i in range(n):
        b[i, 1:m] += c[i, 1:] * b[i, 0:m - 1]
    return np.sum(b * b)


PROGRAMS = (reshaped, written_in_place, returned, returned_both, filled, multiplied_in_a_loop,
            triangle, rows)
SHAPES = ((3, 4), (4, 3), (3, 3), (3, 5), (40, 40), (2, 6), (12, 1), (0, 4), (3, 0))


def _outcome(f: Callable[..., Any], n: int, m: int) -> Any:
    try:
        found = f(A.copy(), C.copy(), n, m)
    except (ValueError, IndexError) as e:
        return type(e)
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("mode", ["interpreted", "compiled", "verified"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_errors_are_numpys(f: Callable[..., Any], mode: str) -> None:
    with tracejit.config(disable_jit=mode == "interpreted", verify=mode == "verified"):
        g = tracejit.jit(f)
        for n, m in SHAPES:
            wanted, found = _outcome(f, n, m), _outcome(g, n, m)
            if isinstance(wanted, type):
                assert found is wanted, (n, m)
                continue
            for a, b in zip(found, wanted, strict=True):
                assert a.shape == b.shape
                np.testing.assert_allclose(a, b, rtol=1e-13, err_msg=str((n, m)))


@pytest.mark.parametrize("mode", ["compiled", "verified"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_differences(f: Callable[..., Any], mode: str) -> None:
    def loss(a: Any, c: Any, n: int, m: int) -> Any:
        found = f(a, c, n, m)
        return sum(np.sum(np.sin(x)) for x in (found if isinstance(found, tuple) else (found,)))

    with tracejit.config(verify=mode == "verified"):
        g = tracejit.grad(loss, argnums=(0, 1))
        for n, m in ((3, 4), (4, 3), (2, 6)):
            if isinstance(_outcome(f, n, m), type):
                with pytest.raises((ValueError, IndexError)):
                    g(A, C, n, m)
                continue
            by_a, by_c = g(A, C, n, m)
            h = 1e-6
            for x, by, at in (A, by_a, (1, 2)), (A, by_a, (0, 0)), (C, by_c, (2, 3)):
                d = np.zeros_like(x)
                d[at] = h
                up, down = ((A + s * d, C) if x is A else (A, C + s * d) for s in (1, -1))
                slope = (loss(*up, n, m) - loss(*down, n, m)) / (2 * h)
                assert by[at] == pytest.approx(slope, rel=1e-6, abs=1e-7), (n, m, at)
