"""Lists in other containers of which data decides which one is meant: cells, graphs, buckets.

Values are compared with Python's own run of the program, gradients with central differences; one
program serves all lengths.
"""

from __future__ import annotations

import contextlib
import heapq
import random
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import (
    loaded,
    require_compiled,
    require_same_as_python,
    require_values_and_derivatives,
)
from oracles import numeric_gradient, outcome

import tracejit
from tracejit import Refusal

PROGRAMS: list[Callable[..., Any]] = []
XS = [np.array([0.1257, 0.1321, 0.6404, 0.1049, 0.5357, 0.3616]), np.array([0.71, 1.32, 0.47]),
      np.linspace(0.1, 2.9, 11) ** 1.1 + 0.01234]
"""Points at which no program has a tie."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


@program
def cells_sum(x):
    n = len(x)
    cells = [[] for _ in range(n)]
    for i in range(n):
        cells[int(x[i]*10) % n].append(i)
    t = 0.0
    for c in range(n):
        for j in cells[c]:
            t += x[j]*(c+1)
    return t


@program
def cells_fixed(x):
    cells = [[] for _ in range(3)]
    for v in x:
        cells[int(v*10) % 3].append(v)
    t = 0.0
    for c in cells:
        for v in c:
            t = t*0.5 + v
        t += len(c)
    return t


@program
def edges_in_a_dict(x):
    g = {}
    for i in range(len(x)):
        g.setdefault(int(x[i]*10) % 4, []).append((i, x[i]))
    t = 0.0
    for u in range(4):
        if u in g:
            for j, w in g[u]:
                t += w*(u+1)*j
    return t


@program
def aliased(x):
    cells = [[]]*3
    cells[int(x[0]*10)%3].append(x[1])
    c = cells[1]
    c.append(x[0])
    return sum(cells[2])+len(cells[0])+(1.0 if cells[0] is cells[1] else 0.0)


@program
def dijkstra(x):
    n = len(x)
    graph = {u: [] for u in range(n)}
    for u in range(n):
        for v in range(n):
            if u != v and (u*7+v*3) % 4 < 2:
                graph[u].append((v, 0.1 + x[u]*x[v]))
    dist = np.full(n, np.inf)
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            nd = d + w
            if nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return np.sum(np.where(np.isfinite(dist), dist, 0.0))


@program
def defaultdict_of_lists(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[int(v*10) % 3].append(v*(i+1))
    t = 0.0
    for k in sorted(groups):
        t += (k+1)*sum(groups[k])/len(groups[k])
    for k, vs in groups.items():
        for v in vs:
            t = 0.5*t + v*k
    return t


@program
def buckets(x):
    n = len(x)
    b = [[] for _ in range(n)]
    for v in x:
        b[min(int(v*n), n-1)].append(v)
    out = []
    for c in b:
        out.extend(sorted(c))
    return sum(v*(k+1) for k, v in enumerate(out))


@program
def stacks(x):
    s = [[x[0]], [x[1], x[2]], []]
    for v in x:
        k = int(v*10) % 3
        if s[k]:
            t = s[k].pop()
            s[(k+1)%3].append(t*0.5+v)
        else:
            s[k].append(v)
    return sum(sum(c)*(j+1) for j, c in enumerate(s)) + len(s[0])


@program
def three(x):
    m = 2 + int(len(x) > 100)
    cells = [[[] for _ in range(m)] for _ in range(m)]
    for i in range(len(x)):
        cells[int(x[i]*10) % m][int(x[i]*7) % m].append(i)
    t = 0.0
    for a in range(m):
        for b in range(m):
            for i in cells[a][b]:
                t += x[i]*(1+a+2*b)
    return t


@program
def adjacency_bfs(x):
    n = len(x)
    adj = [[] for _ in range(n)]
    for i in range(n):
        j = int(x[i]*10) % n
        adj[i].append(j)
        adj[j].append(i)
    seen = np.zeros(n, bool)
    q = deque([0])
    seen[0] = True
    t, order = 0.0, 1
    while q:
        u = q.popleft()
        t += x[u]*order
        order += 1
        for v in adj[u]:
            if not seen[v]:
                seen[v] = True
                q.append(v)
    return t


@program
def grown_while_walked(x):
    cells = [[] for _ in range(len(x))]
    for k in range(len(x)):
        cells[int(x[k] * 7) % len(x)].append(x[k])
    t = 0.0
    for c in cells:
        for v in c:
            if v > 0.2:
                c.append(v * 0.5)
            t += v
    return t


@program
def moved_between(x):
    low, high = [], [[0.5]]
    for v in x:
        if v > 0.4:
            high.append([v])
        else:
            low.append([v, 0.25])
        if len(low) > 1:
            high[int(v * 9) % len(high)].extend(low.pop())
    return sum(sum(c) * (k + 1) for k, c in enumerate(high)) + len(low)


@program
def longest_runs(x):
    runs = [[]]
    for k in range(len(x)):
        if runs[-1] and x[k] < runs[-1][-1]:
            runs.append([])
        runs[-1].append(x[k])
    best = runs[0]
    for r in runs:
        if len(r) > len(best):
            best = r
    best[0] *= 1.5
    return sum(best) + sum(sum(r) for r in runs) / len(runs)


@program
def pairs_in_bins(x):
    bins = [[] for _ in range(4)]
    for k, v in enumerate(x):
        bins[int(v * 8) % 4].append((k, v))
    t = 0.0
    for b in bins:
        for i, (k, v) in enumerate(b):
            for j, w in b[i + 1:]:
                t += (v - w) ** 2 * (j - k)
        if b:
            k, v = b.pop(0)
            t += v * k
    return t + sum(len(b) for b in bins)


@program
def topological_order(x):
    n = len(x)
    after, waits = [[] for _ in range(n)], np.zeros(n, dtype=int)
    for k in range(1, n):
        j = int(x[k] * 100) % k
        after[j].append(k)
        waits[k] += 1
    ready, t, order = deque([0]), 0.0, 0
    while ready:
        u = ready.popleft()
        t += x[u] * np.sin(order + x[0])
        order += 1
        for v in after[u]:
            waits[v] -= 1
            if waits[v] == 0:
                ready.append(v)
    return t


@program
def arrays_in_clusters(x):
    points = np.stack([x, x * x - 0.3], axis=1)
    clusters = [[] for _ in range(3)]
    for p in points:
        clusters[int(p[0] * 5) % 3].append(p)
    t = 0.0
    for c in clusters:
        if len(c) > 0:
            center = np.zeros(2)
            for p in c:
                center = center + p / len(c)
            for p in c:
                t += np.sum((p - center) ** 2)
    return t


@program
def made_in_the_loop(x):
    rows = []
    for k in range(len(x)):
        row = []
        for v in x:
            if v < x[k]:
                row.append(v)
        rows.append(row)
    return sum(sum(r) * len(r) for r in rows) + len(rows[int(x[0] * 9) % len(rows)])


@program
def trees_in_lists(x):
    children, root = [[] for _ in range(len(x))], 0
    for k in range(1, len(x)):
        children[int(x[k] * 50) % k].append(k)
    stack, t = [(root, 1.0)], 0.0
    while stack:
        k, w = stack.pop()
        t += w * x[k]
        for c in children[k]:
            stack.append((c, w * 0.5 * x[k]))
    return t


@program
def looked_up_in_both(x):
    found = {}
    for k, v in enumerate(x):
        key = int(v * 6) % 3, k % 2
        if key not in found:
            found[key] = []
        found[key].append(v)
    t = 0.0
    for (a, b), vs in found.items():
        t += (a + 2 * b + 1) * max(vs) - min(vs)
    return t


@program
def comprehensions_of_several_loops(x):
    bins = [[] for _ in range(3)]
    for v in x:
        bins[int(v * 10) % 3].append(v)
    flat = [v for b in bins for v in b]
    t = sum(v * k for k, v in enumerate(flat)) + max(v for b in bins for v in b)
    t += sum(k * v for k, b in enumerate(bins) for v in b if v > 0.2)
    t += sum(v * w for b in bins if len(b) > 1 for k, v in enumerate(b) for w in b[k + 1:])
    pairs = [(k, v) for k in range(3) for v in bins[k]]
    return t + sum(k * v for k, v in pairs)


@program
def products_of_what_a_filter_leaves(x):
    large = [v for v in x if v > 0.3]
    return sum([a * b for a in large for b in large if a != b]) + len(large)


@program
def rows_and_columns(x):
    rows = [[0.0] * 3 for _ in range(3)]
    for v in x:
        rows[int(v * 10) % 3][int(v * 23) % 3] += v
    return sum(rows[i][j] * (i + 2 * j + 1) for i in range(3) for j in range(3))


@program
def merged_in_turn(x):
    parts = [[v] for v in x]
    while len(parts) > 1:
        a, b, out = parts.pop(0), parts.pop(0), []
        while a and b:
            out.append(a.pop(0) if a[0] < b[0] else b.pop(0))
        parts.append(out + a + b)
    return sum(v * (k + 1) for k, v in enumerate(parts[0]))


@program
def sorted_slots(x):
    slots = [[x[0] * 0.3], [], []]
    for v in x:
        s = slots[int(v * 10) % 3]
        s.append(v)
        s.sort()
    t = 0.0
    for s in slots:
        if x[0] in s:
            t += s.index(x[0])
        for a, b in pairwise(s):
            t += (b - a) ** 2
    return t


# --- the laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function."""
    require_compiled(f, XS[:2] if f is merged_in_turn else XS)  # a program of its own per length


@pytest.mark.parametrize("f", [
    cells_sum, buckets, adjacency_bfs, grown_while_walked, longest_runs, topological_order,
    trees_in_lists, looked_up_in_both], ids=lambda f: f.__name__)
def test_one_program_for_all_lengths(f: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        g = tracejit.grad(f)
        for x in XS:
            g(x)
    assert sum(map(len, g._table.values())) == 1


@pytest.mark.parametrize("f", [cells_sum, pairs_in_bins, trees_in_lists], ids=lambda f: f.__name__)
def test_second_derivatives_are_right(f: Callable[..., Any]) -> None:
    x = XS[0][:3]  # differences of interpreted gradients take long
    with tracejit.config(disable_jit=True):
        def curved(x: Any) -> Any:
            return np.sum(tracejit.grad(f)(x) ** 2)

        np.testing.assert_allclose(tracejit.grad(curved)(x), numeric_gradient(
            curved, [x], 0), rtol=1e-5, atol=1e-5)


# --- errors and refusals --------------------------------------------------------------------------


def no_such_item(x):
    c = [[] for _ in range(3)]
    c[int(x[0] * 20) % 3].append(x[0])
    return c[int(x[0] * 20) % 3][1]


def nothing_to_pop(x):
    c = [[] for _ in range(3)]
    c[int(x[0] * 20) % 3].append(x[0])
    return c[(int(x[0] * 20) + 1) % 3].pop()


def nothing_to_remove(x):
    c = [[] for _ in range(3)]
    c[int(x[0] * 20) % 3].append(x[0])
    c[int(x[0] * 20) % 3].remove(7.5)
    return x[0]


def no_such_list(x):
    c = [[] for _ in range(len(x))]
    c[int(x[0] * 20)].append(x[0])
    c[int(x[0] * 20) + len(x)].append(x[0])
    return sum(c[0])


def too_many_items(x):
    c = [[] for _ in range(3)]
    for v in x:
        c[int(v) % 3].append(v)
    a, b = c[0]
    return a + b


@pytest.mark.parametrize("f", [no_such_item, nothing_to_pop, nothing_to_remove, no_such_list,
                               too_many_items], ids=lambda f: f.__name__)
@pytest.mark.parametrize("interpreted", [True, False])
def test_errors_are_pythons(f: Callable[..., Any], interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        found = outcome(tracejit.jit(f), XS[0])
    wanted = outcome(f, XS[0])
    assert isinstance(wanted, Exception)
    assert type(found) is type(wanted)


def returned(x):
    c = [[] for _ in range(3)]
    for v in x:
        c[int(v * 20) % 3].append(v)
    return c


def one_returned(x):
    c = [[] for _ in range(3)]
    c[int(x[0] * 20) % 3].append(x[0])
    return c[int(x[0] * 30) % 3]


def in_a_dict_returned(x):
    c = [[] for _ in range(len(x))]
    for v in x:
        c[int(v * 20) % len(x)].append(v)
    return {"cells": c}


def changed_while_zipped(x):
    c = [[0.5], [0.25, x[0]], []]
    for v in x:
        c[int(v * 9) % 3].append(v)
    for a, b in zip(c[int(x[0] * 9) % 3], c[1], strict=False):
        c[1][0] = a + b
    return c[1][0]


@pytest.mark.parametrize("f", [returned, one_returned, in_a_dict_returned, changed_while_zipped],
                         ids=lambda f: f.__name__)
def test_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    with pytest.raises(Refusal, match=r"test_lists_chosen_by_data\.py"):
        tracejit.jit(f)(XS[0])


def test_rows_of_a_matrix_stay_lists_of_python() -> None:
    """Lists that keep their length go to NumPy as they did."""
    def f(x):
        return np.sum(np.array([[x[0], 1.0], [x[1], 2.0]]) @ np.array([[v, 1.0] for v in x]).T)

    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(XS[0]), f(XS[0]))


# --- random sequences -----------------------------------------------------------------------------

START = [
    "c = [[] for _ in range({m})]", "c = [[], [], []]", "c = [[x[0]], [], [x[0], 0.5]]",
    "c = []\nfor _ in range({m}):\n    c.append([])", "c = [[v] for v in x]",
    "c = {{k: [] for k in range(3)}}", "c = [list() for _ in x]",
    "c = [[] for _ in range(2)] + [[x[-1]]]", "c = [[]] * 3",
    "c = [[v for v in x if v > 0.5 * k] for k in range(3)]",
    "c = [[0.25, x[0]] for _ in range({m})]",
]
"""What there is before the loops."""

DONE = [
    "c[{k}].append({v})", "c[{k}].append({v})", "c[{k}].append({v})", "c[{k}].append({v})",
    "c[{k}].append({v})\nc[{j}].append({w})", "if c[{k}]:\n    t += c[{k}].pop()",
    "c[{k}].extend([{v}, {w}])", "a = c[{k}]\na.append({v})", "t += sum(c[{k}])",
    "t += len(c[{k}])", "for y in c[{k}]:\n    t = t * 0.5 + y",
    "if c[{k}]:\n    c[{k}][-1] = {v}",
    "if c[{k}]:\n    t += c[{k}][0] * c[{j}][-1] if c[{j}] else 0.5",
    "if len(c[{k}]) > 1:\n    c[{k}][0], c[{k}][1] = c[{k}][1], c[{k}][0]",
    "c[{k}].insert(0, {v})", "if c[{k}]:\n    c[{k}].pop(0)", "c[{k}] = []", "c[{k}] = [{v}]",
    "c[{k}] = c[{j}]", "c[{k}], c[{j}] = c[{j}], c[{k}]", "c[{k}].clear()",
    "if {v} in c[{k}]:\n    t += 0.5",
    "for y in c[{k}]:\n    if y > t:\n        break\n    t += y", "c[{k}] += [{v}]",
    "a = c[{k}][:]\na.append({v})\nt += sum(a)", "a = list(c[{k}])\na.append({v})\nt += len(a)",
    "a = c[{k}] + [{v}]\nt += sum(a) * len(a)", "if c[{k}] is c[{j}]:\n    t += 0.25",
    "if a is c[{k}]:\n    t -= 0.125", "a = c[{k}]", "t += sum(a) + len(a)", "a.append({v})",
    "if a:\n    t += a[-1]", "for y in sorted(c[{k}]):\n    t = 0.5 * t + y", "c[{k}].sort()",
    "c[{k}].reverse()", "if c[{k}]:\n    t += max(c[{k}])",
    "for i, y in enumerate(c[{k}]):\n    t += (i + 1) * y * 0.1",
    "for y, z in zip(c[{k}], c[{j}]):\n    t += y * z * 0.3",
    "t += sum(len(b) for b in [c[{k}], c[{j}]])", "if len(c[{k}]) > 2:\n    del c[{k}][1]",
    "for y in c[{k}]:\n    if len(c[{j}]) < 6:\n        c[{j}].append(y * 0.5)",
    "t += sum([y * y for y in c[{k}] if y > 0.4])", "if c[{k}] == c[{j}]:\n    t += 0.75",
    "b = c[{k}]\nif t > 1.3:\n    b = c[{j}]\nb.append({v})",
    "if t > 0.9:\n    a = [{v}]\na.append(0.5)",
    "a = []\nfor y in c[{k}]:\n    a.append(2 * y)\nc[{j}] = a",
    "while len(c[{k}]) > 3:\n    t += c[{k}].pop()", "t += first(c[{k}])", "put(c[{k}], {v})",
    "d.append(c[{k}])", "if d:\n    d[-1].append({v})", "if len(d) > 1:\n    t += sum(d.pop())",
    "e.append((t, c[{k}]))", "for s, b in e:\n    t += 0.1 * s * len(b)",
    "if c[{k}]:\n    t += np.sum(np.array(c[{k}]) ** 2)",
    "for y in reversed(c[{k}]):\n    t = t * 0.7 + y", "t += c[{k}].count({v})",
    "if len(c[{k}]) == 2:\n    p, q = c[{k}]\n    t += p * q",
]
"""What is done to it."""

WHILE = "while len(c[{k}]) < 3 and t < 9.0:\n    t += 0.5\n    c[{k}].append({v})"


def _filled(r: random.Random, text: str) -> list[str]:
    def number() -> str:
        return r.choice(["x[0] * t", "x[-1] - t", "np.sin(3 * t + x[0])", "x_k * 0.9", "0.75",
                         "x_k"])

    def key() -> str:
        return r.choice(["int(abs(t) * 3) % 2", "int(x_k * 4) % 3 % len(c)", "0", "1",
                         "int(x_k * 7 + t) % len(c)"])

    size = r.choice(["len(x)", "3", "2 + len(x)"])
    return text.format(v=number(), w=number(), k=key(), j=key(), m=size).split("\n")


def _block(r: random.Random, depth: int) -> list[str]:
    if depth < 2 and r.random() < 0.4:
        head = _filled(r, r.choice(["for x_k in x:", "for x_k in x:", "if t > 1.1:", "if x[0] < t:",
                                    "for k in range(3):", WHILE]))
        body = [line for _ in range(r.randint(1, 3)) for line in _block(r, depth + 1)]
        return [*head, *("    " + line for line in body)]
    return _filled(r, r.choice(DONE))


def text_of(seed: int) -> str:
    """Return a function that has lists in a list or dict, in tuples and under names."""
    r = random.Random(seed)
    lines = ["t = x[0] * 0.5", "x_k = x[-1]", *_filled(r, r.choice(START)), "a = c[0]", "d = []",
             "e = []", "for x_k in x:", "    c[int(x_k * 5) % len(c)].append(x_k * 1.5)"]
    for _ in range(r.randint(2, 6)):
        lines += _block(r, 0)
    lines += ["for k in range(len(c)):", "    t += sum(c[k]) * (k + 1)", "t += sum(a) + len(d)"]
    body = "\n".join("    " + line for line in [*lines, "return t"])
    return ("import numpy as np\n\n\ndef first(q):\n    return len(q) * 0.5 + (q[0] if q else 0.0)"
            f"\n\n\ndef put(q, v):\n    q.append(v)\n\n\ndef f(x):\n{body}\n")


@pytest.mark.parametrize("seed", range(100))
def test_random_sequences(seed: int, tmp_path: Path) -> None:
    f = loaded(text_of(seed), tmp_path / f"nested{seed}.py")
    require_same_as_python(f, [np.array([0.31, 1.27, 0.83]), np.array([1.13, 0.43, 0.77, 0.15])],
                           f"nested{seed}.py")


def test_a_list_that_gets_shorter_within_a_nested_transform_is_right_or_refused() -> None:
    def f(x: Any, a: float, n: int) -> Any:
        rows = [[0.5] * 3] * n
        if a > 1.61 and len(rows) > 1:
            rows.pop()
        return x[1] * sum(sum(r) for r in rows)

    x = np.ones(3)
    with tracejit.config(disable_jit=True):
        plain = tracejit.jit(f)
        for a in (1.0, 2.0):
            assert plain(x, a, 3) == f(x, a, 3)
            with contextlib.suppress(Refusal):
                assert tracejit.jit(tracejit.value_and_grad(f))(x, a, 3)[0] == f(x, a, 3)
