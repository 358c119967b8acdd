"""l: the likelihood of a Gaussian process at 200 points, by its kernel's parameters."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from scipy.linalg import solve_triangular

from benchmarks.workloads.workload import Workload, with_names


def plain(theta: Any, x: Any, y: Any) -> Any:
    n = len(y)
    z = x / np.exp(theta[:5])
    d = z[:, None, :] - z[None, :, :]
    covariance = np.exp(theta[5] - 0.5 * np.sum(d * d, axis=2)) + np.exp(theta[6]) * np.eye(n)
    root = np.linalg.cholesky(covariance)
    u = solve_triangular(root, y, lower=True)
    return (0.5 * np.sum(u * u) + np.sum(np.log(np.diagonal(root)))
            + 0.5 * n * math.log(2 * math.pi))


@numba.njit(error_model="numpy")
def hand(theta: Any, x: Any, y: Any) -> Any:
    """The covariance's adjoint is half of its inverse less the square of that times y."""
    n, dims = x.shape
    scales = np.exp(-theta[:dims])
    kernel = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            square = 0.0
            for k in range(dims):
                square += ((x[i, k] - x[j, k]) * scales[k]) ** 2
            kernel[i, j] = kernel[j, i] = math.exp(theta[dims] - 0.5 * square)
    noise = math.exp(theta[dims + 1])
    covariance = kernel.copy()
    for i in range(n):
        covariance[i, i] += noise
    root = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(covariance)
    a = inverse @ y
    value = 0.5 * n * math.log(2 * math.pi) + 0.5 * np.sum(a * y)
    bar = np.zeros(dims + 2)
    for i in range(n):
        value += math.log(root[i, i])
        bar[dims + 1] += 0.5 * noise * (inverse[i, i] - a[i] * a[i])
        for j in range(n):
            w = 0.5 * (inverse[i, j] - a[i] * a[j]) * kernel[i, j]
            bar[dims] += w
            for k in range(dims):
                bar[k] += w * ((x[i, k] - x[j, k]) * scales[k]) ** 2
    return value, bar


def in_jax(jax: Any, *args: Any) -> Any:
    return with_names(plain, np=jax.numpy,
                      solve_triangular=jax.scipy.linalg.solve_triangular)(*args)


def in_torch(torch: Any, theta: Any, x: Any, y: Any) -> Any:
    n = len(y)
    z = x / torch.exp(theta[:5])
    d = z[:, None, :] - z[None, :, :]
    covariance = torch.exp(theta[5] - 0.5 * torch.sum(d * d, 2)) + torch.exp(theta[6]) * torch.eye(
        n, dtype=x.dtype)
    root = torch.linalg.cholesky(covariance)
    u = torch.linalg.solve_triangular(root, y[:, None], upper=False)
    return (0.5 * torch.sum(u * u) + torch.sum(torch.log(torch.diagonal(root)))
            + 0.5 * n * math.log(2 * math.pi))


def in_autograd(autograd: Any, *args: Any) -> Any:
    from autograd.scipy.linalg import solve_triangular as solve

    return with_names(plain, np=autograd.numpy, solve_triangular=solve)(*args)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    x = r.normal(size=(200, 5))
    return (np.array([0.1, 0.0, -0.2, 0.3, 0.1, 0.2, -2.0]), x,
            np.sin(np.sum(x, axis=1)) + 0.1 * r.normal(size=200))


WORKLOAD = Workload(key="l", title="Gaussian process, n=200", plain=plain, arguments=arguments,
                    hand=hand, at_least=1, at_most=1.15,
                    forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd})
