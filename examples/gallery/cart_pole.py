"""Swinging up a pole on a cart: trajectory optimisation by single shooting.

A cart with a hanging pole is pushed so that after two seconds the pole stands and all is at rest.
The equations of motion are those of Kelly, "An introduction to trajectory optimization", SIAM
Review 59 (2017), equation 6.1; the pushes are held for a step each and integrated by Runge and
Kutta's method.

The gradient by all pushes is one sweep back through the simulation, whose states are kept by
themselves. What is written is a Python loop that unpacks and stacks small arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Control"
CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81
DURATION = 2.0


def motion(state: np.ndarray, push: float) -> np.ndarray:
    """Return the change per second of place, angle and their speeds."""
    _, angle, speed, turn = state
    s, c = np.sin(angle), np.cos(angle)
    below = CART + POLE * s ** 2
    cart = (LENGTH * POLE * s * turn ** 2 + push + POLE * GRAVITY * c * s) / below
    pole = -(LENGTH * POLE * c * s * turn ** 2 + push * c + (CART + POLE) * GRAVITY * s) / (
        LENGTH * below)
    return np.array([speed, turn, cart, pole])


def simulate(pushes: np.ndarray) -> np.ndarray:
    """Return the states before, between and after the pushes, from rest with a hanging pole."""
    h = DURATION / len(pushes)
    path = np.zeros((len(pushes) + 1, 4))
    for i, u in enumerate(pushes):
        x = path[i]
        k1 = motion(x, u)
        k2 = motion(x + h / 2 * k1, u)
        k3 = motion(x + h / 2 * k2, u)
        k4 = motion(x + h * k3, u)
        path[i + 1] = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def cost(pushes: np.ndarray, weight: float) -> float:
    """Return the effort, plus a penalty on not standing at rest one metre away at the end."""
    missed = simulate(pushes)[-1] - np.array([1.0, np.pi, 0.0, 0.0])
    return DURATION / len(pushes) * np.sum(pushes ** 2) + weight * np.sum(missed ** 2)


def problem(steps: int = 100) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the cost and its arguments: pushes and the weight of the penalty."""
    return cost, (np.sin(2 * np.pi * np.arange(steps) / steps), 1000.0)


def main(steps: int = 100) -> dict[str, Any]:
    """Find the pushes, with a penalty that gets heavier."""
    loss, (pushes, _) = problem(steps)
    value_and_slope = tracejit.value_and_grad(loss)
    for weight in (10.0, 100.0, 1000.0, 1e4, 1e5):
        pushes = minimize(value_and_slope, pushes, weight, jac=True, method="L-BFGS-B",
                          options={"maxiter": 2000, "maxfun": 4000}).x
    path = simulate(pushes)
    effort = DURATION / steps * np.sum(pushes ** 2)
    print(f"effort {effort:.2f} N²s, state at the end {path[-1].round(4)}")
    return {"pushes": pushes, "path": path, "effort": effort}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw cart and pole as they move."""
    path = result["path"]
    tips = path[:, 0] + LENGTH * np.sin(path[:, 1]), -LENGTH * np.cos(path[:, 1])
    for i in range(0, len(path), max(1, len(path) // 25)):
        axes.plot([path[i, 0], tips[0][i]], [0.0, tips[1][i]], color="C0", linewidth=1,
                  alpha=0.3 + 0.7 * i / len(path))
    axes.plot(*tips, color="C1", label="tip of the pole")
    axes.plot(path[:, 0], 0 * path[:, 0], ".", markersize=3, color="C2", label="cart")
    axes.set(xlabel="metres", aspect="equal")
    axes.legend()
