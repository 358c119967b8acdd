"""Quantiles of distributions that have no closed form: roots with the derivatives they imply."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ops.calls import stop_gradient
from tracejit.ops.roots import root_of
from tracejit.scipy_api.formulas import Formula, below, beyond, zero
from tracejit.scipy_api.plain_distributions import least_count, quantile_between, total
from tracejit.trace.python.calls import call_function

__all__ = ["before_zero", "counted_by", "quantile_of", "summed"]


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


def summed(log_mass: Formula, first: np.ndarray, last: np.ndarray, *shapes: np.ndarray) -> Any:
    """Return how much of a distribution lies from one whole number to another one."""
    start, end, *given = np.broadcast_arrays(first, last, *shapes)
    return call_function(total, (lambda k: np.exp(log_mass(k, *given)), start, end), {})
