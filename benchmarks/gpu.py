"""The command `python -m benchmarks.gpu`: checks and times programs on a GPU, prints one table.

Elementwise workloads are set against the bandwidth of a copy, measured in the same run; arrays lie
on the device already, so that only kernels and what the host does per call are timed. Peers are
JAX and `torch.compile` on the same device, where they are installed with CUDA.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import tracejit
from benchmarks.workloads import chain, lotka_volterra
from benchmarks.workloads.workload import with_names

ROUNDS = 7
SMALL = 1000
"""Elements with which gradients are compared with those on the CPU before anything is timed."""


def cubes(x: Any) -> Any:
    return np.sum(x * x * x)


@dataclass(frozen=True)
class Case:
    """A function of an array and its gradient.

    moved -- how many times a value-and-gradient has to read or write the array, at the least
    """

    key: str
    title: str
    plain: Callable[..., Any]
    moved: int = 2


CASES = (Case("c", "10 transcendentals", chain.plain), Case("i", "sum of cubes", cubes))


def median_time(run: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Return the median time of a call, in seconds, after one that is not counted."""
    run()
    wait()
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        run()
        wait()
        times.append(perf_counter() - start)
    return statistics.median(times)


def copy_bandwidth(count: int, dtype: Any) -> float:
    """Return the bytes per second that a copy within the device reads and writes."""
    from numba import cuda

    x, y = cuda.device_array(count, dtype), cuda.device_array(count, dtype)
    seconds = median_time(lambda: y.copy_to_device(x), cuda.synchronize)
    return 2 * count * np.dtype(dtype).itemsize / seconds


def relative_error(found: Any, expected: Any) -> float:
    """Return the largest error relative to the largest element."""
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / max(1e-30, float(np.max(np.abs(expected)))))


def check(fn: Callable[..., Any], on_device: Any, on_cpu: Any, args: tuple[Any, ...],
          tolerance: float) -> None:
    """Raise `AssertionError` where the device's gradient is not the CPU's."""
    for x, y in zip(on_device(*args), on_cpu(*args), strict=True):
        error = relative_error(x, y)
        assert error < tolerance, f"{fn.__name__}: relative error {error:.1e}"


def in_jax(fn: Callable[..., Any], x: np.ndarray) -> Callable[[], Any] | None:
    """Return a call of JAX's value and gradient on the device; None where there is none."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        return None
    compiled = jax.jit(jax.value_and_grad(with_names(fn, np=jax.numpy)))
    given = jax.device_put(x)
    return lambda: jax.block_until_ready(compiled(given))


def in_torch(fn: Callable[..., Any], x: np.ndarray) -> Callable[[], Any] | None:
    """Return a call of PyTorch's compiled value and gradient; None where there is no GPU for it."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    given = torch.from_numpy(x).cuda().requires_grad_()
    forward = torch.compile(with_names(fn, np=torch))

    def run() -> Any:
        given.grad = None
        value = forward(given)
        value.backward()
        torch.cuda.synchronize()
        return value, given.grad

    return run


def ratio(peer: Callable[[], Any] | None, own: float) -> str:
    """Return how many times as long a peer takes."""
    if peer is None:
        return "-"
    try:
        return f"{median_time(peer, lambda: None) / own:.2f}"
    except Exception as e:  # one peer that fails does not end the run
        return type(e).__name__


def elementwise_rows(count: int) -> Iterator[list[str]]:
    """Yield, per workload and dtype, its time, its share of the copy bandwidth, and ratios."""
    from numba import cuda

    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
        bandwidth = copy_bandwidth(count, dtype)
        for case in CASES:
            on_device = tracejit.value_and_grad(case.plain, target="cuda")
            rng = np.random.default_rng(0)
            small = rng.uniform(-2, 2, SMALL).astype(dtype)
            check(case.plain, on_device, tracejit.value_and_grad(case.plain), (small,), tolerance)
            x = rng.uniform(-2, 2, count).astype(dtype)
            there = cuda.to_device(x)
            own = median_time(lambda f=on_device, x=there: f(x), cuda.synchronize)  # type: ignore
            share = case.moved * count * np.dtype(dtype).itemsize / own / bandwidth
            yield [f"{case.key}: {case.title}", np.dtype(dtype).name, f"{1e3 * own:.3f} ms",
                   f"{share:.0%}", ratio(in_jax(case.plain, x), own),
                   ratio(in_torch(case.plain, x), own)]
            del there


def ode_row(count: int) -> list[str]:
    """Return the row of gradients of an ordinary differential equation, one per thread."""
    from numba import cuda

    steps, h = 1000, 0.01
    fn = lotka_volterra.plain

    def per_element(target: str) -> Any:
        return tracejit.vmap(tracejit.value_and_grad(fn), in_axes=(0, None, None), target=target)

    on_device = per_element("cuda")
    p = np.array([1.1, 0.4, 0.1, 0.4, 1.0, 1.0]) * np.random.default_rng(0).uniform(
        0.9, 1.1, (count, 6))
    check(fn, on_device, per_element("cpu"), (p[:64], steps, h), 1e-8)
    there = cuda.to_device(p)
    own = median_time(lambda: on_device(there, steps, h), cuda.synchronize)
    return [f"g: Lotka-Volterra, {count:.0e} elements", "float64", f"{1e3 * own:.1f} ms", "-",
            ratio(_ode_in_jax(p, steps, h), own), "-"]


def _ode_in_jax(p: np.ndarray, steps: int, h: float) -> Callable[[], Any] | None:
    try:
        import jax
    except ImportError:
        return None
    if jax.default_backend() != "gpu":
        return None
    one = jax.value_and_grad(lambda q: lotka_volterra.in_jax(jax, q, steps, h))
    compiled, given = jax.jit(jax.vmap(one)), jax.device_put(p)
    return lambda: jax.block_until_ready(compiled(given))


def main() -> int:
    """Check and time everything; return 1 where there is no device."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--elements", type=float, default=1e8, help="of elementwise workloads")
    parser.add_argument("--systems", type=float, default=1e6, help="initial values of the equation")
    given = parser.parse_args()
    try:
        tracejit.grad(cubes, target="cuda")(np.ones(3))
    except tracejit.DeviceError as e:
        print(e, file=sys.stderr)
        return 1
    head = ["workload", "dtype", "time", "of copy bandwidth", "JAX / tracejit", "torch / tracejit"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for row in elementwise_rows(int(given.elements)):
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"| {' | '.join(ode_row(int(given.systems)))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
