"""The interpolators of `scipy.interpolate`, built from traced data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.piecewise import Piecewise, beside, real_points
from tracejit.scipy_api.plain_splines import tridiagonal
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require

__all__ = ["cubic_through", "doubles", "of_slopes", "pchip", "pchip_slopes",
           "require_all_finite"]


def doubles(x: object) -> Any:
    """Return an array in double precision: itself where it is, as SciPy's objects keep it."""
    given = real_points(x)
    return given if given.dtype == np.float64 else cast(given, np.float64)


def _data(x: object, y: object, axis: int, name: str) -> tuple[Any, Any, int]:
    """Return points, values with these first, in double precision, and where SciPy has the axis.

    Raises SciPy's errors.
    """
    places = doubles(x)
    values: Any = as_tracer(y)
    if values.dtype.kind == "c":
        raise refuse(f"scipy.interpolate.{name} of complex numbers cannot be captured",
                     "Interpolate the parts", "TJ206")
    along = axis % max(len(values.dims), 1)
    if not same_dim(places.dims[0], values.dims[along]):
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    values = cast(values, np.float64)
    values = np.moveaxis(values, along, 0) if along else values
    if _fewer(places, 2):
        raise ValueError("`x` must contain at least 2 elements.")
    require_all_finite(x=places, y=values)
    require(np.all(places[1:] > places[:-1]), ValueError,
            "`x` must be strictly increasing sequence.")
    return places, np.reshape(values, (places.shape[0], *values.shape[1:])), along


def require_all_finite(**named: np.ndarray) -> None:
    """Require of the data of an interpolator that no number is infinite or NaN."""
    for name, x in named.items():
        require(np.all(np.isfinite(x)), ValueError, f"`{name}` must contain only finite values.")


def _fewer(x: Any, n: int) -> bool:
    """Return whether there are fewer than n points."""
    found = current().decide(x.dims[0] - n, "<", "how many points an interpolator has")
    if found is None:
        raise refuse("an interpolator of as many points as data says cannot be captured",
                     "Make their number that of an argument", "TJ212")
    return found


def of_slopes(x: np.ndarray, y: np.ndarray, s: np.ndarray, extrapolate: object,
              name: str, axis: int = 0) -> Piecewise:
    """Return the cubic pieces through values with slopes."""
    h = beside(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    t = (s[:-1] + s[1:] - 2.0 * m) / h
    return Piecewise(x, np.stack([t / h, (m - s[:-1]) / h - t, s[:-1], y[:-1]]), extrapolate,
                     name, axis)


def _ends(bc_type: object) -> tuple[Any, Any]:
    """Return the conditions at either end: "not-a-knot", or which derivative has which value."""
    named = {"natural": (2, 0.0), "clamped": (1, 0.0), "not-a-knot": "not-a-knot"}
    pair = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    if "periodic" in [end for end in pair if isinstance(end, str)]:
        raise refuse("scipy.interpolate.CubicSpline with bc_type='periodic' cannot be captured",
                     "Repeat the data before and behind, and use 'not-a-knot'", "TJ203")
    found = [named.get(end, end) if isinstance(end, str) else end for end in pair]
    return found[0], found[1]


def _row(end: Any, h: Any, m: Any, wide: Any) -> tuple[Any, Any, Any]:
    """Return the equation at an end: factors of the slopes there and next to it, and right side.

    h, m -- the first two widths and slopes of the data, from the end on
    wide -- the same, in the shape of values
    """
    if isinstance(end, str):
        d = h[0] + h[1]
        right = ((wide[0] + 2.0 * (wide[0] + wide[1])) * wide[1] * m[0] + wide[0] * wide[0] * m[1])
        return h[1], d, right / (wide[0] + wide[1])
    order, value = end
    if order == 1:
        return 1.0 + 0.0 * h[0], 0.0 * h[0], value + 0.0 * m[0]
    if order != 2:
        raise ValueError("The specified derivative order must be 1 or 2.")
    return 2.0 * h[0], h[0], -0.5 * value * wide[0] * wide[0] + 3.0 * wide[0] * m[0]


def cubic_spline(x: object, y: object, axis: int = 0, bc_type: object = "not-a-knot",
                 extrapolate: bool | None = None) -> Any:
    """Return the cubic spline through points."""
    places, values, along = _data(x, y, axis, "CubicSpline")
    return cubic_through(places, values, bc_type, _beyond(extrapolate), along)


def _beyond(extrapolate: object) -> object:
    """Return what interpolators that go on by themselves do outside."""
    return True if extrapolate is None else extrapolate


def cubic_through(places: np.ndarray, values: np.ndarray, bc_type: object = "not-a-knot",
                  extrapolate: object = True, axis: int = 0) -> Piecewise:
    """Return the cubic spline through points in double precision, finite or not."""
    start, stop = _ends(bc_type)
    h = np.diff(places)
    wide = beside(h, values)
    m = np.diff(values, axis=0) / wide
    if _fewer(places, 4) and "not-a-knot" in (start, stop):
        if _fewer(places, 3) or not (start == stop):
            raise refuse("scipy.interpolate.CubicSpline of so few points cannot be captured",
                         "Use bc_type='natural', or more points", "TJ213")
        bend = (m[1] - m[0]) / (wide[0] + wide[1])
        slopes = np.stack([m[0] - bend * wide[0], m[0] + bend * wide[0], m[1] + bend * wide[1]])
        return of_slopes(places, values, slopes, extrapolate, "CubicSpline", axis)
    second = 1 if not _fewer(places, 3) else 0
    first = _row(start, (h[0], h[second]), (m[0], m[second]), (wide[0], wide[second]))
    stop = stop if isinstance(stop, str) else (stop[0], -stop[1] if stop[0] == 2 else stop[1])
    last = _row(stop, (h[-1], h[-1 - second]), (m[-1], m[-1 - second]),
                (wide[-1], wide[-1 - second]))
    inner = 3.0 * (wide[1:] * m[:-1] + wide[:-1] * m[1:])

    def whole(before: float, between: np.ndarray, behind: float) -> Any:
        return np.concatenate([np.reshape(before, (1, *between.shape[1:])), between,
                               np.reshape(behind, (1, *between.shape[1:]))])

    zero = 0.0 * h[0]
    right = whole(first[2], inner, last[2])
    slopes = call_function(tridiagonal, (
        whole(zero, h[1:], last[1]), whole(first[0], 2.0 * (h[1:] + h[:-1]), last[0]),
        whole(first[1], h[:-1], zero), np.reshape(right, (places.shape[0], -1))), {})
    return of_slopes(places, values, np.reshape(slopes, values.shape), extrapolate,
                     "CubicSpline", axis)


def pchip(x: object, y: object, axis: int = 0, extrapolate: bool | None = None) -> Any:
    """Return the monotone interpolator: F. N. Fritsch and J. Butland, SIAM J. Sci. Comput. 5."""
    places, values, along = _data(x, y, axis, "PchipInterpolator")
    return of_slopes(places, values, pchip_slopes(places, values), _beyond(extrapolate),
                     "PchipInterpolator", along)


def pchip_slopes(places: np.ndarray, values: np.ndarray) -> Any:
    """Return the slopes of the monotone interpolation along the first axis."""
    h = beside(np.diff(places), values)
    m = np.diff(values, axis=0) / h
    if _fewer(places, 3):
        return np.concatenate([m, m])
    flat = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0.0) | (m[:-1] == 0.0)
    low, high = (np.where(flat, 1.0, part) for part in (m[:-1], m[1:]))
    before, behind = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    inner = np.where(flat, 0.0, (before + behind) / (before / low + behind / high))
    ends = [_end_slope(h[0], h[1], m[0], m[1]), _end_slope(h[-1], h[-2], m[-1], m[-2])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slope(h: np.ndarray, next_h: np.ndarray, m: np.ndarray, next_m: np.ndarray) -> Any:
    d = ((2.0 * h + next_h) * m - h * next_m) / (h + next_h)
    far = (np.sign(m) != np.sign(next_m)) & (np.abs(d) > 3.0 * np.abs(m))
    return np.where(np.sign(d) != np.sign(m), 0.0, np.where(far, 3.0 * m, d))


def akima(x: object, y: object, axis: int = 0, *, method: str = "akima",
          extrapolate: bool | None = None) -> Any:
    """Return the interpolator of H. Akima, J. ACM 17, 1970."""
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    places, values, along = _data(x, y, axis, "Akima1DInterpolator")
    beyond = False if extrapolate is None else extrapolate
    m = np.diff(values, axis=0) / beside(np.diff(places), values)
    if _fewer(places, 3):
        return of_slopes(places, values, np.concatenate([m, m]), beyond, "Akima1DInterpolator",
                         along)
    left, right = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
    wide = np.concatenate([2.0 * left - m[:1], left, m, right, 2.0 * right - m[-1:]])
    change = np.abs(np.diff(wide, axis=0))
    if method == "makima":
        change = change + 0.5 * np.abs(wide[1:] + wide[:-1])
    ahead, back = change[2:], change[:-2]
    both = ahead + back
    bent = both > 1e-9 * np.max(both)
    safe = np.where(bent, both, 1.0)
    slopes = np.where(bent, (ahead * wide[1:-2] + back * wide[2:-1]) / safe,
                      0.5 * (wide[3:] + wide[:-3]))
    return of_slopes(places, values, slopes, beyond, "Akima1DInterpolator", along)


captures_of_some("scipy.interpolate", {
    "CubicSpline": cubic_spline, "PchipInterpolator": pchip, "Akima1DInterpolator": akima}, "biuf")
