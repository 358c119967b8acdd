"""Interpolation between scattered points: the nearest one's value, or linear in simplices.

Which simplex a point is in, and which data point is nearest, is searched among all of them.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.interpolation1d import interp1d
from tracejit.scipy_api.piecewise import beside, real_points
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.calls import call_function
from tracejit.trace.state.known import rests_on_data
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_EPS = 100.0 * float(np.finfo(np.float64).eps)
"""How far outside of a simplex, in coordinates of it, a point is taken as inside."""


Scaling = tuple[Any, Any] | None


class ScatteredData(Made):
    """An interpolator between scattered points.

    points -- as many as values, scaled
    values -- with points along the first axis
    scaling -- what is subtracted from coordinates, and by what they are divided; None without
    """

    has_captured_operators = True

    def __init__(self, points: Tracer, values: Tracer, scaling: Scaling) -> None:
        self.points: Any = points
        self.values: Any = values
        self.scaling = scaling

    def _places(self, args: tuple[object, ...]) -> Any:
        """Return points with their coordinates along the last axis."""
        count = need_int(self.points.dims[1], "how many coordinates points have")
        if len(args) == 1 and not isinstance(args[0], tuple):
            found = real_points(args[0])
            if found.ndim == 1:
                found = np.reshape(found, (-1, count))
        else:
            parts: Any = args[0] if len(args) == 1 else args
            found = np.stack(np.broadcast_arrays(*map(real_points, parts)), axis=-1)
        if not same_dim(as_tracer(found).dims[-1], count):
            raise ValueError("number of dimensions in xi does not match x")
        found = cast(as_tracer(found), np.float64)
        return found if self.scaling is None else (found - self.scaling[0]) / self.scaling[1]

    def __call__(self, *args: object, **others: object) -> Any:
        """Return the values at points."""
        if others:
            raise refuse("options for the search of the nearest point cannot be captured",
                         "Leave them out", "TJ203")
        places = self._places(args)
        found = self._at(as_tracer(np.reshape(places, (-1, places.shape[-1]))))
        return np.reshape(found, (*places.shape[:-1], *self.values.shape[1:]))

    def _at(self, x: Tracer) -> Any:
        raise NotImplementedError


class Linear(ScatteredData):
    """A `LinearNDInterpolator`: within each simplex the values are linear.

    simplices -- the numbers of the corners of each
    maps      -- from points to coordinates of each simplex, and behind it a corner
    """

    has_captured_operators = True
    scipys = "scipy.interpolate.LinearNDInterpolator"

    def __init__(self, points: Tracer, values: Tracer, scaling: Scaling,
                 triangulation: object, fill_value: object) -> None:
        super().__init__(points, values, scaling)
        self.fill_value: Any = fill_value
        self.simplices = as_tracer(read_attribute(triangulation, "simplices"))
        self.maps = as_tracer(read_attribute(triangulation, "transform"))

    def _at(self, x: Tracer) -> Any:
        current().note("each point is looked for in every simplex of the triangulation",
                       "TJ707")
        count = need_int(self.points.dims[1], "how many coordinates points have")
        every = self.maps[None]
        least = np.min(_corner_weights(every, stop_gradient(x)[:, None], count), axis=-1)
        least = np.where(np.isnan(least), -np.inf, least)
        found = np.argmax(least, axis=1)
        weights = _corner_weights(self.maps[found], x, count)
        total: Any = 0.0
        for k in range(count + 1):
            part = self.values[self.simplices[found, k]]
            total = total + beside(weights[:, k], part) * part
        outside = np.logical_not(np.max(least, axis=1) >= -_EPS)
        return np.where(beside(outside, total), self.fill_value, total)


def _corner_weights(maps: np.ndarray, x: np.ndarray | Tracer, count: int) -> Any:
    """Return how much each corner of simplices counts at points."""
    rows = [np.sum(maps[..., k, :] * (x - maps[..., count, :]), axis=-1) for k in range(count)]
    rest: Any = 1.0
    for row in rows:
        rest = rest - row
    return np.stack([*rows, rest], axis=-1)


class Nearest(ScatteredData):
    """A `NearestNDInterpolator`: at each point the value of the nearest one."""

    has_captured_operators = True
    scipys = "scipy.interpolate.NearestNDInterpolator"

    def _at(self, x: Tracer) -> Any:
        current().note("the distance of each point from all data points is computed", "TJ707")
        require(np.all(np.isfinite(x)), ValueError,
                "'x' must be finite, check for nan or inf values")
        apart: Any = stop_gradient(x)[:, None] - stop_gradient(self.points)[None]
        square = np.sum(apart * apart, axis=-1)
        least = np.min(square, axis=1)
        found: Any = self.values[np.argmin(square, axis=1)]
        near = square <= (least * (1.0 + 1e-14))[:, None]
        same: Any = self.values[None] == found[:, None]
        while len(same.dims) > 2:
            same = as_tracer(np.all(same, axis=-1))
        require_ours(np.all(same | ~near), NotCaptured, "the nearest of data points of which two "
                     "are equally near is SciPy's choice, and is not captured. Move the points")
        return found if found.dtype.kind == "c" else cast(as_tracer(found), np.float64)


def _of_outside(x: object) -> tuple[Any, Any, Scaling]:
    """Return points, values and scaling of an interpolator that SciPy made."""
    scale = read_attribute(x, "scale")
    scaling = None if scale is None else (as_tracer(read_attribute(x, "offset")), as_tracer(scale))
    return as_tracer(read_attribute(x, "points")), as_tracer(read_attribute(x, "values")), scaling


def _call_linear(x: object, *args: object) -> Any:
    """Carry out `LinearNDInterpolator.__call__`."""
    points, values, scaling = _of_outside(x)
    triangulation, fill_value = (read_attribute(x, name) for name in ("tri", "fill_value"))
    made = Linear(points, values, scaling, triangulation, fill_value)
    shape = read_attribute(x, "values_shape")
    made.values = np.reshape(values, (-1, *shape))
    return made(*args)


def _call_nearest(x: object, *args: object, **others: object) -> Any:
    """Carry out `NearestNDInterpolator.__call__`."""
    return Nearest(*_of_outside(x))(*args, **others)


# --- of traced values -----------------------------------------------------------------------------


def _data(points: object, values: object, rescale: object) -> tuple[Any, Any, Any]:
    """Return points, values and scaling, and raise SciPy's errors."""
    if isinstance(points, tuple):
        points = np.stack(np.broadcast_arrays(*map(real_points, points)), axis=-1)
    places: Any = cast(as_tracer(real_points(points)), np.float64)
    places = places[:, None] if places.ndim == 1 else places
    given: Any = as_inexact(values)
    if given.dtype.kind == "f":
        given = cast(given, np.float64)
    if places.ndim != 2:
        raise ValueError("invalid shape for input data points")
    if not same_dim(places.dims[0], given.dims[0]):
        raise ValueError("different number of values and points")
    if not rescale:
        return places, given, None
    offset, scale = np.mean(places, axis=0), np.ptp(places, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return (places - offset) / scale, given, (offset, scale)


def linear(points: object, values: object, fill_value: object = np.nan,
           rescale: bool = False) -> Linear:
    """Return the interpolator of traced values between points into which no data comes."""
    places, given, scaling = _data(points, values, rescale)
    if rests_on_data(places):
        raise refuse("a triangulation of traced points cannot be captured",
                     "Make it outside, of points that are no arguments", "TJ205")
    found = call_function(sys.modules["scipy.spatial"].Delaunay, (places,), {})
    return Linear(places, given, scaling, found, fill_value)


def nearest(x: object, y: object, rescale: bool = False, tree_options: None = None) -> Nearest:
    """Return the interpolator that has the values of the nearest points."""
    return Nearest(*_data(x, y, rescale))


def griddata(points: object, values: object, xi: object, method: str = "linear",
             fill_value: object = np.nan, rescale: bool = False) -> Any:
    """Return values between scattered points."""
    if _is_line(points):
        return _on_a_line(points, values, xi, method, fill_value)
    if method not in ("linear", "nearest"):
        raise refuse(f"scipy.interpolate.griddata by method {method!r} cannot be captured",
                     "Say method='linear' or 'nearest'", "TJ203")
    if method == "nearest":
        return nearest(points, values, rescale)(xi)
    return linear(points, values, fill_value, rescale)(xi)


def _is_line(points: object) -> bool:
    """Return whether points have one coordinate."""
    if isinstance(points, tuple):
        return len(points) == 1
    given = as_tracer(points)
    return given.ndim == 1 or current().are_equal(given.dims[-1], 1, "points are on a line")


def _on_a_line(points: object, values: object, xi: object, method: str, fill_value: object) -> Any:
    """Return values between points on a line, by `interp1d`."""
    places: Any = np.reshape(as_tracer(points[0] if isinstance(points, tuple) else points), (-1,))
    if isinstance(xi, tuple):
        if len(xi) != 1:
            raise ValueError("invalid number of dimensions in xi")
        xi, = xi
    beyond = "extrapolate" if method == "nearest" else fill_value
    return interp1d(places, values, kind=method, axis=0, bounds_error=False, fill_value=beyond)(xi)


OBJECTS["scipy.interpolate.LinearNDInterpolator"] = {"__call__": _call_linear}
OBJECTS["scipy.interpolate.NearestNDInterpolator"] = {"__call__": _call_nearest}
captures_of_some("scipy.interpolate", {
    "LinearNDInterpolator": linear, "NearestNDInterpolator": nearest, "griddata": griddata}, "iufc")
