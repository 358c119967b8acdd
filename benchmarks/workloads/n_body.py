"""h: the potential energy of 256 bodies, by their places."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload

SOFTENING = 1e-2


def plain(r: Any, m: Any) -> Any:
    d = r[:, None, :] - r[None, :, :]
    squares = np.sum(d * d, axis=2) + SOFTENING
    return -0.5 * np.sum(m[:, None] * m[None, :] / np.sqrt(squares))


@numba.njit(error_model="numpy")
def hand(r: Any, m: Any) -> Any:
    n = len(m)
    energy = 0.0
    r_bar = np.empty((n, 3))
    for i in range(n):
        x = y = z = 0.0
        for j in range(n):
            a = r[i, 0] - r[j, 0]
            b = r[i, 1] - r[j, 1]
            c = r[i, 2] - r[j, 2]
            inverse = 1 / (a * a + b * b + c * c + SOFTENING)
            w = m[i] * m[j] * sqrt(inverse)
            energy += w
            w *= inverse
            x += w * a
            y += w * b
            z += w * c
        r_bar[i, 0] = x
        r_bar[i, 1] = y
        r_bar[i, 2] = z
    return -0.5 * energy, r_bar


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    return r.normal(size=(256, 3)), r.uniform(0.5, 1.5, 256)


WORKLOAD = Workload(key="h", title="N-body energy, 256", plain=plain, arguments=arguments,
                    hand=hand, at_least=1, at_most=1.15)
