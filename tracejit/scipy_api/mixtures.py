"""Distributions of `scipy.stats` that are mixtures of normal ones: a table.

What lies on one side of a number is an integral of positive numbers over the mixing variable: no
digits are lost, in either tail. N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate
Distributions 2", chapter 31; O. Barndorff-Nielsen, Scandinavian Journal of Statistics 5, 1978.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.special import beyond_stirling, gammaln, log_ndtr, xlog1py, xlogy
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.areas import LEFT
from tracejit.scipy_api.formulas import (
    HALF_LOG_2_PI,
    LOG_2,
    LOG_PI,
    Distribution,
    Formula,
    log_expit,
    one,
    zero,
)
from tracejit.scipy_api.peaks import composed_rule, log_area, of_log_tail, shares_of
from tracejit.scipy_api.quantiles import quantile_of

__all__ = ["MIXTURES", "chi_log", "chi_norm"]


# --- noncentral t -------------------------------------------------------------------------------

_FAR = 1e15
"""From which number of degrees of freedom on a distribution is as good as normal."""


def chi_log(u: np.ndarray, df: np.ndarray) -> Any:
    """Return the logarithm of w ** df exp(df (1 - w ** 2) / 2), of u = log w."""
    near = np.abs(u) < 0.02
    v = np.where(near, u, 0.0)
    series: Any = 0.0
    for k in range(10, 1, -1):
        series = series * v + 2.0 ** (k - 1) / math.factorial(k)
    far = np.where(near, 1.0, u)
    return df * np.where(near, -series * v * v, far - 0.5 * np.expm1(2.0 * far))


def chi_norm(df: np.ndarray) -> Any:
    """Return the logarithm of what to multiply it with for a density of u."""
    half = 0.5 * df
    large = half > 10.0
    far, near = np.where(large, half, 10.0), np.where(large, 1.0, half)
    return LOG_2 + np.where(large, 0.5 * np.log(far) - HALF_LOG_2_PI - beyond_stirling(1.0 / far),
                            near * np.log(near) - near - gammaln(near))


def _nct_over_u(u: np.ndarray, t: np.ndarray, df: np.ndarray, nc: np.ndarray) -> Any:
    off = t * np.exp(u) - nc
    return u + chi_log(u, df) - 0.5 * off * off


def _nct_logpdf(t: np.ndarray, df: np.ndarray, nc: np.ndarray) -> Any:
    df = np.minimum(df, _FAR)
    size = np.sqrt(df + t * t)
    turn = 0.5 * nc * (t / size)
    root = np.sqrt(turn * turn + df + 1.0)
    peak = stop_gradient(np.log(np.where(turn > 0.0, turn + root, (df + 1.0) / (
        root - turn)) / size))
    found = log_area(_nct_over_u, peak - 60.0 / (df + 1.0) - 12.0, peak + 8.0, t, df, nc)
    return found + chi_norm(df) - HALF_LOG_2_PI


def _nct_tail_over_u(u: np.ndarray, t: np.ndarray, df: np.ndarray, nc: np.ndarray) -> Any:
    return chi_log(u, df) + log_ndtr(nc - t * np.exp(u))


def _nct_log_tail(t: np.ndarray, df: np.ndarray, nc: np.ndarray) -> tuple[Any, Any]:
    df, above = np.minimum(df, _FAR), t > nc
    t, nc = np.where(above, t, -t), np.where(above, nc, -nc)
    reach = np.abs(t) * (np.abs(nc) + 1.0)
    small = 2.0 * df / (reach + np.sqrt(reach * reach + 4.0 * df * (df + t * t)))
    large = 0.5 * (reach / df + np.sqrt((reach / df) ** 2 + 4.0))
    first = np.where(t > 0.0, np.log(small), 0.0)
    last = np.where(t > 0.0, 0.0, np.log(large))
    found = log_area(_nct_tail_over_u, stop_gradient(first - 60.0 / df - 12.0),
                     stop_gradient(last + 8.0), t, df, nc)
    return found + chi_norm(df), above


# --- generalised hyperbolic ----------------------------------------------------------------------


_LEAST = 1e-100


def _bessel_over_t(t: np.ndarray, p: np.ndarray, z: np.ndarray) -> Any:
    half = np.sinh(0.5 * t)
    return p * t - 2.0 * z * half * half


def _ends(p: np.ndarray, z: np.ndarray) -> tuple[Any, Any]:
    """Return where the integrand of a Bessel function is largest, and how far to look for its ends.

    The places have no derivatives.
    """
    order, size = stop_gradient(p), stop_gradient(z)
    peak = np.arcsinh(order / size)
    return peak, 2.0 * np.abs(peak) + np.arccosh(1.0 + 60.0 / size) + 5.0


def _log_bessel(p: np.ndarray, z: np.ndarray) -> Any:
    """Return the logarithm of exp(z) K_p(z) by its integral: DLMF 10.32.9."""
    peak, reach = _ends(p, z)
    return log_area(_bessel_over_t, peak - reach, peak + reach, p, z) - LOG_2


def _rest(a: np.ndarray, b: np.ndarray) -> Any:
    return np.maximum(np.sqrt((a - b) * (a + b)), _LEAST)


def _genhyperbolic_logpdf(x: np.ndarray, p: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    c, root = _rest(a, b), np.hypot(1.0, x)
    return (p * np.log(c) - (p - 0.5) * np.log(a / root) - HALF_LOG_2_PI - _log_bessel(p, c)
            + _log_bessel(p - 0.5, a * root) + b * x - a * root + c)


def _hyperbolic_tail_over_t(t: np.ndarray, x: np.ndarray, p: np.ndarray, c: np.ndarray,
                            b: np.ndarray) -> Any:
    half, root = np.exp(0.5 * t), np.sqrt(c)
    return _bessel_over_t(t, p, c) + log_ndtr(b * half / root - x * root / half)


def _genhyperbolic_log_tail(x: np.ndarray, p: np.ndarray, a: np.ndarray,
                            b: np.ndarray) -> tuple[Any, Any]:
    """Return what lies on the far side: the mixing variable is exp(t) over the rest of a and b."""
    c = _rest(a, b)
    peak, reach = _ends(p, c)
    above = x > stop_gradient(b * np.exp(peak) / c)
    away, drift = np.where(above, x, -x), np.where(above, b, -b)
    most = reach + stop_gradient(np.log1p(x * x) + np.log(a / c))
    found = log_area(_hyperbolic_tail_over_t, peak - most, peak + most, away, p, c, drift)
    return found - LOG_2 - _log_bessel(p, c), above


# --- Landau's -----------------------------------------------------------------------------------


def _landau_log(y: np.ndarray) -> tuple[Any, Any]:
    """Return the logarithm of Zolotarev's function of an angle, and of the angle's slope.

    y -- the logit of the angle's share of pi
    """
    share, rest = math.pi * np.exp(log_expit(y)), math.pi * np.exp(log_expit(-y))
    small = np.minimum(share, rest)
    turn = np.where(share < rest, -share, share) / np.tan(small)
    return (math.log(2.0 / math.pi) + np.log(share / np.sin(small)) + turn,
            np.log(share) + np.log(rest) - LOG_PI)


def _landau_density_over_y(y: np.ndarray, c: np.ndarray) -> Any:
    log, slope = _landau_log(y)
    return slope + log + c - np.exp(log + c)


def _landau_share_over_y(y: np.ndarray, c: np.ndarray) -> Any:
    log, slope = _landau_log(y)
    return slope - np.exp(log + c)


def _landau_near(log_f: Formula, x: np.ndarray) -> Any:
    return log_area(log_f, -700.0 + 0.0 * x, 40.0 + 0.0 * x, -0.5 * math.pi * x) - LOG_PI


_TURN = 1.5
"""From which number on Landau's distribution is the integral of his own."""
_PLACES, _WEIGHTS = composed_rule((-44.0, -14.0, -4.0, -1.0, 0.5, 1.6, 2.6, math.log(LEFT)), 32)


def _landau_far(x: np.ndarray, power: float) -> Any:
    """Return the logarithm of Landau's integral of t ** (power - 1) exp(-t log t - x t) sin(pi t).

    The places are those of the logarithm of x t.
    """
    scaled = np.expand_dims(0.5 * math.pi * x - math.log(2.0 / math.pi), -1)
    t = np.exp(_PLACES) / scaled
    size = np.exp(power * np.log(t) - t * np.log(t) - scaled * t) * np.sin(math.pi * t)
    return np.log(np.sum(_WEIGHTS * size, axis=-1)) - LOG_PI


def _landau_logpdf(x: np.ndarray) -> Any:
    near = x < _TURN
    return np.where(near, _landau_near(_landau_density_over_y, np.where(near, x, 0.0)) + LOG_PI
                    - LOG_2, _landau_far(np.where(near, _TURN, x), 1.0) + LOG_PI - LOG_2)


def _landau_log_tail(x: np.ndarray) -> tuple[Any, Any]:
    near = x < _TURN
    return np.where(near, _landau_near(_landau_share_over_y, np.where(near, x, 0.0)), _landau_far(
        np.where(near, _TURN, x), 0.0)), np.logical_not(near)


# --- Gauss' hypergeometric one -------------------------------------------------------------------


def _beta_over_y(y: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray,
                 z: np.ndarray) -> Any:
    """Return the logarithm of the density of the logit y, times a number."""
    below = log_expit(y)
    return a * below + b * log_expit(-y) - c * np.log1p(z * np.exp(below))


def _beyond(d: np.ndarray, y: np.ndarray, way: np.ndarray, *shapes: np.ndarray) -> Any:
    return _beta_over_y(y + way * d, *shapes)


def _beta_reach(c: np.ndarray, z: np.ndarray, *shapes: np.ndarray) -> Any:
    """Return how far from 0 there may be anything of the logits, which fall as each shape says."""
    return (60.0 + np.abs(c * np.log1p(z))) / np.minimum(*shapes) + 6.0


def _gausshyper_norm(a: np.ndarray, b: np.ndarray, c: np.ndarray, z: np.ndarray) -> Any:
    reach = _beta_reach(c, z, a, b)
    return log_area(_beta_over_y, -reach, reach, a, b, c, z)


def _gausshyper_logpdf(x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray,
                       z: np.ndarray) -> Any:
    return (xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) - c * np.log1p(z * x)
            - _gausshyper_norm(a, b, c, z))


def _gausshyper_log_tail(x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray,
                         z: np.ndarray) -> tuple[Any, Any]:
    above = stop_gradient(a * (1.0 - x) - b * x - c * z * x * (1.0 - x) / (1.0 + z * x)) < 0.0
    way, y = np.where(above, 1.0, -1.0), np.log(x) - np.log1p(-x)
    reach = _beta_reach(c, z, a, b) + np.abs(y)
    return log_area(_beyond, 0.0 * reach, reach, y, way, a, b, c, z) - _gausshyper_norm(
        a, b, c, z), above


MIXTURES: dict[str, Distribution] = {
    "nct": Distribution({"logpdf": _nct_logpdf, **of_log_tail(_nct_log_tail, quantile_of(
        shares_of(_nct_log_tail), _nct_logpdf, start=lambda df, nc: nc))}, ("df", "nc"),
        lambda df, nc: (df > 0.0) & (nc == nc), inner=0.0),
    "genhyperbolic": Distribution({"logpdf": _genhyperbolic_logpdf, **of_log_tail(
        _genhyperbolic_log_tail, quantile_of(shares_of(_genhyperbolic_log_tail),
                                             _genhyperbolic_logpdf))}, ("p", "a", "b"),
        lambda p, a, b: ((np.abs(b) < a) & (p >= 0.0)) | ((np.abs(b) <= a) & (p < 0.0)), inner=0.0,
        harmless=(1.0, 1.0, 0.0)),
    "landau": Distribution({"logpdf": _landau_logpdf, **of_log_tail(_landau_log_tail, quantile_of(
        shares_of(_landau_log_tail), _landau_logpdf))}, inner=0.0),
    "gausshyper": Distribution({"logpdf": _gausshyper_logpdf, **of_log_tail(
        _gausshyper_log_tail, quantile_of(
            shares_of(_gausshyper_log_tail), _gausshyper_logpdf, zero, one,
            lambda *shapes: 0.5))}, ("a", "b", "c", "z"),
        lambda a, b, c, z: (a > 0.0) & (b > 0.0) & (c == c) & (z > -1.0), zero, one),
}
