"""Bundle adjustment: where the cameras stood and where the points are, from photographs.

A camera turns a point by its rotation vector (Rodrigues' formula), moves it, divides by the depth
and corrects for the lens: Triggs and others, "Bundle adjustment: a modern synthesis" (2000). The
unknowns are six numbers for each camera and three for each point; the loss is the squared distance
in the pictures. The first camera is held, which fixes place and direction; nothing fixes the
scale.

`jacfwd` of the residuals, of which there are more than unknowns, goes to `least_squares`;
`np.cross`, `np.outer` and rows that are filled in a loop are captured as they are. The gradient of
the loss takes less time than the residuals in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import tracejit

FIELD = "Robotics"
FOCAL, LENS = 500.0, -0.05


def project(camera: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return where a camera (rotation vector, translation) sees points, in pixels, [n, 2]."""
    angle = np.sqrt(np.sum(camera[:3] ** 2) + 1e-20)
    axis = camera[:3] / angle
    turned = (points * np.cos(angle) + np.cross(axis, points) * np.sin(angle)
              + np.outer(points @ axis, axis) * (1 - np.cos(angle))) + camera[3:]
    flat = turned[:, :2] / turned[:, 2:]
    return FOCAL * flat * (1 + LENS * np.sum(flat ** 2, axis=1, keepdims=True))


def residuals(x: np.ndarray, seen: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the errors in the pictures, in a row.

    x     -- the cameras but the first, then the points
    seen  -- where they were seen: [cameras, points, 2]
    first -- the first camera
    """
    free = 6 * (len(seen) - 1)
    cameras = np.vstack([first, x[:free].reshape(-1, 6)])
    points = x[free:].reshape(-1, 3)
    errors = np.empty_like(seen)
    for k, camera in enumerate(cameras):
        errors[k] = project(camera, points) - seen[k]
    return errors.ravel()


def loss(x: np.ndarray, seen: np.ndarray, first: np.ndarray) -> float:
    """Return half the sum of squared errors."""
    return 0.5 * np.sum(residuals(x, seen, first) ** 2)


def scene(cameras: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return cameras on an arc around points on a helix."""
    t = np.linspace(0.0, 4 * np.pi, points)
    helix = np.stack([np.cos(t), np.linspace(-1.0, 1.0, points), np.sin(t)], axis=1)
    turn = np.linspace(0.0, 1.2, cameras)
    zero = np.zeros(cameras)
    return np.stack([zero, turn, 0.1 * np.sin(3 * turn), 0.2 * turn, zero, 5.0 + zero], 1), helix


def problem(cameras: int = 6, points: int = 40) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a bad guess, the pictures and the first camera."""
    where, helix = scene(cameras, points)
    seen = np.array([project(c, helix) for c in where])
    x = np.concatenate([where[1:].ravel(), helix.ravel()])
    return loss, (x + 0.05 * np.random.default_rng(0).normal(size=x.size), seen, where[0])


def main(cameras: int = 6, points: int = 40) -> dict[str, Any]:
    """Adjust the bundle, with the Jacobian of the residuals."""
    _, (start, seen, first) = problem(cameras, points)
    jacobian = tracejit.jacfwd(residuals)
    found = least_squares(residuals, start, jacobian, args=(seen, first), method="lm")
    _, helix = scene(cameras, points)
    guess, place = (x[6 * (cameras - 1):].reshape(-1, 3) for x in (start, found.x))
    scale = np.linalg.norm(helix[-1] - helix[0]) / np.linalg.norm(place[-1] - place[0])
    centre = -first[3:]
    place = centre + scale * (place - centre)
    error, rms = np.abs(place - helix).max(), np.sqrt(np.mean(found.fun ** 2))
    print(f"rms error in pixels {rms:.1e}, worst point is off by {error:.1e}")
    return {"points": place, "truth": helix, "start": guess, "error": error, "rms": rms}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the points as first guessed, found and true."""
    for name, style in (("start", "x"), ("points", "o"), ("truth", "-")):
        axes.plot(result[name][:, 0], result[name][:, 1], style, markersize=4, linewidth=1,
                  label={"start": "first guess", "points": "found", "truth": "truth"}[name])
    axes.set(aspect="equal", xlabel="x", ylabel="y")
    axes.legend(fontsize=8)
