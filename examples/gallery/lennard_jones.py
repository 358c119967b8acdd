"""Thirteen argon atoms: the cluster of least energy.

The energy of Lennard and Jones is the sum over pairs of 4 (r^-12 - r^-6). Relaxed from random
places again and again, the best of all is the icosahedron, of energy -44.326801: Wales and Doye,
Journal of Physical Chemistry A 101 (1997), table 1.

The energy is the double loop over pairs that textbooks have, which NumPy alone would be slow in.
The gradient, all forces, costs about as much as the energy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Molecules"


def energy(x: np.ndarray) -> float:
    """Return the energy of atoms at x, [n, 3]."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            inverse = 1.0 / np.sum((x[i] - x[j]) ** 2)
            total += 4.0 * (inverse ** 6 - inverse ** 3)
    return total


def problem(atoms: int = 13) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the energy and its argument: atoms on a spiral on a sphere."""
    k = np.arange(atoms) + 0.5
    polar, around = np.arccos(1 - 2 * k / atoms), np.pi * (1 + np.sqrt(5)) * k
    x = np.stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)], 1)
    return energy, (1.3 * x,)


def main(atoms: int = 13, starts: int = 100) -> dict[str, Any]:
    """Relax clusters from random places, and keep the best."""
    value_and_forces = tracejit.value_and_grad(energy)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_forces(x.reshape(-1, 3))
        return value, slope.ravel()

    rng = np.random.default_rng(0)
    relaxed = [minimize(flat, rng.uniform(-1.5, 1.5, 3 * atoms), jac=True, method="L-BFGS-B",
                        options={"maxiter": 2000, "maxfun": 4000}) for _ in range(starts)]
    energies = np.array([found.fun for found in relaxed])
    best = relaxed[int(np.argmin(energies))]
    x = best.x.reshape(-1, 3)
    found = np.sum(energies < best.fun + 1e-4)
    print(f"least energy {best.fun:.6f}, found {found} times of {starts}")
    return {"x": x - x.mean(axis=0), "energy": best.fun, "energies": energies,
            "force": np.abs(best.jac).max()}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the cluster, nearer atoms darker, with bonds between neighbours."""
    x = result["x"]
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    for i, j in zip(*np.where(np.triu(distance < 1.3, 1))):
        axes.plot(x[[i, j], 0], x[[i, j], 1], color="C7", linewidth=1)
    axes.scatter(x[:, 0], x[:, 1], c=x[:, 2], s=250, cmap="viridis", zorder=3)
    axes.set(aspect="equal", xticks=[], yticks=[], title=f"energy {result['energy']:.6f}")
