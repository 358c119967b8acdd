"""k: PolyBench's jacobi_2d: 100 sweeps over two 150×150 grids, written in place."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload


def plain(A: Any, B: Any, steps: int) -> Any:
    A = A.copy()
    B = B.copy()
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A)


@numba.njit(error_model="numpy")
def hand(A0: Any, B0: Any, steps: Any) -> Any:
    A = A0.copy()
    B = B0.copy()
    n = A.shape[0]
    for _ in range(1, steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
    value = 0.0
    for i in range(n):
        for j in range(n):
            value += A[i, j]
    # The adjoints as stencils that gather: W is the interior's cotangent inside a border of zeros.
    A_bar = np.ones((n, n))
    B_bar = np.zeros((n, n))
    W = np.zeros((n, n))
    for _ in range(1, steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                W[i, j] = 0.2 * A_bar[i, j]
                A_bar[i, j] = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B_bar[i, j] += W[i, j] + W[i, j - 1] + W[i, j + 1] + W[i + 1, j] + W[i - 1, j]
        for j in range(1, n - 1):
            B_bar[0, j] += W[1, j]
            B_bar[n - 1, j] += W[n - 2, j]
            B_bar[j, 0] += W[j, 1]
            B_bar[j, n - 1] += W[j, n - 2]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                W[i, j] = 0.2 * B_bar[i, j]
                B_bar[i, j] = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A_bar[i, j] += W[i, j] + W[i, j - 1] + W[i, j + 1] + W[i + 1, j] + W[i - 1, j]
        for j in range(1, n - 1):
            A_bar[0, j] += W[1, j]
            A_bar[n - 1, j] += W[n - 2, j]
            A_bar[j, 0] += W[j, 1]
            A_bar[j, n - 1] += W[j, n - 2]
    return value, A_bar, B_bar


def average(A: Any) -> Any:
    """Return the mean of each interior element and its four neighbours."""
    return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


def in_jax(jax: Any, A: Any, B: Any, steps: int) -> Any:
    def step(state: Any, _: Any) -> Any:
        A, B = state
        B = B.at[1:-1, 1:-1].set(average(A))
        A = A.at[1:-1, 1:-1].set(average(B))
        return (A, B), None

    return jax.numpy.sum(jax.lax.scan(step, (A, B), None, length=steps - 1)[0][0])


def in_torch(torch: Any, A: Any, B: Any, steps: int) -> Any:
    A = A.clone()
    B = B.clone()
    for _ in range(1, steps):
        B[1:-1, 1:-1] = average(A)
        A[1:-1, 1:-1] = average(B)
    return torch.sum(A)


def in_autograd(autograd: Any, A: Any, B: Any, steps: int) -> Any:
    np = autograd.numpy

    def framed(inner: Any, C: Any) -> Any:
        rows = np.concatenate([C[1:-1, :1], inner, C[1:-1, -1:]], axis=1)
        return np.concatenate([C[:1], rows, C[-1:]], axis=0)

    for _ in range(1, steps):
        B = framed(average(A), B)
        A = framed(average(B), A)
    return np.sum(A)


def arguments() -> tuple[Any, ...]:
    n = 150
    i, j = np.indices((n, n)).astype(float)
    return i * (j + 2) / n, i * (j + 3) / n, 100


WORKLOAD = Workload(key="k", title="jacobi_2d, 100 steps of 150²", plain=plain, arguments=arguments,
                    argnums=(0, 1), hand=hand,
                    forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd},
                    at_least=3, at_most=1.2)
