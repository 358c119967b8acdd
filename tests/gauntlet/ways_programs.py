"""Programs of which data decides sizes, lists and choices, for each way to call a program."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

PROGRAMS: list[Callable[..., Any]] = []


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    """Enter a function of an array of floats into the table."""
    PROGRAMS.append(f)
    return f


@dataclass
class Step:
    """A state and its time."""

    t: Any
    y: Any


@program
def masked(x: Any) -> Any:
    kept = x[x > 0.4]
    return np.sum(np.sqrt(kept)) * len(kept)


@program
def repeated(x: Any) -> Any:
    counts = np.arange(len(x)) % 3
    return np.sum(np.repeat(x, counts) ** 2) + np.sum(x[np.nonzero(x > 0.5)])


@program
def a_list_that_grows(x: Any) -> Any:
    found, s = [x[0]], x[0]
    while s < 9.0:
        s = s * 1.5 + 0.2
        found.append(s)
    return sum(found) + len(found)


@program
def a_stack(x: Any) -> Any:
    stack, total = [(0.0, 1.0)], 0.0
    while stack:
        a, b = stack.pop()
        if b - a < 0.3 * x[0]:
            total += (b - a) * np.sin(x[1] * a)
        else:
            stack.append((a, (a + b) / 2))
            stack.append(((a + b) / 2, b))
    return total


@program
def objects_in_a_list(x: Any) -> Any:
    s = Step(0.0, x[:2])
    history = [s]
    while s.t < 2.0:
        s = Step(s.t + 0.1 + 0.2 * x[0], s.y * 0.9)
        history.append(s)
    return sum(e.t * e.y[1] for e in history)


def _halvings(s: Any) -> Iterator[Any]:
    while s > 0.05:
        yield s
        s = s * 0.5


@program
def a_generator(x: Any) -> Any:
    return sum(v * v for v in _halvings(x[0]))


def _area(a: Any, b: Any, w: Any) -> Any:
    m = (a + b) / 2
    if b - a < 0.2 * w:
        return (b - a) * np.cos(w * m)
    return _area(a, m, w) + _area(m, b, w)


@program
def a_recursion(x: Any) -> Any:
    return _area(0.0, 1.0, x[0] + 0.5)


@program
def an_error_that_is_caught(x: Any) -> Any:
    a = np.outer(x, x) - np.eye(len(x))
    for k in range(8):
        try:
            factor = np.linalg.cholesky(a + 0.45 * k * np.eye(len(x)))
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise ValueError("never positive")
    return np.sum(np.log(np.diag(factor)))


@program
def draws_of_a_seed(x: Any) -> Any:
    rng = np.random.default_rng(7)
    return np.sum(x * rng.standard_normal(len(x))) + x[0] * rng.exponential()


@program
def keys_of_data(x: Any) -> Any:
    sums = defaultdict(float)
    for v in x:
        sums[int(10 * v) % 3] += v * v
    return sum(v * v for v in sums.values())


@program
def a_heap_and_a_queue(x: Any) -> Any:
    heap, queue, total = [], deque(), 0.0
    for v in x:
        heapq.heappush(heap, v)
        queue.append(v * v)
    while heap:
        total = total * 0.5 + heapq.heappop(heap) * queue.popleft()
    return total


@program
def a_choice_of_none(x: Any) -> Any:
    best = None
    for k in range(len(x)):
        if x[k] > 0.4 and (best is None or x[k] < best[0]):
            best = (x[k], x[k] ** 2)
    return x[0] if best is None else best[0] * best[1]
