"""Filters of `scipy.signal`: rational ones, smoothing, trends, analytic signals and windows."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.dims import maximum
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import counted, iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.finite import require_finite
from tracejit.scipy_api.convolutions import is_longer
from tracejit.scipy_api.line_filters import correlated, known_length
from tracejit.scipy_api.plain_signals import filtered, sections
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, same_dim, to_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer

__all__ = ["detrend", "extended", "lfilter_zi", "sosfilt", "valid_sections"]


def _first(x: Tracer, axis: int) -> tuple[Any, Any]:
    """Return an array with an axis moved to the front, and that with the others as one."""
    given: Any = x
    moved: Any = np.moveaxis(given, normalize_axis(axis, len(x.dims)), 0)
    return moved, np.reshape(moved, (moved.shape[0], -1))


def _back(rows: np.ndarray, shape: tuple[int, ...], axis: int) -> Any:
    return np.moveaxis(np.reshape(rows, shape), 0, axis)


def _coefficients(b: object, a: object, dtype: np.dtype) -> tuple[Any, Any, Any]:
    """Return both polynomials over a[0], of one length, with a zero behind; and their length."""
    given: list[Any] = [cast(as_tracer(p), dtype) for p in (b, a)]
    top: Any = np.atleast_1d(given[0])
    low: Any = np.atleast_1d(given[1])
    count = maximum(top.dims[0], low.dims[0], current().builder.known)
    wide = []
    for p in (top, low):
        zeros = apply("full", dtype.type(0), shape=(count + 1 - p.dims[0],))
        wide.append(np.concatenate([p / low[0], zeros]))
    return wide[0], wide[1], count


def _filtered_dtype(*given: Tracer) -> np.dtype:
    dtype = np.result_type(*(v.dtype for v in given))
    if dtype.kind not in "fc":
        raise refuse(f"SciPy has no filter of arrays of {dtype}", "Use .astype(float)", "TJ206")
    return dtype


def lfilter(b: object, a: object, x: object, axis: int = -1, zi: object = None) -> Any:
    """Return a signal through a rational filter and, with `zi`, the state at its end."""
    given = [as_tracer(v) for v in (b, a, x, *(() if zi is None else (zi,)))]
    dtype = _filtered_dtype(*given)
    top, low, count = _coefficients(b, a, dtype)
    require(np.ravel(given[1])[0] != 0, ValueError,
            "BUG: filter coefficient a[0] == 0 not supported yet")
    moved, rows = _first(cast(given[2], dtype), axis)
    width = rows.dims[1]
    last = apply("full", dtype.type(0), shape=(1, width))
    start: Any
    if zi is None:
        start = apply("full", dtype.type(0), shape=(count, width))
    else:
        _, flat = _first(cast(given[3], dtype), axis)
        wide = np.broadcast_to(flat, (flat.shape[0], as_operand(width)))
        start = np.concatenate([wide, last])
    y, end = call_function(filtered, (top, low, rows, start), {})
    result = _back(y, moved.shape, axis)
    if zi is None:
        return result
    return result, _back(end[:-1], (as_operand(count) - 1, *moved.shape[1:]), axis)


def lfilter_zi(b: object, a: object) -> Any:
    """Return the state of a filter at rest at 1."""
    top, low, count = _coefficients(b, a, np.result_type(as_inexact(b).dtype, as_inexact(a).dtype))
    require(np.greater(as_operand(count), 1), ValueError,
            "The length of `a` along the last axis must be at least 2.")
    rest = top[1:-1] - low[1:-1] * top[0]
    first = np.sum(rest) / np.sum(low)
    return np.concatenate([np.reshape(first, (1,)),
                           np.cumsum(low)[1:-2] * first - np.cumsum(rest)[:-1]])


def valid_sections(sos: object) -> Tracer:
    """Return filters of second order, a row for each."""
    s = as_tracer(sos)
    if len(s.dims) != 2:
        raise ValueError("sos array must be 2D")
    if not same_dim(s.dims[1], 6):
        raise ValueError("sos array must be shape (n_sections, 6)")
    require(np.all(s[:, 3] == 1), ValueError, "sos[:, 3] should be all ones")
    return s


def sosfilt(sos: object, x: object, axis: int = -1, zi: object = None) -> Any:
    """Return a signal through filters of second order and, with `zi`, their states at its end."""
    s, given = valid_sections(sos), as_tracer(x)
    start: Any = None if zi is None else as_tracer(zi)
    dtype = _filtered_dtype(s, given, *(() if zi is None else (start,)))
    moved, rows = _first(cast(given, dtype), axis)
    count, width = s.shape[0], as_operand(rows.dims[1])
    if zi is None:
        zeros = apply("full", dtype.type(0), shape=(s.dims[0], 2, rows.dims[1]))
        y, _ = call_function(sections, (cast(s, dtype), rows, zeros), {})
        return _back(y, moved.shape, axis)
    place = normalize_axis(axis, len(moved.dims)) + 1
    state: Any = cast(start, dtype)
    along = np.moveaxis(state, place, 1)
    before = np.reshape(along, (count, 2, width))
    y, end = call_function(sections, (cast(s, dtype), rows, before), {})
    back = np.moveaxis(np.reshape(end, along.shape), 1, place)
    return _back(y, moved.shape, axis), back


def extended(x: np.ndarray, n: int, kind: str | None) -> Any:
    """Return rows continued at both ends."""
    if kind not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value '{kind}' given to padtype. padtype must be 'even', 'odd', "
                         "'constant', or None.")
    if kind is None or n == 0:
        return x
    if kind == "constant":
        ones = np.ones((n, 1))
        return np.concatenate([ones * x[:1], x, ones * x[-1:]])
    left, right = x[1:n + 1][::-1], x[-n - 1:-1][::-1]
    if kind == "odd":
        left, right = 2 * x[:1] - left, 2 * x[-1:] - right
    return np.concatenate([left, x, right])


def filtfilt(b: object, a: object, x: object, axis: int = -1, padtype: str | None = "odd",
             padlen: int | None = None, method: str = "pad", irlen: None = None) -> Any:
    """Return a signal through a filter, once forwards and once backwards."""
    if method != "pad" or irlen is not None:
        raise refuse("scipy.signal.filtfilt with method='gust' cannot be captured", "Leave it out",
                     "TJ203")
    if padlen is None and padtype is not None:
        padlen = 3 * max(known_length(p, "the length of a filter") for p in (b, a))
    edge = 0 if padtype is None or padlen is None else int(padlen)
    moved, rows = _first(as_tracer(x), axis)
    if edge and not is_longer(rows.dims[0], edge):
        raise ValueError("The length of the input vector x must be greater than padlen, which is "
                         f"{edge}.")
    wide = extended(rows, edge, padtype)
    state = np.reshape(lfilter_zi(b, a), (-1, 1))
    y, _ = lfilter(b, a, wide, 0, state * wide[:1])
    turned = y[::-1]
    z, _ = lfilter(b, a, turned, 0, state * turned[:1])
    found = z[::-1]
    return _back(found[edge:-edge] if edge else found, moved.shape, axis)


def savgol_filter(x: object, window_length: int, polyorder: int, deriv: int = 0,
                  delta: float = 1.0, axis: int = -1, mode: str = "interp",
                  cval: float = 0.0) -> Any:
    """Return a signal smoothed by polynomials, or a derivative of it."""
    window_length, polyorder, deriv = (known_int(v, "the window of savgol_filter")
                                       for v in (window_length, polyorder, deriv))
    if any(isinstance(v, TracedOperand) for v in (window_length, polyorder, deriv, delta)):
        raise refuse("scipy.signal.savgol_filter with a traced window cannot be captured",
                     "Use constants", "TJ205")
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    n, half = int(window_length), int(window_length) // 2
    scipy_signal: Any = sys.modules["scipy.signal"]
    weights = scipy_signal.savgol_coeffs(n, polyorder, deriv=deriv, delta=delta, use="dot")
    given = as_inexact(x)
    if given.dtype.kind == "c":
        raise refuse("scipy.signal.savgol_filter of complex numbers cannot be captured",
                     "Smooth the parts", "TJ206")
    before = half if n % 2 else half - 1
    if mode != "interp":
        return correlated(given, as_tracer(weights.astype(given.dtype)), axis, mode, cval, before,
                          n - 1 - before)
    inner = correlated(given, as_tracer(weights.astype(given.dtype)), axis, "constant", 0.0,
                       before, n - 1 - before)
    moved, rows = _first(as_tracer(inner), axis)
    _, old = _first(given, axis)
    require_finite(old[:n])
    require_finite(old[-n:])
    fit, end = _fits(n, polyorder, deriv, delta), dims_of(rows)[0] - half
    result = np.concatenate([fit[:half] @ old[:n], rows[half:as_operand(end)],
                             fit[n - half:] @ old[-n:]])
    return cast(_back(result, moved.shape, axis), given.dtype)


def _fits(n: int, order: int, deriv: int, delta: float) -> np.ndarray:
    """Return the matrix from n numbers to a derivative of the polynomial through them."""
    places = np.arange(n, dtype=float)
    inverse = np.linalg.pinv(np.vander(places, order + 1, increasing=True))
    powers = np.zeros((n, order + 1))
    for k in range(deriv, order + 1):
        powers[:, k] = math.perm(k, deriv) * places ** (k - deriv)
    return powers @ inverse / delta ** deriv


def detrend(data: object, axis: int = -1, type: str = "linear", bp: int = 0,
            overwrite_data: bool = False) -> Any:
    """Return a signal less its mean, or less the line through it."""
    if not (isinstance(bp, int) and bp == 0):
        raise refuse("scipy.signal.detrend with bp= cannot be captured", "Detrend the pieces",
                     "TJ203")
    x = as_inexact(data)
    if type in ("constant", "c"):
        return x - np.mean(x, axis=axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    moved, rows = _first(x, axis)
    require_finite(rows)
    n = rows.dims[0]
    t: Any = cast(iota(n), np.float64)
    t = np.reshape(t - 0.5 * (as_operand(n) - 1), (-1, 1))
    middle = np.mean(rows, axis=0, keepdims=True)
    squares = np.sum(t * t)
    slope = np.sum(t * rows, axis=0, keepdims=True) / np.where(squares == 0, 1, squares)
    return cast(_back(rows - middle - t * slope, moved.shape, axis), x.dtype)


def hilbert(x: object, N: object = None, axis: int = -1) -> Any:
    """Return the analytic signal."""
    given: Any = as_tracer(x)
    if given.dtype.kind == "c":
        raise ValueError("x must be real.")
    moved: Any = np.moveaxis(given, axis, -1)
    size: Any = moved.shape[-1] if N is None else N
    k, n = iota(to_dim(size)), size
    alone = (k == 0) | (2 * k == n)
    weights = np.where(alone, 1.0, np.where(2 * k < n, 2.0, 0.0))
    found = np.fft.ifft(np.fft.fft(moved, size) * cast(
        weights, np.float32 if given.dtype == np.float32 else np.float64))
    return np.moveaxis(found, -1, axis)


# --- windows ------------------------------------------------------------------------------------


def _window(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a window of as many points as a size says."""

    def capture(M: object, sym: bool = True, *, xp: None = None, device: None = None) -> Any:
        n: Any = M
        count = counted(M, "Window length M must be a non-negative integer")
        places = cast(iota(count), np.float64)
        width = n - 1 if sym else n
        return np.where(n == 1, 1.0, formula(places, np.where(n == 1, 1.0, width)))

    return capture


def _cosines(*weights: float) -> Callable[..., Any]:
    def formula(k: np.ndarray, width: np.ndarray) -> Any:
        total: Any = 0.0
        for i, w in enumerate(weights):
            total = total + (-1.0) ** i * w * np.cos(2.0 * math.pi * i * k / width)
        return total

    return formula


captures_of_some("scipy.signal", {"lfilter_zi": lfilter_zi, "filtfilt": filtfilt}, "iufc")
captures_of_some("scipy.signal", {
    "lfilter": lfilter, "sosfilt": sosfilt, "savgol_filter": savgol_filter, "detrend": detrend,
    "hilbert": hilbert})
scipy_captures("scipy.signal.windows", {name: _window(formula) for name, formula in {
    "boxcar": lambda k, w: 1.0 + 0.0 * k, "hann": _cosines(0.5, 0.5),
    "hamming": _cosines(0.54, 0.46), "blackman": _cosines(0.42, 0.5, 0.08),
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "bartlett": lambda k, w: 1.0 - np.abs(2.0 * k / w - 1.0),
    "cosine": lambda k, w: np.sin(math.pi * (k + 0.5) / (w + 1.0)),
}.items()})
