"""`scipy.stats.gaussian_kde` of traced data, and SciPy's own at traced points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import require_finite
from tracejit.numpy_api.linalg import solve_triangular
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.formulas import ndtr
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class Kernels(Made):
    """A density that is a sum of normal ones, around points of data.

    dataset    -- axes times points
    weights    -- of each point, together 1
    covariance -- of one of the normal densities
    """

    scipys = "scipy.stats.gaussian_kde"

    def __init__(self, dataset: np.ndarray, weights: np.ndarray, covariance: np.ndarray) -> None:
        self.dataset, self.weights, self.covariance = dataset, weights, covariance
        self.d = need_int(dims_of(dataset)[0], "how many axes the data of a density has")
        self.n = as_operand(dims_of(dataset)[1])

    def __getattr__(self, name: str) -> Any:
        if name in ("factor", "neff", "cho_cov", "inv_cov", "integrate_gaussian", "integrate_box",
                    "integrate_kde", "resample", "set_bandwidth", "marginal", "covariance_factor",
                    "scotts_factor", "silverman_factor", "log_det"):
            raise refuse(f"`{name}` of scipy.stats.gaussian_kde of traced data cannot be captured",
                         "Call it, or use evaluate, pdf, logpdf and integrate_box_1d", "TJ209")
        raise AttributeError(name)

    def _energies(self, points: object) -> tuple[Any, Any]:
        """Return half the squares of distances, data times points, and what scales densities."""
        given = as_tracer(points)
        if given.dtype.kind not in "iuf":
            raise refuse(f"scipy.stats.gaussian_kde at points of {given.dtype} cannot be captured",
                         "Give real numbers", "TJ206")
        at: Any = np.atleast_2d(cast(given, np.float64))
        require_finite(at)
        d, m = dims_of(at)
        if not same_dim(d, self.d):
            if not same_dim(d, 1) or not same_dim(m, self.d):
                raise ValueError(f"points have dimension {as_operand(d)}, dataset has dimension "
                                 f"{self.d}")
            at = apply("reshape", at, shape=(self.d, 1))
        apart = at[:, None, :] - self.dataset[:, :, None]
        factor: Any = np.linalg.cholesky(self.covariance)
        flat = np.reshape(apart, (self.d, -1))
        white = np.reshape(solve_triangular(factor, flat, lower=True), apart.shape)
        scale = np.prod(np.diagonal(factor)) * (2.0 * math.pi) ** (0.5 * self.d)
        return 0.5 * np.sum(white * white, axis=0), scale

    def evaluate(self, points: object) -> Any:
        """Return the density at points, which are columns."""
        energies, scale = self._energies(points)
        return np.sum(self.weights[:, None] * np.exp(-energies), axis=0) / scale

    __call__ = evaluate

    def pdf(self, x: object) -> Any:
        """Return the density at points, which are columns."""
        return self.evaluate(x)

    def logpdf(self, x: object) -> Any:
        """Return the logarithm of the density at points, also far from all data."""
        energies, scale = self._energies(x)
        near = np.min(energies, axis=0)
        sums = np.sum(self.weights[:, None] * np.exp(near[None, :] - energies), axis=0)
        return np.log(sums) - near - np.log(scale)

    def integrate_box_1d(self, low: np.ndarray, high: np.ndarray) -> Any:
        """Return the integral between two places."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        width = np.sqrt(self.covariance[0, 0])
        ends = [ndtr((end - self.dataset[0]) / width) for end in (low, high)]
        return np.sum(self.weights * (ends[1] - ends[0]))


def gaussian_kde(dataset: object, bw_method: object = None, weights: object = None) -> Any:
    """Return the density around data, as wide as a rule or a number says."""
    data: Any = np.atleast_2d(cast(as_inexact(dataset), np.float64))
    d, n = dims_of(data)
    axes = need_int(d, "how many axes the data of a density has")
    require(np.greater(as_operand(n) * axes, 1), ValueError,
            "`dataset` input should have multiple elements.")
    require(np.less_equal(axes, as_operand(n)), ValueError, "Number of dimensions is greater than "
            "number of samples.")
    if weights is None:
        shares: Any = apply("full", np.float64(1), shape=(n,)) / as_operand(n)
    else:
        given: Any = np.atleast_1d(cast(as_tracer(weights), np.float64))
        if len(dims_of(given)) != 1:
            raise ValueError("`weights` input should be one-dimensional.")
        if not same_dim(dims_of(given)[0], n):
            raise ValueError("`weights` input should be of length n")
        shares = given / np.sum(given)
    squares = np.sum(shares * shares)
    middle = data - np.sum(data * shares, axis=1, keepdims=True)
    covariance = (middle * shares) @ np.transpose(middle) / (1.0 - squares)
    require_finite(covariance)
    width = _width(bw_method, 1.0 / squares, axes)
    return Kernels(data, shares, covariance * width ** 2)


def _width(bw_method: object, count: np.ndarray, axes: int) -> Any:
    """Return how wide normal densities are, as a share of the data's deviation."""
    if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
        return count ** (-1.0 / (axes + 4))
    if isinstance(bw_method, str):
        if bw_method == "silverman":
            return (count * (axes + 2.0) / 4.0) ** (-1.0 / (axes + 4))
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
    if callable(bw_method) and not isinstance(bw_method, TracedOperand):
        raise refuse("scipy.stats.gaussian_kde with a function as bw_method= cannot be captured",
                     "Pass 'scott', 'silverman' or a number", "TJ203")
    width: Any = as_tracer(bw_method)
    if len(width.dims):
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
    return width


def _of_object(kde: object) -> Kernels:
    """Return a density from outside, its data read like any arrays."""
    dataset, covariance, weights = (as_tracer(read_attribute(kde, name)) for name in (
        "dataset", "covariance", "weights"))
    return Kernels(cast(dataset, np.float64), weights, covariance)  # type: ignore[arg-type]


def _method(name: str) -> Callable[..., Any]:
    def capture(kde: object, *args: object, **kwargs: object) -> Any:
        return getattr(_of_object(kde), name)(*args, **kwargs)

    return capture


OBJECTS["scipy.stats.gaussian_kde"] = {
    name: _method(name) for name in ("__call__", "evaluate", "pdf", "logpdf", "integrate_box_1d")}
captures_of_some("scipy.stats", {"gaussian_kde": gaussian_kde}, "iuf")
