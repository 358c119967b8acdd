"""A planet around another star: its orbit from the star's radial velocity.

v = c + K (cos(w + f) + e cos w), with the true anomaly f from Kepler's equation E - e sin E = M:
Murray and Correia, "Keplerian orbits and dynamics of exoplanets" (2010), equations 65 and 61. The
equation is solved by Newton's method for each observation, until it holds.

Newton's loop ends at another step for each observation. Its derivative is that of the steps that
ran, which agrees with the implicit function theorem to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Astronomy"
HIDDEN = np.array([4.23, 56.0, 0.35, 1.2, 0.8, -12.0])
NAMES = ("period, days", "K, m/s", "eccentricity", "argument", "phase", "offset, m/s")


def velocity(orbit: np.ndarray, t: float) -> float:
    """Return the radial velocity of the star at a time."""
    period, K, e, w, phase, offset = orbit
    M = (2 * np.pi * t / period - phase) % (2 * np.pi)
    E = M + e * np.sin(M)
    while True:
        step = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E -= step
        if abs(step) < 1e-12:
            break
    f = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    return offset + K * (np.cos(w + f) + e * np.cos(w))


def chi_squared(orbit: np.ndarray, times: np.ndarray, seen: np.ndarray, error: float) -> float:
    """Return half the sum of squared errors in units of the instrument's."""
    total = 0.0
    for i in range(len(times)):
        total += 0.5 * ((velocity(orbit, times[i]) - seen[i]) / error) ** 2
    return total


def problem(observations: int = 60) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a guess, times, velocities and their error."""
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0.0, 90.0, observations))
    seen = np.array([velocity(HIDDEN, t) for t in times]) + rng.normal(0.0, 3.0, observations)
    return chi_squared, (np.array([4.22, 40.0, 0.2, 1.0, 0.6, 0.0]), times, seen, 3.0)


def main(observations: int = 60) -> dict[str, Any]:
    """Fit the orbit, with errors from the Hessian."""
    loss, (start, *data) = problem(observations)
    bounds = [(4.1, 4.4), (1.0, 200.0), (0.0, 0.95), (-4.0, 4.0), (-4.0, 4.0), (-100.0, 100.0)]
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True, method="SLSQP",
                     bounds=bounds, options={"maxiter": 500, "ftol": 1e-10})
    errors = np.sqrt(np.diag(np.linalg.inv(tracejit.hessian(loss)(found.x, *data))))
    for name, value, error, truth in zip(NAMES, found.x, errors, HIDDEN):
        print(f"{name:14} {value:9.4f} ± {error:.4f}, was {truth:g}")
    return {"orbit": found.x, "errors": errors, "times": data[0], "seen": data[1],
            "value": found.fun}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw velocities, folded by the period."""
    period = result["orbit"][0]
    axes.errorbar(result["times"] % period, result["seen"], yerr=3.0, fmt=".", label="observed")
    t = np.linspace(0.0, period, 200)
    axes.plot(t, [velocity(result["orbit"], x) for x in t], label="orbit")
    axes.set(xlabel="days, modulo the period", ylabel="m/s")
    axes.legend()
