"""m: soft dynamic time warping of two series of 200, by writes of single elements."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload

FAR = 1e10


def plain(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]
            low = min(a, b, c)
            soft = low - np.log(np.exp(low - a) + np.exp(low - b) + np.exp(low - c))
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return r[n, m]


@numba.njit(error_model="numpy")
def hand(x: Any, y: Any) -> Any:
    n = x.size
    m = y.size
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    share = np.empty((n + 1, m + 1, 3))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a = r[i - 1, j - 1]
            b = r[i - 1, j]
            c = r[i, j - 1]
            low = min(a, min(b, c))
            ea = exp(low - a)
            eb = exp(low - b)
            ec = exp(low - c)
            s = ea + eb + ec
            share[i, j, 0] = ea / s
            share[i, j, 1] = eb / s
            share[i, j, 2] = ec / s
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + low - log(s)
    r_bar = np.zeros((n + 1, m + 1))
    r_bar[n, m] = 1.0
    x_bar = np.zeros(n)
    for i in range(n, 0, -1):
        for j in range(m, 0, -1):
            e = r_bar[i, j]
            x_bar[i - 1] += 2 * (x[i - 1] - y[j - 1]) * e
            r_bar[i - 1, j - 1] += share[i, j, 0] * e
            r_bar[i - 1, j] += share[i, j, 1] * e
            r_bar[i, j - 1] += share[i, j, 2] * e
    return r[n, m], x_bar


def in_jax(jax: Any, x: Any, y: Any) -> Any:
    """Scan the anti-diagonals: all elements of one depend only on the two before it."""
    jnp = jax.numpy
    n, m = len(x), len(y)
    i = jnp.arange(n + 1)
    # On diagonal k, row i meets y[k - i - 1]: a window on y reversed, moving by one each time.
    windows = jnp.concatenate([jnp.zeros(n), y[::-1], jnp.zeros(n + 1)])

    def step(state: Any, k: Any) -> Any:
        before, last = state
        window = jax.lax.dynamic_slice(windows, (n + m - k,), (n + 1,))
        up = jnp.concatenate([jnp.full(1, FAR), last[:-1]])
        corner = jnp.concatenate([jnp.full(1, FAR), before[:-1]])
        low = jnp.minimum(corner, jnp.minimum(up, last))
        soft = low - jnp.log(jnp.exp(low - corner) + jnp.exp(low - up) + jnp.exp(low - last))
        cost = (jnp.concatenate([x[:1], x]) - window) ** 2
        inside = (i >= 1) & (k - i >= 1) & (k - i <= m)
        return (last, jnp.where(inside, cost + soft, FAR)), None

    start = (jnp.where(i == 0, 0.0, FAR), jnp.full(n + 1, FAR))
    return jax.lax.scan(step, start, jnp.arange(2, n + m + 1))[0][1][n]


def in_torch(torch: Any, x: Any, y: Any) -> Any:
    """Keep the table as lists of scalars: faster there than writes into a tensor."""
    far = torch.tensor(FAR, dtype=x.dtype)
    above = [torch.zeros((), dtype=x.dtype)] + [far] * len(y)
    for xi in x:
        row = [far]
        for j, yj in enumerate(y):
            a, b, c = above[j], above[j + 1], row[j]
            low = torch.minimum(torch.minimum(a, b), c)
            soft = low - torch.log(torch.exp(low - a) + torch.exp(low - b) + torch.exp(low - c))
            row.append((xi - yj) ** 2 + soft)
        above = row
    return above[-1]


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    return np.cumsum(r.normal(size=200)) * 0.3, np.cumsum(r.normal(size=200)) * 0.3


WORKLOAD = Workload(key="m", title="soft-DTW 200×200", plain=plain, arguments=arguments, hand=hand,
                    forms={"JAX": in_jax, "PyTorch": in_torch}, at_least=1.5, at_most=1.2)
