"""Minors of matrices of any rank and their derivatives: Python, captured like users' functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["cofactors", "slopes_of_cofactors"]

_LOSES_THE_VALUE, _LOSES_THE_SLOPE = 1e-10, 1e-3
"""Below which share of what made a pivot cofactors, and their derivatives, lack digits.

An inverse of a matrix that is e away from a singular one has errors of 1e-16 / e, but those of
det(a) inv(a) are its determinant's own, and no derivative of inv(a) has that relation.
"""


def cofactors(a: np.ndarray, lu: np.ndarray, of_regular: Callable[[], np.ndarray],
              fixed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the cofactors of a square matrix, which a singular one has, too."""
    least = 1e-4 if lu.real.dtype == np.float32 else _LOSES_THE_VALUE
    if is_regular(a, lu, least):
        return of_regular()
    total = np.zeros(a.shape, dtype=np.complex128)
    count = len(a) // 2 * 2 + 3  # an odd number, more than the degree
    away = away_from_singular(a, least, fixed)
    for k in range(count):
        near = a + np.exp(2j * np.pi * k / count) * away
        sign, logarithm = np.linalg.slogdet(near)
        total += sign * np.exp(logarithm) * np.linalg.inv(near).T
    mean = total / count
    return (mean if a.dtype.kind == "c" else mean.real).astype(a.dtype)


def slopes_of_cofactors(a: np.ndarray, lu: np.ndarray, t: np.ndarray,
                        fixed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the derivative of a square matrix's cofactors along another one."""
    if is_regular(a, lu, _LOSES_THE_SLOPE):
        return slopes_of_regular(a, t)
    total = np.zeros(a.shape, dtype=np.complex128)
    count = len(a) // 2 * 2 + 3
    away = away_from_singular(a, _LOSES_THE_SLOPE, fixed)
    for k in range(count):
        total += slopes_of_regular(a + np.exp(2j * np.pi * k / count) * away, t)
    mean = total / count
    return (mean if a.dtype.kind == "c" else mean.real).astype(a.dtype)


def slopes_of_regular(a: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the derivative of det(a) inv(a) along another matrix, transposed."""
    inverse = np.linalg.inv(a)
    sign, logarithm = np.linalg.slogdet(a)
    turned = inverse @ t
    return (sign * np.exp(logarithm) * (np.trace(turned) * inverse - turned @ inverse)).T


def is_regular(a: np.ndarray, lu: np.ndarray, least: float) -> bool | np.bool_:
    """Return whether each pivot is more than a share of what was added up for it."""
    size = np.abs(lu)
    pivots = np.diagonal(size)
    grown = pivots + np.sum(np.tril(size, -1) * np.triu(size, 1).T, axis=1)
    return np.all(pivots > least * grown) or not np.all(np.isfinite(a))


def away_from_singular(a: np.ndarray, least: float,
                       fixed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return what a times a number of size 1 is regular with: the radius of a circle around a.

    Minors and their derivatives are polynomials of the radius: those of a are the means of those
    on the circle.
    """
    u, s, vh = np.linalg.svd(fixed(a))
    return u @ vh * (0.5 * np.min(np.where(s > least * s[0], s, s[0] if s[0] > 0.0 else 1e-3)))
