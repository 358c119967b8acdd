"""Arguments whose names are bound anew in loops: the caller's arrays end as NumPy leaves them."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

BINDS = ("a = np.append(a, 1.0)[:-1]", "a = a * 1.5", "a = a.copy()", "a = b", "a = a[::-1]",
         "a = a[:]", "a, b = b, a", "a = np.roll(a, 1)", "a = step(a)")
WRITES = ("a[0] = 5.0", "a += 1.0", "a[...] = 2.0", "a.sort()", "a[[0, 0]] += 1.0",
          "np.copyto(a, 3.0)", "v = a[1:]; v += 1.0", "np.add(a, 1.0, out=a)", "a.fill(4.0)")
FORMS = {
    "loop, then write": ("for i in range(n):", "    {bind}", "{write}"),
    "write and bind in a while": ("k = 0", "while b[0] < 1.5 and k < 4:", "    k += 1",
                                  "    {write}", "    {bind}", "    b = b * 2.0"),
    "branch, then write": ("if b[0] > 1.0:", "    {bind}", "{write}"),
    "write and bind in a loop": ("for i in range(n):", "    {write}", "    {bind}"),
    "bind and write in a loop": ("for i in range(n):", "    {bind}", "    {write}"),
    "while, then write": ("k = 0", "while b[0] < 1.5 and k < 4:", "    k += 1", "    {bind}",
                          "    b = b * 2.0", "{write}"),
    "a view": ("a = a[1:]", "for i in range(n):", "    {bind}", "{write}"),
    "two loops": ("for i in range(n):", "    {bind}", "for i in range(2):", "    {write}"),
    "nested": ("for i in range(2):", "    for j in range(n):", "        {bind}", "    {write}"),
    "branch in a loop": ("for i in range(n):", "    if b[0] > 0.7:", "        {bind}", "{write}"),
    "loop, then branch": ("for i in range(n):", "    {bind}", "if b[0] > 0.5:", "    b = b + 1.0",
                          "{write}"),
    "left early": ("for i in range(n):", "    {bind}", "    if a[0] > 1.0:", "        break",
                   "{write}"),
}
SURE = {"bind and write in a loop": ("a = a * 1.5", "a = np.roll(a, 1)"),
        "loop, then write": ("a = a * 1.5",)}
"""What has to be right where the loop runs, and may not be refused."""


def function_of(form: str, bind: str, write: str, *first: str) -> Any:
    lines = list(first)
    for line in FORMS[form]:
        indent = line[:len(line) - len(line.lstrip())]
        lines += [indent + part for part in line.strip().format(bind=bind, write=write).split("; ")]
    text = "def step(x):\n    x[0] += 1.0\n    return x * 2.0\n\n\ndef f(a, b, n):\n"
    text += "".join(f"    {line}\n" for line in lines) + "    return np.sum(a * a) + np.sum(b)\n"
    name = f"<bound anew {form} {bind} {write} {first}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"np": np, "HELD": np.linspace(0.4, 1.7, 4)}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def arguments(n: int) -> tuple[np.ndarray, np.ndarray, int]:
    rows = np.linspace(0.4, 1.7, 8)
    return (rows[::2] if n == 2 else rows[:4] if n else rows[7:3:-1],
            np.linspace(0.3, 0.9, 4) * (1 + n), n)


@pytest.mark.parametrize(("form", "bind", "write"), list(itertools.product(FORMS, BINDS, WRITES)))
def test_the_callers_arrays_hold_what_numpy_leaves(form: str, bind: str, write: str) -> None:
    f = function_of(form, bind, write)
    captured = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for n in (0, 1, 2, 4):
            ours, theirs = arguments(n), arguments(n)
            expected = f(*theirs)
            try:
                found = captured(*ours)
            except tracejit.Refusal as error:
                found = str(error)
            if isinstance(found, str):
                assert "which array" in found or "one array after another" in found
                assert n == 0 or bind not in SURE.get(form, ()), found
                continue
            np.testing.assert_allclose(found, expected)
            for mine, its in zip(ours[:2], theirs[:2], strict=True):
                np.testing.assert_allclose(mine, its)


def test_gradients_work_on_copies_and_are_not_refused() -> None:
    def f(a: np.ndarray, n: int) -> Any:
        for _ in range(n):
            a[0] += 1.0
            a = a * 1.5
        a[1] = 0.0
        return np.sum(a * a)

    with tracejit.config(disable_jit=True):
        for n in range(3):
            a = np.linspace(0.4, 1.7, 4)
            slope = 2.0 * 1.5 ** (2 * n) * a
            slope[0] = 2.0 * 1.5 ** n * (1.5 ** n * a[0] + sum(1.5 ** k for k in range(1, n + 1)))
            slope[1] = 0.0
            np.testing.assert_allclose(tracejit.grad(f)(a, n), slope)
            np.testing.assert_array_equal(a, np.linspace(0.4, 1.7, 4))


@pytest.mark.parametrize(("form", "bind", "write"), list(itertools.product(
    FORMS, ("a = a * 1.5", "a, b = b, a", "a = a[::-1]", "a = step(a)"), WRITES[::3])))
def test_no_write_to_an_array_from_outside_is_lost(form: str, bind: str, write: str) -> None:
    f = function_of(form, bind, write, "a = HELD")
    start = f.__globals__["HELD"].copy()
    with tracejit.config(disable_jit=True):
        for transform, n in itertools.product((tracejit.jit, tracejit.grad), (0, 1, 2)):
            argnums = {} if transform is tracejit.jit else {"argnums": 1}
            try:
                transform(f, **argnums)(*arguments(n))
            except tracejit.Refusal:
                continue
            f(*arguments(n))
            np.testing.assert_array_equal(f.__globals__["HELD"], start)
