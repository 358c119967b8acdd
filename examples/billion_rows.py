"""A likelihood of more rows than memory holds: chunks are made at every step, and dropped.

    python -m examples.billion_rows                    # 2 million rows, two processes
    python -m examples.billion_rows 1000000000 8       # as many as you like, eight processes
    python -m examples.billion_rows rows.parquet       # rows of a file, if pyarrow is installed

Rows are events, by an exponential law with a rate that depends on three columns; some are censored.
The same steps by NumPy workers, whose gradient is written by hand, are there for comparison.
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
    """Return the negative log-likelihood; w (4,), rows (n, 5): time, whether it ended, columns."""
    time, ended = rows[:, 0], rows[:, 1]
    log_rate = w[0] + rows[:, 2:] @ w[1:]
    return np.sum(np.exp(log_rate) * time - ended * log_rate)


def by_hand(w: np.ndarray, rows: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return value and gradient as they are written in NumPy."""
    time, ended, z = rows[:, 0], rows[:, 1], rows[:, 2:]
    log_rate = w[0] + z @ w[1:]
    expected = np.exp(log_rate) * time
    residual = expected - ended
    return np.sum(expected - ended * log_rate), np.concatenate(([residual.sum()], residual @ z))


def generated(number: int, rows: int) -> np.ndarray:
    """Return a chunk of rows, the same ones for a number everywhere."""
    rng = np.random.default_rng(number)
    z = rng.normal(size=(rows, 3))
    time = rng.exponential(np.exp(-TRUE[0] - z @ TRUE[1:]))
    end = rng.exponential(3.0, size=rows)
    return np.column_stack([np.minimum(time, end), time <= end, z])


def of_parquet(path: str, group: int) -> np.ndarray:
    """Return a row group of a file as a chunk."""
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(path).read_row_group(group)
    return np.column_stack([column.to_numpy() for column in table.columns])


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


def timed(f: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the better of two times."""
    times = []
    for _ in range(2):
        start = perf_counter()
        result = f()
        times.append(perf_counter() - start)
    return result, min(times)


def main() -> None:
    """Fit the rates, and compare the time of a step with NumPy's."""
    what, *rest = sys.argv[1:] or ["2000000"]
    workers = int(rest[0]) if rest else len(os.sched_getaffinity(0))
    makers = chunks_of(what)
    with ProcessPoolExecutor(workers) as pool:
        total = tracejit.sum_over(tracejit.value_and_grad(loss), over="rows", on=pool)
        count = tracejit.sum_over(lambda rows: len(rows), over="rows", on=pool)(makers)
        w = np.zeros(4)
        total(w, makers)  # compiles
        (value, slope), mine = timed(lambda: total(w, makers))
        (expected, by_numpys), theirs = timed(lambda: by_numpy(pool, w, makers))
        np.testing.assert_allclose(slope, by_numpys, rtol=1e-9)
        np.testing.assert_allclose(value, expected, rtol=1e-11)
        _, making = timed(lambda: tracejit.sum_over(
            lambda rows: rows[0, 0], over="rows", on=pool)(makers))
        fit = scipy.optimize.minimize(total, w, args=(makers,), jac=True, method="L-BFGS-B")
    print(f"{count} rows in {len(makers)} chunks by {workers} processes: a step takes "
          f"{mine:.2f} s, {count / mine / 1e6:.1f} million rows a second; NumPy by hand "
          f"{theirs:.2f} s, {count / theirs / 1e6:.1f} million; to make the rows and no more takes "
          f"{making:.2f} s")
    print(f"a step of a billion rows on these processes would take {1e9 / count * mine:.0f} s")
    print(f"{fit.nfev} steps; found {np.round(fit.x, 3)}, made by {TRUE}")


if __name__ == "__main__":
    main()
