"""The conductances of a nerve: fitting Hodgkin's and Huxley's model to a voltage.

Hodgkin and Huxley, Journal of Physiology 117 (1952), with their rates, in millivolts from rest at
-65. A current is injected and the voltage recorded; conductances of sodium, potassium and the leak
are found. Gates are stepped by their exact solution at a fixed voltage (Rush and Larsen, 1978).

The rates have 0 / 0 at one voltage, for which the code has a branch, as all codes for this model
do; a branch on data is a branch in the compiled program too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Biology"
HIDDEN = np.array([120.0, 36.0, 0.3])


def rounded(x: float, y: float) -> float:
    """Return x / (exp(x / y) - 1), also where x is 0."""
    if abs(x / y) < 1e-6:
        return y * (1 - x / y / 2)
    return x / (exp(x / y) - 1)


def voltage(g: np.ndarray, current: np.ndarray, dt: float) -> np.ndarray:
    """Return the voltage after each step, for conductances of sodium, potassium and the leak."""
    V, m, h, n = -65.0, 0.0529, 0.5961, 0.3177
    trace = np.empty(len(current))
    for i in range(len(current)):
        am, bm = 0.1 * rounded(-(V + 40), 10.0), 4 * exp(-(V + 65) / 18)
        ah, bh = 0.07 * exp(-(V + 65) / 20), 1 / (exp(-(V + 35) / 10) + 1)
        an, bn = 0.01 * rounded(-(V + 55), 10.0), 0.125 * exp(-(V + 65) / 80)
        m = am / (am + bm) + (m - am / (am + bm)) * exp(-dt * (am + bm))
        h = ah / (ah + bh) + (h - ah / (ah + bh)) * exp(-dt * (ah + bh))
        n = an / (an + bn) + (n - an / (an + bn)) * exp(-dt * (an + bn))
        sodium, potassium, leak = g[0] * m ** 3 * h, g[1] * n ** 4, g[2]
        total = sodium + potassium + leak
        rest = (sodium * 50 + potassium * -77 + leak * -54.387 + current[i]) / total
        V = rest + (V - rest) * exp(-dt * total)
        trace[i] = V
    return trace


def misfit(log_g: np.ndarray, current: np.ndarray, recorded: np.ndarray, dt: float) -> float:
    """Return the mean squared error of the voltage."""
    return np.mean((voltage(np.exp(log_g), current, dt) - recorded) ** 2)


def problem(steps: int = 2000) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a guess, the current and the voltage with noise."""
    dt = 0.025
    t = dt * np.arange(steps)
    current = np.where(t > 5.0, 8.0 + 4.0 * np.sin(0.6 * t), 0.0)
    recorded = voltage(HIDDEN, current, dt) + np.random.default_rng(0).normal(0.0, 1.0, steps)
    return misfit, (np.log([105.0, 33.0, 0.4]), current, recorded, dt)


def main(steps: int = 2000) -> dict[str, Any]:
    """Find the conductances, from more and more of the record."""
    loss, (log_g, current, recorded, dt) = problem(steps)
    value_and_slope = tracejit.value_and_grad(loss)
    for part in (0.25, 0.5, 0.75, 1.0):
        seen = int(part * steps)
        log_g = minimize(value_and_slope, log_g, (current[:seen], recorded[:seen], dt), jac=True,
                         method="BFGS", options={"gtol": 1e-5}).x
    print("found ", np.exp(log_g).round(3), "mS/cm²")
    print("hidden", HIDDEN)
    return {"g": np.exp(log_g), "recorded": recorded, "fit": voltage(np.exp(log_g), current, dt),
            "dt": dt}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the voltage."""
    t = result["dt"] * np.arange(len(result["fit"]))
    axes.plot(t[::8], result["recorded"][::8], ".", markersize=2, label="recorded")
    axes.plot(t[::4], result["fit"][::4], linewidth=1, label="model")
    axes.set(xlabel="ms", ylabel="mV")
    axes.legend()
