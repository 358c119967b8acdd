"""d: logistic regression on 10 000 rows of 100 features."""

from __future__ import annotations

from math import exp, log1p
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.5e-3 * np.sum(w * w)


@numba.njit(error_model="numpy")
def hand(w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    n = z.size
    s = 0.0
    for i in range(n):
        zi = z[i]
        e = exp(-abs(zi))
        s += max(zi, 0.0) + log1p(e) - y[i] * zi
        sigmoid = 1 / (1 + e) if zi >= 0 else e / (1 + e)
        z[i] = (sigmoid - y[i]) / n
    return s / n + 0.5e-3 * np.sum(w * w), z @ X + 1e-3 * w


def in_torch(torch: Any, w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    zero = torch.zeros((), dtype=z.dtype)
    return torch.mean(torch.logaddexp(zero, z) - y * z) + 0.5e-3 * torch.sum(w * w)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    X = r.normal(size=(10_000, 100))
    y = (X @ r.normal(size=100) + r.normal(size=10_000) > 0).astype(float)
    return r.normal(size=100) * 0.1, X, y


WORKLOAD = Workload(key="d", title="logistic regression 1e4×100", plain=plain, arguments=arguments,
                    hand=hand, forms={"PyTorch": in_torch}, at_least=1)
