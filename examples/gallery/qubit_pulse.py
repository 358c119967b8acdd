"""A gate for a qubit that must not leak: pulses by gradient ascent.

A transmon has a third level; pulses on x and y are to turn the lower two by pi and leave nothing
up there. The evolution is a product of exp(-i H dt): Khaneja and others, Journal of Magnetic
Resonance 172 (2005), called GRAPE; the level spacing is that of Motzoi and others, Physical Review
Letters 103 (2009).

`scipy.linalg.expm` of complex matrices within a loop is differentiated, exactly and not to first
order in dt, as the formulas of the paper are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize

import tracejit

FIELD = "Quantum mechanics"
LOWER = np.diag(np.sqrt([1.0, 2.0]), 1).astype(complex)
DETUNED = np.diag([0.0, 0.0, -2 * np.pi * 0.3]).astype(complex)
TARGET = np.array([[0.0, 1.0], [1.0, 0.0]])


def evolution(pulse: np.ndarray, dt: float) -> np.ndarray:
    """Return the unitary of pulses on x and y, [steps, 2], in radians per nanosecond."""
    U = np.eye(3, dtype=complex)
    for x, y in pulse:
        drive = 0.5 * (x - 1j * y) * LOWER
        U = expm(-1j * dt * (DETUNED + drive + drive.conj().T)) @ U
    return U


def infidelity(pulse: np.ndarray, dt: float, weight: float) -> float:
    """Return one minus the fidelity of the gate, and a penalty on jumps of the pulse."""
    overlap = np.trace(TARGET.T @ evolution(pulse, dt)[:2, :2])
    edges = np.concatenate((np.zeros((1, 2)), pulse, np.zeros((1, 2))))
    return 1 - np.abs(overlap) ** 2 / 4 + weight * np.sum(np.diff(edges, axis=0) ** 2)


def problem(steps: int = 40) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a Gaussian pulse of eight nanoseconds."""
    dt = 8.0 / steps
    t = np.linspace(-1.0, 1.0, steps)
    bell = np.exp(-4 * t ** 2)
    x = np.pi * bell / (np.sum(bell) * dt)
    return infidelity, (np.stack([x, 0.1 * t * x], axis=1), dt, 1e-6)


def main(steps: int = 40) -> dict[str, Any]:
    """Shape the pulse."""
    loss, (start, dt, weight) = problem(steps)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray, weight: float) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(-1, 2), dt, weight)
        return value, slope.ravel()

    pulse = start.ravel()
    for weight in (1e-6, 1e-8):
        pulse = minimize(flat, pulse, weight, jac=True, method="BFGS",
                         options={"gtol": 1e-9, "maxiter": 500}).x
    pulse = pulse.reshape(-1, 2)
    before, after = infidelity(start, dt, 0.0), infidelity(pulse, dt, 0.0)
    leaks = np.sum(np.abs(evolution(pulse, dt)[2, :2]) ** 2) / 2
    print(f"infidelity {before:.1e} -> {after:.1e}, leaks {leaks:.1e}")
    return {"start": start, "pulse": pulse, "before": before, "after": after, "leaks": leaks,
            "dt": dt}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the pulses."""
    t = result["dt"] * np.arange(len(result["pulse"]))
    for k, name in enumerate("xy"):
        axes.step(t, result["pulse"][:, k], color=f"C{k}", label=f"{name}, shaped")
        axes.step(t, result["start"][:, k], ":", color=f"C{k}", label=f"{name}, at first")
    axes.set(xlabel="nanoseconds", ylabel="radians per nanosecond")
    axes.legend()
