"""n: Kepler's equation for 1000 orbits by Newton's method, until it converges."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload, with_names

TOLERANCE = 1e-10
TRIPS = 20  # of the bounded loops of peers that cannot reverse a `while`


def plain(e: Any, M: Any) -> Any:
    total = 0.0
    for i in range(len(M)):
        E = M[i]
        while True:
            step = (E - e[i] * np.sin(E) - M[i]) / (1 - e[i] * np.cos(E))
            E = E - step
            if abs(step) < 1e-10:
                break
        total += np.sin(E) ** 2 + E * e[i]
    return total


def over_arrays(e: Any, M: Any) -> Any:
    """All orbits at once: the form for peers that pay for every operation."""
    E = M
    while True:
        step = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - step
        if np.max(np.abs(step)) < 1e-10:
            break
    return np.sum(np.sin(E) ** 2 + E * e)


@numba.njit(error_model="numpy")
def hand(e: Any, M: Any) -> Any:
    """All orbits in step, the iterates on a tape that grows."""
    n = e.size
    room = 16
    tape = np.empty((room, n))
    trips = 0
    E = M.copy()
    while True:
        largest = 0.0
        if trips == room:
            larger = np.empty((2 * room, n))
            larger[:room] = tape
            tape = larger
            room *= 2
        for i in range(n):
            Ei = E[i]
            tape[trips, i] = Ei
            step = (Ei - e[i] * sin(Ei) - M[i]) / (1 - e[i] * cos(Ei))
            E[i] = Ei - step
            largest = max(largest, abs(step))
        trips += 1
        if largest < 1e-10:
            break
    value = 0.0
    e_bar = np.empty(n)
    M_bar = np.zeros(n)
    E_bar = np.empty(n)
    for i in range(n):
        s = sin(E[i])
        value += s * s + E[i] * e[i]
        e_bar[i] = E[i]
        E_bar[i] = 2 * s * cos(E[i]) + e[i]
    for t in range(trips - 1, -1, -1):
        for i in range(n):
            Ei = tape[t, i]
            s = sin(Ei)
            c = cos(Ei)
            slope = 1 - e[i] * c
            D = 1 / slope
            step = (Ei - e[i] * s - M[i]) * D
            b = E_bar[i]
            M_bar[i] += b * D
            e_bar[i] += b * (s * D - step * D * c)
            E_bar[i] = b - b * slope * D + b * step * D * e[i] * s
    for i in range(n):
        M_bar[i] += E_bar[i]
    return value, e_bar, M_bar


def in_jax(jax: Any, e: Any, M: Any) -> Any:
    jnp = jax.numpy

    def trip(state: Any, _: Any) -> Any:
        E, active = state
        step = (E - e * jnp.sin(E) - M) / (1 - e * jnp.cos(E))
        E = jnp.where(active, E - step, E)
        return (E, active & (jnp.max(jnp.abs(step)) >= TOLERANCE)), None

    E = jax.lax.scan(trip, (M, True), None, length=TRIPS)[0][0]
    return jnp.sum(jnp.sin(E) ** 2 + E * e)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    return r.uniform(0.1, 0.8, 1000), r.uniform(0.1, 3.0, 1000)


def in_torch(torch: Any, e: Any, M: Any) -> Any:
    return with_names(over_arrays, np=torch)(e, M)


def in_autograd(autograd: Any, e: Any, M: Any) -> Any:
    return with_names(over_arrays, np=autograd.numpy)(e, M)


WORKLOADS = (
    Workload(key="n", title="Kepler by Newton, n=1000", plain=plain, arguments=arguments,
             argnums=(0, 1), hand=hand,
             forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd},
             at_least=6, at_most=1.2),
    Workload(key="n-arrays", title="the same over arrays", plain=over_arrays, arguments=arguments,
             argnums=(0, 1), hand=hand, forms={"JAX": in_jax}),
)
