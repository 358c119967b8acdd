"""Permeability of an aquifer from wells: an inverse problem with a sparse solver.

The head h obeys div(k grad h) = -q with h = 0 at the border; five-point differences give a sparse
system for each pumping test. log k is a sum of smooth bumps, whose heights are sought (Carrera and
Neuman, Water Resources Research 22, 1986).

A `scipy.sparse` matrix is made from what is looked for and factored by `splu`; the gradient solves
the transposed system by the same factors, once more for each test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

import tracejit

FIELD = "Geophysics"


def heads(k: np.ndarray, pumped: np.ndarray) -> np.ndarray:
    """Return the heads for pumping at each of some cells, [tests, n * n]."""
    n = len(k)
    cell = np.arange(n * n).reshape(n, n)
    harmonic = 2 / (1 / k[1:] + 1 / k[:-1]), 2 / (1 / k[:, 1:] + 1 / k[:, :-1])
    a = np.concatenate((cell[:-1].ravel(), cell[:, :-1].ravel()))
    b = np.concatenate((cell[1:].ravel(), cell[:, 1:].ravel()))
    w = np.concatenate((harmonic[0].ravel(), harmonic[1].ravel()))
    border = np.zeros((n, n))
    border[0], border[-1] = k[0], k[-1]
    border[:, 0] += k[:, 0]
    border[:, -1] += k[:, -1]
    diagonal = cell.ravel()
    rows = np.concatenate((a, b, a, b, diagonal))
    columns = np.concatenate((b, a, a, b, diagonal))
    A = csc_matrix((np.concatenate((-w, -w, w, w, 2 * border.ravel())), (rows, columns)),
                   shape=(n * n, n * n))
    factors = splu(A)
    found = np.empty((len(pumped), n * n))
    for i in range(len(pumped)):
        q = np.zeros(n * n)
        q[pumped[i]] = 1.0
        found[i] = factors.solve(q)
    return found


def misfit(heights: np.ndarray, bumps: np.ndarray, pumped: np.ndarray, wells: np.ndarray,
           seen: np.ndarray, weight: float) -> float:
    """Return the squared errors at the wells, in units of the noise, and a penalty on heights."""
    k = np.exp(np.tensordot(heights, bumps, axes=1))
    errors = (heads(k, pumped)[:, wells] - seen) / 0.003
    return np.sum(errors ** 2) + weight * np.sum(heights ** 2)


def problem(n: int = 16) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: no bumps, their shapes, wells and what was seen there."""
    y, x = np.mgrid[0:1:n * 1j, 0:1:n * 1j]
    centres = np.linspace(0.1, 0.9, 5)
    bumps = np.array([np.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.03)
                      for a in centres for b in centres])
    rng = np.random.default_rng(0)
    wells = np.array([i * n + j for i in range(2, n, 4) for j in range(2, n, 4)])
    pumped = wells[::4]
    seen = heads(np.exp(np.tensordot(hidden(), bumps, axes=1)), pumped)[:, wells]
    seen = seen + rng.normal(0.0, 0.003, seen.shape)
    return misfit, (np.zeros(25), bumps, pumped, wells, seen, 1.0)


def hidden() -> np.ndarray:
    """Return the heights that are to be found."""
    return np.random.default_rng(3).normal(size=25)


def main(n: int = 16) -> dict[str, Any]:
    """Find the permeability."""
    loss, (start, *data) = problem(n)
    found = minimize(tracejit.value_and_grad(loss), start, tuple(data), jac=True,
                     method="L-BFGS-B", options={"maxiter": 300})
    image, truth = (np.tensordot(h, data[0], axes=1) for h in (found.x, hidden()))
    alike = np.corrcoef(image.ravel(), truth.ravel())[0, 1]
    print(f"misfit {loss(start, *data):.0f} -> {found.fun:.0f}, correlation with truth {alike:.3f}")
    return {"image": image, "truth": truth, "alike": alike, "misfit": found.fun}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw what was there and what was found."""
    gap = np.full((len(result["image"]), 1), np.nan)
    shown = axes.imshow(np.hstack([result["truth"], gap, result["image"]]), cmap="RdBu_r")
    axes.figure.colorbar(shown, ax=axes, shrink=0.7, label="log of permeability")
    axes.set(xticks=[], yticks=[], title="aquifer, and what was found")
