"""Random programs about nothing but lists: right, or refused, for several sizes."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit

NAMES = ("a", "b", "c")
RESULT = ("t + sum(np.tanh(v) * (k + 1) for k, v in enumerate(a))"
          " + 0.1 * sum(np.tanh(v) for v in c) + 0.3 * sum(np.tanh(v) * k for k, v in enumerate(b))"
          " + len(a) + len(s) + sum(np.sum(np.tanh(q)) for q in s) + np.sum(np.tanh(y))"
          " + np.sum(np.tanh(m))")


def _number(r: random.Random, depth: int = 0) -> str:
    name = r.choice(NAMES)
    if depth < 2 and r.random() < 0.25:
        return f"({_number(r, depth + 1)} {r.choice('+-*')} {_number(r, depth + 1)})"
    return r.choice([f"{name}[0]", f"{name}[-1]", f"{name}[len(a) // 2]", "x[0]", "x[-1]", "t",
                     f"sum({name})", f"len({name})", "2.0", "3", "s[0][0]", "s[-1][-1]",
                     f"max({name})"])


def _list(r: random.Random, loop: bool) -> str:
    name = r.choice(NAMES)
    return r.choice([
        f"[v * {_number(r)} for v in {name}]", "[v for v in x]", f"{name}[1:]", f"{name}[::-1]",
        f"{name}[:]", f"{name}[::2]",
        f"{name} + {'[1, t]' if loop else r.choice(NAMES)}", f"{name} + [t]", "[0] * n",
        "[1.5] * len(x)", name, f"sorted({name})", f"[u * v for u, v in zip({name}, x)]",
        f"list({name})", "list(x)", f"[k * v for k, v in enumerate({name})]",
        f"[{_number(r)} for _ in range(n)]"])


def _rows(r: random.Random) -> str:
    return r.choice([f"[v * x for v in {r.choice(NAMES)}]", "s[:]", "s[1:]", "s[::-1]", "list(m)",
                     "[row * 2.0 for row in s]", "[m[i] for i in range(len(m))]"])


def _statement(r: random.Random, depth: int, loop: bool) -> list[str]:
    name = r.choice(NAMES)
    if depth < 2 and r.random() < 0.2:
        head = r.choice(["for i in range(n):", "for i in range(len(x)):", "for i in range(20):",
                         "if t > 0.2:", "if n > 2:"])
        inner = loop or head.startswith("for")
        body = [line for _ in range(r.randint(1, 3)) for line in _statement(r, depth + 1, inner)]
        return [head, *["    " + line for line in body]]
    place = r.choice(["0", "-1", *(["i % len(x)"] if loop else [])])
    return r.choice([
        [f"{name} = {_list(r, loop)}"], [f"s = {_rows(r)}"], [f"{name}[{place}] = {_number(r)}"],
        [f"{name}.append({_number(r)})"], [f"{name} += [{_number(r)}]"],
        [f"{name}.insert(0, {_number(r)})"],
        [f"{name}.extend({'x' if loop else _list(r, loop)})"],
        [f"t = {name}.pop() * 0.1"], [f"{name}.reverse()"],
        [f"s[{r.choice(['0', '-1'])}][{r.choice('01')}] = {_number(r)}"],
        [f"s.append({r.choice(['x * t', 'y', 's[0] + x', 'm[0]'])})"],
        [f"y = {r.choice(['s[0]', 's[-1]', 'x * t', 'y * 0.5'])}"],
        [r.choice(["y += 1.0", "y[0] = t", "m[0] = y", "y *= 0.5"])],
        [f"other = {name}", f"{name}[0] = {_number(r)}", "t = other[0] * 0.5"],
        [f"t = np.tanh({_number(r)})"]])


def program(seed: int) -> str:
    """Return the source of a function of an array and a number of iterations."""
    r = random.Random(seed)
    lines = ["t = x[0] * 0.5", "y = x * 2.0", "m = np.outer(x, x)", "a = [v for v in x]",
             "b = [v * 0.5 for v in x]", "c = [0 for _ in x]", "s = [v * x for v in x]"]
    for _ in range(r.randint(3, 7)):
        lines += _statement(r, 0, False)
    body = "\n".join("    " + line for line in [*lines, f"return {RESULT}"])
    return f"import numpy as np\n\n\ndef f(x, n):\n{body}\n"


def _outcome(fn: Any, x: Any, n: int) -> Any:
    try:
        with np.errstate(all="ignore"):
            return fn(x.copy(), n)
    except Exception as e:
        return e


@pytest.mark.parametrize("seed", range(120))
def test_programs_with_lists_are_right_or_refused(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"lists{seed}.py"
    path.write_text(program(seed), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = tracejit.jit(module.f)
    for n, size in ((3, 4), (2, 3), (14, 2)):
        x = np.linspace(0.3, 1.1, size)
        expected = _outcome(module.f, x, n)
        with tracejit.config(disable_jit=True):
            actual = _outcome(compiled, x, n)
        if isinstance(actual, tracejit.Refusal):
            assert path.name in str(actual)
            return
        if isinstance(expected, Exception):
            assert isinstance(actual, Exception)
        else:
            assert not isinstance(actual, Exception), actual
            np.testing.assert_allclose(actual, expected, rtol=1e-9)
