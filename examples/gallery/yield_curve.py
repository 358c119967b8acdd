"""A yield curve from the prices of bonds.

The zero rate is a natural cubic spline through a few knots, whose heights are sought such that
discounted coupons and principals add up to prices, with a penalty on the integral of the squared
second derivative (Fisher, Nychka and Zervos, "Fitting the term structure of interest rates with
smoothing splines", 1995).

`scipy.interpolate.CubicSpline` is built from what is looked for and evaluated within the loss.
Bonds have schedules of different lengths, which lie in one array behind another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

import tracejit

FIELD = "Finance"
KNOTS = np.array([0.0, 1.0, 2.0, 4.0, 7.0, 10.0, 15.0, 22.0, 30.0])


def rate(t: np.ndarray) -> np.ndarray:
    """Return the zero rates that the prices are made with: Nelson's and Siegel's curve."""
    s = np.maximum(t, 1e-9) / 2.5
    hump = (1 - np.exp(-s)) / s
    return 0.035 - 0.02 * hump + 0.02 * (hump - np.exp(-s))


def prices(spline: Callable[[np.ndarray], np.ndarray], times: np.ndarray, payments: np.ndarray,
           first: np.ndarray) -> np.ndarray:
    """Return the prices of bonds; `first` says where the payments of each begin."""
    return np.add.reduceat(payments * np.exp(-spline(times) * times), first)


def misfit(heights: np.ndarray, observed: np.ndarray, times: np.ndarray, payments: np.ndarray,
           first: np.ndarray, weight: float) -> float:
    """Return the squared errors of prices and the penalty on bending."""
    spline = CubicSpline(KNOTS, heights, bc_type="natural")
    bends = spline(np.linspace(0.0, 30.0, 121), 2)
    errors = prices(spline, times, payments, first) - observed
    return np.sum(errors ** 2) + weight * np.sum(bends ** 2)


def problem(bonds: int = 40) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: flat rates, prices, schedules and the weight."""
    rng = np.random.default_rng(0)
    times, payments, first = [], [], [0]
    for _ in range(bonds):
        due = np.arange(rng.uniform(0.05, 0.5), rng.choice([1, 2, 3, 5, 7, 10, 15, 20, 30]), 0.5)
        coupon = np.full(len(due), rng.uniform(0.5, 2.5))
        coupon[-1] += 100.0
        times.append(due), payments.append(coupon), first.append(first[-1] + len(due))
    schedule = np.concatenate(times), np.concatenate(payments), np.array(first[:-1])
    observed = prices(rate, *schedule) + rng.normal(0.0, 0.03, bonds)
    return misfit, (np.full(len(KNOTS), 0.03), observed, *schedule, 1e2)


def main(bonds: int = 40) -> dict[str, Any]:
    """Find the curve."""
    loss, (start, *data) = problem(bonds)
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True, method="BFGS",
                     options={"gtol": 1e-6})
    t = np.linspace(0.25, 30.0, 120)
    curve = CubicSpline(KNOTS, found.x, bc_type="natural")(t)
    error = np.abs(curve - rate(t)).max()
    print(f"rates are off by {1e4 * error:.1f} basis points at most")
    return {"t": t, "curve": curve, "truth": rate(t), "error": error, "heights": found.x}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the curve."""
    axes.plot(result["t"], 100 * result["truth"], label="rates behind the prices")
    axes.plot(result["t"], 100 * result["curve"], ":", label="curve from the prices")
    axes.plot(KNOTS, 100 * result["heights"], "o", markersize=4, color="C1")
    axes.set(xlabel="years", ylabel="%")
    axes.legend()
