"""Splines in two variables: `scipy.interpolate.RectBivariateSpline` and others of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.bsplines import Spline, spline_values
from tracejit.scipy_api.interpolators import doubles
from tracejit.scipy_api.spline_making import through
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import tracer_of

__all__: list[str] = []


class Bivariate(Made):
    """A spline in two variables.

    tck     -- knots along either axis, and coefficients, those of the last axis next to each other
    degrees -- along either axis
    """

    scipys = "scipy.interpolate.RectBivariateSpline"

    def __init__(self, tck: tuple[np.ndarray, ...], degrees: tuple[int, int]) -> None:
        self.tck, self.degrees = tck, degrees

    def __getattr__(self, name: str) -> Any:
        if name not in ("fp", "get_residual", "partial_derivative"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a RectBivariateSpline of traced data cannot be captured",
                     "Call it, with dx= and dy= for a derivative", "TJ209")

    def _parts(self) -> tuple[Any, Any, Any]:
        """Return the knots along either axis and the table of coefficients."""
        tx, ty, c = map(as_tracer, self.tck)
        kx, ky = self.degrees
        rows: Any = np.reshape(c, (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
        return tx, ty, rows

    def __call__(self, x: object, y: object, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """Return values, or those of a derivative, at points or on the grid of two vectors."""
        if not grid:
            return self.ev(x, y, dx, dy)
        at, down = (np.reshape(doubles(v), (-1,)) for v in (x, y))
        for points, name in ((at, "x"), (down, "y")):
            require(np.all(points[1:] >= points[:-1]), ValueError,
                    f"{name} must be sorted to evaluate on a grid.")
        tx, ty, c = self._parts()
        kx, ky = self.degrees
        rows = spline_values(tx, c, kx, _inside(at, tx, kx), dx)
        return np.transpose(spline_values(ty, as_tracer(np.transpose(rows)), ky,
                                          _inside(down, ty, ky), dy))

    def ev(self, xi: object, yi: object, dx: int = 0, dy: int = 0) -> Any:
        """Return values, or those of a derivative, at points."""
        at, down = np.broadcast_arrays(doubles(xi), doubles(yi))
        tx, ty, c = self._parts()
        kx, ky = self.degrees
        shape, x, y = at.shape, np.reshape(at, (-1,)), np.reshape(down, (-1,))
        across = _weights(tx, kx, _inside(x, tx, kx), dx)
        along = _weights(ty, ky, _inside(y, ty, ky), dy)
        total: Any = 0.0
        for i, u in across:
            part: Any = 0.0
            for j, v in along:
                part = part + v * c[i, j]
            total = total + u * part
        return np.reshape(total, shape)

    def integral(self, xa: object, xb: object, ya: object, yb: object) -> Any:
        """Return the integral over a rectangle; the spline is 0 outside of its own."""
        tx, ty, c = self._parts()
        kx, ky = self.degrees
        first = Spline(tx, c, kx).integrate(xa, xb, False)
        found = Spline(ty, first, ky).integrate(ya, yb, False)
        return tracer_of(as_tracer(found).value, weak=True)

    def get_knots(self) -> Any:
        """Return the knots along either axis."""
        return self.tck[:2]

    def get_coeffs(self) -> Any:
        """Return the coefficients."""
        return self.tck[2]


def _inside(x: np.ndarray, t: np.ndarray, k: int) -> Any:
    """Return points, those outside moved to the ends, as FITPACK does."""
    return as_tracer(np.clip(x, t[k], t[t.shape[0] - k - 1]))


def _weights(t: np.ndarray, k: int, x: np.ndarray, nu: int) -> list[tuple[Any, Any]]:
    """Return which coefficients count at each point, and how much or how much of a derivative."""
    count = t.shape[0] - k - 1
    interval = np.clip(np.searchsorted(t, x, side="right") - 1, k, count - 1)
    found = []
    for r in range(k + 1):
        place = interval + (r - k)
        found.append((place, _basis_function(t, k, r, interval, x, nu)))
    return found


def _basis_function(t: np.ndarray, k: int, r: int, interval: np.ndarray, x: np.ndarray,
                    nu: int) -> Any:
    """Return a derivative of the basis function that begins at a knot, at points of an interval.

    Its coefficient counts 1, all others 0: the triangle of C. de Boor, once for each of them.
    """
    row: list[Any] = [1.0 + 0.0 * x if i == r else 0.0 * x for i in range(k + 1)]
    start, degree = -k, k  # row[i] belongs to the coefficient at interval + start + i
    for _ in range(min(nu, k + 1)):
        if not degree:
            return 0.0 * x
        steps = []
        for i in range(1, degree + 1):
            j = interval + (start + i)
            steps.append(float(degree) * (row[i] - row[i - 1]) / (t[j + degree] - t[j]))
        row, start, degree = steps, start + 1, degree - 1
    for level in range(1, degree + 1):
        for i in range(degree, level - 1, -1):
            left = t[interval + (start + i)]
            right = t[interval + (start + i + degree + 1 - level)]
            weight = (x - left) / (right - left)
            row[i] = (1.0 - weight) * row[i - 1] + weight * row[i]
    return row[degree]


def _of_object(spline: object) -> Bivariate:
    """Return a spline that SciPy made, its knots and coefficients read like any arrays."""
    degrees: Any = read_attribute(spline, "degrees")
    return Bivariate(read_attribute(spline, "tck"), (int(degrees[0]), int(degrees[1])))


def rect_bivariate_spline(x: object, y: object, z: object, bbox: object = (None,) * 4,
                          kx: int = 3, ky: int = 3, s: object = 0) -> Bivariate:
    """Return the spline through values on a grid."""
    given: Any = bbox
    if any(v is not None for v in given) or not (isinstance(s, (int, float)) and s == 0):
        raise refuse("scipy.interpolate.RectBivariateSpline of traced data with bbox= or smoothing "
                     "cannot be captured", "Leave them out, or make the spline outside", "TJ203")
    across, along = (np.reshape(doubles(v), (-1,)) for v in (x, y))
    values = doubles(z)
    for i, (v, name) in enumerate(((across, "x"), (along, "y"))):
        require(np.all(v[1:] > v[:-1]), ValueError, f"{name} must be strictly increasing")
        if not same_dim(as_tracer(v).dims[0], values.dims[i]):
            raise ValueError(f"{name} dimension of z must have same number of elements as {name}")
    first = through(across, values, kx)
    second = through(along, np.transpose(first.c), ky)
    return Bivariate((first.t, second.t, np.reshape(np.transpose(second.c), (-1,))), (kx, ky))


def _method(name: str) -> Callable[..., Any]:
    def capture(spline: object, *args: object, **kwargs: object) -> Any:
        return getattr(_of_object(spline), name)(*args, **kwargs)

    return capture


OBJECTS["scipy.interpolate.BivariateSpline"] = {
    name: _method(name) for name in ("__call__", "ev", "integral")}
captures_of_some("scipy.interpolate", {"RectBivariateSpline": rect_bivariate_spline}, "biuf")
