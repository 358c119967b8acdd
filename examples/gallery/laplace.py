"""Laplace's approximation: the evidence of a Poisson regression from a Hessian.

The integral of exp(-L(b)) over the coefficients b is about (2 pi)^(d/2) |H|^(-1/2) exp(-L(b*)),
where b* is the minimum of L and H the Hessian there (MacKay, "Information theory, inference, and
learning algorithms", 2003, chapter 27). L is minus the log of prior and likelihood of yearly
counts.

`hessian` is one more transform of the same function, and Newton's method with it converges in a
few steps. A sum over a grid says how good the approximation is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln

import tracejit

FIELD = "Statistics"


def minus_log_joint(b: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return minus the log of the joint density of counts y and coefficients b."""
    eta = X @ b
    likelihood = np.sum(y * eta - np.exp(eta) - gammaln(y + 1))
    prior = -0.5 * b @ b / 4.0 - 0.5 * len(b) * np.log(2 * np.pi * 4.0)
    return -likelihood - prior


def problem(years: int = 40, powers: int = 2) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a trend over years and counts."""
    rng = np.random.default_rng(4)
    time = np.linspace(-1.0, 1.0, years)
    y = rng.poisson(np.exp(0.7 + 0.8 * time)).astype(float)
    return minus_log_joint, (np.zeros(powers), time[:, None] ** np.arange(powers), y)


def evidence(powers: int, years: int = 40) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log of the evidence for a polynomial, its mode and the covariance there."""
    loss, (b, *data) = problem(years, powers)
    slope, curvature = tracejit.grad(loss), tracejit.hessian(loss)
    for _ in range(20):
        b = b - np.linalg.solve(curvature(b, *data), slope(b, *data))
    H = curvature(b, *data)
    return (-loss(b, *data) + 0.5 * powers * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(H)[1],
            b, np.linalg.inv(H))


def main(years: int = 40) -> dict[str, Any]:
    """Compare polynomials by their evidence, and the line's with that of a grid."""
    evidences = [evidence(powers, years)[0] for powers in range(1, 6)]
    log_evidence, b, covariance = evidence(2, years)
    loss, (_, X, y) = problem(years)
    spread = 6 * np.sqrt(np.diag(covariance))
    u, v = (np.linspace(b[k] - spread[k], b[k] + spread[k], 121) for k in range(2))
    batched = tracejit.jit(tracejit.vmap(loss, in_axes=(0, None, None)))
    grid = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1)
    density = np.exp(-batched(grid.reshape(-1, 2), X, y)).reshape(121, 121)
    exact = np.log(np.sum(density) * (u[1] - u[0]) * (v[1] - v[0]))
    print(f"log evidence of a line: Laplace {log_evidence:.4f}, grid {exact:.4f}")
    print("of polynomials of degree 0 to 4:", np.round(evidences, 2))
    return {"laplace": log_evidence, "exact": exact, "evidences": evidences, "mode": b,
            "covariance": covariance, "grid": (u, v, density)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the posterior density and the ellipses of its approximation."""
    u, v, density = result["grid"]
    axes.contour(u, v, density.T / density.max(), np.exp([-4.5, -2.0, -0.5]), colors="C0")
    angle = np.linspace(0.0, 2 * np.pi, 100)
    root = np.linalg.cholesky(result["covariance"])
    for radius in (1, 2, 3):
        axes.plot(*(result["mode"][:, None] + radius * root @ [np.cos(angle), np.sin(angle)]),
                  ":", color="C1")
    axes.set(xlabel="level", ylabel="trend", title="posterior, and Laplace's ellipses (dotted)")
