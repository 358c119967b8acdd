"""Loops whose iterations go side by side, eight at a time: values, derivatives, and which they are.

The oracles are NumPy and differences of it. Sizes are below, at and above whole blocks of eight.
"""

from __future__ import annotations

import functools
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_points import points_program

import tracejit

SIZES = (0, 1, 7, 8, 9, 21)
D = 5


def arguments(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r = np.random.default_rng(n)
    return r.normal(size=(n, D)), r.normal(size=D), r.normal(size=(D, D))


# --- side by side ---------------------------------------------------------------------------------


def triangle(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        c = x[i] - a
        y = np.zeros(len(a)) + a * c
        for j in range(len(a)):
            for k in range(j + 1, len(a)):
                y[k] += b[j, k] * c[j]
        total = total + np.log(1.0 + np.sum(y * y))
    return total


def recurrence(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y = x[i, 0]
        for j in range(len(a)):
            y = np.sin(a[j] * y) + x[i, 1] * 0.5
        total += y * y
    return total


def rows_of_result(x: Any, a: Any, b: Any) -> Any:
    out = np.zeros((len(x) + 1, 2))
    for i in range(len(x)):
        y = x[i, 1]
        for j in range(len(a)):
            y = np.tanh(y * a[j] + b[j, 0])
        out[i + 1, 0] = y
        out[i + 1, 1] = out[i + 1, 0] * y + out[i + 1, 1]
    return np.sum(out * out * np.arange(1.0, len(x) + 2.0)[:, None])


def columns_of_result(x: Any, a: Any, b: Any) -> Any:
    out = np.ones((2, D, len(x)))
    for i in range(len(x)):
        y = x[i] * 2.0
        for j in range(1, len(a)):
            y[j] = np.sin(y[j - 1] + a[j] * y[j])
        out[1, :, i] = y
        out[0, :, i] += np.cumsum(y)
    return np.sum(out[0] * out[1] ** 2)


def scratch(x: Any, a: Any, b: Any) -> Any:
    terms, total = np.zeros(len(a)), 0.0
    for i in range(len(x)):
        for j in range(len(a)):
            s = 0.0
            for k in range(len(a)):
                s += b[j, k] * np.cos(a[k] + j)
            terms[j] = s + a[j] * x[i, 2]
        total += np.max(terms) + np.log(np.sum(np.exp(terms - np.max(terms))))
    return total


def what_is_left(x: Any, a: Any, b: Any) -> Any:
    y, total = 1.5, 0.0
    for i in range(len(x)):
        y = x[i, 3]
        for j in range(len(a)):
            y = y * y * a[j] - b[j, j]
            y = y / (1.0 + y * y)
        total += y
    return total + 3.0 * y


def several_sums(x: Any, a: Any, b: Any) -> Any:
    total, vector, count = 0.0, np.zeros(len(a)), 0
    for i in range(len(x)):
        y = x[i].copy()
        for j in range(len(a) - 1):
            y[j + 1] = 0.3 * y[j] * b[j, j + 1] + y[j + 1]
        vector = vector + y * a
        total = total + np.sum(y)
        total = total + np.prod(y)
        count += 1
    return total + np.sum(vector * vector) + count


def sum_in_a_loop_inside(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y = x[i, 0] * x[i, 1]
        for j in range(len(a)):
            y = np.cos(y + a[j])
            total += y * b[j, j]
    return total


def choices(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y, z = x[i, 0], np.maximum(x[i], a)
        for j in range(len(a)):
            y = np.where(y > a[j], a[j] + 0.5 * (y - a[j]), y)
            if j % 2 == 0:
                y = y * b[j, j]
            elif b[j, 0] > 0.0:
                y = np.sin(b[j, 1])
        total += y * (2.0 + np.argmax(z) * 0.0) + np.max(z) * np.min(z)
    return total


def in_a_loop(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for t in range(3):
        for i in range(len(x)):
            y = x[i, t]
            for j in range(len(a)):
                y = np.sin(y * a[j] + total)
            total += 0.0 * y + y * b[t, t] * 0.0
        total = 0.5 * total + 1.0
    return total * np.sum(x * x)


def inner_products_of_columns(x: Any, a: Any, b: Any) -> Any:
    y, total = x.T.copy(), 0.0
    for i in range(len(y)):
        for j in range(y.shape[1]):
            y[i, j] += np.dot(b[i + 1:, i], y[i + 1:, j])
    for j in range(y.shape[1]):
        total += (y[:, j] @ a) ** 2
    return np.sum(y * y) + total


def moments_of_columns(x: Any, a: Any, b: Any) -> Any:
    y = x.T * 1.0
    mean, spread = np.zeros(y.shape[1]), np.zeros(y.shape[1])
    for j in range(y.shape[1]):
        mean[j] = np.mean(y[:, j])
        y[:, j] -= mean[j]
        spread[j] = np.sqrt(np.sum(y[:, j] * y[:, j]) + 0.1)
        y[:, j] /= spread[j]
    return np.sum(y ** 3) + np.sum(mean * spread)


def extrema_of_columns(x: Any, a: Any, b: Any) -> Any:
    y, total = x.T * 1.0, 0.0
    for j in range(y.shape[1]):
        v = y[:, j]
        total = total + np.max(v) * np.min(v + a) + v[np.argmax(v)] + np.prod(v)
    return total


IN_LANES = (triangle, recurrence, rows_of_result, columns_of_result, scratch, what_is_left,
            several_sums, sum_in_a_loop_inside, choices, inner_products_of_columns,
            moments_of_columns)

# --- one after another ----------------------------------------------------------------------------


def chained(x: Any, a: Any, b: Any) -> Any:
    y = 0.1
    for i in range(len(x)):
        for j in range(len(a)):
            y = np.sin(y * a[j] + x[i, 0])
    return y


def previous_row(x: Any, a: Any, b: Any) -> Any:
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y = x[i, 0] + out[i]
        for j in range(len(a)):
            y = np.sin(y * a[j])
        out[i + 1] = y
    return np.sum(out)


def row_elsewhere(x: Any, a: Any, b: Any) -> Any:
    out = np.zeros(len(x) + D)
    for i in range(len(x)):
        for j in range(len(a)):
            out[i + j] = 0.5 * out[i + j] + x[i, 0] * a[j]
    return np.sum(out * out)


def the_one_before(x: Any, a: Any, b: Any) -> Any:
    out, before, total = np.zeros(len(x) + 1), np.ones(len(x) + 1), 0.0
    for i in range(len(x)):
        y = x[i, 0]
        for j in range(len(a)):
            y = np.sin(y * a[j])
        out = out.copy()
        out[i + 1] = y
        total += before[i]
        before = out
    return total


def read_on_its_way(x: Any, a: Any, b: Any) -> Any:
    total, seen = 0.0, 0.0
    for i in range(len(x)):
        y = x[i, 0]
        for j in range(len(a)):
            y = np.sin(y * a[j])
        total += y
        seen += total * total
    return seen


def written_in_part(x: Any, a: Any, b: Any) -> Any:
    terms, total = np.ones(len(a)), 0.0
    for i in range(len(x)):
        for j in range(1, len(a)):
            terms[j] = a[j] * x[i, 2]
        terms[0] += 1.0
        total += np.sum(terms)
    return total


def bounds_that_differ(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y = x[i, 0]
        for j in range(min(i, len(a))):
            y = np.sin(y * a[j])
        total += y
    return total


def by_elements_of_rows(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(a)):
            total += x[i, j] * a[j]
    return total


def counted(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y = x[i, 0] * (i % 3)
        for j in range(len(a)):
            y = np.sin(y * a[j])
        total += y
    return total


def orthogonal_columns(x: Any, a: Any, b: Any) -> Any:
    y = x.T * 0.3
    for j in range(1, y.shape[1]):
        y[:, j] = np.sin(y[:, j] - 0.2 * (y[:, j] @ y[:, j - 1]) * y[:, j - 1])
    return np.sum(y * y)


def folds_of_rows(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sin(np.sum(x[i] * a))
    return total


def products_of_matrices(x: Any, a: Any, b: Any) -> Any:
    y, total = x.T * 1.0, 0.0
    for j in range(y.shape[1]):
        total = total + np.sum(np.sin(b @ y[:, j]))
    return total


ONE_BY_ONE = (orthogonal_columns, folds_of_rows, products_of_matrices, chained, previous_row,
              row_elsewhere, the_one_before, read_on_its_way, written_in_part, bounds_that_differ,
              by_elements_of_rows, counted)
ANYHOW = (in_a_loop, extrema_of_columns)


def slope(f: Callable[..., Any], args: Any, moves: Any) -> float:
    """Return the derivative along a direction, by differences of the fourth order."""
    def at(h: float) -> float:
        return float(f(*(x + h * v for x, v in zip(args, moves, strict=True))))

    h = 1e-4
    return (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h)


@functools.cache
def compiled(f: Any, **how: Any) -> Any:
    return tracejit.value_and_grad(f, (0, 1, 2), **how)


@pytest.mark.parametrize("f", [*IN_LANES, *ONE_BY_ONE, *ANYHOW], ids=lambda f: f.__name__)
def test_values_and_derivatives_are_those_of_numpy(f: Any) -> None:
    for n in SIZES:
        args = arguments(n)
        r = np.random.default_rng(n + 1)
        moves = [r.normal(size=x.shape) for x in args]
        value, found = compiled(f)(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-11, atol=1e-12)
        along = sum(np.sum(g * v) for g, v in zip(found, moves, strict=True))
        scale = sum(np.sum(np.abs(g * v)) for g, v in zip(found, moves, strict=True))
        assert abs(along - slope(f, args, moves)) <= 1e-7 * (scale + 1.0), n


@pytest.mark.parametrize("f", IN_LANES, ids=lambda f: f.__name__)
def test_other_transforms_agree(f: Any) -> None:
    args = arguments(19)
    value, found = compiled(f)(*args)
    np.testing.assert_allclose(tracejit.jit(f)(*args), value, rtol=1e-11)
    moves = tuple(np.cos(np.arange(x.size)).reshape(x.shape) for x in args)
    along = sum(np.sum(g * v) for g, v in zip(found, moves, strict=True))
    np.testing.assert_allclose(tracejit.jvp(f)(args, moves)[1], along, rtol=1e-9)
    _, pullback = tracejit.vjp(f, *args)
    for how in (pullback(1.0), compiled(f, fp="strict")(*args)[1]):
        for a, b in zip(how, found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(100, 112))
def test_random_programs_are_those_of_loops_as_they_were(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"points_{seed}.py"
    path.write_text(points_program(seed))
    f = runpy.run_path(str(path))["f"]
    together, strict = (tracejit.value_and_grad(f, (0, 1, 2), **how)
                        for how in ({}, {"fp": "strict"}))
    for n in (19, 8, 3):
        args = arguments(n)
        value, found = together(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-9)
        for a, b in zip(found, strict(*args)[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * (1 + np.max(np.abs(b))))


def is_in_lanes(f: Any, **how: Any) -> bool:
    return "TJ806" in tracejit.grad(f, (0, 1, 2), **how).trace(*arguments(9)).why()


@pytest.mark.parametrize("f", IN_LANES, ids=lambda f: f.__name__)
def test_loops_are_in_lanes_where_iterations_do_not_wait(f: Any) -> None:
    assert is_in_lanes(f)
    assert not is_in_lanes(f, fp="strict") and not is_in_lanes(f, without="lanes")


@pytest.mark.parametrize("f", ONE_BY_ONE, ids=lambda f: f.__name__)
def test_other_loops_stay_as_they_are(f: Any) -> None:
    assert not is_in_lanes(f)


def test_sums_of_halves_are_in_order() -> None:
    args = [v.astype(np.float16) for v in arguments(19)]
    assert "TJ806" not in tracejit.grad(recurrence, (0, 1, 2)).trace(*args).why()
    np.testing.assert_array_equal(tracejit.jit(recurrence)(*args),
                                  tracejit.jit(recurrence, fp="strict")(*args))
