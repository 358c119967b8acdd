"""Which array a name holds: a program is right about it in every call, or it is refused."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from alias_programs import random_alias_program

import tracejit

CALLS = ((3, 3), (4, 2), (3, 0), (5, 1))
"""How long the arrays are, and what `n` is: also no and one iteration."""


def outcome(source: str, name: str) -> str:
    """Return "right" or "refused"; an assertion fails where anything differs from Python."""
    file = f"<alias program {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "types": types}
    exec(compile(source, file, "exec"), namespace)
    f: Callable[..., Any] = namespace["f"]
    traced = tracejit.jit(f)
    for seed, (size, n) in enumerate(CALLS):
        rng = np.random.default_rng(seed)
        x, y, c = rng.uniform(0.1, 0.9, size), rng.uniform(0.1, 0.9, size), rng.uniform(-1, 1, 3)
        theirs, ours = [x.copy(), y.copy()], [x.copy(), y.copy()]
        expected = f(*theirs, c, n)
        try:
            value = traced(*ours, c, n)
        except tracejit.Refusal:
            return "refused"
        for found, wanted in zip((value, *ours), (expected, *theirs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, err_msg=f"n={n}:\n{source}")
    return "right"


@pytest.mark.parametrize("chunk", range(8))
def test_random_programs_are_right_or_refused(chunk: int) -> None:
    with tracejit.config(disable_jit=True):
        outcomes = [outcome(random_alias_program(seed, 3 + seed % 5), str(seed))
                    for seed in range(40 * chunk, 40 * chunk + 40)]
    assert outcomes.count("right") >= 5  # or the law would say little


PROGRAMS = {
    "choice of a loop through a loop": """
        u = x * 0.5
        for i in range(n):
            u = x[::-1]
        for i in range(n):
            if c[0] > 9.0:
                u = -x
        u[0] += 1.0
        return np.sum(u)
""",
    "choices that change places": """
        u, v = x * 0.5, -x
        for i in range(n):
            u = x[::-1] if c[0] > 0.0 else v
        for i in range(n):
            u, v = v, u
        u[0] += 1.0
        v[1] *= 2.0
        return np.sum(u)
""",
    "choice of a branch through a loop": """
        u, v = x * 0.5, -x
        if c[0] > 0.0:
            u = x
        for i in range(n):
            u, v = v, u
        u[0] += 1.0
        return np.sum(v)
""",
    "loops in a loop": """
        u, z = x * 0.5, x.copy()
        for i in range(n):
            for k in range(3):
                if c[k] > 0.3:
                    u = z
            for k in range(3):
                if c[k] > 9.0:
                    u = u * 2.0
        u[0] += 1.0
        return np.sum(z)
""",
    "held by a dict": """
        u = x * 0.5
        d = {"a": u}
        for i in range(n):
            u[:] *= 0.9
            u = y.copy()
        return np.sum(d["a"])
""",
    "held by a list, and changing places": """
        v = y.copy()
        l = [x, v]
        for i in range(n):
            l[0], v = v, l[0]
        l[1][:] *= 0.9
        return np.sum(l[0])
""",
    "held by a local function": """
        u = x * 0.5
        def keep(a):
            return lambda: np.sum(a)
        total = keep(u)
        for i in range(n):
            u[:] *= 0.9
            u = y.copy()
        return total()
""",
    "as the other name was an iteration before": """
        u, v = x * 0.5, y[::-1]
        for i in range(3):
            for k in range(n):
                v = np.sin(u)
            u, v = v, u
        u[1] = 0.7
        return np.sum(v) + np.sum(y)
""",
    "read before it is outdated, in every iteration": """
        v = x if c[0] > 0.0 else y.copy()
        for i in range(2):
            y[1] = v[0] * 0.7
            x[:] *= 0.9
        return np.sum(y)
""",
    "a choice that a loop writes to before it binds it anew": """
        v = y.copy()
        u = v[::-1]
        v = v if c[0] > c[1] else u
        for i in range(2):
            k = 0
            while k < n:
                k += 1
                u[1:] += 0.2
                for j in range(n):
                    u = v.copy()
        return np.sum(u) + np.sum(v)
""",
    "choices of choices that a branch leaves": """
        u, v = x * 0.5, y.copy()
        a, k = v, 0
        while k < 3:
            k += 1
            u, a = a, u
        if c[0] > c[1]:
            a = np.sin(x)
            if c[1] <= 0.0:
                v = a
        a[1:] += 0.2
        return np.sum(v) + np.sum(u)
""",
    "twins after a loop": """
        u = a = x * 0.5
        v = y
        for i in range(n):
            a = a * 0.5
            v = u if c[i % 3] > 0.0 else a
            u = a[::-1]
        for i in range(2):
            v[1:] += 0.2
        return np.sum(a) + np.sum(u)
""",
    "two pairs that change places with one array": """
        u, v = x * 0.5, y.copy()
        a, b, v = v, v, u
        k = 0
        while k < 3 and c[0] > -2.0:
            k += 1
            b, v = v, b
            b[:] *= 0.9
            a, u = u, a
        return np.sum(a)
""",
    "read as one expression before and in a loop": """
        u = x * 0.5
        a, u = x, y
        for i in range(2):
            u[:] *= 0.9
            v = x * 0.5
            a, u = u, a
        return np.sum(v)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_were_wrong_once(name: str) -> None:
    with tracejit.config(disable_jit=True):
        outcome("def f(x, y, c, n):" + PROGRAMS[name].replace("\n        ", "\n    "), name)


HELD = """
class Pair:
    def __init__(self, u, w):
        self.u, self.w = u, w

    def turn(self, c):
        if c > 0.0:
            self.u, self.w = self.w, self.u

def f(x, y, c, n):
    u = x * 0.8
    p = Pair(u, x - 0.5)
    {0}
    for i in range(n):
        u += x
        u = np.arctan(x)
    return p.u[-1] + 0.3 * p.w[-1] + np.sum(u)
"""
ASKED = ["pass", "p.turn(c[0])", "if c[1] > 0.0: p = Pair(p.w, u)", "q = [p]; p = q[int(c[2] > 9)]"]


@pytest.mark.parametrize("asked", ASKED)
def test_objects_in_pools_hold_their_arrays(asked: str) -> None:
    """Where a capture is refused, it begins again with objects in pools, which hold as much."""
    with tracejit.config(disable_jit=True):
        outcome(HELD.format(asked), asked)


DEAD = {
    "what the last iteration began with": """
        old = x * 0.5
        while True:
            new = 0.5 * np.cos(old) + 0.1 * x
            if np.sum((new - old) ** 2) < 1e-9:
                break
            old = new
        new[0] *= 2.0
        return np.sum(new**2)
""",
    "the same, counted, and deleted": """
        old = x.copy()
        for i in range(n + 1):
            new = 0.5 * np.cos(old)
            old = new
        del old
        new[0] *= 2.0
        return np.sum(new**2)
""",
    "the operands of a choice": """
        a, b = x * 2.0, np.sin(x)
        z = a if c[0] > 0.0 else b
        z[0] *= 3.0
        return np.sum(z**2)
""",
    "what takes one of two that change": """
        low, high = x * 0.0, x + 3.0
        for i in range(n + 2):
            middle = 0.5 * (low + high)
            if np.sum(middle**2) > 2.0:
                high = middle
            else:
                low = middle
        middle[0] += x[1]
        return np.sum(middle * x)
""",
    "the names that branches read": """
        a, b = x * 2.0, np.sin(x)
        if c[0] > 0.0:
            z = a
        else:
            z = b
        z[0] *= 3.0
        return np.sum(z**2)
""",
    "a loop in a branch, of what the other one reads": """
        w = x * 0.5
        if c[0] > 0.0:
            for i in range(n + 1):
                new = w * 0.9
                w = new
            u = new
        else:
            u = w + 1.0
        u[0] *= 3.0
        return np.sum(u**2)
""",
}


@pytest.mark.parametrize("name", DEAD)
def test_a_name_that_is_never_read_again_is_no_use(name: str) -> None:
    with tracejit.config(disable_jit=True):
        source = "def f(x, y, c, n):" + DEAD[name].replace("\n        ", "\n    ")
        assert outcome(source, name) == "right"


USED = {
    "by a generator that runs later": """
        a, b = x * 0.5, np.sin(x)
        later = (a[i] * 2.0 for i in range(2))
        z = a if c[0] > 0.0 else b
        return sum(later) + np.sum(z)
""",
    "by a local function": """
        a, b = x * 0.5, np.sin(x)
        def later():
            return a[0]
        z = a if c[0] > 0.0 else b
        s = later()
        a = y
        return s + later() + np.sum(z)
""",
    "by the other branch, after a choice in the first": """
        a, b = x * 0.5, np.sin(x)
        if c[0] > 0.0:
            z = a if c[1] > 0.0 else b
        else:
            z = a + b
        return np.sum(z)
""",
    "by the next iteration": """
        a, b, z = x * 0.5, np.sin(x), y
        for i in range(n):
            z = a if c[0] > 0.0 else b
            s = np.sum(z)
            a = s * x
        return np.sum(z)
""",
    "by what lists all names": """
        a, b = x * 0.5, np.sin(x)
        z = a if c[0] > 0.0 else b
        return np.sum(locals()["a"]) + np.sum(z)
""",
    "by what deletes it": """
        a, b = x * 0.5, np.sin(x)
        z = a if c[0] > 0.0 else b
        del a, b
        return np.sum(z)
""",
    "by what handles an error": """
        a, b = x * 0.5, np.sin(x)
        z = a if c[0] > 0.0 else b
        try:
            z = z[:, 0]
        except IndexError:
            z = a
        return np.sum(z)
""",
}


@pytest.mark.parametrize("name", USED)
def test_a_name_that_is_read_again_stays(name: str) -> None:
    with tracejit.config(disable_jit=True):
        source = "def f(x, y, c, n):" + USED[name].replace("\n        ", "\n    ")
        assert outcome(source, name) == "right"
