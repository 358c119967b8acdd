"""Calls of libraries: `taskset -c 0 python -m benchmarks.library_calls`, where JAX is installed.

Transforms, systems, eigenvectors and a special function, each value and gradient in one call:
tracejit's time, JAX's, and NumPy's or SciPy's for the value alone, interleaved, on one core: the
process's own time. The numbers are compared first. A row is right where tracejit takes no longer
than JAX, and no longer than four values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import tracejit
from benchmarks.threads import busy_share
from benchmarks.timing import CLOCKS, interleave

__all__ = ["main"]


class Case(NamedTuple):
    """A loss of modules: of NumPy's and SciPy's, or of JAX's in their place."""

    loss: Callable[..., Any]
    args: tuple[np.ndarray, ...]


def spectrum(np: Any, special: Any, x: Any, w: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * w)


def systems(np: Any, special: Any, a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) ** 2)


def eigenvectors(np: Any, special: Any, a: Any, w: Any) -> Any:
    values, vectors = np.linalg.eigh(0.5 * (a + np.swapaxes(a, 1, 2)))  # (JAX's slopes are, too)
    return np.sum(values * w) + np.sum(vectors ** 2 * w[:, None, :])


def gammas(np: Any, special: Any, x: Any) -> Any:
    return np.sum(special.gammaln(x))


def cases() -> dict[str, Case]:
    """Return the losses and their arguments, by name."""
    r = np.random.default_rng(0)
    a = r.normal(size=(10_000, 6, 6))
    return {
        "fft of 2^20": Case(spectrum, (r.normal(size=2 ** 20), r.uniform(size=2 ** 20))),
        "fft of 1 000 x 1 024": Case(
            spectrum, (r.normal(size=(1000, 1024)), r.uniform(size=(1000, 1024)))),
        "solve of 10 000 x 6 x 6": Case(systems, (a + 6.0 * np.eye(6), r.normal(
            size=(10_000, 6, 1)))),
        "eigh of 10 000 x 6 x 6": Case(eigenvectors, (a + np.swapaxes(a, 1, 2), r.normal(
            size=(10_000, 6)))),
        "gammaln of 1e6": Case(gammas, (r.uniform(0.1, 30.0, 1_000_000),))}


def _of_jax(case: Case) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp
    from jax.scipy import special

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call, unused-ignore]
    both = jax.jit(jax.value_and_grad(partial(case.loss, jnp, special)))
    given = tuple(map(jnp.asarray, case.args))
    return lambda: jax.block_until_ready(both(*given))


def _row(name: str, case: Case, rounds: int) -> str:
    from scipy import special

    plain = partial(case.loss, np, special)
    own = tracejit.value_and_grad(lambda *args: case.loss(np, special, *args))
    calls = {"own": lambda: own(*case.args), "JAX": _of_jax(case),
             "NumPy": lambda: plain(*case.args)}
    value, slopes = calls["JAX"]()
    found = calls["own"]()
    np.testing.assert_allclose(found[0], value, rtol=1e-9)
    np.testing.assert_allclose(found[1], slopes, rtol=1e-6, atol=1e-6 * float(abs(slopes).max()))
    before = busy_share(0.2)
    times = interleave(calls, {}, rounds=rounds, batch=0.05, clock=CLOCKS["cpu"])
    mine, theirs, once = (median(times[key]) * 1e3 for key in calls)
    busy = max(before, busy_share(0.2))
    ratios = f"{theirs / mine:5.2f} {4.0 * once / mine:5.2f}"
    return (f"{name:26} {mine:9.2f} {theirs:9.2f} {once:9.2f}   {ratios}"
            f"{f'   ({busy:.0%} busy)' if busy > 0.05 else ''}")


def main(rounds: int = 9) -> None:
    """Print a row for each case: milliseconds, and by how much tracejit is below each bound."""
    print(f"{'':26} {'tracejit':>9} {'JAX':>9} {'value':>9}   JAX / tracejit, 4 values / tracejit")
    for name, case in cases().items():
        print(_row(name, case, rounds), flush=True)


if __name__ == "__main__":
    main()
