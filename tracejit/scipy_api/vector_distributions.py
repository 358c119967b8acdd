"""The distributions of `scipy.stats` of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.linalg import cholesky, solve_triangular
from tracejit.numpy_api.special import gammaln, multigammaln
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.distributions import double
from tracejit.scipy_api.plain_definite import require_definite
from tracejit.scipy_api.power_factors import exponential_of, power_log
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import as_operand, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


def _normal_parameters(mean: object, cov: object) -> tuple[Any, Any, Any]:
    """Return mean and covariance matrix, and how many components there are."""
    matrix: Any = double(1.0 if cov is None else cov)
    if len(matrix.dims) > 2:
        raise ValueError("Array 'cov' must be at most two-dimensional, but cov.ndim = "
                         f"{len(matrix.dims)}")
    centre: Any = None if mean is None else np.atleast_1d(double(mean))
    if centre is not None and len(centre.dims) != 1:
        raise ValueError("Array 'mean' must be a vector of length d")
    n = matrix.shape[0] if matrix.dims else (1 if centre is None else centre.shape[0])
    if not matrix.dims:
        matrix = matrix * np.eye(n)
    elif len(matrix.dims) == 1:
        matrix = np.diag(matrix)
    elif not same_dim(matrix.dims[0], matrix.dims[1]):
        raise ValueError("Array 'cov' must be square if it is two-dimensional")
    centre = np.zeros(n) if centre is None else centre
    if not same_dim(as_tracer(centre).dims[0], matrix.dims[0]):
        raise ValueError(f"Array 'mean' must be a vector of length {n}.")
    return centre, matrix, n


def _factor(matrix: np.ndarray) -> Any:
    """Return Cholesky's factor of a matrix that SciPy takes for definite."""
    require(np.all(np.isfinite(matrix)), ValueError, "array must not contain infs or NaNs")
    factor = cholesky(matrix)
    known, given = stop_gradient(factor), stop_gradient(matrix)
    n = matrix.shape[0]
    trace = np.trace(given)
    others: Any = np.maximum(n - 1, 1)
    least = np.exp(2.0 * np.sum(np.log(np.diag(known))) - others * np.log(trace / others))
    call_function(require_definite, (given, np.where(n == 1, trace, least), trace, lambda: (
        solve_triangular(known, np.eye(n), lower=True))), {})
    return factor


def _normal_logpdf(x: object, mean: object = None, cov: object = 1,
                   allow_singular: bool = False) -> Any:
    """Return the logarithm of the density of a normal distribution of vectors."""
    if allow_singular:
        raise refuse("multivariate_normal with allow_singular=True cannot be captured",
                     "Add a little to the diagonal of the matrix", "TJ203")
    centre, matrix, n = _normal_parameters(mean, cov)
    points: Any = double(x)
    if not points.dims:
        points = points[None]
    elif len(points.dims) == 1:
        points = points[:, None] if isinstance(n, int) and n == 1 else points[None, :]
    factor = _factor(matrix)
    away = points - centre
    flat = np.reshape(away, (-1, as_operand(away.dims[-1])))
    z: Any = solve_triangular(factor, flat.T, lower=True)
    distance = np.reshape(np.sum(z * z, axis=0), away.shape[:-1])
    result = -(0.5 * distance + np.sum(np.log(np.diag(factor))) + n * _HALF_LOG_2_PI)
    return np.squeeze(result)[()]


def _normal_entropy(mean: object = None, cov: object = 1) -> Any:
    """Return the entropy of a normal distribution of vectors."""
    _, matrix, n = _normal_parameters(mean, cov)
    return np.sum(np.log(np.diag(_factor(matrix)))) + n * (_HALF_LOG_2_PI + 0.5)


def _dirichlet_logpdf(x: object, alpha: object) -> Any:
    """Return the logarithm of the density of a Dirichlet distribution."""
    a: Any = double(alpha)
    points: Any = double(x)
    if len(a.dims) != 1 or len(points.dims) > 2:
        raise ValueError("Parameter vector 'a' must be one dimensional.")
    require(np.logical_not(np.any(a <= 0.0)), ValueError,
            "All parameters must be greater than 0")
    if not same_dim(points.dims[0], a.dims[0]):
        raise refuse("dirichlet.logpdf of vectors without their last component cannot be captured",
                     "Append what is left of 1", "TJ213")
    require(np.all((points >= 0.0) & (points <= 1.0)), ValueError,
            "Each entry in 'x' must be between zero and one.")
    require(np.logical_not(np.any(np.abs(np.sum(points, axis=0) - 1.0) > 1e-9)), ValueError,
            "The input vector 'x' must lie within the normal simplex.")
    constant = np.sum(gammaln(a)) - gammaln(np.sum(a))
    return np.sum(power_log(a - 1.0, points.T).T, axis=0) - constant


DISTRIBUTIONS["multivariate_normal"] = {
    "logpdf": _normal_logpdf, "entropy": _normal_entropy,
    "pdf": lambda *args, **kwargs: np.exp(_normal_logpdf(*args, **kwargs))}
DISTRIBUTIONS["dirichlet"] = {
    "logpdf": _dirichlet_logpdf, "pdf": exponential_of(_dirichlet_logpdf, -1)}


def _wishart_logpdf(x: object, df: object, scale: object = None) -> Any:
    """Return the logarithm of the density of a Wishart distribution, of one matrix."""
    matrix: Any = np.atleast_2d(double(x))
    if len(matrix.dims) != 2:
        raise refuse("wishart.logpdf of several matrices cannot be captured", "Use a loop", "TJ207")
    n = need_int(matrix.dims[0], "the dimension of a Wishart distribution")
    spread: Any = np.eye(n) if scale is None else np.atleast_2d(double(scale))
    nu: Any = double(df)
    factor, of_x = cholesky(as_tracer(spread)), cholesky(matrix)
    whitened: Any = solve_triangular(factor, of_x, lower=True)
    half_x, half_v = np.sum(np.log(np.diag(of_x))), np.sum(np.log(np.diag(factor)))
    return ((nu - n - 1.0) * half_x - 0.5 * np.sum(whitened * whitened)
            - 0.5 * nu * n * math.log(2.0) - nu * half_v - multigammaln(0.5 * nu, n))


DISTRIBUTIONS["wishart"] = {
    "logpdf": _wishart_logpdf, "pdf": lambda *args, **kwargs: np.exp(
        _wishart_logpdf(*args, **kwargs))}
