"""Programs that once failed, as random programs found them and made small.

Each `def` in `PROGRAMS` is a whole program of `tests/program_laws.py`: f(x, y, a, n) with x of n
numbers, y of n rows of three and a number a.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program_laws import Program, arguments

import tracejit
from tracejit.ir.interpreter import interpret

PROGRAMS = {
    "a condition of a while changes what the body reads": """
def f(x, y, a, n):
    s, c = a, 0
    def step(v):
        nonlocal s, c
        c += 1
        s = s * 0.6 + np.sin(v)
        return s * (c % 3)
    k = 0
    while k < n and step(1.1) > y[k, 0] - 2.0:
        x[k] -= s * 0.1
        k += 1
    return s * c + np.sum(x * x)
""",
    "an index is evaluated after the value that changes it": """
def f(x, y, a, n):
    s, c = a, 0
    def step(v):
        nonlocal s, c
        c += 1
        s = s * 0.6 + np.sin(v)
        return s
    u = x * 0.8
    u[:c] = step(1.1)
    u[c] += step(a)
    return np.sum(u * u) + s
""",
    "an iteration fails on a guess that does not hold": """
def f(x, y, a, n):
    u = x * 0.8
    s = 0
    for i in range(n):
        u = np.full(n, s)
        s = x[i]
        if u[0] > 0.2:
            u[::2] *= 0.7
    return np.sum(u * u) + s
""",
    "a size that a branch inside a branch yields is that of a residual": """
def f(x, y, a, n):
    u0 = x * 0.8
    if a < 0.93:
        if a > -0.83:
            u0 = np.ones(n) * 2.1
        u0 = np.maximum(u0[::-1], 0.11) * x[0]
    return np.sum(u0 * u0) + y[0, 0]
""",
    "break leaves a traced loop": """
def f(x, y, a, n):
    s = 0.0
    for i in range(n):
        if s > 0.4:
            break
        s += x[i] * x[i]
    return s
""",
    "a loop counts by itself how much of an array it takes": """
def f(x, y, a, n):
    s = 0.0
    k = 0
    while k < n:
        k += 1
        s += np.sum(x[:k] * 0.7)
    return s
""",
    "what is stored in a loop has sizes that are computed in it": """
def f(x, y, a, n):
    u = x * 0.8
    k = 0
    while k < n:
        k += 1
        for i in range(2):
            u[k:] *= np.cos(y[k - 1, 0])
    return np.sum(u)
""",
    "whether a loop runs is a guard on an argument, and sizes are equal": """
def f(x, y, a, n):
    u = y[0]
    for i in range(1, n):
        u = np.arange(3) * 0.3 + x[i]
    return np.sum(u)
""",
    "names change places in a loop in a loop, and are written to after it": """
def f(x, y, a, n):
    u, v = x * 0.8, x * 0.5
    for i in range(n):
        for j in range(i):
            u[j] += v[i] * 0.5
            u, v = v, u
        u[0] = y[i, 0] * a
    return np.sum(u * x)
""",
    "a name that one branch sets holds a view": """
def f(x, y, a, n):
    if a < 7.0:
        u = np.roll(x * a, 1)
    return np.sum(u * x)
""",
    "an endless loop returns or breaks": """
def f(x, y, a, n):
    k = 0
    while True:
        if k >= n:
            break
        if x[k] > 7.0:
            return a
        k += 1
    return np.sum(x * x)
""",
    "names change places while a third holds one of the arrays": """
def f(x, y, a, n):
    u, v, w = x * 0.8, x * 0.5, x * 0.2
    o = v
    for i in range(n):
        u[0] += i * a
        u, v, w = v, w, u
    return np.sum(u * x) + np.sum(o * y[:, 1])
""",
    "an array is bound anew in a loop and written to after it": """
def f(x, y, a, n):
    u = x
    for i in range(n):
        u = np.sin(u) + a
    u[0] = y[0, 0]
    return np.sum(u * x)
""",
    "an array is only augmented in a loop": """
def f(x, y, a, n):
    for v in x:
        x -= x * a
    return np.sum(x)
""",
    "a branch outside of all loops stores a residual": """
def f(x, y, a, n):
    if a < 7.0:
        x[1] *= 0.3
        x[1] = x[0] * a
    return np.sum(x)
""",
    "a loop writes in a branch and an inner loop in a loop": """
def f(x, y, a, n):
    if a < 7.0:
        for i in range(n):
            for j in range(i):
                x[j] = a * y[i, 1]
    return np.sum(x)
""",
    "a branch leaves an array of another size": """
def f(x, y, a, n):
    u = x
    if a < 7.0:
        u = x[:1]
    return np.sum(u * a)
""",
    "a loop in a branch leaves an array of a size that turns out equal": """
def f(x, y, a, n):
    u = x
    if a < 7.0:
        for v in x:
            u = np.sum(y, axis=1) + v
    return np.sum(u)
""",
    "a loop leaves an array whose size is an argument": """
def f(x, y, a, n):
    u = x
    for i in range(n):
        u = np.zeros(n) + x[i]
    return np.sum(u)
""",
    "a branch reads what the other one assigns": """
def f(x, y, a, n):
    s = x[0]
    if y[0, 0] > 7.0:
        s += 0.4
        return a
    return s
""",
    "a loop carries an array of a size that a branch decides": """
def f(x, y, a, n):
    u = x
    if a < 7.0:
        u = y[1]
    for v in x:
        u = np.where(u > 0.37, u + a, u)
    return np.sum(u)
""",
    "an array that overflows, which only a dead read in a branch connects": """
def f(x, y, a, n):
    u = x * 0.8
    for i in range(12):
        u += u ** 2 * 40.0
    r = y * a
    if a < 9.0:
        for k in range(2):
            r = np.sin(r)
            v = u
            v[0] = -1.3
            s = np.sin(x[0])
    return np.sum(r)
""",
    "names change places in a loop within the loop that writes to them": """
def f(x, y, a, n):
    u, v = x * 0.8, x * a
    for i in range(n):
        for k in range(i):
            v[1:-1] = 0.5 * (u[2:] + u[:-2])
            u, v = v, u
        u[0] = i * 0.1
        v[1] *= np.sin(u[0])
    return u[1] + v[2] * x[0]
""",
    "a loop within a loop binds a name anew, and then it is written to": """
def f(x, y, a, n):
    u = x.copy()
    for i in range(n):
        v = u
        for k in range(i):
            v = v * a
        u = v + 1.0
        u[0] *= x[1]
    return u[0] + v[n - 1]
""",
    "what a Log keeps has a size that is a sum": """
def f(x, y, a, n):
    u = x * 0.8
    s = 0.0
    for i in range(n):
        u = np.concatenate((x[:-1], u[:1]))
        u = u + u * x[0]
        s -= np.sin(x) @ u
        if y[i, 0] > 0.3:
            return s
    return s
""",
    "an index beyond a known size, in a branch that is not taken": """
def f(x, y, a, n):
    s = a * 0.5
    if a > 9.0:
        three = np.zeros(3)
        s += three[5]
    return s * x[0]
""",
    "a name that an iteration may bind anew is written to after the loop": """
def f(x, y, a, n):
    w = x.copy()
    for k in range(n):
        if x[k] > 0.2:
            w = w * y[k, 0]
    w[0] -= a
    return np.sum(w * w)
""",
    "branches yield matrices of sizes of their own": """
def f(x, y, a, n):
    b = y[::-1]
    if np.sum(y) >= y[1, 0]:
        b[0, 0] += 0.53 * a
    else:
        b = np.full((n, 3), y[0, 0])
        b[1, 0] *= np.tanh(-a)
    return np.sum(b * b) + x[0]
""",
    "a loop may bind the only name of an array anew, and writes to it": """
def f(x, y, a, n):
    u, v = x * 1.0, x * a
    for i in range(n):
        for j in range(2):
            if y[i, j] > 0.2:
                u = u * 0.7
            u[0] += 1.0
        u[1] *= x[0]
    for i in range(n):
        if y[i, 2] > 0.1:
            u, v = v, u
        u[1] *= x[0]
    return np.sum(u) + v[0]
""",
    "a loop over an array binds its name to what it holds": """
def f(x, y, a, n):
    u, s = x * 0.8, 0.0
    for i, w in enumerate(u):
        if i > 1:
            u = u
        u[1:] += w * a
        s += w * w
    return s + u[1]
""",
    "a running sum goes in order, also past its margins": """
def f(x, y, a, n):
    return np.sum(np.diff(np.cumsum(x * a)) ** 2) + np.sum(np.cumsum(np.roll(y[:, 0], 1)[1:]) ** 2)
""",
    "an array is read for all columns of a row, if the row is in range": """
def f(x, y, a, n):
    u = x * 0.8
    u += np.sum(y, axis=1)
    v = np.roll(u[:-1] / (1.0 + u[:-1] * u[:-1]), 1)
    return np.sum(u) + np.sum(v) * a
""",
    "a branch in a loop leaves one of two arguments of one size": """
def f(x, y, a, n):
    u, v, s = x, y[:, 1], 0.0
    for k in range(n):
        if x[k] > 0.1:
            u, v = v, u
        s += u[0] * a + v[k]
    return s + np.sum(u * v * u)
""",
    "a branch in a loop multiplies a matrix that is square in this call": """
def f(x, y, a, n):
    A = y.T @ y
    r, b = np.eye(3), y[:3]
    for k in range(n):
        if k % 2 == 1:
            r = r @ b * a
        r = np.sin(r + A)
    return np.sum(r)
""",
}


REFUSED = {
    "two names of one array change places in a loop, then one is written to": """
def f(x, y, a, n):
    u = x * 0.8
    r = u
    for i in range(n):
        r, u = u, r
    r[:-1] -= a
    return np.sum(u * u)
""",
    "three names of two arrays change places in a loop, then one is written to": """
def f(x, y, a, n):
    u, v = x * 0.8, x * 0.5
    w = u
    for i in range(n):
        u, v, w = v, w, u
    u[0] = a
    return np.sum(u * x) + 10.0 * np.sum(v * x) + 100.0 * np.sum(w * x)
""",
    "a view and its array change places in a loop, then one is written to": """
def f(x, y, a, n):
    u = x * 0.8
    r = u[::-1]
    for i in range(n):
        r, u = u, r
    r[0] -= a
    return np.sum(u * u * x)
""",
    "a loop swaps and writes to what data chose before it": """
def f(x, y, a, n):
    u, v, z = x * 2.0, x * 3.0, x * 4.0
    w = u if a > 0.3 else v
    for k in range(n):
        w[0] += 1.0
        w, z = z, w
    return np.sum(u) + 10.0 * np.sum(v) + 100.0 * np.sum(w) + 1000.0 * np.sum(z)
""",
    "a loop swaps two names of which data decides whether they are one array": """
def f(x, y, a, n):
    u, v = x * 2.0, x * 3.0
    if a > 0.3:
        c, b = u, v
    else:
        c, b = v, u
    if a > 0.9:
        d = u
    else:
        d = v
    u = v = 0.0
    for k in range(n):
        d[0] += 1.0
        d, c = c, d
    return np.sum(c) + 10.0 * np.sum(b) + 100.0 * np.sum(d)
""",
    "a loop swaps an array and its view, which a loop on data swapped before": """
def f(x, y, a, n):
    u = x * 2.0
    r = u[::-1]
    while a > 0.5:
        a = a * 0.5
        u, r = r, u
    for k in range(n):
        u[0] += 1.0
        u, r = r, u
    return np.sum(u * x) + 10.0 * np.sum(r * x)
""",
    "data decides which array is read after one was written to": """
def f(x, y, a, n):
    u = x * 0.8
    v = x * 0.5
    if a < 7.0:
        u = v
    v[0] = 3.0
    return np.sum(u)
""",
    "a view that a branch binds is written to": """
def f(x, y, a, n):
    u = x * 0.8
    if a < 7.0:
        u = y[:, 0]
    u[0] = 3.0
    return np.sum(y)
""",
    "a loop writes to an array that has another name, then binds the name": """
def f(x, y, a, n):
    u = x * 0.8
    o = u
    for i in range(n):
        u[0] += 1.0
        u = u * 0.5
    return o[0] + u[0]
""",
    "names changed places in a loop, and a third holds one of the arrays": """
def f(x, y, a, n):
    u, v = x, x * 0.5
    for i in range(n):
        u, v = v, u
    u[0] *= a
    return v[0]
""",
    "a loop leaves two names for one array": """
def f(x, y, a, n):
    u = v = x * 0.8
    for i in range(n):
        v = x * y[i, 0]
        u = v
    v[1] = 9.0
    return u[1]
""",
    "a loop in a loop may bind a name anew, and the outer one writes to it": """
def f(x, y, a, n):
    u = x
    for i in range(n):
        for k in range(i):
            u = u * 0.5
        u[0] += 1.0
    return x[0]
""",
    "so it may in one of two loops, and the other writes to it": """
def f(x, y, a, n):
    u = x
    for i in range(n):
        for k in range(i):
            u = u * 0.5
        for k in range(2):
            u[0] += 1.0
    return x[0]
""",
    "a loop in a loop exchanges an array and a view of an argument": """
def f(x, y, a, n):
    u, v = x * 0.8, x[::-1]
    for i in range(n):
        for k in range(i + 1):
            v, u = u, v
        u[i] += 1.0
    return np.sum(v)
""",
    "a loop in a loop exchanges two arrays, one of which has a third name": """
def f(x, y, a, n):
    u, v = x * 0.8, x * 0.5
    w = u
    for i in range(n):
        for k in range(i + 1):
            v, u = u, v
        u[i] += 1.0
    return np.sum(v) + w[0]
""",
    "an iteration may bind a name anew, or leave it": """
def f(x, y, a, n):
    w = x
    for k in range(n):
        if x[k] > 9.0:
            w = w * 2.0
    w[0] -= a
    return x[0]
""",
    "a loop that is left before it binds a name anew": """
def f(x, y, a, n):
    w = y[0]
    for k in range(n):
        j = 0
        while j < n:
            if a < 9.0:
                break
            w = np.tanh(w)
            j += 1
    w[0] -= a
    return y[0, 0]
""",
    "an array reaches a name after two iterations": """
def f(x, y, a, n):
    u = x * 0.8
    v = u[::-1]
    for i in range(n - 1):
        u = v
        v = x
    u[0] *= a
    return x[0]
""",
    "a loop reads an array by a name that does not change places": """
def f(x, y, a, n):
    u, v, s = x, x * 0.5, 0.0
    for i in range(n):
        v[0] = u[1] + i
        u, v = v, u
        s += x[0]
    return s
""",
    "a loop may bind one of two names of an array anew, and writes to it": """
def f(x, y, a, n):
    u = x * 0.8
    w = u
    for i in range(n):
        if y[i, 0] > 0.1:
            u = u * 2.0
        u[0] += 1.0
    return u[0] + w[0]
""",
}

@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_obeys_the_laws(name: str, interpreted: bool) -> None:
    """Interpreter and kernel give the value, gradient and tangent that Python gives."""
    program = Program(PROGRAMS[name])
    args = arguments(4)
    with tracejit.config(disable_jit=interpreted, verify=True):
        program.check_passes(args)
        program.check_value(args, "value")
        program.check_gradient(args, "gradient")
        program.check_forward(args, "forward mode")


SECOND_ORDER = {
    "what a branch could adopt reads a constant that is made after it": """
def f(x, y, a, n):
    s = 0.0
    if a > -2.0:
        s += np.sin(np.min(y))
    return s + np.sum(y * y) + 0.0 * np.sum(x)
""",
    "a derivative in a branch within a branch needs what the outer one adopts": """
def f(x, y, a, n):
    u = x * 0.8
    if not a > 0.93:
        b = y[1, -1]
        if a > 0.29:
            b = b * 0.5
        else:
            b = np.cos(b)
        u[::2] -= b
    return np.max(y[::-1]) + np.sum(u * u)
""",
    "a derivative in a branch within a branch needs what is computed after it": """
def f(x, y, a, n):
    r = a * 0.1
    if not a > 0.93:
        b = y[1, 1]
        if a > 0.29:
            b = b * 0.5
        else:
            b = np.cos(b) * np.sin(x[0])
        w = np.exp(x[1])
        r = b * w
    return r
""",
    "the loop that stores is in the other branch": """
def f(x, y, a, n):
    u = x * 0.8
    if a > 9.0:
        pass
    else:
        t = 1.0 + u[0] ** 2
        while t > 0.45:
            t = t * 0.6 - 0.013
            for k in range(1, len(u)):
                u[k] = np.sin(u[k - 1]) + a * u[k]
    return np.sum(u)
""",
}


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", SECOND_ORDER)
def test_program_obeys_the_laws_at_second_order(name: str, interpreted: bool) -> None:
    """The gradient of the gradient's sum is close to central differences."""
    program = Program(SECOND_ORDER[name])
    with tracejit.config(disable_jit=interpreted, verify=True):
        program.check_second(arguments(4), "second order")


@pytest.mark.parametrize("name", REFUSED)
def test_what_data_decides_of_aliases_is_refused(name: str) -> None:
    """Where which array a name holds depends on data, a write is refused and never lost."""
    program = Program(REFUSED[name])
    with pytest.raises(tracejit.Refusal, match="Copy it"):
        tracejit.jit(program.function).trace(*arguments(4))


def test_long_while_on_python_numbers_is_a_loop_of_the_graph() -> None:
    def decay(x: Any, rate: Any) -> Any:
        t, h = 0.0, 0.01
        while t < 1.0:
            x = x - h * rate * np.sin(x)
            t += h
        return x

    traced = tracejit.grad(decay).trace(0.5, 1.5)
    assert str(traced.graph).count("sin(") <= 2
    slope = (decay(0.5 + 1e-6, 1.5) - decay(0.5 - 1e-6, 1.5)) / 2e-6
    np.testing.assert_allclose(tracejit.grad(decay)(0.5, 1.5), slope, rtol=1e-6)


def test_while_that_needs_python_numbers_is_run_by_python() -> None:
    weights = [1.0 + 0.1 * k for k in range(20)]

    def layered(x: Any) -> Any:
        k = 0
        while k < len(weights):
            x = np.sin(x * weights[k])
            k += 1
        return x

    with tracejit.config(disable_jit=True):
        slope = (layered(0.5 + 1e-6) - layered(0.5 - 1e-6)) / 2e-6
        np.testing.assert_allclose(tracejit.grad(layered)(0.5), slope, rtol=1e-6)


def test_library_routines_on_what_a_log_kept() -> None:
    def newton(p: Any) -> Any:
        x = np.array([1.0, 1.0])
        for _ in range(20):
            f = np.array([x[0] ** 2 + p * x[1] - 3.0, x[0] - x[1] ** 2 + p])
            slope = np.array([[2.0 * x[0], p], [1.0, -2.0 * x[1]]])
            dx = np.linalg.solve(slope, -f)
            x = x + dx
            if np.linalg.norm(dx) < 1e-12:
                break
        return x[0] * x[1]

    slope = (newton(1.2 + 1e-6) - newton(1.2 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tracejit.grad(newton)(1.2), slope, rtol=1e-6)


@pytest.mark.parametrize("routine", [
    lambda a, b: np.linalg.cholesky(a + a.T), lambda a, b: np.linalg.solve(a, b),
    lambda a, b: np.linalg.inv(a), lambda a, b: np.linalg.slogdet(a)[1],
    lambda a, b: a @ (a @ b), lambda a, b: np.sort(a, axis=1) @ b])
def test_library_routines_on_sizes_that_are_sums(routine: Any) -> None:
    def program(x: Any) -> Any:
        n = len(x) + 1
        a, b = np.zeros((n, n)), np.arange(n) * 0.1
        for i in range(n):
            for j in range(n):
                a[i, j] = 5.0 + i if i == j else 0.1 * np.sin(x[(i + j) % (n - 1)])
        return np.sum(routine(a, b) ** 2)

    x = np.array([0.3, 0.7, 1.9, -0.4])
    differences = [(program(x + d) - program(x - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
    with tracejit.config(verify=True):
        np.testing.assert_allclose(tracejit.grad(program)(x), differences, rtol=1e-5, atol=1e-7)


def test_two_names_that_data_makes_one_array_are_not_written_to() -> None:
    def rename(x: Any, c: Any) -> Any:
        u, v = x * 2, x * 3
        if c > 0:
            u = v
        else:
            v = u
        u[0] = 7.0
        return np.sum(u) + 10 * np.sum(v)

    for c in (1.0, -1.0):
        with pytest.raises(tracejit.Refusal, match="data decides which array it is"):
            tracejit.jit(rename)(np.arange(3.0), c)


def test_a_name_of_an_array_that_a_loop_writes_to_is_not_bound_anew_in_it() -> None:
    def rebound(x: Any, n: Any) -> Any:
        first = x
        for i in range(n):
            x[i] += 0.1
            first = first.copy()
        return np.sum(first)

    with pytest.raises(tracejit.Refusal, match="bound to one array after another in this loop"):
        tracejit.jit(rebound)(np.arange(4.0), 3)


def test_names_that_data_exchanges_stay_two_arrays() -> None:
    def exchange(x: Any, c: Any) -> Any:
        u, v = x * 2, x * 3
        if c > 0:
            u, v = v, u
        u[0] = 7.0
        return np.sum(u) + 10 * np.sum(v)

    def become_one(x: Any, c: Any) -> Any:
        u, v = x * 2, x * 3
        if c > 0:
            t = x * 5
            u = t
            v = t
        u[0] = 7.0
        return np.sum(u) + 10 * np.sum(v)

    for c in (1.0, -1.0):
        x = np.arange(3.0)
        assert tracejit.jit(exchange)(x, c) == exchange(x, c)
        with pytest.raises(tracejit.Refusal, match="data decides which array it is"):
            tracejit.jit(become_one)(x, c)


def test_a_loop_that_is_refused_at_its_end_leaves_names_as_they_were() -> None:
    """It is run in Python then: names that share an array must share it still."""

    def f(x: Any, n: Any) -> Any:
        u, s, t = x * 0.8, 0.0, 1.0
        r = u[::-1]
        while t > 0.45:
            t = t * 0.6
            u[1] *= 1.1
            b = x * s
            for _ in range(0, n, 2):
                u, r = r, u
                s = np.sum(b)
        return r[-1] * 10 + np.sum(u * u * np.arange(len(u)))

    for n in (0, 3, 4):
        with pytest.raises(tracejit.Refusal, match="data decides which array it is"):
            tracejit.jit(f)(np.array([0.3, 0.5, 0.9, 1.1]), n)


def test_a_loop_may_write_to_what_it_binds_to_another_array() -> None:
    def f(x: Any, y: Any, n: int) -> Any:
        u = x * 0.8
        for _ in range(n):
            u[1] = 0.0
            u = y[:, 0]
        return np.sum(y)

    x, y = np.arange(1.0, 5.0), np.arange(1.0, 13.0).reshape(4, 3)
    for n in (0, 1, 2, 4):
        assert tracejit.jit(f)(x, y.copy(), n) == f(x, y.copy(), n)


def test_sizes_that_turn_out_equal_to_sums_of_themselves() -> None:
    """x[1:] and x[:1] together are as long as x, which is as long as y: no size is defined by
    itself, which made dims grow without end."""

    def f(x: Any, y: Any) -> Any:
        u = np.concatenate((x[1:], x[:1]))
        for _ in range(2):
            u = u * y
            u = x[::-1] * y
        return np.sum(u)

    def g(x: Any, y: Any, n: Any) -> Any:
        u = np.concatenate((x[1:], x[:1]))
        for k in range(n):
            for i in range(1, n):
                u = x[::-1]
                for j in range(i + 1):
                    u[:] = 0.7 * y
                    u[:j] += 0.5
                    u[k] -= np.sum(u[:i] * 0.7)
        return np.sum(u)

    x, y = np.array([0.3, 0.5, 0.9, 1.1]), np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(tracejit.grad(f)(x, y), [4.0, 3.0, 2.0, 1.0])
    np.testing.assert_allclose(tracejit.jit(lambda x, y, n: g(x * 1.0, y, n))(x, y, 4),
                               g(x * 1.0, y, 4))


def test_long_chains_of_operations_are_compiled() -> None:
    def chain(x: np.ndarray) -> np.ndarray:
        y = x
        for k in [0.01 * j for j in range(150)]:
            y = y * (1.0 + k) - x
        return np.sum(y)

    x = np.array([0.5, -1.5])
    slope = tracejit.grad(chain)
    with tracejit.config(disable_jit=True):
        expected = slope(x)
    np.testing.assert_array_equal(slope(x), expected)
    deep = [1.0] * 700

    def deeper(x: np.ndarray) -> np.ndarray:
        for k in deep:
            x = np.abs(x) + k * x
        return x

    source = tracejit.jit(deeper).trace("f64[n]").lower().source
    assert source.partition("def kernel")[2].count("fabs(") == len(deep)


def test_equal_functions_of_two_files_have_lines_of_their_own(tmp_path: Path) -> None:
    graphs = []
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("import numpy as np\ndef f(x):\n    return np.sin(x) * x\n")
        names = runpy.run_path(str(tmp_path / name))
        graphs.append(str(tracejit.grad(names["f"]).trace("float").graph))
    assert "one.py:3" in graphs[0] and "two.py" not in graphs[0]
    assert "two.py:3" in graphs[1] and "one.py" not in graphs[1]


UNSEEN = """
import numpy as np
scales, weights, count, rate = [1.0, 2.0], {"w": np.ones(3)}, 2, 1.5
class Model: pass
model = Model()
model.rate = 3.0
def inner(x): return x * rate
def of_list(x): return np.sum(x * scales[1])
def of_dict(x): return np.sum(x * x * weights["w"] * count)
def of_function(x): return np.sum(inner(x) * x)
def of_cell(q):
    return lambda x: np.sum(x * q[0])
from_cell = of_cell(scales)
def of_object(x): return np.sum(x * model.rate)
def assigning(x):
    global rate
    rate = 2.0
    return np.sum(x)
"""


def test_functions_without_source_follow_what_they_read() -> None:
    """They ran as they are, and globals that they read were read once."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(UNSEEN, names)
    x = np.array([1.0, 2.0, 3.0])
    for name in ("of_list", "of_dict", "of_function", "from_cell"):
        slope = tracejit.value_and_grad(names[name])
        for change in ({}, {"count": 3, "rate": 0.5}, {"rate": 0.25}):
            names.update(change)
            names["scales"][:] = [len(change) + 2.0, len(change) + 7.0]
            names["weights"]["w"] = x * len(change)
            value, gradient = slope(x)
            assert value == names[name](x)
            with tracejit.config(disable_jit=True):
                np.testing.assert_array_equal(tracejit.grad(names[name])(x), gradient)
    for name, text in (("of_object", "what it reads of model cannot be followed"),
                       ("assigning", "it assigns to the global rate")):
        with pytest.raises(tracejit.Refusal, match=f"{name} has no source that .*, and {text}"):
            tracejit.grad(names[name])(x)


def test_arrays_that_branches_leave_may_differ_in_size() -> None:
    """Where they are of one size in a call, the program is for that; another follows else."""
    def chosen(u: Any, v: Any, a: float) -> Any:
        w = u if a > 0 else v
        return np.sum(w * w) * a

    slope = tracejit.grad(chosen, argnums=(0, 1))
    calls = ((3, 3, 1.5), (4, 4, -1.0), (3, 5, 1.0), (3, 5, -0.5), (1, 1, -1.0), (1, 2, 1.0))
    for n, m, a in calls:
        u, v = np.arange(1.0, n + 1), np.arange(1.0, m + 1)
        for found, x, is_it in zip(slope(u, v, a), (u, v), (a > 0, a <= 0), strict=True):
            np.testing.assert_array_equal(found, 2 * a * x * is_it)
    why = tracejit.jit(chosen).trace(np.ones(3), np.ones(3), 1.0).why()
    assert "branches leave arrays of one size: there is one program per outcome" in why


def test_pairs_end_with_the_shortest_in_every_call() -> None:
    """A range that was as long as the array in one call is not in the next."""
    def pairs(x: Any, n: int) -> Any:
        t = 0.0
        for k, a in zip(range(1, n + 1), x, strict=False):
            t += a * k
        return t

    slope = tracejit.grad(pairs)
    for n in (3, 2, 5, 0):
        np.testing.assert_array_equal(slope(np.ones(3), n), [k * (k <= n) for k in (1, 2, 3)])


def _appending(x: Any) -> Any:
    t, seen = 0.0, []
    for v in x:
        x[-1] = x[-1] * 0.5 + v
        seen.append(v * v)
        t = t + seen[-1]
    return t


def _in_pairs(x: Any) -> Any:
    t = 0.0
    for k, v in zip([3, 1, 0, 2], x, strict=True):
        x[k] += v * 2
        t += v * v
    return t


def _numbered(x: Any) -> Any:
    t, seen = 0.0, []
    for k, v in enumerate(reversed(x)):
        seen.append(k)
        x[1] += v * k
        t += v * v
    return t * len(seen)


@pytest.mark.parametrize("f", [_appending, _in_pairs, _numbered])
def test_items_are_read_when_their_turn_comes(f: Any) -> None:
    """Loops that Python runs had read all items before the first iteration."""
    def copied(x: Any) -> Any:
        return f(x.copy())

    x = np.array([0.3, -0.7, 1.1, 0.4])
    with tracejit.config(disable_jit=True):
        value, gradient = tracejit.value_and_grad(copied)(x)
    assert value == pytest.approx(copied(x), rel=1e-14)
    steps = 1e-6 * np.eye(4)
    expected = [(copied(x + h) - copied(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


def test_a_check_in_a_branch_may_need_a_size_of_its_own() -> None:
    """The loop over a list of indices stood before the number that it compared them with."""
    def f(x: Any, a: float, n: int) -> Any:
        if x[0] > 0.3:
            u = np.arange(n) * 0.2
            np.add.at(u, [1, 0, 1], a)
        return x[1] * a

    value, gradient = tracejit.value_and_grad(f)(np.array([0.5, 2.0, 3.0]), 0.25, 3)
    assert value == 0.5
    np.testing.assert_array_equal(gradient, [0.0, 0.25, 0.0])


WEIGHTS = np.array([1.0, 2.0])


def test_the_first_items_of_a_comprehension_are_those_around_it() -> None:
    """A global of the name of the variable was read once, when it was captured."""
    global WEIGHTS
    def f(x: float) -> Any:
        return sum({k: WEIGHTS * x for k, WEIGHTS in enumerate(WEIGHTS)}.values())

    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(f)
        assert slope(2.0) == 3.0
        WEIGHTS = np.array([1.0, 5.0])
        assert slope(2.0) == 6.0


def test_kernels_shift_and_divide_ints_as_numpy_does() -> None:
    """A shift by 64 places or more left the number as it was; `fmod` of ints did not compile."""
    def f(a: Any, b: Any) -> Any:
        return a << b, a >> b, np.fmod(a, b), np.heaviside(np.where(a > 0, np.nan, 0.0), 0.5)

    a = np.array([7, -7, 7, -7, 3, -3, 2, 5], np.int32)
    b = np.array([2, 2, -2, -3, 64, 70, 0, 33], np.int32)
    with np.errstate(divide="ignore"):
        expected = f(a, b)
    for found, wanted in zip(tracejit.jit(f)(a, b), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype


def test_a_recursion_on_sizes_that_are_not_known_is_refused_at_once() -> None:
    """The sizes of ever smaller arrays got longer, and comparing them took for ever."""
    def halves(u: Any) -> Any:
        if len(u) < 2:
            return u[0] * 0.7
        middle = len(u) // 2
        return np.sin(halves(u[:middle])) + halves(u[middle:])

    with pytest.raises(tracejit.Refusal, match="recursion"):
        tracejit.grad(halves).trace(tracejit.spec("f64[n]"))
    with tracejit.config(disable_jit=True):
        value = tracejit.jit(halves)(np.arange(5.0))
    assert value == pytest.approx(halves(np.arange(5.0)), rel=1e-14)


def test_a_slice_that_is_written_twice_is_written_once() -> None:
    """Rules asked how often the new values were used, which was never counted."""
    def twice(x: Any) -> Any:
        y = np.zeros(x.shape)
        y[1:] = np.sin(x[1:])
        y[1:] = x[:-1] * 3.0
        return y

    def read_between(x: Any) -> Any:
        y = np.zeros(x.shape)
        y[1:] = np.sin(x[1:])
        z = y[1:] * 2.0
        y[1:] = x[:-1] * 3.0
        return y, z

    x = np.linspace(0.0, 1.0, 5)
    for f, writes in ((lambda x: (twice(x),), 1), (read_between, 2)):
        graph = tracejit.jit(f).trace(x).graph
        assert [e.op.name for e in graph.block.eqns].count("update") == writes
        for found, wanted in zip(interpret(graph, x), f(x), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_graph_does_not_depend_on_where_objects_lie() -> None:
    def three(x):
        p, q, r = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        for i in range(1, len(x)):
            p[i] = x[i] - q[i - 1]
            q[i] = p[i] * r[i - 1]
            r[i] = q[i] + p[i - 1] * x[i]
        return np.sum(p * q * r)

    kept, texts = [], set()
    for k in range(40):
        kept.append([object() for _ in range(k % 7)])
        texts.add(str(tracejit.value_and_grad(three).trace(np.ones(4)).graph))
    assert len(texts) == 1
