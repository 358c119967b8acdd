"""Lines, weights, products of roots and interpolations of `numpy.polynomial`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.dispatch import calling_back, captures
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.python_numbers import require_ours

__all__: list[str] = []

Function = Callable[..., Any]


def _line(name: str, first: Function, second: Function) -> Function:
    def capture(off: object, scl: object) -> Any:
        a, b = as_tracer(off), as_tracer(scl)
        require_ours(b != 0, NotCaptured, f"{name} of a slope of 0, which gives one coefficient, "
                     "cannot be captured")
        return np.stack([first(a, b), second(a, b)])

    return capture


_LINES: tuple[tuple[Any, Function, Function], ...] = (
    (polynomial.polyline, lambda a, b: a, lambda a, b: b),
    (chebyshev.chebline, lambda a, b: a, lambda a, b: b),
    (legendre.legline, lambda a, b: a, lambda a, b: b),
    (hermite.hermline, lambda a, b: a, lambda a, b: b / 2),
    (hermite_e.hermeline, lambda a, b: a, lambda a, b: b),
    (laguerre.lagline, lambda a, b: a + b, lambda a, b: -b))
for _function, _first, _second in _LINES:
    captures(_function)(_line(_function.__name__, _first, _second))


@captures(chebyshev.chebweight)
def chebweight(x: np.ndarray) -> Any:
    return 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x))


@captures(legendre.legweight)
def legweight(x: np.ndarray) -> Any:
    return x * 0.0 + 1.0


@captures(hermite.hermweight)
def hermweight(x: np.ndarray) -> Any:
    return np.exp(-(x ** 2))


@captures(hermite_e.hermeweight)
def hermeweight(x: np.ndarray) -> Any:
    return np.exp(-0.5 * x ** 2)


@captures(laguerre.lagweight)
def lagweight(x: np.ndarray) -> Any:
    return np.exp(-x)


@captures(polynomial.polyvalfromroots)
def polyvalfromroots(x: object, r: object, tensor: bool = True) -> Any:
    """Return the product of x less each root, along the first axis."""
    at, roots = as_tracer(x), as_tracer(r)
    roots = roots if len(roots.dims) else roots[None]
    if roots.dtype.kind in "?biu":
        roots = roots.astype(np.float64)
    if tensor:
        roots = roots[(..., *(None,) * len(at.dims))]
    elif len(at.dims) >= len(roots.dims):
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(at - roots, axis=0)


@captures(chebyshev.chebinterpolate)
@calling_back
def chebinterpolate(func: Function, deg: int, args: tuple[object, ...] = ()) -> Any:
    """Return the coefficients of the polynomial that a function's values at Chebyshev points are
    of."""
    points = chebyshev.chebpts1(deg + 1)
    values = ABOVE.call_function(func, (points, *args), {})
    found = np.dot(chebyshev.chebvander(points, deg).T, values)
    return found * np.where(np.arange(deg + 1) == 0, 1.0, 2.0) / (deg + 1)
