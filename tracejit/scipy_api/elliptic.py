"""Elliptic integrals: by means, and by the duplication of B. C. Carlson, Numer. Math. 33, 1979."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.special import in_double
from tracejit.scipy_api.duplication import FAR, duplicated_d, duplicated_f
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import cast

__all__ = ["incomplete"]

_STEPS, _FAR = 9, 1e17


def _means(g: np.ndarray, c: np.ndarray | float) -> tuple[Any, Any]:
    """Return the arithmetic-geometric mean of 1 and g, and the sum of 2**(n - 1) c_n squared."""
    a: Any = 1.0
    total, weight = 0.5 * c, 1.0
    for _ in range(_STEPS):
        half = 0.5 * (a - g)
        a, g = 0.5 * (a + g), np.sqrt(a * g)
        total = total + weight * half * half
        weight *= 2.0
    return a, total


def _ellipkm1(given: np.ndarray) -> Any:
    far = given > _FAR  # where the means take many steps: DLMF 19.7.2
    root = np.sqrt(np.where(far, given, 1.0))
    p = np.where(far, 1.0 / np.where(far, given, 1.0), given)
    inside = (p > 0.0) & (p < np.inf)
    near = inside & (p < 1e-16)  # where the first term of the series is all: DLMF 19.12.1
    mean, _ = _means(np.sqrt(np.where(inside & np.logical_not(near), p, 1.0)), 0.0)
    log = 2.0 * math.log(2.0) - 0.5 * np.log(np.where(near, p, 1.0))
    found = np.where(near, log, 0.5 * math.pi / mean) / root
    return np.where(inside, found, np.where(given == 0.0, np.inf, np.where(
        given == np.inf, 0.0, np.nan)))


def _ellipe(m: np.ndarray) -> Any:
    inside, far = m < 1.0, m < -_FAR
    safe = np.where(inside & ~far, m, 0.0)
    root = np.sqrt(np.where(far, 1.0 - m, 1.0))  # all of the series but for its 18th digit
    mean, total = _means(np.sqrt(1.0 - safe), safe)
    found = np.where(far, root, 0.5 * math.pi / mean * (1.0 - total))
    return np.where(inside, found, np.where(m == 1.0, 1.0, np.nan))


def _agm(a: np.ndarray, b: np.ndarray) -> Any:
    valid = (a > 0.0) & (b > 0.0) | (a < 0.0) & (b < 0.0)
    x, y = np.where(valid, np.abs(a), 1.0), np.where(valid, np.abs(b), 1.0)
    for _ in range(_STEPS + 3):
        x, y = 0.5 * (x + y), np.sqrt(x * y)
    finite = (np.abs(a) < np.inf) & (np.abs(b) < np.inf)
    edge = np.where(finite & ((a == 0.0) | (b == 0.0)), 0.0, np.nan)
    return np.where(valid, np.where(a < 0.0, -x, x), edge)


def incomplete(first: bool) -> Callable[..., Any]:
    """Return the incomplete integral of the first or second kind, of any angle."""

    def capture(angle: np.ndarray, m: np.ndarray) -> Any:
        turns = np.rint(angle / math.pi)
        rest = angle - turns * math.pi
        s = np.sin(rest)
        c = np.cos(rest)
        below = c * c + (1.0 - m) * s * s
        one: Any = cast(1.0, np.float64)
        valid = (below >= 0.0) & (m <= 1.0)
        root = np.where(valid, below, 1.0)
        value = s * duplicated_f(c * c, root, one, 7)
        whole: Any = _ellipkm1(1.0 - m) if first else _ellipe(m)
        if not first:
            value = value - m * s * s * s / 3.0 * duplicated_d(c * c, root, one, 8)
        many = turns != 0.0
        full = np.where(many, 2.0 * turns * np.where(many, whole, 0.0), 0.0)
        found = np.where(valid, value + full, np.nan)
        beyond = (m == 1.0) & (np.abs(angle) >= 0.5 * math.pi)
        return np.where(beyond, np.inf, found) if first else found

    return capture


def _carlson(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a symmetric integral with SciPy's values at zeros and infinity."""

    def capture(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
        valid = (x >= 0.0) & (y >= 0.0) & (z >= 0.0)
        far = (x == np.inf) | (y == np.inf) | (z == np.inf)
        pole = ~far & ((z == 0.0) & ((x == 0.0) | (y == 0.0)) | (x == 0.0) & (y == 0.0))
        if function is duplicated_d:
            pole = pole | (z == 0.0)
        inside = valid & ~pole & ~far
        found = function(*(np.where(inside, v, 1.0) for v in (x, y, z)), FAR)
        return np.where(inside, found, np.where(valid, np.where(pole, np.inf, 0.0), np.nan))

    return capture


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ellipk": lambda m: _ellipkm1(1.0 - m), "ellipkm1": _ellipkm1, "ellipe": _ellipe, "agm": _agm,
    "ellipkinc": incomplete(True), "ellipeinc": incomplete(False),
    "elliprf": _carlson(duplicated_f), "elliprd": _carlson(duplicated_d)}
scipy_captures("scipy.special",
               {name: in_double(name, function) for name, function in _FUNCTIONS.items()})
