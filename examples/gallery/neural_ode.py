"""A neural differential equation: learning a spiral's law of motion.

x' = f(x) with a small network for f, fitted to points along a path: Chen and others, "Neural
ordinary differential equations" (NeurIPS 2018), whose example this is. Runge's and Kutta's method
integrates; the gradient is that of its steps, not of the continuous adjoint, and so is exact.

Parameters are a dict. The network is called in four places of a loop in a loop, and compiled as
one program for any number of points; the states that the way back needs are kept, 16 bytes a
stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Machine learning"
Network = dict[str, np.ndarray]


def slope(net: Network, x: np.ndarray) -> np.ndarray:
    """Return x', for points in rows."""
    return np.tanh(x ** 3 @ net["W1"] + net["b1"]) @ net["W2"] + net["b2"]


def integrate(net: Network, x: np.ndarray, steps: int, h: float) -> np.ndarray:
    """Return the places after each step, [steps, paths, 2]."""
    film = np.empty((steps, *x.shape))
    for n in range(steps):
        k1 = slope(net, x)
        k2 = slope(net, x + h / 2 * k1)
        k3 = slope(net, x + h / 2 * k2)
        k4 = slope(net, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        film[n] = x
    return film


def misfit(net: Network, x: np.ndarray, film: np.ndarray, h: float) -> float:
    """Return the mean absolute error of places, as in the paper, rounded off at zero."""
    return np.mean(np.sqrt((integrate(net, x, len(film), h) - film) ** 2 + 1e-8))


def spiral(times: np.ndarray) -> np.ndarray:
    """Return the path of x' = A x³, by small steps."""
    A, x, path = np.array([[-0.1, 2.0], [-2.0, -0.1]]), np.array([2.0, 0.0]), []
    for h in np.diff(times, prepend=0.0):
        for _ in range(20):
            middle = x + h / 40 * (A @ x ** 3)
            x = x + h / 20 * (A @ middle ** 3)
        path.append(x)
    return np.array(path)


def problem(hidden: int = 32, length: int = 20) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: a first network, and short pieces of the path."""
    rng = np.random.default_rng(0)
    net = {"W1": rng.normal(0.0, 0.3, (2, hidden)), "b1": np.zeros(hidden),
           "W2": rng.normal(0.0, 0.3, (hidden, 2)), "b2": np.zeros(2)}
    path = spiral(0.025 * np.arange(1, 321))
    begin = np.arange(0, len(path) - length, 10)
    pieces = np.stack([path[begin + k] for k in range(length + 1)])
    return misfit, (net, pieces[0], pieces[1:], 0.025)


def main(hidden: int = 32, steps: int = 3000) -> dict[str, Any]:
    """Train the network on all pieces, and follow it from the first point of the path."""
    _, (net, *data) = problem(hidden)
    value_and_slope = tracejit.value_and_grad(misfit)
    ends = np.cumsum([p.size for p in net.values()])

    def network(x: np.ndarray) -> Network:
        parts = np.split(x, ends[:-1])
        return {name: part.reshape(p.shape) for part, (name, p) in zip(parts, net.items())}

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = value_and_slope(network(x), *data)
        return value, np.concatenate([slopes[name].ravel() for name in net])

    start = np.concatenate([p.ravel() for p in net.values()])
    found = minimize(flat, start, jac=True, method="L-BFGS-B",
                     options={"maxiter": steps, "maxfun": 2 * steps})
    path = spiral(0.025 * np.arange(1, 321))
    learnt = integrate(network(found.x), path[:1], len(path) - 1, 0.025)[:, 0]
    error = np.sqrt(np.mean(np.sum((learnt - path[1:]) ** 2, axis=1)))
    print(f"error of pieces {flat(start)[0]:.3f} -> {found.fun:.4f}, of the whole path {error:.3f}")
    return {"path": path, "learnt": learnt, "error": error, "pieces": found.fun}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw the spiral, and what the network makes of its first point."""
    axes.plot(*result["path"].T, label="path")
    axes.plot(*result["learnt"].T, ":", label="network, from the first point")
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.legend(loc="upper left", fontsize=7)
