"""Seeing without a lens: an image from the magnitudes of its Fourier transforms.

A detector measures intensities of diffracted light and no phases. With a few known masks in front
of the object they determine it, up to one phase for all, and gradient descent finds it from a
start by the power method: Candès, Li and Soltanolkotabi, "Phase retrieval via Wirtinger flow",
IEEE Transactions on Information Theory 61 (2015), sections 2 and 4; large intensities are left out
of the start (Chen and Candès, Communications on Pure and Applied Mathematics 70, 2017).

The unknowns are complex, the loss is real, and its gradient points uphill: x - rate * gradient
goes down. `np.fft.fft2` is differentiated as it is called, on a stack of images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Optics"


def misfit(image: np.ndarray, masks: np.ndarray, intensity: np.ndarray) -> float:
    """Return the mean squared error of the intensities behind all masks."""
    field = np.fft.fft2(masks * image, norm="ortho")
    return np.mean((np.abs(field) ** 2 - intensity) ** 2)


def specimen(n: int) -> np.ndarray:
    """Return an image: two cells that absorb and delay the light."""
    y, x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    image = np.ones((n, n), complex)
    image[(x + 0.3) ** 2 + (y - 0.1) ** 2 < 0.2] *= 0.7 * np.exp(1.2j)
    image[(x - 0.35) ** 2 + 2 * (y + 0.2) ** 2 < 0.15] *= 0.5 * np.exp(-0.8j)
    image[(x + 0.25) ** 2 + (y - 0.15) ** 2 < 0.03] *= 0.6
    return image


def problem(n: int = 64, count: int = 8) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a start by the power method, masks and intensities."""
    rng = np.random.default_rng(0)
    masks = rng.choice([1, -1, 1j, -1j], (count, n, n))
    intensity = np.abs(np.fft.fft2(masks * specimen(n), norm="ortho")) ** 2
    start = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    kept = intensity * (intensity < 4 * np.mean(intensity))
    for _ in range(50):
        field = np.fft.fft2(masks * start, norm="ortho")
        start = np.mean(masks.conj() * np.fft.ifft2(kept * field, norm="ortho"), axis=0)
        start /= np.linalg.norm(start)
    return misfit, (start * np.sqrt(n ** 2 * np.mean(intensity)), masks, intensity)


def main(n: int = 64, count: int = 8, steps: int = 400) -> dict[str, Any]:
    """Recover the image."""
    loss, (image, masks, intensity) = problem(n, count)
    value_and_slope = tracejit.value_and_grad(loss)
    momentum, history = np.zeros_like(image), []
    for _ in range(steps):
        value, slope = value_and_slope(image, masks, intensity)
        momentum = 0.9 * momentum - 0.02 * n ** 2 * slope
        image = image + momentum
        history.append(value)
    truth = specimen(n)
    image = image * np.exp(1j * np.angle(np.vdot(image, truth)))
    error = np.linalg.norm(image - truth) / np.linalg.norm(truth)
    print(f"relative error of the image {error:.1e}, misfit {history[0]:.1e} -> {history[-1]:.1e}")
    return {"image": image, "error": error, "history": np.array(history)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the phase that was not measured."""
    shown = axes.imshow(np.angle(result["image"]), cmap="twilight", vmin=-np.pi, vmax=np.pi)
    axes.figure.colorbar(shown, ax=axes, label="phase recovered")
    axes.set(xticks=[], yticks=[])
