"""Threads: `python -m benchmarks.threads [THREADS]` (2 if not given).

Per program, the time of a gradient with one thread over its time with several, interleaved, on the
wall; the bits are compared first. A ratio counts only where the cores were idle before and after:
else the row says how busy others kept them (from /proc/stat), and the ratio stands in brackets.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import tracejit
from benchmarks.timing import CLOCKS, interleave
from benchmarks.workloads.chain import plain as chain

__all__ = ["busy_share", "main"]

MOST_BUSY = 0.05
"""Of the cores' time, how much others may take for a ratio to count."""


def black_scholes(s: Any, k: Any, t: Any, v: Any) -> Any:
    d = (np.log(s / k) + (0.03 + 0.5 * v * v) * t) / (v * np.sqrt(t))
    e = d - v * np.sqrt(t)
    return np.sum(s / (1.0 + np.exp(-1.702 * d)) - k * np.exp(-0.03 * t) / (
        1.0 + np.exp(-1.702 * e)))


def pairs(p: Any, m: Any) -> Any:
    d = p[:, None, :] - p[None, :, :]
    return np.sum(m[:, None] * m[None, :] / np.sqrt(np.sum(d * d, axis=-1) + 0.01))


def logistic(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.5e-3 * np.sum(w * w)


def sweeps(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(5):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a)


def orbit(e: Any, m: Any) -> Any:
    anomaly = m
    for _ in range(20):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - m) / (1.0 - e * np.cos(anomaly))
    return anomaly


def programs() -> dict[str, tuple[Callable[[int], Callable[..., Any]], tuple[Any, ...]]]:
    """Return, by name, how a program is made for a number of threads, and its arguments."""
    r = np.random.default_rng(0)

    def gradient(f: Callable[..., Any]) -> Callable[[int], Callable[..., Any]]:
        return lambda threads: tracejit.value_and_grad(f, threads=threads)

    n = 1_000_000
    return {
        "c: chain of ten functions, 1e6": (gradient(chain), (r.uniform(-2.0, 2.0, n),)),
        "i: Black-Scholes, 1e6": (gradient(black_scholes), (
            r.uniform(50, 150, n), r.uniform(50, 150, n), r.uniform(0.1, 2, n),
            r.uniform(0.1, 0.5, n))),
        "N-body, 2000": (gradient(pairs), (r.normal(size=(2000, 3)), r.uniform(0.5, 1.5, 2000))),
        "logistic regression, 1e6 x 10": (gradient(logistic), (
            r.normal(size=10), r.normal(size=(n, 10)), r.integers(0, 2, n).astype(float))),
        "jacobi_2d, 5 sweeps of 1000²": (gradient(sweeps), (
            r.normal(size=(1000, 1000)), r.normal(size=(1000, 1000)))),
        "vmap of Kepler's equation, 1e5": (
            lambda threads: tracejit.vmap(orbit, threads=threads),
            (r.uniform(0.1, 0.8, n // 10), r.uniform(0.1, 3.0, n // 10))),
        "a chain of 1000 elements": (gradient(chain), (r.uniform(-2.0, 2.0, 1000),)),
    }


def _ticks() -> tuple[int, int]:
    """Return how many ticks the cores have spent in all, and how many of them idle."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = list(map(int, file.readline().split()[1:9]))
    return sum(numbers), numbers[3] + numbers[4]


def busy_share(seconds: float = 0.5) -> float:
    """Return the share of the cores' time that is spent while this process sleeps."""
    total, idle = _ticks()
    time.sleep(seconds)
    after, idle_after = _ticks()
    return 1.0 - (idle_after - idle) / max(1, after - total)


def _bits(x: Any) -> bytes:
    return b"".join(map(_bits, x)) if isinstance(x, tuple) else np.asarray(x).tobytes()


def main(threads: int = 2) -> None:
    """Print a row per program."""
    print(f"{'':34} {'1 thread':>10} {f'{threads} threads':>10} {'ratio':>7}  others")
    for name, (make, args) in programs().items():
        calls = {str(k): make(k) for k in (1, threads)}
        one, several = (f(*args) for f in calls.values())
        assert _bits(one) == _bits(several), name
        before = busy_share()
        timed = {k: partial(f, *args) for k, f in calls.items()}
        times = interleave(timed, {}, rounds=9, batch=0.05, clock=CLOCKS["wall"])
        others = max(before, busy_share())
        ratio = median(a / b for a, b in zip(*times.values(), strict=True))
        shown = f"{ratio:.2f}" if others <= MOST_BUSY else f"({ratio:.2f})"
        milli = [f"{1e3 * median(t):.3f} ms" for t in times.values()]
        print(f"{name:34} {milli[0]:>10} {milli[1]:>10} {shown:>7}  {others:.0%}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
