"""Interpolation on grids at traced points: `RegularGridInterpolator`, `interpn`, an `interp1d`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.bsplines import beside, own_attribute, spline_values
from tracejit.scipy_api.grid_splines import (
    DEGREES,
    coefficients,
    monotone_values,
    require_points,
    tensor_values,
)
from tracejit.scipy_api.piecewise import real_points
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS, scipy_captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_UNEQUAL = "there are other numbers of points and of values along an axis"


class Grid(Made):
    """An interpolator on a grid; it takes the arguments of `RegularGridInterpolator`."""

    scipys = "scipy.interpolate.RegularGridInterpolator"

    def __init__(self, points: Sequence[object], values: object, method: str = "linear",
                 bounds_error: bool = True, fill_value: object = np.nan) -> None:
        self.points, self.values = [real_points(p) for p in points], as_inexact(values)
        self.method, self.bounds_error = method, bounds_error
        self.fill_value: Any = fill_value
        self.spline: tuple[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in ("grid", "integrate"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a RegularGridInterpolator of traced values", "Call it", "TJ209")

    def __call__(self, xi: object, method: str | None = None) -> Any:
        """Return the values at points, whose coordinates are along the last axis."""
        kind = self.method if method is None else method
        if kind not in ("linear", "nearest", *DEGREES):
            raise ValueError(f"Method '{kind}' is not defined")
        places = _coordinates(xi, len(self.points))
        flat: Any = np.reshape(places, (-1, len(self.points)))
        columns = [flat[:, k] for k in range(len(self.points))]
        outside = self._outside(columns)
        by = self._linear if kind == "linear" else self._nearest
        found = self._smooth(columns, kind) if kind in DEGREES else by(columns)
        if not self.bounds_error and self.fill_value is not None:
            found = np.where(beside(outside, found), self.fill_value, found)
        unknown = np.any(np.isnan(flat), axis=1)
        found = np.where(beside(unknown, found), np.nan, found)
        return np.reshape(found, (*places.shape[:-1], *self.values.shape[len(columns):]))

    def _outside(self, columns: Sequence[Tracer]) -> Any:
        outside: Any = False
        for k, (grid, x) in enumerate(zip(self.points, columns, strict=True)):
            beyond = np.logical_or(x < grid[0], x > grid[-1])
            if self.bounds_error:
                inside = np.all(np.logical_and(x >= grid[0], x <= grid[-1]))
                require(inside, ValueError,
                        f"One of the requested xi is out of bounds in dimension {k}")
            outside = np.logical_or(outside, beyond)
        return outside

    def _cells(self, columns: Sequence[Tracer]) -> list[tuple[Any, Any]]:
        """Return, along each axis, before which grid line points are and how far behind it."""
        cells = []
        for grid, x in zip(self.points, columns, strict=True):
            i = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, grid.shape[0] - 2)
            left = grid[i]
            cells.append((i, (x - left) / (grid[i + 1] - left)))
        return cells

    def _linear(self, columns: Sequence[Tracer]) -> Any:
        cells, total = self._cells(columns), None
        for corner in itertools.product((0, 1), repeat=len(cells)):
            weight: Any = 1.0
            for side, (_, far) in zip(corner, cells, strict=True):
                weight = weight * (far if side else 1.0 - far)
            at = tuple(i + side for side, (i, _) in zip(corner, cells, strict=True))
            value = self.values[at]
            term = value * beside(weight, value)
            total = term if total is None else total + term
        return total

    def _smooth(self, columns: Sequence[Tracer], kind: str) -> Any:
        require_points(self.points, kind)
        given: list[Any] = list(columns)
        values = self.values
        wide: Any = cast(values, np.complex128 if values.dtype.kind == "c" else np.float64)
        if kind == "pchip":
            if values.dtype.kind == "c":
                raise ValueError("`PchipInterpolator` only works with real values.")
            return cast(monotone_values(self.points, wide, given), values.dtype)
        k = DEGREES[kind]
        known = self.spline if kind == self.method else None
        if kind != self.method:
            _refuse_iteration(kind, None)
        return tensor_values(*(known or coefficients(self.points, wide, k)), k, given)

    def _nearest(self, columns: Sequence[Tracer]) -> Any:
        return self.values[tuple(np.where(far <= 0.5, i, i + 1) for i, far in
                                 self._cells(columns))]


def _coordinates(xi: object, count: int) -> Any:
    """Return points as one array, whose last axis has their coordinates."""
    if isinstance(xi, tuple):
        points = np.stack(np.broadcast_arrays(*map(real_points, xi)), axis=-1)
    else:
        points = real_points(xi)
        if points.ndim < 2:
            points = np.reshape(points, (-1, count))
    if points.shape[-1] != count:
        raise ValueError(f"The requested sample points xi have dimension {points.shape[-1]} but "
                         f"this RegularGridInterpolator has dimension {count}")
    return points


def regular_grid_interpolator(points: Sequence[object], values: object, method: str = "linear",
                              bounds_error: bool = True, fill_value: object = np.nan, *,
                              solver: object = None, solver_args: object = None) -> Grid:
    """Return the interpolator of traced values, or on a traced grid."""
    if method not in ("slinear", "cubic", "quintic") and (solver is not None or solver_args):
        raise ValueError(f"{method =} does not accept the 'solver' argument. Got  {solver = } and "
                         f"with arguments {solver_args}.")
    _refuse_iteration(method, solver)
    return _checked(Grid(points, values, method, bounds_error, fill_value))


def _refuse_iteration(method: object, solver: object) -> None:
    """Refuse coefficients which SciPy leaves some 1e-5 from those that they are to be."""
    direct = getattr(sys.modules.get("scipy.sparse.linalg"), "spsolve", None)
    if method in ("cubic", "quintic") and (solver is None or solver is not direct):
        raise refuse(f"interpolation of traced values on a grid by method {method!r} as SciPy's "
                     "iteration leaves it, some 1e-5 from the spline, cannot be captured",
                     "Pass solver=scipy.sparse.linalg.spsolve to RegularGridInterpolator, which is "
                     "exact, or make the interpolator outside", "TJ203")


def interpn(points: Sequence[object], values: object, xi: object, method: str = "linear",
            bounds_error: bool = True, fill_value: object = np.nan) -> Any:
    """Return values on a grid, interpolated at points."""
    _refuse_iteration(method, None)
    if method == "splinef2d":
        raise refuse("scipy.interpolate.interpn by method 'splinef2d' cannot be captured",
                     "Use 'cubic'", "TJ203")
    return _checked(Grid(points, values, method, bounds_error, fill_value))(xi)


def _checked(grid: Grid) -> Grid:
    """Require that points ascend and that there are values at all of them."""
    if len(grid.points) > grid.values.ndim:
        raise ValueError(f"There are {len(grid.points)} point arrays, but values has "
                         f"{grid.values.ndim} dimensions")
    for k, x in enumerate(grid.points):
        if not same_dim(x.dims[0], grid.values.dims[k], _UNEQUAL):
            raise ValueError(f"There are {x.shape[0]} points and {grid.values.shape[k]} values in "
                             f"dimension {k}")
        require(np.all(x[1:] > x[:-1]), ValueError,
                f"The points in dimension {k} must be strictly ascending: flip them and the values")
    if grid.method in DEGREES:
        require_points(grid.points, grid.method)
    return grid


def _of_grid(interpolator: object, xi: object, method: str | None = None, *,
             nu: object = None) -> Any:
    """Carry out `RegularGridInterpolator.__call__`."""
    if nu is not None:
        raise refuse("RegularGridInterpolator with nu= cannot be captured", "Take its gradient",
                     "TJ203")
    made = [own_attribute(interpolator, name) for name in ("grid", "values")]
    settings = [read_attribute(interpolator, name)
                for name in ("method", "bounds_error", "fill_value")]
    grid = Grid(*made, *settings)
    if grid.method in ("slinear", "cubic", "quintic"):
        # of the values that it was made of, whatever has become of them
        spline = read_attribute(interpolator, "_spline")
        k = DEGREES[grid.method]
        factors = as_tracer(own_attribute(spline, "c"))
        knots = own_attribute(spline, "t")
        lengths = [factors.shape[axis] + k + 1 for axis in range(len(grid.points))]
        grid.spline = [as_tracer(knots[axis])[:n] for axis, n in enumerate(lengths)], factors
    return grid(xi, method)


# --- an interp1d that SciPy made ------------------------------------------------------------------


def _of_interp1d(interpolator: object, x: object) -> Any:
    """Carry out `interp1d.__call__`."""
    if read_attribute(interpolator, "_y_axis") != 0:
        raise refuse("an interp1d along another axis than the first cannot be captured",
                     "Make it with axis=0", "TJ203")
    points = real_points(x)
    flat: Any = np.reshape(points, (-1,))
    found = _KINDS[_kind(interpolator)](interpolator, flat)
    found = _outside_filled(interpolator, flat, found)
    return np.reshape(found, (*points.shape, *read_attribute(interpolator, "_y_extra_shape")))


def _kind(interpolator: object) -> str:
    name = str(read_attribute(interpolator, "_kind"))
    if name not in _KINDS:
        raise refuse(f"an interp1d of kind {name!r} cannot be captured", "Use CubicSpline", "TJ203")
    return name


def _array(interpolator: object, name: str) -> Any:
    return as_tracer(read_attribute(interpolator, name))


def _lines(interpolator: object, x: Tracer) -> Any:
    places, y = _array(interpolator, "x"), _array(interpolator, "_y")
    high = np.clip(np.searchsorted(places, x), 1, places.shape[0] - 1)
    left, low = places[high - 1], y[high - 1]
    return (y[high] - low) / beside(places[high] - left, low) * beside(x - left, low) + low


def _nearest(interpolator: object, x: Tracer) -> Any:
    limits, y = _array(interpolator, "x_bds"), _array(interpolator, "_y")
    found = np.searchsorted(limits, x, side=read_attribute(interpolator, "_side"))
    return y[np.clip(found, 0, y.shape[0] - 1)]


def _step(interpolator: object, x: Tracer) -> Any:
    limits, y = _array(interpolator, "_x_shift"), _array(interpolator, "_y")
    ahead = int(read_attribute(interpolator, "_ind"))
    found = np.searchsorted(limits, x, side=read_attribute(interpolator, "_side"))
    return y[np.clip(found, 1 - ahead, y.shape[0] - ahead) + (ahead - 1)]


def _spline(interpolator: object, x: Tracer) -> Any:
    if "nan" in read_attribute(interpolator, "_call").__name__:
        raise refuse("an interp1d of values that are NaN cannot be captured", "Remove the NaN",
                     "TJ203")
    spline = read_attribute(interpolator, "_spline")
    t, c = (as_tracer(own_attribute(spline, name)) for name in ("t", "c"))
    return spline_values(t, c, int(read_attribute(spline, "k")), x)


_KINDS = {"linear": _lines, "nearest": _nearest, "nearest-up": _nearest, "previous": _step,
          "next": _step, "spline": _spline}


def _outside_filled(interpolator: object, x: Tracer, found: Tracer) -> Any:
    if read_attribute(interpolator, "_extrapolate"):
        return found
    places = _array(interpolator, "x")
    below, above = x < places[0], x > places[-1]
    if read_attribute(interpolator, "bounds_error"):
        require(np.logical_not(np.any(np.logical_or(below, above))), ValueError,
                "A value in x_new is outside of the interpolation range.")
        return found
    for side, fill in ((below, "_fill_value_below"), (above, "_fill_value_above")):
        kept: Any = np.where(beside(side, found), _array(interpolator, fill), found)
        found = kept
    return found


OBJECTS["scipy.interpolate.RegularGridInterpolator"] = {"__call__": _of_grid}
OBJECTS["scipy.interpolate.interp1d"] = {"__call__": _of_interp1d}
scipy_captures("scipy.interpolate", {
    "RegularGridInterpolator": regular_grid_interpolator, "interpn": interpn})
