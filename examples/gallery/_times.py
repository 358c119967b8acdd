"""Times of value and gradient, beside SciPy's differences and JAX's where it is installed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import approx_fprime

import tracejit
from benchmarks.gallery_in_jax import in_jax
from benchmarks.table import machine
from benchmarks.timing import CLOCKS, interleave
from examples.gallery import load
from examples.gallery._vectors import as_vector, slopes

__all__ = ["TIMES", "write"]

TIMES = Path(__file__).parent / "times.json"
AGREES = 1e-5
"""How far JAX's gradient may be from tracejit's, relative to its largest element."""


def measure(name: str) -> dict[str, Any]:
    """Return the seconds of an example's value and gradient by each way, checked before."""
    function, arguments = load(name).problem()
    x, restored = as_vector(arguments[0])
    ours = tracejit.value_and_grad(function)
    begin = perf_counter()
    gradient = as_vector(ours(*arguments)[1])[0]
    first = perf_counter() - begin
    error = max(abs(float(gradient @ direction) - slope) for direction, slope in
                slopes(function, arguments)) / np.abs(gradient).max()

    def in_numpy() -> Any:
        return function(*arguments)

    def by_differences() -> Any:
        in_numpy()
        return approx_fprime(x, lambda v: function(restored(v), *arguments[1:]))

    calls = {"tracejit": lambda: ours(*arguments), "value in NumPy": in_numpy,
             "differences": by_differences}
    found = {"unknowns": x.size, "first call": first, "error": error}
    theirs = in_jax(name, load(name))
    if theirs is not None:
        begin = perf_counter()
        other = as_vector(theirs()[1])[0]
        found["first call of JAX"] = perf_counter() - begin
        off = np.abs(other - gradient).max() / np.abs(gradient).max()
        assert off < AGREES, f"{name}: JAX's gradient is off by {off:.1e}"
        calls["JAX"] = theirs
    times = interleave(calls, {}, rounds=5, batch=0.1, clock=CLOCKS["cpu"])
    return found | {way: median(seconds) for way, seconds in times.items()}


def write(names: list[str]) -> None:
    """Measure examples on one core, and put what was found into the file of results."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in names:
        found = measure(name)
        kept = json.loads(TIMES.read_text()) if TIMES.exists() else {"examples": {}}
        kept["machine"] = machine()
        kept["examples"][name] = {key: float(f"{value:.3g}") for key, value in found.items()}
        kept["examples"] = dict(sorted(kept["examples"].items()))
        TIMES.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, {key: f"{value:.3g}" for key, value in found.items()}, flush=True)
