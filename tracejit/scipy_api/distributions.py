"""The methods of the distributions of `scipy.stats`: densities, distribution functions, quantiles.

Location and scale, numbers outside the support and wrong parameters are treated here for all
distributions: NaN for wrong parameters, zero (or minus infinity) outside. `densities.py` and
`tails.py` have the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.densities import CONTINUOUS, DISCRETE
from tracejit.scipy_api.formulas import Distribution, Formula
from tracejit.scipy_api.power_factors import exponential_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.equations import cast

__all__ = ["Parameters", "bound", "double", "method_of", "valid_of"]


class Parameters(NamedTuple):
    """The parameters of a method, besides the numbers that it is of."""

    shapes: list[Any]
    loc: Any
    scale: Any


def bound(name: str, d: Distribution, args: tuple[object, ...],
           kwargs: dict[str, object]) -> Parameters:
    """Return the shapes, the location and the scale of a call, in double precision."""
    names = (*d.shapes, "loc", *(() if d.discrete else ("scale",)))
    if len(args) > len(names):
        raise TypeError(f"_parse_args() takes from {len(d.shapes) + 1} to {len(names) + 1} "
                        f"positional arguments but {len(args) + 1} were given")
    given = dict(zip(names, args, strict=False))
    for key, x in kwargs.items():
        if key not in names:
            raise TypeError(f"_parse_args() got an unexpected keyword argument {key!r}")
        if key in given:
            raise TypeError(f"_parse_args() got multiple values for argument {key!r}")
        given[key] = x
    missing = [s for s in d.shapes if s not in given]
    if missing:
        raise TypeError(f"_parse_args() missing {len(missing)} required positional argument(s): "
                        f"{missing}")
    wide = {key: double(x) for key, x in given.items()}
    shapes = [wide[s] for s in d.shapes]
    return Parameters(shapes, wide.get("loc", 0.0), wide.get("scale", 1.0))


def double(x: object) -> Any:
    """Return an operand in double precision."""
    x = as_tracer(x)
    if x.dtype.kind == "c":
        raise refuse("a distribution of complex numbers cannot be captured", "Use the parts",
                     "TJ206")
    return cast(x, np.float64)


def valid_of(d: Distribution, args: Parameters) -> Any:
    """Return whether a distribution's parameters are right."""
    return np.logical_and(d.valid(*args.shapes), args.scale > 0.0)


def _density(d: Distribution, x: object, args: Parameters, what: str, formula: Formula,
             outside: float) -> Any:
    """Return a density or its logarithm, what it is outside, NaN for wrong parameters."""
    shapes, loc, scale = args
    given = double(x)
    y = (given - loc) if d.discrete else (given - loc) / scale
    low, high = d.low(*shapes), d.high(*shapes)
    inside = (y > low) & (y < high) if d.nothing_at_ends else (y >= low) & (y <= high)
    if d.discrete:
        inside = inside & (y == np.floor(y))
    valid = valid_of(d, args)
    safe = d.safe(valid, shapes)
    within = formula(np.where(inside & np.logical_not(np.isinf(y)), y, d.inner), *safe)
    if not d.discrete:
        size = np.where(valid, scale, 1.0)
        within = within - np.log(size) if what == "logpdf" else within / size
    result = np.where(inside & np.logical_not(np.isinf(y)), within, outside)
    return np.where(valid & (y == y), result, np.nan)[()]


_AT_ENDS = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-np.inf, 0.0), "logsf": (0.0, -np.inf)}


def _distribution(d: Distribution, what: str, x: object, args: Parameters) -> Any:
    """Return a distribution function, or its logarithm, with its values at both ends."""
    shapes, loc, scale = args
    given: Any = double(x)
    y = np.floor(given - loc) if d.discrete else (given - loc) / scale
    low, high = d.low(*shapes), d.high(*shapes)
    inside = ((y >= low) & (y > -np.inf) if d.discrete else (y > low)) & (y < high)
    valid = valid_of(d, args)
    safe = d.safe(valid, shapes)
    within = d.formulas[what](np.where(inside, y, d.inner), *safe)
    before, behind = _AT_ENDS[what]
    outside = np.where(y < high, before, np.where(y >= high, behind, min(before, behind)))
    result = np.where(inside, within, outside)
    if d.discrete and what == "logcdf":
        valid = valid | (y >= high)  # as SciPy has it, for any parameters
    return np.where(valid & (y == y), result, np.nan)[()]


def _moved(end: np.ndarray | float, loc: np.ndarray, scale: np.ndarray) -> Any:
    """Return where a standard distribution ends once it is moved: at infinity nothing moves it."""
    if isinstance(end, float):
        return end if math.isinf(end) else end * scale + loc
    far = np.isinf(end)
    return np.where(far, end, np.where(far, 0.0, end) * scale + loc)


def _quantile(d: Distribution, what: str, q: object, args: Parameters) -> Any:
    shapes, loc, scale = args
    p = double(q)
    inside = (p > 0.0) & (p < 1.0)
    valid = np.logical_and(valid_of(d, args), loc == loc)
    safe = d.safe(valid, shapes)
    within = d.formulas[what](np.where(inside, p, 0.5), *safe) * scale + loc
    low = d.low(*shapes) - (1.0 if d.discrete else 0.0)
    ends = [_moved(end, loc, scale) for end in (low, d.high(*shapes))]
    first, last = ends if what == "ppf" else ends[::-1]
    result = np.where(p == 0.0, first, np.where(p == 1.0, last, np.nan))
    return np.where(valid, np.where(inside, within, result), np.nan)[()]


def method_of(name: str, d: Distribution, what: str) -> Callable[..., Any]:
    """Return the capture of a method of a distribution."""
    first = "q" if what in ("ppf", "isf") else "k" if d.discrete else "x"

    def capture(*own: object, **kwargs: object) -> Any:
        if not own and first not in kwargs:
            raise TypeError(f"{what}() missing 1 required positional argument: {first!r}")
        x, *args = own or (kwargs.pop(first),)
        given = bound(name, d, tuple(args), kwargs)
        if what in ("logpdf", "logpmf"):
            return _density(d, x, given, what, d.formulas[what], -np.inf)
        if what in ("pdf", "pmf"):
            return _density(d, x, given, what, d.formulas.get(what) or exponential_of(
                d.formulas[f"log{what}"]), 0.0)
        if what in ("ppf", "isf"):
            return _quantile(d, what, x, given)
        return _distribution(d, what, x, given)

    return capture


for _name, _d in {**CONTINUOUS, **DISCRETE}.items():
    _methods = {*_d.formulas, *({"pmf"} if _d.discrete else {"pdf"})}
    DISTRIBUTIONS[_name] = {_what: method_of(_name, _d, _what) for _what in _methods}
