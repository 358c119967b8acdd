"""From import to first gradient in a fresh process whose compilations are in a cache on disk.

`python -m benchmarks.warm_start [--repeats 9]` writes each workload with each peer into a script,
runs it once to fill that peer's cache, then in fresh processes. A script notes the time after
`import numpy`, so NumPy's own import, which all peers share, is not part of it.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from statistics import median

from benchmarks.table import aligned
from benchmarks.workloads import lotka_volterra, scalar

LIMITS = {"a": 0.08, "g": 0.08, "e": 0.12}
"""Seconds that tracejit may take."""

HEAD = """
import sys
from math import cos, exp, log1p, sin
from time import perf_counter
from typing import Any
import numpy as np
start = perf_counter()
"""
TAIL = """
result = call()
seconds = perf_counter() - start
print(seconds, "numba" in sys.modules, float(np.sum(np.asarray(result[0]))))
"""
PERCEPTRON = '''
def plain(w1, b1, w2, b2, x, y):
    """The cross entropy of a perceptron, 64 x 784-256-10."""
    h = np.maximum(x @ w1 + b1, 0.0)
    z = h @ w2 + b2
    z = z - np.max(z, axis=1)[:, None]
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(z * y, axis=1))
'''
ARGUMENTS = {
    "a": "(0.7,)",
    "g": "(np.array([1.5, 1.0, 3.0, 1.0, 1.2, 0.8]), 1000, 0.01)",
    "e": "(lambda r: (r.normal(size=(784, 256)) * 0.05, np.zeros(256), r.normal(size=(256, 10)) "
         "* 0.05, np.zeros(10), r.normal(size=(64, 784)), np.eye(10)[r.integers(0, 10, 64)]))("
         "np.random.default_rng(0))",
}
TITLES = {"a": "a scalar function", "g": "g Lotka–Volterra, 1000 steps", "e": "e perceptron"}


def _plain(key: str) -> str:
    if key == "e":
        return PERCEPTRON
    return inspect.getsource({"a": scalar, "g": lotka_volterra}[key].plain)


def scripts(key: str) -> dict[str, str]:
    """Return, per peer, the text of a program that computes one value and gradient."""
    argnums = "(0, 1, 2, 3)" if key == "e" else "0"
    found = {"tracejit": f"{HEAD}import tracejit\n{_plain(key)}\n"
                         f"gradient = tracejit.value_and_grad(plain, argnums={argnums})\n"
                         f"args = {ARGUMENTS[key]}\ncall = lambda: gradient(*args)\n{TAIL}"}
    if key != "e":  # Numba's cache is for the adjoint that was written by hand
        module = {"a": scalar, "g": lotka_volterra}[key]
        hand = inspect.getsource(module.hand.py_func).replace(
            "numba.njit(", "numba.njit(cache=True, ")
        found["Numba, by hand"] = (f"{HEAD}import numba\n{hand}\nargs = {ARGUMENTS[key]}\n"
                                   f"call = lambda: hand(*args)\n{TAIL}")
    form = _plain(key).replace("np.", "jnp.")
    static = ""
    if key == "g":
        form = inspect.getsource(lotka_volterra.in_jax)
        form += "\ndef plain(p, steps, h):\n    return in_jax(jax, p, steps, h)\n"
        static = ", static_argnums=1"
    found["JAX"] = (
        f"{HEAD}import jax\nimport jax.numpy as jnp\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "jax.config.update('jax_compilation_cache_dir', CACHE)\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        f"{form}\ngradient = jax.jit(jax.value_and_grad(plain, {argnums}){static})\n"
        f"args = {ARGUMENTS[key]}\ncall = lambda: jax.block_until_ready(gradient(*args))\n{TAIL}")
    return found


def measure(key: str, repeats: int) -> dict[str, tuple[float, bool]]:
    """Return, per peer, the median of its seconds and whether Numba was imported."""
    found = {}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment = {**inherited, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": f"{folder}/ours",
                       "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1",
                       "PYTHONPATH": str(Path(__file__).parents[1])}
        programs = {}
        for peer, text in scripts(key).items():
            path = Path(folder) / f"{peer.split()[0].strip(',').lower()}_{key}.py"
            path.write_text(textwrap.dedent(text).replace("CACHE)", f"{folder + '/jax'!r})"))
            programs[peer] = path
        times: dict[str, list[float]] = {peer: [] for peer in programs}
        for k in range(repeats + 1):  # the first run fills the caches
            for peer, path in programs.items():
                done = subprocess.run([sys.executable, str(path)], env=environment, text=True,
                                      capture_output=True, check=True)
                seconds, numba, value = done.stdout.split()
                results.append(float(value))
                if k:
                    times[peer].append(float(seconds))
                    found[peer] = (median(times[peer]), numba == "True")
    assert max(results) - min(results) <= 1e-8 * max(1.0, abs(results[0])), results
    return found


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.warm_start", description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    rows = [["workload", "peer", "ms", "limit", "imports Numba"]]
    for key in LIMITS:
        for peer, (seconds, numba) in measure(key, options.repeats).items():
            limit = f"{1e3 * LIMITS[key]:.0f}" if peer == "tracejit" else ""
            rows.append([TITLES[key], peer, f"{1e3 * seconds:.1f}", limit,
                         "yes" if numba else "no"])
    print(aligned(rows))


if __name__ == "__main__":
    main()
