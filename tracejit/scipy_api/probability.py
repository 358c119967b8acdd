"""Incomplete gamma and beta functions, the distribution functions made of them, and inverses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.incomplete import SMALL_X
from tracejit.numpy_api.special import gammaln, in_double
from tracejit.ops.calls import stop_gradient
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["beta_tails", "betaincinv", "gamma_tails", "gammaincinv", "root_of_gamma", "student_cdf",
           "student_ppf"]


LEAST_SHAPE, MOST_SHAPE = 1e-290, 1e90


def _safe(valid: np.ndarray, *operands: np.ndarray) -> list[Any]:
    return [np.where(valid, x, 1.0) for x in operands]


def _require_reach(name: str, valid: np.ndarray, *shapes: np.ndarray) -> None:
    """Require that shapes are numbers of which the rule of 129 points has digits."""
    for a in shapes:
        outside = valid & ((a < LEAST_SHAPE) | (a > MOST_SHAPE))
        require_ours(np.logical_not(np.any(outside)), NotCaptured, f"an incomplete {name} function "
                     f"of a shape below {LEAST_SHAPE:g} or above {MOST_SHAPE:g} cannot be captured")


def gamma_tails(a: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
    """Return the regularised incomplete gamma functions, the lower and the upper one."""
    inside = (a > 0.0) & (a < np.inf) & (x >= 0.0) & (x < np.inf)
    _require_reach("gamma", inside, a)
    shape, place = _safe(inside, a, x)
    part = apply("gamma_part", shape, place, 0.0)
    below = place <= np.maximum(shape, SMALL_X)
    left = ((a == 0.0) & (x > 0.0)) | ((x == np.inf) & (a >= 0.0) & (a < np.inf))
    right = (a == np.inf) & (x >= 0.0) & (x < np.inf)
    far = np.where(left, 1.0, np.where(right, 0.0, np.nan))
    lower, upper = np.where(below, part, 1.0 + part), np.where(below, 1.0 - part, -part)
    return np.where(inside, lower, far), np.where(inside, upper, 1.0 - far)


def beta_tails(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """Return the regularised incomplete beta functions of x, which is 1 - y, and of y."""
    inside = (a > 0.0) & (a < np.inf) & (b > 0.0) & (b < np.inf) & (x >= 0.0) & (x <= 1.0)
    _require_reach("beta", inside, a, b)
    p, q, place = _safe(inside, a, b, x)
    rest = np.where(inside, y, 0.0)
    part = apply("beta_part", p, q, place, rest, 0.0, 0.0)
    below = place * q <= rest * p
    valid = (x >= 0.0) & (x <= 1.0) & (a >= 0.0) & (b >= 0.0)
    left = valid & (((a == 0.0) & (b > 0.0)) | ((b == np.inf) & (a < np.inf)))
    right = valid & (((b == 0.0) & (a > 0.0)) | ((a == np.inf) & (b < np.inf)))
    far = np.where(left, np.where(x == 0.0, 0.0, 1.0),
                   np.where(right, np.where(x == 1.0, 1.0, 0.0), np.nan))
    lower, upper = np.where(below, part, 1.0 + part), np.where(below, 1.0 - part, -part)
    return np.where(inside, lower, far), np.where(inside, upper, 1.0 - far)


def gammaincinv(a: np.ndarray, p: np.ndarray, q: np.ndarray) -> Any:
    """Return where the lower incomplete gamma function is p, which is 1 - q."""
    inside = (a > 0.0) & (p > 0.0) & (q > 0.0) & (a < np.inf)
    shape = np.where(inside, a, 1.0)
    found = apply("gamma_quantile", shape, *(np.where(inside, v, 0.5) for v in (p, q)))
    first = np.where(p == 0.0, p, 0.0)
    start = np.where(a < 1.0, 0.0, np.where(a == 1.0, first, np.sqrt(first)))  # an infinite slope
    edge = np.where(p == 0.0, start, np.where(q == 0.0, np.inf, np.nan))
    between = (a == 0.0) & (p > 0.0) & (q > 0.0)
    edge = np.where(between, np.nan, edge)
    return np.where(inside, found, np.where(a >= 0.0, edge, np.nan))


def root_of_gamma(p: np.ndarray, q: np.ndarray, b: np.ndarray) -> Any:
    """Return the b-th root of where the incomplete gamma function of shape 1 / b is p, 1 - q.

    Next to 0 it is the first term of the series: DLMF 8.7.1.
    """
    a = 1.0 / b
    found = gammaincinv(a, p, q)
    near = found < 1e-290
    return np.where(near, p * np.exp(gammaln(1.0 + np.where(near, a, 1.0))),
                    np.power(np.where(near, 1.0, found), a))


def betaincinv(a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray) -> Any:
    """Return where the incomplete beta function is p, which is 1 - q."""
    inside = (a > 0.0) & (b > 0.0) & (p > 0.0) & (q > 0.0)
    shapes = _safe(inside, a, b)
    found = apply("beta_quantile", *shapes, *(np.where(inside, v, 0.5) for v in (p, q)))
    edge = np.where(p == 0.0, 0.0, np.where(q == 0.0, 1.0, np.nan))
    return np.where(inside, found, np.where((a > 0.0) & (b > 0.0), edge, np.nan))


def student_cdf(y: np.ndarray, df: np.ndarray) -> Any:
    """Return Student's distribution function."""
    inside = (df > 0.0) & (np.abs(y) < np.inf)
    _require_reach("beta", inside & (df < 1.0), df)
    t, shape = np.where(inside, y, 0.0), np.where(inside, df, 1.0)
    edge = np.where(y > 0.0, 1.0, np.where(y < 0.0, 0.0, np.nan))
    return np.where(inside, apply("student_t", t, shape), np.where(df > 0.0, edge, np.nan))


def student_ppf(p: np.ndarray, q: np.ndarray, df: np.ndarray) -> Any:
    """Return where Student's distribution function is p, which is 1 - q."""
    inside = (df > 0.0) & (p > 0.0) & (q > 0.0)
    _require_reach("beta", inside & (df < 1.0), df)
    at = [np.where(inside, v, 0.5) for v in (p, q)]
    edge = np.where(p == 0.0, -np.inf, np.where(q == 0.0, np.inf, np.nan))
    found = apply("student_t_quantile", *at, np.where(inside, df, 1.0))
    return np.where(inside, found, np.where(df > 0.0, edge, np.nan))


# --- under the names of `scipy.special` ---------------------------------------------------------


def _counts(k: np.ndarray, valid: np.ndarray) -> Any:
    return np.where(valid, np.floor(k), 0.0)


def _pdtr(lower: bool) -> Callable[..., Any]:
    def capture(k: np.ndarray, m: np.ndarray) -> Any:
        valid = (k >= 0.0) & (m >= 0.0)
        tails = gamma_tails(_counts(k, valid) + 1.0, np.where(valid, m, 1.0))
        return np.where(valid, tails[1 if lower else 0], np.nan)

    return capture


def _bdtr(lower: bool) -> Callable[..., Any]:
    def capture(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> Any:
        least = 0.0 if lower else -1.0
        whole, n = np.floor(k), np.trunc(n)
        valid = (whole >= least) & (whole <= n) & (p >= 0.0) & (p <= 1.0)
        inner = valid & (whole < n) & (whole >= 0.0)
        count, trials, share = (np.where(inner, v, w) for v, w in (
            (whole, 0.0), (n, 1.0), (p, 0.5)))
        tails = beta_tails(trials - count, count + 1.0, 1.0 - share, share)
        edge = np.where(whole < 0.0, 0.0 if lower else 1.0, 1.0 if lower else 0.0)
        return np.where(inner, tails[0 if lower else 1], np.where(valid, edge, np.nan))

    return capture


def _nbdtr(lower: bool) -> Callable[..., Any]:
    def capture(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> Any:
        n = np.trunc(n)
        valid = (k >= 0.0) & (n > 0.0) & (p >= 0.0) & (p <= 1.0)
        share = np.where(valid, p, 0.5)
        tails = beta_tails(np.where(valid, n, 1.0), _counts(k, valid) + 1.0, share, 1.0 - share)
        return np.where(valid, tails[0 if lower else 1], np.nan)

    return capture


def _gdtr(lower: bool) -> Callable[..., Any]:
    def capture(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
        rate, place = _but_at_zero(x, a), _but_at_zero(a, x)
        return gamma_tails(b, rate * np.where(x < 0.0, np.nan, place))[0 if lower else 1]

    return capture


def _but_at_zero(x: np.ndarray, scale: np.ndarray) -> Any:
    """Return what multiplies x, a constant where x is 0: a density may be infinite."""
    return np.where(x == 0.0, stop_gradient(scale), scale)


def _fdtr(lower: bool) -> Callable[..., Any]:
    def capture(d1: np.ndarray, d2: np.ndarray, x: np.ndarray) -> Any:
        right = (d1 > 0.0) & (d2 > 0.0)
        valid = right & (x >= 0.0) & (x < np.inf)
        y, d1, d2 = (np.where(valid, v, 1.0) for v in (x, d1, d2))
        above, below = _but_at_zero(y, d1), _but_at_zero(y, d2)
        whole = above * y + below
        tails = beta_tails(0.5 * d1, 0.5 * d2, above * y / whole, below / whole)
        edge = np.where(right & (x == np.inf), 1.0 if lower else 0.0, np.nan)
        return np.where(valid, tails[0 if lower else 1], edge)

    return capture


def _fdtri(d1: np.ndarray, d2: np.ndarray, p: np.ndarray) -> Any:
    right = (d1 > 0.0) & (d2 > 0.0)
    valid = right & (p > 0.0) & (p < 1.0)
    share, d1, d2 = (np.where(valid, v, w) for v, w in ((p, 0.5), (d1, 1.0), (d2, 1.0)))
    x = betaincinv(0.5 * d1, 0.5 * d2, share, 1.0 - share)
    y = betaincinv(0.5 * d2, 0.5 * d1, 1.0 - share, share)
    edge = np.where(right & (p == 0.0), 0.0, np.where(right & (p == 1.0), np.inf, np.nan))
    return np.where(valid, d2 * x / (d1 * y), edge)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gammainc": lambda a, x: gamma_tails(a, x)[0],
    "gammaincc": lambda a, x: gamma_tails(a, x)[1],
    "gammaincinv": lambda a, p: gammaincinv(a, p, 1.0 - p),
    "gammainccinv": lambda a, q: gammaincinv(a, 1.0 - q, q),
    "betainc": lambda a, b, x: beta_tails(a, b, x, 1.0 - x)[0],
    "betaincc": lambda a, b, x: beta_tails(a, b, x, 1.0 - x)[1],
    "betaincinv": lambda a, b, p: betaincinv(a, b, p, 1.0 - p),
    "betainccinv": lambda a, b, q: betaincinv(a, b, 1.0 - q, q),
    "pdtr": _pdtr(True), "pdtrc": _pdtr(False), "bdtr": _bdtr(True), "bdtrc": _bdtr(False),
    "nbdtr": _nbdtr(True), "nbdtrc": _nbdtr(False), "fdtr": _fdtr(True), "fdtrc": _fdtr(False),
    "fdtri": _fdtri,
    "chdtr": lambda v, x: gamma_tails(0.5 * v, 0.5 * x)[0],
    "chdtrc": lambda v, x: gamma_tails(0.5 * v, 0.5 * x)[1],
    "chdtri": lambda v, q: 2.0 * gammaincinv(0.5 * v, 1.0 - q, q),
    "gdtr": _gdtr(True), "gdtrc": _gdtr(False),
    "gdtrix": lambda a, b, p: np.where((a == 0.0) & (b == 0.0), np.nan, gammaincinv(
        b, p, 1.0 - p) / a),
    "stdtr": lambda df, t: student_cdf(t, df),
    "stdtrit": lambda df, p: np.where(p == 0.0, np.where(df > 0.0, np.inf, np.nan), student_ppf(
        p, 1.0 - p, df)),
}

scipy_captures("scipy.special",
               {name: in_double(name, function) for name, function in _FUNCTIONS.items()})
