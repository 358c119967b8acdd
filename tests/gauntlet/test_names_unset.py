"""Names that are read before they are set: the errors of captured programs are Python's own.

Rewritten code takes the bodies of loops and branches for functions of their own, in which a local
name of the user's is a free one. Each way to read a name is crossed with the statements around it,
and with where the name belongs: to the function, to one around it, to the module.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracejit

READS = {
    "operator": "r = t + a", "augmented": "t += a; r = t", "unpacked": "r = sum((*t, a))",
    "item": "r = t[0]", "item set": "t[0] = a; r = a", "attribute": "r = t.real",
    "called": "r = t(a)", "deleted": "del t; r = a", "argument": "r = abs(t)",
    "in a list": "r = sum([t, a])"}

AROUND = {
    "nothing": "{read}", "if on data": "if a > 1:\n    {read}",
    "else on data": "if a > 1:\n    pass\nelse:\n    {read}",
    "for": "for i in range(n):\n    {read}",
    "for with a return": "for i in range(n):\n    {read}\n    if a > 1:\n        return a",
    "for with a break": "for i in range(n):\n    if a > 1:\n        break\n    {read}",
    "while on data": "while a > 1:\n    {read}\n    a = a * 0.5",
    "while with a return": "while True:\n    {read}\n    if a > 1:\n        return a",
    "two loops": "for i in range(n):\n    for k in range(n):\n        {read}",
    "loop in a branch": "if a > 1:\n    for i in range(n):\n        {read}",
    "finally": "try:\n    r = a\nfinally:\n    {read}",
    "with else": "for i in range(n):\n    r = a\nelse:\n    {read}"}

OWNERS = {
    "function": "def f(a, n):\n    r = a\n    {body}\n    return r\n    t = 1.0\n",
    "inner function": "def f(a, n):\n    def g(a):\n        r = a\n        {deep}\n"
                      "        return r\n        t = 1.0\n    return g(a)\n",
    "function around": "def f(a, n):\n    def g(a):\n        nonlocal t\n        r = a\n"
                       "        {deep}\n        return r\n    found = g(a)\n    t = 1.0\n"
                       "    return found\n",
    "module": "def f(a, n):\n    global t\n    r = a\n    {body}\n    return r\n"}

HANDLERS = (
    "    try:\n        s = f(a, n)\n    except UnboundLocalError:\n        s = 7 * a\n"
    "    except NameError:\n        s = 11 * a\n",
    "    try:\n        s = f(a, n)\n    except TypeError:\n        s = 7 * a\n"
    "    except NameError as e:\n        s = 11 * a\n")


BINDINGS = (
    "t = 1.0", "t += 1.0", "t: float = 1.0", "t: float", "for t in []: pass", "import math as t",
    "from math import pi as t", "def t(): pass", "class t: pass", "del t", "print(t := 1.0)",
    "[t := k for k in [1]]", "with open('x') as t: pass", "t, *u = [1.0]", "(t,) = [1.0]",
    "try: pass\n{in}except Exception as t: pass", "match a:\n{in}    case t: pass",
    "match a:\n{in}    case [*t]: pass", "if a > 1: t = 1.0", "while a > 1: t = 1.0")
"""How code that is never reached binds a name, which is a local one from the beginning."""

JUMPS = {
    "return": "    r = a + t\n    return r\n    {bind}\n",
    "return in branches": "    if a > 1:\n        return a + t\n    else:\n        return a - t\n"
                          "    {bind}\n",
    "in a branch": "    if a > 1:\n        return a + t\n        {bind}\n    return a\n",
    "break": "    for i in range(n):\n        a = a + t\n        break\n        {bind}\n"
             "    return a\n",
    "continue": "    for i in range(n):\n        a = a + t\n        continue\n        {bind}\n"
                "    return a\n",
    "on data": "    while a > 1:\n        a = a * 0.5 + t\n        if a < 9:\n            break\n"
               "            {bind}\n    return a\n",
    "endless": "    while True:\n        return a + t\n    {bind}\n",
    "raise": "    s = a + t\n    raise ValueError(str(n))\n    {bind}\n",
    "try": "    try:\n        return a + t\n    finally:\n        a = a * 2\n    {bind}\n",
    "declared at first": "    t: float\n    r = a + t\n    return r\n    {bind}\n",
    "inner": "    def g():\n        return a + t\n        {bind}\n    return g()\n",
    "read by a lambda": "    g = lambda: a + t\n    return g()\n    {bind}\n"}


def source_of(owner: str, around: str, read: str) -> str:
    body = AROUND[around].replace("{read}", "{read}")
    lines = []
    for line in body.splitlines():
        indent = line[:len(line) - len(line.lstrip())]
        lines += [indent + part for part in READS[read].split("; ")] if "{read}" in line else [line]
    text = OWNERS[owner]
    text = text.replace("{body}", "\n    ".join(lines)).replace("{deep}", "\n        ".join(lines))
    for k, handler in enumerate(HANDLERS):
        text += f"def caught{k}(a, n):\n{handler}    return s\n"
    return text


def module_of(text: str, path: Path, name: str) -> Any:
    file = path / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return float(f(*args))
    except Exception as e:
        return e


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("owner", OWNERS)
def test_the_error_of_a_name_that_is_not_set(owner: str, around: str, tmp_path: Path) -> None:
    for k, read in enumerate(READS):
        name = f"unset_{len(owner)}_{len(around)}_{k}"
        try:
            module = module_of(source_of(owner, around, read), tmp_path, name)
            for f in module.f, module.caught0, module.caught1:
                compiled = tracejit.jit(f)
                for a, n in (0.5, 2), (2.0, 2), (2.0, 0):
                    require_as_python(f, compiled, a, n, f"{read}, {around}, {owner}: {f.__name__}")
        finally:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_name_that_unreached_code_binds_is_local(jump: str, tmp_path: Path) -> None:
    for k, binding in enumerate(BINDINGS):
        line = next(x for x in JUMPS[jump].splitlines() if "{bind}" in x)
        indent = line[:len(line) - len(line.lstrip())]
        body = JUMPS[jump].replace("{bind}", binding.replace("{in}", indent))
        name = f"unreached_{list(JUMPS).index(jump)}_{k}"
        try:
            module = module_of(f"t = 5.0\ndef f(a, n):\n{body}", tmp_path, name)
            compiled = tracejit.jit(module.f)
            for a in 0.5, 2.0:
                require_as_python(module.f, compiled, a, 2, f"{jump}, {binding}")
        finally:
            sys.modules.pop(name, None)


def require_as_python(f: Any, compiled: Any, a: float, n: int, what: str) -> None:
    """Assert that a program has Python's result or error, or is refused."""
    expected = outcome(f, a, n)
    with tracejit.config(disable_jit=True):
        found = outcome(compiled, a, n)
    if isinstance(found, tracejit.Refusal):
        return
    assert type(found) is type(expected), (what, a, n, found, expected)
    if isinstance(expected, NameError):
        assert found.name == expected.name or str(found) == str(expected), what
    elif not isinstance(expected, Exception):
        assert found == expected, (what, a, n)
