"""Lists of a length that the code says, indexed in loops: right, and loops of the graph."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import loaded
from oracles import outcome

import tracejit

A = np.array([[1.0, 0.1], [0.0, 1.0]])
B = np.array([[0.0], [1.0]])


def option_tree(x: float, n: int) -> Any:
    values = [max(1.0 - x * 1.1**j, 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            values[j] = max(0.5 * values[j + 1] + 0.48 * values[j], 1.0 - x * 1.1 ** (i - j))
    return values[0]


def tree_of_new_lists(x: float, n: int) -> Any:
    values = [max(1.0 - x * 1.1**j, 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [0.5 * values[j + 1] + 0.48 * values[j] for j in range(i + 1)]
    return values[0]


def table_of_lists(x: float, n: int) -> Any:
    table = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i == 0 or j == 0:
                table[i][j] = x * (i + j)
            else:
                nearest = min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
                table[i][j] = nearest + math.sin(x * i * j) ** 2
    return table[-1][-1]


def rows_with_names(x: float, n: int) -> Any:
    table = [[x] * n for _ in range(n)]
    for i in range(1, n):
        before, row = table[i - 1], table[i]
        row[0] = x * i
        for j in range(1, n):
            row[j] = min(before[j], row[j - 1]) + math.cos(x * i * j) ** 2
    return table[n - 1][n - 1] + table[1][2]


def heat(x: float, n: int) -> Any:
    u = [x * math.sin(i) for i in range(n)]
    for _ in range(30):
        new = u[:]
        for i in range(1, n - 1):
            new[i] = u[i] + 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u = new
    return sum(v * v for v in u)


def tridiagonal(x: float, n: int) -> Any:
    a, b, c, d = [x] * n, [2.0 + x] * n, [1.0] * n, [float(i) for i in range(n)]
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    y = [0.0] * n
    y[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        y[i] = (d[i] - c[i] * y[i + 1]) / b[i]
    return sum(y)


def bubbles(x: float, n: int) -> Any:
    a = [math.sin(7 * i * x) for i in range(n)]
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return sum(v * k for k, v in enumerate(a))


def sieve(x: float, n: int) -> Any:
    prime, total = [True] * (n + 1), 0.0
    for i in range(2, n + 1):
        if prime[i]:
            total += x / i
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return total


def bodies(x: float, n: int) -> Any:
    ps = [[math.cos(i * x), math.sin(i * x), 0.0, 0.0] for i in range(n)]
    for _ in range(20):
        for i in range(n):
            ax = ay = 0.0
            for j in range(n):
                if i != j:
                    dx, dy = ps[j][0] - ps[i][0], ps[j][1] - ps[i][1]
                    r = (dx * dx + dy * dy + 0.1) ** 1.5
                    ax += dx / r
                    ay += dy / r
            ps[i][2] += 0.01 * ax
            ps[i][3] += 0.01 * ay
        for p in ps:
            p[0] += 0.01 * p[2]
            p[1] += 0.01 * p[3]
    return sum(p[0] ** 2 + p[1] ** 3 for p in ps)


def riccati(x: float, n: int) -> Any:
    costs, gains = [np.eye(2) for _ in range(n + 1)], [None] * n
    for k in range(n - 1, -1, -1):
        gains[k] = np.linalg.solve(
            x * np.eye(1) + B.T @ costs[k + 1] @ B, B.T @ costs[k + 1] @ A)
        costs[k] = np.eye(2) + A.T @ costs[k + 1] @ (A - B @ gains[k])
    return costs[0][0, 0] + gains[n // 2][0, 1]


LOOPS = [option_tree, tree_of_new_lists, table_of_lists, rows_with_names, heat, tridiagonal,
         bubbles, sieve, bodies, riccati]


@pytest.mark.parametrize("fn", LOOPS, ids=lambda f: f.__name__)
def test_loops_stay_loops(fn: Callable[[float, int], Any]) -> None:
    require_equal_graphs(fn, (18, 23))


def require_equal_graphs(fn: Callable[[float, int], Any], lengths: tuple[int, int]) -> None:
    """Assert that values and slopes are right, and that a graph does not grow with a length."""
    sizes = []
    for n in lengths:
        compiled = tracejit.value_and_grad(partial(fn, n=n))
        with tracejit.config(disable_jit=True):
            traced = compiled.trace(0.37)
            value, slope = compiled(0.37)
        assert "unrolled" not in traced.why()
        sizes.append(len(str(traced).splitlines()))
        np.testing.assert_allclose(value, fn(0.37, n), rtol=1e-10)
        differences = (fn(0.37 + 1e-6, n) - fn(0.37 - 1e-6, n)) / 2e-6
        np.testing.assert_allclose(slope, differences, rtol=1e-4, atol=1e-6)
    assert sizes[0] == sizes[1]


def array_of_waves(x: float, n: int) -> Any:
    return np.sum(np.array([math.sin(x * i) * math.exp(-0.01 * i) for i in range(n)]) ** 2)


def sum_of_waves(x: float, n: int) -> Any:
    return sum(math.sin(x * i) * math.exp(-0.01 * i) for i in range(n))


def known_weights(x: float, n: int) -> Any:
    weights = [math.cos(2 * math.pi * k / n) for k in range(n)]
    return sum(w * x**k for k, w in enumerate(weights))


def pairs(x: float, n: int) -> Any:
    ps = [(math.cos(i * x), math.sin(i)) for i in range(n)]
    total = sum(p * q for p, q in ps)
    for k, (p, q) in enumerate(ps):
        total += k * p - q
    return total


def gone_through(x: float, n: int) -> Any:
    v, total = [x * i for i in range(n)], 0.0
    for p in v:
        total += math.sin(p)
    for p, q in zip(v, v[1:], strict=False):  # noqa: RUF007
        total += p * q
    return total + max(v) + v[3] + len([p for p in v if p > 1.0]) + (x in v)


@pytest.mark.parametrize("fn", [array_of_waves, sum_of_waves, known_weights, pairs, gone_through],
                         ids=lambda f: f.__name__)
def test_long_lists_are_gone_through_by_loops(fn: Callable[[float, int], Any]) -> None:
    require_equal_graphs(fn, (70, 85))


NAMES = ("a", "b", "c")


def _index(r: random.Random, loops: str) -> str:
    if not loops or r.random() < 0.2:
        return r.choice(["0", "-1", "2", "N - 2"])
    i = r.choice(loops)
    return r.choice([i, i, i, f"{i} - 1", f"-{i}", f"({i} * 3) % N", f"N - 1 - {i}", f"{i} // 2"])


def _number(r: random.Random, loops: str, depth: int = 0) -> str:
    if depth < 2 and r.random() < 0.35:
        op = r.choice("+-*")
        return f"({_number(r, loops, depth + 1)} {op} {_number(r, loops, depth + 1)})"
    name = r.choice(NAMES)
    return r.choice([
        f"{name}[{_index(r, loops)}]", f"{name}[{_index(r, loops)}]", "x", "0.5", "2", "t",
        f"D[{_index(r, loops)}][{_index(r, loops)}]", f"row[{_index(r, loops)}]", "q[1]",
        f"math.tanh({name}[{_index(r, loops)}])", f"len({name})", *(loops[-1:] * 2)])


def _list(r: random.Random, loops: str) -> str:
    name = r.choice(NAMES)
    return r.choice([
        f"[{_number(r, 'i')} for i in range(N)]", f"[math.tanh(v) for v in {name}]",
        f"{name}[:]", f"list({name})", f"{name}.copy()", f"{name}[::-1]", "[0.0] * N", "[0] * N",
        f"[{_number(r, loops)}] * N", f"{name}[1:] + [{_number(r, loops)}]", name, "row[:]",
        "row", "[0.0] + [x] * (N - 1)", f"sorted({name})", f"[u + v for u, v in zip(a, {name})]",
        f"D[{_index(r, loops)}][:]", f"[*{name}]", "list(range(N))",
        "[x, 0.3, 1] + [0.1] * (N - 3)"])


def _statement(r: random.Random, loops: str, depth: int) -> list[str]:
    if depth < 3 and r.random() < 0.4:
        i = "ijk"[len(loops)] if len(loops) < 3 else "k"
        last = loops[-1:] or "N // 3"
        head, inner = r.choice([
            (f"for {i} in range(N):", loops + i), (f"for {i} in range(1, N):", loops + i),
            (f"for {i} in range(N - 1, -1, -1):", loops + i),
            (f"for {i} in range({last} + 1):", loops + i), (f"for {i} in range(3):", loops + i),
            (f"if {_number(r, loops)} > {_number(r, loops)}:", loops)])
        count = r.randint(1, 3)
        body = [line for _ in range(count) for line in _statement(r, inner, depth + 1)]
        return [head, *["    " + line for line in body]]
    name, place = r.choice(NAMES), _index(r, loops)
    number, rows = _number(r, loops), _index(r, loops)
    return r.choice([
        [f"{name}[{place}] = math.tanh({number})"],
        [f"{name}[{place}] += 0.1 * math.tanh({number})"],
        [f"{name}[{place}], {name}[0] = {name}[0], {name}[{place}]"],
        [f"{name}[{place}], {r.choice(NAMES)}[1] = math.sin({number}), {name}[{place}]"],
        [f"D[{rows}][{place}] = math.tanh({number})"], [f"row[{place}] = math.sin({number})"],
        [f"row = D[{rows}]"],
        [f"D[{rows}] = {r.choice(['row[:]', 'a[:]', 'row', 'D[0][:]', 'b'])}"],
        [f"{name} = {_list(r, loops)}"], [f"t = math.tanh({number})"],
        [f"q = ({number}, {name}[{place}])"], [f"t += 0.01 * {name}.index({name}[2])"],
        [f"{name}.reverse()"], [f"t = 0.1 * sum({name}[{r.choice(['1:', ':-1', ':' + place])}])"],
        [f"t += 0.1 * ({name} == {r.choice(NAMES)})"],
        [f"t += 0.1 * max({name}) - min({r.choice(NAMES)})"],
        [f"for k, v in enumerate({name}):", "    t += 0.01 * k * v"]])


def program(seed: int) -> str:
    """Return the source of a function of a number, about lists of a known length."""
    r = random.Random(seed)
    size = r.choice([5, 14, 16])
    lines = ["t = 0.1 * x", f"N = {size}",
             f"a = {r.choice(['[x * i for i in range(N)]', '[x] * N'])}",
             f"b = {r.choice(['[0.0] * N', 'a[:]', '[1] * N', '[i for i in range(N)]'])}",
             "c = [math.sin(x * i) for i in range(N)]", "q = (x, 1.0)",
             f"D = [{r.choice(['[0.0] * N', '[x * i * j for j in range(N)]', 'a[:]', '[x] * N'])}"
             " for i in range(N)]", f"row = {r.choice(['D[1]', 'a', 'c[:]'])}"]
    for _ in range(r.randint(2, 5)):
        lines += _statement(r, "", 0)
    lines.append("return (t + sum(math.tanh(v) * k for k, v in enumerate(a)) + sum(b) * 0.3"
                 " + math.tanh(c[-1]) + sum(math.sin(v) * (k + 2) for k, v in enumerate(c))"
                 " + sum(sum(math.tanh(v) * k for k, v in enumerate(p)) * m"
                 " for m, p in enumerate(D)) + sum(row))")
    return "import math\n\n\ndef f(x):\n" + "\n".join("    " + line for line in lines) + "\n"


@pytest.mark.parametrize("seed", range(400))
def test_programs_are_right_or_refused(seed: int, tmp_path: Path) -> None:
    f = loaded(program(seed), tmp_path / f"known{seed}.py")
    wanted = outcome(f, 0.37)
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.value_and_grad(f), 0.37)
    if isinstance(found, tracejit.Refusal):
        assert f"known{seed}.py" in str(found)
    elif isinstance(wanted, Exception):
        assert type(found) is type(wanted), found
    elif isinstance(found, Exception):
        raise found
    else:
        np.testing.assert_allclose(found[0], wanted, rtol=1e-9)
        step = 1e-6
        near = [f(0.37 + h) for h in (-step, -step / 2, step / 2, step)]
        coarse, fine = (near[3] - near[0]) / (2 * step), (near[2] - near[1]) / step
        if abs(coarse - fine) < 1e-4 * (1 + abs(fine)):  # no jump in between
            np.testing.assert_allclose(found[1], fine, rtol=2e-4, atol=2e-4 * (1 + abs(wanted)))


# --- objects ---


class Body:
    def __init__(self, x: Any, y: Any, mass: float) -> None:
        self.x, self.y, self.vx, self.vy, self.mass = x, y, 0.0, 0.0, mass

    def push(self, fx: Any, fy: Any) -> None:
        self.vx += 0.01 * fx / self.mass
        self.vy += 0.01 * fy / self.mass


@dataclass
class Bead:
    x: Any
    v: Any = 0.0


def bodies_by_index(x: float, n: int) -> Any:
    bodies = [Body(math.cos(i * x), math.sin(i * x), 1.0 + 0.1 * i) for i in range(n)]
    for _ in range(2):
        for i in range(n):
            fx = fy = 0.0
            for j in range(n):
                if i != j:
                    dx, dy = bodies[j].x - bodies[i].x, bodies[j].y - bodies[i].y
                    r = (dx * dx + dy * dy + 0.1) ** 1.5
                    fx += bodies[j].mass * dx / r
                    fy += bodies[j].mass * dy / r
            bodies[i].push(fx, fy)
        for b in bodies:
            b.x += 0.01 * b.vx
            b.y += 0.01 * b.vy
    return sum(b.x**2 + b.y for b in bodies)


def bodies_that_are_not_one(x: float, n: int) -> Any:
    bodies = [Body(math.cos(i * x), x * i, 1.0) for i in range(n)]
    first, last = bodies[0], bodies[-1]
    for p in bodies:
        for q in bodies:
            if p is not q:
                p.push((q.x - p.x) / ((q.x - p.x) ** 2 + 0.1), 0.0)
    first.x += 1.0
    return sum(p.vx**2 + p.x for p in bodies) + last.vx + bodies[0].x


def chain_of_beads(x: float, n: int) -> Any:
    beads = [Bead(x * i) for i in range(n)]
    for _ in range(5):
        for i in range(n - 1):
            for k in (i, i + 1):
                beads[k].v += 0.1 * (beads[i + 1].x - beads[i].x) * (1.0 if k == i else -1.0)
        for bead in beads:
            bead.x += 0.1 * bead.v
    return sum(b.x**2 for b in beads)


def beads_that_change_places(x: float, n: int) -> Any:
    beads = [Bead(math.sin(7 * i * x), x * i) for i in range(n)]
    for i in range(n):
        for j in range(n - 1 - i):
            if beads[j].x > beads[j + 1].x:
                beads[j], beads[j + 1] = beads[j + 1], beads[j]
    return sum(b.v * k for k, b in enumerate(beads))


def beads_of_two_kinds(x: float, n: int) -> Any:
    beads = [Bead(x * i) if i % 3 else Body(x * i, x, 2.0) for i in range(n)]
    for i in range(n):
        for j in range(n):
            beads[i].x += 0.01 * beads[j].x
    return sum(b.x for b in beads)


OBJECTS = [bodies_by_index, bodies_that_are_not_one, chain_of_beads, beads_that_change_places,
           beads_of_two_kinds]


@pytest.mark.parametrize("fn", OBJECTS, ids=lambda f: f.__name__)
def test_objects_in_lists_are_right(fn: Callable[[float, int], Any]) -> None:
    for n in (5, 17):
        with tracejit.config(disable_jit=True):
            value, slope = tracejit.value_and_grad(partial(fn, n=n))(0.37)
        np.testing.assert_allclose(value, fn(0.37, n), rtol=1e-9)
        differences = (fn(0.37 + 1e-6, n) - fn(0.37 - 1e-6, n)) / 2e-6
        np.testing.assert_allclose(slope, differences, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fn", [bodies_by_index, bodies_that_are_not_one],
                         ids=lambda f: f.__name__)
def test_many_objects_are_gone_through_by_loops(fn: Callable[[float, int], Any]) -> None:
    with tracejit.config(disable_jit=True):
        sizes = [len(str(tracejit.value_and_grad(partial(fn, n=n)).trace(0.37)).splitlines())
                 for n in (20, 40)]
    assert sizes[1] < 2.5 * sizes[0]
