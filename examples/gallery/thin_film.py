"""An antireflection coating: the thicknesses of its layers by transfer matrices.

A layer of index n and thickness d has the matrix [[cos a, i sin a / n], [i n sin a, cos a]] with a
= 2 pi n d / lambda; the product of all of them gives the reflectance (Macleod, "Thin-film optical
filters", section 2.5). One layer of index sqrt(n of the glass) is best at a quarter of a
wavelength.

Complex matrices of all wavelengths are multiplied in a loop over layers with `@` and `np.array` of
nested lists; the gradient by real thicknesses is real.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Optics"
GLASS = 1.52


def reflectance(thickness: np.ndarray, index: np.ndarray, wavelength: np.ndarray) -> np.ndarray:
    """Return the reflectance at normal incidence at each wavelength."""
    M = np.zeros((len(wavelength), 2, 2), complex)
    M[:] = np.eye(2)
    for n, d in zip(index, thickness):
        a = 2 * np.pi * n * d / wavelength
        layer = np.array([[np.cos(a), 1j * np.sin(a) / n], [1j * n * np.sin(a), np.cos(a)]])
        M = M @ layer.transpose(2, 0, 1)
    B = M[:, 0, 0] + M[:, 0, 1] * GLASS
    C = M[:, 1, 0] + M[:, 1, 1] * GLASS
    r = (B - C) / (B + C)
    return np.abs(r) ** 2


def mean_reflectance(thickness: np.ndarray, index: np.ndarray, wavelength: np.ndarray) -> float:
    """Return the mean over all wavelengths, in percent."""
    return 100 * np.mean(reflectance(thickness, index, wavelength))


def problem(layers: int = 6, lines: int = 81) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: layers of MgF2 and TiO2 by turns, lengths in µm."""
    index = np.array([1.38, 2.35] * (layers // 2) + [1.38] * (layers % 2))
    start = np.full(layers, 0.1 / np.sqrt(layers))
    return mean_reflectance, (start, index, np.linspace(0.42, 0.68, lines))


def main(layers: int = 6, lines: int = 81) -> dict[str, Any]:
    """Find the thicknesses, from a few starts."""
    loss, (start, index, wavelength) = problem(layers, lines)
    value_and_slope = tracejit.value_and_grad(loss)
    rng = np.random.default_rng(0)
    found = min((minimize(value_and_slope, start * rng.uniform(0.3, 2.0, layers),
                          (index, wavelength), jac=True, method="L-BFGS-B",
                          bounds=[(0.0, 0.3)] * layers) for _ in range(20)), key=lambda r: r.fun)
    bare = 100 * ((GLASS - 1) / (GLASS + 1)) ** 2
    one = minimize(value_and_slope, [0.05], (np.sqrt([GLASS]), np.array([0.55])), jac=True,
                   method="L-BFGS-B", bounds=[(0.0, 0.2)], options={"gtol": 1e-9})
    print(f"reflects {found.fun:.3f} %, bare glass {bare:.2f} %")
    print(f"one layer: {one.x[0]:.5f} µm, a quarter wave is {0.55 / 4 / np.sqrt(GLASS):.5f} µm")
    return {"thickness": found.x, "reflects": found.fun, "bare": bare, "one": one.x[0],
            "wavelength": wavelength, "spectrum": reflectance(found.x, index, wavelength)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the spectrum of what is reflected."""
    axes.plot(1000 * result["wavelength"], 100 * result["spectrum"], label="coated")
    axes.axhline(result["bare"], linestyle=":", color="C1", label="bare glass")
    axes.set(xlabel="wavelength in nm", ylabel="reflects, %")
    axes.legend()
