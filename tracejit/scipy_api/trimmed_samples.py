"""What is left of samples within limits or between shares, and which numbers are the commonest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.samples import only_propagating, rows, size
from tracejit.scipy_api.taking import captures_of_some, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class ModeResult(NamedTuple):
    """The result of `mode`."""

    mode: Any
    count: Any


# --- ends within limits ---------------------------------------------------------------------------


def _end(name: str, a: object, limit: object, axis: object, inclusive: object, nan_policy: str,
         keepdims: object) -> Any:
    """Return the least number above a limit, or the greatest one below."""
    only_propagating(name, nan_policy)
    least = name == "tmin"
    given: Any = as_tracer(a)
    if keepdims:
        raise refuse(f"scipy.stats.{name} with keepdims= cannot be captured", "Leave it out",
                     "TJ203")
    x = rows(given, axis)
    if limit is None:
        return (np.min if least else np.max)(x, axis=-1)[()]
    if given.dtype.kind != "f":
        raise refuse(f"scipy.stats.{name} of ints with a limit cannot be captured",
                     "Convert them with .astype(float)", "TJ206")
    bound: Any = cast(as_tracer(limit), x.dtype)
    if bound.dims:
        raise refuse(f"scipy.stats.{name} with several limits cannot be captured", "Use a loop",
                     "TJ207")
    inside = (x >= bound if inclusive else x > bound) if least else (
        x <= bound if inclusive else x < bound)
    missing = np.isnan(x)
    require(np.any(inside | missing), ValueError, "No array values within given limits")
    far = np.inf if least else -np.inf
    found = (np.min if least else np.max)(np.where(inside | missing, x, far), axis=-1)
    none = np.logical_not(np.any(inside | missing, axis=-1))
    require(np.logical_not(np.any(none) & np.any(missing)), ValueError,
            "No array values within given limits")
    return np.where(none, np.nan, found).astype(x.dtype)[()]


def tmin(a: object, lowerlimit: object = None, axis: object = 0, inclusive: object = True,
         nan_policy: str = "propagate", *, keepdims: object = False) -> Any:
    """Return the least number above a limit."""
    return _end("tmin", a, lowerlimit, axis, inclusive, nan_policy, keepdims)


def tmax(a: object, upperlimit: object = None, axis: object = 0, inclusive: object = True,
         nan_policy: str = "propagate", *, keepdims: object = False) -> Any:
    """Return the greatest number below a limit."""
    return _end("tmax", a, upperlimit, axis, inclusive, nan_policy, keepdims)


# --- shares of sorted samples ---------------------------------------------------------------------


def _cut(name: str, a: object, share: object, axis: object) -> tuple[Any, int, int, int]:
    """Return an array, its axis, the size along it, and how many numbers a share of these are."""
    x: Any = as_tracer(a)
    given: Any = np.reshape(x, (-1,)) if axis is None else x
    along = 0 if axis is None else normalize_axis(axis, len(dims_of(given)))
    n = need_int(dims_of(given)[along], "the size of a sample that is trimmed")
    return given, along, n, int(constant_of(share, f"scipy.stats.{name}") * n)


def _between(x: np.ndarray, axis: int, low: int, high: int) -> Any:
    moved: Any = np.moveaxis(np.sort(x, axis=axis), axis, 0)
    return np.moveaxis(moved[low:high], 0, axis)


def trim1(a: object, proportiontocut: object, tail: str = "right", axis: object = 0) -> Any:
    """Return a sample, sorted, without a share of its greatest or least numbers."""
    x, along, n, cut = _cut("trim1", a, proportiontocut, axis)
    if cut >= n:
        raise refuse("scipy.stats.trim1 of all numbers cannot be captured", "Leave some", "TJ213")
    if tail.lower() not in ("left", "right"):
        raise refuse("scipy.stats.trim1 of another tail than 'left' and 'right' cannot be captured",
                     "Say one of them", "TJ203")
    return _between(x, along, *((0, n - cut) if tail.lower() == "right" else (cut, n)))


def trimboth(a: object, proportiontocut: object, axis: object = 0) -> Any:
    """Return a sample, sorted, without a share of its greatest and as many of its least numbers."""
    x, along, n, cut = _cut("trimboth", a, proportiontocut, axis)
    if cut >= n - cut:
        raise ValueError("Proportion too big.")
    return _between(x, along, cut, n - cut)


def scoreatpercentile(a: object, per: object, limit: object = (),
                      interpolation_method: str = "fraction", axis: object = None) -> Any:
    """Return the numbers at places in the order of a sample."""
    if interpolation_method not in ("fraction", "lower", "higher"):
        raise refuse("scipy.stats.scoreatpercentile with such an interpolation_method= cannot be "
                     "captured", "Say 'fraction', 'lower' or 'higher'", "TJ203")
    whole: Any = as_tracer(a)
    x: Any = np.sort(rows(whole, axis), axis=-1)
    count: Any = size(x)
    if limit:
        if axis is not None:
            raise refuse("scipy.stats.scoreatpercentile with limit= and axis= cannot be captured",
                         "Leave the axis out", "TJ203")
        ends: Any = limit
        low, high = ends
        inside = (x >= low) & (x <= high)
        count = np.sum(inside)
        require(count > 0, IndexError, "cannot do a non-empty take from an empty axes.")
        x = x[np.argsort(np.logical_not(inside), kind="stable")]
    share = cast(as_tracer(per), np.float64)
    require(np.all((share >= 0.0) & (share <= 100.0)), ValueError,
            "percentile must be in the range [0, 100]")
    return _at_places(x, share / 100.0 * cast(count - 1, np.float64), count - 1,
                      interpolation_method)


def _at_places(x: np.ndarray, place: np.ndarray, last: np.ndarray, method: str) -> Any:
    """Return numbers of sorted rows at places between whole ones, an axis of places first."""
    columns: Any = np.moveaxis(x, -1, 0)
    if method == "higher":
        found: Any = columns[np.ceil(place).astype(np.int64)]
    else:
        below: Any = np.floor(place).astype(np.int64)
        found = columns[below]
        if method == "fraction":
            part: Any = np.reshape(place - below, (*place.shape, *(1 for _ in dims_of(x)[1:])))
            found = found * (1.0 - part) + columns[np.minimum(below + 1, last)] * part
    return found * 1.0


# --- the commonest --------------------------------------------------------------------------------


def mode(a: object, axis: object = 0, nan_policy: str = "propagate",
         keepdims: bool = False) -> Any:
    """Return the commonest number of a sample, the least one of several, and how often it is."""
    only_propagating("mode", nan_policy)
    given: Any = as_tracer(a)
    if given.dtype.kind == "c":
        raise refuse("scipy.stats.mode of complex numbers cannot be captured", "Use the parts",
                     "TJ206")
    if keepdims and axis is None:
        raise refuse("scipy.stats.mode of all axes with keepdims= cannot be captured",
                     "Reshape its result", "TJ203")
    x: Any = np.sort(rows(given, axis), axis=-1)
    place: Any = iota(dims_of(x)[-1])
    new = np.concatenate([np.ones_like(x[..., :1], dtype=bool), _differ(x)], axis=-1)
    starts: Any = np.where(new, place, 0)
    first = np.maximum.accumulate(starts, axis=-1)
    back: Any = first
    run: Any = place - back + 1
    at: Any = np.expand_dims(np.argmax(run, axis=-1), -1)
    found, most = np.take_along_axis(x, at, -1), np.take_along_axis(run, at, -1)
    if keepdims:
        along: Any = axis
        return ModeResult(*(np.moveaxis(y, -1, along) for y in (found, most)))
    return ModeResult(found[..., 0][()], most[..., 0][()])


def _differ(x: np.ndarray) -> Any:
    """Return where neighbours differ; NaN is NaN."""
    first, second = x[..., :-1], x[..., 1:]
    return (first != second) & np.logical_not(np.isnan(first) & np.isnan(second))


captures_of_some("scipy.stats", {
    "tmin": tmin, "tmax": tmax, "trim1": trim1, "trimboth": trimboth,
    "scoreatpercentile": scoreatpercentile, "mode": mode}, "iuf", 4)
