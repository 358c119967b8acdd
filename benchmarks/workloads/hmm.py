"""j: log likelihood of 1000 observations under a hidden Markov model of 16 states."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def log_sum_exp(x: Any, axis: Any) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=axis)) + np.squeeze(top, axis)


def plain(A: Any, B: Any, seen: Any) -> Any:
    A = A - log_sum_exp(A, 1)[:, None]
    B = B - log_sum_exp(B, 1)[:, None]
    a = B[:, seen[0]] - np.log(len(A))
    for t in range(1, len(seen)):
        a = log_sum_exp(a[:, None] + A, 0) + B[:, seen[t]]
    return log_sum_exp(a, 0)


@numba.njit(error_model="numpy")
def hand(A: Any, B: Any, seen: Any) -> Any:
    """The forward-backward algorithm."""
    T, S = seen.size, A.shape[0]
    lA, lB = np.empty_like(A), np.empty_like(B)
    for i in range(S):
        top = np.max(A[i])
        lA[i] = A[i] - (top + np.log(np.sum(np.exp(A[i] - top))))
        top = np.max(B[i])
        lB[i] = B[i] - (top + np.log(np.sum(np.exp(B[i] - top))))
    alpha, before = np.empty((T, S)), np.empty((T, S))
    for j in range(S):
        alpha[0, j] = lB[j, seen[0]] - log(S)
    lAT = np.ascontiguousarray(lA.T)
    for t in range(1, T):
        for j in range(S):
            top = -1e300
            for i in range(S):
                top = max(top, alpha[t - 1, i] + lAT[j, i])
            s = 0.0
            for i in range(S):
                s += exp(alpha[t - 1, i] + lAT[j, i] - top)
            before[t, j] = top + log(s)
            alpha[t, j] = before[t, j] + lB[j, seen[t]]
    top = np.max(alpha[T - 1])
    value = top + log(np.sum(np.exp(alpha[T - 1] - top)))
    beta = np.exp(alpha[T - 1] - value)
    A_bar, B_bar, last = np.zeros((S, S)), np.zeros_like(B), np.empty(S)
    for t in range(T - 1, 0, -1):
        for j in range(S):
            B_bar[j, seen[t]] += beta[j]
        last[:] = 0
        for j in range(S):
            for i in range(S):
                w = beta[j] * exp(alpha[t - 1, i] + lAT[j, i] - before[t, j])
                A_bar[j, i] += w
                last[i] += w
        beta[:] = last
    for j in range(S):
        B_bar[j, seen[0]] += beta[j]
    A_bar = np.ascontiguousarray(A_bar.T)
    for i in range(S):
        A_bar[i] -= np.exp(lA[i]) * np.sum(A_bar[i])
        B_bar[i] -= np.exp(lB[i]) * np.sum(B_bar[i])
    return value, A_bar, B_bar


def in_jax(jax: Any, A: Any, B: Any, seen: Any) -> Any:
    jnp, lse = jax.numpy, jax.scipy.special.logsumexp
    A = A - lse(A, 1)[:, None]
    B = B - lse(B, 1)[:, None]

    def step(a: Any, k: Any) -> Any:
        return lse(a[:, None] + A, 0) + B[:, k], None

    start = B[:, seen[0]] - jnp.log(len(A))
    return lse(jax.lax.scan(step, start, seen[1:])[0])


def in_torch(torch: Any, A: Any, B: Any, seen: Any) -> Any:
    A = A - torch.logsumexp(A, 1)[:, None]
    B = B - torch.logsumexp(B, 1)[:, None]
    a = B[:, int(seen[0])] - log(len(A))
    for k in map(int, seen[1:]):
        a = torch.logsumexp(a[:, None] + A, 0) + B[:, k]
    return torch.logsumexp(a, 0)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    S, M, T = 16, 8, 1000
    return r.normal(size=(S, S)), r.normal(size=(S, M)), r.integers(0, M, T)


WORKLOAD = Workload(key="j", title="HMM forward, T=1000, S=16", plain=plain, arguments=arguments,
                    argnums=(0, 1), hand=hand, forms={"JAX": in_jax, "PyTorch": in_torch},
                    at_least=1.3)
