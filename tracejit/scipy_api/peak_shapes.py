"""Shapes of peaks of a signal, and splines through images, of `scipy.signal`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import correlated, known_length
from tracejit.scipy_api.plain_systems import crossings, prominences
from tracejit.scipy_api.taking import captures_of_finite, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import as_operand, cast, dims_of
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _peaks(x: Tracer, peaks: object) -> Any:
    places: Any = as_tracer(peaks)
    if places.dtype.kind not in "iu":
        raise TypeError("cannot safely cast `peaks` to dtype('intp')")
    if len(places.dims) != 1 or len(x.dims) != 1:
        raise ValueError("`x` and `peaks` must be 1-D arrays")
    require(np.all((places >= 0) & (places < as_operand(dims_of(x)[0]))), ValueError,
            "a number in `peaks` is not a valid index for `x`")
    return cast(places, np.int64)


def _lone(x: object) -> Tracer:
    return as_tracer(cast(as_inexact(x), np.float64))


def peak_prominences(x: object, peaks: object, wlen: object = None) -> Any:
    """Return how far peaks are above their surroundings, and where these are lowest."""
    given = _lone(x)
    if wlen is not None and not wlen > 1:  # type: ignore[operator]
        raise ValueError(f"`wlen` must be larger than 1, was {wlen}")
    wide: Any = dims_of(given)[0] if wlen is None else math.ceil(wlen) // 2  # type: ignore[call-overload]
    return call_function(prominences, (given, _peaks(given, peaks),
                                       as_operand(wide) if wlen is None else wide), {})


def peak_widths(x: object, peaks: object, rel_height: np.ndarray = 0.5,  # type: ignore[assignment]
                prominence_data: object = None, wlen: object = None) -> Any:
    """Return how wide peaks are at a height, this height, and where the line has it."""
    given = _lone(x)
    places = _peaks(given, peaks)
    require(as_tracer(rel_height) >= 0, ValueError, "`rel_height` must be greater or equal to 0.0")
    found: Any = peak_prominences(given, places, wlen) if prominence_data is None else (
        prominence_data)
    high, left, right = found
    heights = given[places] - high * rel_height
    first, last = call_function(crossings, (given, places, heights, left, right), {})
    return last - first, heights, first, last


# --- splines through images -----------------------------------------------------------------------


def _along(x: np.ndarray, axis: int, function: Callable[..., object], *constants: object) -> Any:
    """Return a linear filter of SciPy's along an axis, as the matrix that it is for a size."""
    numbers = [constant_of(c, "a spline filter of scipy.signal") for c in constants]
    moved: Any = np.moveaxis(x, axis, -1)
    size = known_length(np.moveaxis(x, axis, 0), "the length of a signal through a spline filter")
    return np.moveaxis(moved @ as_tracer(function(np.eye(size), *numbers)), -1, axis)


def _signal(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(sys.modules["scipy.signal"], name)
    return found


def _symmetric(name: str, *fixed: str) -> Callable[..., Any]:
    def capture(*args: object, **kwargs: object) -> Any:
        given = {**dict(zip(("signal" if name == "symiirorder1" else "input", *fixed), args,
                            strict=False)), **kwargs}
        x: Any = as_inexact(given.pop("signal", None) if "signal" in given else given.pop("input"))
        if x.ndim not in (1, 2):
            raise ValueError("Input must be 1D or 2D")
        constants = [given[key] for key in fixed if key in given]
        return _along(x, -1, _signal(name), *constants)

    return capture


def _image(x: object, name: str) -> Any:
    given: Any = as_inexact(x)
    if given.ndim != 2:
        raise refuse(f"scipy.signal.{name} of an array of other than two axes cannot be captured",
                     "Make it a matrix", "TJ207")
    return given


def cspline2d(signal: object, lamb: float = 0.0, precision: float = -1.0) -> Any:
    """Return the coefficients of the cubic spline through an image, smoothed on request."""
    rows = _along(_image(signal, "cspline2d"), -1, _rows_of("cspline2d"), lamb, precision)
    return _along(rows, 0, _rows_of("cspline2d"), lamb, precision)


def qspline2d(signal: object, lamb: float = 0.0, precision: float = -1.0) -> Any:
    """Return the coefficients of the quadratic spline through an image."""
    rows = _along(_image(signal, "qspline2d"), -1, _rows_of("qspline2d"), lamb, precision)
    return _along(rows, 0, _rows_of("qspline2d"), lamb, precision)


def _rows_of(name: str) -> Callable[..., Any]:
    """Return the function of lines whose use along both axes one of SciPy's is."""
    def rows(eye: np.ndarray, lamb: float, precision: float) -> Any:
        if not 0.0 <= precision < 1.0:
            precision = 1e-6
        if name == "qspline2d" and lamb > 0:
            raise ValueError("lambda must be negative or zero")
        pole = -2 + math.sqrt(3.0) if name == "cspline2d" else -3 + 2 * math.sqrt(2.0)
        if name == "qspline2d" or lamb <= 1 / 144.0:
            gain = 6.0 if name == "cspline2d" else 8.0
            return _signal("symiirorder1")(eye, -pole * gain, pole, precision)
        return _signal("symiirorder2")(eye, *_smoothing_roots(lamb), precision)

    return rows


def _smoothing_roots(lamb: float) -> tuple[float, float]:
    """Return size and angle of the roots of M. Unser's smoothing spline."""
    root = math.sqrt(3 + 144 * lamb)
    xi = 1 - 96 * lamb + 24 * lamb * root
    size = (24 * lamb - 1 - math.sqrt(xi)) / (24 * lamb) * math.sqrt(
        48 * lamb + 24 * lamb * root) / math.sqrt(xi)
    return size, math.atan(math.sqrt((144 * lamb - 1.0) / xi))


def spline_filter(Iin: object, lmbda: float = 5.0) -> Any:
    """Return an image smoothed by a cubic spline."""
    if (kind := as_tracer(Iin).dtype).kind != "f":
        raise TypeError(f"Invalid data type for Iin: Iin.dtype = {kind!r}")
    weights = np.array([1.0, 4.0, 1.0], np.float32) / 6.0
    return sepfir2d(cspline2d(Iin, lmbda), weights, weights)


def sepfir2d(input: object, hrow: object, hcol: object) -> Any:
    """Return an image through a filter of its rows and one of its columns, which are
    mirrored at their ends."""
    found = _image(input, "sepfir2d")
    for axis, given in ((1, hrow), (0, hcol)):
        weights: Any = cast(as_inexact(given), found.dtype)
        count = known_length(weights, "the number of weights of a filter")
        if count % 2 == 0:
            raise ValueError("hrow and hcol must be odd length")
        found = correlated(as_tracer(found), weights[::-1], axis, "reflect", 0.0, count // 2,
                           count // 2)
    return found


captures_of_finite("scipy.signal", {
    "peak_prominences": peak_prominences, "peak_widths": peak_widths, "cspline2d": cspline2d,
    "qspline2d": qspline2d, "sepfir2d": sepfir2d, "spline_filter": spline_filter,
    "symiirorder1": _symmetric("symiirorder1", "c0", "z1", "precision"),
    "symiirorder2": _symmetric("symiirorder2", "r", "omega", "precision")}, "iuf")
