"""A lens of two glasses: surfaces by tracing rays.

Rays of several heights and colours are refracted at spherical surfaces by Snell's law in vector
form and meet the sensor; the mean square of where they meet it is minimised over the curvatures
(Kingslake and Johnson, "Lens design fundamentals", 2010, chapters 2 and 5). One thin element of
power P has a chromatic error of P / V; two of different glass can cancel theirs.

A lens is a list of objects of a class of the user's, made inside the loss. Attributes, methods and
a loop over the list are Python's; the compiled program is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Optics"
COLOURS = {"486 nm": (1.5224, 1.6321), "588 nm": (1.5168, 1.6200), "656 nm": (1.5143, 1.6150)}
"""Indices of crown glass BK7 and flint glass F2 at the lines F, d and C of hydrogen and helium."""


@dataclass
class Surface:
    """A sphere around the axis, of a curvature, at a place, with the index behind it."""

    curvature: Any
    place: float
    index: float

    def meet(self, z: Any, y: Any, dz: Any, dy: Any) -> tuple[Any, Any]:
        """Return where rays meet the surface."""
        c, z = self.curvature, z - self.place
        b = dz - c * (z * dz + y * dy)
        a = c * (z ** 2 + y ** 2) - 2 * z
        s = a / (b + np.sqrt(b ** 2 - c * a))
        return z + s * dz + self.place, y + s * dy

    def refract(self, z: Any, y: Any, dz: Any, dy: Any, before: float) -> tuple[Any, Any]:
        """Return the directions behind the surface."""
        nz, ny = 1 - self.curvature * (z - self.place), -self.curvature * y
        ratio = before / self.index
        cosine = dz * nz + dy * ny
        bend = np.sqrt(1 - ratio ** 2 * (1 - cosine ** 2)) - ratio * cosine
        return ratio * dz + bend * nz, ratio * dy + bend * ny


def trace(lens: list[Surface], heights: np.ndarray, sensor: float) -> list[tuple[Any, Any]]:
    """Return where parallel rays go: points at the start, at all surfaces, and at the sensor."""
    z, y = np.full(len(heights), -5.0), heights
    dz, dy, index = np.ones(len(heights)), np.zeros(len(heights)), 1.0
    points = [(z, y)]
    for surface in lens:
        z, y = surface.meet(z, y, dz, dy)
        dz, dy = surface.refract(z, y, dz, dy, index)
        index = surface.index
        points.append((z, y))
    points.append((np.full(len(heights), sensor), y + (sensor - z) * dy / dz))
    return points


def doublet(curvatures: np.ndarray, crown: float, flint: float) -> list[Surface]:
    """Return a cemented lens of crown and flint glass."""
    return [Surface(curvatures[0], 0.0, crown), Surface(curvatures[1], 6.0, flint),
            Surface(curvatures[2], 9.0, 1.0)]


def spot(curvatures: np.ndarray, heights: np.ndarray, indices: np.ndarray, sensor: float) -> float:
    """Return the mean square of the distance from the axis on the sensor, in µm²."""
    total = 0.0
    for k in range(len(indices)):
        lens = doublet(curvatures, indices[k, 0], indices[k, 1])
        total += np.mean(trace(lens, heights, sensor)[-1][1] ** 2)
    return 1e6 * total / len(indices)


def problem(rays: int = 15) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a single lens, in effect, for a focus 100 mm away."""
    start = np.array([0.01, -0.009, -0.009])
    return spot, (start, np.linspace(1.0, 12.5, rays), np.array(list(COLOURS.values())), 105.0)


def main(rays: int = 15) -> dict[str, Any]:
    """Find the curvatures, and those of a single lens of crown glass beside them."""
    value_and_slope = tracejit.value_and_grad(spot)

    def scaled(x: np.ndarray, *data: Any) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(0.01 * x, *data)
        return np.log(value), 0.01 * slope / value

    _, (start, heights, indices, sensor) = problem(rays)
    single = np.stack([indices[:, 0], indices[:, 0]], axis=1)
    best = [minimize(scaled, 100 * start, (heights, n, sensor), jac=True, method="L-BFGS-B",
                     bounds=[(-3.0, 3.0)] * 3, options={"maxiter": 500}).x / 100
            for n in (single, indices)]
    spots = [np.sqrt(spot(c, heights, n, sensor)) for c, n in zip(best, (single, indices))]
    print(f"rms spot: one glass {spots[0]:.1f} µm, two glasses {spots[1]:.1f} µm")
    return {"curvatures": best[1], "spots": spots, "heights": heights, "indices": indices,
            "sensor": sensor}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw lens and rays."""
    y = np.linspace(-14.0, 14.0, 50)
    lens = doublet(result["curvatures"], *result["indices"][1])
    for surface in lens:
        c = surface.curvature
        axes.plot(surface.place + c * y ** 2 / (1 + np.sqrt(1 - (c * y) ** 2)), y, color="C0")
    heights = np.concatenate([-result["heights"][::-3], result["heights"][::3]])
    for z, h in np.array(trace(lens, heights, result["sensor"])).transpose(2, 1, 0):
        axes.plot(z, h, color="C1", linewidth=0.7)
    axes.set(aspect="equal", xlabel="mm", ylabel="mm")
