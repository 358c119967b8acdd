"""An error on its way out of a `try` or `with`: names keep their values, and jumps are undone.

Whole programs, made of tables: each is as Python runs it, and so is its derivative.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Quiet:
    """A manager that ends every error of its body."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *error: object) -> bool:
        return True


class Loud:
    """A manager that raises when it is left."""

    def __enter__(self) -> Loud:
        return self

    def __exit__(self, *error: object) -> bool:
        raise ValueError("left")


def made(source: str) -> Callable[..., Any]:
    """Return the function f of a source that captures can read."""
    name = f"<names {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "Quiet": Quiet, "errstate": Quiet, "Loud": Loud,
                             "contextlib": contextlib,
                             "quiet": contextlib.suppress, "suppress": contextlib.suppress}
    exec(compile(source, name, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


def check(source: str, points: list[tuple[float, ...]]) -> None:
    """Compare values with Python's, and derivatives with differences."""
    fn = made(source)
    compiled = tracejit.value_and_grad(fn)
    for x, *more in points:
        value, slope = compiled(x, *more)
        assert np.isclose(value, fn(x, *more)), (source, x, more, value, fn(x, *more))
        expected = (fn(x + 1e-6, *more) - fn(x - 1e-6, *more)) / 2e-6
        assert np.isclose(slope, expected, rtol=1e-5), (source, x, more, slope, expected)


ENDS = {
    "except": ("try:", "except (ValueError, ZeroDivisionError):\n    pass"),
    "except that reads": ("try:", "except (ValueError, ZeroDivisionError):\n    y = y * 3.0"),
    "except in except": ("try:\n  try:", "  except KeyError:\n    y = 0.0\n"
                         "except (ValueError, ZeroDivisionError):\n  pass"),
    "suppress": ("with suppress(ValueError, ZeroDivisionError):", ""),
    "manager": ("with Quiet():", ""),
    "manager of a library's name": ("with errstate():", ""),
}
BEFORE = {
    "if": "if x > 0.0: y = 2.0 * x",
    "while": "k = 0.0\n    while k < x: y = y + k * x; k = k + 1.0",
    "for": "for v in np.arange(3.0) * x: y = y + v",
    "choice": "y = 2.0 * x if x > 0.0 else x",
}
ERRORS = {"of the capture": "int('boom')", "of the run": "1.0 / (c - 1.0)"}
BINDINGS = {"name": "y = 5.0", "tuple": "y, z = 5.0, 6.0", "loop": "for y in (4.0, 5.0): pass",
            "with": "with contextlib.nullcontext(5.0) as y: pass"}
AROUND = {"if": "if c > 0.0:\n{}\nelse:\n    y = y + 1.0", "nothing": "{}",
          "for": "for i in range(2):\n{}"}
NAMES = [c for c in itertools.product(ENDS, BEFORE, ERRORS, BINDINGS, AROUND)
         if not c[0].startswith("manager") or c[2] != "of the run"]  # which is refused


def program_of_names(end: str, before: str, error: str, binding: str, around: str) -> str:
    head, tail = ENDS[end]
    deep = head.count("\n") * "  "
    body = "\n".join(f"{deep}    {part}" for part in (
        BEFORE[before].replace("\n", f"\n{deep}"), ERRORS[error], BINDINGS[binding]))
    part = f"{head}\n{body}\n{tail}"
    inside = textwrap.indent(part, "    ") if around != "nothing" else part
    whole = AROUND[around].format(inside)
    return "def f(x, c):\n    y = z = x\n" + textwrap.indent(whole, "    ") + "\n    return y * x"


@pytest.mark.parametrize("case", NAMES, ids="-".join)
def test_names_are_as_they_were_when_an_error_was_raised(case: tuple[str, ...]) -> None:
    with tracejit.config(disable_jit=True):
        check(program_of_names(*case), [(1.5, 1.0), (-1.5, 1.0), (1.5, -1.0), (-1.5, 2.0)])


JUMPS = {"return": "return x * x", "break": "break", "continue": "continue"}
REPLACED = {
    "finally": "try: {jump}\nfinally: int('boom')",
    "finally on data": "try: {jump}\nfinally: s = s + 1.0 / (x - 1.5)",
    "jump on data": "try:\n    if x > 0.0: {jump}\nfinally: int('boom')",
    "manager": "with Loud():\n    {jump}",
    "handler": "try: int('first')\nexcept ValueError: {jump}\nfinally: int('boom')",
    "jump of finally": "try: {jump}\nfinally: continue",
    "jump of finally on data": "try: {jump}\nfinally:\n    if x > 1.0: break",
    "loop in finally": "try: {jump}\nfinally:\n    for j in range(3):\n        s = s + x\n"
                       "        if j * x > 1.0: break",
}
CAUGHT = {"try": "try:\n{}\nexcept (ValueError, ZeroDivisionError):\n    s = s + 3.0 * x",
          "suppress": "with suppress(ValueError, ZeroDivisionError):\n{}"}
ON_THEIR_WAY = list(itertools.product(JUMPS, REPLACED, CAUGHT))


def program_of_jumps(jump: str, replaced: str, caught: str) -> str:
    part = REPLACED[replaced].format(jump=JUMPS[jump])
    body = CAUGHT[caught].format(textwrap.indent(part, "    "))
    loop = "def f(x):\n    s = x\n    for k in range(3):\n" + textwrap.indent(body, " " * 8)
    return loop + """
        s = s + 10.0 * x
    else:
        s = s + 100.0 * x
    return 7.0 * s"""


@pytest.mark.parametrize("case", ON_THEIR_WAY, ids="-".join)
@pytest.mark.filterwarnings("ignore:.*finally.*:SyntaxWarning")
def test_a_jump_ends_where_an_error_or_a_finally_replaces_it(case: tuple[str, ...]) -> None:
    points = [(0.5,), (2.0,), (-1.5,)]
    with tracejit.config(disable_jit=True):
        check(program_of_jumps(*case), points)


AUGMENTED = {"try": "try: b += 1.0\n        except ValueError: pass",
             "finally": "try: pass\n        finally: b += 1.0",
             "match": "match c:\n            case 1.0: b += 1.0",
             "with": "with suppress(ValueError): b += 1.0"}


@pytest.mark.parametrize("part", AUGMENTED)
def test_a_name_that_is_only_augmented_is_read(part: str) -> None:
    source = f"""def f(x, c):
    b = x
    if c > 0.0:
        if x > 0.0: b = 2.0 * x
        {AUGMENTED[part]}
    else: b = b * 5.0
    return b * x"""
    with tracejit.config(disable_jit=True):
        check(source, [(1.5, 1.0), (-1.5, 1.0), (1.5, -1.0), (-1.5, -1.0)])


@pytest.mark.parametrize("case", [NAMES[0], NAMES[12]], ids="-".join)
def test_compiled(case: tuple[str, ...]) -> None:
    check(program_of_names(*case), [(1.5, 1.0), (-1.5, 1.0), (1.5, -1.0)])
