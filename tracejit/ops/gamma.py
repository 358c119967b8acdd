"""Derivatives of the logarithm of the gamma function, made of other ops.

Shifted by ten to where their asymptotic series are exact to a few ulp, Abramowitz and Stegun 6.3.18
and 23.2; arguments below 0 are reflected, 6.4.7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.trace.values.equations import cast, dtype_of, lift

__all__ = ["digamma", "hurwitz", "trigamma"]

SHIFT = 10
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B2, B4 and so on."""


def _wide(x: object) -> tuple[Any, np.dtype]:
    """Return an operand in double precision, and the dtype that it had."""
    own = dtype_of(lift(x))
    return (x if own == np.float64 else cast(x, np.float64)), own


def _series(y: np.ndarray, terms: list[float]) -> Any:
    """Return a polynomial in y times y, the lowest coefficient first."""
    result = terms[-1] * y
    for c in reversed(terms[:-1]):
        result = (result + c) * y
    return result


def _reflected(x: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return whether x is not above 0, the argument to take, pi times its fraction, and poles."""
    below = x <= 0.0
    whole = np.rint(x)
    angle = np.where(below, np.pi * (x - np.where(np.isinf(x), 0.0, whole)), 0.5 * np.pi)
    return below, np.where(below, 1.0 - x, x), angle, (x < 0.0) & (x == whole)


def digamma(given: object) -> Any:
    """Return the derivative of log(gamma(x)): of 0 an infinity, of whole numbers below it NaN."""
    x, own = _wide(given)
    below, y, angle, poles = _reflected(x)
    z = y + SHIFT
    terms = [b / (2 * k + 2) for k, b in enumerate(_BERNOULLI)]
    result = np.log(z) - 0.5 / z - _series(1.0 / (z * z), terms)
    for k in reversed(range(SHIFT)):
        result = result - 1.0 / (y + k)
    result = result - np.where(below, np.pi * np.cos(angle) / np.sin(angle), 0.0)
    result = np.where(x == 0.0, -np.copysign(np.inf, x), result)
    return cast(np.where(poles, np.nan, result), own)


def hurwitz(s: int, x: np.ndarray) -> Any:
    """Return the sum of (x + k) ** -s over all k from 0, of an x above 0."""
    is_endless = x == np.inf
    x = np.where(is_endless, 1.0, x)
    z = x + SHIFT
    terms, factor = [], float(s)
    for k, b in enumerate(_BERNOULLI):
        terms.append(b / math.factorial(2 * k + 2) * factor)
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2)
    tail = 1.0 / z
    inner = 0.5 + _series(tail * tail, terms) * z
    result = (1.0 / (s - 1) + inner * tail) * tail ** (s - 1)
    for k in reversed(range(SHIFT)):
        result = result + (1.0 / (x + k)) ** s
    return np.where(is_endless, 0.0, result)


def trigamma(given: object) -> Any:
    """Return the second derivative of log(gamma(x))."""
    x, own = _wide(given)
    below, y, angle, _ = _reflected(x)
    result = hurwitz(2, y)
    root = np.pi / np.sin(angle)
    return cast(np.where(below, root * root - result, result), own)
