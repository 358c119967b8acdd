"""Rate constants of stiff kinetics: Robertson's reactions.

A -> B slowly, B + B -> B + C fast, B + C -> A + C: Robertson (1966), a standard test of stiff
solvers (Hairer and Wanner, "Solving ordinary differential equations II", 1996, section IV.1). Time
is stepped by the implicit Euler method with Newton's iteration until it has converged, and the
steps grow with time.

A `while` loop that ends when a step is small, within a loop over time: the number of iterations is
data, kept for the way back. Rates differ by nine orders of magnitude, so their logarithms are
fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import tracejit

FIELD = "Chemistry"
HIDDEN = np.array([0.04, 3e7, 1e4])


def concentrations(k: np.ndarray, times: np.ndarray, steps: int) -> np.ndarray:
    """Return the concentrations of A, B and C at some times, by `steps` steps to each."""
    y = np.array([1.0, 0.0, 0.0])
    found = np.empty((len(times), 3))
    before = 0.0
    for n in range(len(times)):
        h = (times[n] - before) / steps
        before = times[n]
        for _ in range(steps):
            old, size = y, 1.0
            while size > 1e-12:
                a, b, c = y
                r1, r2, r3 = k[0] * a, k[1] * b * b, k[2] * b * c
                F = y - old - h * np.array([-r1 + r3, r1 - r2 - r3, r2])
                J = np.array([[-k[0], k[2] * c, k[2] * b],
                              [k[0], -2 * k[1] * b - k[2] * c, -k[2] * b],
                              [0.0, 2 * k[1] * b, 0.0]])
                change = np.linalg.solve(np.eye(3) - h * J, F)
                y = y - change
                size = np.max(np.abs(change))
        found[n] = y
    return found


def residuals(log_k: np.ndarray, times: np.ndarray, seen: np.ndarray, steps: int) -> np.ndarray:
    """Return the errors of the concentrations, B in units of 1e-5."""
    errors = concentrations(np.exp(log_k), times, steps) - seen
    return (errors * np.array([1.0, 1e5, 1.0])).ravel()


def loss(log_k: np.ndarray, times: np.ndarray, seen: np.ndarray, steps: int) -> float:
    """Return half the sum of squared errors."""
    return 0.5 * np.sum(residuals(log_k, times, seen, steps) ** 2)


def problem(points: int = 25, steps: int = 10) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a first guess, times and what was measured then."""
    times = np.geomspace(1e-3, 1e4, points)
    noise = np.random.default_rng(0).normal(size=(points, 3)) * [0.005, 5e-8, 0.005]
    seen = concentrations(HIDDEN, times, steps) + noise
    return loss, (np.log([0.1, 1e7, 3e3]), times, seen, steps)


def main(points: int = 25, steps: int = 10) -> dict[str, Any]:
    """Find the rates."""
    _, (start, *data) = problem(points, steps)
    found = least_squares(residuals, start, tracejit.jacfwd(residuals), args=tuple(data))
    variance = 2 * found.cost / (3 * points - 3)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    for name, k, error, truth in zip("123", np.exp(found.x), errors, HIDDEN):
        print(f"k{name} = {k:.3g} ± {100 * error:.1f} %, was {truth:.3g}")
    times = np.geomspace(1e-3, 1e4, 100)
    return {"log_k": found.x, "errors": errors, "times": data[0], "seen": data[1], "fine": times,
            "fit": concentrations(np.exp(found.x), times, steps)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw concentrations by the logarithm of time."""
    for k, (name, scale) in enumerate((("A", 1), ("B × 10⁴", 1e4), ("C", 1))):
        axes.semilogx(result["times"], scale * result["seen"][:, k], ".", color=f"C{k}")
        axes.semilogx(result["fine"], scale * result["fit"][:, k], color=f"C{k}", label=name)
    axes.set(xlabel="seconds", ylabel="concentration")
    axes.legend()
