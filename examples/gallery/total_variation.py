"""Denoising a picture: as little variation as the data allow.

The picture x minimises |x - y|² / 2 + w sum of sqrt(|grad x|² + e²), which smooths areas and keeps
edges: Rudin, Osher and Fatemi, Physica D 60 (1992), with the variation rounded off by e.

The gradient of differences along both axes is their transpose, of which no line is written. All of
the loss and its gradient is one pass over the picture and one over what it stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Images"


def energy(x: np.ndarray, noisy: np.ndarray, weight: float, rounded: float) -> float:
    """Return the distance from the noisy picture, plus the weight times the total variation."""
    down = x[1:, :-1] - x[:-1, :-1]
    right = x[:-1, 1:] - x[:-1, :-1]
    variation = np.sum(np.sqrt(down ** 2 + right ** 2 + rounded ** 2))
    return 0.5 * np.sum((x - noisy) ** 2) + weight * variation


def scene(n: int) -> np.ndarray:
    """Return a picture of a few shapes."""
    y, x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    picture = np.where(np.abs(x + y) < 0.35, 0.35, 0.15)
    picture[(x + 0.4) ** 2 + (y + 0.35) ** 2 < 0.16] = 0.9
    picture[(np.abs(x - 0.45) < 0.3) & (np.abs(y - 0.4) < 0.35)] = 0.65
    return picture


def problem(n: int = 96) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the energy and its arguments: the noisy picture, twice, weight and rounding."""
    noisy = scene(n) + 0.15 * np.random.default_rng(0).normal(size=(n, n))
    return energy, (noisy, noisy, 0.2, 1e-3)


def quality(picture: np.ndarray) -> float:
    """Return the ratio of signal to noise, in decibels."""
    return float(-10 * np.log10(np.mean((picture - scene(len(picture))) ** 2)))


def main(n: int = 96) -> dict[str, Any]:
    """Denoise the picture."""
    loss, (start, *data) = problem(n)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(n, n), *data)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": 500, "maxfun": 1000})
    clean = found.x.reshape(n, n)
    before, after = quality(start), quality(clean)
    print(f"peak signal to noise {before:.1f} dB -> {after:.1f} dB")
    return {"noisy": start, "clean": clean, "before": before, "after": after,
            "mean": abs(clean.mean() - start.mean())}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the picture before and after."""
    gap = np.full((len(result["clean"]), 3), np.nan)
    both = np.hstack([result["noisy"], gap, result["clean"]])
    axes.imshow(both, cmap="gray", vmin=-0.1, vmax=1.0)
    axes.set(xticks=[], yticks=[], title=f"{result['before']:.1f} dB, {result['after']:.1f} dB")
