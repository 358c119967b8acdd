"""Functions that call themselves as often as data says: values, gradients, errors, refusals.

Values are compared with Python's own run of the program, gradients with central differences; one
program serves all depths.
"""

from __future__ import annotations

import logging
import random
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
XS = [np.array([4.1257, 0.1321, 0.6404, 0.1049, 0.5357, 0.3616]), np.array([0.71, 1.32]),
      np.array([1.31]), np.linspace(6.1, 0.9, 9) ** 1.1 + 0.01234]
"""Points at which no program has a tie; the first item decides how deep, 0 included."""


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


# --- one call, two calls, calls in all kinds of expressions ---------------------------------------


def halves(y):
    return y if y < 0.6 else y * halves(y / 2)


@program
def one_call(x):
    return halves(x[0]) + x[-1] * halves(x[-1] + 3.0)


def to_the_power(y, n):
    if n == 0:
        return 1.0
    half = to_the_power(y, n // 2)
    return half * half * y if n % 2 else half * half


@program
def power(x):
    return to_the_power(x[-1], int(x[0] * 3))


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@program
def fibonacci_twice(x):
    return x[-1] * fibonacci(int(x[0])) + x[0] * fibonacci(int(x[0]) + 2)


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


@program
def greatest_common_divisor(x):
    return x[-1] * gcd(int(x[0] * 12), 18)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program
def ackermann_small(x):
    return x[0] * ackermann(2, int(x[0]))


@program
def bisection(x):
    def root(lo, hi):
        mid = (lo + hi) / 2
        if hi - lo < 1e-3 * x[-1]:
            return mid
        if mid * mid * mid - x[0] > 0:
            return root(lo, mid)
        return root(mid, hi)

    return root(0.0, 3.0 + x[0]) * x[-1]


@program
def simpson(x):
    def f(t):
        return np.sin(x[-1] * t) / (1 + t * t)

    def rule(a, b, fa, fb, whole, tol):
        m = (a + b) / 2
        fm = f(m)
        left = (m - a) / 6 * (fa + 4 * f((a + m) / 2) + fm)
        right = (b - m) / 6 * (fm + 4 * f((m + b) / 2) + fb)
        if abs(left + right - whole) <= 15 * tol:
            return left + right
        return rule(a, m, fa, fm, left, tol / 2) + rule(m, b, fm, fb, right, tol=tol / 2)

    return rule(0.0, x[0], f(0.0), f(x[0]), 0.0, 1e-4)


@program
def in_conditions(x):
    def go(k, y):
        if k <= 0:
            return y
        if go(k - 1, y * 0.5) > 0.1 and go(k - 2, y) < 100.0:
            return y + go(k - 2, y * 1.5)
        return y - (go(k - 1, y) if y > 1.0 else 0.25)

    return go(int(x[0]), x[-1])


@program
def and_or_not(x):
    def go(k, y):
        return (k > 0 and ((y < 20 and go(k - 1, y * x[-1])) or go(k - 2, y) + 1.0)) or y

    return go(int(x[0]), x[0]) * x[-1]


@program
def chained_and_named(x):
    def go(k):
        if k <= 0:
            return x[-1]
        if 0.05 < (y := go(k - 1)) and y < 50.0:
            return y * 1.1 + k
        return -go(k - 2) + y

    return go(int(x[0]))


@program
def arguments_in_order(x):
    trail = np.zeros(3)

    def note(v):
        trail[0] = trail[0] * 1.3 + v
        return v

    def go(k, a, b=2.0, *, c=0.5):
        if k == 0:
            return a + b * c
        return note(a) * go(k - 1, note(b), c=note(a * 0.3)) + note(c) * go(k - 1, b=note(a), a=c)

    return go(int(x[0] * 0.6), x[-1]) + trail[0]


@program
def other_functions_of_it(x):
    def go(y):
        if y < 0.7:
            return y
        return np.sin(go(y * 0.5)) + max(go(y * 0.4), np.exp(-y), key=abs) * min(1.0, y)

    return go(x[0]) + go(x[-1])


# --- what is returned -----------------------------------------------------------------------------


@program
def tuples(x):
    def go(k):
        if k == 0:
            return 1.0, x[-1]
        a, b = go(k - 1)
        return b, a + b * 0.5

    return go(int(x[0]))[0] * go(int(x[0]) + 1)[1]


@program
def nothing_at_times(x):
    def go(k):
        if k == 0:
            return None
        r = go(k - 1)
        return x[-1] if r is None else r * x[-1]

    r = go(int(x[0]))
    return 0.5 if r is None else r


@program
def ints_and_floats(x):
    def go(k, acc):
        if k == 0:
            return acc
        return go(k - 1, acc + (1 if k % 2 else x[-1]))

    return go(int(x[0]), 0) + x[0]


@program
def arrays(x):
    def go(v, k):
        if k == 0:
            return v * 1.5
        w = v * x[0]
        return go(w, k - 1) + w * go(v + 1.0, k - 1)

    return go(x, int(x[0] * 0.6)).sum()


# --- what is changed ------------------------------------------------------------------------------


@program
def in_order_of_a_tree(x):
    n = len(x)
    out, pos = np.zeros(n), 0

    def walk(i):
        nonlocal pos
        if i >= n:
            return
        walk(2 * i + 1)
        out[pos] = x[i]
        pos += 1
        walk(2 * i + 2)

    walk(n - 1 - np.argmin(x[::-1]) % 1 - (n - 1))
    return out @ np.arange(1.0, n + 1)


@program
def quicksort(x):
    a = x.copy()

    def sort(lo, hi):
        if lo >= hi:
            return
        pivot, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        sort(lo, i - 1)
        sort(i + 1, hi)

    sort(0, len(a) - 1)
    return a @ np.arange(1.0, len(a) + 1) ** 2


@program
def totals_around(x):
    total = 0.0

    def go(k):
        nonlocal total
        total = total + x[-1]
        if k == 0:
            return total
        total += go(k - 1)
        return total + go(k - 2 if k > 1 else 0) * total

    return go(int(x[0] * 0.4)) + total


@program
def items_augmented(x):
    a = np.ones(3) * x[-1]

    def go(k):
        if k == 0:
            return a[1]
        a[k % 3] += go(k - 1)
        a[(k + 1) % 3] *= 1.1
        return a[0]

    return go(int(x[0])) + a.sum()


@program
def lists_appended_to(x):
    out = []

    def go(k):
        if k == 0:
            out.append(x[-1])
            return
        go(k - 1)
        out.append(k * x[0])
        go(k - 1)

    go(int(x[0] * 0.7))
    return sum(out) + len(out) * x[-1]


class Tree:
    def __init__(self, value):
        self.value, self.visits, self.most = value, 0, 0

    def total(self, i, depth=0):
        self.visits += 1
        self.most = max(self.most, depth)
        if i >= len(self.value):
            return 0.0
        left = self.total(2 * i + 1, depth + 1)
        return left * 0.5 + np.sin(self.value[i]) + self.total(2 * i + 2, depth + 1)


@program
def method(x):
    tree = Tree(x)
    return tree.total(int(x[-1] * 0)) * tree.visits + tree.most


# --- loops ----------------------------------------------------------------------------------------


@program
def in_loops(x):
    def go(k):
        return x[-1] if k == 0 else x[-1] * go(k - 1) + 0.1

    s = 0.0
    for k in range(int(x[0])):
        s += go(k)
        if s > 3:
            s -= go(1)
    return s


@program
def with_loops(x):
    def go(k):
        s = x[-1]
        for j in range(k):
            if j == 2:
                break
            s += go(k - 1 - j)
        while s > 40:
            s = s / 2 - go(0) * 0.01
        return s

    return go(int(x[0]))


WEIGHTS = np.array([1.0, 2.0, 3.0])


@program
def over_items(x):
    def go(k):
        s = x[-1]
        for d in (0.5, -0.25):
            if k < 1:
                continue
            s += d * go(k - 1)
        for i, w in enumerate(WEIGHTS):
            if w > k:
                return s + i
            s = s + go(k - 2) * w
        return s

    return go(int(x[0] * 0.7))


@program
def returns_in_loops(x):
    def go(k):
        for j in range(len(x)):
            for i in range(3):
                if x[j] * (i + 1) > 2 * k:
                    return x[j] * (1 + i) + (go(k - 1) if k > 0 else 0.0)
        with np.errstate(all="ignore"):
            if k > 3:
                return x[-1] / 3.0
        return go(k - 1) + 0.5 if k > 0 else 0.25

    return go(int(x[0]))


CHILDREN = np.array([[1, 2, 5], [3, -1, -1], [-1, 4, -1], [-1, -1, -1], [-1, -1, -1], [6, -1, -1],
                     [-1, -1, -1]])


@program
def child_indices(x):
    def go(i, w):
        s = x[i % len(x)] * w
        for c in CHILDREN[i]:
            if c < 0:
                continue
            s += go(c, w * x[0])
        return s

    return go(int(x[-1]) % 7, 1.0) + go(0, x[-1])


@program
def sums_over_children(x):
    def total(i, w):
        return w * x[i % len(x)] + sum(total(c, w * 0.5) for c in CHILDREN[i] if c >= 0) * x[-1]

    return total(int(x[-1]) % 7, 1.0) + total(0, x[0])


class Static:
    @staticmethod
    def power(y, k):
        return y if k <= 0 else Static.power(y * 0.9, k - 1) * 1.5

    @classmethod
    def root(cls, y, k):
        return y if k <= 0 else cls.root((y + 2 / y) / 2, k - 1)


@program
def methods_of_classes(x):
    return Static.power(x[-1], int(x[0])) + Static.root(x[0], int(x[0]))


@tracejit.jit
def compiled_recursion(y, k):
    return y if k <= 0 else compiled_recursion(np.sin(y), k - 1) * 1.5 + y


@program
def of_a_compiled_function(x):
    return compiled_recursion(x[-1], int(x[0]))


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_recursions_are_right(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_recursions_are_right_compiled(f: Callable[..., Any]) -> None:
    require_compiled(f, XS)


def test_one_program_serves_all_depths(caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.jit(fibonacci_twice)
    with caplog.at_level(logging.DEBUG, "tracejit"):
        for depth in range(8):
            x = np.array([depth + 0.25, 1.5])
            np.testing.assert_allclose(f(x), fibonacci_twice(x), rtol=1e-12)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("compiled ")]
    assert len(lines) == 1, lines


def smooth(x):
    def go(y):
        return y * x[-1] if y < 0.5 else np.sin(y) * go(y * 0.6) + go(y * 0.3)

    return go(x[0]) * x[-1]


def test_second_derivatives() -> None:
    x, h = XS[0], 1e-6
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(smooth)
        differences = [(slope(x + e) - slope(x - e)) / (2 * h) for e in h * np.eye(len(x))]
        np.testing.assert_allclose(tracejit.hessian(smooth)(x), differences, rtol=1e-6, atol=1e-7)


def test_errors_of_recursions_that_do_not_end() -> None:
    def never(x):
        def go(k):
            return x if k == 0.5 else x * go(k + 1)

        return go(x)

    def never_at_last(x):
        def go(k):
            return x if k == 0.5 else go(k + 1)

        return go(x)

    for f in (never, never_at_last):
        for compiled in (tracejit.jit(f), tracejit.grad(f)):
            with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
                compiled(1.0)


# --- arrays that calls have: right, or refused at a line ------------------------------------------


def _hostile() -> list[Callable[..., Any]]:
    def callee_writes(x):
        def go(a, k):
            a[0] += 1
            if k == 0:
                return a.sum()
            b = a * 2
            s = go(b, k - 1)
            return s + b[0]

        return go(x.copy(), int(x[0]))

    def augments(x):
        def go(a, k):
            a += 1
            if k == 0:
                return a.sum()
            s = go(a, k - 1)
            return s + a[0]

        return go(x.copy(), int(x[0]))

    def writes_after(x):
        def go(a, k):
            if k == 0:
                return a.sum()
            a[0] *= 2
            s = go(a, k - 1)
            a[-1] += s
            return s + a[0]

        return go(x.copy(), int(x[0]))

    def swaps(x):
        def go(a, b, k):
            if k == 0:
                return a.sum()
            a[0] += b[-1]
            return go(b, a, k - 1) + a[0]

        return go(x.copy(), x * 2, int(x[0]))

    def one_array(x):
        def go(a, b, k):
            if k == 0:
                return a.sum()
            a[0] += b[-1]
            b[-1] *= 0.5
            return go(a, b, k - 1) + a[0]

        y = x.copy()
        return go(y, y, int(x[0]))

    def returns_its_own(x):
        def go(a, k):
            if k == 0:
                return a
            b = go(a * 2, k - 1)
            b[0] = k
            return b + a

        return go(x, int(x[0])).sum()

    def returns_one_around(x):
        y = x.copy()

        def go(k):
            if k == 0:
                return y
            b = go(k - 1)
            b[0] += 1
            return b

        return go(int(x[0])).sum() + y[0] * 10

    def views(x):
        y = x.copy()

        def go(a, k):
            if k == 0:
                return a.sum()
            v = a[0:]
            a[-1] += 1
            s = go(a, k - 1)
            return s + v[-1]

        return go(y, int(x[0])) + y[-1]

    def view_written(x):
        y = x.copy()

        def go(k):
            v = y[k % len(y):]
            if k <= 0:
                return v[0]
            s = go(k - 1)
            v[0] += s
            return s + y[0]

        return go(int(x[0])) + y.sum()

    def closures(x):
        def go(f, k):
            if k == 0:
                return f(1.0)

            def g(t):
                return f(t) * k

            return go(g, k - 1)

        return go(lambda t: t * x[-1], int(x[0]))

    def function_by_turns(x):
        def go(f, g, k):
            return f(x[0]) if k == 0 else go(g, f, k - 1) + f(x[-1])

        return go(np.sin, np.cos, int(x[0]))

    def rebinds_what_it_calls(x):
        h = np.sin

        def go(k):
            nonlocal h
            if k == 0:
                h = np.cos
                return x[-1]
            return h(go(k - 1))

        return go(int(x[0]))

    def unset_at_times(x):
        def go(k):
            if k > 2:
                y = x[-1]
            s = 1.0 if k == 0 else go(k - 1)
            if k > 2:
                s += y
            return s

        return go(int(x[0]))

    def never_set(x):
        def go(k):
            if k == 0:
                y = x[-1]
                return y
            s = go(k - 1)
            return s + y

        return go(int(x[0]))

    def another_of_the_name(x):
        def go(k):
            return x[-1] if k == 0 else x[0] * go(k - 1)

        first = go

        def go(k):
            return x[-1] + 1.0 if k == 0 else x[-1] * first(k - 1)

        return first(int(x[0])) + go(int(x[0]))

    def handed_on(x):
        def go(self, k):
            return x[-1] if k == 0 else x[0] * self(self, k - 1)

        return go(go, int(x[0]))

    def in_a_comprehension(x):
        def go(k):
            return x[-1] if k == 0 else x[0] + sum([go(j) for j in range(k)])

        return go(int(x[0] * 0.6))

    def in_a_try(x):
        def go(k):
            try:
                return x[-1] if k == 0 else x[0] * go(k - 1)
            except ZeroDivisionError:
                return 0.0

        return go(int(x[0]))

    def list_of_each_call(x):
        def go(k, path):
            if k == 0:
                return sum(path)
            return go(k - 1, [*path, x[-1] * k]) + len(path)

        return go(int(x[0]), [])

    def list_shared(x):
        def go(k, path):
            path.append(x[-1] * k)
            if k == 0:
                return sum(path)
            s = go(k - 1, path)
            return s + path[-1] + len(path)

        return go(int(x[0]), [])

    def mutual(x):
        def even(k):
            return 1.0 if k == 0 else x[-1] * odd(k - 1)

        def odd(k):
            return 0.5 if k == 0 else x[-1] + even(k - 1)

        return even(int(x[0]))

    return [f for f in locals().values() if callable(f)]


@pytest.mark.parametrize("f", _hostile(), ids=lambda f: f.__name__)
def test_what_calls_share_is_right_or_refused(f: Callable[..., Any]) -> None:
    require_same_as_python(f, [XS[0], XS[3]], Path(__file__).name)


# --- generated ------------------------------------------------------------------------------------


_ENDS = ("k <= 0", "k <= 0 or a > 30.0", "a > 9.0 or k <= 1", "not k > 0")
_BASES = ("a", "a * x[-1] + b", "(1.0 if b > a else x[0])", "0", "x[k % n]")
_VALUES = ("a", "b", "a * 0.5", "b + x[k % n]", "-a", "a - b * 0.3", "np.sin(b)", "k", "out[0]",
           "{call}", "{call} * 0.5", "np.cos({call})", "(a if {call} > 1.0 else b)",
           "a + {call}", "{call} - {call} * b", "note({call})", "note(a) + {call} * note(b)",
           "({call} > 0.3 and a or {call})")
_CALLS = ("go(k - 1, {v}, {v})", "go(k - 2, {v}, b={v})", "go(k=k - 1, a={v}, b=a)", "go(k - 1, b)")
_STATEMENTS = (
    "a = {v}", "b = {v}", "c = {v}; a = c + a", "out[k % 3] += {v}", "out[0] = {v}", "t += {v}",
    "if a > {v}:\n    b = {v}", "if b < 1.0:\n    return {v}\nelse:\n    a = {v}",
    "for j in range(2):\n    a = a * 0.9 + {v}\n    if a > 5.0: break",
    "c = 0\nwhile c < 2 and b < 4.0:\n    b = b + 0.4 + abs({v}) * 0.1\n    c += 1", "a += {v}",
    "for d in (0.5, 1.5):\n    if a > 3.0: continue\n    a, b = b * d, {v}")


def _value(draw: random.Random, depth: int) -> str:
    text = draw.choice(_VALUES[:9] if depth <= 0 else _VALUES)
    while "{call}" in text:
        call = draw.choice(_CALLS)
        while "{v}" in call:
            call = call.replace("{v}", _value(draw, depth - 2), 1)
        text = text.replace("{call}", call, 1)
    return text


def _random_recursion(seed: int) -> str:
    draw = random.Random(seed)
    lines = [f"if {draw.choice(_ENDS)}:", f"    return {draw.choice(_BASES)}"]
    for _ in range(draw.randint(0, 3)):
        text = draw.choice(_STATEMENTS)
        while "{v}" in text:
            text = text.replace("{v}", _value(draw, draw.choice((0, 0, 1))), 1)
        lines += text.split("\n")
    lines.append(f"return {_value(draw, 1)}")
    body = "".join(f"        {line}\n" for line in lines)
    return ("import numpy as np\n\n\ndef f(x):\n    n, out, t = len(x), np.ones(3) * x[-1], 0.0\n\n"
            "    def note(v):\n        out[1] = out[1] * 0.7 + v\n        return v * 0.5\n\n"
            "    def go(k, a, b=0.7):\n        nonlocal t\n" + body
            + "\n    return go(int(x[0] * 0.6), x[-1] * 1.01) + out @ np.array([1.0, 2.0, 3.0])"
            " + t\n")


@pytest.mark.parametrize("seed", range(300))
def test_random_recursions_are_right_or_refused(seed: int, tmp_path: Path) -> None:
    f = loaded(_random_recursion(seed), tmp_path / f"recursion_{seed}.py")
    found = outcome(f, XS[0])
    if isinstance(found, Exception) or not np.isfinite(found) or abs(found) > 1e9:
        return
    require_same_as_python(f, [XS[0], XS[1], XS[3]], f"recursion_{seed}.py")


def test_most_random_recursions_are_captured(tmp_path: Path) -> None:
    refused = 0
    for seed in range(40):
        f = loaded(_random_recursion(seed), tmp_path / f"recursion_{seed}.py")
        with tracejit.config(disable_jit=True):
            refused += isinstance(outcome(tracejit.jit(f), XS[1]), Refusal)
    assert refused < 8
