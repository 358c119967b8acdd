"""Logistic regression: is a breast tumour benign? 569 tumours, 30 measurements of each.

The data come with scikit-learn: the Wisconsin diagnostic data of Wolberg, Mangasarian and Street.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from examples.fitting import Array, Fit, minimise

TITLE = "Logistic regression: 31 weights, breast-cancer data"


def negative_log_posterior(weights: Array, X: Array, y: Array) -> Any:
    """Return the loss of a logistic model, with standard normal priors on the slopes.

    weights -- the intercept, then one slope per column of X: [1 + features]
    X       -- standardised measurements: [cases, features]
    y       -- 1.0 or 0.0: [cases]
    """
    z = weights[0] + X @ weights[1:]
    return np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * np.sum(weights[1:] ** 2)


def fit() -> Fit:
    """Fit three quarters of the cases; the quality is on the others."""
    data = load_breast_cancer()
    order = np.random.default_rng(0).permutation(len(data.target))
    train, test = order[:427], order[427:]
    X = (data.data - data.data[train].mean(axis=0)) / data.data[train].std(axis=0)
    y = data.target.astype(float)

    found = minimise(negative_log_posterior, np.zeros(1 + X.shape[1]), X[train], y[train])
    z = found.parameters[0] + X[test] @ found.parameters[1:]
    found.quality[f"accuracy on {len(test)} held-out cases"] = float(np.mean((z > 0) == y[test]))
    found.quality["log-likelihood per held-out case"] = float(
        np.mean(y[test] * z - np.logaddexp(0.0, z)))
    return found
