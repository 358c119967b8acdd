"""Integrals of samples by rules of `scipy.integrate`: trapezoids and parabolas."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _widths(x: object, values: Tracer, axis: int) -> Any:
    """Return the distances of points, given for all rows at once or for each along an axis."""
    places: Any = as_tracer(x)
    if places.dtype.kind == "c":
        raise refuse("an integral of scipy.integrate over complex points cannot be captured",
                     "Use their real and imaginary parts", "TJ206")
    if len(places.dims) > 1:
        places = as_tracer(np.moveaxis(places, normalize_axis(axis, len(places.dims)), -1))
    if not same_dim(places.dims[-1], values.dims[-1]):
        raise ValueError("If given, length of x along axis must be the same as y.")
    return np.diff(places)


def simpson(y: object, x: object = None, *, dx: float = 1.0, axis: int = -1) -> Any:
    """Return an integral by Simpson's rule.

    Of an even number of points, a parabola through the last three gives the last interval (K. V.
    Cartwright, Simpson's rule cumulative integration with MS Excel and irregularly-spaced data,
    Journal of Mathematical Sciences and Mathematics Education 12(2), 2017).
    """
    values: Any = as_inexact(y)
    moved: Any = np.moveaxis(values, normalize_axis(axis, len(values.dims)), -1)
    n = need_int(as_tracer(moved).dims[-1], "the number of points of Simpson's rule")
    h: Any = None if x is None else cast(_widths(x, as_tracer(moved), axis), np.float64)
    if n == 2:
        width: Any = dx if h is None else h[..., -1]
        return 0.5 * width * (moved[..., -1] + moved[..., -2])
    if n % 2:
        return _parabolas(moved, h, dx)
    a: Any = dx if h is None else h[..., -2]
    b: Any = dx if h is None else h[..., -1]
    last = _ratio(2.0 * b * b + 3.0 * a * b, 6.0 * (a + b)) * moved[..., -1]
    middle = _ratio(b * b + 3.0 * a * b, 6.0 * a) * moved[..., -2]
    first = _ratio(b * b * b, 6.0 * a * (a + b)) * moved[..., -3]
    return _parabolas(moved[..., :-1], None if h is None else h[..., :-1], dx) + (
        last + middle - first)


def _parabolas(y: np.ndarray, h: np.ndarray | None, dx: float) -> Any:
    """Return the integral of parabolas through three points each; h are the widths, or None."""
    if h is None:
        weights: Any = y[..., :-2:2] + 4.0 * y[..., 1:-1:2] + y[..., 2::2]
        return np.sum(weights, axis=-1) * dx / 3.0
    a, b = h[..., ::2], h[..., 1::2]
    whole, ratio = a + b, _ratio(a, b)
    parts = whole / 6.0 * (y[..., :-2:2] * (2.0 - _ratio(1.0, ratio)) + y[..., 1:-1:2] * (
        whole * _ratio(whole, a * b)) + y[..., 2::2] * (2.0 - ratio))
    return np.sum(parts, axis=-1)


def _ratio(a: np.ndarray | float, b: np.ndarray) -> Any:
    """Return a / b, and 0 where b is 0, as for two points in one place."""
    return np.where(np.equal(b, 0), 0.0, a / np.where(np.equal(b, 0), 1.0, b))


def cumulative_trapezoid(y: object, x: object = None, dx: object = 1.0, axis: int = -1,
                         initial: object = None) -> Any:
    """Return running integrals by the trapezoidal rule."""
    if initial is not None:
        require(np.equal(initial, 0), ValueError,  # type: ignore[call-overload]
                "`initial` must be `None` or `0`.")
    values: Any = as_tracer(y)
    moved: Any = np.moveaxis(values, normalize_axis(axis, len(values.dims)), -1)
    require(np.greater(moved.shape[-1], 0), ValueError,
            "At least one point is required along `axis`.")
    h: Any = dx if x is None else _widths(x, as_tracer(moved), axis)
    found: Any = np.cumsum(h * (moved[..., 1:] + moved[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        found = np.concatenate([np.zeros_like(found[..., :1], shape=(
            *moved.shape[:-1], 1)), found], axis=-1)
    return np.moveaxis(found, -1, axis)


def _of_next(f: np.ndarray, h: np.ndarray, even: bool) -> Any:
    """Return integrals over the first of two intervals, by the parabola through three points."""
    before, at, behind = f[..., :-2], f[..., 1:-1], f[..., 2:]
    near, far = h[..., :-1], h[..., 1:]
    if even:
        return near / 3.0 * (1.25 * before + 2.0 * at - 0.25 * behind)
    part, ratio = near / (near + far), near / far
    bend = part * ratio
    return near / 6.0 * ((3.0 - part) * before + (3.0 + bend + part) * at - bend * behind)


def _spread(name: str, given: object, like: Tracer, count: int, axis: int) -> Any:
    """Return a number, or one for each row, as long as asked for along the last axis."""
    x: Any = as_inexact(given)
    if x.dims:
        alike = len(x.dims) == len(like.dims) and all(
            same_dim(d, 1 if k == axis else like.dims[k]) for k, d in enumerate(x.dims))
        if not alike:
            raise ValueError(f"If provided, `{name}` must either be a scalar or have the same "
                             "shape as `y` but with only 1 point along `axis`.")
        x = np.swapaxes(x, axis, -1)
    moved: Any = np.swapaxes(like, axis, -1)
    return np.broadcast_to(x, (*moved.shape[:-1], count))


def cumulative_simpson(y: object, *, x: object = None, dx: object = 1.0, axis: int = -1,
                       initial: object = None) -> Any:
    """Return running integrals by Simpson's rule: K. V. Cartwright, JMSC 17, 2017."""
    values = as_inexact(y)
    own = normalize_axis(axis, len(values.dims))
    moved: Any = np.swapaxes(values, own, -1)
    count = moved.shape[-1]
    few = current().decide(as_tracer(moved).dims[-1] - 3, "<", "Simpson's rule of few points")
    if few is None:
        raise refuse("scipy.integrate.cumulative_simpson of as many points as data says cannot be "
                     "captured", "Make their number that of an argument", "TJ212")
    if few:
        found: Any = np.swapaxes(cumulative_trapezoid(values, x, dx, own), own, -1)
    else:
        h = _spread("dx", dx, values, count - 1, own) if x is None else _rising(x, values, own)
        ahead = _of_next(moved, h, x is None)
        back = _of_next(moved[..., ::-1], h[..., ::-1], x is None)[..., ::-1]
        places = iota(as_tracer(h).dims[-1])
        later = (places % 2 == 1) | (places == count - 2)
        parts = np.where(later, np.concatenate([ahead[..., :1], back], axis=-1),
                         np.concatenate([ahead, back[..., -1:]], axis=-1))
        found = np.cumsum(parts, axis=-1)
    if initial is not None:
        first = _spread("initial", initial, values, 1, own)
        found = np.concatenate([first, cast(found + first, found.dtype)], axis=-1)
    return np.swapaxes(found, own, -1)


def _rising(x: object, values: Tracer, axis: int) -> Any:
    """Return the distances of points, which have to lie one behind the other."""
    places: Any = as_inexact(x)
    moved: Any = np.swapaxes(values, axis, -1)
    if len(places.dims) == 1 and same_dim(places.dims[0], values.dims[axis]):
        places = np.broadcast_to(places, moved.shape)
    elif len(places.dims) == len(values.dims) and all(map(same_dim, places.dims, values.dims)):
        places = np.swapaxes(places, axis, -1)
    else:
        raise ValueError("If given, shape of `x` must be the same as `y` or 1-D with the same "
                         "length as `y` along `axis`.")
    h = np.diff(places, axis=-1)
    require(np.logical_not(np.any(h <= 0)), ValueError, "Input x must be strictly increasing.")
    return h


def trapezoid(y: object, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Return an integral by the trapezoidal rule."""
    return np.trapezoid(as_tracer(y), x, dx, axis)


scipy_captures("scipy.integrate", {
    "trapezoid": trapezoid, "simpson": simpson, "cumulative_trapezoid": cumulative_trapezoid})
captures_of_some("scipy.integrate", {"cumulative_simpson": cumulative_simpson}, "iuf", 4)
