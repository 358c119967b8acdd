"""Lists that are as long as data says are results: of numbers, tuples, in tuples and dicts.

Each comes back as Python's own run gives it, in its types, and one program serves all lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracejit

XS = [np.array([1.13, 1.71, -2.3, 3.02]), np.array([2.03, 1.2, -0.4, 0.7, 2.5, 1.9]),
      np.array([1.3, 1.53]), np.array([-1.2, 0.3])]


def filtered(x):
    return [v for v in x if v > 1]


def in_a_dict(x):
    return {"kept": [v * v for v in x if v > 1], "n": len(x), "x": x * 2.0}


def accepted_steps(x):
    t, y, h = 0.0, 1.0 + x[0] ** 2, 0.3
    ts, ys = [t], [y]
    while t < 1.0:
        k1 = -y * x[-1]
        k2 = -(y + h * k1) * x[-1]
        error = abs(h * (k2 - k1)) / 2
        if error < 0.05 * (1 + abs(y)):
            t = t + h
            y = y + 0.5 * h * (k1 + k2)
            ts.append(t)
            ys.append(y)
            h = h * 1.2
        else:
            h = h * 0.5
    return ts, ys


def accepted_steps_as_arrays(x):
    ts, ys = accepted_steps(x)
    return np.array(ts), np.array(ys)


def newton_with_its_history(x):
    a = 1 + x[0] ** 2
    z = a
    history = [z]
    while abs(z * z - a) > 1e-9:
        z = 0.5 * (z + a / z)
        history.append(z)
    return {"root": z, "history": np.array(history), "steps": len(history)}


def path_of_time_warping(x):
    a, b = x, x[::-1] * 1.1
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 1e9)
    cost[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            cost[i + 1, j + 1] = (a[i] - b[j]) ** 2 + min(
                cost[i, j], cost[i, j + 1], cost[i + 1, j])
    i, j = n, m
    path = []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        if cost[i - 1, j - 1] <= cost[i - 1, j] and cost[i - 1, j - 1] <= cost[i, j - 1]:
            i, j = i - 1, j - 1
        elif cost[i - 1, j] < cost[i, j - 1]:
            i = i - 1
        else:
            j = j - 1
    return cost[n, m], path[::-1]


class Step(NamedTuple):
    number: int
    value: float


def of_named_tuples(x):
    found = []
    for k, v in enumerate(x):
        if v > 1.0:
            found.append(Step(k, v * 2.0))
    return found, len(found)


def of_tuples_in_tuples(x):
    found, s = [], abs(x[0])
    while s < 9:
        found = [*found, (s, (len(found), 1.5))]
        s = s * 1.5 + 0.2
    return found


def of_tuples_in_a_counted_loop(x):
    found = []
    for k in range(20):
        found.append((k, x[0] * k))
    return found


def chosen(x):
    above, below = [v for v in x if v > 0], [v for v in x if v <= 0]
    return above if x[0] > 1.2 else below


PROGRAMS = [filtered, in_a_dict, accepted_steps, accepted_steps_as_arrays, newton_with_its_history,
            path_of_time_warping, of_named_tuples, of_tuples_in_tuples, of_tuples_in_a_counted_loop,
            chosen]


def require_same(found: Any, expected: Any) -> None:
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    else:
        assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            require_same(a, b)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("interpreted", [False, True])
def test_results_are_pythons(f: Callable[..., Any], interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        compiled = tracejit.jit(f)
        for x in XS:
            require_same(compiled(x), f(x))


@pytest.mark.parametrize("f", [filtered, accepted_steps, of_tuples_in_tuples],
                         ids=lambda f: f.__name__)
def test_one_program_for_all_lengths(f: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for x in XS:
            compiled(x)
    assert sum(map(len, compiled._table.values())) == 1
