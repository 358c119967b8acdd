"""GradBench's `gmm`: the log posterior of a mixture of Gaussians, its loops as ADBench has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tracejit
from benchmarks.gradbench.evaluation import Evaluation

NAMES = ("alpha", "mu", "q", "l")


def logsumexp(x: Any) -> Any:
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def posterior(alpha: Any, mu: Any, q: Any, lower: Any, x: Any, gamma: float, m: int) -> Any:
    """Return the posterior of `x` (n, d) but for a constant, see `constant`.

    alpha -- (k,): logarithms of the components' weights, not normalised
    mu    -- (k, d): their means
    q     -- (k, d): logarithms of the diagonals of triangular roots of their inverse covariances
    lower -- (k, d (d - 1) / 2): what is below these diagonals, by columns
    """
    n, d = x.shape
    k = len(alpha)
    scales = np.exp(q)
    sums = np.sum(q, axis=1)
    total = 0.0
    terms = np.zeros(k)
    for i in range(n):
        for c in range(k):
            centred = x[i] - mu[c]
            y = scales[c] * centred
            place = 0
            for column in range(d):
                for row in range(column + 1, d):
                    y[row] += lower[c, place] * centred[column]
                    place += 1
            terms[c] = alpha[c] + sums[c] - 0.5 * np.sum(y * y)
        total = total + logsumexp(terms)
    squares = np.sum(scales * scales) + np.sum(lower * lower)
    return total - n * logsumexp(alpha) - 0.5 * gamma * gamma * squares + m * np.sum(sums)


def constant(n: int, d: int, k: int, gamma: float, m: int) -> float:
    """Return what the posterior has of sizes and of the prior's parameters alone."""
    freedom = d + m + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(
        math.lgamma(0.5 * (freedom - j)) for j in range(d))
    prior = freedom * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma
    return k * prior - n * d * 0.5 * math.log(2 * math.pi)


def prepare(given: Any) -> tuple[Any, ...]:
    return (*(np.array(given[name]) for name in (*NAMES, "x")), float(given["gamma"]), given["m"])


COMPILED = tracejit.jit(posterior)


def objective(alpha: Any, mu: Any, q: Any, lower: Any, x: Any, gamma: float, m: int) -> Any:
    value = COMPILED(alpha, mu, q, lower, x, gamma, m)
    return value + constant(*x.shape, len(alpha), gamma, m)


def named(gradients: Any) -> dict[str, Any]:
    return {name: g.tolist() for name, g in zip(NAMES, gradients, strict=True)}


FUNCTIONS = {"objective": Evaluation(prepare, objective),
             "jacobian": Evaluation(prepare, tracejit.grad(posterior, (0, 1, 2, 3)), named)}
