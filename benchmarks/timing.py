"""Interleaved timing: every peer once per round, so that the machine's moods hit all alike.

Time is the process's own processor time by default: on one core, where nobody waits for anything
but the processor, it is the time on the wall less what other processes took.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

__all__ = ["CLOCKS", "Clock", "interleave", "ratio", "seconds_per_call"]

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"cpu": process_time, "wall": perf_counter}
SLOW = 0.5  # seconds of a call that is not repeated in every round


def seconds_per_call(call: Callable[[], Any], count: int, clock: Clock) -> float:
    """Return the mean time of `count` calls in a row."""
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def _calls_per_batch(call: Callable[[], Any], batch: float, clock: Clock) -> int:
    """Return how many calls take about `batch` seconds."""
    once = seconds_per_call(call, 1, clock)
    for _ in range(6 if once < SLOW / 10 else 1):  # a first call after others finds caches cold
        once = min(once, seconds_per_call(call, 1, clock))
    if once < batch / 100:
        once = seconds_per_call(call, 50, clock)
    return max(1, int(batch / once))


def interleave(calls: dict[str, Callable[[], Any]], known: dict[str, float], *, rounds: int,
               batch: float, clock: Clock) -> dict[str, list[float]]:
    """Return each call's seconds, one number per round.

    known -- seconds of a call where that is known already; slow ones are measured in two rounds
    """
    counts = {name: 1 if known.get(name, 0.0) > SLOW else _calls_per_batch(call, batch, clock)
              for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(rounds):
        for name, call in calls.items():
            if k > 1 and min(times[name]) > SLOW:
                continue
            gc.collect()
            gc.disable()
            times[name].append(seconds_per_call(call, counts[name], clock))
            gc.enable()
    return times


def ratio(slow: list[float], fast: list[float]) -> float:
    """Return how many times longer the first took: the median of the rounds' own ratios."""
    return median(s / f for s, f in zip(slow, fast, strict=False))
