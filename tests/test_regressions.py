"""Programs that once failed, as random programs found them and made small.

Each `def` in `PROGRAMS` is a whole program of `tests/program_laws.py`: f(x, y, a, n) with x of n
numbers, y of n rows of three and a number a.
"""

from __future__ import annotations

import pytest
from program_laws import Program, arguments

import tracejit

PROGRAMS = {
    "break leaves a traced loop": """
def f(x, y, a, n):
    s = 0.0
    for i in range(n):
        if s > 0.4:
            break
        s += x[i] * x[i]
    return s
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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_obeys_the_laws(name: str) -> None:
    """Interpreter and kernel give the value and the gradient that Python gives."""
    program = Program(PROGRAMS[name])
    args = arguments(4)
    for disable_jit in (True, False):
        with tracejit.config(disable_jit=disable_jit, verify=True):
            program.check_passes(args)
            program.check_value(args, "value")
            program.check_gradient(args, "gradient")
