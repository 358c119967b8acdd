"""Where a wave came from: the initial state of Burgers' equation from a later one.

u_t + (u²/2)_x = v u_xx steepens what is smooth. A finite-volume method with Rusanov's flux
(LeVeque, "Finite volume methods for hyperbolic problems", 2002, section 12.5) steps it, and the
initial state is sought that leads to what was seen before and after the front has formed:
variational data assimilation (Le Dimet and Talagrand, Tellus 38A, 1986).

`np.roll`, `np.maximum` and `np.abs` are differentiated where they are smooth, which is nearly
everywhere; the adjoint of the scheme is the scheme's own, not that of the equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Partial differential equations"
VISCOSITY = 0.004


def evolve(u: np.ndarray, steps: int, dt: float) -> np.ndarray:
    """Return the state after each step, on a ring of length one."""
    dx = 1.0 / len(u)
    film = np.empty((steps, len(u)))
    for n in range(steps):
        right = np.roll(u, -1)
        speed = np.maximum(np.abs(u), np.abs(right))
        flux = 0.25 * (u ** 2 + right ** 2) - (0.5 * speed + VISCOSITY / dx) * (right - u)
        u = u - dt / dx * (flux - np.roll(flux, 1))
        film[n] = u
    return film


def misfit(u: np.ndarray, seen: np.ndarray, steps: int, dt: float, weight: float) -> float:
    """Return the squared errors where and when it was seen, and a penalty on roughness."""
    film = evolve(u, steps, dt)
    error = film[steps // 4 - 1::steps // 4, ::4] - seen
    return np.sum(error ** 2) + weight * np.sum((np.roll(u, -1) - u) ** 2)


def first_state(n: int) -> np.ndarray:
    """Return what is to be found."""
    x = np.arange(n) / n
    return 0.3 + 0.6 * np.exp(-((x - 0.3) / 0.1) ** 2) - 0.3 * np.exp(-((x - 0.7) / 0.08) ** 2)


def problem(n: int = 128, steps: int = 120) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: an even state, what was seen, and the method's steps."""
    dt = 0.3 / steps
    seen = evolve(first_state(n), steps, dt)[steps // 4 - 1::steps // 4, ::4]
    seen = seen + 0.005 * np.random.default_rng(0).normal(size=seen.shape)
    return misfit, (np.full(n, 0.3), seen, steps, dt, 3e-3)


def main(n: int = 128, steps: int = 120) -> dict[str, Any]:
    """Find the first state."""
    loss, (start, *data) = problem(n, steps)
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True,
                     method="L-BFGS-B", options={"maxiter": 1000})
    error = np.sqrt(np.mean((found.x - first_state(n)) ** 2))
    print(f"rms error of the first state {error:.3f}, of the first guess "
          f"{np.sqrt(np.mean((start - first_state(n)) ** 2)):.3f}")
    return {"found": found.x, "truth": first_state(n), "error": error, "steps": steps,
            "last": evolve(found.x, steps, 0.3 / steps)[-1]}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the states."""
    x = np.arange(len(result["found"])) / len(result["found"])
    axes.plot(x, result["truth"], label="first state")
    axes.plot(x, result["found"], ".", markersize=3, label="found")
    axes.plot(x, result["last"], label="last state")
    axes.set(xlabel="place", ylabel="u")
    axes.legend()
