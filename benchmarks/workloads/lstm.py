"""f: mean squared error of an LSTM of 32 units over 100 steps, by its weights."""

from __future__ import annotations

from math import exp, tanh
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload, with_names


def plain(Wx: Any, Wh: Any, b: Any, xs: Any, targets: Any) -> Any:
    H = Wh.shape[1]
    h = np.zeros(H)
    c = np.zeros(H)
    loss = 0.0
    for t in range(len(xs)):
        z = Wx @ xs[t] + Wh @ h + b
        i = 1 / (1 + np.exp(-z[:H]))
        f = 1 / (1 + np.exp(-z[H:2 * H]))
        o = 1 / (1 + np.exp(-z[2 * H:3 * H]))
        g = np.tanh(z[3 * H:])
        c = f * c + i * g
        h = o * np.tanh(c)
        loss = loss + np.sum((h - targets[t]) ** 2)
    return loss / len(xs)


@numba.njit(error_model="numpy")
def hand(Wx: Any, Wh: Any, b: Any, xs: Any, targets: Any) -> Any:
    """Gates, cells and outputs of every step are kept; products of whole sequences come last."""
    T, H = targets.shape
    Z = xs @ Wx.T
    gates = np.empty((T, 4 * H))
    cells = np.zeros((T + 1, H))
    states = np.zeros((T + 1, H))
    squashed = np.empty((T, H))
    loss = 0.0
    for t in range(T):
        z = Wh @ states[t]
        for k in range(H):
            i = 1 / (1 + exp(-(z[k] + Z[t, k] + b[k])))
            f = 1 / (1 + exp(-(z[H + k] + Z[t, H + k] + b[H + k])))
            o = 1 / (1 + exp(-(z[2 * H + k] + Z[t, 2 * H + k] + b[2 * H + k])))
            g = tanh(z[3 * H + k] + Z[t, 3 * H + k] + b[3 * H + k])
            gates[t, k] = i
            gates[t, H + k] = f
            gates[t, 2 * H + k] = o
            gates[t, 3 * H + k] = g
            c = f * cells[t, k] + i * g
            cells[t + 1, k] = c
            squashed[t, k] = tanh(c)
            states[t + 1, k] = o * squashed[t, k]
            loss += (states[t + 1, k] - targets[t, k]) ** 2
    Z_bar = np.empty((T, 4 * H))
    h_bar = np.zeros(H)
    c_bar = np.zeros(H)
    for t in range(T - 1, -1, -1):
        for k in range(H):
            d = h_bar[k] + 2 * (states[t + 1, k] - targets[t, k]) / T
            i = gates[t, k]
            f = gates[t, H + k]
            o = gates[t, 2 * H + k]
            g = gates[t, 3 * H + k]
            s = squashed[t, k]
            Z_bar[t, 2 * H + k] = d * s * o * (1 - o)
            q = c_bar[k] + d * o * (1 - s * s)
            Z_bar[t, k] = q * g * i * (1 - i)
            Z_bar[t, 3 * H + k] = q * i * (1 - g * g)
            Z_bar[t, H + k] = q * cells[t, k] * f * (1 - f)
            c_bar[k] = q * f
        h_bar = Z_bar[t] @ Wh
    ZT = Z_bar.T
    return loss / T, ZT @ xs, ZT @ np.ascontiguousarray(states[:T]), np.sum(Z_bar, axis=0)


def in_jax(jax: Any, Wx: Any, Wh: Any, b: Any, xs: Any, targets: Any) -> Any:
    jnp = jax.numpy
    H = Wh.shape[1]

    def step(state: Any, x_target: Any) -> Any:
        h, c = state
        x, target = x_target
        i, f, o, g = jnp.split(Wx @ x + Wh @ h + b, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), jnp.sum((h - target) ** 2)

    start = jnp.zeros(H), jnp.zeros(H)
    return jnp.sum(jax.lax.scan(step, start, (xs, targets))[1]) / len(xs)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    H = D = 32
    T = 100
    return (r.normal(size=(4 * H, D)) * 0.2, r.normal(size=(4 * H, H)) * 0.2,
            r.normal(size=4 * H) * 0.1, r.normal(size=(T, D)), r.normal(size=(T, H)) * 0.5)


def in_torch(torch: Any, Wx: Any, Wh: Any, b: Any, xs: Any, targets: Any) -> Any:
    h = c = torch.zeros(Wh.shape[1], dtype=Wh.dtype)
    loss = 0.0
    for x, target in zip(xs, targets, strict=True):
        i, f, o, g = torch.split(Wx @ x + Wh @ h + b, Wh.shape[1])
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        loss = loss + torch.sum((h - target) ** 2)
    return loss / len(xs)


def in_autograd(autograd: Any, *args: Any) -> Any:
    return with_names(plain, np=autograd.numpy)(*args)


WORKLOAD = Workload(key="f", title="LSTM, T=100, H=32", plain=plain, arguments=arguments,
                    argnums=(0, 1, 2), hand=hand,
                    forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd},
                    at_least=1.5, at_most=1.2)
