"""What the scoreboard measures, by name: `workloads/o`, `adbench/lstm`, `npbench/gemm`, ...

NPBench's kernels come from a checkout; twenty programs of tests/programs/ are spread over these.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import npbench
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["case", "names"]

TESTS = Path(__file__).parents[1] / "tests"
COUNT = 20  # programs of tests/programs/
SAMPLE = {"adbench": ("gmm-loops", "ba", "hand", "lstm"),
          "npbench": ("atax", "cholesky", "covariance", "gemver", "hdiff", "jacobi_2d")}
SAMPLED_PROGRAMS = 4


def names(full: bool, checkout: Path | None) -> Iterator[str]:
    """Yield the names of all cases, or of a sample; without a checkout none of NPBench's."""
    yield from (f"workloads/{key}" for key in WORKLOADS)
    yield from (f"adbench/{key}" for key in (_adbench() if full else SAMPLE["adbench"]))
    if checkout is not None:
        yield from (f"npbench/{key}" for key in (
            npbench.names(checkout) if full else SAMPLE["npbench"]))
    chosen = list(_programs())
    yield from (f"programs/{key}" for key in chosen[::1 if full else COUNT // SAMPLED_PROGRAMS])


def case(name: str, checkout: Path | None = None) -> Workload:
    """Return a case by its name."""
    group, _, key = name.partition("/")
    match group:
        case "workloads":
            return WORKLOADS[key]
        case "adbench":
            return _adbench()[key]
        case "programs":
            return _programs()[key]
    assert checkout is not None
    return npbench.kernel(checkout, key)


def _adbench() -> dict[str, Workload]:
    return {w.key: w for w in importlib.import_module("benchmarks.workloads.adbench").WORKLOADS}


def _programs() -> dict[str, Workload]:
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    package = importlib.import_module("programs")
    for module in sorted(pkgutil.iter_modules(package.__path__, "programs."), key=lambda m: m.name):
        importlib.import_module(module.name)
    whole = [p for p in importlib.import_module("programs.program").PROGRAMS
             if not (p.refused or p.wrong)]
    found = {}
    for program in whole[::max(1, len(whole) // COUNT)][:COUNT]:
        size = max(program.sizes)
        found[str(program)] = Workload(
            key=str(program), title=str(program), plain=program.function,
            argnums=program.argnums, arguments=lambda p=program, n=size: p.arguments(n))
    return found
