"""Gaussian process: the progress of diabetes after a year, from ten measurements.

The data come with scikit-learn: Efron, Hastie, Johnstone and Tibshirani, "Least angle regression",
Annals of Statistics 32 (2004). The hyperparameters maximise the marginal likelihood: Rasmussen and
Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and section 5.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.datasets import load_diabetes

from examples.fitting import Array, Fit, minimise, r_squared

TITLE = "Gaussian process: 12 hyperparameters, diabetes data"


def kernel(theta: Array, A: Array, B: Array) -> Array:
    """Return the squared-exponential covariances of the rows of A with those of B.

    theta -- logs of the amplitude, the noise and the length scale of each column
    """
    scales = np.exp(theta[2:])
    difference = (A / scales)[:, None, :] - (B / scales)[None, :, :]
    return np.exp(2 * theta[0]) * np.exp(-0.5 * np.sum(difference ** 2, axis=2))


def negative_log_marginal_likelihood(theta: Array, X: Array, y: Array) -> Any:
    """Return -log p(y | X, theta) of a Gaussian process with mean zero and noise in y."""
    n = len(y)
    L = np.linalg.cholesky(kernel(theta, X, X) + np.exp(2 * theta[1]) * np.eye(n))
    white = solve_triangular(L, y, lower=True)
    return 0.5 * white @ white + np.sum(np.log(np.diag(L))) + 0.5 * n * np.log(2 * np.pi)


def predict(theta: Array, X: Array, y: Array, X_new: Array) -> Array:
    """Return the posterior mean at new rows."""
    covariance = kernel(theta, X, X) + np.exp(2 * theta[1]) * np.eye(len(y))
    return kernel(theta, X_new, X) @ np.linalg.solve(covariance, y)


def fit(rows: int = 200) -> Fit:
    """Fit a sample of the patients; the quality is on all others."""
    data = load_diabetes()
    order = np.random.default_rng(0).permutation(len(data.target))
    train, test = order[:rows], order[rows:]
    X = data.data / data.data[train].std(axis=0)
    y = (data.target - data.target[train].mean()) / data.target[train].std()

    start = np.concatenate([[0.0, -0.5], np.ones(X.shape[1])])
    found = minimise(negative_log_marginal_likelihood, start, X[train], y[train])
    found.quality["log marginal likelihood"] = -found.value
    found.quality[f"R^2 on {len(test)} held-out rows"] = r_squared(
        y[test], predict(found.parameters, X[train], y[train], X[test]))
    return found
