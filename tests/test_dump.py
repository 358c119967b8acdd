"""Stages shown: dumps, every stage of every compilation as a file, and the log's ladder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tracejit

STAGES = ["after.txt", "before.txt", "ll", "py"]


def _square(x: np.ndarray) -> float:
    return np.sum(x * x + 0.0 * np.ones(3))


def _stages(folder: Path) -> dict[str, list[str]]:
    """Return the stages that are there, by the part of the name that says of what."""
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
    assert "define" in text("ll")


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
    assert list(_stages(tmp_path).values()) == [["after.txt", "before.txt"]]


def test_nothing_is_written_without_the_setting(tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tracejit.jit(_square)(np.ones(3))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("debug", range(4))
def test_each_level_of_debug_logs_more(debug: int, caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.jit(lambda x: np.sum(tracejit.stop_gradient(x)))
    with tracejit.config(debug=debug):
        f(np.ones(3))
    levels = ["compiled _lambda", "after inline_calls:", "emitted:"]
    shown = [any(r.levelname == "WARNING" and text in r.getMessage() for r in caplog.records)
             for text in levels]
    assert shown == [level <= debug for level in (1, 2, 3)]
