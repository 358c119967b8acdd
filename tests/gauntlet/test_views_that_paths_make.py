"""Views that branches and loops make and leave in a name: read where they were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

VIEWS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda a: a[:, :1], "of a difference": lambda a: (a.T - a)[:, :1],
    "turned": lambda a: a.T, "row": lambda a: a[0], "last": lambda a: a[..., -1],
    "flat": lambda a: a.reshape(-1), "ravelled": lambda a: a.ravel(), "new axis": lambda a: a[None],
    "backwards": lambda a: a[::-1], "stepped": lambda a: a[::2, 1:],
    "one by one": lambda a: a[:1, :1],
    "without axes": lambda a: a[0, 0, ...], "of a view": lambda a: a[1:][:, :1].T,
    "diagonal": lambda a: np.diagonal(a), "swapped": lambda a: np.swapaxes(a, 0, 1)[1:],
    "squeezed": lambda a: a[:1].squeeze(), "broadcast": lambda a: np.broadcast_to(a[:1], a.shape)}


def by_branch(view: Any, x: Any) -> Any:
    y = view(x * x) if x[0, 0] > 0.5 else view(x) * 2.0
    return np.sum(y * y) + x[0, 1]


def in_one_branch(view: Any, x: Any) -> Any:
    y = view(x)
    if x[0, 0] > 0.5:
        y = view(np.sin(x))
    return np.sum(y * y) + x[0, 1]


def by_raising(view: Any, x: Any) -> Any:
    if x[0, 0] > 5.0:
        raise ValueError
    y = view(x * x) if x[0, 0] > 0.5 else view(x + 1.0)
    return np.sum(y * y)


def by_loop(view: Any, x: Any) -> Any:
    y = view(x)
    for k in range(20):
        y = view(x * (0.1 * k)) * 1.0
        z = view(x + y.sum())
    return np.sum(y * y) + np.sum(z)


def by_while(view: Any, x: Any) -> Any:
    y, t = view(x), 0.0
    while t < x[0, 0]:
        y, t = view(np.cos(x) * t), t + 0.2
    return np.sum(y * y) + np.sum(y)


def by_loop_and_branch(view: Any, x: Any) -> Any:
    s = 0.0
    for k in range(20):
        y = view(x * x) if x[0, 0] > 0.05 * k else view(x)
        s = s + np.sum(y) * k
    return s + np.sum(y * y)


PATHS = [by_branch, in_one_branch, by_raising, by_loop, by_while, by_loop_and_branch]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_a_path_makes_is_read_there(name: str, path: Any) -> None:
    """No such program is refused: its derivative is that of differences."""
    def f(x: Any) -> Any:
        return path(VIEWS[name], x)

    with tracejit.config(disable_jit=True):
        g = tracejit.value_and_grad(f)
        for first, n in ((0.83, 3), (0.31, 4), (0.62, 2)):
            x = np.random.default_rng(n).uniform(0.2, 0.9, (n, n))
            x[0, 0] = first
            v = np.random.default_rng(1).normal(size=x.shape)
            value, slope = g(x)
            np.testing.assert_allclose(value, f(x), rtol=1e-12)
            difference = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
            np.testing.assert_allclose(np.sum(slope * v), difference, rtol=1e-6, atol=1e-8)
