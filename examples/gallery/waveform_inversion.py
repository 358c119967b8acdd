"""Full waveform inversion in one dimension: layers of rock from a record of echoes.

A pulse goes down from the surface; what comes back is recorded there. u_tt = c² u_xx is stepped by
central differences, with a boundary that absorbs below (Clayton and Engquist, Bulletin of the
Seismological Society of America 67, 1977). The speed c(x) is found that gives the record, the long
waves of it first (Bunks and others, Geophysics 60, 1995). What reverse mode does here is the
adjoint state method (Plessix, Geophysical Journal International 167, 2006), which one would derive
by hand.

Slices of three arrays that change their roles at each step are captured as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Geophysics"
DX, DT = 0.01, 0.002


def record(c: np.ndarray, pulse: np.ndarray) -> np.ndarray:
    """Return the pressure near the surface at each step."""
    r = (c * DT / DX) ** 2
    old, now = np.zeros(len(c)), np.zeros(len(c))
    trace = np.zeros(len(pulse))
    for n in range(len(pulse)):
        new = np.zeros(len(c))
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + r[1:-1] * (now[2:] - 2 * now[1:-1] + now[:-2])
        new[-1] = now[-1] - c[-1] * DT / DX * (now[-1] - now[-2])
        new[0] = now[0] + c[0] * DT / DX * (now[1] - now[0])
        new[1] += DT ** 2 * pulse[n]
        old, now = now, new
        trace[n] = now[2]
    return trace


def misfit(c: np.ndarray, pulse: np.ndarray, recorded: np.ndarray) -> float:
    """Return the squared error of the record, relative to the record."""
    return np.sum((record(c, pulse) - recorded) ** 2) / np.sum(recorded ** 2)


def ricker(frequency: float, steps: int) -> np.ndarray:
    """Return Ricker's wavelet."""
    a = (np.pi * frequency * (DT * np.arange(steps) - 1.2 / frequency)) ** 2
    return (1 - 2 * a) * np.exp(-a) / DT ** 2


def rock(n: int) -> np.ndarray:
    """Return speeds of four layers, in km/s."""
    c = np.full(n, 1.8)
    c[n // 4:], c[n // 2:], c[3 * n // 4:] = 2.2, 2.0, 2.6
    return c


def problem(n: int = 120, steps: int = 800) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: speeds that grow with depth, the pulse, and the record."""
    pulse = ricker(4.0, steps)
    return misfit, (np.linspace(1.8, 2.5, n), pulse, record(rock(n), pulse))


def main(n: int = 120, steps: int = 800) -> dict[str, Any]:
    """Find the layers, from low to high frequencies."""
    loss, (start, *_) = problem(n, steps)
    value_and_slope = tracejit.value_and_grad(loss)
    c = start
    for frequency in (2.0, 4.0, 8.0, 12.0):
        pulse = ricker(frequency, steps)
        found = minimize(value_and_slope, c, (pulse, record(rock(n), pulse)), jac=True,
                         method="L-BFGS-B", bounds=[(1.2, 4.0)] * n,
                         options={"maxiter": 200, "ftol": 1e-14, "gtol": 1e-9})
        c = found.x
    error = np.mean(np.abs(c - rock(n)))
    print(f"misfit {found.fun:.1e}, speeds are off by {error:.3f} km/s on average, "
          f"at the start {np.mean(np.abs(start - rock(n))):.3f}")
    return {"found": c, "truth": rock(n), "start": start, "misfit": found.fun, "error": error}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw speeds by depth."""
    depth = DX * np.arange(len(result["found"]))
    axes.plot(depth, result["truth"], label="rock")
    axes.plot(depth, result["found"], label="found")
    axes.plot(depth, result["start"], ":", label="first guess")
    axes.set(xlabel="depth in km", ylabel="speed in km/s")
    axes.legend()
