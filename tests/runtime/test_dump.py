"""Stages shown: dumps, every stage of every compilation as a file, and the log's ladder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import tracejit
from tracejit.errors import CompileError

STAGES = ["after.txt", "before.txt", "ll", "py", "repro.py", "s", "why.txt"]


def _square(x: np.ndarray) -> float:
    return np.sum(x * x + 0.0 * np.ones(3))


def _stages(folder: Path) -> dict[str, list[str]]:
    """Return the stages whose files are in a folder, by the program's name."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()):
        stem, _, stage = path.name.partition(".")
        found.setdefault(stem, []).append(stage)
    return found


def test_a_compilation_leaves_a_file_per_stage(tmp_path: Path) -> None:
    f = tracejit.grad(_square)
    with tracejit.config(dump=str(tmp_path / "made" / "for it")):
        f(np.ones(3))
    folder = tmp_path / "made" / "for it"
    ((stem, stages),) = _stages(folder).items()
    assert stages == STAGES
    name, _, digest = stem.rpartition("_")
    assert name == "grad__square"
    assert len(digest) == 12

    def text(stage: str) -> str:
        return (folder / f"{stem}.{stage}").read_text()

    traced = f.trace(np.ones(3))
    assert text("before.txt") == f"{traced.program.graph}\n"
    assert text("after.txt") == f"{traced.graph}\n"
    assert text("py") == traced.lower().source
    assert text("why.txt") == f"{traced.lower().why()}\n"
    assert "define" in text("ll")
    assert ".globl\ttracejit_" in text("s")


def test_each_specialisation_has_files_of_its_own(tmp_path: Path) -> None:
    f = tracejit.jit(lambda x: 2.0 * x)
    with tracejit.config(dump=str(tmp_path)):
        f(np.ones(3))
        f(np.ones(5))  # the same program
        f(np.ones((3, 3)))
    assert list(_stages(tmp_path).values()) == [STAGES, STAGES]


def test_names_do_not_depend_on_what_was_dumped_before(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        with tracejit.config(dump=str(tmp_path / folder)):
            tracejit.jit(_square).trace(tracejit.spec("f64[n]")).lower()
    assert _stages(tmp_path / "first") == _stages(tmp_path / "second")


def test_the_graph_is_there_although_nothing_was_compiled(tmp_path: Path) -> None:
    with tracejit.config(dump=str(tmp_path), disable_jit=True):
        tracejit.jit(_square)(np.ones(3))
    assert list(_stages(tmp_path).values()) == [["after.txt", "before.txt", "repro.py", "why.txt"]]


def test_nothing_is_written_without_the_setting(tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tracejit.jit(_square)(np.ones(3))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("debug", range(5))
def test_each_level_of_debug_logs_more(debug: int, caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.jit(lambda x: np.sum(tracejit.stop_gradient(x)))
    with tracejit.config(debug=debug):
        f(np.ones(3))
    levels = ["compiled _lambda", "after inline_calls:", "emitted:", "assembly:"]
    shown = [any(r.levelname == "WARNING" and text in r.getMessage() for r in caplog.records)
             for text in levels]
    assert shown == [level <= debug for level in (1, 2, 3, 4)]


# --- reproducers --------------------------------------------------------------------------------


def _run(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script.name], capture_output=True, text=True, check=False,
        cwd=script.parent, env={"PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]),
                                "TRACEJIT_CACHE": "0", "HOME": str(script.parent)})


def _mixed(x: np.ndarray, n: int, weights: np.ndarray, chosen: np.ndarray) -> float:
    s = 1.0
    for k in range(n):
        s = s * np.sum(np.where(chosen, x, weights[k]) ** 2)
        tracejit.debug_print("{} \\ {:.2f} \"quoted\"", k, s)
    return s


def _computed_again(x: np.ndarray) -> float:
    return tracejit.checkpoint(lambda y: np.sum(np.sin(y) * y))(x)


CALLS = {
    "a gradient": lambda: tracejit.grad(_square)(np.ones(3)),
    "ints, bools, prints": lambda: tracejit.grad(_mixed)(
        np.ones(2), 3, np.ones(5, np.float32), np.array([True, False])),
    "calls until the passes": lambda: tracejit.grad(_computed_again)(np.ones(4)),
    "a map": lambda: tracejit.vmap(tracejit.grad(_square))(np.ones((2, 3))),
    "no call": lambda: tracejit.grad(lambda x: np.linalg.slogdet(x @ x.T + np.eye(4))[1]).trace(
        tracejit.spec("f64[n, 4]")).lower(),
    "strict": lambda: tracejit.grad(_square, fp="strict")(np.ones(3)),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_reproducer_runs_alone(call: str, tmp_path: Path) -> None:
    with tracejit.config(dump=str(tmp_path)):
        CALLS[call]()
    (script,) = tmp_path.glob("*.repro.py")
    done = _run(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(": the compiled program gives what the interpreter does\n")


def test_a_reproducer_finds_what_is_wrong(tmp_path: Path) -> None:
    with tracejit.config(dump=str(tmp_path)):
        tracejit.jit(_square)(np.ones(3))
    (script,) = tmp_path.glob("*.repro.py")
    broken = script.read_text().replace("interpret(program.graph, *arguments)",
                                        "interpret(program.graph, *[2 * x for x in arguments])")
    script.write_text(broken)
    done = _run(script)
    assert done.returncode == 1
    assert "Not equal to tolerance" in done.stderr


def test_a_reproducer_is_there_although_compiling_fails(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr("tracejit.codegen.compile.compile_kernel", fail)
    with tracejit.config(dump=str(tmp_path)), pytest.raises(CompileError):
        tracejit.jit(_square)(np.ones(3))
    (stages,) = _stages(tmp_path).values()
    assert stages == ["after.txt", "before.txt", "py", "repro.py", "why.txt"]


def test_a_reproducer_says_what_no_text_stands_for(tmp_path: Path) -> None:
    double = tracejit.register_op("Doubled_for_dump", numba.njit(lambda x: 2.0 * x))
    with tracejit.config(dump=str(tmp_path), disable_jit=True):
        tracejit.jit(lambda x: np.sum(double(x)))(np.ones(3))
    (script,) = tmp_path.glob("*.repro.py")
    done = _run(script)
    assert done.returncode == 1
    assert "This script cannot run _lambda alone: it calls Doubled_for_dump, an @njit" in (
        done.stderr)
    assert "reduce_sum" in done.stderr
