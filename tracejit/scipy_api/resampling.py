"""Signals at other rates, filters of sections both ways, medians, and answers of filters."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.convolutions import is_longer
from tracejit.scipy_api.filters import extended, lfilter_zi, sosfilt, valid_sections
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import as_operand, cast, dims_of, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand

__all__ = ["freqz", "places_of"]


def _floats(x: object, least: type = np.float64) -> Any:
    return as_inexact(x, least)


def resample(x: object, num: int, t: None = None, axis: int = 0, window: None = None,
             domain: str = "time") -> Any:
    """Return a periodic signal at another number of points, by its Fourier series."""
    if t is not None or window is not None or domain != "time":
        raise refuse("scipy.signal.resample with t=, window= or domain= cannot be captured",
                     "Leave them out", "TJ203")
    moved = _moved(_floats(x), axis, -1)
    if moved.dtype.kind == "c":
        raise refuse("scipy.signal.resample of complex numbers cannot be captured",
                     "Resample the parts", "TJ206")
    before, after = need_int(dims_of(moved)[-1], "the length of a signal to resample"), int(num)
    least = min(before, after)
    kept = np.fft.rfft(moved)[..., :least // 2 + 1]
    weights = np.ones(least // 2 + 1)
    if least % 2 == 0 and before != after:
        weights[-1] = 2.0 if after < before else 0.5
    found = np.fft.irfft(kept * weights, after) * (after / before)
    return np.moveaxis(found.astype(moved.dtype), -1, axis)


def _between(x: np.ndarray, up: int) -> Any:
    """Return rows with zeros between them: one number of `up`."""
    parts = [x[..., None], *([np.zeros_like(x)[..., None]] * (up - 1))]
    n = as_operand(dims_of(x)[-1])
    return np.reshape(np.concatenate(parts, axis=-1), (*np.shape(x)[:-1], n * up))[
        ..., :(n - 1) * up + 1]


def upfirdn(h: object, x: object, up: int = 1, down: int = 1, axis: int = -1,
            mode: str = "constant", cval: float = 0) -> Any:
    """Return a signal with zeros put in, through a finite filter, and of that every so manyth."""
    if mode != "constant" or cval != 0:
        raise refuse("scipy.signal.upfirdn with mode= or cval= cannot be captured",
                     "Use np.pad before", "TJ203")
    if len(as_tracer(h).dims) != 1:
        raise ValueError("h must be 1-D with non-zero length")
    up, down = operator.index(up), operator.index(down)
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    length = known_length(h, "the length of a filter")
    weights, signal = (_floats(v, np.float32) for v in (h, x))
    of_finite("scipy.signal.upfirdn", weights, signal)
    return _through(weights, length, _moved(signal, axis, -1), up, down, axis)


def _moved(x: np.ndarray, start: int, stop: int) -> Any:
    return np.moveaxis(x, start, stop)


def _through(h: np.ndarray, length: int, x: np.ndarray, up: int, down: int, axis: int) -> Any:
    """Return rows through a filter of a known length, with their axis at its place again."""
    wide = _between(x, up)
    sides = [(0, 0)] * (len(dims_of(x)) - 1) + [(length - 1, length - 1)]
    padded = np.pad(wide, sides)
    count = as_operand(dims_of(wide)[-1]) + length - 1
    total: Any = 0.0
    for k in range(length):  # points between those kept are not computed
        total = total + h[k] * padded[..., length - 1 - k:length - 1 - k + count][..., ::down]
    return _moved(total, -1, axis)


def _design(name: str, *args: object, **kwargs: object) -> Any:
    """Return a filter that SciPy designs of constants."""
    signal: Any = sys.modules["scipy.signal"]
    return getattr(signal, name)(*args, **kwargs)


def resample_poly(x: object, up: int, down: int, axis: int = 0,
                  window: object = ("kaiser", 5.0), padtype: str = "constant",
                  cval: object = None) -> Any:
    """Return a signal at a rate that is a ratio of ints, through a finite filter."""
    if padtype != "constant" or cval is not None:
        raise refuse("scipy.signal.resample_poly with padtype= or cval= cannot be captured",
                     "Leave them out", "TJ203")
    given = _floats(x)
    common = math.gcd(operator.index(up), operator.index(down))
    up, down = operator.index(up) // common, operator.index(down) // common
    if up == down == 1:
        return np.copy(given)
    size = as_operand(given.dims[axis])
    if isinstance(window, (str, tuple)):
        length = 20 * max(up, down) + 1
        h = _design("firwin", length, 1.0 / max(up, down), window=window)
    else:
        length, h = known_length(window, "the length of a filter"), _floats(window)
    half = (length - 1) // 2
    before = down - half % down
    skipped = (half + before) // down
    wanted = -((-size * up) // down)
    behind = down * (skipped + 1)
    whole: Any = cast(as_tracer(np.concatenate([np.zeros(before), h * up, np.zeros(behind)])),
                      given.dtype)
    found = _through(whole, before + length + behind, _moved(given, axis, -1), up, down, -1)
    return _moved(found[..., skipped:skipped + wanted], -1, axis)


def sosfiltfilt(sos: object, x: object, axis: int = -1, padtype: str | None = "odd",
                padlen: int | None = None) -> Any:
    """Return a signal through filters of second order, once forwards and once backwards."""
    s = valid_sections(sos)
    count = known_length(sos, "how many sections a filter has")
    if padlen is None and padtype is not None:
        known = np.asarray(sos) if not isinstance(sos, TracedOperand) else known_array(
            sos, "the zeros of a filter decide how far a signal is continued")
        if known is None:
            raise refuse("scipy.signal.sosfiltfilt of traced sections cannot be captured without "
                         "padlen=", "Say padlen=", "TJ203")
        padlen = 3 * (2 * count + 1 - min(np.sum(known[:, 2] == 0), np.sum(known[:, 5] == 0)))
    edge = 0 if padtype is None or padlen is None else int(padlen)
    given: Any = as_tracer(x)
    moved = _moved(given, axis, 0)
    if edge and not is_longer(dims_of(moved)[0], to_dim(edge)):
        raise ValueError("The length of the input vector x must be greater than padlen, which is "
                         f"{edge}.")
    rows = np.reshape(moved, (moved.shape[0], -1))
    wide = extended(rows, edge, padtype)
    rest, gain = [], 1.0
    for k in range(count):
        rest.append(lfilter_zi(s[k, :3], s[k, 3:]) * gain)
        gain = gain * np.sum(s[k, :3]) / np.sum(s[k, 3:])
    state = np.stack(rest)[:, :, None]
    y, _ = sosfilt(s, wide, 0, state * wide[:1])
    turned = y[::-1]
    z, _ = sosfilt(s, turned, 0, state * turned[:1])
    found = z[::-1]
    return _moved(np.reshape(found[edge:-edge] if edge else found, moved.shape), 0, axis)


def decimate(x: object, q: int, n: int | None = None, ftype: object = "iir", axis: int = -1,
             zero_phase: bool = True) -> Any:
    """Return every q-th number of a signal, after a low-pass filter."""
    if ftype not in ("iir", "fir") or not zero_phase:
        raise refuse("scipy.signal.decimate with a filter of one's own, or without zero_phase, "
                     "cannot be captured", "Filter the signal before, and slice it", "TJ203")
    q = operator.index(q)
    if ftype == "fir":
        h = _design("firwin", (20 * q if n is None else n) + 1, 1.0 / q, window="hamming")
        return resample_poly(x, 1, q, axis, h)
    sos = _design("cheby1", 8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(
        as_inexact(x).dtype)
    smooth: Any = _moved(sosfiltfilt(sos, x, axis), axis, 0)
    return _moved(smooth[::q], 0, axis)


# --- windows that slide -------------------------------------------------------------------------


def _sizes(size: object, rank: int) -> list[int]:
    given: Any = 3 if size is None else size
    each = given if isinstance(given, (list, tuple, np.ndarray)) else [given] * rank
    return [operator.index(k) for k in each]


def _neighbours(x: np.ndarray, sizes: list[int]) -> Any:
    """Return the numbers of windows around each number, zeros outside, along a first axis."""
    wide = np.pad(x, [(k // 2, k // 2) for k in sizes])
    return np.stack([wide[tuple(slice(i, i + n) for i, n in zip(at, np.shape(x), strict=True))]
                     for at in np.ndindex(*sizes)])


def medfilt(volume: object, kernel_size: object = None) -> Any:
    """Return the medians of windows, zeros outside."""
    x: Any = np.atleast_1d(as_tracer(volume))
    sizes = _sizes(kernel_size, len(x.dims))
    if any(k % 2 != 1 for k in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    if x.dtype.kind not in "fiu":
        raise ValueError(f"dtype={x.dtype} is not supported by medfilt")
    middle = math.prod(sizes) // 2
    return np.sort(_neighbours(x, sizes), axis=0)[middle]


def wiener(im: object, mysize: object = None, noise: object = None) -> Any:
    """Return a signal less its noise, after N. Wiener."""
    x: Any = as_tracer(im)
    sizes = _sizes(mysize, len(x.dims))
    mean, square = (np.mean(_neighbours(v.astype(np.result_type(v.dtype, np.float64)), sizes),
                            axis=0) for v in (x, x ** 2))
    spread = square - mean * mean
    floor: Any = np.mean(spread) if noise is None else noise
    quiet = spread < floor
    share = 1.0 - floor / np.where(quiet, 1.0, spread)
    return np.where(quiet, mean, mean + (x - mean) * share)


# --- answers of filters -------------------------------------------------------------------------


def places_of(grid: object, whole: bool, fs: np.ndarray, last: bool) -> Any:
    """Return frequencies as angles."""
    if isinstance(grid, (TracedOperand, list, tuple, np.ndarray)):
        return 2.0 * math.pi * np.atleast_1d(as_tracer(grid)) / fs
    count = 512 if grid is None else operator.index(grid)  # type: ignore[arg-type]
    return np.linspace(0.0, 2.0 * math.pi if whole else math.pi, count,
                       endpoint=last and not whole)


def _polynomial(c: object, turn: np.ndarray) -> Any:
    given: Any = np.atleast_1d(as_tracer(c))
    if len(given.dims) != 1:
        raise refuse("freqz of several filters cannot be captured", "Use a loop", "TJ207")
    total: Any = 0.0 * turn
    for k in reversed(range(known_length(given, "the length of a filter"))):
        total = total * turn + given[k]
    return total


def freqz(b: object, a: object = 1, worN: object = 512, whole: bool = False, plot: None = None,
          fs: np.ndarray = 2.0 * math.pi, include_nyquist: bool = False) -> Any:  # type: ignore[assignment]
    """Return frequencies, and the answer of a rational filter to each."""
    if plot is not None:
        raise refuse("scipy.signal.freqz with plot= cannot be captured", "Plot what it returns",
                     "TJ203")
    w = places_of(worN, whole, fs, include_nyquist)
    turn = np.exp(-1j * w)
    found = _polynomial(b, turn) / _polynomial(a, turn)
    if isinstance(worN, int) and isinstance(a, int):  # SciPy transforms the filter itself
        found = cast(found, np.result_type(as_inexact(b).dtype, np.complex64))
    return w * (fs / (2.0 * math.pi)), found


def freqz_sos(sos: object, worN: object = 512, whole: bool = False,
              fs: np.ndarray = 2.0 * math.pi) -> Any:  # type: ignore[assignment]
    """Return frequencies, and the answer of filters of second order to each."""
    s = valid_sections(sos)
    found: Any = 1.0
    for k in range(known_length(sos, "how many sections a filter has")):
        w, answer = freqz(s[k, :3], s[k, 3:], worN, whole, None, fs)
        found = found * answer
    dtype = as_inexact(s).dtype
    return cast(w, dtype), cast(found, np.result_type(dtype, np.complex64))


# --- waves --------------------------------------------------------------------------------------


def chirp(t: object, f0: np.ndarray, t1: np.ndarray, f1: np.ndarray, method: str = "linear",
          phi: np.ndarray = 0, vertex_zero: bool = True) -> Any:  # type: ignore[assignment]
    """Return a cosine whose frequency changes."""
    if method not in ("linear", "lin", "li", "quadratic", "quad", "q", "logarithmic", "log", "lo"):
        raise refuse(f"scipy.signal.chirp with method={method!r} cannot be captured",
                     "Use 'linear', 'quadratic' or 'logarithmic'", "TJ203")
    t = as_inexact(t)
    if method.startswith("li"):
        turns = f0 * t + 0.5 * (f1 - f0) / t1 * t * t
    elif method.startswith("q"):
        bend = (f1 - f0) / (t1 * t1)
        turns = f0 * t + bend * t ** 3 / 3.0 if vertex_zero else (
            f1 * t + bend * ((t1 - t) ** 3 - t1 ** 3) / 3.0)
    else:
        rate = t1 / np.log(f1 / f0)
        turns = rate * f0 * (np.exp(t / rate) - 1.0)
    return np.cos(2.0 * math.pi * turns + np.deg2rad(phi))


def sawtooth(t: object, width: object = 1) -> Any:
    """Return waves that rise over a share of their period, and fall over the rest."""
    share: Any = cast(as_tracer(width), np.float64)
    along: Any = np.remainder(cast(as_tracer(t), np.float64), 2.0 * math.pi)
    rising = along < share * (2.0 * math.pi)
    up = along / (math.pi * np.where(rising, share, 1.0)) - 1.0
    down = (math.pi * (share + 1.0) - along) / (math.pi * np.where(rising, 1.0, 1.0 - share))
    return np.where((share > 1.0) | (share < 0.0), np.nan, np.where(rising, up, down))


captures_of_some("scipy.signal", {
    "resample": resample, "upfirdn": upfirdn, "resample_poly": resample_poly,
    "sosfiltfilt": sosfiltfilt, "decimate": decimate, "medfilt": medfilt, "wiener": wiener,
    "freqz": freqz, "chirp": chirp})
captures_of_some("scipy.signal", {"freqz_sos": freqz_sos, "sosfreqz": freqz_sos,
                                  "sawtooth": sawtooth}, "iuf")
