"""Arrays of sizes that a loop decides on lie in the workspace where a bound is known ahead."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.size_bounds import SizeBounds
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Block, Value
from tracejit.ir.dims import Dim, dim_values, evaluate
from tracejit.ir.types import Aval


def tails(a: Any) -> Any:
    total = 0.0
    for i in range(len(a)):
        row = np.sort(a[i, i:])
        total += row[0] * np.sum(row * row)
    return total


def heads(a: Any) -> Any:
    total = 0.0
    for i in range(1, len(a)):
        row = np.sort(a[i - 1, :i])
        total += row[-1] * np.sum(row)
    return total


def backwards(a: Any) -> Any:
    total = 0.0
    for i in range(len(a) - 1, -1, -1):
        row = np.sort(a[i, i:])
        total += row[0] * np.sum(np.sin(row))
    return total


def blocks(a: Any) -> Any:
    n = len(a)
    total = 0.0
    for b in range((n + 2) // 3):
        part = np.sort(a[b, 3 * b:3 * b + 3])
        total += np.sum(part[0] * part)
    return total


def triangle(a: Any) -> Any:
    n = len(a)
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            row = np.sort(a[i, j:])
            total += np.sum(row * row[0])
    return total


BOUNDED = (tails, heads, backwards, blocks, triangle)


def data_decides(a: Any) -> Any:
    total = 0.0
    for i in range(len(a)):
        row = np.sort(a[i, :int(a[i, 0] * len(a))])
        total += np.sum(row * row)
    return total


def branch(a: Any) -> Any:
    total = 0.0
    for i in range(len(a)):
        if a[i, 0] > 0.5:
            row = np.sort(a[i, i:])
            total += np.sum(row * row[0])
    return total


OPEN = (data_decides, branch)


def square(n: int) -> np.ndarray:
    return np.random.default_rng(n).uniform(0.0, 1.0, (n, n))


@pytest.mark.parametrize("fn", BOUNDED, ids=lambda f: f.__name__)
def test_arrays_with_a_bound_lie_in_the_workspace(fn: Any) -> None:
    assert not tracejit.jit(fn).trace(square(5)).lower().kernel.logs
    for n in (0, 1, 2, 3, 7, 8):
        a = square(n)
        with tracejit.config(verify=True):
            value, slope = tracejit.value_and_grad(fn)(a)
        np.testing.assert_allclose(value, fn(a), rtol=1e-12)
        if n:
            step = 1e-6 * np.cos(np.arange(a.size)).reshape(a.shape)
            expected = (fn(a + step) - fn(a - step)) / 2
            np.testing.assert_allclose(np.sum(slope * step), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("fn", OPEN, ids=lambda f: f.__name__)
def test_others_get_their_memory_while_the_kernel_runs(fn: Any) -> None:
    assert tracejit.jit(fn).trace(square(5)).lower().kernel.logs
    for n in (1, 4, 6):
        np.testing.assert_allclose(tracejit.jit(fn)(square(n)), fn(square(n)), rtol=1e-12)


@pytest.mark.parametrize("fn", BOUNDED, ids=lambda f: f.__name__)
def test_bounds_are_reached_and_not_crossed(fn: Any) -> None:
    graph = tracejit.jit(fn).trace(square(5)).graph
    bounds = SizeBounds(graph)
    for number in (1, 2, 3, 5, 8, 9):
        largest: dict[Value, int] = {}
        sizes = {v: number for x in graph.inputs for d in x.aval.shape for v in dim_values(d)}
        _run(graph.block, sizes, largest)
        for v, most in largest.items():
            bound = bounds.of([v])
            assert bound is not None
            assert evaluate(bound, sizes.__getitem__) >= most
            if v.aval.ndim == 1:  # of others each axis has its bound
                assert evaluate(bound, sizes.__getitem__) == most


def _run(block: Block, env: dict[Value, int], largest: dict[Value, int]) -> None:
    """Note how large arrays are in loops that go through all of their numbers."""
    for eqn in block.eqns:
        if region_kind(eqn) == "for":
            lo, hi = (evaluate(d, env.__getitem__) for d in bounds_of(eqn))
            loop = LoopEqn(eqn)
            for i in range(lo, hi):
                inside = {**env, loop.index: i}
                for v in itertools.chain(*(e.outputs for e in loop.body.eqns)):
                    if isinstance(v.aval, Aval) and v.aval.ndim and _known(v.aval.shape, inside):
                        size = int(np.prod([evaluate(d, inside.__getitem__)
                                            for d in v.aval.shape]))
                        largest[v] = max(largest.get(v, 0), size)
                _run(loop.body, inside, largest)


def _known(shape: tuple[Dim, ...], env: dict[Value, int]) -> bool:
    return all(v in env for d in shape for v in dim_values(d))
