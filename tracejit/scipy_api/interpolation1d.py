"""`scipy.interpolate.interp1d` of traced data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.interpolators import cubic_through, doubles
from tracejit.scipy_api.piecewise import real_points
from tracejit.scipy_api.spline_making import make_interp_spline
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["interp1d"]

Form = Callable[[Any], Any]


class Interpolator(Made):
    """The interpolator that `interp1d` makes of traced data.

    form    -- from a vector of points to values, points first
    places  -- the nodes, sorted
    axis    -- where the axis of points goes
    checked -- whether points outside are an error
    fill    -- the values below and above all points; None where the form goes on
    """

    scipys = "scipy.interpolate.interp1d"

    def __init__(self, form: Form, places: np.ndarray, axis: int, checked: bool,
                 fill: tuple[object, object] | None) -> None:
        self.form, self.places, self.axis = form, places, axis
        self.checked, self.fill = checked, fill

    def __call__(self, x: object) -> Any:
        """Return the values at points."""
        given: Any = as_tracer(x)
        points: Any = np.reshape(real_points(given), (-1,))
        below, above = points < self.places[0], points > self.places[-1]
        if self.checked:
            require(np.logical_not(np.any(below | above)), ValueError,
                    "A value in x_new is outside of the interpolation range.")
        found = as_tracer(self.form(points))
        if self.fill is not None:
            for mask, value in zip((below, above), self.fill, strict=True):
                found = as_tracer(np.where(_beside(mask, found), cast(as_tracer(
                    value), found.dtype), found))
        rank = len(given.dims)
        whole: Any = np.reshape(found, (*given.shape, *found.shape[1:]))
        return np.moveaxis(whole, tuple(range(rank)), tuple(range(self.axis, self.axis + rank)))


def _beside(mask: np.ndarray, values: Tracer) -> Any:
    return np.reshape(mask, (-1, *(1 for _ in values.dims[1:])))


def _lines(x: np.ndarray, y: np.ndarray) -> Form:
    """Return the lines through neighbours, in the dtypes of the data and the points."""
    last = np.shape(y)[0] - 1

    def form(at: np.ndarray) -> Any:
        k = np.clip(np.searchsorted(x, at), 1, last)
        like = as_tracer(y)
        slope = (y[k] - y[k - 1]) / _beside(x[k] - x[k - 1], like)
        return slope * _beside(at - x[k - 1], like) + y[k - 1]

    return form


def _steps(places: np.ndarray, y: np.ndarray, side: Literal["left", "right"], back: int) -> Form:
    """Return the form that takes at x the value of a node, found by binary search in `places`."""
    last = np.shape(y)[0] - 1
    return lambda x: y[np.clip(np.searchsorted(places, x, side=side) - back, 0, last)]


def _nearest(x: np.ndarray, y: np.ndarray, side: Literal["left", "right"]) -> Form:
    half = cast(as_tracer(x), np.float64 if x.dtype.kind in "iu" else x.dtype) / 2.0
    return _steps(half[1:] + half[:-1], y, side, 0)


def _spline(k: int) -> Callable[..., Form]:
    """Return the maker of splines, which are NaN where a value is one."""
    def make(x: np.ndarray, y: np.ndarray) -> Form:
        of_finite("scipy.interpolate.interp1d by a spline", x)
        if k < 2:
            return make_interp_spline(x, y, k, check_finite=False)
        values = np.where(np.any(np.isnan(y)), np.nan, doubles(y))
        return (make_interp_spline(x, values, 2, check_finite=False) if k == 2
                else cubic_through(doubles(x), values))

    return make


_KINDS: dict[object, Callable[..., Form]] = {
    "linear": _lines, "slinear": _spline(1), "quadratic": _spline(2), "cubic": _spline(3),
    "previous": lambda x, y: _steps(x, y, "right", 1),
    "zero": lambda x, y: _steps(x, doubles(y), "right", 1),
    "next": lambda x, y: _steps(x, y, "left", 0),
    "nearest": lambda x, y: _nearest(x, y, "left"),
    "nearest-up": lambda x, y: _nearest(x, y, "right")}


def _like_numpys(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether SciPy hands data on to `np.interp`."""
    return y.ndim == 1 and {x.dtype, y.dtype} <= {np.dtype(np.float64), np.dtype(np.int64)}


def interp1d(x: object, y: object, kind: object = "linear", axis: int = -1, copy: bool = True,
             bounds_error: bool | None = None, fill_value: object = np.nan,
             assume_sorted: bool = False) -> Any:
    """Return the interpolator of values along an axis."""
    if isinstance(kind, int):
        kind = {0: "zero", 1: "slinear", 2: "quadratic", 3: "cubic"}.get(kind, kind)
    if kind not in _KINDS:
        raise refuse(f"scipy.interpolate.interp1d of kind {kind!r} cannot be captured",
                     "Use make_interp_spline", "TJ203")
    places: Any = as_tracer(x)
    given: Any = as_tracer(y)
    if places.dtype.kind == "c" or (
            given.dtype.kind == "c" and kind in ("slinear", "quadratic", "cubic", "zero")):
        raise refuse("scipy.interpolate.interp1d of complex nodes, or by a spline of complex "
                     "numbers, cannot be captured", "Interpolate the parts", "TJ206")
    along = normalize_axis(axis, len(given.dims))
    if not same_dim(places.dims[0], given.dims[along]):
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    wide: Any = as_inexact(given)
    values: Any = np.moveaxis(wide, along, 0)
    if not assume_sorted:
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
    values = np.reshape(values, (places.shape[0], *values.shape[1:]))
    if copy:
        places, values = places.copy(), values.copy()
    checked, fill = _outside(fill_value, bounds_error, kind, values)
    made = _KINDS[kind](places, values)
    if kind == "linear" and (checked or fill is not None) and _like_numpys(places, values):
        made = lambda points: np.interp(points, places, values)  # noqa: E731
    return Interpolator(made, places, along, checked, fill)


def _outside(fill_value: object, bounds_error: bool | None, kind: object,
             y: np.ndarray) -> tuple[bool, tuple[Any, Any] | None]:
    """Return whether points outside are an error, and the values there."""
    beyond = isinstance(fill_value, str) and fill_value == "extrapolate"
    if beyond and bounds_error:
        raise ValueError("Cannot extrapolate and raise at the same time.")
    checked = not beyond if bounds_error is None else bool(bounds_error)
    if beyond:
        return False, {"previous": (np.nan, y[-1]), "next": (y[0], np.nan)}.get(str(kind))
    pair = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    return checked, None if checked else (pair[0], pair[1])


captures_of_some("scipy.interpolate", {"interp1d": interp1d}, "iufc")
