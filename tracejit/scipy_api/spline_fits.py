"""Splines of `scipy.interpolate` fitted by least squares, their derivatives and more knots."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.plain_polynomials import Poly1d
from tracejit.scipy_api.bivariate import Bivariate
from tracejit.scipy_api.bsplines import Spline, beside, parts_of_spline, spline_values
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.spline_making import Interpolating
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.python_numbers import require

__all__ = ["basis_of"]


def _row(x: object) -> Any:
    return cast(as_inexact(x), np.float64)


def basis_of(t: np.ndarray, k: int, x: np.ndarray, nu: int = 0) -> Any:
    """Return the values of all B-splines, or of their derivatives, a row for each point."""
    i: Any = iota(dims_of(as_tracer(t))[0])[:-k - 1]
    one = cast(as_tracer(i[:, None] == i[None, :]), np.float64)
    return spline_values(as_tracer(t), one, k, as_tracer(x), nu)


def _least_squares(matrix: np.ndarray, y: np.ndarray) -> Any:
    """Return the numbers whose products are nearest to y, for each of its columns."""
    current().note("the coefficients of a spline are the solution of a dense system here",
                   "TJ707")
    q, r = np.linalg.qr(matrix)
    columns = np.reshape(y, (y.shape[0], -1))
    found: Any = np.linalg.solve(r, np.transpose(q) @ columns)
    return np.reshape(found, (found.shape[0], *y.shape[1:]))


def _fitted(x: object, y: object, t: object, k: int, w: object) -> Spline:
    places, values, knots = _row(x), _row(y), _row(t)
    weights: Any = 1.0 + 0.0 * places if w is None else _row(w)
    require(np.all(knots[1:] >= knots[:-1]), ValueError,
            "Expect t to be a 1D strictly increasing sequence.")
    require(np.all(places[1:] >= places[:-1]), ValueError,
            "Expect x to be a 1D non-decreasing sequence.")
    require(np.all((places >= knots[k]) & (places <= knots[-k - 1])), ValueError,
            "Out of bounds w/ x.")
    c = _least_squares(weights[:, None] * basis_of(knots, k, places),
                       beside(weights, as_tracer(values)) * values)
    return Spline(knots, c, k)


def make_lsq_spline(x: object, y: object, t: object, k: int = 3, w: object = None, axis: int = 0,
                    check_finite: bool = True, *, method: str = "qr") -> Spline:
    """Return the spline with knots that is nearest to points."""
    if axis != 0 or method not in ("qr", "norm-eq"):
        raise refuse("scipy.interpolate.make_lsq_spline along another axis than the first cannot "
                     "be captured", "Use np.moveaxis", "TJ203")
    return _fitted(x, y, t, operator.index(k), w)


def lsq_univariate(x: object, y: object, t: object, w: object = None,
                   bbox: object = (None, None), k: int = 3, ext: object = 0,
                   check_finite: bool = False) -> Interpolating:
    """Return the same of inner knots."""
    if list(bbox) != [None, None] or ext != 0:  # type: ignore[call-overload]
        raise refuse("scipy.interpolate.LSQUnivariateSpline with bbox= or ext= cannot be captured",
                     "Leave them out", "TJ203")
    places, degree = _row(x), operator.index(k)
    ends = [np.stack([e] * (degree + 1)) for e in (places[0], places[-1])]
    return Interpolating(_fitted(places, y, np.concatenate([ends[0], _row(t), ends[1]]), degree, w),
                         "LSQUnivariateSpline")


def make_smoothing_spline(x: object, y: object, w: object = None, lam: object = None, *,
                          axis: int = 0) -> Spline:
    """Return the cubic spline that is near to points and bends little, of which `lam` says how."""
    if lam is None or axis != 0:
        raise refuse("scipy.interpolate.make_smoothing_spline without lam=, or along another axis "
                     "than the first, cannot be captured",
                     "Pass lam=: without it a search for a minimum finds one", "TJ203")
    places, values = _row(x), _row(y)
    require(np.all(places[1:] > places[:-1]), ValueError,
            "``x`` should be an ascending array")
    if known_length(places, "how many points a spline goes by") < 5:
        raise ValueError("``x`` and ``y`` length must be at least 5")
    amount: Any = as_inexact(lam)
    require(amount >= 0, ValueError, "Regularization parameter should be non-negative")
    weights: Any = 1.0 + 0.0 * places if w is None else _row(w)
    t = np.concatenate([np.stack([places[0]] * 3), places, np.stack([places[-1]] * 3)])
    width = places[1:] - places[:-1]
    middle, away = 0.5 * (places[1:] + places[:-1]), width / math.sqrt(12.0)
    inner = np.concatenate([middle - away, middle + away])  # C. F. Gauss's places of two points
    parts = np.sqrt(amount * 0.5 * np.concatenate([width, width]))
    bends = parts[:, None] * basis_of(t, 3, inner, 2)
    roots = np.sqrt(weights)
    matrix = np.concatenate([roots[:, None] * basis_of(t, 3, places), bends])
    near = beside(roots, as_tracer(values)) * values
    none = np.zeros((2 * (places.shape[0] - 1), *values.shape[1:]))
    return Spline(t, _least_squares(matrix, np.concatenate([near, none])), 3)


# --- FITPACK's functions of tuples ----------------------------------------------------------------


def spalde(x: object, tck: object) -> Any:
    """Return all derivatives of a spline at points: a vector for each."""
    t, c, k = parts_of_spline(tck)
    degree, at = int(np.asarray(k)), as_tracer(_row(x))
    found = np.stack([spline_values(as_tracer(_row(t)), as_tracer(_row(c)), degree, at, nu)
                      for nu in range(degree + 1)], axis=-1)
    if not at.dims:
        return found
    return [found[i] for i in range(known_length(at, "how many points there are"))]


def insert(x: object, tck: object, m: int = 1, per: int = 0) -> Any:
    """Return a spline with one more knot, or with m of them at the same place."""
    if per or not isinstance(tck, (tuple, list)):
        raise refuse("scipy.interpolate.insert with per=, or of an object, cannot be captured",
                     "Pass the tuple of knots, coefficients and degree", "TJ203")
    knots, factors, k = tck
    t, c, place, degree = _row(knots), _row(factors), as_inexact(x), int(np.asarray(k))
    c = c[:t.shape[0] - degree - 1]
    for _ in range(operator.index(m)):
        at = np.searchsorted(t, place, side="right") - 1
        i = iota(dims_of(as_tracer(c))[0])
        width = t[degree:-1] - t[:-degree - 1] if degree else 1.0 + 0.0 * c
        share = np.where(i <= at - degree, 1.0, np.where(
            i > at, 0.0, (place - t[:-degree - 1]) / np.where(width == 0, 1.0, width)))
        left, right = np.concatenate([share, np.zeros(1)]), np.concatenate([c, c[-1:]])
        c = left * right + (1.0 - left) * np.concatenate([c[:1], c])
        j = iota(dims_of(as_tracer(t))[0] + 1)
        t = np.where(j <= at, np.concatenate([t, t[-1:]]), np.where(
            j == at + 1, place, np.concatenate([t[:1], t])))
    return t, np.concatenate([c, np.zeros(degree + 1)]), degree


def bisplev(x: object, y: object, tck: tuple[object, ...], dx: int = 0, dy: int = 0) -> Any:
    """Return a spline of two numbers on a grid."""
    tx, ty, c, kx, ky = tck
    at: Any = np.atleast_1d(as_inexact(x))
    across: Any = np.atleast_1d(as_inexact(y))
    for v in (at, across):
        require(np.all(v[1:] >= v[:-1]), ValueError, "Invalid input data")
    made = Bivariate((_row(tx), _row(ty), _row(c)), (
        int(np.asarray(kx)), int(np.asarray(ky))))
    found = made(at, across, dx, dy, True)
    sizes = [known_length(v, "how many points a grid has") for v in (at, across)]
    return found if sizes[0] > 1 else found[0] if sizes[1] > 1 else found[0, 0]


def pade(an: object, m: int, n: int | None = None) -> tuple[Poly1d, Poly1d]:
    """Return the quotient of two polynomials that has a series."""
    a: Any = _row(an)
    count, low = known_length(a, "how many terms a series has"), operator.index(m)
    top = count - 1 - low if n is None else operator.index(n)
    if top < 0:
        raise ValueError("Order of q <m> must be smaller than len(an)-1.")
    if top + low > count - 1:
        raise ValueError("Order of q+p <m+n> must be smaller than len(an).")
    size = top + low + 1
    a = a[:size]
    place = np.arange(size)[:, None] - 1 - np.arange(low)
    behind = np.where(place >= 0, -a[np.clip(place, 0, size - 1)], 0.0)
    found: Any = np.linalg.solve(np.concatenate([np.eye(size, top + 1), behind], axis=1), a)
    q = np.concatenate([np.ones(1), found[top + 1:]])
    return Poly1d(found[:top + 1][::-1]), Poly1d(q[::-1])


captures_of_finite("scipy.interpolate", {
    "make_lsq_spline": make_lsq_spline, "LSQUnivariateSpline": lsq_univariate,
    "make_smoothing_spline": make_smoothing_spline, "spalde": spalde, "insert": insert,
    "bisplev": bisplev, "pade": pade}, "iuf")
