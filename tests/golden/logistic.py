"""Logistic regression: products of a matrix with vectors, a stable logarithm, a mean."""
import numpy as np
import tracejit


def loss(w, x, y):
    z = y * (x @ w)
    return np.mean(np.logaddexp(0.0, -z)) + 0.5e-3 * np.sum(w * w)


program = tracejit.value_and_grad(loss)
arguments = ("f64[d]", "f64[n, d]", "f64[n]")
