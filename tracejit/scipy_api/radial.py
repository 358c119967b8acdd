"""Interpolation by radial functions: `scipy.interpolate.RBFInterpolator`.

The interpolant is a sum of a function of the distances from all data points, and a polynomial; what
they count solves a linear system (G. Fasshauer, Meshfree Approximation Methods with MATLAB, 2007).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.piecewise import real_points
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _length(s: np.ndarray) -> Any:
    """Return square roots; 0 has the derivative 0 here."""
    here = s > 0.0
    return np.where(here, np.sqrt(np.where(here, s, 1.0)), 0.0)


def _plate(s: np.ndarray) -> Any:
    here = s > 0.0
    return np.where(here, 0.5 * s * np.log(np.where(here, s, 1.0)), 0.0)


KERNELS: dict[str, tuple[Callable[[Any], Any], int, bool]] = {
    "linear": (lambda s: -_length(s), 0, True),
    "thin_plate_spline": (_plate, 1, True),
    "cubic": (lambda s: s * _length(s), 1, True),
    "quintic": (lambda s: -s * s * _length(s), 2, True),
    "multiquadric": (lambda s: -np.sqrt(s + 1.0), 0, False),
    "inverse_multiquadric": (lambda s: 1.0 / np.sqrt(s + 1.0), -1, False),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1, False),
    "gaussian": (lambda s: np.exp(-s), -1, False)}
"""By name: the function of squares of distances, the least degree of the polynomial that goes with
it, and whether the shape parameter only scales it."""


class Radial(Made):
    """An `RBFInterpolator`.

    y, kernel, epsilon -- data points, the name of the function and its shape parameter
    powers -- of the coordinates, for each term of the polynomial
    shift, scale -- of coordinates in the polynomial
    coefficients -- of the function at each point, then of the polynomial; columns of values
    shape, dtype -- of a value
    """

    has_captured_operators = True
    scipys = "scipy.interpolate.RBFInterpolator"

    def __init__(self, y: Tracer, kernel: str, epsilon: float,
                 powers: list[tuple[int, ...]]) -> None:
        self.y: Any = y
        self.kernel, self.epsilon, self.powers = kernel, epsilon, powers
        self.shift: Any = None
        self.scale: Any = None
        self.coefficients: Any = None
        self.shape: tuple[Any, ...] = ()
        self.dtype: Any = np.float64

    def matrix(self, x: np.ndarray | Tracer) -> Any:
        """Return what each coefficient counts at points."""
        apart = self.epsilon * x[:, None] - self.epsilon * self.y[None]
        return KERNELS[self.kernel][0](np.sum(apart * apart, axis=-1))

    def monomials(self, x: np.ndarray | Tracer) -> Any:
        """Return the terms of the polynomial at points."""
        at = (x - self.shift) / self.scale
        columns = []
        for powers in self.powers:
            term: Any = 1.0 + 0.0 * at[:, 0]
            for k, power in enumerate(powers):
                for _ in range(power):
                    term = term * at[:, k]
            columns.append(term)
        return np.stack(columns, axis=1)

    def __call__(self, x: object) -> Any:
        """Return the values at points."""
        points = cast(as_tracer(real_points(x)), np.float64)
        if points.ndim != 2:
            raise ValueError("`x` must be a 2-dimensional array.")
        if not same_dim(points.dims[1], self.y.dims[1]):
            raise ValueError("Expected the second axis of `x` to have length "
                             f"{self.y.shape[1]}.")
        rows = self.matrix(points)
        if self.powers:
            rows = np.concatenate([rows, self.monomials(points)], axis=1)
        found: Any = rows @ self.coefficients
        if self.dtype == np.complex128:
            found = found[:, 0::2] + 1j * found[:, 1::2]
        return np.reshape(found, (points.shape[0], *self.shape))


def _solved(made: Radial, d: np.ndarray, smoothing: np.ndarray | Tracer) -> Any:
    """Return the coefficients: the system has zeros where polynomials meet polynomials."""
    y = made.y
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    made.shift, half = 0.5 * (high + low), 0.5 * (high - low)
    made.scale = np.where(half == 0.0, 1.0, half)
    i = iota(y.dims[0])
    diagonal: Any = np.where(i[:, None] == i[None, :], smoothing, 0.0)
    left = made.matrix(y) + diagonal
    if not made.powers:
        return np.linalg.solve(left, d)
    side, count = made.monomials(y), len(made.powers)
    below = np.concatenate([np.transpose(side), np.zeros((count, count))], axis=1)
    whole = np.concatenate([np.concatenate([left, side], axis=1), below])
    right = np.concatenate([d, np.zeros((count, d.shape[1]))])
    return np.linalg.solve(whole, right)


def _powers(count: int, degree: int) -> list[tuple[int, ...]]:
    """Return the powers of all monomials up to a degree, the lower ones first."""
    found = []
    for total in range(degree + 1):
        for chosen in itertools.combinations_with_replacement(range(count), total):
            found.append(tuple(chosen.count(k) for k in range(count)))
    return found


def rbf_interpolator(y: object, d: object, neighbors: None = None, smoothing: object = 0.0,
                     kernel: str = "thin_plate_spline", epsilon: object = None,
                     degree: object = None) -> Radial:
    """Return the interpolator of traced data."""
    if neighbors is not None:
        raise refuse("scipy.interpolate.RBFInterpolator with neighbors= cannot be captured",
                     "Leave it out: all points are neighbours then", "TJ203")
    places: Any = cast(as_tracer(real_points(y)), np.float64)
    values: Any = as_inexact(d)
    if places.ndim != 2:
        raise ValueError("`y` must be a 2-dimensional array.")
    if values.dtype.kind == "c":
        raise refuse("scipy.interpolate.RBFInterpolator of complex numbers cannot be captured",
                     "Interpolate the parts", "TJ206")
    if not same_dim(places.dims[0], values.dims[0]):
        raise ValueError(f"Expected the first axis of `d` to have length {places.shape[0]}.")
    of_finite("scipy.interpolate.RBFInterpolator", places, values)
    name = kernel.lower()
    if name not in KERNELS:
        raise ValueError(f"`kernel` must be one of {set(KERNELS)}.")
    _, least, scales = KERNELS[name]
    if epsilon is None and not scales:
        raise ValueError("`epsilon` must be specified if `kernel` is not one of "
                         f"{ {key for key, row in KERNELS.items() if row[2]} }.")
    order = max(least, 0) if degree is None else int(np.asarray(degree))
    if order < least or order < -1:
        raise refuse("a polynomial of a degree that SciPy warns of, or does not allow, cannot be "
                     "captured", f"Say degree={max(least, 0)} or more", "TJ213")
    count = need_int(places.dims[1], "how many coordinates points have")
    shape: Any = 1.0 if epsilon is None else epsilon
    made = Radial(places, name, shape, _powers(count, order))
    made.shape = values.shape[1:]
    columns: Any = np.reshape(cast(as_tracer(values), np.float64), (places.shape[0], -1))
    made.coefficients = _solved(made, columns, as_tracer(smoothing))
    return made


def _of_object(x: object) -> Radial:
    """Return an interpolator that SciPy made, its arrays read like any others."""
    if read_attribute(x, "neighbors") is not None:
        raise refuse("an RBFInterpolator with neighbors= cannot be captured",
                     "Leave it out: all points are neighbours then", "TJ203")
    rows = known_array(as_tracer(read_attribute(x, "powers")), "the powers of a polynomial")
    assert rows is not None
    powers = [tuple(map(int, row)) for row in rows]
    made = Radial(as_tracer(read_attribute(x, "y")), read_attribute(x, "kernel"),
                  read_attribute(x, "epsilon"), powers)
    made.shift, made.scale, made.coefficients = (
        as_tracer(read_attribute(x, name)) for name in ("_shift", "_scale", "_coeffs"))
    made.shape, made.dtype = read_attribute(x, "d_shape"), np.dtype(read_attribute(x, "d_dtype"))
    return made


OBJECTS["scipy.interpolate.RBFInterpolator"] = {
    "__call__": lambda x, points: _of_object(x)(points)}
captures_of_some("scipy.interpolate", {"RBFInterpolator": rbf_interpolator}, "iuf")
