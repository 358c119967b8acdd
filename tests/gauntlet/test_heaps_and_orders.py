"""`heapq`, `bisect`, and `sorted`, `min` and `max` by a key, where data decides on the order.

Python's own run of a program is the oracle of its value, central differences of its gradient.
"""

from __future__ import annotations

import bisect
import heapq
import operator
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from list_laws import (
    loaded,
    require_compiled,
    require_same_as_python,
    require_values_and_derivatives,
)

import tracejit
from tracejit import Refusal

PROGRAMS: list[Callable[..., Any]] = []
XS = [np.array([1.13, 1.71, -2.3, 3.02]), np.array([2.03, 1.2, -0.4, 0.7, 2.5, 1.9]),
      np.array([1.3, 1.53])]
"""Points at which no program has a tie."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


@program
def sorted_by_a_heap(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
    t, k = 0.0, 1
    while heap:
        t += heapq.heappop(heap) * k
        k += 1
    return t


@program
def huffman_cost(x):
    heap = [abs(v) for v in x]
    heapq.heapify(heap)
    cost = 0.0
    while len(heap) > 1:
        s = heapq.heappop(heap) + heapq.heappop(heap)
        cost += s * s
        heapq.heappush(heap, s)
    return cost


@program
def each_function_of_heaps(x):
    heap = [v for v in x]
    heapq.heapify(heap)
    a = heapq.heappop(heap)
    b = heapq.heappushpop(heap, a + 1.0)
    c = heapq.heapreplace(heap, b * 2.1)
    return a + 2 * b + 3 * c + 5 * heap[0] + 7 * heap[-1]


@program
def dijkstra(x):
    n = len(x)
    dist = np.full(n, 1e9)
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, i = heapq.heappop(heap)
        if d > dist[i]:
            continue
        for j in range(n):
            if j != i:
                c = d + (x[i] - x[j]) ** 2 + 0.1
                if c < dist[j]:
                    dist[j] = c
                    heapq.heappush(heap, (c, j))
    return np.sum(dist)


@program
def a_star(x):
    n = 4
    cost = np.arange(16.0).reshape(4, 4) * 0.05 * x[0] ** 2 + 0.2 + 0.1 * abs(x[-1])
    found = np.full((n, n), 1e9)
    found[0, 0] = 0.0
    heap = [(0.0, 0, 0)]
    while heap:
        _, i, j = heapq.heappop(heap)
        if i == n - 1 and j == n - 1:
            break
        for di, dj in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < n:
                c = found[i, j] + cost[a, b]
                if c < found[a, b]:
                    found[a, b] = c
                    ahead = 0.1 * (abs(n - 1 - a) + abs(n - 1 - b))
                    heapq.heappush(heap, (c + ahead, a, b))
    return found[n - 1, n - 1]


class Event(NamedTuple):
    time: float
    kind: int


@program
def queue_by_events(x):
    heap = [Event(0.0, 0)]
    count, waiting, area, last = 0, 0, 0.0, 0.0
    while heap and count < 30:
        e = heapq.heappop(heap)
        area += waiting * (e.time - last)
        last = e.time
        count += 1
        if e.kind == 0:
            waiting += 1
            heapq.heappush(heap, Event(e.time + 0.3 + abs(x[count % len(x)]) * 0.11, 0))
            if waiting == 1:
                heapq.heappush(heap, Event(e.time + 0.5 * abs(x[0]), 1))
        else:
            waiting -= 1
            if waiting > 0:
                heapq.heappush(heap, Event(e.time + 0.5 * abs(x[0]), 1))
    return area


@program
def the_smallest_and_largest(x):
    squares = [v * v for v in x]
    return sum(heapq.nsmallest(2, x)) + 3 * sum(heapq.nlargest(2, squares)) + (
        heapq.nsmallest(1, x, key=lambda v: (v - 1.0) ** 2)[0])


@program
def inserted_in_order(x):
    items = []
    for v in x:
        bisect.insort(items, v)
    k = bisect.bisect_left(items, 1.4)
    return items[0] + items[-1] * k + bisect.bisect(items, 0.0) + bisect.bisect_right(
        items, items[1])


@program
def looked_up_in_a_table(x):
    grid, values, t = np.array([0.0, 0.72, 1.5, 2.2]), np.array([1.0, 3.0, 2.0, 5.0]), 0.0
    for v in x:
        k = min(max(bisect.bisect_right(grid, v) - 1, 0), 2)
        w = (v - grid[k]) / (grid[k + 1] - grid[k])
        t += (1 - w) * values[k] + w * values[k + 1]
    return t


@program
def in_order_of_a_key(x):
    items = [v for v in x if v > -5]
    down = sorted(items, key=lambda v: -v)
    return down[0] + 2 * down[-1] + 3 * sorted(items, key=abs, reverse=True)[0]


@program
def pairs_in_order_of_their_numbers(x):
    pairs = list(enumerate(x))
    pairs.sort(key=lambda p: p[1])
    return pairs[0][1] + 2 * pairs[-1][1] + sum(p[1] * k for k, p in enumerate(pairs))


@program
def in_order_of_the_second_place(x):
    pairs = [(0, 3.0), (1, x[0]), (2, 2.1)]
    pairs.sort(key=operator.itemgetter(1))
    return pairs[0][1] * 3 + pairs[1][1] + pairs[2][0]


@program
def tuples_in_order(x):
    pairs = []
    for i in range(len(x)):
        if x[i] > 0:
            pairs.append((x[i] ** 2, i))
    pairs.sort()
    total = 0.0
    for k in range(len(pairs)):
        total += pairs[k][0] * k + pairs[k][1]
    return total + sorted(pairs, reverse=True)[0][0]


@program
def least_and_greatest_by_a_key(x):
    items = [v for v in x if v > -5]
    return (min(range(len(x)), key=lambda i: abs(x[i] - 1.0)) * x[0]
            + x[max(range(len(x)), key=lambda i: x[i])]
            + min(items, key=lambda v: (v - 1) ** 2) + max(items, key=abs))


@program
def least_tuple(x):
    return min([(v, k) for k, v in enumerate(x) if v > 0])[0] + max((x[0], 1), (x[1], 2))[0]


@program
def tuples_compared(x):
    a, b = (x[0], 1), (x[1], 2)
    t = x[0] if a < b else 2 * x[1]
    if (x[0], x[1]) >= (x[0], 1.5):
        t = t * 2.0
    return t + (a == b) + 2 * (a != b)


def _days(x):
    """Return more dicts than are compared each with each."""
    log, y = [], x[0]
    for day in range(13):
        y = y + np.sin(x[1] * day)
        log.append({"day": day, "cases": y})
    return log


@program
def greatest_of_many_dicts(x):
    peak = max(_days(x), key=lambda e: e["cases"])
    return peak["cases"] ** 2 + peak["day"]


@program
def many_dicts_sorted(x):
    least = sorted(_days(x), key=lambda e: e["cases"])[1]
    return least["cases"] ** 2 + least["day"]


@program
def many_dicts_of_equal_keys(x):
    log = [{"group": k % 3 * x[0], "v": k * x[1]} for k in range(13)]
    up = sorted(log, key=lambda e: e["group"])
    down = sorted(log, key=lambda e: e["group"], reverse=True)
    return up[1]["v"] + 2.0 * up[6]["v"] ** 2 - down[5]["v"] ** 2


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function."""
    require_compiled(f, XS)


@pytest.mark.parametrize("name", ["sorted_by_a_heap", "dijkstra", "inserted_in_order"])
def test_one_program_for_all_lengths(name: str) -> None:
    f = next(f for f in PROGRAMS if f.__name__ == name)
    g = tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for n in (2, 3, 5, 9, 17):
            g(np.linspace(0.3, 2.2, n) ** 2)
    assert sum(map(len, g._table.values())) == 1


# --- random sequences -----------------------------------------------------------------------------

NUMBERS = ["heapq.heappush(h, {s})", "heapq.heappush(h, {s})", "heapq.heapify(h)", "h.sort()",
           "t += heapq.heappushpop(h, {s})", "t += heapq.heappop(h) if h else 0.5",
           "if h:\n    t += heapq.heapreplace(h, {s})", "bisect.insort(h, {s})",
           "bisect.insort_left(h, {s}, key=lambda v: v)", "t += bisect.bisect_left(h, {s})",
           "t += bisect.bisect_right(h, {s}, 0, len(h))", "h.sort(key=lambda v: -v)",
           "h = sorted(h, key=lambda v: (v - 0.5) ** 2, reverse=True)", "h.append({s})",
           "h.sort(reverse=True)", "t += sum(heapq.nsmallest(2, h))",
           "t += sum(heapq.nlargest(3, h, key=abs))", "t += min(h, key=abs, default=0.25)",
           "if h:\n    t += max(h, key=lambda v: v * v - v)"]
PAIRS = ["heapq.heappush(p, ({s}, {k}))", "heapq.heappush(p, ({s}, {k}))", "heapq.heapify(p)",
         "if p:\n    t += heapq.heappop(p)[0]", "p.sort(key=lambda v: v[1])", "p.sort()",
         "if p:\n    t += min(p)[0] + max(p, key=lambda v: v[1])[0]",
         "p.sort(key=lambda v: (v[1], -v[0]), reverse=True)", "p.append(({s}, {k}))",
         "t += 0.3 if ({s}, {k}) < ({s}, 1) else 0.1"]
STARTS = ["[]", "[x[0], x[-1]]", "[v for v in x]", "[v for v in x if v > 0.7]", "[0.5, 0.25]",
          "sorted(x)"]


def _block(r: random.Random, depth: int) -> list[str]:
    kind = r.random()
    if depth < 2 and kind < 0.3:
        head = r.choice(["for v in x:", "if t > 1.1:", "while t < {c}:", "for k in range(3):"])
        body = [line for _ in range(r.randint(1, 2)) for line in _block(r, depth + 1)]
        first = []
        if head.startswith("while"):  # which ends: no body makes t less than what is added here
            first = [f"u{depth} = 0.0"]
            body += [f"u{depth} += 0.4", f"t = abs(t) + u{depth}"]
        return [*first, head.format(c=r.choice(["1.5", "2.5"])), *("    " + line for line in body)]
    text = r.choice(PAIRS if kind > 0.75 else NUMBERS)
    number = r.choice(["x[0] * t", "x[-1] - t", "np.sin(3 * t + x[0])", "x[1] * 0.9", "0.75"])
    return text.format(s=number, k=r.choice(["1", "len(p)", "int(abs(t) * 3)"])).split("\n")


def text_of(seed: int) -> str:
    """Return a function that uses a list of numbers and one of pairs."""
    r = random.Random(seed)
    lines = ["t = x[0] * 0.5", f"h = {r.choice(STARTS)}", "p = []"]
    for _ in range(r.randint(2, 6)):
        lines += _block(r, 0)
    lines.append("for k in range(len(h)):\n        t += (k + 1) * h[k]")
    lines.append("for k in range(len(p)):\n        t += (k + 1) * p[k][0] + k * p[k][1]")
    body = "\n".join("    " + line for line in [*lines, "return t"])
    return f"import bisect\nimport heapq\n\nimport numpy as np\n\n\ndef f(x):\n{body}\n"


@pytest.mark.parametrize("seed", range(100))
def test_random_sequences(seed: int, tmp_path: Path) -> None:
    f = loaded(text_of(seed), tmp_path / f"orders{seed}.py")
    require_same_as_python(f, [np.array([0.31, 1.27, 0.83]), np.array([1.1, 0.4])],
                           f"orders{seed}.py")


# --- what stays Python's own ----------------------------------------------------------------------


def test_what_python_knows_stays_pythons() -> None:
    def f(x):
        heap = [3, 1, 2]
        heapq.heapify(heap)
        names = sorted(["bb", "a", "ccc"], key=len)
        first = min([(2, "b"), (1, "a")])[1]
        pairs = sorted([("u", x[0]), ("a", x[1])], key=operator.itemgetter(0))
        return x[0] * heapq.heappop(heap) + len(names[0]) + (first == "a") + 3 * pairs[0][1]

    x = np.array([0.5, 2.0])
    assert tracejit.jit(f)(x) == f(x)


def unlike_items(x):
    heap = [x[0], (x[1], 1)]
    heapq.heapify(heap)
    return heap[0]


def objects_beside_numbers(x):
    heap = []
    for v in x:
        heapq.heappush(heap, (v, "text"))
    return heap[0][0]


@pytest.mark.parametrize("f", [unlike_items, objects_beside_numbers], ids=lambda f: f.__name__)
def test_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    with pytest.raises(Refusal, match=r"test_heaps_and_orders\.py"):
        tracejit.jit(f)(XS[0])


def test_an_empty_heap_raises() -> None:
    def f(x):
        heap = [v for v in x if v > 100.0]
        return heapq.heappop(heap)

    with pytest.raises(IndexError):
        tracejit.jit(f)(XS[0])


SCRIPT = """
import heapq, sys
import numpy as np
import tracejit

@tracejit.grad
def largest(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v * v)
    t = 0.0
    while heap:
        t = heapq.heappop(heap) + 0.5 * t
    return t

print(largest(np.array([1.0, 3.0, -2.0])))
"""


def test_another_process_finds_the_program(tmp_path: Path) -> None:
    """The functions that stand for `heapq` are found, though nothing was captured yet."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_LOG_COMPILES": "1",
                   "TRACEJIT_CACHE_DIR": str(tmp_path / "cache")}
    outputs = [subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=True) for _ in range(2)]
    assert "compiled grad[largest]" in outputs[0].stderr
    assert "compiled" not in outputs[1].stderr
    assert outputs[0].stdout == outputs[1].stdout
