"""Roots of functions of one number, step by step as SciPy finds them, as Python would have them.

R. P. Brent, Algorithms for Minimization Without Derivatives, 1973; Newton's, Halley's and the
secant method. Captured like users' functions: each returns the root, how many iterations and calls
it took, and whether it converged. Nothing here has a derivative; `roots.py` gives the root its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracejit.ops.calls import stop_gradient

__all__ = ["bisected", "by_newton", "by_secants", "fixed", "hyperbolic", "ridden", "trial",
           "zeroed"]

Function = Callable[..., float]
Found = tuple[float, int, int, bool]


def value_at(f: Function, x: np.float64, args: tuple[object, ...]) -> np.float64:
    """Return the value of a function of a Python float; raise ValueError where it is NaN."""
    y = np.float64(stop_gradient(float(f(float(x), *args))))
    if np.isnan(y):
        raise ValueError("The function value is NaN; solver cannot continue.")
    return y


def at_ends(f: Function, a: float, b: float, args: tuple[object, ...]) -> tuple[
        np.float64, np.float64, np.float64, np.float64]:
    """Return the ends of an interval and the function's values there, of which one is 0, or two
    signs."""
    low, high = np.float64(stop_gradient(float(a))), np.float64(stop_gradient(float(b)))
    at_low = value_at(f, low, args)
    at_high = value_at(f, high, args)
    if at_low != 0.0 and at_high != 0.0 and np.signbit(at_low) == np.signbit(at_high):
        raise ValueError("f(a) and f(b) must have different signs")
    return low, high, at_low, at_high


def bisected(f: Function, a: float, b: float, xtol: float, rtol: float, most: int,
             args: tuple[object, ...]) -> Found:
    """Return a root by halving the interval."""
    low, high, at_low, at_high = at_ends(f, a, b, args)
    if at_low == 0.0 or at_high == 0.0:
        return float(low if at_low == 0.0 else high), 0, 2, True
    size, middle, count, done = high - low, low, 0, False
    while count < most and not done:
        count += 1
        size = size * 0.5
        middle = low + size
        y = value_at(f, middle, args)
        if np.signbit(y) == np.signbit(at_low):
            low = middle
        done = bool(y == 0.0 or np.abs(size) < xtol + rtol * np.abs(middle))
    return float(middle if done else low), count, count + 2, done


def trial(before: np.float64, here: np.float64, across: np.float64, f: np.float64, g: np.float64,
          h: np.float64) -> np.float64:
    """Return a step from `here` by a line or a parabola through two or three points."""
    if before == across:
        return -g * (here - before) / (g - f)
    by_before = (f - g) / (before - here)
    by_across = (h - g) / (across - here)
    return -g * (h * by_across - f * by_before) / (by_across * by_before * (h - f))


def hyperbolic(before: np.float64, here: np.float64, across: np.float64, f: np.float64,
               g: np.float64, h: np.float64) -> np.float64:
    """Return a step from `here` by a line or a hyperbola through two or three points."""
    if before == across:
        return -g * (here - before) / (g - f)
    by_before = (f - g) / (before - here)
    by_across = (h - g) / (across - here)
    return -g * (h - f) / (h * by_before - f * by_across)


def ridden(fun: Function, a: float, b: float, xtol: float, rtol: float, most: int,
           args: tuple[object, ...]) -> Found:
    """Return a root by C. Ridders' method."""
    low, high, f, g = at_ends(fun, a, b, args)
    if f == 0.0 or g == 0.0:
        return float(low if f == 0.0 else high), 0, 2, True
    near = xtol + rtol * min(np.abs(low), np.abs(high))
    count, calls, done, x = 0, 2, False, low
    while count < most and not done:
        count += 1
        half = 0.5 * (high - low)
        middle = low + half
        at_middle = value_at(fun, middle, args)
        step = np.sign(g - f) * half * at_middle / np.sqrt(at_middle * at_middle - f * g)
        x = middle - np.sign(step) * min(np.abs(step), np.abs(half) - 0.5 * near)
        y = value_at(fun, x, args)
        calls += 2
        if np.signbit(y) != np.signbit(at_middle):
            low, f = x, y
            high, g = middle, at_middle
        elif np.signbit(y) != np.signbit(f):
            high, g = x, y
        else:
            low, f = x, y
        near = xtol + rtol * x
        done = bool(y == 0.0 or np.abs(high - low) < near)
    return float(x), count, calls, done


def fixed(f: Function, x0: float, xtol: float, most: int, accelerated: bool,
          args: tuple[object, ...]) -> float:
    """Return where a function is its argument, by itself again and again or J. F. Steffensen's
    steps."""
    p = np.float64(stop_gradient(float(x0)))
    for _ in range(most):
        first = np.float64(stop_gradient(float(f(float(p), *args))))
        after = first
        if accelerated:
            after = np.float64(stop_gradient(float(f(float(first), *args))))
            bend = after - 2.0 * first + p
            if bend != 0.0:
                after = p - (first - p) ** 2 / bend
        away = (after - p) / p if p != 0.0 else after
        p = after
        if np.abs(away) < xtol:
            return float(p)
    raise RuntimeError(f"Failed to converge after {most} iterations")


def zeroed(fun: Function, a: float, b: float, xtol: float, rtol: float, most: int,
           args: tuple[object, ...], guess: Callable[..., np.float64]) -> Found:
    """Return a root by Brent's method; f, g, h are values before, here, and across the root."""
    before, here, f, g = at_ends(fun, a, b, args)
    if f == 0.0 or g == 0.0:
        return float(before if f == 0.0 else here), 0, 2, True
    across, h, last, step = before * 0.0, f * 0.0, before * 0.0, before * 0.0
    count, done = 0, False
    while count < most and not done:
        count += 1
        if f != 0.0 and g != 0.0 and np.signbit(f) != np.signbit(g):
            across, h = before, f
            last = step = here - before
        if np.abs(h) < np.abs(g):
            before, here, across = here, across, here
            f, g, h = g, h, g
        delta = (xtol + rtol * np.abs(here)) / 2.0
        half = (across - here) / 2.0
        done = bool(g == 0.0 or np.abs(half) < delta)
        if not done:
            tried = half
            if np.abs(last) > delta and np.abs(g) < np.abs(f):
                tried = guess(before, here, across, f, g, h)
                if 2.0 * np.abs(tried) < min(np.abs(last), 3.0 * np.abs(half) - delta):
                    last = step
                else:
                    last = tried = half
            else:
                last = half
            step = tried
            before, f = here, g
            here = here + (step if np.abs(step) > delta else (delta if half > 0.0 else -delta))
            g = value_at(fun, here, args)
    return float(here), count, count + (1 if done else 2), done


def by_newton(f: Function, x: np.float64, slope: Function, bend: Function | None, tol: float,
              rtol: float, most: int, strict: bool, args: tuple[object, ...]) -> Found:
    """Return a root by Newton's method, or with a second derivative by Halley's."""
    x, count, calls, done, stuck = stop_gradient(x), 0, 0, False, False
    while count < most and not done and not stuck:
        y = stop_gradient(f(x, *args))
        calls += 1
        done = bool(y == 0)
        if not done:
            count += 1
            by_x = stop_gradient(slope(x, *args))
            calls += 1
            stuck = bool(by_x == 0)
            if stuck and strict:
                raise RuntimeError("Derivative was zero. Failed to converge.")
            if not stuck:
                step = y / by_x
                if bend is not None:
                    adjusted = step * stop_gradient(bend(x, *args)) / by_x / 2
                    calls += 1
                    if np.abs(adjusted) < 1:
                        step = step / (1.0 - adjusted)
                later = x - step
                done = bool(np.abs(later - x) <= tol + rtol * np.abs(x))
                x = later
    return x, count, calls, done


def by_secants(fun: Function, x: np.float64, second: np.float64, tol: float, rtol: float,
               most: int, strict: bool, args: tuple[object, ...]) -> Found:
    """Return a root by the secant method."""
    a, b = stop_gradient(x), stop_gradient(second)
    f = stop_gradient(fun(a, *args))
    g = stop_gradient(fun(b, *args))
    if np.abs(g) < np.abs(f):
        a, b, f, g = b, a, g, f
    count, calls, done, stuck = 0, 2, False, False
    later = b
    while count < most and not done and not stuck:
        count += 1
        stuck = bool(g == f)
        if stuck:
            if b != a and strict:
                raise RuntimeError("Tolerance reached. Failed to converge.")
            later = (b + a) / 2.0
        else:
            if np.abs(g) > np.abs(f):
                later = (-f / g * b + a) / (1 - f / g)
            else:
                later = (-g / f * a + b) / (1 - g / f)
            done = bool(np.abs(later - b) <= tol + rtol * np.abs(b))
            if not done:
                a, f = b, g
                b = later
                g = stop_gradient(fun(b, *args))
                calls += 1
    return later, count, calls, done
