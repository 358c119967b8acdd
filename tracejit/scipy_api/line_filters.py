"""Filters of `scipy.ndimage` along one axis: sums of neighbours times weights."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.convolutions import padded
from tracejit.scipy_api.plain_signals import correlated_rows, correlated_whole_rows
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["before_of", "correlated", "gaussian_filter", "known_length", "padded_image",
           "uniform_filter1d"]


def known_length(x: object, what: str) -> int:
    """Return the length of a vector, which is fixed where it is not known."""
    if isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim):
        return len(x)
    vector: Any = np.atleast_1d(as_tracer(x))
    return need_int(vector.dims[0], what)


_MODES = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect",
          "nearest": "edge", "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant",
          "grid-constant": "constant"}


def padded_image(x: object, sides: object, mode: str, cval: object) -> Any:
    """Return an array continued at its ends, as a mode of `scipy.ndimage` says."""
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    return padded(x, sides, _MODES[mode], cval)


def correlated(x: Any, weights: object, axis: int, mode: str, cval: object, before: int,
               behind: int, divisor: int = 1) -> Any:
    """Return sums of neighbours along an axis, times weights: `before` of them lie before."""
    if as_tracer(weights).dtype.kind == "c" and x.dtype.kind in "iuf":
        x = cast(x, np.complex128)
    given, x = x.dtype, x if x.dtype.kind in "fc" else cast(x, np.float64)
    if given.kind == "b":
        raise refuse("a filter of an array of bools cannot be captured",
                     "Convert it with .astype(float)", "TJ206")
    along = normalize_axis(axis, len(x.dims))
    moved: Any = np.moveaxis(x, along, 0)
    flat = np.reshape(moved, (moved.shape[0], -1))
    wide = padded_image(flat, ((before, behind), (0, 0)), mode, cval)
    rows = correlated_whole_rows if given.kind in "iu" else correlated_rows
    found = call_function(rows, (wide, weights, x.shape[along]), {})
    result: Any = np.moveaxis(np.reshape(found, moved.shape), 0, along)
    result = result if divisor == 1 else result / divisor
    return cast(cast(result, np.int64), given) if given.kind in "iu" else result  # as C casts


def before_of(size: int, origin: object) -> int:
    """Return how many places of a window lie before the number that it is for."""
    moved = operator.index(origin)  # type: ignore[arg-type]
    if not 0 <= size // 2 + moved < size:
        raise ValueError("invalid origin")  # so say SciPy's filters without weights
    return size // 2 + moved


def _one_axis(turned: bool) -> Callable[..., Any]:
    name = "convolve1d" if turned else "correlate1d"

    def capture(input: object, weights: object, axis: int = -1, output: None = None,
                mode: str = "reflect", cval: object = 0.0, origin: int = 0) -> Any:
        if output is not None:
            raise refuse(f"scipy.ndimage.{name} with output= cannot be captured", "Leave it out",
                         "TJ203")
        w: Any = as_tracer(weights) if turned else np.conj(as_tracer(weights))
        n = known_length(weights, "the number of weights of a filter")
        before = n - 1 - before_of(n, origin) if turned else before_of(n, origin)
        w = w[::-1] if turned else w
        return correlated(as_tracer(input), w, axis, mode, cval, before, n - 1 - before)

    return capture


def _constant(x: object, name: str) -> float:
    if isinstance(x, TracedOperand):
        known = known_array(x, "the width of a filter decides how many weights it has")
        x = x if known is None else known[()]
    if not isinstance(x, (int, float, np.number)):
        raise refuse(f"scipy.ndimage.{name} of a width that is traced cannot be captured",
                     "Its weights are as many as the width says: use a constant, or say radius=",
                     "TJ205")
    return float(x)


def gaussian_filter1d(input: object, sigma: object, axis: int = -1, order: int = 0,
                      output: None = None, mode: str = "reflect", cval: object = 0.0,
                      truncate: float = 4.0, *, radius: int | None = None) -> Any:
    """Return an array smoothed along an axis."""
    width: Any = _constant(sigma, "gaussian_filter1d") if radius is None else sigma
    if output is not None:
        raise refuse("scipy.ndimage.gaussian_filter1d with output= cannot be captured",
                     "Leave it out", "TJ203")
    half = int(truncate * width + 0.5) if radius is None else int(radius)
    places = np.arange(-half, half + 1) + (0.0 / width if radius is None else 0)  # raises for 0
    w = np.exp(-0.5 / (width * width) * places ** 2)
    w = w / w.sum() * _hermite(int(order), width, places)
    return correlated(as_tracer(input), as_tracer(w[::-1]), axis, mode, cval, half, half)


def _hermite(order: int, width: np.ndarray, x: np.ndarray) -> Any:
    """Return a derivative of a Gaussian over the Gaussian."""
    c: list[Any] = [1.0] + [0.0] * order
    for _ in range(order):
        c = [((k + 1) * c[k + 1] if k < order else 0.0) - (
            c[k - 1] / (width * width) if k else 0.0) for k in range(order + 1)]
    return sum(c[k] * x ** k for k in range(order + 1))


def gaussian_filter(input: object, sigma: object, order: int | Sequence[int] = 0,
                    output: None = None, mode: str | Sequence[str] = "reflect", cval: object = 0.0,
                    truncate: float = 4.0, *, radius: None = None,
                    axes: None = None) -> Any:
    """Return an array smoothed along all axes."""
    x = as_tracer(input)
    if radius is not None or axes is not None or output is not None:
        raise refuse("scipy.ndimage.gaussian_filter with output=, radius= or axes= cannot be "
                     "captured", "Use gaussian_filter1d", "TJ203")
    order = known_int(order, "the order of gaussian_filter")
    orders = [order] * len(x.dims) if isinstance(order, int) else list(order)
    widths = list(sigma) if isinstance(sigma, (list, tuple)) else [sigma] * len(x.dims)
    result: Any = x.copy()
    modes = [mode] * len(x.dims) if isinstance(mode, str) else list(mode)
    if not len(widths) == len(modes) == len(orders) == len(x.dims):
        raise RuntimeError("sequence argument must have length equal to input rank")
    for axis, (width, m, o) in enumerate(zip(widths, modes, orders, strict=True)):
        if _constant(width, "gaussian_filter") > 1e-15:
            result = gaussian_filter1d(result, width, axis, o, None, m, cval, truncate)
    return result


def uniform_filter1d(input: object, size: int, axis: int = -1, output: None = None,
                     mode: str = "reflect", cval: object = 0.0, origin: int = 0) -> Any:
    """Return the means of neighbours along an axis."""
    n = int(_constant(size, "uniform_filter1d"))
    if output is not None:
        raise refuse("scipy.ndimage.uniform_filter1d with output= cannot be captured",
                     "Leave it out", "TJ203")
    if n < 1:
        raise RuntimeError("incorrect filter size")
    x: Any = as_tracer(input)
    before = before_of(n, origin)
    ends = axis, mode, cval, before, n - 1 - before
    result = correlated(x, as_tracer(np.ones(n)), *ends, n)
    if x.dtype.kind not in "fc":
        return result
    first = np.zeros(n)
    first[0] = 1.0  # SciPy moves a sum along: a term that is not finite stays after leaving it
    whether: Any = np.where(np.isfinite(x), 0.0, 1.0)
    left: Any = correlated(whether, as_tracer(first), axis, mode,
                           1.0 - np.isfinite(as_tracer(cval)), *ends[3:])
    return np.where(np.cumsum(left, axis=axis) - left > 0.0, np.nan, result)


captures_of_some("scipy.ndimage", {
    "convolve1d": _one_axis(True), "correlate1d": _one_axis(False),
    "gaussian_filter1d": gaussian_filter1d, "gaussian_filter": gaussian_filter,
    "uniform_filter1d": uniform_filter1d})
