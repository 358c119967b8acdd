"""The law of second derivatives: those of two ways are differences of the first ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

__all__ = ["assert_second_derivatives_are_differences", "wrong_places"]

FAR_OFF = 1e-4
"""Up to which relative error a difference tells what a derivative is."""


def _gradient(total: Callable[..., Any], count: int) -> Callable[..., Any]:
    return tracejit.grad(total, argnums=tuple(range(count)))


def _column(gradient: Callable[..., Any], args: list[np.ndarray], place: int, where: int,
            weights: list[np.ndarray]) -> tuple[float, float, float]:
    """Return the weighted second derivatives by one number, how far off they are, and their size.

    Rows are subtracted before they are added: those of other numbers are the same to the bit.
    """
    size = max(0.1, min(1.0, abs(float(args[place].flat[where]))))

    def at(step: float) -> np.ndarray:
        moved = [x.copy() for x in args]
        moved[place].flat[where] += step
        return np.concatenate([np.ravel(w * g) for w, g in zip(
            weights, gradient(*moved), strict=True)])

    rows = []
    for h in (1e-3 * size, 2e-3 * size):
        rows.append((8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h))
    level = np.abs(at(0.0)) * (rows[0] != 0.0)
    return float(np.sum(rows[0])), float(np.sum(np.abs(rows[0] - rows[1]))), float(
        np.sum(np.abs(rows[0])) + 0.1 * np.sum(level))


def wrong_places(total: Callable[..., Any], args: list[np.ndarray]) -> tuple[list[Any], int]:
    """Return where second derivatives are not differences, and how many are known.

    Each argument is an array of float64; the second derivatives are those of a weighted sum of the
    first ones, by pullbacks of pullbacks and by tangents of pullbacks.
    """
    rng = np.random.default_rng(5)
    weights = [rng.uniform(0.5, 1.5, np.shape(x)) for x in args]
    gradient = _gradient(total, len(args))

    def mixed(*xs: Any) -> Any:
        return sum(np.sum(w * g) for w, g in zip(weights, gradient(*xs), strict=True))

    with np.errstate(all="ignore"):
        back = _gradient(mixed, len(args))(*args)
        ahead = tracejit.jvp(lambda *xs: gradient(*xs), tuple(args), tuple(weights))[1]
        wrong, known = [], 0
        for place, x in enumerate(args):
            for where in range(x.size):
                value, error, size = _column(gradient, args, place, where, weights)
                if not error <= FAR_OFF * size:
                    if np.isfinite(value):
                        continue
                known += 1
                found = [float(np.ravel(v[place])[where]) for v in (back, ahead)]
                off = max(abs(v - value) for v in found)
                if not off <= 1e-7 * size + 1e-10 + 10.0 * error:
                    wrong.append((place, where, found, value, error))
    return wrong, known


def assert_second_derivatives_are_differences(total: Callable[..., Any],
                                              args: list[np.ndarray]) -> None:
    """Assert that both ways give what differences give, of three quarters of the numbers or more.

    total -- (*args) -> float
    args  -- arrays of float64
    """
    with tracejit.config(disable_jit=True):
        wrong, known = wrong_places(total, [np.array(x, float) for x in args])
    assert not wrong, wrong[:4]
    assert known >= 0.75 * sum(np.size(x) for x in args), f"{known} are known"
