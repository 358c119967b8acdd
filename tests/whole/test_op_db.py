"""PyTorch's samples of its functions, put to tracejit: `python -m benchmarks.op_db`."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOME = "diff,clamp_min,addcdiv,cumprod,linalg_solve,nn_functional_softplus,special_zeta"


@pytest.mark.skipif(not all(map(find_spec, ("torch", "expecttest"))),
                    reason="PyTorch with its tests is not installed")
@pytest.mark.parametrize("options", [[], ["--references"]])
def test_no_sample_differs_without_a_reason(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.op_db", "--interpreted", "--limit", "4", "--only", SOME,
         *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| different or failing without one | 0 |" in done.stdout, done.stdout
    assert "| equal | 0 |" not in done.stdout
