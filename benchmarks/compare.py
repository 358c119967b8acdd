"""One workload: every peer's gradient checked against another's, then all of them timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers import FORWARD, PEERS, results
from benchmarks.timing import Clock, interleave
from benchmarks.workloads import Workload

__all__ = ["Comparison", "compare"]

TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-3}
TOLERANCE_OF_DIFFERENCES = 1e-4
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


def by_differences(workload: Workload, gradients: list[np.ndarray]) -> float:
    """Return how far the NumPy function's own change along a direction is from a gradient's.

    The smallest over several steps, of which no more are made when one is small enough; what the
    value's rounding may hide does not count.
    """
    r = np.random.default_rng(0)
    args = workload.arguments()
    moves = {k: _direction(np.asarray(args[k]), r) for k in workload.argnums}

    def moved(h: float) -> Any:
        return float(workload.plain(*(
            (x + h * moves[k]).astype(np.asarray(x).dtype) if k in moves else x
            for k, x in enumerate(workload.arguments()))))

    parts = [np.real(g) * moves[k] for g, k in zip(gradients, workload.argnums, strict=True)]
    found, terms = sum(np.sum(p) for p in parts), sum(np.sum(np.abs(p)) for p in parts)
    hidden = 1e-8 * abs(moved(0.0)) + 1e-300
    least = np.inf
    for h in (1e-4, 1e-5, 1e-6, 1e-3, 1e-7):
        try:
            change = moved(h) - moved(-h)
        except np.linalg.LinAlgError:  # the step leads out of where the function is defined
            continue
        least = min(least, abs(change - 2 * h * found) / (2 * h * terms + hidden))
        if least < 0.01 * TOLERANCE_OF_DIFFERENCES:
            break
    return float(least)


def _direction(x: np.ndarray, r: np.random.Generator) -> np.ndarray:
    """Return a direction as large as `x`, symmetric where `x` is: NumPy reads one half of some."""
    found = r.normal(size=x.shape) * np.mean(np.abs(x))
    symmetric = x.ndim == 2 and x.shape[0] == x.shape[1] and bool(np.all(x == x.T))
    return (found + found.T) / 2 if symmetric else found


def compare(workload: Workload, *, rounds: int, batch: float, clock: Clock,
            peers: Mapping[str, Callable[[Workload], Any]] = PEERS) -> Comparison:
    """Check all peers against the adjoint written by hand, and that against JAX; then time them.

    Where nobody wrote one, tracejit is checked by differences, and the others against tracejit; who
    differs from it, as by another convention for symmetric matrices, by differences too. Steps of
    differences cross the jumps of some functions (NPBench's hdiff): there a peer has to agree.
    """
    made = Comparison(workload)
    calls: dict[str, Callable[[], Any]] = {}
    found: dict[str, list[np.ndarray]] = {}
    slow: dict[str, float] = {}  # seconds of a call, where the first says
    for peer, prepare in peers.items():
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
    first = "by hand" if "by hand" in found else "tracejit"
    second = next((peer for peer in ("JAX", "PyTorch", "autograd", "tracejit") if peer in found),
                  first)
    single = any(x.dtype == np.float32 for x in made.workload.arguments()
                 if isinstance(x, np.ndarray))
    tolerance = TOLERANCE[np.dtype(np.float32 if single else np.float64)]
    loosely = max(tolerance, TOLERANCE_OF_DIFFERENCES)
    for peer, result in found.items():
        if peer == first == "tracejit":
            error, allowed = by_differences(made.workload, result[1:]), loosely
            if not error <= allowed and second != first:
                error, allowed = difference(result, found[second]), tolerance
        elif first not in found:
            continue
        else:
            reference = found[second if peer == first else first]
            error = difference(result, reference[:1] if peer in FORWARD else reference)
            allowed = tolerance
            if not error <= allowed and first == "tracejit" and len(result) > 1:
                error, allowed = by_differences(made.workload, result[1:]), loosely
        made.errors[peer] = error
        if not error <= allowed:
            made.failures[peer] = f"wrong by {error:.0e}"
