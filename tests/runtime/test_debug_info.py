"""Debuggers stop at lines of the emitted source: tables of lines in machine code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tracejit
from tracejit.codegen import compile as compiling

STOPPED = """
import numpy as np, tracejit

def f(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sin(x[i]) * x[i]
    return s

slope = tracejit.grad(f)
with tracejit.config(debug_info=True):
    print("of", slope.trace(np.ones(5)).lower().compile().path, flush=True)
    print("gives", slope(np.full(3, 0.5))[0], flush=True)
"""


def line_of(source: str, text: str) -> int:
    """Return the number of the only line of a source that a text is in."""
    (found,) = (k for k, line in enumerate(source.splitlines(), 1) if text in line)
    return found


def emitted(script: Path) -> tuple[Path, int]:
    """Return the file of the emitted source of a script's program, and the line of its sum."""
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True,
                          env=keeping(script.parent))
    path = Path(done.stdout.split()[1])
    return path, line_of(path.read_text(), "out0[i] = out0[i] + ")


def keeping(folder: Path) -> dict[str, str]:
    """Return an environment in which emitted source is kept in a folder."""
    return {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(folder / "cache")}


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_at_a_line_of_the_emitted_source(tmp_path: Path) -> None:
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    path, line = emitted(script)
    orders = ["set breakpoint pending on", "set pagination off", f"break {path}:{line}", "run",
              "backtrace 2", "delete", "continue"]
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *(f"-ex={order}" for order in orders), "--args",
         sys.executable, str(script)], capture_output=True, text=True, timeout=120,
        env=keeping(tmp_path))
    if "ptrace" in done.stderr:
        pytest.skip("this machine lets no debugger look at processes")
    assert f"{path.name}:{line}" in done.stdout  # the frame
    assert "out0[i] = out0[i] + (sin(" in done.stdout  # the line's text
    assert re.search(r"#0 .*kernel.* at .*kernel_\w+\.py:\d+", done.stdout)
    found = re.search(r"gives (\S+)", done.stdout)
    assert found and float(found[1]) == pytest.approx(np.sin(0.5) + 0.5 * np.cos(0.5), rel=1e-15)


def objects(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that gets the object code of each program that is compiled from now on."""
    found: list[bytes] = []
    load = compiling.load_object
    monkeypatch.setattr(compiling, "load_object", lambda code: (found.append(code), load(code))[1])
    return found


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_the_object_has_a_table_of_the_lines_of_its_source(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = objects(monkeypatch)
    with tracejit.config(debug_info=True):
        compiled = tracejit.grad(lambda x: np.sum(np.sin(x) * x)).trace(
            np.ones(5)).lower().compile()
    (tmp_path / "program.o").write_bytes(made[-1])
    done = subprocess.run(["readelf", "--debug-dump=decodedline", tmp_path / "program.o"],
                          capture_output=True, text=True, check=True)
    name = Path(compiled.path).name
    rows = re.findall(rf"^{re.escape(name[:20])}\S*\s+(\d+)\s", done.stdout, re.M)
    written = compiled.source.splitlines()
    lines = [written[int(row) - 1] for row in rows]
    assert any("out0[" in line for line in lines)
    assert all(line.strip() for line in lines)


def test_without_it_objects_have_none_and_the_code_is_the_same(
        monkeypatch: pytest.MonkeyPatch) -> None:
    made = objects(monkeypatch)
    g = tracejit.grad(lambda x: np.sum(np.sin(x) * x))
    plain = g.trace(np.ones(5)).lower().compile()
    with tracejit.config(debug_info=True):
        shown = g.trace(np.ones(5)).lower().compile()
    assert b".debug_line" not in made[0] and b".debug_line" in made[1]
    assert plain.source == shown.source
    x = np.linspace(0.1, 2.0, 21)
    slopes = [g(x)]
    with tracejit.config(debug_info=True):
        slopes.append(g(x))
    np.testing.assert_array_equal(*slopes)


def test_programs_with_tables_are_not_kept(tmp_path: Path) -> None:
    with tracejit.config(debug_info=True, cache=True, cache_dir=str(tmp_path)):
        tracejit.grad(lambda x: x * x * x)(2.0)
    assert not [*tmp_path.rglob("*.o")]


def test_the_environment_asks_for_tables() -> None:
    text = "from tracejit.configuration import settings; print(settings().debug_info)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True,
                          env={**os.environ, "TRACEJIT_DEBUG_INFO": "1"})
    assert done.stdout == "True\n"
