"""Fits of distributions to data that have a closed form: the normal, exponential and uniform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import scalar_of

__all__: list[str] = []


def _fixed(name: str, given: dict[str, object]) -> tuple[Any, Any]:
    """Return the location and the scale that are given, None for what is to be fitted."""
    loc, scale = given.pop("floc", None), given.pop("fscale", None)
    method = given.pop("method", "mle")
    for key in ("loc", "scale", "optimizer"):
        given.pop(key, None)
    if given:
        raise TypeError(f"Unknown arguments: {given}.")
    if str(method).lower() != "mle":
        raise refuse(f"scipy.stats.{name}.fit by another method than the largest likelihood cannot "
                     "be captured", "Leave out method=", "TJ203")
    if loc is not None and scale is not None:
        raise ValueError("All parameters fixed. There is nothing to optimize.")
    return loc, scale


def _data(data: object) -> Any:
    x = as_tracer(data)
    if x.dtype.kind == "c":
        raise refuse("a fit to complex numbers cannot be captured", "Use the parts", "TJ206")
    if x.dtype.kind == "f":
        require(np.all(np.isfinite(x)), ValueError,
                "The data contains non-finite values.")
    return x


def _as_float(x: object) -> Any:
    """Return a number as a float of Python."""
    return scalar_of(cast(as_tracer(x), np.float64).value, weak=True)


def _invalid(name: str, low: object, high: object) -> str:
    return (f"Invalid values in `data`.  Maximum likelihood estimation with {name!r} requires "
            f"that {low} < (x - loc)/scale  < {high} for each x in `data`.")


def _fit_norm(data: object, **kwds: object) -> Any:
    """Return the mean, and the root of the mean square around the location."""
    loc, scale = _fixed("norm", kwds)
    x = _data(data)
    centre: Any = np.mean(x) if loc is None else loc
    return centre, np.sqrt(np.mean((x - centre) ** 2)) if scale is None else scale


def _fit_expon(data: object, *args: object, **kwds: object) -> Any:
    """Return the least number, and how far the mean is above the location."""
    if args:
        raise TypeError("Too many arguments.")
    loc, scale = _fixed("expon", kwds)
    x = _data(data)
    first: Any = np.min(x)
    start = first if loc is None else loc
    if loc is not None:
        require(first >= loc, ValueError, _invalid("expon", "the location", "inf"))
    return _as_float(start), _as_float(np.mean(x) - start if scale is None else scale)


def _fit_uniform(data: object, *args: object, **kwds: object) -> Any:
    """Return the least number and how wide the data are, unless one of them is given."""
    if args:
        raise TypeError("Too many arguments.")
    loc, scale = _fixed("uniform", kwds)
    x = _data(data)
    first, last = np.min(x), np.max(x)
    if scale is not None:
        width: Any = last - first
        require(width <= scale, ValueError, "Invalid values in `data`.  Maximum likelihood "
                "estimation with the uniform distribution and fixed scale requires that "
                "np.ptp(data) <= fscale.")
        return _as_float(first - 0.5 * (scale - width)), _as_float(scale)
    start: Any = first if loc is None else loc
    if loc is not None:
        require(first >= loc, ValueError, _invalid("uniform", "the location", "the largest one"))
    return _as_float(start), _as_float(last - start)


_FITS: dict[str, Callable[..., Any]] = {
    "norm": _fit_norm, "expon": _fit_expon, "uniform": _fit_uniform}
for _name, _fit in _FITS.items():
    DISTRIBUTIONS[_name]["fit"] = _fit
