"""Lists with a place for each item, `[None] * n`, that loops fill are Python's, and stay loops."""

# ruff: noqa: E741
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from list_laws import require_loop, require_pythons

import tracejit

X = np.array([1.3, 0.4, 2.2, 0.9])
N = 20
DRIFT = np.eye(4) + 0.1 * np.diag(np.ones(3), 1)
PUSH = np.array([[0.0], [0.0], [0.0], [0.1]])


def lqr(x: Any, n: int) -> Any:
    p, gains = [None] * (n + 1), [None] * n
    p[n] = np.eye(4)
    for k in range(n - 1, -1, -1):
        gains[k] = np.linalg.solve(0.1 * np.eye(1) + PUSH.T @ p[k + 1] @ PUSH,
                                   PUSH.T @ p[k + 1] @ DRIFT)
        p[k] = np.eye(4) + DRIFT.T @ p[k + 1] @ (DRIFT - PUSH @ gains[k])
    cost = 0.0
    for k in range(n):
        u = -gains[k] @ x
        cost = cost + x @ x + 0.1 * u @ u
        x = DRIFT @ x + PUSH @ u
    return cost


def lqr_by_the_last(x: Any, n: int) -> Any:
    p, gains = np.eye(4), [None] * n
    for k in reversed(range(n)):
        gain = np.linalg.solve(0.1 * np.eye(1) + PUSH.T @ p @ PUSH, PUSH.T @ p @ DRIFT)
        p = np.eye(4) + DRIFT.T @ p @ (DRIFT - PUSH @ gain)
        gains[k] = gain
    for gain in gains:
        x = (DRIFT - PUSH @ gain) @ x
    return x @ x


def forward(x: Any, n: int) -> Any:
    h = [None] * (n + 1)
    h[0] = x
    for k in range(n):
        h[k + 1] = np.sin(h[k]) * 1.1
    return sum(v @ v for v in h)


def from_the_first(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[k] = x * k
    return sum(np.sum(v) * k for k, v in enumerate(h))


def numbers(x: Any, n: int) -> Any:
    h = [None] * (n + 1)
    h[0] = x[0]
    for k in range(n):
        h[k + 1] = h[k] * x[1] + k
    return h[n] + h[-1] + sum(h)


def two_terms(x: Any, n: int) -> Any:
    h = [None] * (n + 2)
    h[0], h[1] = x[0], x[1]
    for k in range(2, n + 2):
        h[k] = 0.5 * h[k - 1] + 0.25 * h[k - 2]
    return h[n + 1]


def two_at_once(x: Any, n: int) -> Any:
    h = [None] * (2 * n)
    for k in range(n):
        h[2 * k] = x[0] * k
        h[2 * k + 1] = x[1] + k
    return sum(v * k for k, v in enumerate(h))


def downwards(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n - 1, -1, -1):
        h[k] = x[0] * k
    return sum(v * k for k, v in enumerate(h))


def after_a_gap(x: Any, n: int) -> Any:
    h = [None] * (n + 3)
    for k in range(3, n + 3):
        h[k] = x[0] * k
    return sum(h[3:]) * (1.0 if h[0] is None else x[1])


def of_several_lists(x: Any, n: int) -> Any:
    a, b, c = [None] * n, [None] * n, [None] * n
    for k in range(n):
        a[k] = x * k
        b[k] = np.sum(a[k])
        c[n - 1 - k] = b[k] * x[0]
    return sum(np.sum(v) for v in a) + sum(b) + sum(k * v for k, v in enumerate(c))


def by_a_function(x: Any, n: int) -> Any:
    def put(l: Any, k: Any, v: Any) -> None:
        l[k] = v

    h = [None] * n
    for k in range(n):
        put(h, k, x[0] * k)
    return sum(h)


def known_length(x: Any, n: int) -> Any:
    h = [None] * 30
    h[0] = x
    for k in range(1, 30):
        h[k] = h[k - 1] * 0.9 + n
    return sum(np.sum(v) for v in h)


def smoother(x: Any, n: int) -> Any:
    means, smooth = [None] * n, [None] * n
    m = x[0]
    for t in range(n):
        m = 0.9 * m + 0.1 * np.sin(t * x[1])
        means[t] = m
    for t in range(n - 1, -1, -1):
        m = 0.5 * m + 0.5 * means[t]
        smooth[t] = m
    return sum(v * v for v in smooth)


def inner_sums(x: Any, n: int) -> Any:
    h = [None] * (n + 1)
    h[0] = x[0]
    for k in range(1, n + 1):
        s = x[1] * k
        for j in range(k):
            s = s + 0.1 * h[j]
        h[k] = s
    return h[n]


LOOPS = [lqr, lqr_by_the_last, forward, from_the_first, numbers, two_terms, two_at_once, downwards,
         of_several_lists, by_a_function, known_length, smoother, inner_sums, after_a_gap]


def memo(x: Any, n: int) -> Any:
    table = [None] * (n + 1)

    def f(k: Any) -> Any:
        if table[k] is None:
            table[k] = x[0] * k if k < 2 else 0.5 * f(k - 1) + 0.25 * f(k - 2)
        return table[k]

    return f(n)


def some_are_left(x: Any, n: int) -> Any:
    h = [None] * (n + 2)
    for k in range(n):
        h[k] = x[0] * k
    return sum(v for v in h if v is not None) + len(h)


def every_second(x: Any, n: int) -> Any:
    h = [None] * (2 * n)
    for k in range(n):
        h[2 * k] = x[0] * k
    return sum(v for v in h if v is not None)


def on_a_condition(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        if k % 2 == 0:
            h[k] = x[0] * k
    return sum(v for v in h if v is not None)


def read_too_early(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[k] = h[k - 1] * 2.0 if k else x[0]
    return sum(h)


def one_too_many(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n + 1):
        h[k] = x[0] * k
    return sum(h)


def from_the_back(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[-1 - k] = x[0] * k
    return sum(v * k for k, v in enumerate(h))


def twice(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[k] = x[0] * k
    for k in range(n):
        h[k] = h[k] * 2.0
    return sum(h)


def in_rounds(x: Any, n: int) -> Any:
    h = [None] * n
    for r in range(3):
        for k in range(n):
            h[k] = x[0] * k * r
    return sum(h)


def rows(x: Any, n: int) -> Any:
    t = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            t[i][j] = x[0] * i + j
    return sum(sum(r) for r in t)


def pairs(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[k] = (x[0] * k, x[1])
    return sum(a * b for a, b in h)


def one_array(x: Any, n: int) -> Any:
    h, y = [None] * n, x * 1.0
    for k in range(n):
        y *= 0.9
        h[k] = y
    return sum(np.sum(v) for v in h)


def written_later(x: Any, n: int) -> Any:
    h, y = [None] * n, x * 1.0
    for k in range(n):
        y = y * 0.9
        h[k] = y
        y[0] += 1.0
    return sum(np.sum(v) for v in h)


def with_a_break(x: Any, n: int) -> Any:
    h = [None] * n
    for k in range(n):
        h[k] = x[0] * k
        if k == 4:
            break
    return sum(v for v in h if v is not None)


def with_a_while(x: Any, n: int) -> Any:
    h, k = [None] * n, n - 1
    while k >= 0:
        h[k] = x[0] * k
        k -= 1
    return sum(v * k for k, v in enumerate(h))


def appended_and_cut(x: Any, n: int) -> Any:
    h = [None] * n
    h.append(x[0])
    h[0:0] = [x[1]]
    return len(h), h[0], h[-1], h.count(None)


def asked(x: Any, n: int) -> Any:
    h = [None] * n
    return all(v is None for v in h), h == [None] * n, h[:2], None in h, len(h)


def both_ends(x: Any, n: int) -> Any:
    h = [None] * (n + 2)
    h[0], h[n + 1] = x[0], x[1]
    for k in range(1, n + 1):
        h[k] = 0.5 * h[k - 1] + 0.1
    return sum(h)


def zeros_that_get_arrays(x: Any, n: int) -> Any:
    h = [0] * (n + 1)
    h[0] = x
    for k in range(n):
        h[k + 1] = h[k] * 0.5 + 1.0
    return sum(np.sum(v) for v in h)


OTHERS = [memo, some_are_left, every_second, on_a_condition, read_too_early, one_too_many,
          from_the_back, twice, in_rounds, rows, pairs, one_array, written_later, with_a_break,
          with_a_while, appended_and_cut, asked, both_ends, zeros_that_get_arrays]


@pytest.mark.parametrize("n", [0, 1, 2, 6, N])
@pytest.mark.parametrize("fn", [*LOOPS, *OTHERS])
def test_lists_that_are_filled_are_pythons(fn: Any, n: int) -> None:
    require_pythons(fn, X, n, refusable=fn not in LOOPS, guessed=n == 0)


@pytest.mark.parametrize("fn", LOOPS)
def test_loops_that_fill_places_stay_loops(fn: Any) -> None:
    require_loop(fn, X, N)


@pytest.mark.parametrize("fn", [lqr, forward, numbers])
def test_one_program_serves_every_length(fn: Any) -> None:
    compiled = tracejit.value_and_grad(fn)
    for n in (5, 30, 7):
        value, slope = compiled(X, n)
        np.testing.assert_allclose(value, fn(X, n), rtol=1e-10)
        steps = 1e-6 * np.eye(4)
        np.testing.assert_allclose(slope, [(fn(X + h, n) - fn(X - h, n)) / 2e-6 for h in steps],
                                   rtol=1e-4, atol=1e-5)
