"""Splines and polynomials through traced points: `make_interp_spline`, `splrep` and others."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import require_finite
from tracejit.numpy_api.made import Made
from tracejit.numpy_api.plain_polynomials import Poly1d
from tracejit.scipy_api.bsplines import Spline, beside, spline_values
from tracejit.scipy_api.interpolators import doubles, of_slopes, pchip, require_all_finite
from tracejit.scipy_api.piecewise import real_points
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.equations import cast, dims_of, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import tracer_of

__all__ = ["make_interp_spline", "through"]


def _knots(x: np.ndarray, k: int) -> Any:
    """Return the knots of a spline through points, at most of which there is one."""
    inner = x if k % 2 else 0.5 * (x[1:] + x[:-1])
    cut = (k + 1) // 2 if k % 2 else k // 2
    inner = inner[cut:-cut] if cut else inner
    ends = [np.stack([e] * (k + 1)) for e in (x[0], x[-1])]
    return np.concatenate([ends[0], inner, ends[1]])


def through(x: np.ndarray, y: np.ndarray, k: int) -> Spline:
    """Return the spline of a degree through points: its coefficients solve a dense system."""
    t = _knots(x, k)
    i = iota(dims_of(x)[0])
    one: Any = cast(as_tracer(i[:, None] == i[None, :]), np.float64)
    matrix = spline_values(as_tracer(t), one, k, as_tracer(x))
    current().note("the coefficients of a spline are the solution of a dense system here",
                   "TJ707")
    columns = np.reshape(y, (x.shape[0], -1))
    return Spline(t, np.reshape(np.linalg.solve(matrix, columns), y.shape), k)


def _data(x: object, y: object, k: object, axis: int, name: str) -> tuple[Any, Any, int]:
    """Return points, values and degree, and raise SciPy's errors."""
    degree = operator.index(k)  # type: ignore[arg-type]
    places = doubles(x)
    values: Any = as_tracer(y)
    if values.dtype.kind == "c" or not (axis == 0 or len(values.dims) == 1):
        raise refuse(f"scipy.interpolate.{name} of complex numbers, or along another axis than the "
                     "first, cannot be captured", "Use the parts, and np.moveaxis", "TJ203")
    if degree < 1:
        raise refuse(f"scipy.interpolate.{name} of degree 0 cannot be captured",
                     "Use interp1d(kind='previous')", "TJ213")
    require(np.all(places[1:] > places[:-1]), ValueError, "Expect x to not have duplicates")
    values = doubles(values)
    return places, np.reshape(values, (places.shape[0], *values.shape[1:])), degree


def make_interp_spline(x: object, y: object, k: object = 3, t: None = None,
                       bc_type: object = None, axis: int = 0, check_finite: bool = True) -> Any:
    """Return the B-spline through points."""
    if t is not None or bc_type not in (None, "not-a-knot"):
        raise refuse("scipy.interpolate.make_interp_spline with t= or bc_type= cannot be captured",
                     "Use CubicSpline, which has bc_type=", "TJ203")
    places, values, degree = _data(x, y, k, axis, "make_interp_spline")
    if check_finite:
        for v in (places, values):
            require_finite(v)
    if degree == 1:
        return Spline(_knots(places, 1), values, 1)  # which shares the values, as SciPy's does
    return through(places, values, degree)


def splrep(x: object, y: object, w: None = None, xb: None = None, xe: None = None, k: object = 3,
           task: int = 0, s: object = None, t: None = None, full_output: int = 0, per: int = 0,
           quiet: int = 1) -> Any:
    """Return knots, coefficients and degree of the spline through points."""
    plain = all(v is None for v in (w, xb, xe, t)) and not (task or full_output or per)
    if not plain or (s is not None and not (isinstance(s, (int, float)) and s == 0)):
        raise refuse("scipy.interpolate.splrep with weights, knots or smoothing cannot be captured",
                     "Leave them out, or make the spline outside", "TJ203")
    made = through(*_data(x, y, k, 0, "splrep"))
    behind: Any = np.zeros(made.k + 1)
    return made.t, np.concatenate([made.c, behind]), made.k


class Interpolating(Made):
    """An `InterpolatedUnivariateSpline` of traced data, or a `UnivariateSpline`."""

    def __init__(self, spline: Spline, name: str = "UnivariateSpline") -> None:
        self.spline, self.scipys = spline, f"scipy.interpolate.{name}"

    def __getattr__(self, name: str) -> Any:
        if name not in ("roots", "get_residual", "set_smoothing_factor", "derivatives"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a spline of traced data cannot be captured",
                     "Call it, or use derivative, antiderivative and integral", "TJ209")

    def __call__(self, x: object, nu: int = 0, ext: object = None) -> Any:
        """Return the spline's values at points, or its derivative's of order `nu`."""
        if ext not in (None, 0, "extrapolate"):
            raise refuse("a spline of traced data with ext= cannot be captured",
                         "Use np.where, or np.clip the points", "TJ203")
        return self.spline(x, nu)

    def derivative(self, n: int = 1) -> Interpolating:
        """Return a derivative."""
        return Interpolating(self.spline.derivative(n))

    def antiderivative(self, n: int = 1) -> Interpolating:
        """Return an antiderivative."""
        return Interpolating(self.spline.antiderivative(n))

    def integral(self, a: object, b: object) -> Any:
        """Return the integral between two points, 0 outside of the data."""
        return tracer_of(as_tracer(self.spline.integrate(a, b, False)).value, weak=True)

    def get_coeffs(self) -> Any:
        """Return the coefficients."""
        return self.spline.c

    def get_knots(self) -> Any:
        """Return the knots inside, and the two ends."""
        k = self.spline.k
        return self.spline.t[k:self.spline.t.shape[0] - k]


def _univariate(name: str, smooth: bool) -> Callable[..., Any]:
    def capture(x: object, y: object, w: None = None, bbox: object = (None, None), k: object = 3,
                s: object = None, ext: object = 0, check_finite: bool = False) -> Any:
        exact = not smooth or (isinstance(s, (int, float)) and s == 0)
        if w is not None or list(bbox) != [None, None] or ext not in (0, "extrapolate") or (  # type: ignore[call-overload]
                not exact):
            raise refuse(f"scipy.interpolate.{name} of traced data with weights, bbox=, ext= or "
                         "smoothing cannot be captured", "Say s=0, or make the spline outside",
                         "TJ203")
        return Interpolating(through(*_data(x, y, k, 0, name)), "InterpolatedUnivariateSpline")

    return capture


def _interpolated(x: object, y: object, w: None = None, bbox: object = (None, None),
                  k: object = 3, ext: object = 0, check_finite: bool = False) -> Any:
    return _univariate("InterpolatedUnivariateSpline", False)(x, y, w, bbox, k, None, ext)


def hermite(x: object, y: object, dydx: object, axis: int = 0,
            extrapolate: bool | None = None) -> Any:
    """Return the cubic pieces through points with slopes."""
    places, values, _ = _data(x, y, 3, axis, "CubicHermiteSpline")
    require(np.greater(places.shape[0], 1), ValueError, "`x` must contain at least 2 elements.")
    slopes: Any = cast(as_tracer(dydx), np.float64)
    require_all_finite(x=places, y=values, dydx=slopes)
    return of_slopes(places, values, np.reshape(slopes, values.shape), extrapolate is not False,
                     "CubicHermiteSpline")


# --- one polynomial through all points ------------------------------------------------------------


class Newtons(Made):
    """The polynomial through points, by I. Newton's differences.

    c -- the differences; None of a BarycentricInterpolator, which reads its values at each call
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, count: int, name: str) -> None:
        self.scipys = f"scipy.interpolate.{name}"
        self.x, self.y, self.count = x, y, count
        self.c = None if name.startswith("Bary") else _differences(x, y.copy(), count)

    def __getattr__(self, name: str) -> Any:
        if name not in ("add_xi", "set_yi", "derivatives", "derivative"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a polynomial through traced points cannot be captured",
                     "Call it", "TJ209")

    def __call__(self, x: object) -> Any:
        """Return the values at points."""
        given = real_points(x)
        at: Any = np.reshape(given, (-1,))
        total: Any = 0.0
        c = _differences(self.x, self.y, self.count) if self.c is None else self.c
        for k in reversed(range(len(c))):
            behind = c[k]
            total = total * beside(at - self.x[k], as_tracer(behind)[None]) + behind
        shape = (*given.shape, *as_tracer(c[0]).shape)
        return np.reshape(np.broadcast_to(total, (at.shape[0], *shape[len(given.shape):])), shape)


def _differences(x: np.ndarray, y: np.ndarray, count: int) -> list[Any]:
    found, row = [y[0]], [y[k] for k in range(count)]
    for order in range(1, count):
        row = [(row[k + 1] - row[k]) / (x[k + order] - x[k]) for k in range(count - order)]
        found.append(row[0])
    return found


def newtons(xi: object, yi: object, axis: int = 0, name: str = "KroghInterpolator") -> Any:
    """Return the polynomial through points."""
    if yi is None or (axis != 0 and len(as_tracer(yi).dims) != 1):
        raise refuse("a polynomial through points that come later, or along another axis than the "
                     "first, cannot be captured", "Give the values, and use np.moveaxis", "TJ203")
    places, values = doubles(xi), doubles(yi)
    if not same_dim(places.dims[0], values.dims[0]):
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    of_finite(f"scipy.interpolate.{name}", places, values)
    count = need_int(places.dims[0], "how many points a polynomial goes through")
    return Newtons(places, values, count, name)


def lagrange(x: object, w: object) -> Poly1d:
    """Return the polynomial through points, as a `np.poly1d`.

    The product of all x - x_j is divided by each factor: the quotients, over their values at x_j,
    count the values there.
    """
    places, values = as_inexact(x), as_inexact(w)
    count = need_int(as_tracer(places).dims[0], "how many points a polynomial goes through")
    fewer = as_tracer(values).dims[0] - count
    if current().decide(fewer, "<", "how many values there are") is True:
        raise IndexError("there are fewer values than points")
    apart: Any = places[:, None] - places[None, :]
    same = np.eye(count, dtype=bool)
    factors = values[:count] / np.prod(np.where(same, 1.0, apart), axis=1)
    whole: Any = np.poly(places)
    quotient: Any = 1.0 + 0.0 * places
    rows = [quotient]
    for k in range(1, count):
        quotient = whole[k] + places * quotient
        rows.append(quotient)
    return Poly1d(as_tracer(np.stack([np.sum(row * factors) for row in rows])))


def _at_once(make: Callable[..., object], slopes: bool) -> Callable[..., Any]:
    def capture(xi: object, yi: object, x: object, der: object = 0, axis: int = 0) -> Any:
        found: Any = make(xi, yi, axis)
        if slopes:
            return found(x, operator.index(der))  # type: ignore[arg-type]
        if der != 0:
            raise refuse("derivatives of a polynomial through points cannot be captured",
                         "Use tracejit.grad of its values", "TJ203")
        return found(x)

    return capture


captures_of_some("scipy.interpolate", {
    "make_interp_spline": make_interp_spline, "CubicHermiteSpline": hermite,
    "pchip_interpolate": _at_once(pchip, True)}, "biuf")
captures_of_some("scipy.interpolate", {"lagrange": lagrange}, "iuf", 8)
captures_of_some("scipy.interpolate", {  # SciPy's differences of small ints wrap around
    "splrep": splrep, "InterpolatedUnivariateSpline": _interpolated,
    "UnivariateSpline": _univariate("UnivariateSpline", True),
    "BarycentricInterpolator": lambda xi, yi=None, axis=0: newtons(
        xi, yi, axis, "BarycentricInterpolator"),
    "KroghInterpolator": lambda xi, yi, axis=0: newtons(xi, yi, axis),
    "krogh_interpolate": _at_once(newtons, False),
    "barycentric_interpolate": lambda xi, yi, x, axis=0: newtons(xi, yi, axis)(x)}, "iuf", 4)
