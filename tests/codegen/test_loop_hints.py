"""Short rows take one vector at a time, sums and calls several; kept ones lie in one line each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_loop_reports import X86

import tracejit


def vectors_of(function: Callable[..., Any], *specs: str) -> list[int]:
    """Return of each vector loop how many vectors an iteration stores, or else adds up."""
    staged = tracejit.jit(function).trace(*map(tracejit.spec, specs))
    text = staged.lower().compile().llvm
    bodies = re.findall(r"^vector\.body\d*:(.*?)^  br ", text, re.DOTALL | re.MULTILINE)
    stores = [len(re.findall(r"store <\d+ x double>", body)) for body in bodies]
    sums = [len(re.findall(r"phi <\d+ x double>", body)) for body in bodies]
    return [a or b for a, b in zip(stores, sums, strict=True)]


def by_elements(a: Any) -> Any:
    out = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = 2.0 * a[i, j] + 1.0
    return out


def over_time(a: Any) -> Any:
    a = a.copy()
    for _ in range(10):
        a[1:-1] = 0.5 * (a[:-2] + a[2:])
    return a


@X86
@pytest.mark.parametrize(("function", "spec"), [
    (lambda a: 2.0 * a + 1.0, "f64[n, m]"), (by_elements, "f64[n, m]"),
    (lambda a: np.where(a > 0.5, np.maximum(2.0 * a, 1.0), a), "f64[n, m]"),
    (over_time, "f64[n, m]")])
def test_rows_of_plain_arithmetic_take_single_vectors(function: Any, spec: str) -> None:
    counts = vectors_of(function, spec)
    assert counts and set(counts) == {1}


@X86
@pytest.mark.parametrize(("function", "spec"), [
    (lambda x: 2.0 * x + 1.0, "f64[n]"),  # one long loop
    (lambda a: np.sum(a * a, axis=1), "f64[n, m]"),  # an addition waits for the one before
    (lambda a: np.exp(a), "f64[n, m]")])  # a call takes long
def test_long_loops_sums_and_calls_are_left_to_llvm(function: Any, spec: str) -> None:
    counts = vectors_of(function, spec)
    assert counts and max(counts) > 1


@X86
@pytest.mark.parametrize(("function", "count"), [
    (lambda x: np.exp(np.sin(x)), 4), (lambda x: np.log(2.0 + np.exp(np.sin(x) * x)), 4),
    (lambda x: np.exp(x) + np.sin(x), 2), (lambda x: np.exp(np.sin(x)) + np.log(x) * np.cos(x), 2),
    (lambda x: np.sum(np.exp(np.sin(x))), 4), (lambda x: np.sum(np.exp(x) * np.sin(x)), 2)])
def test_more_vectors_at_once_where_a_call_waits_for_another(function: Any, count: int) -> None:
    assert vectors_of(function, "f64[n]") == [count]


@X86
def test_vectors_that_are_kept_around_calls_lie_aligned_on_the_stack() -> None:
    """By chance of the caller's stack, half of them would lie in two lines of the cache."""
    def log_sum(x: Any, a: Any) -> Any:
        return np.sum(np.log(np.sum(a * np.exp(x * a - np.exp(a)), axis=1)))

    staged = tracejit.grad(log_sum, argnums=(0, 1)).trace(*map(tracejit.spec, ("f64[n, m]",) * 2))
    moves = re.findall(r"\n\s+vmov([au])p[sd]\s+(%[yz]mm\d+), -?\d*\(%r[sb]p\)",
                       staged.lower().compile().asm)
    assert {how for how, _ in moves} <= {"a"}, moves
    assert moves or "_ZGV" not in staged.lower().compile().asm
