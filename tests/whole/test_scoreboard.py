"""The scoreboard finds a gradient that is wrong, and its page shows what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from benchmarks.cases import case, names
from benchmarks.compare import by_differences, compare
from benchmarks.measure import call_peak
from benchmarks.overheads import _sizes
from benchmarks.scoreboard_page import page
from benchmarks.timing import CLOCKS
from benchmarks.workloads.workload import Workload


def cube(x: Any) -> Any:
    return np.sum(x * x * x)


X = np.linspace(-1.0, 2.0, 7)
CUBE = Workload(key="cube", title="cube", plain=cube, arguments=lambda: (X.copy(),))


def test_differences_find_a_wrong_gradient() -> None:
    assert by_differences(CUBE, [3 * X * X]) < 1e-8
    assert by_differences(CUBE, [3.003 * X * X]) > 1e-4


def test_a_peer_that_is_wrong_is_not_timed() -> None:
    def prepare(workload: Workload, factor: float) -> Any:
        return lambda: (cube(X), factor * X * X)

    peers = {"tracejit": lambda w: prepare(w, 3.0), "JAX": lambda w: prepare(w, 3.1)}
    found = compare(CUBE, rounds=2, batch=1e-4, clock=CLOCKS["cpu"], peers=peers)
    assert set(found.times) == {"tracejit"}
    assert found.failures["JAX"].startswith("wrong by")


def test_every_case_of_the_sample_is_there() -> None:
    sample = list(names(full=False, checkout=None))
    assert set(sample) <= set(names(full=True, checkout=None))
    for name in sample:
        assert case(name).arguments()


def test_the_memory_of_a_call_is_seen() -> None:
    peak = call_peak(lambda: np.ones(8_000_000))  # above malloc's limit: no freed memory serves it
    if peak is None:
        pytest.skip("this system does not tell")
    assert 60e6 < peak < 90e6


def test_the_page_shows_times_ratios_and_failures() -> None:
    steady = {"seconds": {"tracejit": [1e-3, 2e-3, 1e-3], "JAX": [5e-3], "by hand": [4e-3],
                          "by hand, vector math": [2e-3], "tracejit forward": [0.5e-3]},
              "failures": {"PyTorch": "wrong by 1e+00"}}
    found = {"machine": "M", "commit": "abc", "date": "2026-01-01", "minutes": 1, "load": 0.5,
             "full": True,
             "cases": {"workloads/q": {"title": "t", "steady": steady,
                                       "first tracejit": {"first": 0.1, "warm": 0.01, "peak": 2e6},
                                       "first JAX": {"first": 0.2, "warm": 0.02, "peak": 4e6},
                                       "threads": {"ratio": 1.9, "same bits": True, "others": 0.5}},
                       "workloads/r": {"title": "r", "steady": {"error": "> 300 s"}}},
             "gradbench": {"lse gradient n=3": {"tracejit": {"seconds": [1.0, 2e-3], "error": None},
                                                "jax": {"seconds": [1.0, 4e-3], "error": "no"}}}}
    text = page(found)
    row = next(line for line in text.splitlines() if line.startswith("| q: t"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2:] == ["1 ms", "2 ms", "5 ms", "wrong by 1e+00", "0.5", "5", "████████", "2",
                         "100 ms", "200 ms", "10 ms", "20 ms", "2.0 MB", "4.0 MB", "(1.9)"]
    assert "**> 300 s**" in text
    assert "geometric mean 5.00" in text
    assert "| lse gradient n=3 | 2 ms" in text
    assert "wrong or failed" in text


def test_compilations_of_an_earlier_run_are_counted(tmp_path: Path) -> None:
    with tracejit.config(cache=True, cache_dir=str(tmp_path)):
        assert [m.value for _ in range(2) for m in _sizes()] == [1, 1]
