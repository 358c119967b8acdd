"""Inverse kinematics: the angles of a robot's six joints that put its hand where it should be.

The hand's place and orientation are a product of transforms of Denavit and Hartenberg, Journal of
Applied Mechanics 22 (1955), with the lengths of a Puma 560 (Corke, "Robotics, vision and control",
2011, section 7.2). Levenberg's and Marquardt's steps with the Jacobian solve for the angles.

`jacobian` takes the function that computes the pose; no derivative of a rotation is written by
hand. `value_and_grad` of the squared error is timed and tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Robotics"
LINKS = [(0.0, 0.0, np.pi / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -np.pi / 2),
         (0.4318, 0.0, np.pi / 2), (0.0, 0.0, -np.pi / 2), (0.0, 0.0, 0.0)]


def link(angle: float, d: float, a: float, twist: float) -> np.ndarray:
    """Return the transform from one joint to the next."""
    c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
    return np.array([[c, -s * ct, s * st, a * c], [s, c * ct, -c * st, a * s], [0, st, ct, d],
                     [0, 0, 0, 1]])


def joints(angles: np.ndarray) -> list[np.ndarray]:
    """Return the transforms of all joints; the last is that of the hand."""
    poses = [np.eye(4)]
    for angle, (d, a, twist) in zip(angles, LINKS):
        poses.append(poses[-1] @ link(angle, d, a, twist))
    return poses


def pose(angles: np.ndarray) -> np.ndarray:
    """Return the hand's orientation and place, as twelve numbers."""
    return joints(angles)[-1][:3].ravel()


def error(angles: np.ndarray, wanted: np.ndarray) -> float:
    """Return the squared distance of a pose from the one that is wanted."""
    return np.sum((pose(angles) - wanted) ** 2)


def problem() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: angles, and a pose that can be reached."""
    hidden = np.array([0.4, 0.8, -0.5, 0.3, 0.6, -0.2])
    return error, (np.array([0.0, 0.3, -0.3, 0.0, 0.3, 0.0]), pose(hidden))


def solve(angles: np.ndarray, wanted: np.ndarray, steps: int = 100) -> np.ndarray:
    """Return angles for a pose, by Levenberg's and Marquardt's method."""
    jacobian, damping = tracejit.jacobian(pose), 1e-2
    for _ in range(steps):
        J, r = jacobian(angles), pose(angles) - wanted
        new = angles - np.linalg.solve(J.T @ J + damping * np.eye(len(angles)), J.T @ r)
        if error(new, wanted) < error(angles, wanted):
            angles, damping = new, damping / 3
        else:
            damping *= 4
    return angles


def main(points: int = 40) -> dict[str, Any]:
    """Follow a circle with the hand turned one way."""
    _, (angles, wanted) = problem()
    angles = solve(angles, wanted)
    path, worst = [], 0.0
    for t in np.linspace(0.0, 2 * np.pi, points):
        moved = wanted.reshape(3, 4).copy()
        moved[:, 3] += 0.12 * np.array([0.0, np.sin(t), np.cos(t) - 1.0])
        angles = solve(angles, moved.ravel(), 30)
        worst = max(worst, error(angles, moved.ravel()) ** 0.5)
        path.append(np.array([T[:3, 3] for T in joints(angles)]))
    print(f"the hand is off by {worst:.1e} at most")
    return {"path": np.array(path), "worst": worst, "angles": angles}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the arm on its way, from the front."""
    for k, arm in enumerate(result["path"][::4]):
        axes.plot(arm[:, 1], arm[:, 2], "o-", color="C0", markersize=3, linewidth=1,
                  alpha=0.2 + 0.08 * k)
    axes.plot(result["path"][:, -1, 1], result["path"][:, -1, 2], color="C1", label="hand")
    axes.set(aspect="equal", xlabel="y in m", ylabel="z in m")
    axes.legend()
