"""Two checkouts beside each other: `python -m benchmarks.versions BEFORE AFTER [--only a,g]`.

Each checkout has a process of its own, on the same core; they take turns, so that the machine's
moods hit both alike. Where arrays lie differs from process to process and changes times by up to a
tenth, so that several pairs of processes are started. A row is AFTER's time over BEFORE's: the
median over pairs of the rounds' median ratio, and the interval in which it lies with 95 % of
resampled pairs.
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
"""How many times pairs of processes are drawn again for an interval."""


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
    """Return the ends between which 95 % of the medians of resampled ratios lie."""
    draw = Random(0)
    medians = sorted(median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLED))
    return medians[RESAMPLED // 40], medians[-RESAMPLED // 40]


def _measure(checkouts: list[Path], batch: float, rounds: int,
             asked: tuple[str, ...]) -> dict[str, list[list[float]]]:
    """Return, per workload, the seconds of both in each round of one pair of processes."""
    workers = [_start(path.resolve(), batch) for path in checkouts]
    keys, _ = ([*w.stdout.readline().strip().split("\t")] for w in workers if w.stdout)
    times = {key: [[_ask(worker, key) for worker in workers] for _ in range(rounds + 1)][1:]
             for key in keys if key.startswith(asked)}
    for worker in workers:
        worker.communicate()
    return times


def main() -> None:
    """Print a row for each workload, and the geometric mean of all."""
    parser = argparse.ArgumentParser("python -m benchmarks.versions", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", default="", help="keys of workloads, with commas")
    parser.add_argument("--pairs", type=int, default=7, help="of processes")
    parser.add_argument("--rounds", type=int, default=5, help="of each pair")
    parser.add_argument("--batch", type=float, default=0.03, help="seconds of a measurement")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    asked = tuple(options.only.split(","))
    runs = [_measure([options.before, options.after], options.batch, options.rounds, asked)
            for _ in range(options.pairs)]
    found = []
    print(f"{'':24} {'before':>12} {'after':>12}   after / before")
    for key in runs[0]:
        ratios = [median(after / before for before, after in run[key]) for run in runs]
        low, high = interval(ratios)
        found.append(median(ratios))
        before, after = (1e6 * median(column) for column in zip(
            *(times for run in runs for times in run[key]), strict=True))
        print(f"{key:24} {before:9.2f} µs {after:9.2f} µs   {found[-1]:.3f} "
              f"[{low:.3f}, {high:.3f}]", flush=True)
    print(f"geometric mean {exp(mean(map(log, found))):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        sys.path[0] = os.environ["PYTHONPATH"]
        _work(float(sys.argv[2]))
    else:
        main()
