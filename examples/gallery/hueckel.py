"""Hückel's molecular orbitals: bond orders are a gradient.

The energy of pi electrons is twice the sum of the lowest eigenvalues of H, which has alpha on the
diagonal and beta for each bond (Hückel, Zeitschrift für Physik 70, 1931). Its derivative by alpha
is the charge of an atom, by beta twice the order of a bond: Coulson and Longuet-Higgins,
Proceedings of the Royal Society A 191 (1947). Butadiene has orders of 0.894 and 0.447, benzene of
2/3.

Benzene's orbitals come in pairs of equal energy, whose vectors may be turned; the sum over a full
pair has a derivative all the same. From measured bond lengths of naphthalene Coulson's relation is
checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Chemistry"
RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
MOLECULES = {
    "ethene": [(0, 1)], "butadiene": [(0, 1), (1, 2), (2, 3)], "benzene": RING,
    "naphthalene": [*RING, (5, 6), (6, 7), (7, 8), (8, 9), (9, 0)]}
LENGTHS = {(0, 5): 1.42, (0, 1): 1.42, (1, 2): 1.37, (2, 3): 1.41}
"""Of naphthalene, in Å: Cruickshank and Sparks, Proceedings of the Royal Society A 258 (1960)."""


def energy(parameters: tuple[np.ndarray, np.ndarray], bonds: np.ndarray) -> float:
    """Return the energy of pi electrons, one for each atom, in units of beta.

    parameters -- alpha of each atom, and beta of each bond
    """
    alpha, beta = parameters
    H = np.diag(alpha)
    for k in range(len(bonds)):
        i, j = bonds[k]
        H[i, j] += beta[k]
        H[j, i] += beta[k]
    levels = np.linalg.eigvalsh(-H)
    return -2 * np.sum(levels[:len(alpha) // 2])


def problem(molecule: str = "naphthalene") -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the energy and its arguments: the parameters of carbon, and the bonds."""
    bonds = np.array(MOLECULES[molecule])
    return energy, ((np.zeros(bonds.max() + 1), np.ones(len(bonds))), bonds)


def main() -> dict[str, Any]:
    """Compute energies, charges and orders of bonds."""
    value_and_slope = tracejit.value_and_grad(energy)
    result: dict[str, Any] = {}
    for name in MOLECULES:
        _, arguments = problem(name)
        value, (charges, by_beta) = value_and_slope(*arguments)
        result[name] = {"energy": value, "charges": charges, "orders": by_beta / 2}
        print(f"{name:12} {value:8.4f} beta, bond orders {(by_beta / 2).round(4)}")
    orders = dict(zip(MOLECULES["naphthalene"], result["naphthalene"]["orders"]))
    orders = {tuple(sorted(bond)): order for bond, order in orders.items()}
    result["lengths"] = np.array([[orders[bond], length] for bond, length in LENGTHS.items()])
    return result


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw naphthalene, its bonds as thick as their order."""
    h = np.sqrt(3) / 2
    places = np.array([[0, 0.5], [h, 1], [2 * h, 0.5], [2 * h, -0.5], [h, -1], [0, -0.5], [-h, -1],
                       [-2 * h, -0.5], [-2 * h, 0.5], [-h, 1]])
    for (i, j), order in zip(MOLECULES["naphthalene"], result["naphthalene"]["orders"]):
        axes.plot(*places[[i, j]].T, color="C0", linewidth=10 * order ** 2)
        axes.text(*(0.5 * (places[i] + places[j]) * 1.18), f"{order:.3f}", ha="center", va="center")
    axes.plot(*places.T, "o", color="C1")
    axes.set(aspect="equal", xticks=[], yticks=[], title="naphthalene: orders of bonds")
