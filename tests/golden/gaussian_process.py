"""The log likelihood of a Gaussian process: LAPACK's factorisation, triangular solves."""
import numpy as np
import tracejit


def negative_log_likelihood(theta, x, y):
    scale, length, noise = np.exp(theta[0]), np.exp(theta[1]), np.exp(theta[2])
    squares = (x[:, None] - x[None, :]) ** 2
    k = scale * np.exp(-0.5 * squares / length ** 2) + noise * np.eye(len(x))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(k, y)
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(chol)))


program = tracejit.value_and_grad(negative_log_likelihood)
arguments = ("f64[3]", "f64[n]", "f64[n]")
