"""Compilations end: code grows with the equations, and a long compilation names its slow step."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.statements import Statement
from tracejit.runtime.moving_lines import counted, moving_line
from tracejit.runtime.progress import _Compilation

STEPS: dict[str, str] = {
    "differences": "x = x[1:] - 0.9 * x[:-1] * x[1:]",
    "rolled": "x = 0.5 * x + 0.25 * (np.roll(x, 1) + np.roll(x, -1)) * x",
    "stencil": "y = x.copy(); y[1:-1] = x[1:-1] + .1 * (x[2:] - 2 * x[1:-1] + x[:-2]) * x[1:-1]; "
               "x = y",
    "joined": "x = np.concatenate((x[1:], x[:1])) * x + np.pad(x[1:-1], 1)",
    "reversed": "x = x[::-1] * x + x[:1] * x",
    "strided": "x = np.where(x[::-1] > 0, x * x[::-1], x + x[::-1])",
    "selected": "z = np.zeros_like(x); z[1:-1] = np.where(x[1:-1] > 0, (1 + x)[:-2], (1 + x)[2:])"
                " * x[1:-1]; x = x - .05 * z",
    "padded": "x = np.pad(x, 1)[2:] * np.pad(x, 1)[:-2] + x",
    "squares": "x = (x[1:] + x[:-1])[1:] * x[1:-1]; x = np.pad(x, 1)",
    "corners": "m = np.outer(x, x); x = m[1:, 1:][:, 0] * m[:-1, :-1][0, :]; x = np.pad(x, (0, 1))",
}
"""Steps in which arrays are read at several places, by arrays read at several places."""

SHALLOW_WATER = """
u[1:-1] -= .5 * (e[1:] - e[:-1])
hu = np.zeros_like(u)
hu[1:-1] = np.where(u[1:-1] > 0, (H + e)[:-1], (H + e)[1:]) * u[1:-1]
e = e - .05 * (hu[1:] - hu[:-1])
"""


def _program(tmp_path: Path, parameters: str, step: str, count: int, result: str) -> Any:
    """Return a function whose text has a step this many times."""
    lines = [f"    {line}" for line in step.strip().splitlines()] * count
    text = "\n".join([f"def f({parameters}):", *lines, f"    return {result}", ""])
    path = tmp_path / f"steps_{count}.py"
    path.write_text(text)
    space = {"np": np, "H": 10.0}
    exec(compile(text, str(path), "exec"), space)
    return space["f"]


def _lines(function: Callable[..., Any], *args: Any) -> int:
    lowered = tracejit.value_and_grad(function).trace(*args).lower()
    return int(lowered.source.count("\n"))


@pytest.mark.parametrize("name", STEPS)
def test_source_grows_with_the_number_of_shifted_steps(name: str, tmp_path: Path) -> None:
    x = np.linspace(0.5, 1.5, 40)
    few, many = (_lines(_program(tmp_path, "x", STEPS[name], k, "np.sum(x * x)"), x)
                 for k in (12, 24))
    assert many <= 2.6 * few


def test_source_grows_with_the_steps_of_shallow_water(tmp_path: Path) -> None:
    u, e = np.linspace(-1, 1, 11), np.linspace(0, 1, 10)
    counts = [_lines(_program(tmp_path, "u, e", "u = u.copy()\n" + SHALLOW_WATER, k,
                              "np.sum(e * e)"), u, e) for k in (2, 4, 8)]
    assert counts[1] <= 3.2 * counts[0]
    assert counts[2] <= 3.2 * counts[1]


@pytest.mark.parametrize("step", ["x = np.sin(x) * 1.1 + a[1]", "x = np.sin(x) * a[1]"])
def test_what_statements_read_is_found_once_for_each(
        step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement is compared with earlier ones, so it must not be looked through again."""
    asked = 0
    find = Statement._find_accesses

    def counted(self: Statement, *where: Any) -> Any:
        nonlocal asked
        asked += 1
        return find(self, *where)

    monkeypatch.setattr(Statement, "_find_accesses", counted)
    x = np.linspace(0.5, 1.5, 40)
    counts = []
    for k in (20, 40, 80):
        before = asked
        _lines(_program(tmp_path, "a, x", step, k, "np.sum(x * x)"), x, x)
        counts.append(asked - before)
    assert 0 < counts[1] <= 2.3 * counts[0]
    assert counts[2] <= 2.3 * counts[1]


@pytest.mark.parametrize("name", STEPS)
def test_shifted_steps_have_their_values_and_derivatives(name: str, tmp_path: Path) -> None:
    f = _program(tmp_path, "x", STEPS[name], 6, "np.sum(x * x)")
    x = np.linspace(0.3, 0.6, 17)
    direction = np.cos(np.arange(17.0))
    value, gradient = tracejit.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    expected = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    assert gradient @ direction == pytest.approx(expected, rel=1e-6)


LONG = """
import numpy as np
import tracejit
import tracejit.runtime.progress
tracejit.runtime.progress.PATIENCE = {patience}

def f(x):
    s = 0.0
    for k, p in enumerate([x] * {count}):
        s = np.sin(s * p + k)
    return s

print(tracejit.grad(f)(1.5))
"""


def _said(tmp_path: Path, patience: float, count: int) -> str:
    path = tmp_path / "long.py"
    path.write_text(LONG.format(patience=patience, count=count))
    result = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    return result.stderr


def test_a_long_compilation_says_one_line(tmp_path: Path) -> None:
    (line,) = _said(tmp_path, 0.01, 40).splitlines()
    assert line.startswith("tracejit: grad[f] has taken 0 s: ")
    assert "equations" in line


def test_on_a_terminal_the_line_moves_and_ends_with_the_time(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text(LONG.format(patience=0.01, count=40))
    master, terminal = os.openpty()
    environment = {**os.environ, "COLUMNS": "60"}
    child = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.DEVNULL,
                             stderr=terminal, env=environment)
    os.close(terminal)
    said = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(master, 4096):
            said += part
    os.close(master)
    assert child.wait() == 0
    *moving, last = [text for text in said.decode().split("\r\x1b[K") if text.strip()]
    assert moving
    assert all(re.match(r"tracejit: grad\[f\] has taken \d s: ", text) for text in moving)
    assert max(map(len, moving)) <= 60
    assert re.match(r"tracejit: grad\[f\] took \d s; \d+ equations", last)
    assert last.count("\n") == 1


def test_warmup_says_how_many_signatures_are_ready(capsys: pytest.CaptureFixture[str]) -> None:
    def squares(x: Any) -> Any:
        return np.sum(x * x)

    slope = tracejit.grad(squares)
    slope.warmup(("f64[n]",), ("f32[n]",), (2.0,), progress=True)
    assert capsys.readouterr().err == "tracejit: squares: ready for 3 of 3\n"
    slope.warmup(("f64[n]",))
    assert capsys.readouterr().err == ""


class _NoFile:
    """A stream that can be written to, and nothing else, as logging frameworks put there."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_lines_go_to_any_stream_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, closed = _NoFile(), io.StringIO()
    closed.close()
    for given in (stream, closed, None):
        monkeypatch.setattr(sys, "stderr", given)
        assert moving_line() is None
        assert list(counted("ab", "done")) == ["a", "b"]
    assert stream.text == "done 2 of 2\n"


def test_in_a_notebook_one_output_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            shown.append(content["text/plain"])

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(content["text/plain"])
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(
        get_ipython=lambda: shell, display=types.SimpleNamespace(display=display)))
    line = moving_line()
    assert line is not None
    for text in ("first", "second"):
        line.show(text)
    line.clear()
    assert shown == ["first", "second", ""]


def test_the_line_names_the_stage_and_where_the_equations_come_from(
        capsys: pytest.CaptureFixture[str]) -> None:
    def repeated(x: float) -> float:
        s = 0.0
        for k, p in enumerate([x] * 40):
            s = np.sin(s * p + k)
        return s

    traced = tracejit.grad(repeated).trace(1.5)
    _Compilation("grad[repeated]", "compiling it", (), traced.graph).speak()
    line = capsys.readouterr().err
    first = repeated.__code__.co_firstlineno
    assert re.fullmatch(rf"tracejit: grad\[repeated\] has taken 0 s: compiling it; "
                        rf"(\d+) equations; \1 of them from \S+py:{first + 3}; a loop over a "
                        "range or an array stays a loop\n", line)


def test_the_line_says_which_loops_are_unrolled_and_why(
        capsys: pytest.CaptureFixture[str]) -> None:
    def unrolled(x: np.ndarray) -> float:
        s = 0.0
        names = {}
        for k in range(len(x)):
            names[f"x{k}"] = x[k]
        for value in names.values():
            s = s + value * value
        return s

    traced = tracejit.grad(unrolled).trace(np.ones(4))
    _Compilation("grad[unrolled]", "compiling it", (), traced.graph).speak()
    line = capsys.readouterr().err
    assert "this loop is unrolled: " in line
    assert line.count("\n") == 1


def test_a_short_compilation_says_nothing(tmp_path: Path) -> None:
    assert _said(tmp_path, 60.0, 3) == ""


def _hill(n: int) -> str:
    text = ""
    for row in range(n):
        for _ in range(n - row):
            text += "."
        for _ in range(row):
            text += "^v"
        text += "|"
    return text


def _signs(x: np.ndarray) -> str:
    text = ""
    for v in x:
        text += "+" if v > 0 else "-"
    return text


def _is_hill(x: np.ndarray) -> float:
    return 1.0 if _signs(x) == "+-+" else 2.0


@pytest.mark.parametrize(("f", "argument"), [
    (_hill, 3), (_hill, 7), (_is_hill, np.array([1.0, -2.0, 3.0])), (_is_hill, np.ones(3))])
def test_texts_that_get_longer_end_the_capture_of_a_loop(f: Any, argument: Any) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(argument) == f(argument)
