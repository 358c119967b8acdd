"""The cost of a call from C beside one from Python: workload m, exported, in one process.

`python -m benchmarks.export` compiles a C loop against the shared library, calls both in turn on
one core, and prints the medians of processor time per call and of the rounds' own ratios.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

import tracejit
from benchmarks.timing import CLOCKS, interleave, ratio
from benchmarks.workloads import soft_dtw

__all__ = ["main"]

LOOP = """
#include "soft_dtw.h"
int64_t call(const double *x, int64_t n, const double *y, int64_t m, double *value,
             double *grad, void *workspace, int64_t count) {
    int64_t status = 0;
    while (count-- && !status) status = soft_dtw(x, n, y, m, value, grad, workspace);
    return status;
}
"""
CALLS, ROUNDS = 10, 25


def main() -> None:
    """Print the figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    x, y = soft_dtw.arguments()
    gradient = tracejit.value_and_grad(soft_dtw.plain)
    compiled = gradient.trace(x, y).lower().compile()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled.export(folder / "soft_dtw.so", name="soft_dtw")
        (folder / "loop.c").write_text(LOOP)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "loop.so", "loop.c", "soft_dtw.so",
                        f"-Wl,-rpath,{folder}"], cwd=folder, check=True)
        loop = ctypes.CDLL(str(folder / "loop.so")).call
        library = ctypes.CDLL(str(folder / "soft_dtw.so"))
        size = next(line.split()[2] for line in (folder / "soft_dtw.h").read_text().splitlines()
                    if line.startswith("#define soft_dtw_workspace "))
        room = getattr(library, size)
        room.restype, room.argtypes = ctypes.c_int64, [ctypes.c_int64] * 2
        value, grad = np.empty(()), np.empty_like(x)
        workspace = np.empty(room(len(x), len(y)), np.uint8)
        words = [x.ctypes.data, len(x), y.ctypes.data, len(y), value.ctypes.data, grad.ctypes.data,
                 workspace.ctypes.data, CALLS]
        arguments = [ctypes.c_int64(word) for word in words]

        def from_python() -> None:
            for _ in range(CALLS):
                gradient(x, y)

        expected = gradient(x, y)
        assert loop(*arguments) == 0
        assert (value.tobytes(), grad.tobytes()) == tuple(np.asarray(e).tobytes() for e in expected)
        calls = {"C": lambda: loop(*arguments), "Python": from_python}
        times = interleave(calls, {}, rounds=ROUNDS, batch=0.05, clock=CLOCKS["cpu"])
    for peer, seconds in times.items():
        print(f"{peer:<7} {1e6 * median(seconds) / CALLS:8.1f} µs per call")
    print(f"C to Python: {ratio(times['C'], times['Python']):.3f}")


if __name__ == "__main__":
    main()
