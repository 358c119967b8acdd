"""Parts of arrays written from other parts: neither a copy of the array nor of what is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit


def eliminated(a):
    for k in range(len(a) - 1):
        a[k + 1:, k] = a[k + 1:, k] / a[k, k]
        a[k + 1:, k + 1:] -= a[k + 1:, k, None] * a[k, k + 1:]
    return a


def swept_down(a):
    for k in range(1, len(a)):
        a[k:] += np.tanh(a[k - 1]) * a[k - 1, 0]
    return a


def swept_up(a):
    for k in range(len(a) - 2, -1, -1):
        a[:k + 1] = 0.5 * a[:k + 1] + a[k + 1]
    return a


def halves(a):
    n = len(a) // 2
    a[:n] = np.sin(a[n:2 * n]) + a[:n]
    return a


def one_row_inside(a):
    for k in range(len(a) - 2):
        a[k:k + 3] = a[k:k + 3] * a[k + 1]  # the row is among those that are written
    return a


def next_rows(a):
    a[1:] = a[:-1] * 0.5 + a[1:]  # each row but the first is read where it is written later
    return a


def column_of_all(a):
    a[:, 1:] *= a[:, :1] * a[0, 0]
    return a


def meets_at_the_end(a):
    n = len(a) // 2
    a[n:] = a[len(a) - n - 1, None] + a[n:]
    return a


PROGRAMS = {f.__name__: f for f in (eliminated, swept_down, swept_up, halves, one_row_inside,
                                    next_rows, column_of_all, meets_at_the_end)}


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes_are_numpys(name, verify):
    f, rng = PROGRAMS[name], np.random.default_rng(8)

    def loss(a: Any, w: Any) -> Any:
        return np.sum(np.tanh(f(a.copy())) * w)

    with tracejit.config(verify=verify):
        g = tracejit.value_and_grad(loss)
        for n in (2, 3, 7, 18):
            a, w = rng.normal(size=(n, n)) + 4.0 * np.eye(n), rng.normal(size=(n, n))
            value, slope = g(a, w)
            np.testing.assert_allclose(value, loss(a, w), rtol=1e-11)
            step = rng.normal(size=a.shape)
            ends = [loss(a + h * step, w) for h in (1e-6, -1e-6)]
            np.testing.assert_allclose(np.vdot(slope, step), (ends[0] - ends[1]) / 2e-6,
                                       rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["eliminated", "swept_down"])
def test_no_array_is_stored_but_rows_and_columns(name):
    """Each array that the kernel has besides is of one axis."""
    source = tracejit.jit(lambda a: PROGRAMS[name](a.copy())).trace("f64[n, n]").lower().source
    kernel = source[source.index("def kernel"):]
    sizes = [line for line in kernel.splitlines() if "log_grow" in line or "_at(arena" in line]
    assert not any(" * (n -" in line or "n * n" in line for line in sizes), kernel
