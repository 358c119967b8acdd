"""What a call of a gradient costs in `@njit` code: python -m benchmarks.njit_calls [--rounds N].

Each gradient is called in a loop of a million, as is the derivative written by hand, which Numba
inlines; the loops take turns on one core, and the numbers are medians. In the first loop the
calls follow from one another, in the second LLVM may do what it likes: there an inlined derivative
is vectorised, and so is an inlined call.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit

import tracejit

CALLS = 1_000_000


def _polynomial(x: Any) -> Any:
    return x * x * x - 2.0 * x


@njit
def _polynomial_slope(x: Any) -> Any:
    return 3.0 * x * x - 2.0


def _wave(x: Any) -> Any:
    return math.exp(-x) * math.sin(x)


@njit
def _wave_slope(x: Any) -> Any:
    return math.exp(-x) * (math.cos(x) - math.sin(x))


def _root(a: Any) -> Any:
    x = a
    for _ in range(5):
        x = 0.5 * (x + a / x)
    return x


@njit
def _root_slope(a: Any) -> Any:
    """The same arithmetic as in the way back of the loop above, unrolled."""
    x0 = a
    x1 = 0.5 * (x0 + a / x0)
    x2 = 0.5 * (x1 + a / x1)
    x3 = 0.5 * (x2 + a / x2)
    x4 = 0.5 * (x3 + a / x3)
    x_bar, a_bar = 1.0, 0.0
    for x in (x4, x3, x2, x1, x0):
        half = 0.5 * x_bar
        a_bar += half * (1.0 / x)
        x_bar = half - half * (a / x / x)
    return a_bar + x_bar


CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "x³ - 2x": (_polynomial, _polynomial_slope),
    "exp(-x) sin(x)": (_wave, _wave_slope),
    "five steps of Newton": (_root, _root_slope),
}


def _chain(slope: Any) -> Any:
    @njit
    def chain(count: int) -> float:
        x = 1.0
        for _ in range(count):
            x = 1.0 + 1e-3 * slope(x)
        return x

    return chain


def _sums(slope: Any) -> Any:
    @njit
    def sums(count: int) -> float:
        total = 0.0
        for i in range(count):
            total += slope(1.0 + 1e-6 * i)
        return total

    return sums


def _nanoseconds(loop: Any) -> float:
    start = perf_counter()
    loop(CALLS)
    return (perf_counter() - start) * 1e9 / CALLS


def main() -> None:
    """Print nanoseconds per call by hand and by tracejit, and the difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{'ns per call':24}{'loop':10}{'by hand':>10}{'tracejit':>10}{'more':>8}")
    for name, (fn, by_hand) in CASES.items():
        for kind, make in (("chain", _chain), ("sums", _sums)):
            loops = [make(by_hand), make(tracejit.grad(fn))]
            results = [loop(CALLS) for loop in loops]
            np.testing.assert_allclose(*results, rtol=1e-9)
            times = np.array([[_nanoseconds(loop) for loop in loops] for _ in range(rounds)])
            hand, ours = np.median(times, axis=0)
            more = median(times[:, 1] - times[:, 0])
            print(f"{name:24}{kind:10}{hand:10.2f}{ours:10.2f}{more:8.2f}")


if __name__ == "__main__":
    main()
