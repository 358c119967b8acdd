"""`try` around errors of the run: value and gradient as Python has them, by one program."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

OPERATIONS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "division": ("a / b", "ZeroDivisionError", (0.0,)),
    "floor": ("a // b + a", "ZeroDivisionError", (0.0,)),
    "remainder": ("a % b", "ZeroDivisionError", (0.0,)),
    "sqrt": ("a * math.sqrt(b)", "ValueError", (-1.0, -2.5)),
    "log": ("a + math.log(b)", "ValueError", (-1.0, 0.0)),
    "exp": ("math.exp(b * 400.0 - 700.0) * a", "OverflowError", (5.0,)),
    "acos": ("math.acos(b - 1.0) * a", "ValueError", (-1.0, 2.5)),
    "power": ("a * b ** -2.0", "ZeroDivisionError", (0.0,)),
    "int": ("a * int(a / (b * 1e-320 if b == 5.0 else b))", "ZeroDivisionError", (0.0,)),
    "raise": ("checked(b) * a", "KeyError", (-1.0, -3.0)),
    "cholesky": ("a * np.linalg.cholesky(np.array([[b, 0.5], [0.5, 2.0]])).sum()",
                 "np.linalg.LinAlgError", (-1.0, 0.1)),
    "inv": ("a * np.linalg.inv(np.array([[b, 0.0], [0.0, 2.0]])).sum()",
            "np.linalg.LinAlgError", (0.0,)),
    "solve": ("np.linalg.solve(np.array([[b, 0.0], [0.0, 2.0]]), np.array([a, 1.0])).sum()",
              "np.linalg.LinAlgError", (0.0,)),
}

HANDLERS: dict[str, str] = {
    "plain": """
try:
    r = {op}
except {error}:
    r = a * 3.0
""",
    "after a change": """
r = a
try:
    r = r * 2.0
    r = r + {op}
    r = r * 5.0
except {error}:
    r = r + 7.0 * a
""",
    "else": """
r = 1.0
try:
    q = {op}
except {error} as e:
    r = -a
else:
    r = r + q
r = r * 2.0
""",
    "several": """
try:
    r = {op} + math.sqrt(a - 1.0)
except (IndexError, {error}, ValueError):
    r = a * a
""",
    "two": """
try:
    r = math.log(a - 1.0) * 2.0
    r = r + {op}
except {error}:
    r = a * a * a
except (ArithmeticError, ValueError):
    r = a * 4.0
""",
    "nested": """
try:
    try:
        r = math.sqrt(a - 1.0)
        r = {op} + r
    except IndexError:
        r = 5.0
    except {error}:
        r = 1.0 / (a - 2.0)
except (ZeroDivisionError, ValueError):
    r = a * 6.0
""",
    "raise again": """
r = a
try:
    try:
        r = r * {op}
    except {error}:
        r = r + 2.0
        raise
except {error}:
    r = r * a
""",
    "another error": """
try:
    try:
        r = {op}
    except {error}:
        raise RuntimeError("no")
except RuntimeError:
    r = a * a
""",
    "writes": """
x = np.zeros(3)
y = x
try:
    x[0] = a
    x[1] = {op}
    x[2] = a
except {error}:
    y[2] = 4.0 * a
r = float(x @ np.array([1.0, 10.0, 100.0]))
""",
    "all": """
try:
    r = {op}
except Exception:
    r = a * 8.0
""",
    "not this": """
try:
    r = {op}
except IndexError:
    r = a * 8.0
""",
}

PLACES: dict[str, str] = {
    "top": "{body}",
    "branch": "r = 0.0\nif a > 0.5:\n    {inner}\nelse:\n    r = b * a",
    "loop": """t = 0.0
for i in range(n):
    {inner}
    t = t * 0.5 + r
    b = b + 0.25
r = t""",
    "while": """t = 0.0
while t < 2.75:
    {inner}
    t = t + 1.0 + 0.1 * math.sin(r)
    b = b + 0.25
r = t + r""",
    "called": "def inside(a, b):\n    {inner}\n    return r\nr = inside(a, b) + inside(b + 2.0, a)",
}


def checked(b: Any) -> Any:
    """Raise an error of no kernel."""
    if b < 0.0:
        raise KeyError("negative")
    return b * b


def program(operation: str, handler: str, place: str) -> Callable[..., Any]:
    """Return a function of two floats and a number of iterations."""
    op, error, _ = OPERATIONS[operation]
    body = HANDLERS[handler].strip().format(op=f"({op})", error=error)
    source = PLACES[place].format(body=body, inner=body.replace("\n", "\n    "))
    source = "def f(a, b, n):\n    " + source.replace("\n", "\n    ") + "\n    return r"
    return tracejit_source(source)


def tracejit_source(source: str) -> Callable[..., Any]:
    """Return the function of a source that tracebacks and captures can read."""
    name = f"<try {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "math": math, "checked": checked}
    exec(compile(source, name, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


def outcome(fn: Callable[..., Any], *args: Any) -> Any:
    """Return a result, or the class of the error."""
    try:
        return fn(*args)
    except (ArithmeticError, ValueError, LookupError) as e:
        if isinstance(e, tracejit.Refusal):
            raise
        return type(e)


def slope(fn: Callable[..., Any], args: list[float], k: int, n: int) -> float | None:
    """Return a central difference; None where an error is near."""
    found: list[Any] = []
    here = fn(*args, n)
    for h in (1e-6, -1e-6, 2e-6, -2e-6):
        moved = [x + h if j == k else x for j, x in enumerate(args)]
        y = outcome(fn, *moved, n)
        if isinstance(y, type) or abs(y - here) > 1e-3 * (1.0 + abs(here)):
            return None
        found.append(y)
    one, two = (found[0] - found[1]) / 2e-6, (found[2] - found[3]) / 4e-6
    return one if abs(one - two) <= 1e-3 * (1.0 + abs(one)) else None


CASES = [(o, h, p) for o in OPERATIONS for h in HANDLERS for p in PLACES]


def check(case: tuple[str, str, str]) -> None:
    fn = program(*case)
    compiled = tracejit.value_and_grad(fn, argnums=(0, 1))
    for a in (1.5, 0.3, 2.0):
        for b in (0.7, 1.25, *OPERATIONS[case[0]][2]):
            expected = outcome(fn, a, b, 3)
            found = outcome(compiled, a, b, 3)
            if isinstance(expected, type) or isinstance(found, type):
                assert found is expected, (case, a, b, found, expected)
                continue
            assert np.isclose(found[0], expected, rtol=1e-9), (case, a, b, found, expected)
            for k in range(2):
                d = slope(fn, [a, b], k, 3)
                if d is not None:
                    assert np.isclose(found[1][k], d, rtol=1e-4, atol=1e-5), (
                        case, a, b, k, found, d)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_try_is_as_in_python(case: tuple[str, str, str]) -> None:
    with tracejit.config(disable_jit=True):
        check(case)


@pytest.mark.parametrize("case", [
    ("division", "nested", "top"), ("cholesky", "after a change", "top"),
    ("inv", "plain", "top"), ("sqrt", "else", "called")], ids="-".join)
def test_compiled(case: tuple[str, str, str]) -> None:
    check(case)
