"""The values of series of polynomials, as `np.polynomial` has them: Clenshaw's recurrence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []

Step = Callable[..., Any]


def _coefficients(x: object, c: object, tensor: object) -> tuple[Any, Any, int]:
    """Return points, coefficients that go with all of them, and how many coefficients there are."""
    if isinstance(tensor, TracedOperand):
        raise refuse("tensor= that is traced cannot be captured", "Pass True or False", "TJ205")
    at: Any = as_tracer(x)
    given: Any = np.atleast_1d(as_inexact(c))
    count = need_int(dims_of(given)[0], "how many coefficients a series has")
    if not count:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if tensor and at.dims:
        given = np.reshape(given, (*given.shape, *(1 for _ in at.dims)))
    return (at if at.dims else x), given, count  # a Python int has no dtype


def _series(less: Step, more: Step, last: Step) -> Callable[..., Any]:
    """Return the capture of a series.

    less, more -- of the coefficient above, the degree and the points: what both steps take of it,
                  in NumPy's order, as points may have fewer digits than coefficients
    last       -- of the points: the polynomial of degree 1
    """

    def capture(x: object, c: object, tensor: object = True) -> Any:
        at, given, count = _coefficients(x, c, tensor)
        if count == 1:
            return given[0] + 0 * last(at)
        low, high = given[-2], given[-1]
        for k in range(3, count + 1):
            degree = count - k + 1
            low, high = given[-k] - less(high, degree), low + more(high, degree, at)
        return low + high * last(at)

    return capture


def polyval(x: object, c: object, tensor: object = True) -> Any:
    """Return a polynomial's values by Horner's rule, the lowest coefficient first."""
    at, given, count = _coefficients(x, c, tensor)
    total = given[-1] + at * 0
    for k in range(2, count + 1):
        total = given[-k] + total * at
    return total


captures(np.polynomial.polynomial.polyval)(polyval)
captures(np.polynomial.chebyshev.chebval)(_series(
    lambda c, n: c, lambda c, n, x: c * (2 * x), lambda x: x))
captures(np.polynomial.legendre.legval)(_series(
    lambda c, n: c * (n / (n + 1)), lambda c, n, x: c * x * ((2 * n + 1) / (n + 1)), lambda x: x))
captures(np.polynomial.hermite_e.hermeval)(_series(
    lambda c, n: c * n, lambda c, n, x: c * x, lambda x: x))
captures(np.polynomial.hermite.hermval)(_series(
    lambda c, n: c * (2 * n), lambda c, n, x: c * (2 * x), lambda x: 2 * x))
captures(np.polynomial.laguerre.lagval)(_series(
    lambda c, n: c * n / (n + 1), lambda c, n, x: c * ((2 * n + 1) - x) / (n + 1),
    lambda x: 1 - x))
