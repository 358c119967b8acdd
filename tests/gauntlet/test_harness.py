"""The gauntlet's own harness: a sample is part of the whole, and the same for one seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SAMPLE

PROBE = """
import pytest

@pytest.mark.parametrize("case", range(100))
def test_case(case):
    pass
"""


def _collected(folder: Path, seed: str, *options: str, case: str = "") -> set[str]:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "-p",
         "no:cacheprovider", "-p", "conftest", *options, f"{folder}{case}"],
        cwd=folder, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "TRACEJIT_SAMPLE_SEED": seed,
             "PATH": "/usr/bin:/bin"})
    return {line for line in result.stdout.splitlines() if "::" in line}


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    """Return a folder with a hundred cases of one test."""
    folder = tmp_path / "gauntlet"
    folder.mkdir()
    (folder / "test_probe.py").write_text(PROBE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def test_a_sample_is_part_of_the_whole_and_the_same_for_one_seed(probe: Path) -> None:
    whole = _collected(probe, "1", "--full")
    first, again, other = (_collected(probe, seed) for seed in ("1", "1", "2"))
    assert len(whole) == 100
    assert len(first) == SAMPLE
    assert first < whole
    assert first == again
    assert first != other


def test_a_case_that_is_named_runs_whatever_the_sample_is(probe: Path) -> None:
    for case in range(0, 100, 25):
        named = f"/test_probe.py::test_case[{case}]"
        assert len(_collected(probe, "1", case=named)) == 1
