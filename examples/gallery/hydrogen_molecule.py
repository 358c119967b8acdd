"""The length of the bond in H2, by Hartree's and Fock's method.

Orbitals are sums of three Gaussians (STO-3G); integrals of Gaussians have closed forms with the
error function, and the field is iterated until it agrees with itself: Szabo and Ostlund, "Modern
quantum chemistry" (1989), section 3.5 and appendix A. There the energy at 1.4 bohr is -1.1167
hartree, and its minimum is at 1.346 bohr.

Four loops over basis functions fill an array of integrals, and a `while` loop with
`scipy.linalg.eigh` ends by data. The force is the gradient of all of it; Pulay's terms, which one
has to add by hand because the basis moves with the atoms, are in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import erf

import tracejit

FIELD = "Chemistry"
EXPONENTS = np.array([0.168856, 0.623913, 3.42525])
WEIGHTS = np.array([0.444635, 0.535328, 0.154329]) * (2 * EXPONENTS / np.pi) ** 0.75


def boys(t: float) -> float:
    """Return the integral of exp(-t s²) over s from 0 to 1."""
    if t < 1e-8:
        return 1.0 - t / 3.0
    return 0.5 * np.sqrt(np.pi / t) * erf(np.sqrt(t))


def integrals(places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return overlaps, kinetic energy with attraction by the nuclei, and repulsion of electrons."""
    n = len(places)
    S, H, G = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n, n, n))
    for i in range(n):
        for j in range(n):
            for a, u in zip(EXPONENTS, WEIGHTS):
                for b, v in zip(EXPONENTS, WEIGHTS):
                    p, r2 = a + b, np.sum((places[i] - places[j]) ** 2)
                    centre = (a * places[i] + b * places[j]) / p
                    w = u * v * np.exp(-a * b / p * r2)
                    S[i, j] += w * (np.pi / p) ** 1.5
                    H[i, j] += w * (np.pi / p) ** 1.5 * a * b / p * (3 - 2 * a * b / p * r2)
                    for k in range(n):
                        t = p * np.sum((centre - places[k]) ** 2)
                        H[i, j] -= w * 2 * np.pi / p * boys(t)
                    for k in range(n):
                        for l in range(n):
                            G[i, j, k, l] += w * pair(p, centre, places[k], places[l])
    return S, H, G


def pair(p: float, centre: np.ndarray, A: np.ndarray, B: np.ndarray) -> float:
    """Return the repulsion by the product of two orbitals, at A and B, of a Gaussian."""
    total = 0.0
    for a, u in zip(EXPONENTS, WEIGHTS):
        for b, v in zip(EXPONENTS, WEIGHTS):
            q, other = a + b, (a * A + b * B) / (a + b)
            w = u * v * np.exp(-a * b / q * np.sum((A - B) ** 2))
            t = p * q / (p + q) * np.sum((centre - other) ** 2)
            total += w * 2 * np.pi ** 2.5 / (p * q * np.sqrt(p + q)) * boys(t)
    return total


def energy(places: np.ndarray) -> float:
    """Return the energy of two electrons and protons at places, [2, 3], in hartree."""
    S, H, G = integrals(places)
    P, F, change = np.zeros_like(S), H, 1.0
    while change > 1e-11:
        _, C = eigh(F, S)
        new = 2 * np.outer(C[:, 0], C[:, 0])
        change = np.max(np.abs(new - P))
        P = new
        F = H + np.einsum("kl,ijkl->ij", P, G) - 0.5 * np.einsum("kl,ilkj->ij", P, G)
    return 0.5 * np.sum(P * (H + F)) + 1.0 / np.sqrt(np.sum((places[0] - places[1]) ** 2))


def problem() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the energy and its argument: two protons 1.4 bohr apart, askew."""
    return energy, (np.array([[0.0, 0.0, 0.0], [0.8, 0.6, np.sqrt(0.96)]]),)


def main() -> dict[str, Any]:
    """Move the protons to where no force is left, and follow the energy along the bond."""
    value_and_slope = tracejit.value_and_grad(energy)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(2, 3))
        return value, slope.ravel()

    start = problem()[1][0]
    found = minimize(flat, start.ravel(), jac=True, method="BFGS", options={"gtol": 1e-7})
    length = np.linalg.norm(found.x[:3] - found.x[3:])
    lengths = np.linspace(0.8, 4.0, 33)
    curve = [value_and_slope(np.array([[0.0, 0, 0], [r, 0, 0]]))[0] for r in lengths]
    known = value_and_slope(start)[0]
    print(f"energy at 1.4 bohr {known:.4f}, at {length:.4f} bohr {found.fun:.4f}")
    return {"at 1.4": known, "length": length, "energy": found.fun,
            "lengths": lengths, "curve": np.array(curve)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the energy by the length of the bond."""
    axes.plot(result["lengths"], result["curve"])
    axes.plot(result["length"], result["energy"], "o", label=f"minimum at {result['length']:.3f}")
    axes.set(xlabel="bohr", ylabel="hartree")
    axes.legend()
