"""Integrals of positive functions with one peak, however narrow, with all their derivatives.

The peak and how far a function reaches are found by a search. Five panels lie on either side: next
to the peak as far as one side falls by two, then as far as all of one side goes, and the rest of
the other, the latter two in two panels of the same ratio. A function may change within a small part
of the whole. In each panel Gauss and Legendre's rule of 24 points has float64's digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.areas import LEFT
from tracejit.scipy_api.formulas import Formula, log_of_rest
from tracejit.scipy_api.plain_peaks import peak_between
from tracejit.scipy_api.quantiles import both_ways
from tracejit.trace.python.calls import call_function

__all__ = ["composed_rule", "log_area", "of_log_tail", "shares_of"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def log_area(log_f: Formula, low: np.ndarray, high: np.ndarray, *shapes: np.ndarray) -> Any:
    """Return the logarithm of the integral of a function whose logarithm has one peak.

    log_f     -- (number, *shapes) -> the logarithm
    low, high -- between which numbers it is: further out nothing is left
    """
    first, last, *known = [stop_gradient(x) for x in np.broadcast_arrays(low, high, *shapes)]
    peak, *sides = call_function(
        peak_between, (lambda u: log_f(u, *known), first, last, (2.0, LEFT)), {})
    places, weights = _panels(peak, (peak - first, last - peak), *sides)
    top: Any = stop_gradient(log_f(peak, *known))
    given = [np.expand_dims(x, -1) for x in np.broadcast_arrays(*shapes)]
    logs = log_f(stop_gradient(places), *given)
    total: Any = np.sum(stop_gradient(weights) * np.exp(logs - np.expand_dims(top, -1)), axis=-1)
    return top + np.log(total)


def _panels(peak: np.ndarray, room: Sequence[np.ndarray],
            *sides: np.ndarray) -> tuple[Any, Any]:
    """Return places and weights of all panels, along a new axis.

    room  -- how far it is to the ends of where the function is
    sides -- how far left and right the function is less by two, and less by all of it
    """
    cut = [side > 0.999 * most for side, most in zip(sides[2:], room, strict=True)]
    near, inner = [np.minimum(np.where(cut[0], right, left), np.where(cut[1], left, right))
                   for left, right in (sides[:2], sides[2:])]
    places, weights = [], []
    for sign, side in zip((-1.0, 1.0), sides[2:], strict=True):
        ends = [np.minimum(end, side) for end in (
            0.0 * side, near, np.sqrt(near * inner), inner, np.sqrt(inner * side), side)]
        for start, end in pairwise(ends):
            size = np.expand_dims(end - start, -1)
            places.append(np.expand_dims(peak + sign * start, -1) + sign * size * (
                0.5 + 0.5 * _NODES))
            weights.append(size * (0.5 * _WEIGHTS))
    return np.concatenate(places, axis=-1), np.concatenate(weights, axis=-1)


def composed_rule(ends: Sequence[float], count: int) -> tuple[Any, Any]:
    """Return places and weights of Gauss and Legendre's rule between each two ends."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    halves = 0.5 * np.diff(ends)
    middles = 0.5 * (np.array(ends[1:]) + np.array(ends[:-1]))
    return (np.ravel(middles[:, None] + halves[:, None] * nodes),
            np.ravel(halves[:, None] * weights))


def shares_of(log_tail: Formula) -> Formula:
    """Return the shares below and above a number, of a function as `of_log_tail` has it."""

    def tails(y: np.ndarray, *s: np.ndarray) -> tuple[Any, Any]:
        tail, above = log_tail(y, *s)
        share, rest = np.exp(tail), -np.expm1(tail)
        return np.where(above, rest, share), np.where(above, share, rest)

    return tails


def of_log_tail(log_tail: Formula, quantile: Formula | None) -> dict[str, Formula]:
    """Return the methods of a distribution, of the logarithm of what lies on one side.

    log_tail -- (number, *shapes) -> the logarithm, and whether it is of what lies above
    quantile -- (share, its complement, *shapes) -> number
    """

    def log_share(upper: bool) -> Formula:
        def log(y: np.ndarray, *s: np.ndarray) -> Any:
            tail, above = log_tail(y, *s)
            same = above if upper else np.logical_not(above)
            return np.where(same, tail, log_of_rest(np.minimum(tail, -1e-300)))

        return log

    tails = shares_of(log_tail)
    methods: dict[str, Formula] = {
        "cdf": lambda y, *s: tails(y, *s)[0], "sf": lambda y, *s: tails(y, *s)[1],
        "logcdf": log_share(False), "logsf": log_share(True)}
    return methods if quantile is None else methods | both_ways(quantile)
