"""Waves, starting states, splines on a line and transforms of `scipy.signal`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.filters import lfilter_zi
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import zeros
from tracejit.scipy_api.resampling import medfilt
from tracejit.scipy_api.taking import captures_of_finite, captures_of_some, constant_of, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN
from tracejit.trace.values.equations import as_operand, cast, dims_of, same_dim, to_dim
from tracejit.trace.values.python_numbers import require, require_ours

__all__: list[str] = []


def gausspulse(t: object, fc: np.ndarray = 1000, bw: np.ndarray = 0.5, bwr: np.ndarray = -6,  # type: ignore[assignment]
               tpr: np.ndarray = -60, retquad: bool = False, retenv: bool = False) -> Any:  # type: ignore[assignment]
    """Return a sine within a Gaussian, and on request its cosine and the Gaussian."""
    require(as_tracer(fc) >= 0, ValueError, "Center frequency (fc) must be >=0.")
    require(as_tracer(bw) > 0, ValueError, "Fractional bandwidth (bw) must be > 0.")
    require(as_tracer(bwr) < 0, ValueError, "Reference level for bandwidth (bwr) must be < 0 dB")
    rate: Any = -(math.pi * fc * bw) ** 2 / (4.0 * np.log(10.0 ** (1.0 * as_tracer(bwr) / 20.0)))
    if isinstance(t, str):
        if t != "cutoff":
            raise ValueError("If `t` is a string, it must be 'cutoff'")
        require(as_tracer(tpr) < 0, ValueError, "Reference level for time cutoff must be < 0 dB")
        return np.sqrt(-np.log(10.0 ** (1.0 * as_tracer(tpr) / 20.0)) / rate)
    at: Any = as_inexact(t)
    envelope = np.exp(-rate * at * at)
    angle = 2 * math.pi * fc * at
    found = (envelope * np.cos(angle), *((envelope * np.sin(angle),) if retquad else ()),
             *((envelope,) if retenv else ()))
    return found if len(found) > 1 else found[0]


def sweep_poly(t: object, poly: object, phi: np.ndarray = 0) -> Any:  # type: ignore[assignment]
    """Return a cosine whose frequency is a polynomial of time."""
    c: Any = np.atleast_1d(as_inexact(poly))
    turns: Any = np.polyval(np.polyint(c), as_inexact(t))
    return np.cos(2 * math.pi * turns + phi * (math.pi / 180))


def gauss_spline(x: object, n: np.ndarray) -> Any:
    """Return the Gaussian that is about a B-spline of an order."""
    at: Any = as_tracer(x)
    spread = (n + 1) / 12.0
    return 1 / np.sqrt(2 * math.pi * spread) * np.exp(-at ** 2 / 2 / spread)


def vectorstrength(events: object, period: object) -> Any:
    """Return how well events keep a period, and at which phase of it they are."""
    at, every = as_tracer(as_inexact(events)), as_tracer(as_inexact(period))
    for name, x in (("events", at), ("period", every)):
        if len(x.dims) > 1:
            raise ValueError(f"{name} cannot have dimensions more than 1")
    require(np.all(every > 0), ValueError, "periods must be positive")
    means: Any = np.mean(np.exp(2j * (math.pi / np.expand_dims(every, -1) * at)), axis=-1)
    return np.abs(means), np.angle(means)


def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> Any:
    """Return by how much the second signal is behind at each place of a correlation."""
    first, second = in1_len, in2_len
    lags = iota(to_dim(first + second - 1)) - second + 1
    if mode == "full":
        return lags
    if mode == "same":
        begin = (first + second - 1) // 2 - first // 2
        return iota(to_dim(first)) + begin - second + 1
    if mode != "valid":
        raise ValueError(f"Mode {mode} is invalid")
    more: Any = abs(first - second)
    return iota(to_dim(more + 1)) + np.where(first >= second, 0, first - second)


# --- states of filters ----------------------------------------------------------------------------


def lfiltic(b: object, a: object, y: object, x: object = None) -> Any:
    """Return the state of a filter of which inputs and outputs are known, the last ones first."""
    known = (b, a, y) if x is None else (b, a, y, x)
    given: list[Any] = [np.atleast_1d(as_inexact(v)) for v in known]
    dtype = np.result_type(*(v.dtype for v in given))
    given = [cast(v, dtype) for v in given]
    for name, v in (("a", given[1]), ("b", given[0])):
        if v.ndim != 1:
            raise ValueError(f"Filter coefficients `{name}` must be 1-D.")
    require(given[1][0] != 0, ValueError, "First `a` filter coefficient must be non-zero.")
    m, n = (known_length(v, "the length of a filter") - 1 for v in given[:2])
    found: list[Any] = [0.0] * max(m, n)
    for weights, past, count, sign in ((given[0], given[3] if x is not None else None, m, 1.0),
                                       (given[1], given[2], n, -1.0)):
        if past is None:
            continue
        length = known_length(past, "how much of a signal is known")
        for k in range(count):
            terms = min(count - k, length)
            found[k] = found[k] + sign * np.sum(weights[k + 1:k + 1 + terms] * past[:terms])
    if not found:
        return cast(as_tracer(zeros(0)), dtype)
    return np.stack([cast(1.0 * as_tracer(v), dtype) for v in found]) / given[1][0]


def sosfilt_zi(sos: object) -> Any:
    """Return the states at rest of filters of second order in turn."""
    rows: Any = as_inexact(sos)
    if rows.ndim != 2 or not same_dim(dims_of(rows)[1], 6):
        raise ValueError("sos must be shape (n_sections, 6)")
    found, scale = [], 1.0
    for k in range(known_length(rows, "how many sections a filter has")):
        b, a = rows[k, :3], rows[k, 3:]
        found.append(scale * lfilter_zi(b / a[0], a / a[0]))
        scale = scale * (np.sum(b) / np.sum(a))
    return np.stack(found)


def medfilt2d(input: object, kernel_size: object = 3) -> Any:
    """Return the medians of windows of an image, zeros outside."""
    x = as_tracer(input)
    if len(x.dims) != 2:
        raise refuse("scipy.signal.medfilt2d of an array of other than two axes cannot be captured",
                     "Use medfilt", "TJ207")
    if x.dtype.kind == "f":
        of_finite("scipy.signal.medfilt2d", x)  # type: ignore[arg-type]
    return medfilt(x, kernel_size)


def hilbert2(x: object, N: object = None, axes: tuple[int, int] = (-2, -1)) -> Any:
    """Return the analytic signal of two axes."""
    given: Any = np.atleast_2d(as_inexact(x))
    if given.dtype.kind == "c":
        raise ValueError("x must be real.")
    moved = np.moveaxis(given, axes, (-2, -1))
    sizes = tuple(moved.shape[-2:]) if N is None else (N, N) if isinstance(N, int) else tuple(N)  # type: ignore[arg-type]
    found: Any = np.fft.fft2(moved, sizes)
    for size, place in zip(sizes, ((slice(None), None), (slice(None),)), strict=True):
        k = iota(to_dim(size))
        weights = np.where(k >= (size + 1) // 2, 0.0, np.where(k == 0, 1.0, 2.0))
        found = found * weights[place]
    return np.moveaxis(np.fft.ifft2(found), (-2, -1), axes)


# --- splines through equally spaced points --------------------------------------------------------


def _spline_coefficients(pole: float, gain: float, name: str) -> Callable[..., Any]:
    def capture(signal: object, lamb: float = 0.0) -> Any:
        if constant_of(lamb, f"scipy.signal.{name}") != 0.0:
            raise refuse(f"scipy.signal.{name} with lamb= cannot be captured",
                         "Use scipy.interpolate.make_smoothing_spline", "TJ203")
        x: Any = as_inexact(signal)
        count = x.shape[0]
        ahead = np.sum(pole ** cast(iota(dims_of(x)[0]), np.float64) * x)
        if same_dim(dims_of(x)[0], 1):
            return np.atleast_1d(pole / (pole - 1) * (x[0] + pole * ahead))
        low = np.array([1.0, -pole])
        filtered = FOREIGN["scipy.signal.lfilter"]
        up, _ = filtered(np.ones(1), low, x, zi=np.reshape(pole * ahead, (1,)))
        last = pole / (pole - 1) * up[count - 1]
        down, _ = filtered(np.array([-pole]), low, up[:-1][::-1], zi=np.reshape(pole * last, (1,)))
        return np.concatenate([down[::-1], np.reshape(last, (1,))]) * gain

    return capture


def _cubic(x: np.ndarray) -> Any:
    far = np.abs(x)
    return np.where(far < 1, 2.0 / 3 - 0.5 * far ** 2 * (2.0 - far),
                    np.where(far < 2, (2.0 - far) ** 3 / 6.0, 0.0))


def _quadratic(x: np.ndarray) -> Any:
    far = np.abs(x)
    return np.where(far < 0.5, 0.75 - far ** 2, np.where(far < 1.5, (far - 1.5) ** 2 / 2.0, 0.0))


def _spline_values(piece: Callable[[np.ndarray], np.ndarray], width: int,
                   name: str) -> Callable[..., Any]:
    def capture(cj: object, newx: object, dx: np.ndarray = 1.0, x0: np.ndarray = 0) -> Any:  # type: ignore[assignment]
        c, at = as_inexact(cj), (as_inexact(newx) - x0) / dx
        last: Any = as_operand(dims_of(c)[0]) - 1
        require_ours(np.greater(last, 0), NotCaptured,
                     f"scipy.signal.{name} of one coefficient cannot be captured")
        turns = np.remainder(at, 2 * last)  # the line goes on as in mirrors at both ends
        at = np.where(turns > last, 2 * last - turns, turns)
        first: Any = cast(as_tracer(np.floor(at - width / 2)), np.int64) + 1
        total: Any = 0.0
        for k in range(width):
            total = total + c[np.clip(first + k, 0, last)] * piece(at - (first + k))
        return total

    return capture


# --- transforms on other circles ------------------------------------------------------------------


def _count(m: object, n: int) -> int:
    count = n if m is None else operator.index(m)  # type: ignore[arg-type]
    if count < 1:
        raise ValueError(f"Invalid number of CZT output points ({m}) specified. m must be positive "
                         "and integer type.")
    return count


def _chirped(x: np.ndarray, first: np.ndarray, squares: np.ndarray, count: int, axis: int) -> Any:
    """Return the sums of x times powers, by L. I. Bluestein's convolution.

    first   -- the factors of the first sum
    squares -- a number to the powers k ** 2 / 2, of which two numbers make one to the power j * k
    """
    moved: Any = np.moveaxis(x, axis, -1)
    n = known_length(first, "the length of a signal")
    size = 1 << (n + count - 2).bit_length()
    around = 1.0 / np.concatenate([squares[n - 1:0:-1], squares[:count]])
    found = np.fft.ifft(np.fft.fft(around, size) * np.fft.fft(moved * (first * squares[:n]), size))
    return np.moveaxis(found[..., n - 1:n + count - 1] * squares[:count], -1, axis)


def czt(x: object, m: object = None, w: object = None, a: np.ndarray = 1.0, *,  # type: ignore[assignment]
        axis: int = -1) -> Any:
    """Return the values of a signal's z-transform on a spiral."""
    given: Any = as_inexact(x)
    n = known_length(np.moveaxis(given, axis, 0), "the length of a signal")
    count = _count(m, n)
    k = np.arange(max(count, n))
    squares: Any = np.exp(-1j * math.pi * (k ** 2 % (2 * count)) / count) if w is None else (
        (w + 0j) ** (k ** 2 / 2.0))  # type: ignore[operator]
    return _chirped(given, (a + 0j) ** (-1.0 * k[:n]), squares, count, axis)


def czt_points(m: object, w: object = None, a: np.ndarray = 1.0) -> Any:  # type: ignore[assignment]
    """Return the points at which `czt` has its values."""
    k = np.arange(float(_count(m, 1)))
    if w is None:
        return a * np.exp(2j * math.pi * k / len(k))
    return a * (as_inexact(w) ** -k)


def zoom_fft(x: object, fn: object, m: object = None, *, fs: np.ndarray = 2, endpoint: bool = False,  # type: ignore[assignment]
             axis: int = -1) -> Any:
    """Return the Fourier transform of a signal at frequencies of a range."""
    given: Any = as_inexact(x)
    ends: Any = np.atleast_1d(as_inexact(fn))
    n = known_length(np.moveaxis(given, axis, 0), "the length of a signal")
    count, of_two = _count(m, n), known_length(ends, "how many frequencies a range has")
    if of_two > 2:
        raise ValueError("fn must be a scalar or 2-length sequence")
    low: Any = ends[0] if of_two == 2 else 0.0
    scale = (ends[-1] - low) / fs * (count / (count - 1) if endpoint else 1.0)
    k = np.arange(float(max(count, n)))
    squares = np.exp(-1j * math.pi * scale * k ** 2 / count)
    return _chirped(given, np.exp(-2j * math.pi * low / fs * k[:n]), squares, count, axis)


captures_of_finite("scipy.signal", {
    "gausspulse": gausspulse, "sweep_poly": sweep_poly, "gauss_spline": gauss_spline,
    "vectorstrength": vectorstrength, "correlation_lags": correlation_lags, "lfiltic": lfiltic,
    "sosfilt_zi": sosfilt_zi, "hilbert2": hilbert2,
    "cspline1d": _spline_coefficients(-2 + math.sqrt(3), 6.0, "cspline1d"),
    "qspline1d": _spline_coefficients(-3 + 2 * math.sqrt(2.0), 8.0, "qspline1d"),
    "cspline1d_eval": _spline_values(_cubic, 4, "cspline1d_eval"),
    "qspline1d_eval": _spline_values(_quadratic, 3, "qspline1d_eval")})
captures_of_some("scipy.signal", {"medfilt2d": medfilt2d}, "uf")
captures_of_finite("scipy.signal", {"czt": czt, "czt_points": czt_points, "zoom_fft": zoom_fft},
                   "fc")
