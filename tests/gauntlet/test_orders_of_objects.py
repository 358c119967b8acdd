"""Objects that their own `__lt__` puts in order, and lists put in order while loops go over them.

Python's own run of a program is the oracle of its value, central differences of its gradient.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from list_laws import require_values_and_derivatives

import tracejit
from tracejit import Refusal

XS = [np.array([1.13, 1.71, -2.3, 3.02]), np.array([2.03, 1.2, -0.4, 0.7, 2.5, 1.9]),
      np.array([1.3, 1.53])]
"""Points at which no program has a tie."""


class Edge:
    """Its attributes have another order than its costs."""

    def __init__(self, cost: Any, end: Any) -> None:
        self.cost, self.after = cost, -end

    def __lt__(self, other: Edge) -> Any:
        return self.cost < other.cost


@functools.total_ordering
class Job:
    def __init__(self, due: Any, number: Any) -> None:
        self.due, self.number = due, number

    def __lt__(self, other: Job) -> Any:
        return self.due ** 2 > other.due ** 2

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Job) and self.due == other.due

    __hash__ = None  # type: ignore[assignment]


class Node:
    def __init__(self, weight: Any, left: Any = None, right: Any = None) -> None:
        self.weight, self.left, self.right = weight, left, right

    def __lt__(self, other: Node) -> Any:
        return self.weight < other.weight


def sorted_edges(x):
    edges = sorted([Edge(x[k], k) for k in range(len(x))])
    return sum(e.cost * k + e.after for k, e in enumerate(edges))


def sorted_backwards(x):
    edges = sorted([Edge(v * v, 1.0) for v in x], reverse=True)
    return sum(e.cost * k for k, e in enumerate(edges))


def sorted_the_other_way(x):
    jobs = sorted([Job(x[k], k) for k in range(len(x))])
    return sum(j.due * k + k * j.number for k, j in enumerate(jobs))


def by_a_key_that_is_an_object(x):
    return sum(v * k for k, v in enumerate(sorted(x, key=lambda v: Edge(-v, 0.0))))


def searched(x):
    edges = sorted([Edge(x[k], k) for k in range(len(x))])
    left = bisect.bisect_left(edges, Edge(1.25, 0.0))
    right = bisect.bisect(edges, Edge(x[0], 0.0), 1, len(edges))
    return sum(e.cost for e in edges[:left]) * 2.0 + right * edges[left].cost


def huffman(x):
    heap = [Node(abs(v)) for v in x]
    heapq.heapify(heap)
    total = 0.0
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        total += (a.weight + b.weight) ** 2
        heapq.heappush(heap, Node(a.weight + b.weight, a, b))
    return total + heap[0].left.weight * 0.5


PROGRAMS = [sorted_edges, sorted_backwards, sorted_the_other_way, by_a_key_that_is_an_object,
            searched]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


def test_a_heap_of_objects_is_pythons() -> None:
    x = XS[0]
    with tracejit.config(disable_jit=True):
        value, gradient = tracejit.value_and_grad(huffman)(x)
    slope = [(huffman(x + h) - huffman(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))]
    np.testing.assert_allclose(value, huffman(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6)


def test_equal_objects_stay_in_their_order() -> None:
    def f(x):
        edges = sorted([Edge(np.floor(x[k]), k) for k in range(len(x))])
        return sum(e.after * 10.0 ** k for k, e in enumerate(edges))

    x = np.array([1.1, 0.3, 1.7, 0.2, 1.5, 0.9])
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(x) == f(x)


def test_a_nan_in_a_comparison_is_an_error() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(ValueError, match="NaN"):
        tracejit.jit(sorted_edges)(np.array([1.0, 3.0, np.nan, 2.0, 0.5]))


def taken_from_an_iterator(x):
    items = [x[0], x[1], x[2], x[3]]
    rest = iter(items)
    first = next(rest)
    heapq.heapify(items)
    return first + 2 * next(rest)


def a_heap_made_in_a_loop_over_it(x):
    items, total = [x[0], x[1], x[2], x[3]], 0.0
    for k, v in enumerate(items):
        if k == 1:
            heapq.heapify(items)
        total += v * (k + 1)
    return total


@pytest.mark.parametrize("f", [taken_from_an_iterator, a_heap_made_in_a_loop_over_it],
                         ids=lambda f: f.__name__)
def test_a_list_is_not_put_in_order_under_an_iterator(f: Callable[..., Any]) -> None:
    """Or it would go on with the wrong items."""
    with pytest.raises(Refusal, match=r"test_orders_of_objects\.py:\d+: a list is put in order"):
        tracejit.jit(f)(XS[0])


# --- comparisons that change something ------------------------------------------------------------


class Asked:
    """Counts how often it is compared."""

    def __init__(self, value: Any, log: Any, memory: Any) -> None:
        self.value, self.log, self.memory, self.asked = value, log, memory, 0

    def __lt__(self, other: Any) -> Any:
        self.asked += 1
        return self.value < other.value


class Logging(Asked):
    """Notes each comparison in a list."""

    def __lt__(self, other: Any) -> Any:
        self.log.append(1)
        return self.value < other.value


class Writing(Asked):
    """Counts comparisons in an array."""

    def __lt__(self, other: Any) -> Any:
        self.memory[0] += 1.0
        return self.value < other.value


class Sometimes(Asked):
    """Counts comparisons of negative numbers."""

    def __lt__(self, other: Any) -> Any:
        if self.value < 0.0:
            self.asked += 1
        return self.value < other.value


class Free(Asked):
    """Changes nothing but what it has made."""

    def __lt__(self, other: Any) -> Any:
        both = [self.value, other.value]
        both[0] = both[0] * 1.0
        return both[0] < both[1]


@pytest.mark.parametrize("kind", [Asked, Logging, Writing, Sometimes, Free])
def test_a_comparison_that_changes_something_is_refused(kind: Any) -> None:
    """How often Python compares is decided by data, and by its way to sort."""
    def f(x: Any) -> Any:
        log: list[Any] = []
        memory = np.zeros(1)
        items = [kind(x[0], log, memory), kind(x[1], log, memory), kind(x[2], log, memory)]
        first = sorted(items)[0]
        return first.value + items[0].asked + 2.0 * items[1].asked + len(log) + memory[0]

    x = np.array([3.0, -1.0, -2.0])
    with tracejit.config(disable_jit=True):
        if kind is Free:
            assert tracejit.jit(f)(x) == f(x)
            return
        with pytest.raises(tracejit.Refusal, match="comparison changes something"):
            tracejit.jit(f)(x)
