"""Lists that get longer or shorter as data decides: in `while` loops, in branches, by filters.

Values are compared with Python's own run of the program, gradients with central differences; one
program serves all lengths.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from list_laws import require_compiled, require_values_and_derivatives
from oracles import numeric_gradient

import tracejit
from tracejit import Refusal

PROGRAMS: list[Callable[..., Any]] = []
XS = [np.array([1.13, 1.71, -2.3, 3.02]), np.array([2.03, 1.2, -0.4, 0.7, 2.5, 1.9]),
      np.array([1.3, 1.53]), np.array([-1.7])]
"""Points at which no program has a tie; the last makes most lists empty."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


@program
def the_issues_own(x):
    values, s = [], abs(x[0])
    while s < 10.0:
        values.append(s)
        s = s * (1.1 + abs(x[-1]))
    return np.sum(np.array(values) ** 2) + values[-1]


@program
def newton_with_a_history(x):
    a = 1.0 + x[0] ** 2
    xs = [a, 0.5 * (a + 1.0)]
    while abs(xs[-1] - xs[-2]) > 1e-9:
        xs.append(0.5 * (xs[-1] + a / xs[-1]))
    return xs[-1] + 0.1 * sum(xs) + 0.0 * len(xs)


@program
def bisection_with_a_history(x):
    lo, hi = 0.0, 3.0 + x[0] ** 2
    mids = []
    while hi - lo > 1e-3 * (1.0 + x[0] ** 2):
        mid = 0.5 * (lo + hi)
        mids.append(mid)
        if mid * mid < 2.0:
            lo = mid
        else:
            hi = mid
    return mids[-1] + sum(m * m for m in mids)


@program
def accepted_steps(x):
    t, y, h = 0.0, 1.0 + x[0] ** 2, 0.3
    ts, ys = [t], [y]
    while t < 1.0:
        k1 = -y * x[-1]
        k2 = -(y + h * k1) * x[-1]
        error = abs(h * (k2 - k1)) / 2
        if error < 0.05 * (1.0 + abs(y)):
            t = t + h
            y = y + 0.5 * h * (k1 + k2)
            ts.append(t)
            ys.append(y)
            h = h * 1.2
        else:
            h = h * 0.5
    area = 0.0
    for k in range(len(ts) - 1):
        area += 0.5 * (ts[k + 1] - ts[k]) * (ys[k] + ys[k + 1])
    return area + ys[-1]


@program
def event_times(x):
    height, speed, t, events = 1.0 + x[0] ** 2, 0.0, 0.0, []
    for _ in range(60):
        height, speed, t = height + 0.05 * speed, speed - 0.05 * 9.81, t + 0.05
        if height < 0.0:
            events.append(t + height)
            height, speed = -height, -0.7 * speed
    return sum(e * e for e in events) + len(events)


@program
def simpson_by_a_stack(x):
    c = x[0]
    ends = [0.0, 1.0 + 0.1 * x[-1] ** 2]
    total = 0.0
    while len(ends) > 0:
        b = ends.pop()
        a = ends.pop()
        m = 0.5 * (a + b)
        one = (b - a) / 6 * (np.sin(c * a) + 4 * np.sin(c * m) + np.sin(c * b))
        p, q = 0.5 * (a + m), 0.5 * (m + b)
        two = (b - a) / 12 * (np.sin(c * a) + 4 * np.sin(c * p) + 2 * np.sin(c * m)
                              + 4 * np.sin(c * q) + np.sin(c * b))
        if abs(two - one) < 1e-7:
            total += two
        else:
            ends.append(a)
            ends.append(m)
            ends.append(m)
            ends.append(b)
    return total


@program
def stack_by_its_truth(x):
    stack, t = [x[0], x[-1]], 0.0
    while stack:
        v = stack.pop()
        t += v * v
        if v > 1.0:
            stack.append(v / 2)
            stack.append(v / 3)
    return t


@program
def collatz(x):
    n = 5 + len(x)
    steps = [int(abs(x[0]) * 10 + 0.45)]
    while steps[-1] > 1 and len(steps) < 100:
        n = steps[-1]
        steps.append(n // 2 if n % 2 == 0 else 3 * n + 1)
    return max(steps) * x[-1] + len(steps) * x[0]


@program
def filtered(x):
    y = [v for v in x if v > 1]
    return sum(y) + len(y) * x[0]


@program
def filtered_by_two_tests(x):
    return sum(v * v for v in x if v > 0 if v < 2.2) + max([abs(v) for v in x if v > -10])


@program
def filtered_pairs(x):
    return sum([a * b for a, b in zip(x, 2 * x, strict=True) if a > 0 and b > 1])


@program
def array_of_what_is_left(x):
    y = np.array([v for v in x if v > -5.0])
    return np.sum(y * y) + np.mean(y) + y[0] * y[-1]


@program
def kept_in_a_loop(x):
    kept = []
    for i in range(len(x)):
        if x[i] > 0:
            kept.append(x[i])
    return np.sum(np.array(kept) ** 2) + len(kept)


@program
def indices_kept(x):
    idx, t = [], 0.0
    for i in range(len(x)):
        if x[i] > 1:
            idx.append(i)
    for i in idx:
        t += x[i] * i
    return t + len(idx) + np.sum(x[np.array(idx, dtype=int)] ** 2)


@program
def running_records(x):
    best, records = -1e9, []
    for v in x:
        if v > best:
            best = v
            records.append(v)
    return sum(records) + len(records) * records[0]


@program
def two_lists(x):
    low, high = [], []
    for v in x:
        if v > 1:
            high.append(v)
        else:
            low.append(v * v)
            low.append(v)
    return 3 * sum(high) + sum(low) * len(high)


@program
def cleared(x):
    batch, t, s = [], 0.0, abs(x[0])
    while s < 20:
        batch.append(s)
        if len(batch) == 3:
            t += batch[0] * batch[1] * batch[2]
            batch.clear()
        s = s * 1.3 + 0.1
    return t + sum(batch)


@program
def outer_list(x):
    found = []
    for i in range(len(x)):
        s = abs(x[i])
        while s < 9:
            found.append(s * i)
            s = s * s * 0.3 + 2.3
    return sum(v * v for v in found)


@program
def inner_list(x):
    t = 0.0
    for i in range(len(x)):
        found = []
        s = abs(x[i])
        while s < 9:
            found.append(s)
            s = s * s * 0.3 + 2.3
        if len(found) > 2:
            t += found[2] * found[-1]
        t += sum(found)
    return t


@program
def item_set(x):
    values = [1.0, x[0]]
    s = abs(x[-1])
    while s < 9:
        values.append(s)
        values[-2] = values[-2] * s
        s = s * 1.5 + 0.1
    return sum(values) + values[0]


@program
def read_but_not_returned(x):
    values, s = [], abs(x[0])
    while s < 9:
        values.append(s)
        s = s * 1.5 + values[-1] * 0.3 + 0.1
    return s


@program
def not_read_at_all(x):
    values, s = [], abs(x[0])
    while s < 9:
        values.append(np.sqrt(abs(s - x[0])))
        s = s * 1.5 + 0.1
    return s


@program
def queue(x):
    waiting, t, n = [x[0], x[-1]], 0.0, 0
    while len(waiting) > 0 and n < 20:
        v = waiting.pop(0)
        n += 1
        t += v * n
        if v > 1.0:
            waiting.append(v / 2)
    return t


@program
def inserted(x):
    values, s = [], abs(x[0])
    while s < 9:
        values.insert(0, s)
        s = s * 1.5 + 0.1
    return values[0] + 2 * values[-1] + sum(values[:2])


@program
def extended(x):
    values, s = [], abs(x[0])
    while s < 9:
        values.extend([s, s * 2])
        s = s * 1.5 + 0.1
        values += [s]
    return sum(values) * values[-2]


@program
def broken_off(x):
    values = []
    for v in x:
        if v > 2.6:
            break
        values.append(v * v)
    return sum(values) + len(values)


@program
def sorted_afterwards(x):
    values = [0.5]
    for v in x:
        if v > 1:
            values.append(v)
    values.sort()
    return values[-1] - values[0] + sorted(values)[0]


@program
def int_that_meets_floats(x):
    values, s = [1], abs(x[0])
    while s < 9:
        values.append(s)
        s = s * 1.5 + 0.1
    return np.sum(np.array(values)) * values[-1]


@program
def by_a_function(x):
    values = []

    def add(v):
        values.append(v)

    s = abs(x[0])
    while s < 9:
        add(s)
        s = s * 1.5 + 0.1
    return sum(values)


@program
def other_name(x):
    values = []
    same, s = values, abs(x[0])
    while s < 9:
        values.append(s)
        s = s * 1.5 + 0.1
    return len(same) + same[-1] * same[len(same) // 2] + sum(same[-2:])


@program
def read_in_many_ways(x):
    values, s = [abs(x[0])], abs(x[0])
    while s < 9:
        s = s + 1.0
        if s in values:
            s += 0.5
        values.append(s)
        y = np.array(values)
        s += 0.01 * np.sum(y * y) / len(values) + 0.1 * max(values) - 0.1 * min(values[1:])
    return s + sum(values[::-1])


@program
def as_long_as_it_is_short(x):
    values, s = [], abs(x[0])
    while len(values) < 5:
        values.append(s)
        s = s * x[-1]
    return values[3]


@program
def branches_in_branches(x):
    values = []
    for v in x:
        if v > 0:
            if v > 1:
                values.append(v)
            else:
                values.append(-v)
                values.append(2 * v)
    t = 0.0
    for k, v in enumerate(values):
        t += k * v
    return t


@program
def after_the_branch(x):
    values = [x[0]]
    if x[-1] > 0:
        values.append(x[-1] * 3)
    t = 0.0
    for v in values:
        t += v * v
    return t


@program
def inserted_by_an_index(x):
    found = []
    for v in x:
        if v > -5.0:
            found.insert(len(found) // 2, v)
    return sum(v * k for k, v in enumerate(found)) + found[0]


@program
def popped_anywhere(x):
    found, t = [v for v in x if v > -100], 0.0
    while len(found) > 2:
        k = 0
        if found[1] > found[0]:
            k = 1
        t += found.pop(k) * len(found)
        del found[1]
    return t + found[0]


# --- tuples --------------------------------------------------------------------------------------


class Point(NamedTuple):
    t: float
    y: float


@program
def simpson_by_a_stack_of_tuples(x):
    c = x[0]

    def g(t):
        return np.sin(c * t) * np.exp(-t)

    stack, total = [(0.0, 1.0 + 0.1 * x[-1] ** 2, 0)], 0.0
    while stack:
        a, b, depth = stack.pop()
        m = 0.5 * (a + b)
        one = (b - a) / 6 * (g(a) + 4 * g(m) + g(b))
        two = (b - a) / 12 * (g(a) + 4 * g(0.5 * (a + m)) + 2 * g(m) + 4 * g(0.5 * (m + b)) + g(b))
        if depth > 30 or abs(two - one) < 1e-6:
            total += two
        else:
            stack.append((a, m, depth + 1))
            stack.append((m, b, depth + 1))
    return total


@program
def points(x):
    found, t, y, area = [], 0.0, abs(x[0]), 0.0
    while y < 9:
        found.append((t, y))
        t += 0.1
        y = y * 1.3 + 0.2
    for (t0, y0), (t1, y1) in zip(found[:-1], found[1:], strict=True):  # noqa: RUF007
        area += (t1 - t0) * (y0 + y1) / 2
    return area + found[-1][1] * found[0][1] + np.sum(np.array(found)[:, 1] ** 2) + len(found)


@program
def named_points(x):
    found = []
    for k, v in enumerate(x):
        if v > 1:
            found.append(Point(k * 1.0, v))
    return sum(p.t * p.y for p in found) + (found[-1].y if found else x[0])


@program
def filtered_tuples(x):
    return sum(v * i for i, v in [(i, v) for i, v in enumerate(x) if v > 1])


@program
def queue_of_nested_tuples(x):
    waiting, t = [(x[0], (x[-1], 2))], 0.0
    while waiting:
        a, (b, n) = waiting.pop(0)
        t += a * b * n
        if a > 1:
            waiting.append((a * 0.5, (b * 0.9, n + 1)))
        if n > 8:
            waiting.clear()
    return t


@program
def tuples_changed_in_place(x):
    found = [(v, k) for k, v in enumerate(x) if v > 0]
    while len(found) > 1:
        if found[0][0] > found[1][0]:
            found.append((found[0][0] * 0.5, 3))
        del found[0]
        found[:] = found[1:]
    return x[0] + sum(v * k for v, k in found)


@program
def ints_and_floats_in_tuples(x):
    found, s = [], abs(x[0])
    while s < 5:
        found.append((1, s))
        s += 1.0
        found.append((2.5, s))
    return sum(a * b for a, b in found)


# --- arrays --------------------------------------------------------------------------------------


@program
def arrays_kept(x):
    found = []
    for v in x:
        if v > 1:
            found.append(x * v)
    return x[0] + sum(np.sum(y) for y in found)


@program
def accepted_states(x):
    t, y, h = 0.0, np.array([1.0, x[0]]), 0.2
    ts, ys = [t], [y]
    a = np.array([[0.0, 1.0], [-1.0, -0.2]])
    while t < 1.5:
        k1 = a @ y
        k2 = a @ (y + h * k1)
        if np.sum(np.abs(k2 - k1)) * h / 2 < 0.05 * (1 + np.sum(np.abs(y))):
            y = y + h * 0.5 * (k1 + k2)
            t = t + h
            ts.append(t)
            ys.append(y)
            h = h * 1.1
        else:
            h = h * 0.5
    return np.sum(np.array(ys) ** 2) + ys[-1][0] + ys[len(ys) // 2][1] * len(ys) + ts[-1]


@program
def copies_of_an_array(x):
    y, found, s = np.zeros(3), [], abs(x[0])
    while s < 9:
        y[0] += s
        y[2] = s * x[-1]
        found.append(y.copy())
        s = s * 1.4 + 0.2
    return np.sum(np.array(found) ** 2) + found[-1][0] * found[0][2]


@program
def rows_filtered(x):
    kept = [r for r in np.outer(x, x) if r[0] > -0.5]
    return np.sum(np.array(kept)[:, 0]) + len(kept)


@program
def stack_of_arrays(x):
    stack, t = [np.array([0.0, 2.0 + x[0] ** 2])], 0.0
    while stack:
        ends = stack.pop()
        m = 0.5 * (ends[0] + ends[1])
        t += m * x[0]
        if ends[1] - ends[0] > 0.5:
            stack.append(np.array([ends[0], m]))
            stack.append(np.array([m, ends[1]]))
    return t


@program
def items_that_are_set_and_deleted(x):
    found, s = [x * 1.0, x * 2.0], abs(x[0])
    while s < 9:
        found.append(x * s)
        found[0] = found[-1] * 0.5
        s = s * 1.4 + 0.2
        del found[1]
    return np.sum(np.array(found) ** 2) + found[-1][-1]


@program
def matrices(x):
    found, s = [], abs(x[0])
    while s < 9:
        found.append(np.ones((2, 2)) * s)
        s = s * 1.4 + 0.2
    total = np.zeros((2, 2))
    for m in found:
        total += m @ m
    return np.sum(total) + np.sum(sum(found)) + len(found)


@program
def truths_kept(x):
    found, t = [], 0.0
    for v in x:
        if v > 0.2:
            found.append(v > 1.5)
    for k in range(len(found)):
        if found[k]:
            t += x[k]
    return t + len(found)


# --- the laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS, (IndexError, ValueError))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function, for all lengths without a second program."""
    require_compiled(f, XS, (IndexError, ValueError))


@pytest.mark.parametrize("name", ["kept_in_a_loop", "the_issues_own", "inner_list"])
def test_one_program_for_all_lengths(name: str) -> None:
    f = next(f for f in PROGRAMS if f.__name__ == name)
    g = tracejit.grad(f)
    for n in (2, 3, 5, 9, 17):
        g(np.linspace(0.3, 2.2, n))
    assert sum(map(len, g._table.values())) == 1


def grown_while_walked(x):
    values, t = [x[0]], 0.0
    for v in values:
        t += v
        if v > 0.5:
            values.append(v * 0.5)
    return t


def grown_while_numbered(x):
    values, t, s = [x[0]], 0.0, x[0]
    while s < 4:
        s += 1.0
        values.append(s)
        for k, v in enumerate(values):
            t += k * v
            if k < 3:
                values.append(v)
    return t


def popped_while_walked(x):
    values, t = [v for v in x if v > 0], 0.0
    for v in values:
        t += v
        if v > 1.5:
            values.pop()
    return t


def tuples(x):
    values, s = [], abs(x[0])
    while s < 9:
        values.append((s, "a"))
        s = s * 1.5 + 0.1
    return s


def different_things(x):
    found = []
    for v in x:
        if v > 1:
            found.append((v, 1))
        else:
            found.append(v)
    return len(found)


def written_after_it_was_appended(x):
    y, found, s = np.zeros(3) * x[0], [], abs(x[0])
    while s < 9:
        y = y + s
        found.append(y)
        y += 1.0
        s = s * 1.4 + 0.2
    return np.sum(np.array(found))


def written_before_it_was_appended(x):
    y, found, s = np.zeros(3), [], abs(x[0])
    while s < 9:
        y[0] += s
        found.append(y)
        s = s * 1.4 + 0.2
    return np.sum(np.array(found))


def written_in_the_next_iteration(x):
    y, found, s = np.zeros(3) * x[0], [], abs(x[0])
    while s < 9:
        y += 1.0
        y = y + s
        found.append(y)
        s = s * 1.4 + 0.2
    return np.sum(np.array(found))


def written_after_the_loop(x):
    y, found, s = np.zeros(3) * x[0], [], abs(x[0])
    while s < 9:
        y = y + s
        found.append(y)
        s = s * 1.4 + 0.2
    y[0] = 100.0
    return np.sum(np.array(found))


def written_in_the_list(x):
    y, found, s = np.zeros(3) * x[0], [], abs(x[0])
    while s < 9:
        y = y + s
        found.append(y)
        s = s * 1.4 + 0.2
    found[-1][0] = 100.0
    return np.sum(y)


def read_and_written_in_the_list(x):
    found, s = [np.ones(2) * x[0]], abs(x[0])
    last = found[0]
    while s < 9:
        found.append(np.ones(2) * s)
        s = s * 1.4 + 0.2
        last = found[-1]
    found[-1][0] = 100.0
    return np.sum(last)


def the_first_one_written(x):
    y, s = np.ones(3) * x[0], abs(x[0])
    found = [y]
    while s < 9:
        found.append(y * s)
        s = s * 1.4 + 0.2
    y[0] = 50.0
    return np.sum(np.array(found))


def in_it_twice(x):
    found, s = [np.ones(2) * x[0]], abs(x[0])
    while s < 9:
        found.append(found[-1])
        s = s * 1.4 + 0.2
    found[0][0] = 7.0
    return np.sum(np.array(found))


def rows_of_a_matrix_written(x):
    m = np.outer(x, x)
    found = [r for r in m if r[0] > 0]
    m[0, 0] = 100.0
    return np.sum(np.array(found))


def after_an_inner_loop(x):
    found = []
    for i in range(len(x)):
        y, s = np.ones(2) * x[i], abs(x[i])
        while s < 9:
            y = y + s
            found.append(y)
            s = s * 1.4 + 0.9
        y[0] = 50.0
    return np.sum(np.array(found))


def by_another_container(x):
    found, d = [], {}
    for i in range(len(x)):
        d["y"] = np.ones(2) * x[i]
        if x[i] > 1:
            found.append(d["y"])
        d["y"][0] = 50.0
    return np.sum(np.array(found))


def by_out(x):
    found = []
    for i in range(len(x)):
        y = np.ones(2) * x[i]
        if x[i] > 1:
            found.append(y[::-1])
        np.add(y, 1.0, out=y)
    return np.sum(np.array(found))


def kept_from_a_first_loop(x):
    found, s = [], abs(x[0])
    while s < 9:
        found.append(np.ones(2) * s)
        s = s * 1.4 + 0.2
    first = found[0]
    while s < 20:
        found.append(np.ones(2) * s)
        s = s * 1.4 + 0.2
    first[0] = 9.0
    return np.sum(np.array(found))


def identity(x):
    found, s = [], abs(x[0])
    while s < 9:
        found.append(np.ones(2) * s)
        s = s * 1.4 + 0.2
        if found[-1] is found[0]:
            s += 1.0
    return np.sum(np.array(found))


def different_shapes(x):
    found = []
    for v in x:
        if v > 1:
            found.append(np.ones(2) * v)
        else:
            found.append(np.ones(3) * v)
    return len(found)


REFUSED = [grown_while_walked, grown_while_numbered, popped_while_walked, tuples,
           different_things,
           written_after_it_was_appended, written_before_it_was_appended,
           written_in_the_next_iteration, written_after_the_loop,
           written_in_the_list, read_and_written_in_the_list,
           the_first_one_written, in_it_twice,
           rows_of_a_matrix_written, after_an_inner_loop,
           by_another_container, by_out,
           kept_from_a_first_loop, identity,
           different_shapes]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    with pytest.raises(Refusal, match=r"test_lists_by_data\.py"):
        tracejit.jit(f)(XS[0])


def test_popping_from_an_empty_list_raises() -> None:
    def f(x):
        values = [v for v in x if v > 1]
        while x[0] > 0:
            values.pop()
        return x[0]

    with pytest.raises(IndexError, match="pop from empty list"):
        tracejit.jit(f)(XS[0])


def test_an_item_that_is_not_there_raises() -> None:
    def f(x):
        values, s = [], abs(x[0])
        while s < 5:
            values.append(s)
            s = s + values[3]
        return s

    with pytest.raises(IndexError):
        tracejit.grad(f)(XS[0])


def test_hessian() -> None:
    f = the_issues_own
    x = np.array([1.13, 0.71])
    h = tracejit.hessian(f)(x)
    g = tracejit.grad(f)
    step = 1e-6
    for k in range(2):
        d = np.zeros(2)
        d[k] = step
        np.testing.assert_allclose(h[k], (g(x + d) - g(x - d)) / (2 * step), rtol=1e-5, atol=1e-5)


def test_reverse_of_reverse() -> None:
    def slope(x):
        return np.sum(tracejit.grad(simpson_by_a_stack)(x) ** 2)

    x = XS[1]
    np.testing.assert_allclose(tracejit.grad(slope)(x), numeric_gradient(
        tracejit.jit(slope), [x], 0), rtol=1e-5, atol=1e-5)


def test_vmap_where_only_numbers_leave() -> None:
    x = np.array([[1.3, 0.2, -0.4], [0.2, 2.1, 1.7], [-1.0, -2.0, -0.1]])
    np.testing.assert_allclose(tracejit.vmap(kept_in_a_loop)(x), [kept_in_a_loop(r) for r in x])
    np.testing.assert_allclose(tracejit.vmap(tracejit.grad(kept_in_a_loop))(x),
                               [tracejit.grad(kept_in_a_loop)(r) for r in x])


def test_the_text_of_a_graph_is_read_back() -> None:
    graph = tracejit.grad(stack_by_its_truth).trace(tracejit.spec("f64[n]")).graph
    assert "log_of" in str(graph)


# --- a branch that is traced once more begins with the names as they were -----------------------


def _rebinds_what_it_appends(x: Any, a: Any, n: Any) -> Any:
    items, v = [a, a], a
    if x[1] > 0.61:
        v = v * 2.0
        items.append(v)
    return sum(items)


def _rebinds_in_the_other_branch(x: Any, a: Any, n: Any) -> Any:
    items, v = [a, a], a
    if x[1] > 0.61:
        items[0] = v * 3.0
    else:
        v = 5.0
        items.append(1.0)
    return sum(items)


def _reads_a_size_for_the_last_time(x: Any, a: Any, n: Any) -> Any:
    items = [a for _ in range(n)]
    if x[1] > 0.61:
        for k in range(n):
            a = a * k
    else:
        items.append(a)
    return sum(items)


def _reads_an_array_for_the_last_time(x: Any, a: Any, n: Any) -> Any:
    items, y = [a], x * 2.0
    if x[1] > 0.61:
        for v in y:
            a = a + v
        items[0] = a
    else:
        items.insert(0, 2.0)
    return sum(items)


def _in_a_loop(x: Any, a: Any, n: Any) -> Any:
    items, v = [a, a], a
    for k in range(n):
        w = v * k
        if x[k] > 0.61:
            w = w * 2.0
            v = v + 1.0
            items.append(w)
    return sum(items) + v


def _leaves_a_loop_over_numbers(x: Any, a: Any, n: Any) -> Any:
    t, s, items = 1.0, 0.0, []
    while t > 0.45:
        t = t * 0.6
        if a > 5.0:
            return a
    for k in range(3):
        if s > 5.0:
            return t
        items.append(a * (k + 1))
    return sum(items)


def _leaves_a_loop_over_a_zip(x: Any, a: Any, n: Any) -> Any:
    items = []
    for u, v in zip([1.0, 2.0, 3.0], (4.0, 5.0, 6.0), strict=True):
        if x[1] > 0.61:
            break
        items.append(u * v * a)
    return sum(items)


def _leaves_a_loop_over_numbered_things(x: Any, a: Any, n: Any) -> Any:
    items, s = [0.5], 0.0
    for k, v in enumerate([1.0, 2.0, 3.0]):
        if x[k] > 1.61:
            return s * a
        items.append(v * a)
        s = s + v
    return sum(items) + s


@pytest.mark.parametrize("f", [
    _leaves_a_loop_over_numbers, _leaves_a_loop_over_a_zip, _leaves_a_loop_over_numbered_things,
    _rebinds_what_it_appends, _rebinds_in_the_other_branch, _reads_a_size_for_the_last_time,
    _reads_an_array_for_the_last_time, _in_a_loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_a_branch_that_is_traced_again_begins_as_before(f: Any, scale: float) -> None:
    x = np.arange(4.0) * scale
    with tracejit.config(disable_jit=True, verify=True):
        value, slope = tracejit.value_and_grad(f, argnums=1)(x, 0.3, 4)
    assert abs(value - f(x, 0.3, 4)) < 1e-12
    assert abs(slope - (f(x, 0.3 + 1e-6, 4) - f(x, 0.3 - 1e-6, 4)) / 2e-6) < 1e-6


def items_that_begin_without_derivative(x: Any) -> Any:
    stack, total = [(x[0], 1.0)], 0.0
    while stack:
        a, b = stack.pop()
        if a > 0.3:
            stack.append((a * 0.5, b * x[1]))
        total += a * a * x[1] * b
    return total


def test_second_derivatives_of_items_that_begin_without_one() -> None:
    """The Log of their cotangents is used up, though nothing reads it; compiled, it crashed."""
    x, slopes = np.array([1.13, 0.71]), tracejit.grad(items_that_begin_without_derivative)
    curvature = tracejit.grad(lambda x: np.sum(slopes(x) ** 2))
    with tracejit.config(disable_jit=True):
        expected = numeric_gradient(lambda x: np.sum(slopes(x) ** 2), [x], 0)
        np.testing.assert_allclose(curvature(x), expected, rtol=1e-6)
    np.testing.assert_allclose(curvature(x), expected, rtol=1e-6)


def test_filters_do_not_search_the_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        items = [x[0], x[1], x[2]]
        for _ in range(2):
            items.append(sum([v for v in items if v > 0.2], 0.0))
        return sum(v * v for v in items if v < 1.0)

    def searched(*objects: object) -> list[object]:
        raise AssertionError("all objects of the process are looked through")

    monkeypatch.setattr(gc, "get_referrers", searched)
    x = np.array([0.3, 0.1, 0.25])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(x), f(x), rtol=1e-14)
