"""Piecewise polynomials in Bernstein's basis: `scipy.interpolate.BPoly`."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.piecewise import (
    FORMS,
    PieceForm,
    Piecewise,
    beside,
    count_rows,
    method,
    pieces,
    real_points,
)
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class Bernstein(Piecewise):
    """A piecewise polynomial whose coefficients count Bernstein's polynomials of each piece."""

    has_captured_operators = True
    basis = "Bernstein"

    def __call__(self, x: object, nu: object = 0, extrapolate: object = None) -> Any:
        """Return the values, or a derivative; of one of a higher order SciPy makes an error."""
        if operator.index(nu) > count_rows(self.c):  # type: ignore[arg-type]
            raise ValueError("negative dimensions are not allowed")
        return super().__call__(x, nu, extrapolate)


def _value(rows: list[np.ndarray], t: np.ndarray, h: np.ndarray) -> Any:
    """Return the sum of c_k binomial(n, k) s^k (1 - s)^(n - k)."""
    degree, s = len(rows) - 1, t / h
    other = 1.0 - s
    powers, backs = [1.0 + 0.0 * s], [1.0 + 0.0 * s]
    for _ in range(degree):
        powers.append(powers[-1] * s)
        backs.append(backs[-1] * other)
    total: Any = 0.0
    for k, row in enumerate(rows):
        total = total + row * (float(math.comb(degree, k)) * powers[k] * backs[degree - k])
    return total


def _derivative(x: np.ndarray, c: np.ndarray) -> Any:
    degree = count_rows(c) - 1
    if not degree:
        return 0.0 * c[:1]
    h = beside(np.diff(x), c[0])
    return np.stack([float(degree) * (c[k + 1] - c[k]) / h for k in range(degree)])


def _antiderivative(x: np.ndarray, c: np.ndarray) -> Any:
    count = count_rows(c)
    h = beside(np.diff(x), c[0])
    rows: list[Any] = [0.0 * c[0]]
    for k in range(count):
        rows.append(rows[-1] + c[k] * h / float(count))
    last = rows[-1]
    before = np.concatenate([0.0 * last[:1], np.cumsum(last, axis=0)[:-1]])
    return np.stack([row + before for row in rows])


FORMS["Bernstein"] = PieceForm(_value, _derivative, _antiderivative)


def bpoly(c: object, x: object, extrapolate: object = None, axis: int = 0) -> Piecewise:
    """Return the pieces of coefficients in Bernstein's basis."""
    return pieces(c, x, extrapolate, axis, "BPoly", Bernstein)


def from_derivatives(xi: object, yi: object, orders: None = None,
                     extrapolate: object = None) -> Piecewise:
    """Return the pieces that have values and derivatives at either end, as many at all points.

    The differences of order q of the first coefficients of a piece, and of the last, are its
    derivatives there, times the width to the power q and by n! / (n - q)!.
    """
    if orders is not None:
        raise refuse("scipy.interpolate.BPoly.from_derivatives with orders= cannot be captured",
                     "Leave it out", "TJ203")
    places = real_points(xi)
    values: Any = as_tracer(yi)
    if not same_dim(places.dims[0], values.dims[0]):
        raise ValueError("xi and yi need to have the same length")
    if values.ndim < 2:
        raise ValueError("Using a 1-D array for y? Please .reshape(-1, 1).")
    require(np.all(places[1:] > places[:1]), ValueError,
            "x coordinates are not in increasing order")
    count = need_int(values.dims[1], "how many derivatives an interpolator has")
    degree, width = 2 * count - 1, beside(np.diff(places), values[:, 0])
    first: list[Any] = []
    last: list[Any] = []
    for q in range(count):
        factor = width ** q * (math.factorial(degree - q) / math.factorial(degree))
        low, high = values[:-1, q] * factor, values[1:, q] * factor
        for j in range(q):
            low = low - (-1.0) ** (q - j) * math.comb(q, j) * first[j]
            high = high - (-1.0) ** j * math.comb(q, j) * last[j]
        first.append(low)
        last.append((-1.0) ** q * high)
    return bpoly(np.stack([*first, *last[::-1]]), places, extrapolate)


OBJECTS["scipy.interpolate.BPoly"] = {
    name: method(name, Bernstein) for name in ("__call__", "integrate")}
captures_of_some("scipy.interpolate", {"BPoly": bpoly})
captures_of_some("scipy.interpolate.BPoly", {"from_derivatives": from_derivatives}, "iufc")
