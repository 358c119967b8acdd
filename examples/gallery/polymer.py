"""How stiff are the bonds? Learning a polymer's force field from a film of its motion.

Beads in a row are held by springs of different strengths, V = sum of k_i (|x_i+1 - x_i| - 1)² / 2,
and move by Verlet's algorithm (Allen and Tildesley, "Computer simulation of liquids", 1987,
section 3.2). From where the beads were every twentieth step the strengths are found.

Forces are written to an array bond by bond, with `+=` on rows; the gradient goes through hundreds
of steps of dynamics. Places are carried from step to step, and the film is an array that is
filled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Molecules"
STEP, EVERY = 0.05, 20


def forces(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the forces on beads at x, [n, 2], for springs of strengths k."""
    F = np.zeros_like(x)
    for i in range(len(k)):
        bond = x[i + 1] - x[i]
        length = np.sqrt(np.sum(bond ** 2))
        pull = k[i] * (length - 1.0) * bond / length
        F[i] += pull
        F[i + 1] -= pull
    return F


def film(k: np.ndarray, x: np.ndarray, v: np.ndarray, pictures: int) -> np.ndarray:
    """Return places at every twentieth step, by velocity Verlet."""
    frames = np.empty((pictures, len(x), 2))
    F = forces(x, k)
    for n in range(pictures):
        for _ in range(EVERY):
            v = v + STEP / 2 * F
            x = x + STEP * v
            F = forces(x, k)
            v = v + STEP / 2 * F
        frames[n] = x
    return frames


def misfit(log_k: np.ndarray, frames: np.ndarray, x: np.ndarray, v: np.ndarray) -> float:
    """Return the mean squared error of places."""
    return np.mean((film(np.exp(log_k), x, v, len(frames)) - frames) ** 2)


def springs(beads: int) -> np.ndarray:
    """Return the strengths that are to be found."""
    return np.random.default_rng(0).uniform(2.0, 6.0, beads - 1)


def problem(beads: int = 12, pictures: int = 12) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: equal springs, the film, first places and speeds."""
    rng = np.random.default_rng(1)
    turns = np.cumsum(rng.normal(0.0, 0.5, beads - 1))
    x = np.vstack([np.zeros(2), np.cumsum(np.stack([np.cos(turns), np.sin(turns)], 1), axis=0)])
    v = rng.normal(0.0, 0.3, x.shape)
    frames = film(springs(beads), x, v, pictures)
    return misfit, (np.log(np.full(beads - 1, 4.0)), frames, x, v)


def main(beads: int = 12, pictures: int = 12) -> dict[str, Any]:
    """Find the springs from more and more of the film."""
    loss, (log_k, frames, x, v) = problem(beads, pictures)
    value_and_slope = tracejit.value_and_grad(loss)
    for seen in range(2, pictures + 1, 2):
        log_k = minimize(value_and_slope, log_k, (frames[:seen], x, v), jac=True, method="BFGS",
                         options={"gtol": 1e-10}).x
    hidden = springs(beads)
    print("found ", np.exp(log_k).round(3))
    print("hidden", hidden.round(3))
    return {"k": np.exp(log_k), "hidden": hidden, "frames": frames}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw some frames of the film."""
    for n, frame in enumerate(result["frames"][::3]):
        axes.plot(*(frame + [0, -2.0 * n]).T, "o-", markersize=4, label=f"picture {3 * n + 1}")
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.legend(fontsize=7)
