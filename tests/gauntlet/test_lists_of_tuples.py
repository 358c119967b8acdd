"""Lists of tuples that get longer in loops are Python's, and loops where the tuples are alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from list_laws import require_loop, require_pythons, slopes

import tracejit

X = np.array([1.3, 0.4, 2.2, 0.9])
N = 20


class Point(NamedTuple):
    """A state and its time."""

    t: Any
    y: Any


def trajectory(x: Any, n: int) -> Any:
    path, t, y = [], 0.0, x
    for _ in range(n):
        path.append((t, y))
        y = y + 0.1 * np.sin(y)
        t = t + 0.1
    return sum(t * (v @ v) for t, v in path)


def begun(x: Any, n: int) -> Any:
    path = [(0.0, x)]
    for _ in range(n):
        t, y = path[-1]
        path.append((t + 0.1, y + 0.1 * np.sin(y)))
    ys = [y for _, y in path]
    ts = np.array([t for t, _ in path])
    return np.sum(ys[-1]) + np.sum(ts) + path[n][1][0] + len(path)


def of_tuples(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append((k, x[0] * k, (x[1], 2.0)))
    s = 0.0
    for k, a, (b, c) in found:
        s = s + a * b * c + k
    return s


def named(x: Any, n: int) -> Any:
    path = [Point(0.0, x)]
    for _ in range(n):
        path.append(Point(path[-1].t + 1.0, path[-1].y * 0.9))
    return sum(p.t * np.sum(p.y) for p in path)


def two_at_once(x: Any, n: int) -> Any:
    found = []
    for i in range(n):
        found.extend([(x[0] * i, 1.0), (x[1], i * 2.0)])
    return sum(a * b for a, b in found)


def of_two_kinds(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append((k, x[0]) if k % 2 else (x[0], k))
    return sum(a * b for a, b in found)


def beside_numbers(x: Any, n: int) -> Any:
    pairs, values = [], []
    for k in range(n):
        values.append(x[0] * k)
        pairs.append((values[-1], x * k))
    return sum(a * np.sum(b) for a, b in pairs) + sum(values)


def backwards(x: Any, n: int) -> Any:
    pairs = []
    for k in range(n):
        pairs.append((x[0] * k, x * k))
    s = x[0]
    for a, b in reversed(pairs):
        s = 0.5 * s + a * b[1]
    return s


LOOPS = [trajectory, begun, of_tuples, named, two_at_once, of_two_kinds, beside_numbers, backwards]


def zipped(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append((x[0] * k, x[1] + k))
    a, b = zip(*found, strict=True)
    return sum(a) * sum(b)


def one_array_in_both(x: Any, n: int) -> Any:
    found, y = [], x * 1.0
    for _ in range(n):
        found.append((y, y))
        y = y * 0.9
    found[0][0][0] = 7.0
    return np.sum(found[0][1]) + sum(np.sum(a) for a, _ in found)


def written_later(x: Any, n: int) -> Any:
    found, y = [], x * 1.0
    for k in range(n):
        found.append((k, y))
        y *= 0.9
    return sum(np.sum(b) for _, b in found)


def written_through(x: Any, n: int) -> Any:
    found, y = [], x * 1.0
    for k in range(n):
        y = y * 0.9
        found.append((k, y))
    found[-1][1][0] = 5.0
    return np.sum(y) + sum(np.sum(b) for _, b in found)


def with_text(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append(("a", x[0] * k))
    return sum(v for _, v in found)


def of_other_lengths(x: Any, n: int) -> Any:
    found: list[Any] = []
    for k in range(n):
        found.append((x[0],))
        found.append((k, x[1]))
    return sum(sum(v) for v in found)


def inserted(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.insert(0, (k, x[0] * k))
    return sum(k * v * j for j, (k, v) in enumerate(found))


def in_two_loops(x: Any, n: int) -> Any:
    found = [(0, x[0])]
    for i in range(n):
        for j in range(3):
            found.append((i, found[-1][1] * 0.5 + j))
    return sum(a * b for a, b in found)


def by_a_new_list(x: Any, n: int) -> Any:
    found: list[Any] = []
    for i in range(n):
        found = [*found, (x[0] * i, x[1])]
    return sum(a * b for a, b in found)


def kinds(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append((k, 0.5, x[0]))
    return [(a // 2, isinstance(a, int), b, isinstance(b, int)) for a, b, _ in found]


def searched(x: Any, n: int) -> Any:
    found = []
    for k in range(n):
        found.append((k, x[0] * k))
    return (0, 0.0) in found, len(found), found[:1], found == list(found), sorted(found[:1])


OTHERS = [zipped, one_array_in_both, written_later, written_through, with_text, of_other_lengths,
          inserted, in_two_loops, by_a_new_list, kinds, searched]


@pytest.mark.parametrize("n", [0, 1, 2, 6, N])
@pytest.mark.parametrize("fn", [*LOOPS, *OTHERS])
def test_lists_of_tuples_are_pythons(fn: Any, n: int) -> None:
    require_pythons(fn, X, n, refusable=fn not in LOOPS)


@pytest.mark.parametrize("fn", LOOPS)
def test_loops_that_fill_lists_of_tuples_stay_loops(fn: Any) -> None:
    require_loop(fn, X, N)


def test_compiled_programs_of_tuples_serve_every_length() -> None:
    compiled = tracejit.grad(trajectory)
    for n in (5, 30, 7):
        np.testing.assert_allclose(compiled(X, n), slopes(trajectory, X, n), rtol=1e-4)
