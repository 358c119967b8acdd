"""One measurement in a process of its own: `measure KIND CASE [PEER]` prints JSON.

`steady`  -- all peers, checked, then timed in turns on one thread
`first`   -- a peer's first gradient, after an unrelated compilation, and the memory of a call
`threads` -- tracejit on one and on two threads, on the wall
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cases import case
from benchmarks.compare import compare
from benchmarks.first_calls import WARM_UP
from benchmarks.peers import PEERS, forward_in_tracejit, results
from benchmarks.threads import busy_share
from benchmarks.timing import CLOCKS, interleave
from benchmarks.workloads import Workload

__all__ = ["BOARD", "call_peak"]

BOARD = {**{peer: prepare for peer, prepare in PEERS.items() if peer != "autograd"},
         "tracejit forward": forward_in_tracejit}
SLOW_TO_START = ("PyTorch",)
"""Peers that are left out where there are fewer rounds."""
ROUNDS, BATCH = 9, 0.02  # and seconds of a peer in a round


def steady(workload: Workload, rounds: int, batch: float) -> dict[str, Any]:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    peers = {peer: prepare for peer, prepare in BOARD.items()
             if rounds >= ROUNDS or peer not in SLOW_TO_START}
    found = compare(workload, rounds=rounds, batch=batch, clock=CLOCKS["cpu"], peers=peers)
    times = {peer: [float(f"{t:.4g}") for t in rounds] for peer, rounds in found.times.items()}
    return {"seconds": times, "failures": found.failures, "differences": found.errors}


def first(workload: Workload, peer: str) -> dict[str, Any]:
    """Return the seconds of processor time of a first call, and the bytes of a second one."""
    warm = PEERS[peer](WARM_UP)
    assert warm is not None
    warm()
    start = CLOCKS["cpu"]()
    call = PEERS[peer](workload)
    assert call is not None
    call()
    return {"first": CLOCKS["cpu"]() - start, "peak": call_peak(call)}


def call_peak(call: Callable[[], Any]) -> int | None:
    """Return by how many bytes the process is larger during a call than it was before.

    What a compiler keeps from one call to the next is not in it. None where the system does not
    tell.
    """
    clear = Path("/proc/self/clear_refs")
    if not clear.exists():
        return None
    gc.collect()
    clear.write_text("5")  # the largest size so far is now's
    before = _kilobytes("VmRSS")
    call()
    return 1024 * max(0, _kilobytes("VmHWM") - before)


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def threads(workload: Workload, rounds: int, batch: float) -> dict[str, Any]:
    """Return the ratio of one thread's time to two threads'; the bits are compared first."""
    import tracejit

    args = workload.arguments()
    calls = {str(k): partial(tracejit.value_and_grad(
        workload.plain, argnums=workload.argnums, threads=k), *args) for k in (1, 2)}
    one, two = ([x.tobytes() for x in results(call())] for call in calls.values())
    before = busy_share()
    times = interleave(calls, {}, rounds=rounds, batch=batch, clock=CLOCKS["wall"])
    return {"ratio": median(a / b for a, b in zip(*times.values(), strict=True)),
            "same bits": one == two, "others": max(before, busy_share())}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.measure", description=__doc__)
    parser.add_argument("kind", choices=("steady", "first", "threads"))
    parser.add_argument("case")
    parser.add_argument("peer", nargs="?", default="tracejit")
    parser.add_argument("--npbench", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--batch", type=float, default=BATCH)
    options = parser.parse_args()
    workload = case(options.case, options.npbench)
    if options.kind == "first":
        found = first(workload, options.peer)
    else:
        measure = steady if options.kind == "steady" else threads
        found = measure(workload, options.rounds, options.batch)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
