"""o: the log posterior of a mixture of 25 Gaussians in 10 dimensions, of 1 000 points."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numba
import numpy as np

from benchmarks.workloads.workload import Workload, with_names

GAMMA, M = 1.0, 0  # the prior's parameters
ROWS, COLUMNS = np.tril_indices(10, -1)


def logsumexp(x: Any) -> Any:
    top = np.max(x, axis=-1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - top), axis=-1)) + top[..., 0])


def posterior(alpha: Any, mu: Any, logs: Any, lower: Any, roots: Any, x: Any) -> Any:
    """Return the posterior of `x` (n, d) but for a constant.

    logs, lower -- (k, d), (k, d (d - 1) / 2): logarithms of the diagonals, and the rest, of
                   triangular roots of the inverse covariances
    roots       -- (k, d, d): the same rest as matrices
    """
    scales = np.exp(logs)
    sums = np.sum(logs, axis=1)
    centred = x[:, None, :] - mu
    y = scales * centred + np.einsum("kij,nkj->nki", roots, centred)
    terms = alpha + sums - 0.5 * np.sum(y * y, axis=2)
    prior = 0.5 * GAMMA * GAMMA * (np.sum(scales * scales) + np.sum(lower * lower))
    return logsumexp(terms) - len(x) * logsumexp(alpha) - prior + M * np.sum(sums)


def plain(alpha: Any, mu: Any, icf: Any, x: Any) -> Any:
    k, d = mu.shape
    roots = np.zeros((k, d, d))
    roots[:, ROWS, COLUMNS] = icf[:, d:]
    return posterior(alpha, mu, icf[:, :d], icf[:, d:], roots, x)


@numba.njit(error_model="numpy")
def hand(alpha: Any, mu: Any, icf: Any, x: Any) -> Any:
    """Row by row of `x`: terms of all components, then their adjoints."""
    n, d = x.shape
    k = len(alpha)
    scales = np.exp(icf[:, :d])
    sums = np.sum(icf[:, :d], axis=1)
    alpha_bar = np.zeros(k)
    mu_bar = np.zeros((k, d))
    icf_bar = np.zeros(icf.shape)
    terms = np.empty(k)
    centred = np.empty((k, d))
    y = np.empty((k, d))
    total = 0.0
    for i in range(n):
        top = -1e300
        for c in range(k):
            square = 0.0
            place = d
            for r in range(d):
                centred[c, r] = x[i, r] - mu[c, r]
                s = scales[c, r] * centred[c, r]
                for j in range(r):
                    s += icf[c, place] * centred[c, j]
                    place += 1
                y[c, r] = s
                square += s * s
            terms[c] = alpha[c] + sums[c] - 0.5 * square
            top = max(top, terms[c])
        whole = 0.0
        for c in range(k):
            terms[c] = exp(terms[c] - top)
            whole += terms[c]
        total += top + log(whole)
        for c in range(k):
            w = terms[c] / whole
            alpha_bar[c] += w
            place = d
            for r in range(d):
                b = -w * y[c, r]
                icf_bar[c, r] += b * centred[c, r] * scales[c, r] + w
                mu_bar[c, r] -= b * scales[c, r]
                for j in range(r):
                    icf_bar[c, place] += b * centred[c, j]
                    mu_bar[c, j] -= b * icf[c, place]
                    place += 1
    top = np.max(alpha)
    lse = log(np.sum(np.exp(alpha - top))) + top
    total -= n * lse
    for c in range(k):
        alpha_bar[c] -= n * exp(alpha[c] - lse)
        total += M * sums[c]
        for r in range(d):
            total -= 0.5 * GAMMA * GAMMA * scales[c, r] ** 2
            icf_bar[c, r] += M - GAMMA * GAMMA * scales[c, r] ** 2
        for place in range(d, icf.shape[1]):
            total -= 0.5 * GAMMA * GAMMA * icf[c, place] ** 2
            icf_bar[c, place] -= GAMMA * GAMMA * icf[c, place]
    return total, alpha_bar, mu_bar, icf_bar


def in_jax(jax: Any, alpha: Any, mu: Any, icf: Any, x: Any) -> Any:
    k, d = mu.shape
    rows, columns = jax.numpy.tril_indices(d, -1)
    roots = jax.numpy.zeros((k, d, d)).at[:, rows, columns].set(icf[:, d:])
    return _with(jax.numpy)(alpha, mu, icf[:, :d], icf[:, d:], roots, x)


def _with(namespace: Any) -> Any:
    return with_names(posterior, np=namespace, logsumexp=with_names(logsumexp, np=namespace))


def in_torch(torch: Any, alpha: Any, mu: Any, icf: Any, x: Any) -> Any:
    k, d = mu.shape
    logs, lower = icf[:, :d], icf[:, d:]
    roots = torch.zeros(k, d, d, dtype=icf.dtype)
    roots[:, ROWS, COLUMNS] = lower
    scales, sums = torch.exp(logs), torch.sum(logs, 1)
    centred = x[:, None, :] - mu
    y = scales * centred + torch.einsum("kij,nkj->nki", roots, centred)
    terms = alpha + sums - 0.5 * torch.sum(y * y, 2)
    prior = 0.5 * GAMMA * GAMMA * (torch.sum(scales * scales) + torch.sum(lower * lower))
    return (torch.sum(torch.logsumexp(terms, 1)) - len(x) * torch.logsumexp(alpha, 0) - prior
            + M * torch.sum(sums))


def in_autograd(autograd: Any, alpha: Any, mu: Any, icf: Any, x: Any) -> Any:
    k, d = mu.shape
    places = np.zeros((len(ROWS), d * d))
    places[np.arange(len(ROWS)), ROWS * d + COLUMNS] = 1.0
    roots = (icf[:, d:] @ places).reshape(k, d, d)
    return _with(autograd.numpy)(alpha, mu, icf[:, :d], icf[:, d:], roots, x)


def arguments() -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    k, d, n = 25, 10, 1000
    return (r.normal(size=k), r.uniform(size=(k, d)),
            np.hstack([r.normal(size=(k, d)), r.normal(size=(k, d * (d - 1) // 2))]),
            r.normal(size=(n, d)))


WORKLOAD = Workload(key="o", title="Gaussian mixture, d=10 K=25 n=1000", plain=plain,
                    arguments=arguments, argnums=(0, 1, 2), hand=hand, at_least=1, at_most=1.15,
                    forms={"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd})
