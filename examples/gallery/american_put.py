"""Greeks of an American put by a binomial lattice.

The lattice of Cox, Ross and Rubinstein, Journal of Financial Economics 7 (1979): the price goes up
by u or down by 1/u, and at every node the holder has the larger of what exercise gives and what
waiting is worth. Longstaff and Schwartz, Review of Financial Studies 14 (2001), table 1, have
4.478 for a put of a year, struck at 40, at a price of 36, a rate of 6 % and a volatility of 20 %.

The values of a step are an array that gets shorter by one, bound to one name in a loop. One
gradient gives delta, rho, vega and the derivatives by strike and time at once; differences need
two lattices for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Finance"
NAMES = ("delta", "by strike", "rho", "vega", "by time")


def put(market: np.ndarray, steps: int) -> float:
    """Return the value of an American put.

    market -- price, strike, rate, volatility and years to the end
    """
    S, K, r, sigma, T = market
    dt = T / steps
    u = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(r * dt) - 1 / u) / (u - 1 / u)
    discount = np.exp(-r * dt)
    value = np.maximum(K - S * u ** np.arange(-steps, steps + 1, 2), 0.0)
    for n in range(steps - 1, -1, -1):
        price = S * u ** np.arange(-n, n + 1, 2)
        value = np.maximum(K - price, discount * (p * value[1:] + (1 - p) * value[:-1]))
    return value[0]


def problem(steps: int = 500) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the value of a put and its arguments."""
    return put, (np.array([36.0, 40.0, 0.06, 0.2, 1.0]), steps)


def main(steps: int = 500) -> dict[str, Any]:
    """Compute the value and its derivatives, and the value for many prices."""
    value_and_greeks = tracejit.value_and_grad(put)
    market = problem()[1][0]
    value, greeks = value_and_greeks(market, steps)
    print(f"value {value:.4f}; " + ", ".join(f"{n} {g:.4f}" for n, g in zip(NAMES, greeks)))
    prices = np.linspace(28.0, 48.0, 81)
    rows = [value_and_greeks(np.array([S, *market[1:]]), steps) for S in prices]
    return {"value": value, "greeks": dict(zip(NAMES, greeks)), "prices": prices,
            "values": np.array([v for v, _ in rows]), "deltas": np.array([g[0] for _, g in rows]),
            "vegas": np.array([g[3] for _, g in rows])}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw value, delta and vega by the price of the share."""
    axes.plot(result["prices"], result["values"], label="value")
    axes.plot(result["prices"], 10 * result["deltas"], label="delta × 10")
    axes.plot(result["prices"], result["vegas"], label="vega")
    axes.set(xlabel="price of the share")
    axes.legend()
