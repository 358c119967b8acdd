"""Tests of tables of counts, whose statistics have derivatives, and of several probabilities.

N. Cressie and T. R. C. Read, J. R. Stat. Soc. B 46, 1984; E. S. Pearson, Biometrika 25, 1933;
G. S. Mudholkar and E. O. George, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import ndtri, xlogy
from tracejit.scipy_api.probability import gamma_tails
from tracejit.scipy_api.samples import floats
from tracejit.scipy_api.significance import (
    by_chi_square,
    by_normal,
    by_student,
    count,
    in_doubles,
    on_rows,
)
from tracejit.scipy_api.taking import captures_of_some, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class TableResult(NamedTuple):
    """The result of `chi2_contingency`."""

    statistic: Any
    pvalue: Any
    dof: Any
    expected_freq: Any


POWERS = {"pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0,
          "neyman": -2.0, "cressie-read": 2.0 / 3.0}


def _power_named(lambda_: object) -> float:
    if lambda_ is None:
        return 1.0
    if isinstance(lambda_, str):
        if lambda_ not in POWERS:
            words = ", ".join(map(repr, POWERS))
            raise ValueError(f"invalid string for lambda_: {lambda_!r}. Valid strings are {words}")
        return POWERS[lambda_]
    return float(constant_of(lambda_, "a divergence of a power"))


def _divergence(found: np.ndarray, wanted: np.ndarray, power: float) -> Any:
    """Return the terms of the divergence of a power, of Cressie and Read."""
    if power == 1.0:
        return (found - wanted) ** 2 / wanted
    if power == 0.0:
        return 2.0 * xlogy(found, found / wanted)
    if power == -1.0:
        return 2.0 * xlogy(wanted, wanted / found)
    return 2.0 / (power * (power + 1.0)) * found * ((found / wanted) ** power - 1.0)


def power_divergence(f_obs: object, f_exp: object = None, ddof: object = 0, axis: object = 0,
                     lambda_: object = None, *, nan_policy: str = "propagate",
                     keepdims: object = False) -> Any:
    """Return the test of counts by a divergence from those that are expected."""
    power = _power_named(lambda_)

    def of(x: np.ndarray, *others: np.ndarray) -> Any:
        wanted = others[0] if others else np.mean(x, axis=-1, keepdims=True)
        if others:
            total, other = np.sum(x, axis=-1), np.sum(wanted, axis=-1)
            near = np.abs(total - other) <= np.finfo(x.dtype).eps ** 0.5 * np.minimum(
                np.abs(total), np.abs(other))
            require(np.all(near | np.isnan(total - other)), ValueError, "For each axis slice, the "
                    "sum of the observed frequencies must agree with the sum of the expected "
                    "frequencies")
        found = np.sum(_divergence(x, wanted, power), axis=-1)
        return found, by_chi_square(found, count(x) - 1.0 - ddof)

    if as_tracer(ddof).dims:
        raise refuse("scipy.stats.power_divergence with ddof= of several numbers cannot be "
                     "captured", "Call it for each", "TJ203")
    samples = (f_obs,) if f_exp is None else (f_obs, f_exp)
    return on_rows("power_divergence", of, samples, axis, nan_policy, keepdims)


def _expected(x: np.ndarray) -> Any:
    """Return the table of which the rows and columns are independent, with the same sums."""
    rank = len(dims_of(x))
    found: Any = 1.0
    for k in range(rank):
        found = found * np.sum(x, axis=tuple(j for j in range(rank) if j != k), keepdims=True)
    return found / np.sum(x) ** (rank - 1)


def chi2_contingency(observed: object, correction: bool = True, lambda_: object = None, *,
                     method: None = None) -> Any:
    """Return the test of whether the sides of a table of counts are independent."""
    if method is not None:
        raise refuse("scipy.stats.chi2_contingency with method= cannot be captured", "Leave it out",
                     "TJ203")
    power = _power_named(lambda_)
    x: Any = cast(floats(observed, "chi2_contingency"), np.float64)
    require(np.logical_not(np.any(x < 0.0)), ValueError,
            "All values in `observed` must be nonnegative.")
    wanted = _expected(x)
    require(np.logical_not(np.any(wanted == 0.0)), ValueError, "The internally computed table of "
            "expected frequencies has a zero element.")
    sides = [need_int(d, "the sides of a table") for d in dims_of(x)]
    free = math.prod(sides) - sum(sides) + len(sides) - 1
    if free == 0:
        return TableResult(0.0, 1.0, 0, wanted)
    if free == 1 and correction:  # of F. Yates
        away = wanted - x
        x = x + np.sign(away) * np.minimum(0.5, np.abs(away))
    found = np.sum(_divergence(x, wanted, power))
    return TableResult(found, by_chi_square(found, float(free)), free, wanted)


# --- several probabilities ------------------------------------------------------------------------


def _fisher(p: np.ndarray) -> Any:
    found = -2.0 * np.sum(np.log(p), axis=-1)
    return found, by_chi_square(found, 2.0 * count(p))


def _pearson(p: np.ndarray) -> Any:
    found = 2.0 * np.sum(np.log1p(-p), axis=-1)
    half = count(p)
    return found, in_doubles(lambda x, a: gamma_tails(a, -0.5 * x)[0], p.dtype, found, half)


def _logits(p: np.ndarray) -> Any:
    n = count(p)
    found = np.sum(np.log1p(-p) - np.log(p), axis=-1)
    free = 5.0 * n + 4.0
    scaled = found * np.sqrt(3.0 / n * free / (free - 2.0)) / math.pi
    return found, by_student(scaled, free, "greater")


def _tippett(p: np.ndarray) -> Any:
    found = np.min(p, axis=-1)
    return found, -np.expm1(count(p) * np.log1p(-found))


METHODS: dict[str, Callable[[np.ndarray], Any]] = {
    "fisher": _fisher, "pearson": _pearson, "mudholkar_george": _logits, "tippett": _tippett}


def _stouffer(p: np.ndarray, *weights: np.ndarray) -> Any:
    double: Any = cast(as_tracer(p), np.float64)
    z: Any = cast(-ndtri(double), p.dtype)
    if weights:
        found = np.sum(z * weights[0], axis=-1) / np.sqrt(np.sum(weights[0] ** 2, axis=-1))
    else:
        found = np.sum(z, axis=-1) / np.sqrt(count(p))
    return found, by_normal(found, "greater")


def combine_pvalues(pvalues: object, method: str = "fisher", weights: object = None, *,
                    axis: object = 0, nan_policy: str = "propagate",
                    keepdims: object = False) -> Any:
    """Return one test of the probabilities of several."""
    if method == "stouffer":
        samples = (pvalues,) if weights is None else (pvalues, weights)
        return on_rows("combine_pvalues", _stouffer, samples, axis, nan_policy, keepdims)
    if method not in METHODS:
        raise ValueError(f"Invalid method {method!r}. Valid methods are 'fisher', 'pearson', "
                         "'mudholkar_george', 'tippett', and 'stouffer'")
    return on_rows("combine_pvalues", METHODS[method], (pvalues,), axis, nan_policy, keepdims)


captures_of_some("scipy.stats", {
    "power_divergence": power_divergence, "chi2_contingency": chi2_contingency,
    "combine_pvalues": combine_pvalues}, "iuf", 4)
