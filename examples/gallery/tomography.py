"""Seismic tomography: the speed of rock between two boreholes, from times of arrival.

First arrivals obey |grad T| = 1 / speed. Zhao's fast sweeping method, Mathematics of Computation
74 (2005), solves it: sweeps in four directions, each point from its two neighbours. The speed is
found that explains the times, with a penalty on roughness.

The sweeps are loops with branches, minima and writes to T[i, j] that later points read, which
cannot be written as operations on arrays. The gradient follows each first arrival back to its
source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tracejit

FIELD = "Geophysics"


def first_arrivals(slowness: np.ndarray, row: int) -> np.ndarray:
    """Return the times at which waves from (row, 0) arrive at all points of a grid."""
    n, m = slowness.shape
    T = np.full((n, m), 1e6)
    T[row, 0] = 0.0
    for sweep in range(4):
        for a in range(n):
            i = a if sweep % 2 == 0 else n - 1 - a
            for b in range(m):
                j = b if sweep < 2 else m - 1 - b
                if i == row and j == 0:
                    continue
                p = min(T[max(i - 1, 0), j], T[min(i + 1, n - 1), j])
                q = min(T[i, max(j - 1, 0)], T[i, min(j + 1, m - 1)])
                s = slowness[i, j]
                if abs(p - q) >= s:
                    t = min(p, q) + s
                else:
                    t = 0.5 * (p + q + np.sqrt(2 * s * s - (p - q) ** 2))
                T[i, j] = min(T[i, j], t)
    return T


def misfit(log_speed: np.ndarray, times: np.ndarray, sources: np.ndarray, weight: float) -> float:
    """Return squared errors of the times at the far side, and the penalty."""
    slowness = np.exp(-log_speed)
    total = 0.0
    for k in range(len(sources)):
        total += np.sum((first_arrivals(slowness, sources[k])[:, -1] - times[k]) ** 2)
    rough = np.sum(np.diff(log_speed, axis=0) ** 2) + np.sum(np.diff(log_speed, axis=1) ** 2)
    return total + weight * rough


def rock(n: int) -> np.ndarray:
    """Return the logarithm of the speed: a fast body and a slow one."""
    y, x = np.mgrid[0:1:n * 1j, 0:1:n * 1j]
    return (0.25 * np.exp(-((x - 0.35) ** 2 + (y - 0.3) ** 2) / 0.02)
            - 0.25 * np.exp(-((x - 0.65) ** 2 + (y - 0.7) ** 2) / 0.03))


def problem(n: int = 24) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: even rock, times, rows of the sources and the weight."""
    sources = np.arange(0, n, 2)
    times = np.stack([first_arrivals(np.exp(-rock(n)), k)[:, -1] for k in sources])
    return misfit, (np.zeros((n, n)), times, sources, 0.02)


def main(n: int = 24) -> dict[str, Any]:
    """Find the speeds."""
    loss, (start, *data) = problem(n)
    value_and_slope = tracejit.value_and_grad(loss)

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_slope(x.reshape(n, n), *data)
        return value, slope.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    image = found.x.reshape(n, n)
    alike = np.corrcoef(image.ravel(), rock(n).ravel())[0, 1]
    off = np.abs(first_arrivals(np.exp(-image), 0)[:, -1] - data[0][0]).max()
    print(f"correlation with the true rock {alike:.3f}; times are off by at most {off:.3f}")
    return {"image": image, "alike": alike, "truth": rock(n)}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw what was found beside what was there."""
    gap = np.full((len(result["truth"]), 1), np.nan)
    both = np.hstack([result["truth"], gap, result["image"]])
    shown = axes.imshow(both, cmap="RdBu_r", vmin=-0.25, vmax=0.25)
    axes.figure.colorbar(shown, ax=axes, shrink=0.7, label="log of the speed")
    axes.set(xticks=[], yticks=[], title="rock, and what was found")
