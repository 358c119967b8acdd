"""Carlson's integrals by duplication, in plain Python, captured like a user's function."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FAR", "duplicated", "duplicated_d", "duplicated_f"]

FAR = 18
"""How many duplications bring together arguments that are as far apart as numbers can be."""


def _next_to_one(e: np.ndarray) -> Any:
    """Return R_C(1, 1 + e)."""
    small = np.abs(e) < 0.1
    t = np.where(small, e, 0.0)
    series: Any = 1.0 / 35.0
    for k in range(16, -1, -1):
        series = 1.0 / (2 * k + 1) - t * series
    above = e > 0.0
    root = np.sqrt(np.where(small, 0.5, np.abs(e)))
    far = np.where(above, np.arctan(root), np.arctanh(np.where(above, 0.5, root))) / root
    return np.where(small, series, far)


def duplicated(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    """Return R_J of a p above 0."""
    delta = (p - x) * (p - y) * (p - z)
    total, factor = 0.0 * x, 1.0
    for _ in range(FAR):
        s, t, u, q = np.sqrt(x), np.sqrt(y), np.sqrt(z), np.sqrt(p)
        shift = s * t + t * u + u * s
        d = (q + s) * (q + t) * (q + u)
        total = total + factor / d * _next_to_one(factor ** 3 * delta / (d * d))
        factor *= 0.25
        x, y, z, p = (0.25 * (v + shift) for v in (x, y, z, p))
    mean = (x + y + z + 2.0 * p) / 5.0
    a, b, c = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean
    r = -0.5 * (a + b + c)
    abc = a * b * c
    e2 = a * b + a * c + b * c - 3.0 * r * r
    e3, e4, e5 = abc + 2.0 * e2 * r + 4.0 * r ** 3, (2.0 * abc + e2 * r + 3.0 * r ** 3) * r, (
        abc * r * r)
    series = (1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0
              - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0)
    return factor * series / (mean * np.sqrt(mean)) + 6.0 * total


def duplicated_f(x: np.ndarray, y: np.ndarray, z: np.ndarray, steps: int = FAR) -> Any:
    """Return R_F."""
    for _ in range(steps):
        s, t, u = np.sqrt(x), np.sqrt(y), np.sqrt(z)
        shift = s * t + t * u + u * s
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    mean = (x + y + z) / 3.0
    p, q = 1.0 - x / mean, 1.0 - y / mean
    r = -p - q
    e2, e3 = p * q - r * r, p * q * r
    return (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0
            - 5.0 * e2 ** 3 / 208.0 + 3.0 * e3 * e3 / 104.0 + e2 * e2 * e3 / 16.0) / np.sqrt(mean)


def duplicated_d(x: np.ndarray, y: np.ndarray, z: np.ndarray, steps: int = FAR) -> Any:
    """Return R_D."""
    total, factor = 0.0 * x, 1.0
    for _ in range(steps):
        s, t, u = np.sqrt(x), np.sqrt(y), np.sqrt(z)
        shift = s * t + t * u + u * s
        total = total + factor / (u * (z + shift))
        factor *= 0.25
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    mean = (x + y + 3.0 * z) / 5.0
    p, q = 1.0 - x / mean, 1.0 - y / mean
    r = -(p + q) / 3.0
    e2, e3 = p * q - 6.0 * r * r, (3.0 * p * q - 8.0 * r * r) * r
    e4, e5 = 3.0 * (p * q - r * r) * r * r, p * q * r ** 3
    series = (1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0
              - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0 - e2 ** 3 / 16.0 + 3.0 * e3 * e3 / 40.0
              + 3.0 * e2 * e4 / 20.0)
    return 3.0 * total + factor * series / (mean * np.sqrt(mean))
