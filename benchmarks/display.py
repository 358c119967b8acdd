"""How long a program takes to show itself: `python -m benchmarks.display`.

Chains of operations whose gradients have 60 and 2 000 equations, lowered; the pages have all parts
but those on request.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

import tracejit
from tracejit.ir.walk import all_eqns

REPEATS = 7
LIMITS = {60: 0.05, 2000: 1.0}
"""Seconds that the page of a program of so many equations may take."""


def chain(steps: int) -> Any:
    """Return the gradient of a chain, lowered."""
    factors = [1.0 + 0.01 * k for k in range(steps)]

    def f(x: Any) -> Any:
        for k in factors:
            x = np.sin(x) * k + np.exp(-x)
        return np.sum(x)

    return tracejit.grad(f).trace("f64[n]").lower()


def main() -> None:
    """Print the median time of a page, and its size, beside the limits."""
    for steps, (count, limit) in zip((6, 182), LIMITS.items(), strict=True):
        lowered = chain(steps)
        times = []
        for _ in range(REPEATS):
            start = perf_counter()
            page = lowered._repr_html_()
            times.append(perf_counter() - start)
        equations = sum(1 for _ in all_eqns(lowered.graph.block))
        print(f"{equations} equations (asked: {count}): {1e3 * statistics.median(times):.0f} ms "
              f"(limit {1e3 * limit:.0f}), {len(page) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
