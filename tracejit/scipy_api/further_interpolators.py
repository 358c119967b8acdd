"""Further interpolators of `scipy.interpolate`: quotients, radial functions, products of pieces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.made import Made
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.spline_fits import basis_of
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import as_operand, cast, dims_of
from tracejit.trace.values.python_numbers import require, require_ours

__all__: list[str] = []

_POINTS = "how many points an interpolator goes through"


def _doubles(x: object) -> Any:
    return cast(as_inexact(x), np.float64)


class Quotient(Made):
    """M. S. Floater's and K. Hormann's quotient of polynomials through points."""

    scipys = "scipy.interpolate.FloaterHormannInterpolator"

    def __init__(self, points: object, values: object, *, d: int = 3, axis: int = 0) -> None:
        if axis != 0:
            raise refuse("FloaterHormannInterpolator along another axis than the first cannot be "
                         "captured", "Use np.moveaxis", "TJ203")
        z, self.values = _doubles(points), _doubles(values)
        count, width = known_length(z, _POINTS), operator.index(d)
        if not 0 <= width < count:
            raise ValueError("`d` must satisfy 0 <= d < n")
        require_ours(np.all(z[1:] > z[:-1]), NotCaptured, "FloaterHormannInterpolator of points "
                     "that do not rise cannot be captured: sort them")
        weights = []
        for k in range(count):
            total: Any = 0.0
            for i in range(max(k - width, 0), min(k + 1, count - width)):
                others = [j for j in range(i, i + width + 1) if j != k]
                total = total + 1.0 / np.prod(np.abs(z[k] - z[np.array(others, int)]))
            weights.append(total * (-1.0) ** (k - width))
        self.points, self.weights = z, np.stack(weights)

    def __getattr__(self, name: str) -> Any:
        if name not in ("poles", "residues", "roots"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an interpolator of traced data cannot be captured", "Call it",
                     "TJ209")

    def __call__(self, z: object) -> Any:
        """Return the quotient's values."""
        at: Any = _doubles(z)
        flat = np.reshape(at, (-1,))
        # multiplied out, so that the quotient has all its derivatives at the points, too
        away = (flat[:, None] - self.points) * (4.0 / (self.points[-1] - self.points[0]))
        same = np.eye(known_length(self.points, _POINTS), dtype=bool)
        shares = np.prod(np.where(same, 1.0, away[:, None, :]), axis=2) * self.weights
        columns = np.reshape(self.values, (self.values.shape[0], -1))
        found = (shares @ columns) / np.sum(shares, axis=1)[:, None]
        return np.reshape(found, (*at.shape, *self.values.shape[1:]))


_FUNCTIONS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "multiquadric": lambda s, e: np.sqrt(s / e ** 2 + 1),
    "inverse_multiquadric": lambda s, e: 1.0 / np.sqrt(s / e ** 2 + 1),
    "gaussian": lambda s, e: np.exp(-s / e ** 2), "cubic": lambda s, e: _power(s, 1.5),
    "linear": lambda s, e: _power(s, 0.5), "quintic": lambda s, e: _power(s, 2.5),
    "thin_plate": lambda s, e: np.where(s == 0.0, 0.0, 0.5 * s * np.log(np.where(
        s == 0.0, 1.0, s)))}
_ALIKE = {"inverse": "inverse_multiquadric", "inverse multiquadric": "inverse_multiquadric",
          "thin-plate": "thin_plate"}


def _power(s: np.ndarray, exponent: float) -> Any:
    return np.where(s == 0.0, 0.0, np.where(s == 0.0, 1.0, s) ** exponent)


class OldRadial(Made):
    """The interpolator `Rbf`, of functions of distances."""

    scipys = "scipy.interpolate.Rbf"

    def __init__(self, *args: object, function: object = "multiquadric", epsilon: object = None,
                 smooth: object = 0.0, norm: object = "euclidean", mode: str = "1-D") -> None:
        name = str(function).lower() if isinstance(function, str) else ""
        name = _ALIKE.get(name, name)
        if norm != "euclidean" or name not in _FUNCTIONS or mode not in ("1-D", "N-D"):
            raise refuse("scipy.interpolate.Rbf with norm=, or a function= that is no name, cannot "
                         "be captured", "Use RBFInterpolator", "TJ203")
        self.places = np.stack([np.ravel(_doubles(x)) for x in args[:-1]])
        given: Any = _doubles(args[-1])
        given = np.ravel(given) if mode == "1-D" else given
        edges = np.max(self.places, axis=1) - np.min(self.places, axis=1)
        count = as_operand(dims_of(as_tracer(self.places))[1])
        if epsilon is None:
            require_ours(np.all(edges > 0), NotCaptured, "scipy.interpolate.Rbf of points that "
                         "agree in a coordinate cannot be captured without epsilon=")
            epsilon = (np.prod(edges) / count) ** (1.0 / len(args[:-1]))
        self.name, self.width = name, epsilon
        own = self._function(self.places) - np.eye(count) * smooth  # type: ignore[operator]
        self.nodes = np.linalg.solve(own, given)

    def __getattr__(self, name: str) -> Any:
        if name not in ("A", "xi", "di", "epsilon", "N"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an Rbf of traced data cannot be captured", "Call it", "TJ209")

    def _function(self, x: np.ndarray) -> Any:
        away = x[:, :, None] - self.places[:, None, :]
        return _FUNCTIONS[self.name](np.sum(away * away, axis=0), self.width)  # type: ignore[arg-type]

    def __call__(self, *args: object) -> Any:
        """Return the values at points, an array for each coordinate."""
        given: list[Any] = [_doubles(x) for x in args]
        flat = np.stack([np.ravel(x) for x in given])
        found = self._function(flat) @ self.nodes
        return np.reshape(found, (*given[0].shape, *self.nodes.shape[1:]))


class SplineProduct(Made):
    """A spline of several numbers: sums of products of B-splines."""

    scipys = "scipy.interpolate.NdBSpline"

    def __init__(self, t: Sequence[object], c: object, k: object, *,
                 extrapolate: bool | None = None) -> None:
        self.knots: list[Any] = [_doubles(v) for v in t]
        self.c: Any = _doubles(c)
        degrees: Any = [k] * len(self.knots) if isinstance(k, (int, np.integer)) else k
        self.degrees = [operator.index(d) for d in degrees]
        self.extrapolate = True if extrapolate is None else bool(extrapolate)

    def __getattr__(self, name: str) -> Any:
        if name not in ("derivative", "design_matrix"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an NdBSpline of traced data cannot be captured",
                     "Call it, with nu= for a derivative", "TJ209")

    def __call__(self, xi: object, *, nu: object = None, extrapolate: object = None) -> Any:
        """Return the values at points, or those of a derivative."""
        at: Any = _doubles(xi)
        rank = len(self.knots)
        orders: Any = [0] * rank if nu is None else nu
        flat = np.reshape(at, (-1, rank))
        found: Any = self.c[None]
        inside: Any = True
        for d, (t, k) in enumerate(zip(self.knots, self.degrees, strict=True)):
            x = flat[:, d]
            inside = inside & (x >= t[k]) & (x <= t[-k - 1])
            weights = basis_of(t, k, x, operator.index(orders[d]))
            behind = (1,) * (len(dims_of(found)) - 2)
            found = np.sum(np.reshape(weights, (*weights.shape, *behind)) * found, axis=1)
        beyond = self.extrapolate if extrapolate is None else extrapolate
        result = np.reshape(found, (*at.shape[:-1], *self.c.shape[rank:]))
        if beyond:
            return result
        inside = np.reshape(inside, (*at.shape[:-1], *(1,) * (self.c.ndim - rank)))
        return np.where(inside, result, np.nan)


class PiecesProduct(Made):
    """A polynomial of several numbers in each box of a grid."""

    scipys = "scipy.interpolate.NdPPoly"

    def __init__(self, c: object, x: Sequence[object], extrapolate: bool | None = None) -> None:
        self.c: Any = _doubles(c)
        self.x: list[Any] = [_doubles(v) for v in x]
        self.extrapolate = True if extrapolate is None else bool(extrapolate)
        for v in self.x:
            require(np.all(v[1:] > v[:-1]), ValueError, "x-coordinates are not in increasing order")

    def __getattr__(self, name: str) -> Any:
        if name not in ("derivative", "antiderivative", "integrate", "integrate_1d",
                        "construct_fast"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of an NdPPoly of traced data cannot be captured", "Call it",
                     "TJ209")

    def __call__(self, x: object, nu: object = None, extrapolate: object = None) -> Any:
        """Return the values at points."""
        if nu is not None and any(operator.index(n) for n in nu):  # type: ignore[attr-defined]
            raise refuse("an NdPPoly of traced data with nu= cannot be captured",
                         "Use tracejit.grad of its value", "TJ203")
        at: Any = _doubles(x)
        rank = len(self.x)
        flat = np.reshape(at, (-1, rank))
        boxes: list[Any] = []
        inside: Any = True
        for d, v in enumerate(self.x):
            place = np.clip(np.searchsorted(v, flat[:, d], side="right") - 1, 0, v.shape[0] - 2)
            boxes.append(place)
            inside = inside & (flat[:, d] >= v[0]) & (flat[:, d] <= v[-1])
        found = self.c[(slice(None),) * rank + tuple(boxes)]
        for d, (v, place) in enumerate(zip(self.x, boxes, strict=True)):
            step = flat[:, d] - v[place]
            total: Any = 0.0
            for k in range(known_length(found, "the degree of a polynomial")):
                part = found[k]
                shape = (1,) * (rank - 1 - d) + (-1,) + (1,) * (self.c.ndim - 2 * rank)
                total = total * np.reshape(step, shape) + part
            found = total
        result = np.reshape(found, (*at.shape[:-1], *self.c.shape[2 * rank:]))
        if self.extrapolate if extrapolate is None else extrapolate:
            return result
        inside = np.reshape(inside, (*at.shape[:-1], *(1,) * (self.c.ndim - 2 * rank)))
        return np.where(inside, result, np.nan)


captures_of_finite("scipy.interpolate", {
    "FloaterHormannInterpolator": Quotient, "Rbf": OldRadial, "NdBSpline": SplineProduct,
    "NdPPoly": PiecesProduct}, "iuf")
