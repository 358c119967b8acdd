"""Loops over the 8 numbers of a vector stay loops, and loops around them are as innermost ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.loop_ir import If, Loop, Node, children, every_node
from tracejit.codegen.lower import lower_graph
from tracejit.codegen.schedule import LANES
from tracejit.codegen.vector_loops import is_vector


def summed(a: Any, w: Any, k: int) -> Any:
    y = np.zeros((len(w), 8))
    for i in range(len(w)):
        for j in range(i):
            y[i] += w[j + k] * a[j]
    return np.sum(y * y)


def carried(a: Any, w: Any, k: int) -> Any:
    y = np.zeros(8)
    for i in range(len(w)):
        y = 0.5 * y + w[i - k] * a[i]
    return np.sum(np.sin(y))


def folded(a: Any, w: Any, k: int) -> Any:
    s = np.zeros(len(w))
    for i in range(len(w)):
        s[i + k] += np.sum(a[i] * w[i]) + np.max(a[i])
    return np.sum(s * s)


PROGRAMS = (summed, carried, folded)


def around_vectors(nodes: list[Node]) -> Iterator[Loop]:
    """Yield the loops in which are loops over vectors, and no others."""
    for node in every_node(nodes):
        inside = [n for n in every_node([b for c in children(node) for b in c])
                  if isinstance(n, Loop)]
        if isinstance(node, Loop) and inside and all(map(is_vector, inside)):
            yield node


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 0), (5, 0), (9, 1), (9, -1), (9, 12)])
def test_rows_of_eight_are_as_in_numpy(program: Any, n: int, k: int) -> None:
    r = np.random.default_rng(n)
    a, w = r.normal(size=(n, LANES)), r.normal(size=n)
    try:
        expected = program(a, w, k)
    except IndexError:
        with pytest.raises(IndexError):
            tracejit.value_and_grad(program, argnums=(0, 1))(a, w, k)
        return
    value, found = tracejit.value_and_grad(program, argnums=(0, 1))(a, w, k)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    direction = r.normal(size=w.shape)
    h = 1e-6
    slope = (program(a, w + h * direction, k) - program(a, w - h * direction, k)) / (2 * h)
    np.testing.assert_allclose(found[1] @ direction, slope, rtol=1e-6, atol=1e-7)


def test_loops_around_vectors_ask_and_check_nothing() -> None:
    staged = tracejit.grad(summed, argnums=(0, 1)).trace(np.ones((9, LANES)), np.ones(9), 0)
    kernel = lower_graph(staged.graph)
    own = [x for x in around_vectors(kernel.nodes) if x.blocks]
    assert any(not any(isinstance(n, If) for n in every_node(x.body)) for x in own)
