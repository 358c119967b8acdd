"""Comprehensions whose filters data decides on, in any of their `for`, and that bind by `:=`.

Python's own run of a program is the oracle of its value, central differences of its gradient: a
name that `any` binds by `:=` is the item at which it stopped.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from list_laws import require_same_as_python, require_values_and_derivatives

XS = [np.array([0.31, 1.27, 0.83, 0.44]), np.array([1.1, 0.4, 0.77, 1.93, 0.61, 0.27])]


def stopped_at(x):
    if any((y := v) > 1.0 for v in x):
        return y * 2
    return x[0]


def stopped_or_not(x):
    found = all((y := v) < 1.5 for v in x)
    return y * 2 if found else y * 3


def stopped_in_a_loop(x):
    s = 0.0
    for k in range(3):
        if any((z := v * k) > 0.8 for v in x):
            s += z
    return s


def stopped_in_pairs(x):
    if not any((m := a * b) > 0.9 for a in x for b in x if a > b):
        return x[0]
    return m


def stopped_in_a_condition(x):
    while any((w := v) > 0.3 for v in x):
        x = x * 0.5
        if w < 0.4:
            break
    return x.sum() + w


def stopped_behind_and(x):
    y = x[1]
    return y + 1 if x[0] > 0.5 and any((y := v) > 0.6 for v in x) else y * 3


def bound_by_filters(x):
    return sum(y for v in x if (y := v * v) > 0.5) + y


def bound_by_inner_filters(x):
    r = [y for v in x for w in x if (y := v * w) > 0.4]
    return sum(r) * y


def bound_in_nested_ones(x):
    return sum(max((y := w) * v for w in x if w >= 0.26) for v in x) + y


def running_sums(x):
    total = 0.0
    sums = [total := total + v for v in x]
    return sums[-1] * sums[1] + total


def pairs_that_are_near(x):
    n = len(x)
    return sum(1 / abs(x[i] - x[j]) for i in range(n) for j in range(i) if abs(x[i] - x[j]) < 0.55)


def least_of_pairs(x):
    n = len(x)
    return min([abs(x[i] - x[j]) for i in range(n) for j in range(i) if x[i] * x[j] > 0.2])


def greatest_or_none(x):
    return max((a + b for a in x for b in x if a != b), default=0.0)


def filters_of_the_first(x):
    return sum(v * k for v in x if v > 0.5 for k in range(3))


def filters_of_known_ints(x):
    pairs = [(i, j) for i in range(4) for j in range(4) if i < j]
    return sum(x[i] * x[j] for i, j in pairs)


def dicts_of_some(x):
    d = {k: v * v for k, v in enumerate(x) if v > 0.6}
    return sum(d.values()) + len(d)


def dicts_of_some_texts(x):
    d = {k: v * v for k, v in zip("abcd", x, strict=False) if k != "b"}
    return d["a"] * d["c"]


def dicts_of_lists_of_some(x):
    near = {i: [j for j in range(len(x)) if j != i and abs(x[i] - x[j]) < 0.55]
            for i in range(len(x))}
    return sum(x[i] * x[j] for i in near for j in near[i])


def sets_of_some(x):
    return len({k % 3 for k, v in enumerate(x) if v > 0.6}) * x[0]


def the_next(x):
    return next(v * 2 for v in x if v > 0.7)


def the_next_or_another(x):
    return next((v * 2 for v in x if v > 1.5), x[0] * x[1])


def the_next_or_none(x):
    best = next(((i, v) for i, v in enumerate(x) if v > 0.5), None)
    return x[0] if best is None else best[1] * (best[0] + 1)


def taken_by_a_function(x):
    def total(items):
        s = 0.0
        for v in items:
            s += v * v
        return s

    return total(v for v in x if v > 0.5)


def named_first(x):
    g = (v * v for v in x if v > 0.5)
    s = 0.0
    for v in g:
        s += v
    return s


def found_in_known_items(x):
    return (2 in (i + j for i in range(3) for j in range(3) if i < j)) * x[0]


def reduced_known_items(x):
    return functools.reduce(lambda a, b: a * b,
                            (x[i] for i in range(3) for j in range(3) if i < j))


def greatest_of_known_items(x):
    return max(x[i] * x[j] for i in range(3) for j in range(3) if i < j)


def largest_of_known_ints(x):
    return sum(heapq.nlargest(2, (i * j for i in range(3) for j in range(3) if i < j))) * x[0]


# --- functions that stop early, of items that change something ------------------------------------


def noted(log, v):
    log.append(v)
    return v


def noted_in_pairs(x):
    log = []
    any(noted(log, a * b) > 0.3 for a in x for b in x)
    return sum(log)


def noted_by_functions(x):
    log = []
    any((lambda: noted(log, v) > 0.8)() for v in x)
    return sum(log)


def noted_by_a_named_one(x):
    log = []
    g = (noted(log, v) < 0.8 for v in x)
    all(g)
    return sum(log)


def noted_by_map(x):
    log = []
    any(map(lambda v: noted(log, v) > 0.8, x))
    return sum(log)


def noted_until_a_known_item(x):
    log = []
    any(noted(log, x[k]) is None or k == 1 for k in (0, 1, 2) for _ in (0, 1))
    return sum(log)


def read_on_in_a_named_one(x):
    it = (v > 0.8 for v in x)
    any(it)
    return sum(1 for _ in it) * x[0]


def read_on_behind_map(x):
    it = iter([x[0], x[1], x[2], x[3]])
    any(map(lambda v: v > 0.8, it))
    return sum(it)


def bound_within_a_lambda(x):
    f = lambda: y if any((y := v) > 0.8 for v in x) else 0.0  # noqa: E731
    return f() * 2


def bound_in_pairs_within_a_lambda(x):
    f = lambda: (any((w := a * b) > 0.3 for a in x for b in x), w)  # noqa: E731
    return f()[1]


def two_by_next(x):
    it = (v for v in x if v > 0.4)
    return next(it) * next(it)


def unpacked(x):
    first, *rest = (v for v in x if v > 0.4)
    return first * len(rest)


def within_a_lambda(x):
    f = lambda a: sum(v * a for v in x for k in range(2) if v > 0.5)  # noqa: E731
    return f(2.0)


RIGHT: list[Callable[..., Any]] = [
    stopped_at, stopped_or_not, stopped_in_a_loop, stopped_in_pairs, stopped_in_a_condition,
    stopped_behind_and, bound_by_filters, bound_by_inner_filters, bound_in_nested_ones,
    running_sums, pairs_that_are_near, least_of_pairs, greatest_or_none, filters_of_the_first,
    filters_of_known_ints, dicts_of_some, dicts_of_some_texts, dicts_of_lists_of_some, sets_of_some,
    the_next, the_next_or_another, the_next_or_none, taken_by_a_function, named_first,
    found_in_known_items, reduced_known_items, greatest_of_known_items, largest_of_known_ints,
    noted_until_a_known_item]
RIGHT_OR_REFUSED: list[Callable[..., Any]] = [
    noted_in_pairs, noted_by_functions, noted_by_a_named_one, noted_by_map, read_on_in_a_named_one,
    read_on_behind_map, bound_within_a_lambda, bound_in_pairs_within_a_lambda, two_by_next,
    unpacked, within_a_lambda]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_comprehensions_are_pythons(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", RIGHT_OR_REFUSED, ids=lambda f: f.__name__)
def test_others_are_right_or_refused(f: Callable[..., Any]) -> None:
    require_same_as_python(f, XS, "test_filters_of_comprehensions")
