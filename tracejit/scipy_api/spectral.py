"""Spectral estimates of `scipy.signal`: spectra of segments, and transforms of short times."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.convolutions import is_longer
from tracejit.scipy_api.filters import detrend as detrended
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import as_operand, cast, dims_of, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int

__all__ = ["shape_of_segments"]


class Segments(NamedTuple):
    """How a signal is cut into segments that are transformed.

    length, overlap, points -- of a segment, of two, of a transform
    window                  -- the factors of a segment's points
    trend                   -- the trend to subtract from each segment, as SciPy's `detrend`
    half                    -- whether negative frequencies are left out
    """

    length: int
    overlap: int
    points: int
    window: np.ndarray
    trend: object
    half: bool


def shape_of_segments(window: object, length: int) -> Any:
    """Return the factors of a segment's points, which a window names or is."""
    if isinstance(window, (str, tuple)):
        signal: Any = sys.modules["scipy.signal"]
        return as_tracer(signal.get_window(window, length))
    given = cast(as_tracer(window), np.float64)
    if len(given.dims) != 1:
        raise ValueError("window must be 1-D")
    return given


def _whole(x: object, default: int) -> int:
    return default if x is None else operator.index(x)  # type: ignore[arg-type]


def _segments(x: np.ndarray, window: object, nperseg: object, noverlap: object, nfft: object,
              trend: object, half: bool, *, share: int = 2) -> Segments:
    """Return how a signal, whose last axis is time, is cut.

    share -- which part of a segment the next one begins with, if a call does not say it
    """
    time = dims_of(x)[-1]
    named = isinstance(window, (str, tuple))
    length = _whole(nperseg, 256 if named else known_length(window, "the length of a window"))
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    if is_longer(to_dim(length), time):
        if not named:
            raise ValueError("window is longer than x.")
        length = need_int(time, "the length of a signal that is shorter than a segment")
    shape = shape_of_segments(window, length)
    points, overlap = _whole(nfft, length), _whole(noverlap, length // share)
    if points < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    return Segments(length, overlap, points, shape, trend,
                    half and as_tracer(x).dtype.kind != "c")


def _signal(x: object, axis: int) -> Any:
    given: Any = as_inexact(x, np.float32)
    return np.moveaxis(given, axis, -1)


def _transformed(x: np.ndarray, cut: Segments) -> Any:
    """Return the transforms of segments: ... times segments times frequencies."""
    time, step = dims_of(x)[-1], cut.length - cut.overlap
    starts: Any = iota(to_dim((as_operand(time) - cut.overlap) // step)) * step
    parts = x[..., starts[:, None] + np.arange(cut.length)]
    if cut.trend is not False and cut.trend is not None:
        if not isinstance(cut.trend, str):
            raise refuse("a spectrum with a function as detrend= cannot be captured",
                         "Name the trend, or take it off before", "TJ203")
        parts = detrended(parts, -1, cut.trend)
    kind = as_tracer(x).dtype
    parts = parts * cast(as_tracer(cut.window), kind.type(0).real.dtype)
    return (np.fft.rfft if cut.half else np.fft.fft)(parts, cut.points, axis=-1)


def _frequencies(cut: Segments, fs: np.ndarray) -> Any:
    steps = np.fft.rfftfreq(cut.points) if cut.half else np.fft.fftfreq(cut.points)
    return steps * fs


def _density(product: np.ndarray, cut: Segments, scaling: str, fs: np.ndarray) -> Any:
    """Return products of transforms as a density over frequencies, or as powers."""
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Parameter {scaling=} not in ['density', 'spectrum']!")
    window = cut.window
    scale = 1.0 / (fs * np.sum(window ** 2)) if scaling == "density" else 1.0 / np.sum(window) ** 2
    twice = np.ones(cut.points // 2 + 1 if cut.half else cut.points)
    if cut.half:
        twice[1:None if cut.points % 2 else -1] = 2.0
    return cast(product * (scale * twice), as_tracer(product).dtype)


def _cross(x: np.ndarray, y: np.ndarray, cut: Segments, scaling: str, fs: np.ndarray) -> Any:
    """Return the spectra of segments: ... times segments times frequencies."""
    first = _transformed(x, cut)
    if x is y:
        return _density(np.real(first) ** 2 + np.imag(first) ** 2, cut, scaling, fs)
    return _density(np.conj(first) * _transformed(y, cut), cut, scaling, fs)


def _averaged(spectra: np.ndarray, average: str, axis: int) -> Any:
    if average != "mean":
        raise refuse(f"a spectrum with average={average!r} cannot be captured", "Use 'mean'",
                     "TJ203")
    return np.moveaxis(np.mean(spectra, axis=-2), -1, axis)


def _filled(x: np.ndarray, y: np.ndarray) -> Any:
    """Return a signal with zeros behind it, if another one is longer."""
    lengths = [dims_of(v)[-1] for v in (x, y)]
    if x is y or not is_longer(lengths[1], lengths[0]):
        return x
    rest: Any = as_operand(lengths[1]) - as_operand(lengths[0])
    return np.pad(x, [(0, 0)] * (len(dims_of(x)) - 1) + [(0, rest)])


def csd(x: object, y: object, fs: np.ndarray = 1.0, window: object = "hann",  # type: ignore[assignment]
        nperseg: object = None, noverlap: object = None, nfft: object = None,
        detrend: object = "constant", return_onesided: bool = True, scaling: str = "density",
        axis: int = -1, average: str = "mean") -> Any:
    """Return frequencies, and the spectrum of two signals by P. D. Welch's average."""
    first, second = _signal(x, axis), _signal(y, axis)
    if second.dtype.kind == "c" != first.dtype.kind:
        raise refuse("scipy.signal.csd of a real and a complex signal cannot be captured",
                     "Make both complex", "TJ206")
    dtype: Any = np.result_type(first.dtype, second.dtype)
    first = first.astype(dtype)
    second = first if x is y else second.astype(dtype)
    if len(dims_of(first)) != len(dims_of(second)):
        raise refuse("scipy.signal.csd of signals of unlike ranks cannot be captured",
                     "Broadcast them", "TJ207")
    first, second = _filled(first, second), _filled(second, first)
    complex_ = "c" in (as_tracer(first).dtype.kind, as_tracer(second).dtype.kind)
    cut = _segments(first, window, nperseg, noverlap, nfft, detrend,
                    return_onesided and not complex_)
    found = _averaged(_cross(first, second, cut, scaling, fs), average, axis)
    return _frequencies(cut, fs), found


def welch(x: object, fs: np.ndarray = 1.0, window: object = "hann", nperseg: object = None,  # type: ignore[assignment]
          noverlap: object = None, nfft: object = None, detrend: object = "constant",
          return_onesided: bool = True, scaling: str = "density", axis: int = -1,
          average: str = "mean") -> Any:
    """Return frequencies, and the spectrum of a signal by P. D. Welch's average."""
    given = as_tracer(x)
    return csd(given, given, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
               scaling, axis, average)


def coherence(x: object, y: object, fs: np.ndarray = 1.0, window: object = "hann",  # type: ignore[assignment]
              nperseg: object = None, noverlap: object = None, nfft: object = None,
              detrend: object = "constant", axis: int = -1) -> Any:
    """Return frequencies, and how two signals hang together at each."""
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    a, b = (as_inexact(v, np.float32) for v in (x, y))
    if not same_dim(a.dims[axis], b.dims[axis]):
        raise refuse("scipy.signal.coherence of signals of unlike lengths cannot be captured",
                     "Cut the longer one", "TJ213")
    places, both = csd(a, b, *options, axis=axis)
    first, second = (csd(v, v, *options, axis=axis)[1] for v in (a, b))
    return places, (np.real(both) ** 2 + np.imag(both) ** 2) / (first * second)


def periodogram(x: object, fs: np.ndarray = 1.0, window: object = "boxcar", nfft: object = None,  # type: ignore[assignment]
                detrend: object = "constant", return_onesided: bool = True,
                scaling: str = "density", axis: int = -1) -> Any:
    """Return frequencies, and the spectrum of a whole signal."""
    moved = _signal(x, axis)
    time = need_int(dims_of(moved)[-1], "the length of a signal with a periodogram")
    points = _whole(nfft, time)
    length = min(points, time)
    shape = "boxcar" if window is None else window
    return csd(*(as_tracer(moved[..., :length]),) * 2, fs, shape, length, 0, points, detrend,
               return_onesided, scaling) if axis in (-1, len(dims_of(moved)) - 1) else _refused()


def _refused() -> Any:
    raise refuse("scipy.signal.periodogram along another axis than the last cannot be captured",
                 "Move the axis with np.moveaxis", "TJ203")


_PARTS: dict[str, Callable[..., Any]] = {
    "complex": lambda z: z, "magnitude": np.abs, "angle": np.angle,
    "psd": lambda z: np.real(z) ** 2 + np.imag(z) ** 2}


def spectrogram(x: object, fs: np.ndarray = 1.0, window: object = ("tukey", 0.25),  # type: ignore[assignment]
                nperseg: object = None, noverlap: object = None, nfft: object = None,
                detrend: object = "constant", return_onesided: bool = True,
                scaling: str = "density", axis: int = -1, mode: str = "psd") -> Any:
    """Return frequencies, times, and the spectrum of each segment."""
    if mode not in _PARTS or axis not in (-1, len(as_tracer(x).dims) - 1):
        raise refuse("scipy.signal.spectrogram with mode='phase' or along another axis than the "
                     "last cannot be captured", "Use np.unwrap, and np.moveaxis", "TJ203")
    moved = _signal(x, axis)
    cut = _segments(moved, window, nperseg, noverlap, nfft, detrend, return_onesided, share=8)
    if mode == "psd":
        found = _cross(moved, moved, cut, scaling, fs)
    else:
        factor = _short_scale(cut, "psd" if scaling == "density" else "spectrum", fs)
        pieces = _transformed(moved, cut)
        found = _PARTS[mode](cast(pieces * factor, pieces.dtype))
    return _frequencies(cut, fs), _times(moved, cut) / fs, np.swapaxes(found, -1, -2)


def _times(x: np.ndarray, cut: Segments) -> Any:
    """Return the middles of segments, in samples."""
    step = cut.length - cut.overlap
    count = to_dim((as_operand(dims_of(x)[-1]) - cut.overlap) // step)
    return cast(iota(count) * step, np.float64) + 0.5 * cut.length


def _short_scale(cut: Segments, scaling: str, fs: np.ndarray) -> Any:
    if scaling == "spectrum":
        return 1.0 / np.sum(cut.window)
    if scaling != "psd":
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    return np.sqrt(1.0 / (fs * np.sum(cut.window ** 2)))


def stft(x: object, fs: np.ndarray = 1.0, window: object = "hann", nperseg: object = 256,  # type: ignore[assignment]
         noverlap: object = None, nfft: object = None, detrend: object = False,
         return_onesided: bool = True, boundary: str | None = "zeros", padded: bool = True,
         axis: int = -1, scaling: str = "spectrum") -> Any:
    """Return frequencies, times, and the transforms of segments."""
    if boundary not in (None, "zeros") or axis not in (-1, len(as_tracer(x).dims) - 1):
        raise refuse("scipy.signal.stft with this boundary=, or along another axis than the last, "
                     "cannot be captured", "Use np.pad, and np.moveaxis", "TJ203")
    moved = _signal(x, axis)
    cut = _segments(moved, window, nperseg, noverlap, nfft, detrend, return_onesided)
    edge = cut.length // 2 if boundary == "zeros" else 0
    middle = 0.5 * cut.length if boundary == "zeros" else 0.0
    rest: Any = 0
    if padded:
        step = cut.length - cut.overlap
        rest = (-(as_operand(dims_of(moved)[-1]) + 2 * edge - cut.length) % step) % cut.length
    sides = [(0, 0)] * (len(dims_of(moved)) - 1) + [(edge, edge + rest)]
    wide = np.pad(moved, sides)
    pieces = _transformed(wide, cut)
    found = cast(pieces * _short_scale(cut, scaling, fs), pieces.dtype)
    return (_frequencies(cut, fs), (_times(wide, cut) - middle) / fs, np.swapaxes(found, -1, -2))


captures_of_some("scipy.signal", {
    "csd": csd, "welch": welch, "coherence": coherence, "periodogram": periodogram,
    "spectrogram": spectrogram, "stft": stft})
