"""B-splines of `scipy.interpolate` at traced points: `BSpline`, `UnivariateSpline`, `splev`.

Values are computed by the triangle of C. de Boor, On calculating with B-splines (1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import require_items
from tracejit.numpy_api.made import Made
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS, scipy_captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["beside", "own_attribute", "parts_of_spline", "spline_values"]

_MODES: dict[object, int] = {0: 0, "extrapolate": 0, 1: 1, "zeros": 1, 2: 2, "raise": 2, 3: 3,
                             "const": 3}


def beside(h: Tracer, like: Tracer) -> Any:
    """Return a vector with as many axes behind it as an array has behind its first one."""
    return np.reshape(h, (-1, *(1 for _ in like.dims[1:])))


def own_attribute(x: object, name: str) -> Any:
    """Return an attribute of one of SciPy's objects, which newer versions keep behind a property.
    """
    hidden = f"_{name}"
    return read_attribute(x, hidden if hidden in vars(x) else name)


def spline_values(t: Tracer, c: Tracer, k: int, x: Tracer, nu: int = 0) -> Any:
    """Return a spline's values at points of any shape; outside, its end pieces go on.

    t  -- knots
    c  -- coefficients along the first axis, perhaps with more behind the last that counts
    k  -- the degree
    nu -- which derivative
    """
    count = t.shape[0] - k - 1
    if c.shape[0] < count:
        raise ValueError("Knots, coefficients and degree are inconsistent.")
    degree, knots, factors = k, t, c[:count]
    for _ in range(min(nu, k + 1)):
        knots, factors, degree = _differentiated(knots, factors, degree)
    points: Any = np.reshape(x, (-1,))
    if degree < 0:
        found = 0.0 * beside(points, c) * c[0]
        return np.reshape(found, (*x.shape, *c.shape[1:]))
    j = np.clip(np.searchsorted(knots, points, side="right") - 1, degree, factors.shape[0] - 1)
    row = [factors[j - degree + i] for i in range(degree + 1)]
    for r in range(1, degree + 1):
        for i in range(degree, r - 1, -1):
            left, right = knots[j + (i - degree)], knots[j + (i + 1 - r)]
            weight = beside((points - left) / (right - left), row[i])
            row[i] = (1.0 - weight) * row[i - 1] + weight * row[i]
    return np.reshape(row[degree], (*x.shape, *c.shape[1:]))


def _differentiated(t: Tracer, c: Tracer, k: int) -> tuple[Any, Any, int]:
    """Return knots, coefficients and degree of the derivative."""
    if k == 0:
        return t, c, -1
    width = t[k + 1:-1] - t[1:-k - 1]
    empty = width == 0.0
    steps: Any = np.where(empty, 0.0, float(k) / np.where(empty, 1.0, width))
    return t[1:-1], (c[1:] - c[:-1]) * beside(steps, c), k - 1


def _points(x: object) -> Any:
    given: Any = as_tracer(x)
    if given.dtype.kind == "c":
        raise refuse("a spline at complex points, or of complex knots", "Give real ones, x.real",
                     "TJ206")
    return given if given.dtype == np.float64 else cast(given, np.float64)


class Spline(Made):
    """A B-spline; it takes the arguments of `BSpline`."""

    has_captured_operators = True
    scipys = "scipy.interpolate.BSpline"

    def __init__(self, t: object, c: object, k: object, extrapolate: object = True,
                 axis: int = 0) -> None:
        if axis != 0:
            raise refuse("a BSpline along another axis than the first cannot be captured",
                         "Move the axis with np.moveaxis", "TJ203")
        self.t, self.c, self.k = _points(t), as_tracer(c), int(np.asarray(k))
        self.extrapolate = extrapolate

    def __getattr__(self, name: str) -> Any:
        if name not in ("insert_knot", "to_power_basis", "design_matrix"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a BSpline of traced knots or coefficients",
                     "Call it, with nu= for a derivative", "TJ209")

    def __call__(self, x: object, nu: int = 0, extrapolate: object = None) -> Any:
        """Return the spline's values at points, or its derivative's of order `nu`."""
        points, beyond = _points(x), self.extrapolate if extrapolate is None else extrapolate
        first, last = self.t[self.k], self.t[self.t.shape[0] - self.k - 1]
        if beyond == "periodic":
            points = first + (points - first) % (last - first)
        found = spline_values(self.t, self.c, self.k, points, nu)
        if beyond:
            return found
        outside = np.logical_or(points < first, points > last)
        return np.where(_behind(outside, self.c), np.nan, found)


    @property
    def tck(self) -> tuple[Any, Any, int]:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def derivative(self, nu: int = 1) -> Spline:
        """Return a derivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, k = self.t, self.k
        c: Any = self.c[:t.shape[0] - k - 1]
        for _ in range(nu):
            t, c, k = _differentiated(t, c, k)
            if k < 0:
                raise ValueError(f"Order of derivative ({nu}) must be <= order of spline")
        return Spline(t, c, k, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> Spline:
        """Return an antiderivative, 0 where the spline begins."""
        if nu < 0:
            return self.derivative(-nu)
        t, k = self.t, self.k
        c: Any = self.c[:t.shape[0] - k - 1]
        for _ in range(nu):
            width: Any = t[k + 1:] - t[:-k - 1]
            sums = np.cumsum(c * beside(width, c), axis=0) / (k + 1.0)
            c = np.concatenate([0.0 * sums[:1], sums])
            t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
        return Spline(t, c, k, self.extrapolate)

    def integrate(self, a: object, b: object, extrapolate: object = None) -> Any:
        """Return the integral between two points."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if beyond == "periodic":
            raise refuse("the integral of a periodic BSpline", "Integrate period by period",
                         "TJ203")
        whole = self.antiderivative()
        low, high = _points(a), _points(b)
        if not beyond:
            first, last = self.t[self.k], self.t[self.t.shape[0] - self.k - 1]
            low, high = np.clip(low, first, last), np.clip(high, first, last)
        return whole(high, 0, True) - whole(low, 0, True)


def bspline(t: object, c: object, k: object, extrapolate: object = True, axis: int = 0) -> Spline:
    """Return a B-spline of traced knots or coefficients."""
    made = Spline(t, c, k, extrapolate, axis)
    require(np.all(made.t[1:] >= made.t[:-1]), ValueError,
            "Knots must be in a non-decreasing order.")
    return made


def _from_outside(spline: object) -> Spline:
    """Return a spline that SciPy made, its knots and coefficients read like any arrays."""
    t, c = (own_attribute(spline, name) for name in ("t", "c"))
    k, beyond, axis = (read_attribute(spline, name) for name in ("k", "extrapolate", "axis"))
    return Spline(t, c, k, beyond, axis)


def _of_bspline(spline: object, x: object, nu: int = 0, extrapolate: object = None) -> Any:
    """Carry out `BSpline.__call__`."""
    return _from_outside(spline)(x, nu, extrapolate)


def _integral_of(spline: object, a: object, b: object, extrapolate: object = None) -> Any:
    """Carry out `BSpline.integrate`."""
    return _from_outside(spline).integrate(a, b, extrapolate)


def _behind(x: Tracer, c: Tracer) -> Any:
    return np.reshape(x, (*x.shape, *(1 for _ in c.dims[1:])))


def _fitted(tck: Sequence[object], x: object, nu: int, ext: object) -> Any:
    """Return FITPACK's values at points; `ext` is one of four modes for points outside."""
    knots, factors, degree = tck
    if isinstance(factors, (list, tuple)):
        raise refuse("splev of a curve in several dimensions cannot be captured",
                     "Evaluate the coordinates one by one", "TJ207")
    if ext not in _MODES:
        raise ValueError(f"Unknown extrapolation mode {ext}.")
    t, c, points = as_tracer(knots), as_tracer(factors), _points(x)
    k, mode = int(np.asarray(degree)), _MODES[ext]
    first, last = t[k], t[t.shape[0] - k - 1]
    outside = np.logical_or(points < first, points > last)
    if mode == 2:
        require(np.logical_not(np.any(outside)), ValueError, "Found x value not in the domain")
    if mode == 3 and nu == 0:  # as FITPACK, which extrapolates derivatives
        points = np.clip(points, first, last)
    found = spline_values(t, c, k, points, nu)
    return np.where(outside, 0.0, found) if mode == 1 else found


def _of_univariate(spline: object, x: object, nu: int = 0, ext: object = None) -> Any:
    """Carry out `UnivariateSpline.__call__`."""
    mode = read_attribute(spline, "ext") if ext is None else ext
    return _fitted(read_attribute(spline, "_eval_args"), x, nu, mode)


def splev(x: object, tck: object, der: int = 0, ext: object = 0) -> Any:
    """Return the values of a B-spline, or of a derivative."""
    if isinstance(tck, (tuple, list)):
        for d in as_tracer(x).dims:
            require_items(d, ValueError, "Invalid input data")
        return _fitted(tck, x, der, ext)
    if isinstance(tck, Spline):
        return tck(x, der, True)
    if ext != 0:
        raise ValueError(f"Extrapolation mode {ext} is not supported by BSpline.")
    return _of_bspline(tck, x, der, True)


# --- FITPACK's functions of splines ---------------------------------------------------------------


def parts_of_spline(tck: object) -> tuple[Any, Any, Any]:
    """Return the knots, coefficients and degree of a tuple, or of one of SciPy's objects."""
    if isinstance(tck, (tuple, list)):
        t, c, k = tck
        return t, c, k
    return own_attribute(tck, "t"), own_attribute(tck, "c"), read_attribute(tck, "k")


def _as_spline(tck: object) -> Spline:
    """Return a spline of a tuple, or of one of SciPy's objects."""
    if isinstance(tck, Spline):
        return tck
    if not isinstance(tck, (tuple, list)):
        return _from_outside(tck)
    t, c, k = parts_of_spline(tck)
    if isinstance(c, (list, tuple)):
        raise refuse("a curve of several dimensions as a B-spline cannot be captured",
                     "Take the coordinates one by one", "TJ207")
    return Spline(t, c, k)


def _like(tck: object, made: Spline, behind: np.ndarray) -> Any:
    """Return a spline as the function was given one.

    behind -- what FITPACK's coefficients have as many of behind them as the degree, and one more
    """
    if not isinstance(tck, (tuple, list)):
        return made
    return made.t, np.concatenate([made.c, *[behind] * (made.k + 1)]), made.k


def splder(tck: object, n: int = 1) -> Any:
    """Return a derivative of a spline."""
    made = _as_spline(tck).derivative(n)
    return _like(tck, made, 0.0 * made.c[:1])


def splantider(tck: object, n: int = 1) -> Any:
    """Return an antiderivative of a spline, 0 where it begins."""
    made = _as_spline(tck).antiderivative(n)
    return _like(tck, made, made.c[-1:])


def splint(a: object, b: object, tck: object, full_output: int = 0) -> Any:
    """Return the integral of a spline between two points, which is 0 outside."""
    if full_output:
        raise refuse("splint with full_output= cannot be captured", "Leave it out", "TJ203")
    is_tuple = isinstance(tck, (tuple, list))
    made = _as_spline(tck)
    if not is_tuple:
        return made.integrate(a, b, False)
    return tracer_of(as_tracer(made.integrate(a, b, False)).value, weak=True)


def _integral_of_univariate(spline: object, a: object, b: object) -> Any:
    """Carry out `UnivariateSpline.integral`."""
    return splint(a, b, read_attribute(spline, "_eval_args"))


OBJECTS["scipy.interpolate.BSpline"] = {"__call__": _of_bspline, "integrate": _integral_of}
OBJECTS["scipy.interpolate.UnivariateSpline"] = {
    "__call__": _of_univariate, "integral": _integral_of_univariate}
scipy_captures("scipy.interpolate", {
    "splev": splev, "BSpline": bspline, "splder": splder, "splantider": splantider,
    "splint": splint})
