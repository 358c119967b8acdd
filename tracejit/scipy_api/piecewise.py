"""Piecewise polynomials, as `scipy.interpolate` makes them: of traced data, or at traced points."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.creation import ascontiguousarray
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.bsplines import parts_of_spline, spline_values
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import OBJECTS, scipy_captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__ = ["FORMS", "PieceForm", "Piecewise", "beside", "count_rows", "method", "pieces",
           "real_points"]


class Piecewise(Made):
    """A piecewise polynomial of traced coefficients.

    x -- where pieces begin and end
    c -- coefficients, the highest power first: powers times pieces times axes of the values
    extrapolate -- whether the end pieces go on outside, or "periodic"
    name -- of the class that it passes for
    axis -- where the axis of points goes among those of the values
    ascends -- whether it is known that x ascends
    """

    has_captured_operators = True
    basis = "power"

    def __init__(self, x: np.ndarray, c: np.ndarray, extrapolate: object,
                 name: str = "PPoly", axis: int = 0, ascends: bool = True) -> None:
        self.x, self.c, self.extrapolate, self.axis = x, c, extrapolate, axis
        self.name, self.ascends, self.scipys = name, ascends, f"scipy.interpolate.{name}"

    def __getattr__(self, name: str) -> Any:
        if name not in ("extend", "roots", "solve"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an interpolator of traced data cannot be captured",
                     "Call it, or use derivative, antiderivative and integrate", "TJ209")

    def _like(self, c: np.ndarray, extrapolate: object) -> Piecewise:
        return type(self)(self.x, c, extrapolate, self.name, self.axis, self.ascends)

    def __call__(self, x: object, nu: object = 0, extrapolate: object = None) -> Any:
        """Return the values, or a derivative."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        points = real_points(x)
        at: Any = np.reshape(points, (-1,))
        if isinstance(beyond, str) and beyond == "periodic":
            at, beyond = self.x[0] + (at - self.x[0]) % (self.x[-1] - self.x[0]), False
        form, order = FORMS[self.basis], operator.index(nu)  # type: ignore[arg-type]
        if order < 0:
            raise ValueError("Order of derivative cannot be negative")
        c = self.c
        for _ in range(order):
            c = form.derivative(self.x, c)
        found = _values(self.x, c, at, bool(beyond), form.value, self.ascends)
        whole: Any = np.reshape(found, (*points.shape, *c.shape[2:]))
        rank = points.ndim
        return np.moveaxis(whole, tuple(range(rank)),
                           tuple(range(self.axis, self.axis + rank))) if self.axis else whole

    def derivative(self, nu: int = 1) -> Piecewise:
        """Return the derivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        for _ in range(nu):
            c = FORMS[self.basis].derivative(self.x, c)
        return self._like(c, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> Piecewise:
        """Return an antiderivative, 0 where the first piece begins."""
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            c = FORMS[self.basis].antiderivative(self.x, c)
        return self._like(c, False if self.extrapolate == "periodic" else self.extrapolate)

    def integrate(self, a: object, b: object, extrapolate: object = None) -> Any:
        """Return the integral between two points."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        whole = self.antiderivative()
        whole.axis = 0
        if not (isinstance(beyond, str) and beyond == "periodic"):
            return whole(b, 0, beyond) - whole(a, 0, beyond)
        start, period = self.x[0], self.x[-1] - self.x[0]
        total = whole(self.x[-1], 0, True)

        def until(x: np.ndarray) -> Any:
            return np.floor((x - start) / period) * total + whole(
                start + (x - start) % period, 0, True)

        return until(real_points(b)) - until(real_points(a))


Value = Callable[..., Any]


class PieceForm(NamedTuple):
    """What is done with the coefficients of pieces in one basis.

    value -- of the coefficients of each point's piece, the distance from its start and its width
    derivative, antiderivative -- of where pieces begin and all coefficients
    """

    value: Value
    derivative: Callable[..., Any]
    antiderivative: Callable[..., Any]


FORMS: dict[str, PieceForm] = {}
"""The bases of pieces."""


def count_rows(c: object) -> int:
    """Return the first size of coefficients, one more than the degree, as an int."""
    return need_int(as_tracer(c).dims[0], "the degree of an interpolator")


def _derivative(x: np.ndarray, c: np.ndarray) -> Any:
    """Return the coefficients of the derivative."""
    degree = count_rows(c) - 1
    if not degree:
        return 0.0 * c[:1]
    return np.stack([c[k] * float(degree - k) for k in range(degree)])


def _antiderivative(x: np.ndarray, c: np.ndarray) -> Any:
    degree = count_rows(c)
    rows = [c[k] / float(degree - k) for k in range(degree)]
    h = beside(np.diff(x), c[0])
    total: Any = 0.0
    for row in rows:
        total = (total + row) * h
    before = np.concatenate([0.0 * total[:1], np.cumsum(total, axis=0)[:-1]])
    return np.stack([*rows, before])


def _horner(rows: list[np.ndarray], t: np.ndarray, h: np.ndarray) -> Any:
    total: Any = 0.0
    for row in rows:
        total = total * t + row
    return total


FORMS["power"] = PieceForm(_horner, _derivative, _antiderivative)


def real_points(x: object) -> Any:
    """Return an array of floats, and refuse complex numbers."""
    given = as_inexact(x)
    if given.dtype.kind == "c":
        raise refuse("interpolation at complex points, or on a complex grid", "Give real ones",
                     "TJ206")
    return given


def beside(h: np.ndarray, y: Any) -> Any:
    """Return a vector with as many axes behind it as an array has."""
    return np.reshape(h, (h.shape[0], *(1 for _ in y.dims[1:])))


def _values(x: np.ndarray, c: np.ndarray, at: np.ndarray, extrapolate: bool,
            value: Value, ascends: bool) -> Any:
    """Return the values at a vector of points."""
    places, flat = (x, at)
    if not ascends:
        sign = np.where(x[-1] >= x[0], 1.0, -1.0)
        places, flat = sign * x, sign * at
    k = np.clip(np.searchsorted(places, flat, side="right") - 1, 0, c.shape[1] - 1)
    rows = [c[row][k] for row in range(count_rows(c))]
    left = x[k]
    total = value(rows, beside(at - left, rows[0]), beside(x[k + 1] - left, rows[0]))
    if not extrapolate:
        inside = (flat >= places[0]) & (flat <= places[-1])
        total = np.where(beside(inside, total), total, np.nan)
    return total


# --- pieces of traced coefficients ---------------------------------------------------------------


def pieces(c: object, x: object, extrapolate: object = None, axis: int = 0,
           name: str = "PPoly", cls: type[Piecewise] = Piecewise) -> Piecewise:
    """Return the piecewise polynomial of coefficients, and raise SciPy's errors."""
    given: Any = as_tracer(c)
    factors: Any = ascontiguousarray(
        given, dtype=np.complex128 if given.dtype.kind == "c" else np.float64)
    places: Any = ascontiguousarray(as_tracer(x), dtype=np.float64)
    if factors.ndim < 2:
        raise ValueError("Coefficients array must be at least 2-dimensional.")
    if not 0 <= axis < factors.ndim - 1:
        raise ValueError(f"axis={axis} must be between 0 and {factors.ndim - 1}")
    if axis:
        factors = np.moveaxis(np.moveaxis(factors, axis + 1, 0), axis + 1, 0).copy()
    if places.ndim != 1:
        raise ValueError("x must be 1-dimensional")
    if current().decide(places.dims[0] - 2, "<", "how many breakpoints there are") is not False:
        raise ValueError("at least 2 breakpoints are needed")
    if not count_rows(factors):
        raise ValueError("polynomial must be at least of order 0")
    if not same_dim(factors.dims[1], places.dims[0] - 1):
        raise ValueError("number of coefficients != len(x)-1")
    steps: Any = np.diff(places)
    require(np.all(steps >= 0) | np.all(steps <= 0), ValueError,
            "`x` must be strictly increasing or decreasing.")
    kept = extrapolate if extrapolate == "periodic" else extrapolate is None or bool(extrapolate)
    return cls(places, factors, kept, name, axis, False)


def from_spline(tck: object, extrapolate: object = None) -> Piecewise:
    """Return the pieces of a B-spline, between all of its knots."""
    is_tuple = isinstance(tck, (tuple, list))
    t, c, k = parts_of_spline(tck)
    beyond = extrapolate if is_tuple or extrapolate is not None else (
        read_attribute(tck, "extrapolate"))
    knots, factors, degree = as_tracer(t), as_tracer(c), int(np.asarray(k))
    starts: Any = knots[:-1]
    rows = [spline_values(knots, factors, degree, starts, m) / float(math.factorial(m))
            for m in range(degree, -1, -1)]
    return Piecewise(real_points(t), np.stack(rows), True if beyond is None else beyond)


# --- interpolators that SciPy made --------------------------------------------------------------


def of_object(spline: object, cls: type[Piecewise] = Piecewise) -> Piecewise:
    """Return an interpolator from outside, its nodes and coefficients read like any arrays."""
    axis, extrapolate = (read_attribute(spline, name) for name in ("axis", "extrapolate"))
    x: Any = as_tracer(read_attribute(spline, "x"))
    c: Any = as_tracer(read_attribute(spline, "c"))
    count = count_rows(c)
    ascends = type(spline).__name__ not in ("PPoly", "BPoly")
    rows: Any = np.stack([c[k] for k in range(count)])
    return cls(x, rows, extrapolate, cls.basis, axis, ascends)


def method(name: str, cls: type[Piecewise] = Piecewise) -> Callable[..., Any]:
    """Return the capture of a method of an interpolator from outside."""
    def capture(spline: object, *args: object, **kwargs: Any) -> Any:
        return getattr(of_object(spline, cls), name)(*args, **kwargs)

    return capture


OBJECTS["scipy.interpolate.PPoly"] = {
    name: method(name) for name in ("__call__", "integrate")}
captures_of_some("scipy.interpolate", {
    "PPoly": lambda c, x, extrapolate=None, axis=0: pieces(c, x, extrapolate, axis)})
scipy_captures("scipy.interpolate.PPoly", {"from_spline": from_spline})
