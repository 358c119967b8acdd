"""One workload: every peer's gradient checked against another's, then all of them timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, results
from benchmarks.timing import Clock, interleave
from benchmarks.workloads import Workload

__all__ = ["Comparison", "compare"]

TOLERANCE = 1e-8
PATIENCE = 10.0  # seconds of a call for which a peer is left out
NOT_COMPILED = ("NumPy forward", "PyTorch", "autograd")  # their first call is like any other


@dataclass
class Comparison:
    """What became of each peer: its times, or why there are none."""

    workload: Workload
    times: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)  # largest difference from the reference

    def median(self, peer: str) -> float | None:
        """Return a peer's median time in seconds."""
        return median(self.times[peer]) if peer in self.times else None


def difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Return the largest relative difference of value and gradients.

    Elements that are tiny beside the largest of their array count relative to 1e-4 of that.
    """
    def of(a: np.ndarray, b: np.ndarray) -> float:
        scale = np.maximum(np.abs(b), 1e-4 * np.max(np.abs(b), initial=1e-300))
        return float(np.max(np.abs(a - b) / scale, initial=0.0))

    if [a.shape for a in found] != [b.shape for b in expected]:
        return float("inf")
    return float(np.max([of(a, b) for a, b in zip(found, expected, strict=True)]))  # NaN wins


def compare(workload: Workload, *, rounds: int, batch: float, clock: Clock) -> Comparison:
    """Check all peers against the adjoint written by hand, and that against JAX; then time them."""
    made = Comparison(workload)
    calls: dict[str, Callable[[], Any]] = {}
    found: dict[str, list[np.ndarray]] = {}
    slow: dict[str, float] = {}  # seconds of a call, where the first says
    for peer, prepare in PEERS.items():
        try:
            call = prepare(workload)
            if call is None:
                continue
            start = clock()
            found[peer] = results(call())
            slow[peer] = clock() - start if peer in NOT_COMPILED else 0.0
        except ImportError:
            made.failures[peer] = "not installed"
            continue
        except Exception as e:
            made.failures[peer] = f"fails ({type(e).__name__})"
            continue
        calls[peer] = call
        if slow[peer] > PATIENCE:
            made.failures[peer] = f"> {PATIENCE:.0f} s"
    _check(made, found)
    timed = {p: calls[p] for p in found if p not in made.failures}
    made.times = interleave(timed, slow, rounds=rounds, batch=batch, clock=clock)
    return made


def _check(made: Comparison, found: dict[str, list[np.ndarray]]) -> None:
    other = next(peer for peer in ("JAX", "PyTorch", "autograd", "tracejit") if peer in found)
    for peer, result in found.items():
        reference = found[other if peer == "by hand" else "by hand"]
        if peer == "NumPy forward":
            reference = reference[:1]
        made.errors[peer] = difference(result, reference)
    for peer, error in made.errors.items():
        if not error <= TOLERANCE:
            made.failures[peer] = f"wrong by {error:.0e}"
