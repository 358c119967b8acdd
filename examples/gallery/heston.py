"""Calibrating Heston's model of stochastic volatility to prices of options.

A call is worth S - sqrt(SK) e^{-rT/2} / pi times the integral of Re(e^{iuk} phi(u - i/2)) / (u² +
1/4), with k = log(S/K) + rT (Lewis, "Option valuation under stochastic volatility", 2000, chapter
2). phi is the characteristic function of Heston, Review of Financial Studies 6 (1993), in the form
that has no jumps (Albrecher and others, "The little Heston trap", Wilmott Magazine, 2007).

Complex square roots, logarithms and exponentials are differentiated with the rest; the loss is
real, and so are the parameters and their gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Finance"
HIDDEN = np.array([0.04, 1.5, 0.06, 0.5, -0.7])
RATE = 0.02


def characteristic(u: np.ndarray, T: float, v0: float, kappa: float, theta: float, sigma: float,
                   rho: float) -> np.ndarray:
    """Return E[exp(iu log(S_T / F))]."""
    b = kappa - rho * sigma * 1j * u
    d = np.sqrt(b ** 2 + sigma ** 2 * (1j * u + u ** 2))
    g = (b - d) / (b + d)
    decay = np.exp(-d * T)
    C = kappa * theta / sigma ** 2 * ((b - d) * T - 2 * np.log((1 - g * decay) / (1 - g)))
    D = (b - d) / sigma ** 2 * (1 - decay) / (1 - g * decay)
    return np.exp(C + D * v0)


def calls(parameters: np.ndarray, S: float, strikes: np.ndarray, maturities: np.ndarray,
          u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the prices of calls, by maturity and strike, by quadrature at u with weights w."""
    prices = np.zeros((len(maturities), len(strikes)))
    for i, T in enumerate(maturities):
        phi = characteristic(u - 0.5j, T, *parameters)
        k = np.log(S / strikes) + RATE * T
        integrand = np.real(np.exp(1j * k[:, None] * u) * phi) / (u ** 2 + 0.25)
        prices[i] = S - np.sqrt(S * strikes) * np.exp(-RATE * T / 2) / np.pi * (integrand @ w)
    return prices


def misfit(parameters: np.ndarray, prices: np.ndarray, *market: Any) -> float:
    """Return the sum of squared errors of prices."""
    return np.sum((calls(parameters, *market) - prices) ** 2)


def problem(nodes: int = 64) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: prices of 8 maturities and 15 strikes."""
    u, w = np.polynomial.legendre.leggauss(nodes)
    u, w = 100 * (u + 1) / 2, 100 * w / 2
    maturities = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3])
    market = (100.0, np.linspace(70.0, 130.0, 15), maturities, u, w)
    return misfit, (np.array([0.09, 1.0, 0.09, 0.8, -0.3]), calls(HIDDEN, *market), *market)


def main(nodes: int = 64) -> dict[str, Any]:
    """Find the parameters from the prices."""
    loss, (start, *data) = problem(nodes)
    bounds = [(1e-3, 1.0), (0.1, 10.0), (1e-3, 1.0), (0.05, 2.0), (-0.99, 0.99)]
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True, method="SLSQP",
                     bounds=bounds, options={"ftol": 1e-15, "maxiter": 500})
    print("found ", found.x.round(4))
    print("hidden", HIDDEN)
    return {"parameters": found.x, "rms": np.sqrt(found.fun / data[0].size), "prices": data[0],
            "start": calls(start, *data[1:]), "strikes": data[2], "maturities": data[3]}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw prices, those found and those of the first guess."""
    for k, i in enumerate((0, 3, 7)):
        axes.plot(result["strikes"], result["prices"][i], "o", color=f"C{k}", markersize=4,
                  label=f"{result['maturities'][i]:g} years")
        axes.plot(result["strikes"], result["start"][i], ":", color=f"C{k}")
    axes.set(xlabel="strike", ylabel="price of a call (dotted: first guess)")
    axes.legend()
