"""What a pilot wants: the weights of a linear-quadratic regulator from its gains.

A regulator minimises the sum of x'Qx + u'Ru along x -> Ax + Bu. Its gains come from the Riccati
recursion, P -> Q + A'P(A - BK) with K = (R + B'PB)^-1 B'PA (Anderson and Moore, "Optimal control:
linear quadratic methods", 1990, section 2.4). Here the gains are known, of an aircraft's pitch,
and Q is looked for: inverse optimal control (Kalman, "When is a linear control system optimal?",
1964).

The gradient goes through 60 steps of the recursion and as many solutions of linear systems. `jit`
and `value_and_grad` take the same function, and a loop over matrices stays a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize

import tracejit

FIELD = "Control"
WEIGHTS = np.array([0.05, 1.0, 4.0])


def gains(q: np.ndarray, A: np.ndarray, B: np.ndarray, R: np.ndarray, horizon: int) -> np.ndarray:
    """Return the gains of the first step, for weights q on the diagonal of Q."""
    P = np.diag(q)
    for _ in range(horizon):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = np.diag(q) + A.T @ P @ (A - B @ K)
    return K


def mismatch(log_q: np.ndarray, A: np.ndarray, B: np.ndarray, R: np.ndarray, seen: np.ndarray,
             horizon: int) -> float:
    """Return how far the gains for these weights are from those that were seen."""
    K = gains(np.exp(log_q), A, B, R, horizon)
    return np.sum((K - seen) ** 2)


def problem(horizon: int = 60) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: an aircraft's pitch, of attack, rate and pitch angle."""
    slopes = np.array([[-0.313, 56.7, 0.0], [-0.0139, -0.426, 0.0], [0.0, 56.7, 0.0]])
    push = np.array([[0.232], [0.0203], [0.0]])
    step = 0.05
    both = expm(step * np.block([[slopes, push], [np.zeros((1, 4))]]))
    A, B, R = both[:3, :3], both[:3, 3:], np.array([[1.0]])
    return mismatch, (np.zeros(3), A, B, R, gains(WEIGHTS, A, B, R, horizon), horizon)


def main(horizon: int = 60) -> dict[str, Any]:
    """Find the weights."""
    loss, (start, *data) = problem(horizon)
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True, method="BFGS",
                     options={"gtol": 1e-10})
    A, B, R, seen, _ = data
    K = gains(np.exp(found.x), A, B, R, horizon)
    path = [np.array([0.0, 0.0, 0.2])]
    for _ in range(200):
        path.append((A - B @ K) @ path[-1])
    print("weights found ", np.exp(found.x).round(4))
    print("weights hidden", WEIGHTS)
    return {"weights": np.exp(found.x), "gains": K, "seen": seen, "path": np.array(path)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw how the regulator that was found brings the aircraft back."""
    time = 0.05 * np.arange(len(result["path"]))
    for k, name in enumerate(("angle of attack", "pitch rate × 10", "pitch angle")):
        axes.plot(time, result["path"][:, k] * (10 if k == 1 else 1), label=name)
    axes.set(xlabel="seconds", ylabel="radians")
    axes.legend()
