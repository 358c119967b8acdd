"""Runge and Kutta's methods with steps that the error decides, as Python would have them.

Captured like users' functions. The sizes of steps have no derivative, the states computed with
them have, so that derivatives are as exact as the solution is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tracejit.ops.calls import stop_gradient

__all__ = ["Pair", "advance", "first_step", "integrated", "slope_of"]

Slope = Callable[..., np.ndarray]


class Pair(NamedTuple):
    """A method with an estimate of its error, and how it interpolates.

    c, a, b -- the nodes, the matrix and the weights of the method
    e       -- the weights of the error
    p       -- the powers of the interpolation
    order   -- of the estimate
    e3      -- the weights of a second estimate, or None
    more_a, more_c, d -- of the method with two estimates: the stages that interpolation needs
               besides, their nodes, and the weights of its coefficients
    """

    c: np.ndarray
    a: np.ndarray
    b: np.ndarray
    e: np.ndarray
    p: np.ndarray
    order: int
    e3: np.ndarray | None = None
    more_a: np.ndarray | None = None
    more_c: np.ndarray | None = None
    d: np.ndarray | None = None


def slope_of(fun: Slope, t: float, y: np.ndarray, args: tuple[object, ...]) -> np.ndarray:
    """Return the slope that a user's function gives, as an array of float64."""
    return np.asarray(fun(t, y, *args), dtype=np.float64)


def norm(x: np.ndarray) -> float:
    """Return the root of the mean of squares."""
    mean: float = np.sqrt(np.sum(x * x) / x.size)
    return mean


def first_step(fun: Slope, t: float, end: float, y: np.ndarray, f: np.ndarray, most: float,
               order: int, rtol: float, atol: np.ndarray, args: tuple[object, ...]) -> float:
    """Return the size of the first step: E. Hairer, S. Norsett and G. Wanner, II.4."""
    length = abs(end - t)
    sign = 1.0 if end >= t else -1.0
    scale = atol + np.abs(y) * rtol
    d0, d1 = norm(y / scale), norm(f / scale)
    h0 = 1e-6
    if d0 >= 1e-5 and d1 >= 1e-5:
        h0 = 0.01 * d0 / d1
    h0 = min(h0, length)
    f1 = slope_of(fun, t + h0 * sign, y + h0 * sign * f, args)
    d2 = norm((f1 - f) / scale) / h0
    h1 = max(1e-6, h0 * 1e-3)
    if d1 > 1e-15 or d2 > 1e-15:
        h1 = float((0.01 / max(d1, d2)) ** (1.0 / (order + 1.0)))
    return min(100.0 * h0, h1, length, most)


def stepped(fun: Slope, pair: Pair, t: float, y: np.ndarray, f: np.ndarray, h: float,
            args: tuple[object, ...]) -> np.ndarray:
    """Return the slopes of a step, and behind them the one at its end."""
    stages = len(pair.b)
    k = np.zeros((stages + 1, y.size))
    k[0] = f
    for s in range(1, stages):
        k[s] = slope_of(fun, t + pair.c[s] * h, y + h * (pair.a[s, :s] @ k[:s]), args)
    k[stages] = slope_of(fun, t + h, y + h * (pair.b @ k[:stages]), args)
    return k


def error_of(pair: Pair, k: np.ndarray, size: float, scale: np.ndarray) -> float:
    """Return the estimate of a step's error, as a part of what is allowed."""
    if pair.e3 is None:
        return norm((pair.e @ k) * size / scale)
    fifth, third = (pair.e @ k) / scale, (pair.e3 @ k) / scale
    one, other = np.sum(fifth * fifth), np.sum(third * third)
    if one == 0.0 and other == 0.0:
        return 0.0
    return float(size * one / np.sqrt((one + 0.01 * other) * len(scale)))


def advance(fun: Slope, pair: Pair, t: float, end: float, y: np.ndarray, f: np.ndarray, size: float,
            most: float, rtol: float, atol: np.ndarray, args: tuple[object, ...],
            ) -> tuple[float, np.ndarray, float]:
    """Return the time after a step that is accepted, its slopes, and the size of the next."""
    sign = 1.0 if end >= t else -1.0
    least = 10.0 * abs(stop_gradient(t)) * 2.220446049250313e-16
    size = min(size, most)
    size = max(size, least)
    power = -1.0 / (pair.order + 1.0)
    later = t
    k = np.zeros((len(pair.b) + 1, y.size))
    accepted, rejected = False, False
    while not accepted:
        if size < least or (size == 0.0 and t != end):
            raise ValueError("Required step size is less than spacing between numbers.")
        later = t + size * sign
        if sign * (later - end) >= 0.0:  # also by chance: the last step moves with the end
            later = end
        size = abs(stop_gradient(later) - stop_gradient(t))
        k = stepped(fun, pair, t, y, f, later - t, args)
        new = y + (later - t) * (pair.b @ k[:-1])
        scale = atol + np.maximum(np.abs(y), np.abs(new)) * rtol
        error = stop_gradient(error_of(pair, k, size, scale))
        if error < 1.0:
            factor = 10.0
            if error > 0.0:
                factor = min(factor, float(0.9 * error ** power))
            if rejected:
                factor = min(1.0, factor)
            accepted = True
        else:
            factor = max(0.2, float(0.9 * error ** power))
            rejected = True
        size = size * factor
    return later, k, size


def integrated(fun: Slope, pair: Pair, t: float, end: float, y: np.ndarray, f: np.ndarray,
               size: float, most: float, rtol: float, atol: np.ndarray,
               args: tuple[object, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of all steps, and the solution at each: times times components."""
    times, found = [t], [y]
    done = False
    while not done:  # an empty interval has a step, too, as in SciPy
        later, k, size = advance(fun, pair, t, end, y, f, size, most, rtol, atol, args)
        y = y + (later - t) * (pair.b @ k[:-1])
        f, t = k[-1], later
        times.append(t)
        found.append(y)
        done = bool(t == end)
    return np.array(times), np.array(found)
