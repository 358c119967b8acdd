"""A portfolio in which every asset carries as much risk.

Weights w with w_i (S w)_i equal for all i are, but for a factor, the minimum of w'Sw / 2 - sum of
log w / n over positive w: Spinu, "An algorithm for computing risk parity weights" (2013). Here S
is shrunk towards a diagonal (Ledoit and Wolf, Journal of Multivariate Analysis 88, 2004, with a
fixed share), and the sensitivity of the weights to every correlation follows from the implicit
function theorem.

`hessian` and `jacobian` of a gradient: mixed derivatives are a composition of transforms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

FIELD = "Finance"


def objective(w: np.ndarray, S: np.ndarray) -> float:
    """Return what equal contributions to risk minimise."""
    return 0.5 * w @ S @ w - np.mean(np.log(w))


def covariance(assets: int, days: int) -> np.ndarray:
    """Return the covariances of yearly returns, from simulated days with three common factors."""
    rng = np.random.default_rng(0)
    loads = rng.normal(0.3, 0.4, (assets, 3))
    own = rng.uniform(0.5, 2.0, assets)
    returns = 0.01 * (rng.normal(size=(days, 3)) @ loads.T + own * rng.normal(size=(days, assets)))
    sample = 250 * np.cov(returns.T)
    return 0.9 * sample + 0.1 * np.diag(np.diag(sample))


def problem(assets: int = 12, days: int = 500) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the objective and its arguments: even weights, and covariances."""
    S = covariance(assets, days)
    return objective, (np.full(assets, 1 / np.sqrt(assets * np.mean(S))), S)


def weights(w: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return the minimum, by Newton's steps that stay positive."""
    slope, curvature = tracejit.grad(objective), tracejit.hessian(objective)
    for _ in range(60):
        step = np.linalg.solve(curvature(w, S), slope(w, S))
        w = w - min(1.0, 0.9 / np.max(step / w, initial=0.9)) * step
    return w


def main(assets: int = 12, days: int = 500) -> dict[str, Any]:
    """Find the weights, and how they change with the covariances."""
    loss, (start, S) = problem(assets, days)
    w = weights(start, S)
    mixed = tracejit.jacobian(tracejit.grad(loss), argnums=1)(w, S)
    by_S = -np.linalg.solve(tracejit.hessian(loss)(w, S), mixed.reshape(assets, -1))
    by_S = by_S.reshape(assets, assets, assets)
    change = 1e-4 * S[0, 0]
    moved = S.copy()
    moved[0, 0] += change
    predicted, actual = by_S[:, 0, 0] * change, weights(w, moved) - w
    shares = w * (S @ w) / (w @ S @ w)
    print(f"shares of the risk between {shares.min():.6f} and {shares.max():.6f}")
    off = np.abs(predicted - actual).max() / np.abs(actual).max()
    print(f"the change with more variance of the first is predicted to {off:.1e}")
    return {"weights": w / w.sum(), "shares": shares, "predicted": predicted,
            "actual": actual, "S": S}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw weights, and contributions to the risk of even ones."""
    n = len(result["weights"])
    even = result["S"].sum(axis=1) / result["S"].sum()
    axes.bar(np.arange(n) - 0.2, 100 * even, 0.4, label="risk, weights even")
    axes.bar(np.arange(n) + 0.2, 100 * result["weights"], 0.4, label="weights, risk even")
    axes.set(xlabel="asset", ylabel="%")
    axes.legend()
