"""Agreement of arrays, whole or within tolerances: `isclose`, `allclose`, `array_equal`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import TracejitError
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.python.caught import rest_on_sizes
from tracejit.trace.values.tracer import tracer_of

__all__ = ["isclose", "allclose", "array_equal"]


@captures(np.isclose)
def isclose(a: object, b: object, rtol: float = 1e-5, atol: float = 1e-8,
            equal_nan: bool = False) -> Any:
    """Return where two arrays agree within tolerances."""
    a, b = as_tracer(a), as_inexact(b)
    near = np.absolute(a - b) <= atol + rtol * np.absolute(b)
    result = np.logical_or(np.logical_and(near, np.isfinite(b)), a == b)
    if equal_nan:
        result = np.logical_or(result, np.logical_and(np.isnan(a), np.isnan(b)))
    return result


@captures(np.allclose)
def allclose(a: object, b: object, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> Any:
    """Return whether two arrays agree within tolerances everywhere."""
    agree: Any = np.all(isclose(a, b, rtol, atol, equal_nan))
    return tracer_of(agree.value, weak=True)


@captures(np.array_equal)
def array_equal(a1: object, a2: object, equal_nan: bool = False) -> Any:
    """Return whether two arrays have one shape and the same elements."""
    try:
        a1, a2 = as_tracer(a1), as_tracer(a2)
    except (TypeError, ValueError) as e:  # NumPy, too, says that an operand differs if no array
        if isinstance(e, TracejitError):
            raise
        rest_on_sizes(e)
        return False
    if len(a1.dims) != len(a2.dims):
        return False
    for a, b in zip(a1.dims, a2.dims, strict=True):
        same = current().decide(a - b, "==", "whether two arrays have one size")
        if same is None:
            raise refuse("numpy.array_equal of arrays as long as data says",
                         "Compare their lengths first, then np.all(a == b)", "TJ212")
        if not same:
            return False
    equal = a1 == a2
    if equal_nan:
        equal = np.logical_or(equal, np.logical_and(a1 != a1, a2 != a2))
    agree: Any = np.all(equal)
    return tracer_of(agree.value, weak=True)
