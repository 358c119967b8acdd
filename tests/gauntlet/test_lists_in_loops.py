"""Lists that get longer in loops are right, and loops of the graph where their items are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from list_laws import slopes
from oracles import outcome

import tracejit

X = np.array([1.3, 0.4, 2.2, 0.9])
N = 20
DRIFT = np.eye(4) + 0.1 * np.diag(np.ones(3), 1)
PUSH = np.array([[0.0], [0.0], [0.0], [0.1]])


def lqr(x0: Any, n: int) -> Any:
    p, gains = np.eye(4), []
    for _ in range(n):
        k = np.linalg.solve(0.1 * np.eye(1) + PUSH.T @ p @ PUSH, PUSH.T @ p @ DRIFT)
        p = np.eye(4) + DRIFT.T @ p @ (DRIFT - PUSH @ k)
        gains.append(k)
    gains.reverse()
    x, cost = x0, 0.0
    for t in range(n):
        u = -gains[t] @ x
        cost = cost + x @ x + 0.1 * u @ u
        x = DRIFT @ x + PUSH @ u
    return cost


def lqr_by_insertion(x0: Any, n: int) -> Any:
    p, gains = np.eye(4), []
    for _ in range(n):
        k = np.linalg.solve(0.1 * np.eye(1) + PUSH.T @ p @ PUSH, PUSH.T @ p @ DRIFT)
        p = np.eye(4) + DRIFT.T @ p @ (DRIFT - PUSH @ k)
        gains.insert(0, k)
    xs, us = [x0], []
    for t in range(n):
        u = -gains[t] @ xs[-1]
        us.append(u)
        xs.append(DRIFT @ xs[-1] + PUSH @ u)
    return sum(x @ x for x in xs) + sum(0.1 * u @ u for u in us)


def kalman_smoother(x: Any, n: int) -> Any:
    m, v = 0.0, 1.0
    ms, vs, mps, vps = [], [], [], []
    for t in range(n):
        mp, vp = 0.9 * m, 0.81 * v + x[0]
        mps.append(mp)
        vps.append(vp)
        k = vp / (vp + 0.3)
        m, v = mp + k * (np.sin(t * x[1]) - mp), (1 - k) * vp
        ms.append(m)
        vs.append(v)
    smooth = [ms[-1]]
    for t in range(n - 2, -1, -1):
        gain = vs[t] * 0.9 / vps[t + 1]
        smooth.append(ms[t] + gain * (smooth[-1] - mps[t + 1]))
    smooth = smooth[::-1]
    return sum(s * s for s in smooth)


def kalman_smoother_of_vectors(x: Any, n: int) -> Any:
    step, seen = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([1.0, 0.0])
    m, p = np.zeros(2), np.eye(2)
    ms, ps, mps, pps = [], [], [], []
    for t in range(n):
        mp, pp = step @ m, step @ p @ step.T + x[0] * np.eye(2)
        s = seen @ pp @ seen + 0.3
        k = pp @ seen / s
        m, p = mp + k * (np.sin(t * x[1]) - seen @ mp), pp - np.outer(k, k) * s
        ms.append(m)
        ps.append(p)
        mps.append(mp)
        pps.append(pp)
    s = ms[-1]
    total = s @ s
    for t in range(n - 2, -1, -1):
        s = ms[t] + ps[t] @ step.T @ np.linalg.inv(pps[t + 1]) @ (s - mps[t + 1])
        total = total + s @ s
    return total


def seismogram(c: Any, n: int) -> Any:
    u, v, trace = np.zeros(4), np.zeros(4), []
    for t in range(n):
        a = np.zeros(4)
        a[1:-1] = c[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
        a[1] += np.sin(0.3 * t)
        v = v + 0.1 * a
        u = u + 0.1 * v
        trace.append(u[2])
    return np.sum(np.array(trace) ** 2)


def history(x: Any, n: int) -> Any:
    xs = [x[0]]
    for i in range(n):
        xs.append(np.sin(xs[-1]) * xs[0] + xs[i] * 0.1)
    return xs[-1] + sum(xs) + len(xs)


def two_terms_back(x: Any, n: int) -> Any:
    a = [x[0], 2 * x[1]]
    for i in range(2, n):
        a.append(0.5 * a[i - 1] + 0.3 * a[i - 2])
    return a[-1]


def over_an_array(x: Any, n: int) -> Any:
    out = []
    for v in x:
        out.append(v * v)
    return out[0] + out[-1] * len(out)


def two_at_once(x: Any, n: int) -> Any:
    out = []
    for v in x:
        out.append(v * v)
        out.append(v)
    return sum(k * v for k, v in enumerate(out))


def other_names(x: Any, n: int) -> Any:
    xs = []
    ys = xs
    for i in range(n):
        xs.append(x[0] * i)
    return sum(ys) + len(ys)


def extended(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        xs.extend([x[0] * i, x[1]])
    xs += [1.0]
    return sum(k * v for k, v in enumerate(xs))


def in_each_iteration(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        r = []
        for j in range(n):
            r.append(x[0] * i + j)
        xs.append(sum(r))
    return sum(xs) * xs[2]


def in_two_loops(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        for j in range(n):
            xs.append(x[0] * i + j)
    return xs[3] * xs[20] + sum(xs)


def of_an_object(x: Any, n: int) -> Any:
    class Holder:
        pass

    h: Any = Holder()
    h.xs = []
    for i in range(n):
        h.xs.append(x[0] * i)
    return sum(h.xs)


def of_a_dict(x: Any, n: int) -> Any:
    d: dict[str, list[Any]] = {"a": [], "b": []}
    for i in range(n):
        d["a"].append(x[0] * i)
        d["b"].append(len(d["a"]) * x[1])
    return sum(d["a"]) + sum(d["b"])


def an_int_first(x: Any, n: int) -> Any:
    xs = [0]
    for i in range(n):
        xs.append(xs[-1] + x[0] * i)
    return xs[-1]


def its_length(x: Any, n: int) -> Any:
    xs, s = [], 0.0
    for _ in range(n):
        s = s + len(xs) * x[0]
        xs.append(s)
    return s


def added_in_place(x: Any, n: int) -> Any:
    xs = [x[0]]
    ys = xs
    for i in range(n):
        xs += [xs[-1] * 0.5 + i]
    return ys[-1] + len(ys)


def iterated_backwards(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(x * i)
    s = x * 0.0
    for v in reversed(xs):
        s = 0.5 * s + v
    return np.sum(s)


def by_a_function(x: Any, n: int) -> Any:
    def record(log: Any, v: Any) -> None:
        log.append(v)

    log: list[Any] = []
    for i in range(n):
        record(log, x[1] * i)
    return log[-1] * log[1]


def down(x: Any, n: int) -> Any:
    xs = []
    for i in range(n - 1, 0, -1):
        xs.append(x[0] * i)
    return sum(k * v for k, v in enumerate(xs)) + xs[0]


LOOPS = [lqr, lqr_by_insertion, kalman_smoother, kalman_smoother_of_vectors, seismogram, history,
         two_terms_back, over_an_array, two_at_once, other_names, extended, in_each_iteration,
         in_two_loops, of_an_object, of_a_dict, an_int_first, its_length, added_in_place,
         iterated_backwards, by_a_function, down]


def the_last_has_a_name(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for _ in range(n):
        y = y * 0.9
        xs.append(y)
    y[0] = 100.0
    return np.sum(xs[-1]) + np.sum(xs[0])


def one_array_again_and_again(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for _ in range(n):
        y *= 0.9
        xs.append(y)
    return np.sum(xs[-1]) + np.sum(xs[0])


def written_before_it_goes_on(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for i in range(n):
        xs.append(y)
        y = y * 0.9
        y[1] = i
    return np.sum(xs[-1]) + np.sum(xs[0])


def the_first_has_a_name(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    first = y
    for _ in range(n):
        xs.append(y)
        y = y * 0.9
    first[0] = 7.0
    return np.sum(xs[-1]) + np.sum(xs[0])


def in_two_lists(x: Any, n: int) -> Any:
    xs, ys, y = [], [], x * 1.0
    for _ in range(n):
        y = y * 0.9
        xs.append(y)
        ys.append(y)
    xs[3][0] = 5.0
    return np.sum(xs[3]) + np.sum(ys[3])


def written_after_it_went(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for _ in range(n):
        y = y * 0.9
        xs.append(y)
        y[0] += 1.0
    return np.sum(xs[3]) + np.sum(xs[5])


def written_an_iteration_later(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for _ in range(n):
        y[1] += 1.0
        y = y * 0.9
        xs.append(y)
    return np.sum(xs[3]) + np.sum(xs[5])


def written_through_the_last(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for i in range(n):
        y = y * 0.9
        xs.append(y)
        xs[-1][0] = i * 1.0
    return np.sum(xs[3]) + np.sum(xs[5]) + y[0]


def written_through_the_first(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    for i in range(n):
        y = y * 0.9
        xs.append(y)
        xs[0][0] = i * 1.0
    return np.sum(xs[0]) + np.sum(xs[5])


def the_one_before_has_a_name(x: Any, n: int) -> Any:
    xs, y = [], x * 1.0
    before = y
    for _ in range(n):
        before = y
        y = y * 0.9
        xs.append(y)
    before[0] = 50.0
    return np.sum(xs[-2]) + np.sum(xs[-1])


def rows_of_rows(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        r = []
        for j in range(n):
            r.append(x[0] * i + j)
        xs.append(r)
    return xs[3][4] * xs[2][1]


def pairs(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append((x[0] * i, x[1]))
    return sum(a * b for a, b in xs)


def every_second(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        if i % 2 == 0:
            xs.append(x[0] * i)
    return sum(xs)


def until_a_break(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(x[0] * i)
        if i == 5:
            break
    return sum(xs) + len(xs)


def a_queue(x: Any, n: int) -> Any:
    q, s = [x[0]], 0.0
    for _ in range(n):
        v = q.pop(0)
        s = s + v
        q.append(v * 0.5)
    return s


def growing_items(x: Any, n: int) -> Any:
    xs = []
    for i in range(1, n):
        xs.append(np.sum(x[:1] * i))
        xs.append([i] * i)
    return xs[0] * len(xs[5])


def numbers_then_arrays(x: Any, n: int) -> Any:
    xs = [0.0]
    for i in range(n):
        xs.append(x * i)
    return xs[0] + np.sum(xs[3])


def views_of_one(x: Any, n: int) -> Any:
    m, xs = np.outer(x, x), []
    for i in range(4):
        xs.append(m[i])
    for i in range(n):
        xs.append(m[i % 4])
    xs[0][0] = 9.0
    return np.sum(m) + np.sum(xs[4])


def identity(x: Any, n: int) -> Any:
    xs, y = [x], x
    for _ in range(n):
        y = y * 0.5
        xs.append(y)
    return (xs[0] is x) * x[0] + (xs[-1] is y) * x[1] + (xs[1] is y) * x[2]


def written_by_slots(x: Any, n: int) -> Any:
    xs, ys = [], []
    for i in range(n):
        xs.append(x[0] * i)
        ys.append(0)
    for i in range(n):
        ys[i] = xs[i] * 0.5
    xs[2] = 3
    return sum(ys) + sum(xs)


def popped_afterwards(x: Any, n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(x * i)
    last = xs.pop()
    last[0] = 1.0
    return np.sum(last) + np.sum(xs[-1]) + len(xs)


OTHERS = [the_last_has_a_name, one_array_again_and_again, written_before_it_goes_on,
          the_first_has_a_name, in_two_lists, written_after_it_went, written_an_iteration_later,
          written_through_the_last, written_through_the_first, the_one_before_has_a_name,
          rows_of_rows, pairs, every_second, until_a_break, a_queue, growing_items,
          numbers_then_arrays, views_of_one, identity, written_by_slots, popped_afterwards]


@pytest.mark.parametrize("n", [0, 1, 2, 6, N])
@pytest.mark.parametrize("fn", [*LOOPS, *OTHERS])
def test_lists_that_get_longer_are_pythons(fn: Any, n: int) -> None:
    expected = outcome(fn, X, n)
    with tracejit.config(disable_jit=True):
        actual = outcome(tracejit.jit(fn), X, n)
    if isinstance(expected, Exception):
        assert type(actual) is type(expected), actual
    else:
        assert n == 0 or type(actual) is type(expected)  # without items, a type is guessed
        np.testing.assert_allclose(actual, expected, rtol=1e-10)


@pytest.mark.parametrize("fn", [*LOOPS, *OTHERS])
def test_gradients_through_lists_that_get_longer(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(fn)(X, N)
    np.testing.assert_allclose(slope, slopes(fn, X, N), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fn", LOOPS)
def test_loops_that_fill_lists_stay_loops(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        traced = tracejit.jit(fn).trace(X, N)
    assert "unrolled" not in traced.why()
    assert "fixed at" not in traced.why()


@pytest.mark.parametrize("fn", [history, in_two_loops, iterated_backwards])
def test_one_program_of_a_list_serves_every_length(fn: Any) -> None:
    compiled = tracejit.value_and_grad(fn)
    for n in (5, 30, 7):
        value, slope = compiled(X, n)
        np.testing.assert_allclose(value, fn(X, n), rtol=1e-12)
        np.testing.assert_allclose(slope, slopes(fn, X, n), rtol=1e-4, atol=1e-5)


def test_items_from_before_are_as_the_loop_leaves_them() -> None:
    def f(x: Any, n: int) -> Any:
        items: list[Any] = [0.5, 1.5]
        s = 0.0

        def body() -> None:
            nonlocal s
            items[0] = s
            s += x[0]
            items.append(s)

        for _ in range(n):
            body()
        return s + sum(items) * items[0]

    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(X, 20), f(X, 20), rtol=1e-12)


def test_a_list_that_a_loop_returns_as_it_grows() -> None:
    def f(x: Any) -> Any:
        items = [0.5, 1.5]

        def found() -> Any:
            for _ in x:
                items.append(0.3)
                return items

        found()
        return sum(items) * x[0]

    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(X), f(X), rtol=1e-12)
