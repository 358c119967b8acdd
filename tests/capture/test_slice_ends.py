"""Slices that end where the size of another axis says: two programs for all sizes at the most."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tracejit


def windows(x, y):
    found = []
    for i in range(5):
        found.append(np.sum(x[i:i + len(y)] * 1.5))
    return np.sum(np.array(found) ** 2) + np.sum(y)


def of_both(x, y):
    return np.sum(x[:len(y)] ** 2) * np.sum(y[:len(x)] ** 3)


def from_the_other_end(x, y):
    return np.sum(x[len(y):] ** 2) + np.sum(x[:-len(y)]) + np.sum(x[::-1][:len(y)] * 2.0)


def in_a_loop(x, y):
    s = 0.0
    for i in range(len(x)):
        s = s + np.sum(np.sin(x[i:i + len(y)]))
    return s * y[0]


def inside_transforms(x, y):
    def of_rows(row):
        return np.sum(row[:len(y)] ** 2) + tracejit.grad(lambda r: np.sum(r[:len(y)] ** 3))(row)[0]

    return np.sum(tracejit.vmap(of_rows)(np.stack([x, 2.0 * x]))) + np.sum(y)


PROGRAMS = [windows, of_both, from_the_other_end, in_a_loop]
SIZES = list(itertools.product((2, 3, 4, 6, 9), (2, 3, 5, 8)))


@pytest.mark.parametrize("order", [1, -1], ids=["upwards", "downwards"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_two_programs_for_all_sizes(f, order):
    gradient = tracejit.value_and_grad(f, argnums=(0, 1))
    with tracejit.config(disable_jit=True):
        for n, m in SIZES[::order]:
            x, y, v, w = (np.random.default_rng([n, m, k]).standard_normal(size)
                          for k, size in enumerate((n, m, n, m)))
            value, (by_x, by_y) = gradient(x, y)
            assert value == pytest.approx(f(x, y), rel=1e-12)
            step = 1e-6
            wanted = (f(x + step * v, y + step * w) - f(x - step * v, y - step * w)) / (2 * step)
            assert by_x @ v + by_y @ w == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert sum(map(len, gradient._table.values())) <= 2


def test_within_transforms():
    captured = tracejit.jit(inside_transforms)
    with tracejit.config(disable_jit=True):
        for n, m in SIZES:
            x, y = np.linspace(0.5, 1.5, n), np.linspace(1.0, 2.0, m)
            rows = [np.sum(r[:m] ** 2) + 3.0 * r[0] ** 2 for r in (x, 2.0 * x)]
            assert captured(x, y) == pytest.approx(sum(rows) + np.sum(y), rel=1e-12)
    assert sum(map(len, captured._table.values())) <= 2
