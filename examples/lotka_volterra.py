"""Lotka-Volterra: hares and lynxes around Hudson Bay, 1900 to 1920, as predator and prey.

The model and its loss follow Carpenter, "Predator-prey population dynamics: the Lotka-Volterra
model in Stan" (2018), without priors; `data/README.md` says where the counts are from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from examples.fitting import Array, Fit, minimise, r_squared

TITLE = "Lotka-Volterra: 4 rates and 2 initial values, Hudson Bay pelts"
COUNTS = Path(__file__).parent / "data" / "lynx_hare.csv"
STEPS = 20


def growth(state: Array, rates: Array) -> Array:
    """Return the change per year of hares and lynxes."""
    hares, lynxes = state
    alpha, beta, gamma, delta = rates
    return np.array([(alpha - beta * lynxes) * hares, (delta * hares - gamma) * lynxes])


def simulate(state: Array, rates: Array, years: int) -> Array:
    """Return the populations year by year, [years, 2], by the Runge-Kutta method of order four."""
    h = 1 / STEPS
    path = np.empty((years, 2))
    for year in range(years):
        path[year] = state
        for _ in range(STEPS):
            k1 = growth(state, rates)
            k2 = growth(state + h / 2 * k1, rates)
            k3 = growth(state + h / 2 * k2, rates)
            k4 = growth(state + h * k3, rates)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def squared_log_errors(log_parameters: Array, counts: Array) -> Any:
    """Return the loss: what is measured is off by a factor, not by an amount.

    log_parameters -- logs of the four rates, then of the initial hares and lynxes in thousands
    counts         -- pelts in thousands, hares and lynxes: [years, 2]
    """
    parameters = np.exp(log_parameters)
    path = simulate(parameters[4:], parameters[:4], len(counts))
    return np.sum((np.log(path) - np.log(counts)) ** 2)


def fit() -> Fit:
    """Fit all 21 years."""
    counts = np.loadtxt(COUNTS, delimiter=",", skiprows=2, usecols=(2, 1))
    start = np.log([0.5, 0.02, 0.7, 0.02, counts[0, 0], counts[0, 1]])

    found = minimise(squared_log_errors, start, counts)
    parameters = np.exp(found.parameters)
    path = simulate(parameters[4:], parameters[:4], len(counts))
    names = ["hare births", "hare deaths by lynx", "lynx deaths", "lynx births by hare"]
    found.quality.update(zip([f"{n} a year" for n in names], parameters, strict=False))
    found.quality["R^2 of log counts"] = r_squared(np.log(counts), np.log(path))
    for k, animal in enumerate(("hares", "lynxes")):
        found.quality[f"RMSE of {animal}, thousands"] = float(
            np.sqrt(np.mean((path[:, k] - counts[:, k]) ** 2)))
    return found
