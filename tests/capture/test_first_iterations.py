"""Loops whose first iteration makes an array of a number: it is carried out before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace.lists.iterables import TracedIterable

# ruff: noqa: B905  (a plain zip, as users write it)


def sum_of_rows(A: Any) -> Any:
    total = 0
    for row in A:
        total += row
    return np.sum(total**2)


def nested(A: Any) -> Any:
    total = 0.0
    for i in range(len(A)):
        for j in range(A.shape[1]):
            total = total + A[i, j] * A[j % len(A)]
    return np.sum(total**2)


def leaves_early(A: Any) -> Any:
    product = 1.0
    for row, other in zip(A, A[::-1]):
        product = product * row + other.sum()
        if np.sum(product) > 4.0:
            break
    else:
        product = product * 2.0
    return np.sum(product**2)


def goes_on_and_returns(A: Any) -> Any:
    total = 0.0
    for i, row in enumerate(A):
        if i == 1:
            continue
        total = np.tanh(total) + row
        if total[0] > 0.9:
            return np.sum(total)
    return np.sum(total**2)


def backwards_from_the_second_last(A: Any) -> Any:
    state = np.float64(0.0)
    for i in range(len(A) - 2, -1, -1):
        state = 0.5 * state + A[i] * A[i + 1]
    return np.sum(state**2)


def moments_in_a_dict(A: Any) -> Any:
    moments = {"first": 0.0, "second": 0.0}
    w = A[0]
    for t in range(1, 5):
        slope = np.cos(w) * A[-1]
        moments["first"] = 0.9 * moments["first"] + 0.1 * slope
        moments["second"] = 0.99 * moments["second"] + 0.01 * slope**2
        w = w - 0.1 * moments["first"] / (np.sqrt(moments["second"] / (1 - 0.99**t)) + 1e-8)
    return np.sum(w**2)


def compensated(A: Any) -> Any:
    total = lost = 0.0
    for row in A:
        y = row - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return np.sum(total**2) + np.sum(lost)


def branches_that_agree(A: Any) -> Any:
    total = 0.0
    for row in A:
        total = total + row if row[0] > 0.5 else total - 2.0 * row
    return np.sum(total**2)


def a_row_becomes_all(A: Any) -> Any:
    z = A[:1]
    for _ in range(3):
        z = 0.5 * z + A
    return np.sum(z**2)


def outer_products(A: Any) -> Any:
    S = 0.0
    for row in A:
        S = S + np.outer(row, row)
    return np.linalg.det(S + np.eye(A.shape[1]))


PROGRAMS = [sum_of_rows, nested, leaves_early, goes_on_and_returns, backwards_from_the_second_last,
            moments_in_a_dict, compensated, branches_that_agree, a_row_becomes_all, outer_products]


def check(f: Any, sizes: tuple[int, ...] = (4, 2, 5)) -> None:
    """Assert at several sizes that a value is Python's, and a gradient close to differences."""
    g = tracejit.value_and_grad(f)
    for n in sizes:
        rng = np.random.default_rng(n)
        A, v = rng.uniform(0.2, 1.0, (n, 3)), rng.normal(size=(n, 3))
        value, slope = g(A)
        assert value == pytest.approx(f(A.copy()), rel=1e-12)
        difference = (f(A + 1e-6 * v) - f(A - 1e-6 * v)) / 2e-6
        assert np.sum(slope * v) == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("f", PROGRAMS)
def test_numbers_become_arrays(f: Any) -> None:
    with tracejit.config(disable_jit=True, verify=True):
        check(f)


@pytest.mark.parametrize("f", [sum_of_rows, leaves_early])
def test_numbers_become_arrays_in_a_kernel(f: Any) -> None:
    check(f)


def test_a_loop_without_iterations_leaves_the_number() -> None:
    assert tracejit.jit(sum_of_rows)(np.zeros((0, 3))) == 0
    check(sum_of_rows, (1, 3))


def test_the_loop_stays_a_loop_and_says_so() -> None:
    traced = tracejit.jit(sum_of_rows).trace(np.ones((4, 3)))
    assert str(traced.graph).count("for_(") == 1
    assert "the first iteration of this loop is carried out before it: 'total' has shape ()" in (
        traced.why())


def test_what_cannot_begin_before_the_loop_is_refused() -> None:
    def triangular(A: Any) -> Any:
        S = 0.0
        for i in range(len(A)):
            for j in range(i):
                S = S + A[i] * A[j]
        return np.sum(S)

    def until(A: Any) -> Any:
        S = 0.0
        while np.sum(S) < 5.0:
            S = S + A[0]
        return np.sum(S)

    for f in (triangular, until):
        with pytest.raises(tracejit.Refusal, match="before an iteration of this loop and"):
            tracejit.jit(f)(np.ones((4, 3)))


def test_an_array_of_ints_that_gets_floats_grows_after_the_first_iteration() -> None:
    def grows(A: Any) -> Any:
        S = np.arange(3)
        for row in A:
            S = np.concatenate([S, row])
        return np.sum(S * S)

    with tracejit.config(disable_jit=True):
        check(grows)


@pytest.mark.parametrize("rest", [
    lambda items: items,  # the first iteration runs twice
    lambda items: TracedIterable(items.lo + 2, items.hi, items.item, items.what)])
def test_a_loop_that_goes_on_with_the_wrong_item_is_caught(
        rest: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TracedIterable, "without_first", rest)
    with tracejit.config(disable_jit=True), pytest.raises(AssertionError):
        check(sum_of_rows)
