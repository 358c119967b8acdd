"""Three bodies on a figure eight, found by least action.

Chenciner and Montgomery, Annals of Mathematics 152 (2000): three equal masses follow one another
along one curve. Among curves q(t) of period 2 pi with bodies at q(t), q(t + T/3), q(t + 2T/3) the
one that minimises the action, kinetic plus 1/r integrated over time, is sought by its Fourier
coefficients.

What the gradient's zero means is checked by another path: Newton's equations, integrated from the
curve's places and speeds, come back to where they began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import tracejit

FIELD = "Astronomy"


def curve(modes: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places and speeds at times; x has odd sines of t, y even ones."""
    k = np.arange(1, modes.shape[1] + 1)
    phase = t[:, None] * k
    return np.sin(phase) @ modes.T, (k * np.cos(phase)) @ modes.T


def action(modes: np.ndarray, points: int) -> float:
    """Return the mean over the period of kinetic energy plus the potential's size."""
    t = 2 * np.pi * np.arange(points) / points
    q, v = curve(modes, t)
    p, _ = curve(modes, t + 2 * np.pi / 3)
    distance = np.sqrt(np.sum((q - p) ** 2, axis=1))
    return np.mean(1.5 * np.sum(v ** 2, axis=1) + 3.0 / distance)


def problem(count: int = 30, points: int = 240) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the action and its arguments: a rough figure eight."""
    modes = np.zeros((2, count))
    modes[0, 0], modes[1, 1] = 1.0, 0.4
    return action, (modes, points)


def main(count: int = 30, points: int = 240) -> dict[str, Any]:
    """Minimise the action, and integrate Newton's equations from the result."""
    loss, (start, _) = problem(count, points)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(start.shape), points)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="BFGS",
                     options={"gtol": 1e-10, "maxiter": 1000})
    modes = found.x.reshape(start.shape)

    def newton(_: float, state: np.ndarray) -> np.ndarray:
        q, v = state.reshape(2, 3, 2)
        d = q[None] - q[:, None]
        r = np.sum(d ** 2, axis=2, keepdims=True) + np.eye(3)[:, :, None]
        return np.concatenate([v.ravel(), np.sum(d / r ** 1.5, axis=1).ravel()])

    state = np.concatenate([part.ravel() for part in curve(modes, 2 * np.pi / 3 * np.arange(3))])
    path = solve_ivp(newton, (0.0, 2 * np.pi), state, "DOP853", rtol=1e-11, atol=1e-11,
                     t_eval=np.linspace(0.0, 2 * np.pi, 200)).y.T
    closes = np.abs(path[-1] - path[0]).max()
    print(f"action {found.fun:.6f}; by Newton's equations it closes to {closes:.1e}")
    return {"modes": modes, "action": found.fun, "closes": closes, "path": path}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the path of one body, and all three."""
    q = result["path"][:, :6].reshape(-1, 3, 2)
    axes.plot(*q[:, 0].T)
    axes.plot(*q[0].T, "o", markersize=9)
    axes.set(aspect="equal", xticks=[], yticks=[], title=f"action {result['action']:.4f}")
