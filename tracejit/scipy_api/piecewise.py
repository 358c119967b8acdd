"""Piecewise polynomials, as `scipy.interpolate` makes them: of traced data, or at traced points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.made import Made
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.known_numbers import need_int

__all__ = ["Piecewise", "beside", "real_points"]


class Piecewise(Made):
    """A piecewise polynomial of traced coefficients.

    x -- where pieces begin and end
    c -- coefficients, the highest power first: powers times pieces times axes of the values
    name -- of the class that it passes for
    """

    def __init__(self, x: np.ndarray, c: np.ndarray, extrapolate: object,
                 name: str = "PPoly") -> None:
        self.x, self.c, self.extrapolate = x, c, extrapolate
        self.name, self.scipys = name, f"scipy.interpolate.{name}"

    def __getattr__(self, name: str) -> Any:
        if name not in ("axis", "extend", "roots", "solve"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an interpolator of traced data cannot be captured",
                     "Call it, or use derivative, antiderivative and integrate")

    def __call__(self, x: object, nu: int = 0, extrapolate: object = None) -> Any:
        """Return the values, or a derivative."""
        kept = self.extrapolate if extrapolate is None else extrapolate
        if kept == "periodic":
            raise refuse("an interpolator with extrapolate='periodic' cannot be captured",
                         "Reduce the points by np.remainder")
        return _values(self.x, _derivative(self.c, nu), x, bool(kept))

    def derivative(self, nu: int = 1) -> Piecewise:
        """Return the derivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        return Piecewise(self.x, _derivative(self.c, nu), self.extrapolate, self.name)

    def antiderivative(self, nu: int = 1) -> Piecewise:
        """Return an antiderivative, 0 where the first piece begins."""
        c = self.c
        for _ in range(nu):
            c = _antiderivative(self.x, c)
        return Piecewise(self.x, c, self.extrapolate, self.name)

    def integrate(self, a: object, b: object, extrapolate: object = None) -> Any:
        """Return the integral between two points."""
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def _derivative(c: np.ndarray, nu: int) -> Any:
    """Return the coefficients of a derivative."""
    degree = c.shape[0] - 1
    if nu == 0:
        return c
    if nu > degree:
        return 0.0 * c[:1]
    return np.stack([c[k] * float(math.perm(degree - k, nu)) for k in range(degree - nu + 1)])


def _antiderivative(x: np.ndarray, c: np.ndarray) -> Any:
    degree = c.shape[0]
    rows = [c[k] / float(degree - k) for k in range(degree)]
    h = beside(np.diff(x), c[0])
    total: Any = 0.0
    for row in rows:
        total = (total + row) * h
    before = np.concatenate([0.0 * total[:1], np.cumsum(total, axis=0)[:-1]])
    return np.stack([*rows, before])


def real_points(x: object) -> Any:
    """Return an array of floats, and refuse complex numbers."""
    given = as_inexact(x)
    if given.dtype.kind == "c":
        raise refuse("interpolation at complex points, or on a complex grid", "Give real ones")
    return given


def beside(h: np.ndarray, y: Any) -> Any:
    """Return a vector with as many axes behind it as an array has."""
    return np.reshape(h, (h.shape[0], *(1 for _ in y.dims[1:])))


def _values(x: np.ndarray, c: np.ndarray, at: object, extrapolate: bool) -> Any:
    points = real_points(at)
    pieces = c.shape[1]
    flat = np.reshape(points, (-1,))
    k = np.clip(np.searchsorted(x, flat, side="right") - 1, 0, pieces - 1)
    t = flat - x[k]
    total: Any = 0.0
    for row in range(c.shape[0]):
        part = c[row][k]
        total = total * beside(t, part) + part
    if not extrapolate:
        inside = (flat >= x[0]) & (flat <= x[-1])
        total = np.where(beside(inside, total), total, np.nan)
    result = np.reshape(total, (*points.shape, *c.shape[2:]))
    return result


# --- interpolators that SciPy made --------------------------------------------------------------


def _of_object(spline: Any) -> Piecewise:
    """Return an interpolator from outside, its nodes and coefficients read like any arrays."""
    axis, extrapolate = (read_attribute(spline, name) for name in ("axis", "extrapolate"))
    if axis != 0:
        raise refuse("an interpolator along another axis than the first cannot be captured",
                     "Move the axis with np.moveaxis")
    x: Any = as_tracer(read_attribute(spline, "x"))
    c: Any = as_tracer(read_attribute(spline, "c"))
    count = spline.c.shape[0]
    if current().captured.is_from_outside(spline):  # it may get others
        count = need_int(c.dims[0], "the degree of an interpolator")
    return Piecewise(x, _with_rows(c, count), extrapolate)


def _with_rows(c: np.ndarray, count: int) -> Any:
    return np.stack([c[k] for k in range(count)])


def _method(name: str) -> Callable[..., Any]:
    def capture(spline: object, *args: object, **kwargs: Any) -> Any:
        return getattr(_of_object(spline), name)(*args, **kwargs)

    return capture


OBJECTS["scipy.interpolate.PPoly"] = {
    name: _method(name) for name in ("__call__", "integrate")}
