"""Zeros and poles paired into filters of second order, as Python would do it: captured like users'.

A root is one of a pair or real; of a pair the one above the real axis stands for both. Roots that
are taken already are told by masks, so that data decides which are, and not how many there are.
"""

from __future__ import annotations

import numpy as np

__all__ = ["paired"]

EPS = 2.220446049250313e-16


def in_pairs(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return roots, pairs first, which of them are real, and which stand for themselves."""
    order = np.argsort(np.abs(z.imag), kind="stable")
    z = z[order]
    z = z[np.argsort(z.real, kind="stable")]
    is_real = np.abs(z.imag) <= 100.0 * EPS * np.abs(z)
    above = ~is_real & (z.imag > 0.0)
    below = ~is_real & (z.imag < 0.0)
    if np.sum(above) != np.sum(below):
        raise ValueError("Array contains complex value with no matching conjugate.")
    found = np.where(is_real, z.real + 0.0j, z)
    for k in range(len(z)):
        if above[k]:
            away = np.where(below, np.abs(np.conj(z) - z[k]), np.inf)
            other = np.argmin(away)
            if away[other] > 100.0 * EPS * np.abs(z[k]):
                raise ValueError("Array contains complex value with no matching conjugate.")
            found[k] = 0.5 * (z[k] + np.conj(z[other]))
    last = np.argsort(np.where(is_real, 1, 0), kind="stable")
    return found[last], is_real[last], (is_real | above)[last]


def nearest(z: np.ndarray, among: np.ndarray, to: np.ndarray) -> np.signedinteger:
    """Return the place of the root that is nearest to a number."""
    if not np.any(among):
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    return np.argmin(np.where(among, np.abs(z - to), np.inf))


def worst(p: np.ndarray, among: np.ndarray, is_analog: bool) -> np.signedinteger:
    """Return the place of the pole that is nearest to where a filter is unstable."""
    away = np.abs(p.real) if is_analog else np.abs(1.0 - np.abs(p))
    return np.argmin(np.where(among, away, np.inf))


def numerator(z: np.ndarray, is_real: np.ndarray, left: np.ndarray, to: np.ndarray,
              kind: int, is_minimal: bool) -> np.ndarray:
    """Return three coefficients of the roots that are nearest to a pole, and take these.

    kind -- 0: one real root; 1: a pair; 2: whatever is nearest
    """
    found = np.zeros(3)
    if not np.any(left):
        found[2] = 1.0
        return found
    among = left & is_real if kind == 0 else left & ~is_real if kind == 1 else left
    first = nearest(z, among, to)
    left[first] = False
    z1 = z[first]
    if not is_real[first]:
        found[0], found[1], found[2] = 1.0, -2.0 * z1.real, z1.real ** 2 + z1.imag ** 2
    elif kind == 0 and not is_minimal:
        found[0], found[1] = 1.0, -z1.real
    elif kind == 0 or not np.any(left):
        found[1], found[2] = 1.0, -z1.real
    else:
        second = nearest(z, left & is_real, to)
        left[second] = False
        z2 = z[second]
        found[0], found[1], found[2] = 1.0, -(z1 + z2).real, (z1 * z2).real
    return found


def paired(z: np.ndarray, p: np.ndarray, count: int, is_minimal: bool,
           is_analog: bool) -> np.ndarray:
    """Return so many filters of second order, those with the worst poles last."""
    zeros, zero_is_real, zeros_left = in_pairs(z)
    poles, pole_is_real, poles_left = in_pairs(p)
    sos = np.zeros((count, 6))
    for back in range(count):
        place = worst(poles, poles_left, is_analog)
        p1, is_real = poles[place], pole_is_real[place]
        poles_left[place] = False
        reals = np.sum(poles_left & pole_is_real)
        kind = 2
        if is_real and reals == 0:
            kind = 0
        elif not is_real and reals == 1 and np.sum(zeros_left & zero_is_real) == 1 and (
                np.sum(poles_left) + 1 == np.sum(zeros_left)):
            kind = 1
        row = count - 1 - back
        if kind == 0 and is_minimal:
            sos[row, 4], sos[row, 5] = 1.0, -p1.real
        elif kind == 0:
            sos[row, 3], sos[row, 4] = 1.0, -p1.real
        elif is_real:
            other = worst(poles, poles_left & pole_is_real, is_analog)
            p2 = poles[other]
            poles_left[other] = False
            sos[row, 3], sos[row, 4], sos[row, 5] = 1.0, -(p1 + p2).real, (p1 * p2).real
        else:
            sos[row, 3], sos[row, 4] = 1.0, -2.0 * p1.real
            sos[row, 5] = p1.real ** 2 + p1.imag ** 2
        sos[row, :3] = numerator(zeros, zero_is_real, zeros_left, p1, kind, is_minimal)
    return sos
