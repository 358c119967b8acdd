"""Hamiltonian Monte Carlo: samples from a posterior by leapfrog steps along its gradient.

Neal, "MCMC using Hamiltonian dynamics" (2011), section 3.2. The posterior is that of a robust
regression: errors have Student's t distribution with four degrees of freedom, so that outliers
pull little. Means and covariances of the samples are compared with quadrature on a grid.

The gradient is called inside a captured function: `trajectory` has a `tracejit.grad` within its
loop and is compiled whole, with no return to Python between leapfrog steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Statistics"


def potential(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Return minus the log of the posterior of intercept, slope and log of the scale."""
    z = (y - theta[0] - theta[1] * x) / np.exp(theta[2])
    return np.sum(2.5 * np.log1p(z ** 2 / 4) + theta[2]) + 0.5 * np.sum(theta ** 2) / 9


@tracejit.jit
def trajectory(theta: np.ndarray, momentum: np.ndarray, step: float, steps: int, x: np.ndarray,
               y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return place and momentum after some leapfrog steps."""
    slope = tracejit.grad(potential)
    momentum = momentum - step / 2 * slope(theta, x, y)
    for i in range(steps):
        theta = theta + step * momentum
        momentum = momentum - (step if i < steps - 1 else step / 2) * slope(theta, x, y)
    return theta, momentum


def problem(n: int = 50) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the potential and its arguments: a line with noise and outliers."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-2.0, 2.0, n)
    return potential, (np.zeros(3), x, 1.0 + 0.7 * x + 0.4 * rng.standard_t(3, n))


def quadrature(x: np.ndarray, y: np.ndarray, centre: np.ndarray,
               spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance by a sum over a grid."""
    sides = [np.linspace(c - 6 * s, c + 6 * s, 41) for c, s in zip(centre, spread)]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
    weight = np.exp(-np.array([potential(t, x, y) for t in grid]) + potential(centre, x, y))
    mean = weight @ grid / weight.sum()
    return mean, (weight * (grid - mean).T) @ (grid - mean) / weight.sum()


def main(n: int = 50, draws: int = 20_000) -> dict[str, Any]:
    """Draw samples, and compare their moments."""
    _, (theta, x, y) = problem(n)
    rng = np.random.default_rng(0)
    samples, accepted = np.empty((draws, 3)), 0
    for k in range(draws):
        momentum = rng.normal(size=3)
        new, turned = trajectory(theta, momentum, 0.08 * rng.uniform(0.8, 1.2), 10, x, y)
        change = potential(new, x, y) - potential(theta, x, y) + (turned @ turned
                                                                 - momentum @ momentum) / 2
        if np.log(rng.uniform()) < -change:
            theta, accepted = new, accepted + 1
        samples[k] = theta
    samples = samples[draws // 20:]
    mean, covariance = quadrature(x, y, samples.mean(axis=0), samples.std(axis=0))
    print(f"accepted {accepted / draws:.2f}; mean {samples.mean(axis=0).round(3)}, "
          f"by quadrature {mean.round(3)}")
    return {"samples": samples, "mean": mean, "covariance": covariance,
            "accepted": accepted / draws}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw samples of slope and intercept."""
    axes.hexbin(result["samples"][:, 0], result["samples"][:, 1], gridsize=25, cmap="viridis",
                mincnt=1, linewidths=0.1)
    axes.plot(*result["mean"][:2], "x", color="C3", label="mean by quadrature")
    axes.set(xlabel="intercept", ylabel="slope")
    axes.legend()
