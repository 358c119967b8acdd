"""Two checkouts beside each other: `python -m benchmarks.versions BEFORE AFTER [--only a,g]`.

Each checkout has a process of its own, on the same core; they take turns, so that the machine's
moods hit both alike. A row is AFTER's time over BEFORE's: the median of the rounds' own ratios, and
the interval in which it lies with 95 % of resampled rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

RESAMPLED = 2000
"""How many times rounds are drawn again for an interval."""


def _calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what a checkout's process times: the workloads, and calls that do next to nothing."""
    import numpy as np

    import tracejit
    from benchmarks.peers import PEERS
    from benchmarks.workloads import WORKLOADS

    for key, workload in WORKLOADS.items():
        call = PEERS["tracejit"](workload)
        assert call is not None
        yield key, call
    x, y, z = np.random.default_rng(0).normal(size=(3, 10))
    slope = tracejit.grad(lambda x: x * x)
    slopes = tracejit.grad(lambda x, y, z: np.sum(x * y * z), argnums=(0, 1, 2))
    yield "call of a number", lambda: slope(3.0)
    yield "call of three arrays", lambda: slopes(x, y, z)


def _work(batch: float) -> None:
    """Time a workload for each line of standard input: seconds per call, in processor time."""
    from benchmarks.timing import CLOCKS, interleave

    calls = dict(_calls())
    print(*calls, sep="\t", flush=True)
    for line in sys.stdin:
        key = line.strip()
        (seconds,) = interleave({key: calls[key]}, {}, rounds=1, batch=batch,
                                clock=CLOCKS["cpu"])[key]
        print(seconds, flush=True)


def _start(checkout: Path, batch: float) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "TRACEJIT_CACHE": "0"}
    return subprocess.Popen([sys.executable, __file__, "--work", str(batch)], cwd=checkout,
                            env=environment, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def _ask(worker: subprocess.Popen[str], key: str) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    print(key, file=worker.stdin, flush=True)
    return float(worker.stdout.readline())


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the ends between which 95 % of the medians of resampled rounds lie."""
    draw = Random(0)
    medians = sorted(median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLED))
    return medians[RESAMPLED // 40], medians[-RESAMPLED // 40]


def main() -> None:
    """Print a row for each workload, and the geometric mean of all."""
    parser = argparse.ArgumentParser("python -m benchmarks.versions", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", default="", help="keys of workloads, with commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=float, default=0.05, help="seconds of a measurement")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    workers = [_start(path.resolve(), options.batch) for path in (options.before, options.after)]
    keys, _ = ([*w.stdout.readline().strip().split("\t")] for w in workers if w.stdout)
    asked = tuple(options.only.split(","))
    found = []
    print(f"{'':24} {'before':>12} {'after':>12}   after / before")
    for key in (k for k in keys if k.startswith(asked)):
        times = [[_ask(worker, key) for worker in workers] for _ in range(options.rounds + 1)][1:]
        ratios = [after / before for before, after in times]
        low, high = interval(ratios)
        found.append(median(ratios))
        before, after = (1e6 * median(column) for column in zip(*times, strict=True))
        print(f"{key:24} {before:9.2f} µs {after:9.2f} µs   {found[-1]:.3f} "
              f"[{low:.3f}, {high:.3f}]", flush=True)
    print(f"geometric mean {exp(mean(map(log, found))):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        sys.path[0] = os.environ["PYTHONPATH"]
        _work(float(sys.argv[2]))
    else:
        main()
