"""Which list or dict a name holds: after branches and loops, programs are right, or refused.

The refused ones gave wrong numbers once: data decides whether two names hold one list, and a change
of one was not seen by the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from container_programs import random_container_program
from test_aliases import outcome

import tracejit


def outcome_of(body: str, name: str) -> str:
    """Return the outcome of a program by its statements."""
    with tracejit.config(disable_jit=True):
        return outcome("def f(x, y, c, n):" + body.replace("\n        ", "\n    "), name)


@pytest.mark.parametrize("chunk", range(12))
def test_random_programs_are_right_or_refused(chunk: int) -> None:
    with tracejit.config(disable_jit=True):
        outcomes = [outcome(random_container_program(seed, 3 + seed % 5), f"containers {seed}")
                    for seed in range(20 * chunk, 20 * chunk + 20)]
    assert outcomes.count("right") >= 5  # or the law would say little


RIGHT = {
    "a dict that a function changes and returns": """
        def step(s, k):
            s["v"] = s["v"] * 1.1 + k
            s["n"] += 1
            return s
        s = {"v": x[0], "n": 0}
        for k in range(n):
            s = step(s, k)
        while s["v"] < 4.0:
            s = step(s, 1)
        return s["v"] + s["n"] * x[1]
""",
    "a new dict in every branch, changed afterwards": """
        if c[0] > 0.0:
            s = {"a": x[0], "b": 1.0}
        else:
            s = {"a": y[0], "b": 2.0}
        s["b"] *= x[1]
        return s["a"] * s["b"]
""",
    "a new dict in every branch of a loop": """
        total = 0.0
        for k in range(n):
            if c[k % 3] > 0.0:
                s = {"a": x[0], "b": 1.0}
            else:
                s = {"a": y[0], "b": 2.0}
            s["b"] *= k + x[1]
            total += s["a"] * s["b"]
        return total
""",
    "a new list in every iteration, changed afterwards": """
        s = [x[0], 1.0]
        for k in range(3):
            s = [s[0] * 2.0, s[0] + k]
        s[1] *= x[1]
        return s[0] * s[1]
""",
    "lists that change places by data": """
        a, b = [x[0], 1.0], [y[0], 2.0]
        if a[0] < b[0]:
            a, b = b, a
        a[0] *= 3.0
        return a[0] + b[0] * 2.0
""",
    "lists that change places, not changed": """
        a, b = [x[0], 1.0], [y[0], 2.0]
        for k in range(n):
            a, b = b, [a[0] * 0.9, a[1] + b[0]]
        return a[0] + b[1] * 2.0
""",
    "the last but one": """
        s = [x[0], x[1]]
        old = s
        for k in range(3):
            old = s
            s = [s[1], s[0] * 1.1]
        old[0] += s[1]
        s[1] = old[0] * 3.0
        return s[0] + s[1] * 2.0 + old[0] * 3.0 + old[1]
""",
    "the best so far, a copy": """
        now, best = [x[0], x[1]], [0.0, 1.0]
        for k in range(4):
            now[0] = now[0] * 1.5 - k
            now[1] += 0.1
            if now[0] > best[0]:
                best = list(now)
        best[0] += 1.0
        return best[0] + best[1] * now[1]
""",
    "a list that both branches bind": """
        l = [x[0], x[1]]
        if c[0] > 0.0:
            l[0] = y[0]
            h = (l, 2.0)
        else:
            h = (l, 3.0)
        l[1] += 1.0
        return h[0][0] * h[1] + h[0][1]
""",
    "an attribute's list that one branch changes and the other replaces": """
        o = types.SimpleNamespace(l=[x[0], x[1]])
        if c[0] > 0.0:
            o.l = [y[0], 1.0]
        else:
            o.l[0] = x[2]
        return o.l[0] + 2.0 * o.l[1]
""",
    "a tuple with a list that is changed": """
        s = (x[0], {"a": x[1]})
        for k in range(n):
            v, d = s
            d["a"] = d["a"] * 2.0 + v
            s = (v + 1.0, d)
        return s[0] * s[1]["a"]
""",
    "an equal set in every iteration": """
        s = other = {1}
        for k in range(3):
            s = {1}
        s.add(2)
        return len(other) * x[0]
""",
    "an equal object in every iteration": """
        class Box:
            def __init__(self):
                self.v = 1.0
            def __eq__(self, other):
                return self.v == other.v
        b = other = Box()
        for k in range(3):
            b = Box()
        b.v = 5.0
        return other.v * x[0]
""",
    "arrays in a dict that is made anew": """
        s = {"w": x * 0.5, "m": y.copy()}
        for k in range(n):
            s["m"][0] += 0.1
            s = {**s, "w": s["w"] * 0.9}
        return np.sum(s["w"]) + 2.0 * np.sum(s["m"])
""",
    "one list twice in a list": """
        h = [[x[0]], [y[0]]]
        for k in range(n):
            s = [h[0][0] * 2.0]
            h = [s, s]
        h[0][0] += 1.0
        return h[1][0]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_lists_and_dicts_are_pythons(name: str) -> None:
    assert outcome_of(RIGHT[name], name) == "right"


REFUSED = {
    "a branch gives one new list two names": """
        if c[0] > 0.0:
            s = [x[0], 1.0]
            p, q = s, s
        else:
            p, q = [x[1], 1.0], [y[1], 1.0]
        s = None
        p[0] += 1.0
        return q[0]
""",
    "a loop that may not run": """
        s = best = [x[0], 1.0]
        for k in range(n):
            s = [s[0] * 2.0, 1.0]
            best = [best[0] * 0.5, s[0]]
        s[0] += 1.0
        return best[0]
""",
    "a method changes a list of two names": """
        s, best = [x[0], y[0]], [y[1], 1.0]
        if c[0] > 0.0:
            best = s
        s.reverse()
        return best[0]
""",
    "the last list of a loop has two names": """
        s = best = [x[0]]
        for k in range(n):
            s = [s[0] * 2.0]
            best = s
        s[0] += 1.0
        return best[0]
""",
    "a branch gives a list a second name": """
        s, best = [x[0]], [y[0]]
        if c[0] > 0.0:
            best = s
        s[0] += 1.0
        return best[0]
""",
    "a change of what a choice gave": """
        s, t = [x[0]], [y[0]]
        z = s if c[0] > 0.0 else t
        z[0] += 1.0
        return s[0] + 2.0 * t[0]
""",
    "one list twice in a tuple of a branch": """
        h = ([x[0]], [y[0]])
        if c[0] > 0.0:
            s = [x[1]]
            h = (s, s)
        h[0][0] += 1.0
        return h[1][0]
""",
    "a list that is changed in the loop gets a second name in it": """
        l, now, total = [x[0], x[1]], [x[1], x[0]], 0.0
        for k in range(n):
            l[0] += 1.0
            total += now[0]
            now = l
        return total + now[1]
""",
    "a parameter that a branch replaces": """
        def f(s):
            if c[0] > 0.0:
                s = [s[0] * 2.0]
            s[0] += 1.0
            return s[0]
        l = [x[0]]
        return f(l) + l[0]
""",
    "names of one list, one of which a branch in a loop replaces": """
        p = q = [x[0], y[1]]
        for k in range(2):
            if c[0] > 0.0:
                p = p.copy()
            if c[1] > 0.0:
                q = [p[1], 1.0]
        q[0] *= 0.9
        return p[0] + 2.0 * q[0]
""",
    "an array that copies of a list share": """
        q = [x * 0.5, y * 0.5]
        for k in range(2):
            r = q.copy()
        r[1][1:] *= 0.9
        return np.sum(q[1])
""",
    "equal sets in both branches": """
        if c[0] > 0.0:
            s = other = {1}
        else:
            s, other = {1}, {1}
        s.add(2)
        return len(other) * x[0]
""",
    "a list that is changed, and then replaced": """
        s = first = [x[0], x[1]]
        for k in range(n):
            s[0] = s[1] * 0.2
            s = [s[0], s[1] * 2.0]
        return first[0]
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_that_another_name_may_have_to_see_is_refused(name: str) -> None:
    assert outcome_of(REFUSED[name], name) == "refused"


def test_the_refusal_says_what_to_copy() -> None:
    def f(x: float) -> float:
        s, best = [x], [1.0]
        if x > 0.0:
            best = s
        s[0] += 1.0
        return best[0]

    with pytest.raises(tracejit.Refusal, match=r"'best' holds since .*best = list\(") as caught:
        tracejit.grad(f)(0.5)
    assert f"{__file__.rpartition('/')[2]}:{f.__code__.co_firstlineno + 4}" in str(caught.value)


# --- arguments ----------------------------------------------------------------------------------


def sets_an_item(p: Any) -> Any:
    p["n"] = p["n"] * 3.0
    return p["n"]


def appends(p: Any) -> Any:
    p["l"].append(2.0)
    return p["n"]


@pytest.mark.parametrize("f", [sets_an_item, appends])
def test_jit_refuses_to_change_lists_and_dicts_that_the_caller_passed(f: Any) -> None:
    with tracejit.config(disable_jit=True):
        with pytest.raises(tracejit.Refusal, match=r"of the arguments.* work on a copy"):
            tracejit.jit(f)({"n": 1.0, "l": [1.0]})
        given = {"n": 1.0, "l": [1.0]}
        _, slope = tracejit.value_and_grad(f)(given)
        assert given == {"n": 1.0, "l": [1.0]}  # gradient transforms work on copies
        assert slope["n"] == (3.0 if f is sets_an_item else 1.0)


def test_jit_writes_to_the_arrays_of_a_dict() -> None:
    @tracejit.jit
    def update(p: Any, slope: Any) -> Any:
        for key in p:
            p[key] -= 0.5 * slope[key]
        return p

    with tracejit.config(disable_jit=True):
        p = {"a": np.ones(2), "b": np.zeros(3)}
        slope = {"a": np.ones(2), "b": np.ones(3)}
        result = update(p, slope)
    for found in (p, result):
        np.testing.assert_array_equal(found["a"], [0.5, 0.5])
        np.testing.assert_array_equal(found["b"], [-0.5, -0.5, -0.5])


def test_what_is_computed_again_does_not_change_lists_around_it() -> None:
    def f(x: float) -> float:
        total = [x]

        @tracejit.checkpoint
        def add(v: float) -> float:
            total[0] += v
            return total[0]

        return add(x) * total[0]

    with tracejit.config(disable_jit=True), \
            pytest.raises(tracejit.Refusal, match="changes an array, a list or an object"):
        tracejit.grad(f)(0.5)
