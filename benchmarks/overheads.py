"""What a call costs beside its arithmetic, and what sizes and trip counts cost the compiler."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import tracejit
from benchmarks.timing import Clock, interleave
from benchmarks.workloads import WORKLOADS

__all__ = ["Measure", "measure_overheads"]


@dataclass(frozen=True)
class Measure:
    """A number with its unit, and what it should be at most."""

    title: str
    value: float
    unit: str
    at_most: float | None = None

    def is_met(self) -> bool | None:
        """Return whether the target is met; None where there is none."""
        return None if self.at_most is None else self.value <= self.at_most


def measure_overheads(rounds: int, batch: float, clock: Clock) -> list[Measure]:
    """Return call overheads, the number of compilations, and compile times of loops."""
    return [*_calls(rounds, batch, clock), *_sizes(), *_trips(rounds, clock)]


def _square(x: Any) -> Any:
    return x * x


def _product(x: Any, y: Any, z: Any) -> Any:
    return np.sum(x * y * z)


def _calls(rounds: int, batch: float, clock: Clock) -> Iterator[Measure]:
    slope = tracejit.grad(_square)
    slopes = tracejit.grad(_product, argnums=(0, 1, 2))
    x, y, z = np.random.default_rng(0).normal(size=(3, 10))
    assert slope(3.0) == 6.0
    for found, expected in zip(slopes(x, y, z), (y * z, x * z, x * y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    calls: dict[str, Callable[[], Any]] = {
        "scalar": lambda: slope(3.0), "arrays": lambda: slopes(x, y, z)}
    times = interleave(calls, {}, rounds=rounds, batch=batch, clock=clock)
    call = {name: 1e6 * median(times[name]) for name in calls}
    yield Measure("call of a compiled `grad` of one number", call["scalar"], "µs", 0.3)
    yield Measure("call of a compiled `grad` of three arrays of 10", call["arrays"], "µs", 0.6)


class _Compilations(logging.Handler):
    """Counts the log's lines about compilations."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.msg.startswith("compiled")


@contextmanager
def _compilations() -> Iterator[_Compilations]:
    log, counter = logging.getLogger("tracejit"), _Compilations()
    level = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(counter)
    try:
        yield counter
    finally:
        log.removeHandler(counter)
        log.setLevel(level)


def _sizes() -> Iterator[Measure]:
    gradient = tracejit.grad(WORKLOADS["b10"].plain)
    # with a store of its own: no program of an earlier run is found
    with tempfile.TemporaryDirectory() as folder, tracejit.config(
            cache_dir=folder), _compilations() as counter:
        for n in range(2, 102):
            gradient(np.ones(n))
    yield Measure("compilations of Rosenbrock for 100 sizes", counter.count, "", 1)


def _few(x: Any) -> Any:
    for _ in range(10):
        for i in range(1, 10):
            x[i] = np.sin(x[i - 1]) * x[i]
    return x[9]


def _many(x: Any) -> Any:
    for _ in range(1_000_000):
        for i in range(1, 10):
            x[i] = np.sin(x[i - 1]) * x[i]
    return x[9]


def _trips(rounds: int, clock: Clock) -> Iterator[Measure]:
    """Compile one loop nest with different numbers of trips, alternately."""
    tracejit.grad(_square)(1.0)
    times: dict[Callable[..., Any], list[float]] = {_few: [], _many: []}
    with tempfile.TemporaryDirectory() as empty, tracejit.config(cache_dir=empty):
        for _ in range(min(rounds, 7)):
            for fn, found in times.items():
                start = clock()
                tracejit.grad(fn).trace(np.ones(10)).lower().compile()
                found.append(clock() - start)
    few, many = (1e3 * median(times[fn]) for fn in (_few, _many))
    yield Measure("compiling a loop nest of 10 trips", few, "ms")
    yield Measure("compiling it with 1 000 000 trips", many, "ms", 1.1 * few)
