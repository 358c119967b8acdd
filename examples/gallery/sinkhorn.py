"""Moving sand: positions that turn one heap into another, by optimal transport.

The transport between two clouds of points with an entropy of weight e is found by Sinkhorn's
iteration (Cuturi, NeurIPS 2013), on logarithms; its divergence, less that of each cloud to itself
(Feydy and others, 2019), is zero where the clouds agree. Points of one cloud are moved down its
gradient.

`scipy.special.logsumexp` in a `while` loop that ends when the potentials no longer change; the
clouds may have any sizes, in one program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

import tracejit

FIELD = "Machine learning"


def transport(x: np.ndarray, y: np.ndarray, e: float) -> float:
    """Return the entropic cost of moving points x to y, all of equal weights."""
    n, m = len(x), len(y)
    cost = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    f, g, change = np.zeros(n), np.zeros(m), 1.0
    while change > 1e-6:
        old = f
        f = -e * logsumexp((g - cost) / e - np.log(m), axis=1)
        g = -e * logsumexp((f[:, None] - cost) / e - np.log(n), axis=0)
        change = np.max(np.abs(f - old))
    return np.mean(f) + np.mean(g)


def divergence(x: np.ndarray, y: np.ndarray, e: float) -> float:
    """Return Sinkhorn's divergence, which is zero for equal clouds."""
    return transport(x, y, e) - 0.5 * transport(x, x, e) - 0.5 * transport(y, y, e)


def problem(points: int = 60, targets: int = 80) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the divergence and its arguments: a square heap, a ring, and the entropy's weight."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2 * np.pi, targets)
    ring = np.stack([np.cos(angle), np.sin(angle)], 1) * rng.uniform(0.8, 1.0, (targets, 1))
    return divergence, (rng.uniform(-0.4, 0.4, (points, 2)) + [0.3, 0.0], ring, 0.02)


def main(points: int = 60, targets: int = 80) -> dict[str, Any]:
    """Move the points."""
    loss, (start, ring, e) = problem(points, targets)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(-1, 2), ring, e)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    x = found.x.reshape(-1, 2)
    radius = np.linalg.norm(x, axis=1)
    print(f"divergence {loss(start, ring, e):.3f} -> {found.fun:.5f}, "
          f"radii from {radius.min():.2f} to {radius.max():.2f}")
    return {"start": start, "x": x, "ring": ring, "before": loss(start, ring, e),
            "after": found.fun, "radius": radius}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the clouds and the ways."""
    for a, b in zip(result["start"], result["x"]):
        axes.plot([a[0], b[0]], [a[1], b[1]], color="C7", linewidth=0.5)
    for name, label in (("start", "heap"), ("ring", "ring"), ("x", "moved")):
        axes.plot(*result[name].T, ".", label=label)
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.legend(fontsize=7, loc="upper left")
