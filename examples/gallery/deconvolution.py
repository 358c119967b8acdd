"""Sharpening a shaken photograph: deconvolution.

The camera moved while the shutter was open, so the photograph is the scene convolved with the path
of the shake, and noise. The scene x minimises |k * x - y|² / 2 + w sum of sqrt(|grad x|² + e²):
the prior of Rudin and Osher (ICIP 1994), with a known path k.

`scipy.signal.fftconvolve` is captured, modes and all; its gradient is a correlation with the same
path, which comes out by itself. What is lost at the borders has no gradient, as it should.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.signal import fftconvolve

import tracejit

FIELD = "Images"


def energy(x: np.ndarray, path: np.ndarray, photo: np.ndarray, weight: float) -> float:
    """Return how badly a scene explains the photograph, plus its weighted total variation."""
    misfit = 0.5 * np.sum((fftconvolve(x, path, mode="valid") - photo) ** 2)
    down, right = np.diff(x, axis=0)[:, :-1], np.diff(x, axis=1)[:-1]
    return misfit + weight * np.sum(np.sqrt(down ** 2 + right ** 2 + 1e-6))


def shake(size: int) -> np.ndarray:
    """Return the path: a loop of the hand."""
    t = np.linspace(0.0, 1.0, 200)
    path = np.zeros((size, size))
    row = ((size - 1) * (0.5 + 0.45 * np.sin(4 * t))).round().astype(int)
    column = ((size - 1) * t).round().astype(int)
    np.add.at(path, (row, column), 1 / 200)
    return path


def scene(n: int) -> np.ndarray:
    """Return a picture: a chequered plate with rings."""
    y, x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    rings = 0.5 + 0.5 * np.sign(np.cos(22 * np.hypot(x, y)))
    plate = 0.3 + 0.4 * ((np.floor(3 * x) + np.floor(3 * y)) % 2)
    return np.where(np.hypot(x, y) < 0.6, rings, plate)


def problem(n: int = 96, size: int = 11) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the energy and its arguments: a first scene, path, photograph and weight."""
    path = shake(size)
    photo = fftconvolve(scene(n), path, mode="valid")
    photo = photo + 0.01 * np.random.default_rng(0).normal(size=photo.shape)
    return energy, (np.pad(photo, size // 2, mode="edge"), path, photo, 5e-4)


def main(n: int = 96) -> dict[str, Any]:
    """Sharpen the photograph."""
    loss, (start, *data) = problem(n)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(n, n), *data)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": 400, "maxfun": 1000})
    sharp, inner = found.x.reshape(n, n), slice(n // 8, -n // 8)
    before, after = (-10 * np.log10(np.mean((x - scene(n))[inner, inner] ** 2))
                     for x in (start, sharp))
    print(f"peak signal to noise {before:.1f} dB -> {after:.1f} dB")
    return {"photo": start, "sharp": sharp, "before": before, "after": after}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the photograph before and after."""
    gap = np.full((len(result["sharp"]), 3), np.nan)
    axes.imshow(np.hstack([result["photo"], gap, result["sharp"]]), cmap="gray", vmin=0, vmax=1)
    axes.set(xticks=[], yticks=[], title=f"{result['before']:.1f} dB, {result['after']:.1f} dB")
