"""A likelihood of more rows than memory holds: chunks are made at every step, and dropped.

    python -m examples.billion_rows                    # 2 million rows, two processes
    python -m examples.billion_rows 1000000000 8       # as many as you like, eight processes
    python -m examples.billion_rows rows.parquet       # rows of a file, if pyarrow is installed

Rows are events, by an exponential law with a rate that depends on three covariates; some are
censored. A chunk is an array of five columns. The same steps by NumPy workers, whose gradient is
written by hand, are there for comparison.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy.optimize

import tracejit

CHUNK = 100_000
"""Rows that are in a worker's memory at a time: 4 MB."""
TRUE = np.array([-0.5, 1.0, -0.3, 0.2])


def loss(w: Any, rows: Any) -> Any:
    """Return the negative log-likelihood; w (4,), rows (5, n): time, whether it ended, a, b, c."""
    time, ended, a, b, c = rows
    log_rate = w[0] + w[1] * a + w[2] * b + w[3] * c
    return np.sum(np.exp(log_rate) * time - ended * log_rate)


def by_hand(w: np.ndarray, rows: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return value and gradient as they are written in NumPy."""
    time, ended, z = rows[0], rows[1], rows[2:]
    log_rate = w[0] + w[1:] @ z
    expected = np.exp(log_rate) * time
    residual = expected - ended
    return np.sum(expected - ended * log_rate), np.concatenate(([residual.sum()], z @ residual))


def generated(number: int, rows: int) -> np.ndarray:
    """Return a chunk of rows, the same ones for a number everywhere."""
    rng = np.random.default_rng(number)
    z = rng.normal(size=(3, rows))
    time = rng.exponential(np.exp(-TRUE[0] - TRUE[1:] @ z))
    end = rng.exponential(3.0, size=rows)
    return np.vstack([np.minimum(time, end), time <= end, z])


def of_parquet(path: str, group: int) -> np.ndarray:
    """Return a row group of a file as a chunk."""
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(path).read_row_group(group)
    return np.vstack([column.to_numpy() for column in table.columns])


def chunks_of(what: str) -> list[Callable[[], np.ndarray]]:
    """Return functions that make the chunks of so many rows, or of a file."""
    if what.endswith(".parquet"):
        import pyarrow.parquet

        groups = pyarrow.parquet.ParquetFile(what).num_row_groups
        return [partial(of_parquet, what, k) for k in range(groups)]
    rows = int(what)
    return [partial(generated, k, min(CHUNK, rows - start))
            for k, start in enumerate(range(0, rows, CHUNK))]


def one_chunk(w: np.ndarray, make: Callable[[], np.ndarray]) -> tuple[Any, np.ndarray]:
    """Return value and gradient by hand, for a pool."""
    return by_hand(w, make())


def by_numpy(pool: Executor, w: np.ndarray, makers: list[Callable[[], np.ndarray]]) -> Any:
    """Return value and gradient of all chunks by NumPy's workers."""
    found = list(pool.map(partial(one_chunk, w), makers, chunksize=max(1, len(makers) // 8)))
    return sum(v for v, _ in found), sum(s for _, s in found)


def best_times(*works: Callable[[], Any]) -> list[float]:
    """Return the best of three times of each of some works, which take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(3):
        for work, taken in zip(works, times, strict=True):
            start = perf_counter()
            work()
            taken.append(perf_counter() - start)
    return [min(taken) for taken in times]


def main() -> None:
    """Fit the rates, and compare the time of a step with NumPy's."""
    what, *rest = sys.argv[1:] or ["2000000"]
    workers = int(rest[0]) if rest else len(os.sched_getaffinity(0))
    makers, w = chunks_of(what), np.zeros(4)
    with ProcessPoolExecutor(workers) as pool:
        total = tracejit.sum_over(tracejit.value_and_grad(loss), over="rows", on=pool)
        count = tracejit.sum_over(lambda rows: rows.shape[1], over="rows", on=pool)(makers)
        value, slope = total(w, makers)  # compiles
        expected, by_numpys = by_numpy(pool, w, makers)
        np.testing.assert_allclose(slope, by_numpys, rtol=1e-9)
        np.testing.assert_allclose(value, expected, rtol=1e-11)
        mine, theirs = best_times(lambda: total(w, makers), lambda: by_numpy(pool, w, makers))
        one = makers[0]()
        alone, by_hand_alone, making = best_times(
            lambda: total.__wrapped__(w, one), lambda: by_hand(w, one), makers[0])
        fit = scipy.optimize.minimize(total, w, args=(makers,), jac=True, method="L-BFGS-B")
    print(f"{count} rows in {len(makers)} chunks by {workers} processes, in millions of rows a "
          f"second: {count / mine / 1e6:.1f}, NumPy by hand {count / theirs / 1e6:.1f}")
    alone, by_hand_alone, making = (x / one.shape[1] * 1e9 for x in (alone, by_hand_alone, making))
    print(f"one chunk, ns a row: value and gradient {alone:.1f}, by hand {by_hand_alone:.1f}, "
          f"making the row {making:.1f}")
    print(f"a step of a billion rows on these processes would take {1e9 / count * mine:.0f} s")
    print(f"{fit.nfev} steps; found {np.round(fit.x, 3)}, made by {TRUE}")


if __name__ == "__main__":
    main()
