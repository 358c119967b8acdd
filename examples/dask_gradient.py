"""A gradient over more data than memory: Dask workers that compile nothing which is in the store.

    python -m examples.dask_gradient                # 2 million rows in 20 chunks
    python -m examples.dask_gradient 2000000000     # as many as you like: chunks come and go

Each worker makes one chunk at a time, and sums values and gradients of a logistic regression.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import numpy as np

import tracejit

COLUMNS = 8
CHUNK = 100_000
"""Rows that are in a worker's memory at a time: 7 MB."""


@tracejit.value_and_grad
def loss(w: Any, x: Any, y: Any) -> Any:
    """Return the negative log-likelihood of labels 0 and 1; w (8,), x (n, 8), y (n,)."""
    z = x @ w
    return np.sum(np.maximum(z, 0.0) - z * y + np.log1p(np.exp(-np.abs(z))))


def chunk(number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of data, the same ones for a number everywhere."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(rows, COLUMNS))
    y = rng.random(rows) < 1.0 / (1.0 + np.exp(-x @ np.linspace(-1.0, 1.0, COLUMNS)))
    return x, y.astype(np.float64)


def of_chunk(gradient: Any, w: np.ndarray, number: int, rows: int) -> tuple[Any, Any, bool]:
    """Return value and gradient of one chunk, and whether this process has imported Numba."""
    value, slope = gradient(w, *chunk(number, rows))
    return value, slope, "numba" in sys.modules


def total(client: Any, w: np.ndarray, rows: int) -> tuple[float, np.ndarray, int]:
    """Return value and gradient over all rows, and how many chunks met a process with Numba."""
    sizes = [min(CHUNK, rows - start) for start in range(0, rows, CHUNK)]
    tasks = client.map(of_chunk, [loss] * len(sizes), [w] * len(sizes), range(len(sizes)), sizes)
    value, slope, compiled = 0.0, np.zeros(COLUMNS), 0
    for v, s, numba in client.gather(tasks):
        value, slope, compiled = value + v, slope + s, compiled + numba
    return float(value), slope, compiled


def main() -> None:
    """Fit by gradient descent on a local cluster of two processes."""
    from distributed import Client, LocalCluster

    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    w = np.zeros(COLUMNS)
    loss.warmup(("f64[n]", "f64[m, n]", "f64[m]"))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            Client(cluster) as client:
        for step in range(5):
            start = perf_counter()
            value, slope, compiled = total(client, w, rows)
            w -= 4.0 * slope / rows
            print(f"step {step}: loss {value / rows:.5f} a row, {rows} rows in "
                  f"{perf_counter() - start:.2f} s, {compiled} chunks in processes with Numba")
    print("weights", np.round(w, 3))


if __name__ == "__main__":
    main()
