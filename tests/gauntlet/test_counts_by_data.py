"""Counts of numbers that data decides: the most common ones, in Counter's order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.linspace(0.3, 2.1, 6)
NUMBERS = (np.array([1, 2, 1, 3, 2, 1, 5]), np.array([1, 1, 1, 1]), np.array([4, 3, 2, 3, 4]))


def the_first(n: Any, x: Any) -> Any:
    counts = Counter(n.tolist())
    number, count = counts.most_common(1)[0]
    return x[number] * count + len(counts)


def all_of_them(n: Any, x: Any) -> Any:
    result = 0.0
    counts = Counter(int(v) for v in n)
    for number, count in counts.most_common():
        result = result * 0.5 + x[number] * count
    return result + counts.total()


def some_of_them(n: Any, x: Any) -> Any:
    counts = Counter(n.tolist())
    counts.update(Counter([1, 2, 2]))
    result = len(counts.most_common(0)) + len(counts.most_common(100))
    for number, count in counts.most_common(2):
        result = result * 0.5 + x[number] * count
    return result


def by_a_key(n: Any, x: Any) -> Any:
    counts: dict[int, int] = defaultdict(int)
    for v in n.tolist():
        counts[v] += 1
    best = max(counts, key=lambda k: counts[k])
    return x[best] * counts[best]


@pytest.mark.parametrize("f", [the_first, all_of_them, some_of_them, by_a_key])
def test_the_most_common_are_pythons(f: Callable[..., Any]) -> None:
    captured, slope = tracejit.jit(f), tracejit.grad(f, argnums=1)
    with tracejit.config(disable_jit=True):
        for n in NUMBERS:
            assert captured(n, X) == pytest.approx(f(n, X))
            ahead = [f(n, X + 1e-6 * e) - f(n, X - 1e-6 * e) for e in np.eye(6)]
            np.testing.assert_allclose(slope(n, X), np.array(ahead) / 2e-6, atol=1e-6)
