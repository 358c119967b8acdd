"""Logistic regression by Newton's method: tumours, and how sure the coefficients are.

Measurements of 569 tumours, benign or malignant (Wolberg and others, with scikit-learn). Minus the
log-likelihood with a small quadratic penalty is convex; Newton's steps are those of iteratively
reweighted least squares (Hastie, Tibshirani and Friedman, "The elements of statistical learning",
section 4.4.1).

`hessian` gives the matrix X'WX + l I without its being written down, and ten steps are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import tracejit

FIELD = "Statistics"


def loss(w: np.ndarray, X: np.ndarray, y: np.ndarray, penalty: float) -> float:
    """Return minus the log-likelihood of labels y in {0, 1}, plus the penalty."""
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * penalty * (w @ w)


def by_reweighting(X: np.ndarray, y: np.ndarray, penalty: float, steps: int) -> np.ndarray:
    """Return the coefficients as textbooks find them: weighted least squares again and again."""
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-X @ w))
        weight = p * (1 - p)
        adjusted = X @ w + (y - p) / weight
        w = np.linalg.solve((X.T * weight) @ X + penalty * np.eye(len(w)),
                            X.T @ (weight * adjusted))
    return w


def problem(columns: int = 10) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the loss and its arguments: zeros, standardised measurements and a one, labels."""
    data = load_breast_cancer()
    X = data.data[:, :columns]
    X = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    return loss, (np.zeros(columns + 1), X, data.target.astype(float), 1.0)


def main(columns: int = 10, steps: int = 10) -> dict[str, Any]:
    """Find the coefficients and their standard errors."""
    _, (w, X, y, penalty) = problem(columns)
    slope, curvature = tracejit.grad(loss), tracejit.hessian(loss)
    sizes = []
    for _ in range(steps):
        g = slope(w, X, y, penalty)
        sizes.append(np.linalg.norm(g))
        w = w - np.linalg.solve(curvature(w, X, y, penalty), g)
    errors = np.sqrt(np.diag(np.linalg.inv(curvature(w, X, y, penalty))))
    print("size of the gradient by step:", " ".join(f"{s:.0e}" for s in sizes))
    print(f"{100 * np.mean((X @ w > 0) == y):.1f} % told right")
    return {"w": w, "errors": errors, "sizes": sizes,
            "known": by_reweighting(X, y, penalty, 25), "names": load_breast_cancer().feature_names}


def plot(result: dict[str, Any], axes: Any) -> None:
    """Draw coefficients with their errors."""
    k = np.arange(1, len(result["w"]))
    axes.errorbar(result["w"][1:], k, xerr=2 * result["errors"][1:], fmt="o")
    axes.set_yticks(k, [name.removeprefix("mean ") for name in result["names"][:len(k)]])
    axes.axvline(0.0, linewidth=1, color="C7")
    axes.set(xlabel="coefficient ± 2 standard errors (right: benign)")
