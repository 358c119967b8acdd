"""Errors of a module that was loaded again: compiled code raises the class that Python would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KINDS = "class TooLarge(ValueError):\n    pass\n"

F = """
def f(x):
    if x[0] > 1.0:
        raise {}("too large")
    return x.sum()
"""

PROGRAMS = {"its own": KINDS + F.format("TooLarge"),
            "an attribute": "import kinds\n" + F.format("kinds.TooLarge"),
            "imported": "from kinds import TooLarge\n" + F.format("TooLarge")}

SCRIPT = """
import importlib, sys
import numpy as np
import tracejit
import problem
home = importlib.import_module(sys.argv[1])

def raised(f, size=2.0):
    try:
        f(np.full(3, size))
    except Exception as e:
        return type(e)

f = tracejit.jit(problem.f)
for turn in range(3):
    found = raised(f)
    print(turn, "the same" if found is raised(problem.f) else found.__name__)
    print([s.is_stored for row in f._table.values() for s in row][0])
    importlib.reload(home)
    raised(f, 0.0)
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_class_is_the_one_of_the_module_as_it_is_now(program: str, tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text(KINDS)
    (tmp_path / "problem.py").write_text(PROGRAMS[program])
    (tmp_path / "script.py").write_text(SCRIPT)
    env = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path / "store"),
           "PYTHONPATH": os.pathsep.join(sys.path)}
    home = "problem" if program == "its own" else "kinds"
    for stored in ("False", "True"):
        done = subprocess.run([sys.executable, tmp_path / "script.py", home], env=env, text=True,
                              capture_output=True, check=True)
        words = done.stdout.split("\n")
        assert words[:2] == ["0 the same", stored]
        if program == "imported":  # Python raises the class of before, which has no name any more
            assert words[2] == "1 Refusal" and words[4] == "2 Refusal"
        else:
            assert words[2] == "1 the same" and words[4] == "2 the same"
