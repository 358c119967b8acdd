"""The first gradient of a fresh process: from decorated function to result, compilation included.

Each is measured in a process of its own, with an empty cache, after one unrelated compilation that
pays for the set-up of that compiler. As a program: `first_calls PEER WORKLOAD CLOCK`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers import PEERS
from benchmarks.timing import CLOCKS
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["KEYS", "first_calls"]

KEYS = ("a", "b10", "b1e5", "c", "d", "g", "k")


def unrelated(x: Any) -> Any:
    return np.sum(np.exp(x) * x)


WARM_UP = Workload(key="", title="", plain=unrelated, hand=unrelated,
                   arguments=lambda: (np.ones(5),))


def first_calls(key: str, peers: tuple[str, ...], repeats: int, clock: str) -> dict[str, float]:
    """Return each peer's median over fresh processes, in seconds."""
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    for _ in range(repeats):
        for peer, found in times.items():
            with tempfile.TemporaryDirectory() as empty:
                ran = subprocess.run([sys.executable, "-m", __name__, peer, key, clock],
                                     env={**os.environ, "TRACEJIT_CACHE_DIR": empty},
                                     capture_output=True, text=True, check=False)
            if ran.returncode == 0:
                found.append(float(ran.stdout))
    return {peer: median(found) for peer, found in times.items() if found}


def main(peer: str, key: str, clock: str) -> None:
    """Print the seconds of a first call."""
    _call(peer, WARM_UP)
    start = CLOCKS[clock]()
    _call(peer, WORKLOADS[key])
    print(CLOCKS[clock]() - start)


def _call(peer: str, workload: Workload) -> None:
    call = PEERS[peer](workload)
    assert call is not None
    call()


if __name__ == "__main__":
    main(*sys.argv[1:])
