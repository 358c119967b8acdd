"""The methods of a distribution, of its distribution function or its probabilities alone.

Quantiles without a closed form are roots, with the derivatives they imply.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ops.calls import stop_gradient
from tracejit.ops.roots import root_of
from tracejit.scipy_api.formulas import Formula, below, beyond, zero
from tracejit.scipy_api.plain_distributions import least_count, quantile_between, total
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.python_numbers import require_ours

__all__ = ["before_zero", "both_ways", "by_search", "by_sums", "counted_by", "of_tails",
           "quantile_of", "summed"]

MOST_TERMS = 1e6


def _of_one_shape(*xs: object) -> list[Any]:
    return [stop_gradient(x) for x in np.broadcast_arrays(*xs)]  # type: ignore[arg-type]


def quantile_of(tails: Formula, log_pdf: Formula, low: Formula = below, high: Formula = beyond,
                start: Formula = zero) -> Formula:
    """Return the quantile of a distribution, as a function of two shares and the shapes.

    Two steps of Newton's method from the quantile, which change no value, have its derivatives:
    `roots.py` says why.

    tails, log_pdf -- the distribution function and its complement; the logarithm of the density
    low, high, start -- the ends, and a number between them, of the shapes
    """

    def quantile(p: np.ndarray, q: np.ndarray, *shapes: np.ndarray) -> Any:
        ends = [low(*shapes), high(*shapes), start(*shapes)]
        given, rest, below, above, middle, *known = _of_one_shape(p, q, *ends, *shapes)

        def at(y: np.ndarray) -> tuple[Any, Any, Any]:
            return (*tails(y, *known), np.exp(log_pdf(y, *known)))

        found = call_function(quantile_between, (at, given, rest, below, above, middle), {})
        near: Any = found
        slopes = []
        for _ in range(2):
            pair, slope = tails(near, *shapes), np.exp(log_pdf(near, *shapes))
            off = np.where(p <= q, p - pair[0], pair[1] - q)
            fine = (slope > 0.0) & (slope < np.inf)
            near = near + np.where(fine, off / np.where(fine, slope, 1.0), 0.0)
            slopes.append(slope)
        return root_of(found, near, np.where(slopes[1] == slopes[1], slopes[1], 1.0))

    return quantile


def before_zero(*shapes: object) -> float:
    """Return the number below the first one, where that is 0."""
    return -1.0


def counted_by(tails: Formula, low: Formula = below, high: Formula = beyond) -> Formula:
    """Return the quantile of a count, which has no derivative.

    tails     -- the distribution function and its complement, of whole numbers within the support
    low, high -- the number below the first one, and the last one, of the shapes
    """

    def quantile(p: np.ndarray, q: np.ndarray, *shapes: np.ndarray) -> Any:
        given, before, last, *known = _of_one_shape(p, low(*shapes), high(*shapes), *shapes)
        return call_function(least_count, (lambda k: tails(k, *known)[0], given, before, last), {})

    return quantile


def of_tails(tails: Formula, quantile: Formula | None) -> dict[str, Formula]:
    """Return the methods of a distribution.

    tails    -- (number, *shapes) -> the distribution function and its complement
    quantile -- (share, its complement, *shapes) -> number
    """
    methods: dict[str, Formula] = {
        "cdf": lambda y, *s: tails(y, *s)[0], "sf": lambda y, *s: tails(y, *s)[1],
        "logcdf": lambda y, *s: np.log(tails(y, *s)[0]),
        "logsf": lambda y, *s: np.log(tails(y, *s)[1])}
    return methods if quantile is None else methods | both_ways(quantile)


def both_ways(quantile: Formula) -> dict[str, Formula]:
    """Return the quantiles by what lies below and above, of a function of both shares."""
    return {"ppf": lambda q, *s: quantile(q, 1.0 - q, *s),
            "isf": lambda q, *s: quantile(1.0 - q, q, *s)}


def by_search(log_pdf: Formula, tails: Formula, low: Formula = below, high: Formula = beyond,
              start: Formula = zero) -> dict[str, Formula]:
    """Return the methods of a distribution whose quantiles have no closed form.

    low, high, start -- the ends, and a number between them, of the shapes
    """
    return {"logpdf": log_pdf, **of_tails(tails, quantile_of(tails, log_pdf, low, high, start))}


def summed(mass: Formula, first: np.ndarray, last: np.ndarray, *shapes: np.ndarray) -> Any:
    """Return the sum of a function of whole numbers from the first one to the last one."""
    start, end, *given = np.broadcast_arrays(first, last, *shapes)
    few = np.logical_not(np.any(end - start > MOST_TERMS))
    require_ours(few, NotCaptured, f"a sum of more than {MOST_TERMS:g} probabilities cannot be "
                 "captured")
    return call_function(total, (lambda k: mass(k, *given), start, end), {})


def by_sums(log_mass: Formula, first: Formula, last: Formula | None = None) -> dict[str, Formula]:
    """Return the methods of a distribution of counts whose distribution function is a sum.

    first, last -- the ends, of the shapes; None where there is no last number
    """

    def mass(k: np.ndarray, *shapes: np.ndarray) -> Any:
        return np.exp(log_mass(k, *shapes))

    def tails(k: np.ndarray, *shapes: np.ndarray) -> tuple[Any, Any]:
        lower = summed(mass, first(*shapes), k, *shapes)
        if last is None:
            return lower, 1.0 - lower
        return lower, summed(mass, k + 1.0, last(*shapes), *shapes)

    return {"logpmf": log_mass, **of_tails(tails, counted_by(
        tails, lambda *s: first(*s) - 1.0, beyond if last is None else last)),
        "logcdf": lambda k, *s: _log_share(*tails(k, *s)),
        "logsf": lambda k, *s: _log_share(*tails(k, *s)[::-1])}


def _log_share(share: np.ndarray, rest: np.ndarray) -> Any:
    """Return the logarithm of a share, by the rest where that is the smaller one."""
    small = rest < 0.5
    return np.where(small, np.log1p(-np.where(small, rest, 0.5)), np.log(share))
