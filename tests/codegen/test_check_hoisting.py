"""Loops whose indices may be out of bounds: Python's values and errors, but no checks inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.loop_ir import Loop, Return, every_node
from tracejit.codegen.lower import lower_graph


def shifted(x: Any, w: Any, k: int) -> Any:
    s = 0.0
    for i in range(len(w)):
        s += x[i + k] * w[i] * w[i]
    return s


def downwards(x: Any, w: Any, k: int) -> Any:
    s = 0.0
    for i in range(len(w) - 1, -1, -1):
        s = s * 0.5 + x[i - k] * w[i] * w[i]
    return s


def periodic(x: Any, w: Any, k: int) -> Any:
    s = 0.0
    for i in range(len(w)):
        s += (x[i - 1] - 2 * x[i] + x[i + k]) ** 2 * w[i]
    return s


def falling(x: Any, w: Any, k: int) -> Any:
    s = 0.0
    for i in range(len(w)):
        s += x[k - i] * w[i] * x[i]
    return s


def written(x: Any, w: Any, k: int) -> Any:
    y = x * 2.0
    for i in range(len(w)):
        y[i + k] = y[i] * w[i]
    return np.sum(y * y)


def triangle(x: Any, w: Any, k: int) -> Any:
    s = 0.0
    for i in range(len(w)):
        for j in range(i, len(w)):
            s += x[j - k] * w[i] * x[i]
    return s


def counted(x: Any, w: Any, k: int) -> Any:
    s, at = 0.0, k
    for i in range(len(w)):
        for j in range(i):
            s += x[at] * w[j] * w[i]
            at += 1
    return s


def other_row(x: Any, w: Any, k: int) -> Any:
    s, rows = 0.0, np.outer(x, w)
    for i in range(len(w)):
        for j in range(len(x)):
            s += rows[j, i + k] * rows[j, k] * x[j]
    return s


PROGRAMS = [shifted, downwards, periodic, falling, written, triangle, counted, other_row]
SIZES = [(5, 5), (5, 3), (3, 5), (0, 2), (4, 0), (1, 1), (12, 5)]
OFFSETS = [0, 1, -1, 2, -3, 4, -5, 6, 2 ** 62, -2 ** 62]


def _outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return f(*args)
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_slopes_and_errors_are_pythons(f: Callable[..., Any]) -> None:
    compute = tracejit.value_and_grad(f)
    draw = np.random.default_rng(0)
    for n, m in SIZES:
        x, w = draw.normal(size=n), draw.normal(size=m)
        for k in OFFSETS:
            expected = _outcome(f, x, w, k)
            if isinstance(expected, str):
                if abs(k) < 100:  # a message shows larger numbers as floats
                    assert _outcome(compute, x, w, k) == expected
                with pytest.raises(IndexError):
                    compute(x, w, k)
                continue
            value, slope = compute(x, w, k)
            np.testing.assert_allclose(value, expected, rtol=1e-12)
            steps = [f(x + 1e-30j * e, w + 0j, k).imag / 1e-30 for e in np.eye(n)]
            np.testing.assert_allclose(slope, steps, rtol=1e-10, atol=1e-12)


def _has_checks(f: Callable[..., Any]) -> list[bool]:
    """Return of each innermost loop, in order, whether its iterations may leave the kernel."""
    graph = tracejit.jit(f).trace(np.ones(3), np.ones(3), 1).graph
    loops = [n for n in every_node(lower_graph(graph).nodes) if isinstance(n, Loop) and n.blocks]
    inner = [n for n in loops if not any(isinstance(m, Loop) for m in every_node(n.body))]
    return [any(isinstance(m, Return) for m in every_node(n.body)) for n in inner]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_an_innermost_loop_has_no_checks(f: Callable[..., Any]) -> None:
    assert set(_has_checks(f)) == {True, False}


def test_indices_that_count_from_the_end_are_in_a_loop_of_their_own() -> None:
    """Those of the first iterations, where indices grow; else they are among the last ones."""
    assert _has_checks(periodic) == [True, False, True]
    assert _has_checks(downwards) == [False, True]
