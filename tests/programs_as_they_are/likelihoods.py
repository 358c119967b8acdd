"""Likelihoods of statistics, in the words of SciPy and NumPy."""

import math

import numpy as np
from scipy import special, stats
from scipy.linalg import cho_factor, cho_solve, solve_triangular, toeplitz
from scipy.special import digamma, gammaln

from programs_as_they_are.table import program


@program(lambda n, rng: (np.array([0.4, -0.3]), 1.5, rng.poisson(3.0, n).astype(float),
                         np.column_stack([np.ones(n), rng.standard_normal(n)])), argnums=(0, 1))
def negative_binomial_regression(beta, size, y, X):
    mu = np.exp(X @ beta)
    return np.sum(gammaln(y + size) - gammaln(size) - gammaln(y + 1)
                  + size * np.log(size / (size + mu)) + special.xlogy(y, mu / (size + mu)))


@program(lambda n, rng: (2.0, 0.7, rng.gamma(2.0, 1.0, n)), argnums=(0, 1))
def gamma_likelihood_by_math(shape, rate, xs):
    total = 0.0
    for x in xs:
        total += (shape * math.log(rate) + (shape - 1) * math.log(x) - rate * x
                  - math.lgamma(shape))
    return total


@program(lambda n, rng: (np.array([0.2, 0.8, 4.0]), rng.standard_normal(n)))
def student_t_model(theta, y):
    loc, scale, df = theta
    return stats.t.logpdf(y, df, loc=loc, scale=scale).sum()


@program(lambda n, rng: (0.3, 0.9, rng.standard_normal(n), rng.uniform(0, 1, n) < 0.3),
         argnums=(0, 1))
def tobit(mu, sigma, y, censored):
    inside = stats.norm.logpdf(y[~censored], mu, sigma).sum()
    outside = stats.norm.logsf(y[censored], loc=mu, scale=sigma).sum()
    return inside + outside


@program(lambda n, rng: (rng.uniform(0.5, 2, 4), rng.integers(1, 5, (n, 4)).astype(float)))
def dirichlet_multinomial(alpha, counts):
    total, N = alpha.sum(), counts.sum(axis=1)
    return np.sum(gammaln(total) - gammaln(total + N)
                  + np.sum(gammaln(counts + alpha) - gammaln(alpha), axis=1))


@program(lambda n, rng: (np.array([0.5, -0.2]), 0.6, rng.standard_normal((n, 2))),
         argnums=(0, 1))
def bivariate_normal(mean, rho, xs):
    cov = np.array([[1.0, rho], [rho, 1.5]])
    return stats.multivariate_normal.logpdf(xs, mean, cov).sum()


@program(lambda n, rng: (1.3, 0.4, np.sort(rng.uniform(0, 3, n)), rng.standard_normal(n)),
         argnums=(0, 1, 3), differences=1e-5)
def gaussian_process_by_cho_factor(length, noise, x, y):
    K = np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / length ** 2) + noise ** 2 * np.eye(len(x))
    factor = cho_factor(K, lower=True)
    return (-0.5 * y @ cho_solve(factor, y) - np.log(np.diagonal(factor[0])).sum()
            - 0.5 * len(x) * np.log(2 * np.pi))


@program(lambda n, rng: (0.5, 1.2, rng.standard_normal(n)), argnums=(0, 1, 2))
def stationary_autoregression(phi, sigma, y):
    covariance = toeplitz(sigma ** 2 * phi ** np.arange(len(y)) / (1 - phi ** 2))
    L = np.linalg.cholesky(covariance)
    z = solve_triangular(L, y, lower=True)
    return -0.5 * z @ z - np.log(np.diag(L)).sum()


@program(lambda n, rng: (np.array([1.4, 2.2]), rng.uniform(0.1, 0.9, n)))
def beta_score(theta, x):
    """The squared length of the score: derivatives of digamma."""
    a, b = theta
    score = np.array([np.mean(np.log(x)) - digamma(a) + digamma(a + b),
                      np.mean(np.log1p(-x)) - digamma(b) + digamma(a + b)])
    return score @ score + special.betaln(a, b)


@program(lambda n, rng: (np.array([0.3, -0.5, 0.9]), rng.standard_normal((n, 3)),
                         rng.integers(0, 2, n)))
def probit(beta, X, y):
    z = X @ beta
    return np.where(y == 1, special.log_ndtr(z), special.log_ndtr(-z)).sum()


@program(lambda n, rng: (np.array([0.2, 1.1]), rng.uniform(-np.pi, np.pi, n)))
def von_mises(theta, angles):
    mu, kappa = theta
    return np.sum(kappa * np.cos(angles - mu) - np.log(2 * np.pi * special.i0(kappa)))


@program(lambda n, rng: (np.array([2.1, 1.4]), rng.weibull(2.0, n), np.arange(n) % 3 > 0))
def censored_weibull(theta, t, died):
    shape, scale = theta
    return np.where(died, stats.weibull_min.logpdf(t, shape, scale=scale),
                    stats.weibull_min.logsf(t, shape, scale=scale)).sum()


@program(lambda n, rng: (rng.standard_normal(3), rng.standard_normal((n, 3)),
                         np.arange(n) % 3), argnums=(0, 1))
def ordered_logit(theta, X, y):
    cuts = np.insert(np.cumsum(np.exp(theta)), 0, 0.0)
    edges = np.r_[-np.inf, cuts, np.inf]
    z = X @ theta
    p = special.expit(edges[y + 1] - z) - special.expit(edges[y] - z)
    return np.log(p).sum()
