"""Aligning two scans: the turn, size and shift that put one picture on the other.

A picture is read between its pixels by bilinear interpolation, at places that a similarity
transform gives, and compared with the other: Lucas and Kanade (1981). It goes from blurred to
sharp pictures, so that the first steps are not caught by details.

Indices come from data, by `np.floor` and `astype(int)`, and pick four neighbours of every pixel at
once. The gradient goes through the weights of the neighbours, as it should; indices have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.optimize import minimize

import tracejit

FIELD = "Images"
HIDDEN = np.array([0.25, 0.1, 4.3, -2.6])


def moved(picture: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return a picture turned by an angle, enlarged by exp(log of a scale) and shifted."""
    n, m = picture.shape
    angle, size, down, right = motion
    y, x = np.mgrid[:n, :m]
    y, x = y - (n - 1) / 2, x - (m - 1) / 2
    c, s = np.cos(angle) * np.exp(size), np.sin(angle) * np.exp(size)
    v = np.clip(c * y - s * x + down + (n - 1) / 2, 0.0, n - 1.001)
    u = np.clip(s * y + c * x + right + (m - 1) / 2, 0.0, m - 1.001)
    i, j = np.floor(v).astype(int), np.floor(u).astype(int)
    a, b = v - i, u - j
    return ((1 - a) * ((1 - b) * picture[i, j] + b * picture[i, j + 1])
            + a * ((1 - b) * picture[i + 1, j] + b * picture[i + 1, j + 1]))


def difference(motion: np.ndarray, picture: np.ndarray, other: np.ndarray) -> float:
    """Return the mean squared difference."""
    return np.mean((moved(picture, motion) - other) ** 2)


def scan(n: int) -> np.ndarray:
    """Return a picture: a head with what is in it."""
    y, x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    inside = (x / 0.65) ** 2 + (y / 0.8) ** 2
    picture = np.where(inside < 1, 1.0, 0.0) - np.where(inside < 0.85, 0.6, 0.0)
    picture += 0.3 * (((x + 0.2) / 0.12) ** 2 + ((y - 0.1) / 0.3) ** 2 < 1)
    picture -= 0.2 * (((x - 0.25) / 0.15) ** 2 + ((y + 0.1) / 0.35) ** 2 < 1)
    return picture + 0.3 * np.exp(-((x - 0.1) ** 2 + (y - 0.5) ** 2) / 0.02)


def problem(n: int = 80, blur: float = 1.5) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: hardly a motion, and both pictures."""
    picture = gaussian_filter(scan(n), 0.7)
    other = moved(picture, HIDDEN)
    return difference, (np.full(4, 0.03), *(gaussian_filter(p, blur) for p in (picture, other)))


def main(n: int = 80) -> dict[str, Any]:
    """Find the motion, from blurred to sharp."""
    value_and_slope = tracejit.value_and_grad(difference)
    motion, scale = np.zeros(4), np.array([0.1, 0.1, 3.0, 3.0])

    def scaled(x: np.ndarray, *pictures: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(scale * x, *pictures)
        return value, scale * slope

    for blur in (6.0, 3.0, 1.0, 0.01):
        _, (_, *pictures) = problem(n, blur)
        motion = scale * minimize(scaled, motion / scale, tuple(pictures), jac=True, method="BFGS",
                                  options={"gtol": 1e-9}).x
    print("found ", motion.round(4))
    print("hidden", HIDDEN)
    return {"motion": motion, "picture": pictures[0], "other": pictures[1],
            "aligned": moved(pictures[0], motion)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the two pictures' difference before and after."""
    gap = np.full((len(result["other"]), 1), np.nan)
    parts = [result["picture"], gap, result["picture"] - result["other"], gap,
             result["aligned"] - result["other"]]
    axes.imshow(np.hstack(parts), cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    axes.set(xticks=[], yticks=[], title="scan, difference before, and after")
