"""Deques, sets and dicts that loops on data fill: their keys are numbers, or tuples of them.

Values are compared with Python's own run of the program, gradients with central differences; one
program serves all lengths.
"""

from __future__ import annotations

import heapq
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable
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
from oracles import outcome

import tracejit
from tracejit import Refusal

PROGRAMS: list[Callable[..., Any]] = []
XS = [np.array([0.1257, 0.1321, 0.6404, 0.1049, 0.5357, 0.3616]), np.array([0.71, 1.32]),
      np.array([0.31]), np.linspace(0.1, 2.9, 17) ** 1.1 + 0.01234]
"""Points at which no program has a tie."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


# --- deques, sets and dicts -----------------------------------------------------------------------


@program
def bfs(x):
    n = len(x)
    queue, visited, t = deque([(0, 1)]), {0}, 0.0
    while queue:
        k, depth = queue.popleft()
        t += x[k] * depth
        for step in (1, 3):
            j = (k * 2 + step) % n
            if j not in visited:
                visited.add(j)
                queue.append((j, depth + 1))
    return t * len(visited)


@program
def bfs_on_an_array(x):
    n = len(x)
    edges = np.zeros((n, n))
    for i in range(n):
        edges[i, (2*i+1) % n] = x[i]
        edges[i, (3*i+2) % n] = x[i] ** 2
    visited = set()
    queue = deque([0])
    total = 0.0
    visited.add(0)
    while queue:
        u = queue.popleft()
        total += x[u]
        for v in range(n):
            if edges[u, v] > 0.0 and v not in visited:
                visited.add(v)
                queue.append(v)
                total += edges[u, v]
    return total


@program
def dijkstra(x):
    n = len(x)
    dist = {0: 0.0}
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v in ((2*u+1) % n, (u+3) % n):
            w = 0.1 + x[v] * (1 + u % 2)
            nd = d + w
            if nd < dist.get(v, np.inf):
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return sum(dist.values()) + dist.get(n - 1, 0.5)


@program
def moving_average(x):
    window = deque(maxlen=3)
    out = []
    for v in x:
        window.append(v)
        out.append(sum(window) / len(window))
    return sum(o * o for o in out)


@program
def moving_if(x):
    window = deque(maxlen=2)
    t = 0.0
    for v in x:
        if v > 0.2:
            window.append(v)
            t += sum(window) / len(window)
    return t


@program
def two_sum(x):
    seen = {}
    t = 0.0
    for i in range(len(x)):
        k = int(x[i] * 10)
        if 12 - k in seen:
            t += x[i] * x[seen[12 - k]]
        seen[k] = i
    return t


@program
def collatz_memo(x):
    memo = {1: 0}
    t = 0.0
    for start in range(2, 12):
        n, steps = start + int(x[0]), 0
        while n not in memo:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        memo[start] = steps + memo[n]
        t += memo[start]
    return t * x[0]


@program
def memo_floats(x):
    memo = {0: x[0], 1: x[-1]}
    i = 2
    while memo[i - 1] < 20 and i < 40:
        memo[i] = memo[i - 1] + memo[i - 2] * 0.5
        i += 1
    return memo[i - 1]


@program
def cells(x):
    found = {}
    for v in x:
        c = (int(v * 2), int(v * 3) % 2)
        found[c] = found.get(c, 0.0) + v * v
    t = 0.0
    for (i, j), s in found.items():
        t += s * (i + 2 * j + 1)
    return t


@program
def histogram(x):
    h = defaultdict(float)
    for v in x:
        h[int(v * 3)] += v
    return sum(k * v for k, v in h.items()) + len(h)


@program
def counted(x):
    c = Counter(int(v * 2) for v in x)
    return sum(n * n for n in c.values()) * x[0] + c[1]


@program
def counter_loop(x):
    c = Counter()
    for v in x:
        c[int(v)] += 1
    return c[0] * x[0] + c[2] + len(c)


@program
def sets(x):
    s = set()
    for v in x:
        s.add(int(v * 4))
    for v in x:
        if v > 1.0:
            s.discard(int(v * 4))
    t = x[0] * len(s) + sum(s) + (max(s) if s else 0)
    return t + sum(k * j for j, k in enumerate(sorted(s)))


@program
def popped(x):
    d = {}
    t = 0.0
    for v in x:
        k = int(v * 4) % 3
        if k in d:
            t += d.pop(k) * v
        else:
            d[k] = v
    for k in d:
        t += (k + 1) * d[k]
    return t


@program
def first_of_each(x):
    d = {}
    t = 0.0
    for v in x:
        t += d.setdefault(int(v), v) * v
    return t + sum(d.values())


@program
def both_ends(x):
    q = deque()
    for v in x:
        if v > 0.5:
            q.append(v)
        else:
            q.appendleft(v * 2)
    t, k = 0.0, 1.0
    while len(q) > 1:
        a, b = q.popleft(), q.pop()
        t += a * k + b
        k += 1
    for v in q:
        t += v * k
    return t


@program
def sliding_max(x):
    q, t = deque(), 0.0
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - 3:
            q.popleft()
        t += x[q[0]]
    return t


@program
def inner(x):
    t = 0.0
    for i in range(len(x)):
        seen, k = set(), i
        while k not in seen:
            seen.add(k)
            t += x[k]
            k = int(x[k] * 7) % len(x)
    return t


@program
def grid_path(x):
    seen = {(0, 0): 1.0}
    i = j = 0
    t = 1.0
    for v in x:
        i, j = (i + 1, j) if v > 0.5 else (i, j + 1)
        i, j = i % 3, j % 3
        t = t * (1 + v) * 0.5
        seen[i, j] = seen.get((i, j), 0.5) + t
    return sum(seen.values()) * len(seen)


@program
def none_as_the_default(x):
    d = {}
    for v in x:
        d[int(v)] = v
    found = d.get(int(x[0]) + 2)
    return x[0] if found is None else found


@program
def keys_of_floats(x):
    found, t = {}, 0.0
    for v in x:
        found[v] = found.get(v, 0.5) + v * v
    for key, v in found.items():
        t += key * v
    return t + found[x[0]] + len(found)


@program
def keys_of_ints_and_floats(x):
    found = {0.5: x[0], 1: x[-1]}
    for v in x:
        found[round(v * 2) / 2] = v
    return sum(found.values()) + sum(found) + found.get(0.5, 0.1) + found.get(1.0, 0.25)


@program
def keys_that_are_truths(x):
    d = {}
    for v in x:
        d[v > 0.4] = d.get(v > 0.4, 0.0) + v
    return sum((k + 1) * v for k, v in d.items()) + d.get(True, 0.5) * len(d)


# --- the laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function."""
    require_compiled(f, XS)


def test_one_program_for_all_lengths() -> None:
    with tracejit.config(disable_jit=True):
        for f in (bfs_on_an_array, dijkstra, two_sum, sliding_max, inner, cells, histogram):
            g = tracejit.grad(f)
            for x in XS:
                g(x)
            assert sum(map(len, g._table.values())) == 1, f.__name__


# --- errors and refusals --------------------------------------------------------------------------


def no_such_key(x):
    d = {}
    for v in x:
        d[int(v)] = v
    return d[int(x[0]) + 7]


def no_such_key_to_pop(x):
    d = {}
    for v in x:
        d[int(v)] = v
    return d.pop(int(x[0]) + 7)


def no_such_item(x):
    s = set()
    for v in x:
        s.add(int(v))
    s.remove(int(x[0]) + 7)
    return x[0]


def no_item_in_a_deque(x):
    q = deque()
    for v in x:
        if v > 100.0:
            q.append(v)
    return q.popleft() + q.pop()


def no_index_in_a_deque(x):
    q = deque()
    for v in x:
        if v > 0.2:
            q.append(v)
    return q[len(x) + int(x[0])]


def changed_while_walked(x):
    d = {0: x[0]}
    for v in x:
        d[int(v)] = v
    for k in d:
        d[k + 1] = x[0]
    return sum(d.values())


@pytest.mark.parametrize("f", [no_such_key, no_such_key_to_pop, no_such_item, no_item_in_a_deque,
                               no_index_in_a_deque, changed_while_walked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("interpreted", [True, False])
def test_errors_are_pythons(f: Callable[..., Any], interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        found = outcome(tracejit.jit(f), XS[0])
    wanted = outcome(f, XS[0])
    assert type(found) is type(wanted)
    assert str(found).strip("'") == str(wanted)


def order_of_a_set(x):
    s, t = set(), 0.0
    for v in x:
        s.add(int(v * 4))
    for k in s:
        t = t * 2 + k
    return t


def set_of_floats(x):
    s = set()
    for v in x:
        s.add(v)
    return sum(s)


def keys_of_text(x):
    d = {"a": 0.0}
    for v in x:
        d[int(v)] = v
    return sum(d.values())


def returned(x):
    d = {}
    for v in x:
        d[int(v)] = v
    return d


@pytest.mark.parametrize("f", [order_of_a_set, set_of_floats, keys_of_text, returned],
                         ids=lambda f: f.__name__)
def test_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    with pytest.raises(Refusal, match=r"test_keyed_by_data\.py"):
        tracejit.jit(f)(XS[0])


def test_a_refusal_names_what_the_program_has() -> None:
    def f(x):
        q = deque([x[0]])
        for v in x:
            if v > 0.4:
                q = deque()
            q.append(v)
        return sum(q)

    with pytest.raises(Refusal, match="'q' is one of two things, each a deque, depending on data"):
        tracejit.jit(f)(XS[0])


def test_a_dict_that_python_knows_stays_pythons() -> None:
    def f(x):
        d = {"a": x[0], "b": x[1]}
        order = {1: 2, 0: 5}
        window = deque([1, 2, 3], maxlen=2)
        t = 0.0
        for name in d:
            t += d[name] * order[len(name) - 1] + window[-1]
        return t + len({1, 2})

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(XS[0]) == f(XS[0])


def test_a_nan_is_no_key() -> None:
    """Python looks a NaN up by its identity, which the run does not know."""
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(keys_of_floats), np.array([0.5, np.nan]))
    assert isinstance(found, ValueError)
    assert "NaN" in str(found)


# --- random sequences -----------------------------------------------------------------------------

DICTS = ["d[{k}] = {v}", "d[{k}] = d.get({k}, 0.5) + {v}", "t += d.get({k}, 0.25)",
         "if {k} in d:\n    t += d[{k}]", "t += d.pop({k}, 0.125)", "t += d.setdefault({k}, {v})",
         "if {k} not in d:\n    d[{k}] = {v}", "if {k} in d:\n    del d[{k}]",
         "for a, y in d.items():\n    t += 0.1 * a * y",
         "for y in d.values():\n    t = t * 0.5 + y",
         "t += sum(d.values()) / (1 + len(d))",
         "for a in d:\n    d[a] = d[a] * 0.5 + 0.1 * a",
         "if d:\n    t += max(d.values()) + min(d)", "e[{k}] += {v}", "t += e[{k}]", "c[{k}] += 1",
         "t += c[{k}] * {v}", "for a in sorted(c):\n    t += a * c[a]", "d.clear()",
         "if len(d) > 2:\n    t += d.popitem()[1]", "t += len(list(d)) + len(e)"]
SETS = ["s.add({k})", "s.add({k})", "s.discard({k})", "t += 0.5 if {k} in s else 0.25",
        "if {k} in s:\n    s.remove({k})", "t += len(s) + sum(s)",
        "if s:\n    t += max(s) - min(s)",
        "for a in sorted(s):\n    t = t * 0.5 + a", "s.update([{k}, 1])",
        "u = s.copy()\nt += len(u)",
        "s.clear()"]
QUEUES = ["q.append({v})", "q.append({v})", "q.appendleft({v})", "if q:\n    t += q.pop()",
          "if q:\n    t += 2 * q.popleft()", "w.append({v})", "w.appendleft({v})",
          "t += sum(w) / (1 + len(w))", "if len(q) > 1:\n    t += q[0] * 2 + q[-1] - q[1]",
          "if q:\n    q[-1] = q[0] * 0.5", "for y in q:\n    t = t * 0.5 + y",
          "q.extend([{v}, 0.5])",
          "for y in w:\n    t = t * 0.5 + y", "q.clear()", "t += max(w) if w else 0.5",
          "if len(w) == w.maxlen:\n    t += w.popleft()"]
PAIRS = ["p[{k}, {k} % 2] = {v}", "t += p.get(({k}, 1), 0.5)", "if (1, {k}) in p:\n    t += 0.5",
         "for (a, b), y in p.items():\n    t += (a - b) * y * 0.1"]


def _block(r: random.Random, depth: int) -> list[str]:
    if depth < 2 and r.random() < 0.4:
        head = r.choice(["for x_k in x:", "for x_k in x:", "if t > 1.1:", "if x[0] < t:",
                         "for k in range(3):"])
        body = [line for _ in range(r.randint(1, 3)) for line in _block(r, depth + 1)]
        return [head, *("    " + line for line in body)]
    text = r.choice(r.choice([DICTS, SETS, QUEUES, PAIRS, DICTS]))
    number = r.choice(["x[0] * t", "x[-1] - t", "np.sin(3 * t + x[0])", "x_k * 0.9", "0.75"])
    key = r.choice(["int(abs(t) * 3) % 4", "int(x_k * 4) % 3", "len(x)", "1",
                    "int(x_k * 7 + t) % 5"])
    return text.format(v=number, k=key).split("\n")


def text_of(seed: int) -> str:
    """Return a function that uses a dict of each kind, a set and two deques."""
    r = random.Random(seed)
    lines = ["t = x[0] * 0.5", "x_k = x[-1]", f"d = {r.choice(['{}', '{0: x[0]}', '{2: 0.5}'])}",
             "e, c, p = defaultdict(float), Counter(), {}", "s = set()", "q = deque()",
             f"w = deque(maxlen={r.randint(1, 3)})", "for x_k in x:", "    if x_k > 0.5:",
             f"        d[int(x_k * 5) % 4] = x_k * {r.randint(1, 3)}.0"]
    for _ in range(r.randint(2, 6)):
        lines += _block(r, 0)
    lines += ["for a, v in d.items():", "    t += (a + 1) * v", "t += sum(s) + sum(q) + sum(w)"]
    body = "\n".join("    " + line for line in [*lines, "return t"])
    return ("from collections import Counter, defaultdict, deque\n\nimport numpy as np\n\n\n"
            f"def f(x):\n{body}\n")


@pytest.mark.parametrize("seed", range(100))
def test_random_sequences(seed: int, tmp_path: Path) -> None:
    f = loaded(text_of(seed), tmp_path / f"keyed{seed}.py")
    require_same_as_python(f, [np.array([0.31, 1.27, 0.83]), np.array([1.1, 0.4])],
                           f"keyed{seed}.py")


def test_a_loop_over_what_nothing_was_put_into_has_no_iteration() -> None:
    def f(x: Any) -> Any:
        t, s, d = x[0] * 0.5, set(), {}
        for v in x:
            if v > 0.5:
                d[int(v * 5) % 4] = v * 3.0
        for _ in range(3):
            for _ in range(3):
                u = s.copy()
                t += len(u)
                s.discard(int(x[0] * 7 + t) % 5)
        return t + sum(s) + sum(d.values())

    with tracejit.config(disable_jit=True):
        for x in XS:
            assert tracejit.jit(f)(x) == pytest.approx(f(x))


class Sparse(dict):
    """A dict in which a missing key has the value 0."""

    def __missing__(self, key: object) -> float:
        return 0.0


MADE = ("Counter()", "Sparse()", "defaultdict(float)", "{}")
SET = ("d[0] = 1", "d.setdefault(0, 1)", "if p[1] > 0.0:\n            d[2] = 1",
       "d.update({0: 1})")
ASKED = ("len(d)", "(0 in d)", "(1 if d else 2)")


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("change", SET)
def test_a_key_that_one_branch_sets_is_not_there_after_the_other(made: str, change: str,
                                                                 tmp_path: Path) -> None:
    """Also where reading it gives something: `__missing__` of a Counter, say."""
    for number, asked in enumerate(ASKED):
        text = ("from collections import Counter, OrderedDict, defaultdict\n\n"
                "from test_keyed_by_data import Sparse\n\n\n"
                f"def f(p):\n    x, d = p[0] * 2.0, {made}\n    if p[0] < -1.3:\n"
                f"        {change}\n    return x + 100.0 * {asked}\n")
        f = loaded(text, tmp_path / f"missing{number}.py")
        points = [np.array([-1.1, 0.3]), np.array([-1.4, 0.3]), np.array([-1.5, -0.3])]
        require_same_as_python(f, points, f"missing{number}.py")


# --- in another process ---------------------------------------------------------------------------

SCRIPT = """
import sys
from collections import deque
import numpy as np
import tracejit

@tracejit.grad
def reached(x):
    queue, seen, t = deque([0]), set(), 0.0
    while queue:
        k = queue.popleft()
        if k not in seen:
            seen.add(k)
            t += x[k] * len(seen)
            queue.append(int(x[k] * 10) % len(x))
    return t

print(reached(np.array([0.11, 0.35, 0.52, 0.23])))
"""


def test_another_process_finds_the_program(tmp_path: Path) -> None:
    """The classes that stand for containers are found, though nothing was captured yet."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_LOG_COMPILES": "1",
                   "TRACEJIT_CACHE_DIR": str(tmp_path / "cache")}
    outputs = [subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=True) for _ in range(2)]
    assert "compiled grad[reached]" in outputs[0].stderr
    assert "compiled" not in outputs[1].stderr
    assert outputs[0].stdout == outputs[1].stdout
