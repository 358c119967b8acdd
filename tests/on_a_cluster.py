"""A script that sums over chunks on a cluster of processes, and prints what it found as JSON."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import tracejit
from tracejit.scale import sums
from tracejit.scale.cluster import DaskWorkers
from tracejit.scale.engines import engine_for

RATE = 2.0


def loss(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return np.sum(np.maximum(z, 0.0) - z * y + np.log1p(np.exp(-np.abs(z)))) * RATE


GRADIENT = tracejit.value_and_grad(loss)
RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(2300, 10)), (RNG.random(2300) < 0.5) * 1.0, RNG.normal(size=10)
ROWS = 100


def bits(result: Any) -> str:
    return "".join(np.asarray(x).tobytes().hex() for x in result)


def run_often(client: Any, workers: int) -> set[str]:
    """Return the bits of twenty steps by some of the workers."""
    class OnSome(DaskWorkers):
        def _addresses(self, lost: set[str]) -> list[str]:
            return super()._addresses(lost)[:workers]

    total = tracejit.sum_over(GRADIENT, on=client, rows=ROWS)
    sums.engine_for = OnSome
    found = {bits(total(W, X, Y)) for _ in range(20)}
    assert total._placed is not None
    assert len(total._placed.engine.posts) == workers
    sums.engine_for = engine_for
    return found


def of_kinds_of_chunks(client: Any) -> dict[str, str]:
    """Return the bits for data of each kind that a client takes."""
    total = tracejit.sum_over(GRADIENT, on=client)
    cuts = list(itertools.pairwise([*range(0, 2300, ROWS), 2300]))
    xs, ys = [X[a:b] for a, b in cuts], [Y[a:b] for a, b in cuts]
    x, y = da.from_array(X, chunks=(ROWS, 3)), da.from_array(Y, chunks=ROWS)
    there = client.persist(x.rechunk((ROWS, 10)))
    wait(there)
    found = {"lists": total(W, xs, ys), "dask": total(W, x, y), "persisted": total(W, there, Y),
             "futures": total(W, client.scatter(xs), [dask.delayed(b) for b in ys]),
             "makers": total(W, [lambda a=a: np.array(a) for a in xs], ys),
             "mixed": total(W, client.scatter(xs), [lambda b=b: b for b in ys])}
    return {name: bits(r) for name, r in found.items()}


def of_functions(client: Any) -> dict[str, list[float]]:
    """Return, by kind of function, its sum and the one that is expected."""
    global RATE
    RATE = 3.0
    shift = np.arange(10.0)
    f = tracejit.sum_over(lambda w, x: np.sum((x - shift) @ w) * RATE, over="x", on=client)
    found = {"lambda": [float(f(W, X)), float(np.sum((X - shift) @ W) * 3.0)]}
    shift[2] = 7.0
    RATE = 2.0
    found["changed"] = [float(f(W, X)), float(np.sum((X - shift) @ W) * 2.0)]
    x = X.copy()
    f(W, x)
    x[5, 5] += 1.0
    found["written"] = [float(f(W, x)), float(np.sum((x - shift) @ W) * 2.0)]
    empty = tracejit.sum_over(GRADIENT, on=client)(W, [X[:0], X, X[:0]], [Y[:0], Y, Y[:0]])
    found["empty"] = [float(empty[0]), float(GRADIENT(W, X, Y)[0])]
    product = tracejit.sum_over(GRADIENT, on=client).hessp(W, W, X, Y)
    found["hessp"] = [float(product[0]), float(tracejit.hessp(loss)(W, W, X, Y)[0])]
    return found


def of_errors(client: Any) -> list[Any]:
    total = tracejit.sum_over(GRADIENT, on=client)
    try:
        total(W, [X, X, X[:, :3], X[:, :2]], [Y] * 4)
    except Exception as e:
        return [type(e).__name__, e.__notes__[-1], float(total(W, [X], [Y])[0])]
    return []


def without_tasks(client: Any, scheduler: Any) -> list[int]:
    """Return how many tasks the scheduler knows before and after steps with long parameters."""
    long = np.ones(1_000_000)
    total = tracejit.sum_over(lambda p, x: (np.sum(x) * p.sum(), p * np.sum(x)), "x", client)
    total(long, [X, Y])
    before = len(scheduler.tasks)
    for _ in range(3):
        total(long, [X, Y])
    return [before, len(scheduler.tasks)]


def threads_of_workers(client: Any) -> list[list[int]]:
    """Return how many threads of ours workers have, by workers with 1 thread of Dask's."""
    f = tracejit.value_and_grad(lambda w, x: np.sum(np.exp(np.sin(x * w))), threads="auto")
    large = np.linspace(0.0, 1.0, 200_000)
    before = client.run(count_threads)
    total = tracejit.sum_over(f, over="x", on=client, rows=100_000)
    for _ in range(3):
        total(1.0, large)
    after = client.run(count_threads)
    return [[before[a], after[a]] for a in before]


def count_threads() -> int:
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


class _SlowX:
    """A maker of a chunk that takes its time, so that its worker can be killed meanwhile."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __call__(self) -> Any:
        time.sleep(0.2)
        return X[self.k * ROWS:(self.k + 1) * ROWS]


def with_killed_workers(client: Any) -> dict[str, list[str]]:
    """Return the bits of steps before and after workers are killed, between steps and in one."""
    x, y = da.from_array(X, chunks=(ROWS, 10)), da.from_array(Y, chunks=ROWS)
    found = {}
    sent = tracejit.sum_over(GRADIENT, on=client, rows=ROWS)
    made = tracejit.sum_over(GRADIENT, on=client)
    before = bits(sent(W, X, Y)), bits(made(W, x, y))
    kill_one(client)
    found["between"] = [before[0], bits(sent(W, X, Y)), bits(sent(W, X, Y))]
    found["dask"] = [before[1], bits(made(W, x, y))]
    makers, ys = [_SlowX(k) for k in range(6)], [Y[k * ROWS:(k + 1) * ROWS] for k in range(6)]
    total = tracejit.sum_over(GRADIENT, on=client)
    before = bits(total(W, makers, ys))
    timer = threading.Timer(0.1, kill_one, [client])
    timer.start()
    found["within"] = [before, bits(total(W, makers, ys)), bits(total(W, makers, ys))]
    timer.join()
    return found


def with_data_lost(client: Any) -> list[str]:
    """Return the errors of two steps after the only copy of some chunks is gone."""
    chunks = client.scatter([X[:50], X[50:100], X[100:150], X[150:200]])
    total = tracejit.sum_over(lambda w, x: np.sum(x) * w, over="x", on=client)
    total(1.0, chunks)
    kill_one(client, next(iter(client.who_has(chunks[0]).values()))[0])
    for _ in range(3000):
        if chunks[0].status != "finished":
            break
        time.sleep(0.01)
    found = []
    for _ in range(2):
        try:
            found.append(str(float(total(1.0, chunks))))
        except Exception as e:
            found.append(type(e).__name__)
    return found


def kill_one(client: Any, address: str = "") -> None:
    """Kill a worker; while another one is being replaced, this may take several tries."""
    for _ in range(100):
        try:
            found = client.run(os.getpid, workers=[address] if address else None)
            os.kill(found[address or min(found)], signal.SIGKILL)
            return
        except (OSError, TypeError, ValueError):
            time.sleep(0.1)
    raise TimeoutError("no worker can be killed")


def main() -> None:
    """Print what was found, by law."""
    found: dict[str, Any] = {"serial": bits(tracejit.sum_over(GRADIENT, rows=ROWS)(W, X, Y)),
                             "whole": [float(GRADIENT(W, X, Y)[0]), GRADIENT(W, X, Y)[1].tolist()]}
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, \
            Client(cluster) as client:
        found["often"] = [sorted(run_often(client, n)) for n in (1, 2, 3)]
        found["kinds"] = of_kinds_of_chunks(client)
        found["functions"] = of_functions(client)
        found["errors"] = of_errors(client)
        found["tasks"] = without_tasks(client, cluster.scheduler)
        found["threads"] = threads_of_workers(client)
        found["numba"] = list(client.run(lambda: "numba" in sys.modules).values())
        found["killed"] = with_killed_workers(client)
        found["lost"] = with_data_lost(client)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
