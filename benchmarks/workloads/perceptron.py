"""e: the cross entropy of a perceptron, 64 × 784-256-10, by its weights."""

from __future__ import annotations

from math import exp, log, tanh
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    z = np.tanh(x @ w1 + b1) @ w2 + b2
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(z * y, axis=1))


@numba.njit(error_model="numpy")
def hand(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    rows, classes = y.shape
    h = x @ w1
    for i in range(rows):
        for j in range(h.shape[1]):
            h[i, j] = tanh(h[i, j] + b1[j])
    z = h @ w2
    loss = 0.0
    for i in range(rows):
        top = -1e300
        for j in range(classes):
            z[i, j] += b2[j]
            top = max(top, z[i, j])
        total = 0.0
        for j in range(classes):
            total += exp(z[i, j] - top)
        lse = top + log(total)
        for j in range(classes):
            loss += (lse - z[i, j]) * y[i, j]
            z[i, j] = (exp(z[i, j] - lse) - y[i, j]) / rows
    h_bar = z @ w2.T
    b1_bar = np.zeros(h.shape[1])
    for i in range(rows):
        for j in range(h.shape[1]):
            h_bar[i, j] *= 1 - h[i, j] * h[i, j]
            b1_bar[j] += h_bar[i, j]
    return loss / rows, x.T @ h_bar, b1_bar, h.T @ z, np.sum(z, axis=0)


def in_torch(torch: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    z = torch.tanh(x @ w1 + b1) @ w2 + b2
    return torch.mean(torch.logsumexp(z, 1) - torch.sum(z * y, 1))


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    x = r.normal(size=(64, 784))
    y = np.eye(10)[r.integers(0, 10, 64)]
    return (r.normal(size=(784, 256)) * 0.05, np.zeros(256), r.normal(size=(256, 10)) * 0.05,
            np.zeros(10), x, y)


WORKLOAD = Workload(key="e", title="perceptron 64×784-256-10", plain=plain, arguments=arguments,
                    argnums=(0, 1, 2, 3), hand=hand, forms={"PyTorch": in_torch},
                    at_least=1, at_most=1.15)
