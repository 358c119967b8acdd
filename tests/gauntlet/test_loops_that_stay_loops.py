"""Loops of ordinary programs that were unrolled once: they are loops of the graph, and right.

Python's own run is the oracle of values, central differences of gradients; what cannot be told
apart in a loop is refused, or unrolled as before.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from list_laws import require_loop, require_right_or_refused

import tracejit

TEXT, OTHER = "GATTACAGTGATTACAGTCCA", "GCATGCTAGGATTACAAC"


def one_array_several_times(x, n):
    """A chain of states, of which many are the one before."""
    y, chain = x * 1.0, []
    for i in range(n):
        proposed = y + np.sin(i + x)
        if np.sum(proposed) < 2.0:
            y = proposed
        chain.append(y)
    return sum(np.sum(v) * k for k, v in enumerate(chain))


def a_heap_that_gets_shorter(x, n):
    heap = [(x[0] * np.cos(1.0 + k * k), k) for k in range(n)]
    heapq.heapify(heap)
    total, label = 0.0, n
    while len(heap) > 1:
        a, i = heapq.heappop(heap)
        b, _ = heapq.heappop(heap)
        total += (a + b) ** 2 * (i + 1)
        heapq.heappush(heap, (a + b, label))
        label += 1
    return total


def aligned(x, n):
    scores = np.zeros((len(TEXT) + 1, len(OTHER) + 1))
    for i in range(1, len(TEXT) + 1):
        for j in range(1, len(OTHER) + 1):
            same = x[0] if TEXT[i - 1] == OTHER[j - 1] else -0.3
            scores[i, j] = max(scores[i - 1, j - 1] + same, scores[i - 1, j] - x[1] * 0.2,
                               scores[i, j - 1] - 0.25)
    return scores[len(TEXT), len(OTHER)] + n


def letters_from_the_end(x, n):
    total = 0.0
    for k in range(1, len(TEXT)):
        if TEXT[-k] == "A":
            total += x[0] * k
        elif TEXT[-k] != TEXT[k]:
            total += x[1] * total
    return total + n


def means_of_as_many_as_data_says(x, n):
    points = np.sin(np.arange(2.0 * n)).reshape(n, 2) * x
    chosen = [k for k in range(n) if points[k, 0] > 0.05]
    return np.sum((sum(points[k] for k in chosen) / len(chosen)) ** 2)


LOOPS = [one_array_several_times, a_heap_that_gets_shorter, aligned, letters_from_the_end,
         means_of_as_many_as_data_says]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_stays_one(f: Callable[..., Any]) -> None:
    require_loop(f, np.array([0.31, 0.83]), 14)


def _chain(x, n):
    y, chain = x * 1.0, []
    for i in range(n):
        y = y + np.sin(i + x) if y[0] < 2.0 else y
        chain.append(y)
    return chain, y


def the_last_is_written_to(x, n):
    chain, y = _chain(x, n)
    y[0] = 7.0
    return sum(np.sum(v) * k for k, v in enumerate(chain))


def an_item_is_written_to(x, n):
    chain, _ = _chain(x, n)
    chain[5][0] = 7.0
    return sum(np.sum(v) * k for k, v in enumerate(chain))


def written_to_before_it_is_appended(x, n):
    y, chain = x * 1.0, []
    for _ in range(n):
        y[0] = y[0] + 1.0
        chain.append(y)
    return sum(np.sum(v) * k for k, v in enumerate(chain))


def written_to_between_two_chains(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(14):
        chain = []
        for i in range(n):
            y = y * 0.5 + 1.0 if y[0] * i > 3 else y
            chain.append(y)
        y[0] += 0.1
        total = total + sum(np.sum(v) * k for k, v in enumerate(chain))
    return total


def the_first_is_written_to_later(x, n):
    first = x * 1.0
    y, chain = first, []
    for i in range(n):
        y = y * 0.5 + 1.0 if y[0] * i > 3 else y
        chain.append(y)
    first[1] = 9.0
    return sum(np.sum(v) * k for k, v in enumerate(chain))


def items_compared_by_identity(x, n):
    chain, y = _chain(x, n)
    return x[0] + (chain[3] is chain[4]) + (chain[-1] is y)


def each_is_written_to(x, n):
    y, chain = x * 1.0, []
    for _ in range(n):
        chain.append(y)
    for k in range(n):
        chain[k][0] += 1.0
    return sum(np.sum(v) * k for k, v in enumerate(chain))


ALIASES = [the_last_is_written_to, an_item_is_written_to, written_to_before_it_is_appended,
           written_to_between_two_chains, the_first_is_written_to_later,
           items_compared_by_identity, each_is_written_to]


@pytest.mark.parametrize("f", ALIASES, ids=lambda f: f.__name__)
def test_arrays_that_are_items_several_times(f: Callable[..., Any]) -> None:
    require_right_or_refused(f, [(np.array([0.3, 0.8]), 14)])


def test_a_letter_outside_is_an_error() -> None:
    def f(x):
        k, total = 0, 0.0
        while total < 3.0:
            total += x[0] if TEXT[k] == "G" else 0.0
            k += 7
        return total

    with tracejit.config(disable_jit=True), pytest.raises(IndexError, match="string index"):
        tracejit.jit(f)(np.array([0.5]))
