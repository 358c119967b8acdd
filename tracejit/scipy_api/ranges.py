"""The studentized range of `scipy.stats`: a double integral, by Gauss and Legendre's rule.

The inner integral is over the least of k normal numbers, the outer one over the logarithm of the
deviation that the range is divided by: R. E. Lund and J. R. Lund, Applied Statistics 32, 1983.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.formulas import HALF_LOG_2_PI, Distribution, Formula, ndtr, zero
from tracejit.scipy_api.mixtures import chi_log, chi_norm
from tracejit.scipy_api.peaks import composed_rule, log_area, of_log_tail, shares_of
from tracejit.scipy_api.quantiles import quantile_of
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["RANGES"]

_LEAST, _WEIGHTS = composed_rule(tuple(range(-14, 11)), 16)
_MOST = 50.0
"""Up to how many numbers the inner integral has eleven digits wherever the range is."""
_SHARES, _SHARE_WEIGHTS = np.polynomial.legendre.leggauss(10)
_WIDE = 1.0
"""From which width on a normal share is the difference of two others."""
_FAR, _NOTHING = 1e15, 1e-300


def _normal(z: np.ndarray) -> Any:
    return np.exp(-0.5 * z * z - HALF_LOG_2_PI)


def _log_between(z: np.ndarray, width: np.ndarray) -> Any:
    """Return the logarithm of the normal share between z and z + width."""
    right = z + 0.5 * width > 0.0
    first, last = np.where(right, -z - width, z), np.where(right, -z, z + width)
    wide = width > _WIDE
    small = np.expand_dims(np.where(wide, 0.0, width), -1)
    middle = np.expand_dims(z, -1) + small * (0.5 + 0.5 * _SHARES)
    near = np.sum(0.5 * _SHARE_WEIGHTS * small * _normal(middle), axis=-1)
    return np.log(np.maximum(np.where(wide, ndtr(last) - ndtr(first), near), _NOTHING))


def _over_least(integrand: Formula, width: np.ndarray, k: np.ndarray) -> Any:
    """Return the logarithm of an integral over the least number."""
    sizes = integrand(_LEAST, np.expand_dims(width, -1), np.expand_dims(k, -1))
    return np.log(np.maximum(np.sum(_WEIGHTS * sizes, axis=-1), _NOTHING))


def _density(z: np.ndarray, width: np.ndarray, k: np.ndarray) -> Any:
    return k * (k - 1.0) * _normal(z) * _normal(z + width) * np.exp(
        (k - 2.0) * _log_between(z + 0.0 * width, width + 0.0 * z))


def _lower(z: np.ndarray, width: np.ndarray, k: np.ndarray) -> Any:
    return k * _normal(z) * np.exp((k - 1.0) * _log_between(z + 0.0 * width, width + 0.0 * z))


def _upper(z: np.ndarray, width: np.ndarray, k: np.ndarray) -> Any:
    above, beyond = ndtr(0.0 * width - z), ndtr(-z - width)
    some = beyond < above
    share = np.where(some, beyond, 0.0) / above
    less = np.where(some, -np.expm1((k - 1.0) * np.log1p(-share)), 1.0)
    return k * _normal(z) * np.exp((k - 1.0) * np.log(above)) * less


def _known(k: np.ndarray) -> None:
    require_ours(np.logical_not(np.any(k > _MOST)), NotCaptured, "scipy.stats.studentized_range of "
                 f"more than {_MOST:g} numbers cannot be captured")


def _ends(q: np.ndarray, k: np.ndarray, df: np.ndarray) -> tuple[Any, Any]:
    """Return between which logarithms of the deviation the integrals are."""
    return (stop_gradient(-0.5 * np.log1p(q * q / df) - 60.0 / df - 12.0),
            stop_gradient(0.5 * np.log1p(k / df) + 8.0))


def _over_deviation(integrand: Formula, power: float) -> Formula:
    def over_u(u: np.ndarray, q: np.ndarray, k: np.ndarray, df: np.ndarray) -> Any:
        return chi_log(u, df) + power * u + _over_least(integrand, q * np.exp(u), k)

    def integral(q: np.ndarray, k: np.ndarray, df: np.ndarray) -> Any:
        _known(k)
        df = np.minimum(df, _FAR)
        return log_area(over_u, *_ends(q, k, df), q, k, df) + chi_norm(df)

    return integral


_logpdf = _over_deviation(_density, 1.0)
_log_lower, _log_upper = _over_deviation(_lower, 0.0), _over_deviation(_upper, 0.0)


def _log_tail(q: np.ndarray, k: np.ndarray, df: np.ndarray) -> tuple[Any, Any]:
    q, k, df = np.broadcast_arrays(q, k, df)
    above = stop_gradient(_over_least(_lower, q, k)) > np.log(0.5)
    return np.where(above, _log_upper(np.where(above, q, 4.0), k, df),
                    _log_lower(np.where(above, 1.0, q), k, df)), above


RANGES: dict[str, Distribution] = {
    "studentized_range": Distribution({"logpdf": _logpdf, **of_log_tail(_log_tail, quantile_of(
        shares_of(_log_tail), _logpdf, zero, start=lambda k, df: 2.0 + 0.0 * k))}, ("k", "df"),
        lambda k, df: (k > 1.0) & (df > 0.0), zero, nothing_at_ends=True, harmless=2.0),
}
