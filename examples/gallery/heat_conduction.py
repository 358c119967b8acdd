"""Conductivity from temperatures: an inverse problem of the heat equation.

A rod of unknown conductivity k(x) is heated at one end; thermometers along it are read over time.
u_t = (k u_x)_x is stepped by Crank's and Nicolson's method (Proceedings of the Cambridge
Philosophical Society 43, 1947), each step the solution of a tridiagonal system by Thomas'
algorithm.

The elimination is the loop that one finds in books, forwards and back, writing to two arrays; all
of it is within the loop over time. The gradient solves the transposed systems, backwards in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Partial differential equations"


def tridiagonal(low: np.ndarray, diagonal: np.ndarray, up: np.ndarray,
                right: np.ndarray) -> np.ndarray:
    """Return the solution of a tridiagonal system."""
    n = len(right)
    c, x = np.zeros(n), np.zeros(n)
    c[0], x[0] = up[0] / diagonal[0], right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - low[i] * c[i - 1]
        c[i] = up[i] / pivot
        x[i] = (right[i] - low[i] * x[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


def temperatures(k: np.ndarray, steps: int) -> np.ndarray:
    """Return the temperatures at all inner points and times; k is that between the points."""
    n = len(k) - 1
    r = 0.5 * k * (n + 1) ** 2 / steps
    u, film = np.zeros(n), np.empty((steps, n))
    for t in range(steps):
        left = np.concatenate((np.ones(1), u))
        flow = r * np.diff(np.concatenate((left, np.zeros(1))))
        right = u + np.diff(flow)
        right[0] += r[0]
        u = tridiagonal(-r[:-1], 1 + r[:-1] + r[1:], -r[1:], right)
        film[t] = u
    return film


def misfit(log_k: np.ndarray, film: np.ndarray, weight: float) -> float:
    """Return the mean squared error of temperatures, and a penalty on roughness."""
    error = temperatures(np.exp(log_k), len(film)) - film
    return np.mean(error ** 2) + weight * np.sum(np.diff(log_k) ** 2)


def conductivity(n: int) -> np.ndarray:
    """Return what is to be found."""
    x = (np.arange(n + 1) + 0.5) / (n + 1)
    return 0.5 + 0.4 * np.sin(2 * np.pi * x) + 0.5 * x


def problem(n: int = 40, steps: int = 100) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: even conductivity, temperatures with noise, weight."""
    film = temperatures(conductivity(n), steps)
    film = film + 0.002 * np.random.default_rng(0).normal(size=film.shape)
    return misfit, (np.full(n + 1, np.log(0.5)), film, 2e-7)


def main(n: int = 40, steps: int = 100) -> dict[str, Any]:
    """Find the conductivity."""
    loss, (start, *data) = problem(n, steps)
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True,
                     method="L-BFGS-B", options={"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-10})
    k, truth = np.exp(found.x), conductivity(n)
    error = np.abs(k / truth - 1)
    print(f"conductivity is off by {100 * error.mean():.1f} %, {100 * error.max():.1f} % at most")
    return {"k": k, "truth": truth, "error": error.mean()}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the conductivity."""
    x = np.linspace(0.0, 1.0, len(result["k"]))
    axes.plot(x, result["truth"], label="conductivity")
    axes.plot(x, result["k"], ".", label="found")
    axes.set(xlabel="place", ylim=(0.0, None))
    axes.legend()
