"""Choices by data work in every way that a program is called, or are refused there.

Python's own run is the oracle of the value, central differences of the gradient.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from c_programs import call_from_c
from ways_programs import PROGRAMS

import tracejit
from tracejit.errors import TracejitError

HERE = Path(__file__).parent
X = np.array([0.31, 1.27, 0.83, 0.44, 0.62])


NOT_KEPT = {"draws_of_a_seed"}
"""Programs that no other process gets, with a line in the log that says why."""
REFUSED = {("draws_of_a_seed", "njit"): "draws random numbers from a Generator",
           ("draws_of_a_seed", "C"): "draws random numbers from a Generator",
           ("draws_of_a_seed", "checkpoint"): "random numbers are drawn in a part of the program"}
"""What is refused in one of the ways, and how."""


def _refusing(f: Callable[..., Any], way: str) -> Any:
    """Return a context for a call: it asserts a refusal where the table has one, else nothing."""
    words = REFUSED.get((f.__name__, way))
    return nullcontext() if words is None else pytest.raises(
        (TracejitError, numba.TypingError), match=words)


def _differences(f: Callable[..., Any]) -> np.ndarray:
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(len(X))])


def _require(f: Callable[..., Any], value: Any, gradient: Any) -> None:
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, _differences(f), rtol=1e-6, atol=1e-6)


SCRIPT = """
import json, logging
import numpy as np
import tracejit
from tracejit.errors import TracejitError
import ways_programs

lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("tracejit").addHandler(handler)
logging.getLogger("tracejit").setLevel(logging.DEBUG)
x = np.array([0.31, 1.27, 0.83, 0.44, 0.62])
found = {}
for f in ways_programs.PROGRAMS:
    value, gradient = tracejit.value_and_grad(f)(x)
    found[f.__name__] = [float(value), gradient.tolist()]
made = [line.split("[")[1].split("]")[0] for line in lines if line.startswith("compiled ")]
unkept = [line.split("[")[1].split("]")[0] for line in lines if "is not kept" in line]
print(json.dumps([found, made, unkept]))
"""


def test_a_second_process_loads_them_from_the_store(tmp_path: Path) -> None:
    environment = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path),
                   "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])}
    runs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, text=True,
                              capture_output=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    (_, made, unkept), (_, again, _) = runs
    assert made == [f.__name__ for f in PROGRAMS]
    assert set(again) == set(unkept) == NOT_KEPT
    assert runs[0][0] == runs[1][0]
    for f in PROGRAMS:
        _require(f, *runs[1][0][f.__name__])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_njit_code_calls_them(f: Callable[..., Any]) -> None:
    both = tracejit.value_and_grad(f)
    with _refusing(f, "njit"):
        _require(f, *numba.njit(lambda x: both(x))(X))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_c_code_calls_them(f: Callable[..., Any], tmp_path: Path) -> None:
    compiled = tracejit.value_and_grad(f).trace(tracejit.spec("f64[n]")).lower().compile()
    logs = bool(compiled.lowered.kernel.logs)
    call = "x0, 5, r0, r1, workspace" + ", allocator" * logs
    with _refusing(f, "C"):
        found = call_from_c(tmp_path, compiled, call, "5", [X],
                            [(np.float64, ()), (np.float64, (5,))])
        assert found.status == 0, found.message
        _require(f, *found.results)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_checkpoints_hold_them(f: Callable[..., Any]) -> None:
    def thrice(x: Any) -> Any:
        total = 0.0
        for _ in tracejit.checkpoint(range(3), snapshots=1):
            total = 0.5 * total + f(x)
        return total

    with tracejit.config(disable_jit=True), _refusing(f, "checkpoint"):
        value, gradient = tracejit.value_and_grad(tracejit.checkpoint(f))(X)
        _require(f, value, gradient)
        value, gradient = tracejit.value_and_grad(thrice)(X)
        _require(f, value / 1.75, gradient / 1.75)
