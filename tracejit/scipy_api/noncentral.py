"""Noncentral distributions of `scipy.stats`: mixtures of central ones by Poisson's probabilities.

Of a mixture those terms are added up that count, around its largest one. What lies below a number
of the central distributions in turn differs by densities: one function of the last, and sums.
N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions 2", chapters 29
and 30.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.special import betaln, gammaln, xlogy
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.formulas import LOG_2, Distribution, Formula, positive, zero
from tracejit.scipy_api.probability import beta_tails, gamma_tails
from tracejit.scipy_api.quantiles import by_search, counted_by, of_tails
from tracejit.trace.values.equations import apply
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["NONCENTRAL", "SKELLAM"]

_TERMS = np.arange(400.0)
MOST_MEAN = 400.0
"""The largest mean of the number of Poisson's distribution: its terms are within 200 of it."""


def _numbered(middle: np.ndarray, stride: np.ndarray, *others: np.ndarray) -> list[Any]:
    """Return the numbers of terms around a middle one, and operands, with a new axis for them."""
    first = np.floor(np.maximum(middle - 0.5 * stride * len(_TERMS), 0.0))
    start, step, *given = [np.expand_dims(x, -1) for x in np.broadcast_arrays(
        stop_gradient(first), stop_gradient(stride), *others)]
    return [start + step * _TERMS, *given]


def _log_sum(middle: np.ndarray, mean: np.ndarray, log_term: Formula, *others: np.ndarray) -> Any:
    """Return the logarithm of a mixture's sum: where it is wide, of every so manyth term.

    The trapezoidal rule is exact but for exp(-2 (pi sigma / step) ** 2) of a bell.
    """
    stride = np.maximum(np.floor(np.sqrt(0.5 * middle) / 6.0), 1.0)
    j, m, *given = _numbered(middle, stride, mean, *others)
    terms, small = log_term(j, *given) - m - gammaln(j + 1.0), m < 1.0
    logs = terms + xlogy(j, np.where(small, 1.0, m))
    most = stop_gradient(np.max(terms + xlogy(j, m), axis=-1))
    top = np.where(np.isinf(most), 0.0, most)  # infinite at 0
    by_powers = np.power(np.where(small, m, 1.0), j)  # which have a derivative at 0
    total = np.sum(by_powers * np.exp(logs - np.expand_dims(top, -1)), axis=-1)
    return top + np.log(total * stop_gradient(stride))


def _weights(j: np.ndarray, mean: np.ndarray) -> Any:
    """Return Poisson's probabilities, with a derivative by a mean of 0."""
    require_ours(np.logical_not(np.any(mean > MOST_MEAN)), NotCaptured,
                 f"a noncentral distribution with nc above {2 * MOST_MEAN:g} cannot be captured")
    small = mean < 1.0
    logs = xlogy(j, np.where(small, 1.0, mean)) - mean - gammaln(j + 1.0)
    return np.power(np.where(small, mean, 1.0), j) * np.exp(logs)


def _mixed(weights: np.ndarray, falls: np.ndarray, lower: np.ndarray,
           upper: np.ndarray) -> tuple[Any, Any]:
    """Return the shares of a mixture below and above a number.

    falls -- by how much each share below is above the next one
    lower, upper -- the last share below, and the first one above
    """
    before = np.cumsum(falls, axis=-1)
    above = np.expand_dims(upper, -1) + before - falls
    behind = np.flip(np.cumsum(np.flip(falls, axis=-1), axis=-1), axis=-1)
    below = np.expand_dims(lower, -1) + behind
    return np.sum(weights * below, axis=-1), np.sum(weights * above, axis=-1)


# --- chi squared --------------------------------------------------------------------------------


def _ncx2_logpdf(y: np.ndarray, df: np.ndarray, nc: np.ndarray) -> Any:
    half, mean = 0.5 * y, 0.5 * nc

    def log_term(j: np.ndarray, x: np.ndarray, a: np.ndarray) -> Any:
        return xlogy(a + j - 1.0, x) - x - gammaln(a + j)

    return _log_sum(np.sqrt(half * mean), mean, log_term, half, 0.5 * df) - LOG_2


def _ncx2_tails(y: np.ndarray, df: np.ndarray, nc: np.ndarray) -> tuple[Any, Any]:
    mean = 0.5 * nc
    j, m, x, a = _numbered(mean, 1.0 + 0.0 * mean, mean, 0.5 * y, 0.5 * df)
    falls = np.exp(xlogy(a + j, x) - x - gammaln(a + j + 1.0))
    first, last, at = a[..., 0] + j[..., 0], a[..., 0] + j[..., -1] + 1.0, x[..., 0]
    return _mixed(_weights(j, m), falls, gamma_tails(last, at)[0], gamma_tails(first, at)[1])


# --- F ------------------------------------------------------------------------------------------


def _ncf_place(y: np.ndarray, n: np.ndarray, m: np.ndarray) -> tuple[Any, Any]:
    whole = n * y + m
    return n * y / whole, m / whole


def _ncf_logpdf(y: np.ndarray, n: np.ndarray, m: np.ndarray, nc: np.ndarray) -> Any:
    x, rest = _ncf_place(y, n, m)
    near = 0.25 * nc * x

    def log_term(j: np.ndarray, at: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        return xlogy(a + j - 1.0, at) - betaln(a + j, b)

    total = _log_sum(near + np.sqrt(near * (near + n + m)), 0.5 * nc, log_term, x, 0.5 * n, 0.5 * m)
    return total + (0.5 * m + 1.0) * np.log(rest) + np.log(n / m)


def _ncf_tails(y: np.ndarray, n: np.ndarray, m: np.ndarray, nc: np.ndarray) -> tuple[Any, Any]:
    mean = 0.5 * nc
    j, mu, at, away, a, b = _numbered(mean, 1.0 + 0.0 * mean, mean, *_ncf_place(y, n, m), 0.5 * n,
                                      0.5 * m)
    shape = a + j
    falls = np.exp(xlogy(shape, at) + b * np.log(away) - betaln(shape, b)) / shape
    place = at[..., 0], away[..., 0]
    first, last = shape[..., 0], shape[..., -1] + 1.0
    return _mixed(_weights(j, mu), falls, beta_tails(last, b[..., 0], *place)[0],
                  beta_tails(first, b[..., 0], *place)[1])


# --- Rice's, Skellam's --------------------------------------------------------------------------


def _rice_logpdf(y: np.ndarray, b: np.ndarray) -> Any:
    return np.log(y) - 0.5 * (y - b) ** 2 + np.log(apply("i0e", y * b))


def _rice_tails(y: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    return _ncx2_tails(y * y, 2.0 + 0.0 * b, b * b)


def _skellam_logpmf(k: np.ndarray, first: np.ndarray, second: np.ndarray) -> Any:
    order = np.abs(np.floor(k))  # floor has no derivative
    roots = np.sqrt(first), np.sqrt(second)
    return (-(roots[0] - roots[1]) ** 2 + k * (np.log(roots[0]) - np.log(roots[1]))
            + np.log(apply("ive", order, 2.0 * roots[0] * roots[1])))


def _skellam_tails(k: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    """Return the shares of a difference of counts: those of the noncentral chi squared."""
    left = k < 0.0
    size = np.where(left, -k, k + 1.0)
    mean, place = np.where(left, first, second), np.where(left, second, first)
    lower, upper = _ncx2_tails(2.0 * place, 2.0 * size, 2.0 * mean)
    return np.where(left, lower, upper), np.where(left, upper, lower)


NONCENTRAL: dict[str, Distribution] = {
    "ncx2": Distribution(by_search(_ncx2_logpdf, _ncx2_tails, zero, start=lambda df, nc: df + nc),
                         ("df", "nc"), lambda df, nc: (df > 0.0) & (df < np.inf) & (nc >= 0.0),
                         zero, nothing_at_ends=True),
    "ncf": Distribution(by_search(_ncf_logpdf, _ncf_tails, zero,
                                  start=lambda n, m, nc: 1.0 + nc / n),
                        ("dfn", "dfd", "nc"), lambda n, m, nc: (n > 0.0) & (m > 0.0) & (
                            nc >= 0.0), zero, nothing_at_ends=True),
    "rice": Distribution(by_search(_rice_logpdf, _rice_tails, zero, start=lambda b: b + 1.0),
                         ("b",), lambda b: b >= 0.0, zero),
}
SKELLAM = Distribution({"logpmf": _skellam_logpmf, **of_tails(
    _skellam_tails, counted_by(_skellam_tails))}, ("mu1", "mu2"), positive, inner=0.0,
    discrete=True)
