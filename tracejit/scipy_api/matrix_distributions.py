"""More distributions of `scipy.stats` of vectors and matrices: counts, directions, matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.linalg import cholesky, solve_triangular
from tracejit.numpy_api.special import gammaln, multigammaln
from tracejit.scipy_api.distributions import double
from tracejit.scipy_api.power_factors import exponential_of, power_log
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_LOG_2_PI = math.log(2.0 * math.pi)


# --- counts of several kinds --------------------------------------------------------------------


def _multinomial_logpmf(x: object, n: object, p: object) -> Any:
    """Return the logarithm of a multinomial probability; what p lacks of 1 is its last part's."""
    counts, shares, trials = double(x), double(p), np.floor(double(n))
    if not counts.dims:
        raise ValueError("x must be an array.")
    if not same_dim(counts.dims[-1], shares.dims[-1]):
        raise ValueError(f"Size of each quantile should be size of p: received "
                         f"{counts.shape[-1]}, but expected {shares.shape[-1]}.")
    eps = 10.0 * float(np.finfo(np.float32 if as_tracer(p).dtype == np.float32 else float).eps)
    before = shares[..., :-1]
    rest = np.where(np.abs(1.0 - np.sum(shares, axis=-1)) > eps, 1.0 - np.sum(before, axis=-1),
                    shares[..., -1])
    shares = np.concatenate([before, np.expand_dims(rest, -1)], axis=-1)
    wrong = np.any((shares < 0.0) | (shares > 1.0), axis=-1) | (trials < 0.0)
    inside = np.all((counts >= 0.0) & (counts == np.floor(counts)), axis=-1) & (
        np.sum(counts, axis=-1) == trials)
    k = np.where(np.expand_dims(inside, -1), counts, 0.0)
    safe = np.where(np.expand_dims(wrong, -1), 1.0, shares)
    found = gammaln(np.where(wrong, 0.0, trials) + 1.0) + np.sum(power_log(k, safe) - gammaln(
        k + 1.0), axis=-1)
    return np.where(wrong, np.nan, np.where(inside, found, -np.inf))[()]


def _dirichlet_multinomial_logpmf(x: object, alpha: object, n: object) -> Any:
    """Return the logarithm of a probability of counts whose shares are Dirichlet's."""
    counts, a, trials = double(x), double(alpha), double(n)
    whole = np.all((counts >= 0.0) & (counts == np.floor(counts)))
    require(whole, ValueError, "`x` must contain only non-negative integers.")
    require(np.all(a > 0.0), ValueError, "`alpha` must contain only positive values.")
    require(np.all((trials >= 0.0) & (trials == np.floor(trials))), ValueError,
            "`n` must be a non-negative integer.")
    both = np.sum(a, axis=-1)
    found = gammaln(both) + gammaln(trials + 1.0) - gammaln(trials + both) + np.sum(
        gammaln(counts + a) - gammaln(a) - gammaln(counts + 1.0), axis=-1)
    return np.where(trials == np.sum(counts, axis=-1), found, -np.inf)[()]


# --- directions ---------------------------------------------------------------------------------


def _are_units(x: np.ndarray) -> Any:
    return np.all(np.abs(np.sqrt(np.sum(x * x, axis=-1)) - 1.0) <= 1.001e-5)


def _fisher_logpdf(x: object, mu: object = None, kappa: object = 1) -> Any:
    """Return the logarithm of the density of von Mises and Fisher's distribution."""
    points, mean, spread = double(x), double(mu), double(kappa)
    if len(mean.dims) != 1:
        raise ValueError("'mu' must have one-dimensional shape.")
    require(_are_units(mean), ValueError, "'mu' must be a unit vector of norm 1.")
    n = need_int(mean.dims[0], "the dimension of a von Mises-Fisher distribution")
    if n < 2:
        raise ValueError("'mu' must have at least two entries.")
    if spread.dims:
        raise ValueError("'kappa' must be a positive scalar.")
    require(spread > 0.0, ValueError, "'kappa' must be a positive scalar.")
    if not same_dim(points.dims[-1], mean.dims[0]):
        raise ValueError("The dimensionality of the last axis of 'x' must match the dimensionality "
                         "of the von Mises Fisher distribution.")
    require(_are_units(points), ValueError,
            "'x' must be unit vectors of norm 1 along last dimension.")
    order: Any = cast(0.5 * n - 1.0, np.float64)
    constant = (0.5 * n - 1.0) * np.log(spread) - 0.5 * n * _LOG_2_PI - np.log(
        apply("ive", order, spread)) - spread
    return (constant + spread * np.sum(points * mean, axis=-1))[()]


# --- vectors and matrices -----------------------------------------------------------------------


def _half_log_det(factor: np.ndarray) -> Any:
    return np.sum(np.log(np.diag(factor)))


def _spread(matrix: object, n: int) -> Any:
    """Return a covariance matrix, of a number, of a diagonal, or as it is."""
    given: Any = double(1.0 if matrix is None else matrix)
    if not given.dims:
        return given * np.eye(n)
    if len(given.dims) == 1:
        return np.diag(given)
    if len(given.dims) > 2 or not (same_dim(given.dims[0], n) and same_dim(given.dims[1], n)):
        raise ValueError(f"a covariance matrix must have {n} rows and columns")
    return given


def _t_logpdf(x: object, loc: object = None, shape: object = 1, df: object = 1) -> Any:
    """Return the logarithm of the density of Student's distribution of vectors."""
    spread = double(1.0 if shape is None else shape)
    centre: Any = None if loc is None else np.atleast_1d(double(loc))
    size = centre.dims[0] if centre is not None else spread.dims[0] if spread.dims[1:] else 1
    n = need_int(size, "the dimension of Student's distribution of vectors")
    if centre is not None and len(centre.dims) != 1:
        raise ValueError(f"Array 'loc' must be a vector of length {n}.")
    factor = cholesky(as_tracer(_spread(np.reshape(spread, (1, 1)) if n == 1 else spread, n)))
    nu: Any = double(1.0 if df is None else df)
    require(nu > 0.0, ValueError, "'df' must be greater than zero.")
    points: Any = double(x)
    if len(points.dims) == 1:
        points = points[:, None] if n == 1 else points[None, :]
    away = points if centre is None else points - centre
    flat = np.reshape(away, (-1, as_operand(away.dims[-1])))
    z: Any = solve_triangular(factor, flat.T, lower=True)
    distance = np.reshape(np.sum(z * z, axis=0), away.shape[:-1])
    far = np.isinf(nu)
    r = np.where(far, 1.0, nu)
    half = 0.5 * (r + n)
    near = gammaln(half) - gammaln(0.5 * r) - 0.5 * n * np.log(r * math.pi) - half * np.log1p(
        distance / r)
    normal = -0.5 * distance - 0.5 * n * _LOG_2_PI
    return np.squeeze(np.where(far, normal, near) - _half_log_det(factor))[()]


def _matrix_normal_logpdf(X: object, mean: object = None, rowcov: object = 1,
                          colcov: object = 1) -> Any:
    """Return the logarithm of the density of a normal distribution of matrices, of one matrix."""
    matrix: Any = double(X)
    if len(matrix.dims) != 2:
        raise refuse("matrix_normal.logpdf of several matrices cannot be captured", "Use a loop",
                     "TJ207")
    rows, columns = (need_int(d, "the size of a normal matrix") for d in matrix.dims)
    sizes = [double(c).dims[0] if double(c).dims else 1 for c in (rowcov, colcov)]
    for size, own in zip(double(mean).dims if mean is not None else sizes, matrix.dims,
                         strict=True):
        if not same_dim(size, own):
            raise ValueError("The shape of array `X` is not compatible with the distribution "
                             "parameters.")
    away = matrix if mean is None else matrix - double(mean)
    row = cholesky(as_tracer(_spread(rowcov, rows)))
    column = cholesky(as_tracer(_spread(colcov, columns)))
    half: Any = solve_triangular(row, as_tracer(away), lower=True)
    whole: Any = solve_triangular(column, half.T, lower=True)
    return (-0.5 * (rows * columns * _LOG_2_PI + np.sum(whole * whole))
            - columns * _half_log_det(row) - rows * _half_log_det(column))


def _invwishart_logpdf(x: object, df: object, scale: object) -> Any:
    """Return the logarithm of the density of an inverse Wishart distribution, of one matrix."""
    matrix: Any = np.atleast_2d(double(x))
    if len(matrix.dims) != 2:
        raise refuse("invwishart.logpdf of several matrices cannot be captured", "Use a loop",
                     "TJ207")
    n = need_int(matrix.dims[0], "the dimension of an inverse Wishart distribution")
    nu: Any = double(df)
    require(nu > n - 1, ValueError, "Degrees of freedom must be greater than the dimension of "
            "scale matrix minus 1.")
    factor, of_x = cholesky(as_tracer(_spread(scale, n))), cholesky(matrix)
    ratio: Any = solve_triangular(of_x, factor, lower=True)
    return (nu * _half_log_det(factor) - 0.5 * np.sum(ratio * ratio) - 0.5 * nu * n * math.log(2.0)
            - (nu + n + 1.0) * _half_log_det(of_x) - multigammaln(0.5 * nu, n))


def _matrix_t_logpdf(X: object, mean: object = None, row_spread: object = 1,
                     col_spread: object = 1, df: object = 1) -> Any:
    """Return the logarithm of the density of Student's distribution of matrices, of one matrix."""
    matrix: Any = double(X)
    if len(matrix.dims) != 2:
        raise refuse("matrix_t.logpdf of several matrices cannot be captured", "Use a loop",
                     "TJ207")
    rows, columns = (need_int(d, "the size of a matrix of Student's") for d in matrix.dims)
    sizes = [double(c).dims[0] if double(c).dims else 1 for c in (row_spread, col_spread)]
    for size, own in zip(double(mean).dims if mean is not None else sizes, matrix.dims,
                         strict=True):
        if not same_dim(size, own):
            raise ValueError("The shape of `X` is not conformant with the parameters.")
    nu: Any = double(df)
    require(nu > 0.0, ValueError, "Degrees of freedom must be positive.")
    away = matrix if mean is None else matrix - double(mean)
    row = cholesky(as_tracer(_spread(row_spread, rows)))
    column = cholesky(as_tracer(_spread(col_spread, columns)))
    half: Any = solve_triangular(row, as_tracer(away), lower=True)
    whole: Any = solve_triangular(column, half.T, lower=True)
    inner = cholesky(as_tracer(np.eye(rows) + whole.T @ whole))
    most = nu + rows + columns - 1.0
    return (multigammaln(0.5 * most, rows) - multigammaln(0.5 * (nu + rows - 1.0), rows)
            - 0.5 * rows * columns * math.log(math.pi) - columns * _half_log_det(row)
            - rows * _half_log_det(column) - most * _half_log_det(inner))


# --- a mean and a variance ------------------------------------------------------------------------


def _normal_gamma(*given: object) -> tuple[Any, list[Any]]:
    """Return where parameters are right, and the numbers of a call, 1 where they are wrong."""
    *first, scale, a, b = (double(x) for x in given)
    valid = (scale > 0.0) & (a > 0.0) & (b > 0.0)
    return valid, [*first, *(np.where(valid, x, 1.0) for x in (scale, a, b))]


def _normal_gamma_logpdf(x: object, s2: object, mu: object = 0, lmbda: object = 1, a: object = 1,
                         b: object = 1) -> Any:
    """Return the logarithm of the density of a mean and a variance."""
    valid, (at, variance, centre, scale, shape, rate) = _normal_gamma(x, s2, mu, lmbda, a, b)
    inside = variance > 0.0
    v = np.where(inside, variance, 1.0)
    found = (0.5 * (np.log(scale) - _LOG_2_PI - np.log(v)) + shape * np.log(rate) - gammaln(shape)
             - (shape + 1.0) * np.log(v) - (rate + 0.5 * scale * (at - centre) ** 2) / v)
    return np.where(valid, np.where(inside, found, -np.inf), np.nan)[()]


def _normal_gamma_mean(mu: object = 0, lmbda: object = 1, a: object = 1, b: object = 1) -> Any:
    valid, (centre, _, shape, rate) = _normal_gamma(mu, lmbda, a, b)
    there = valid & (shape > 1.0)
    over = np.where(there, shape - 1.0, 1.0)
    return tuple(np.where(there, y, np.nan)[()] for y in (centre, rate / over))


def _normal_gamma_variance(mu: object = 0, lmbda: object = 1, a: object = 1, b: object = 1) -> Any:
    valid, (centre, scale, shape, rate) = _normal_gamma(mu, lmbda, a, b)
    one, two = valid & (shape > 1.0), valid & (shape > 2.0)
    mean = rate / np.where(one, shape - 1.0, 1.0) + 0.0 * centre
    return (np.where(one, mean / scale, np.nan)[()],
            np.where(two, mean * mean / np.where(two, shape - 2.0, 1.0), np.nan)[()])


DISTRIBUTIONS["normal_inverse_gamma"] = {
    "logpdf": _normal_gamma_logpdf, "pdf": exponential_of(_normal_gamma_logpdf, -1),
    "mean": _normal_gamma_mean, "var": _normal_gamma_variance}
for _name, _kind, _log in (
        ("matrix_t", "pdf", _matrix_t_logpdf),
        ("multinomial", "pmf", _multinomial_logpmf),
        ("dirichlet_multinomial", "pmf", _dirichlet_multinomial_logpmf),
        ("vonmises_fisher", "pdf", _fisher_logpdf), ("multivariate_t", "pdf", _t_logpdf),
        ("matrix_normal", "pdf", _matrix_normal_logpdf),
        ("invwishart", "pdf", _invwishart_logpdf)):
    DISTRIBUTIONS[_name] = {f"log{_kind}": _log, _kind: exponential_of(_log, -1)}
