"""Answers of linear systems of `scipy.signal` to frequencies."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.fits import roots
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import normalized, ss2tf, tf2zpk
from tracejit.scipy_api.resampling import freqz, places_of
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.python_numbers import require, require_ours

__all__ = ["system_of"]


def system_of(system: object, name: str) -> tuple[Any, ...]:
    """Return a system as its tuple of arrays."""
    if not isinstance(system, (tuple, list)):
        raise refuse(f"scipy.signal.{name} of an object cannot be captured",
                     "Pass the tuple of its arrays", "TJ203")
    return tuple(system)


def _row(x: object) -> Any:
    return np.atleast_1d(as_inexact(x))


def _from_roots(x: np.ndarray, given: object) -> Any:
    """Return at places the product of distances to roots, along the first axis."""
    return np.prod(x - np.reshape(_row(given), (-1, 1)), axis=0)


def _no_plot(plot: object, name: str) -> None:
    if plot is not None:
        raise refuse(f"scipy.signal.{name} with plot= cannot be captured", "Plot what it returns",
                     "TJ203")


def findfreqs(num: object, den: object, N: object, kind: str = "ba") -> Any:
    """Return frequencies around those of zeros and poles: data says only in which decades."""
    if kind not in ("ba", "zp"):
        raise ValueError("input must be one of {'ba', 'zp'}")
    ends: Any
    poles: Any
    ends, poles = (cast(as_tracer(roots(_row(x)) if kind == "ba" else _row(x)), np.complex128)
                   for x in (num, den))
    if not known_length(poles, "how many poles a system has"):
        poles = np.array([-1000.0 + 0.0j])
    every = np.concatenate([poles, ends])
    some = np.concatenate([np.imag(poles) >= 0, (np.abs(ends) < 1e5) & (np.imag(ends) >= 0)])
    at_zero = np.where(np.abs(every) < 1e-10, 1.0, 0.0)
    require(np.any(some), ValueError, "there are no zeros or poles on or above the real line")
    real, high = np.abs(np.real(every) + at_zero), np.imag(every)
    top = np.max(np.where(some, 3.0 * real + 1.5 * high, 0.0))
    low = np.min(np.where(some, real + 2.0 * high, np.inf))
    first, last = np.round(np.log10(0.1 * low) - 0.5), np.round(np.log10(top) + 0.5)
    return 10.0 ** np.linspace(first, last, operator.index(N))  # type: ignore[arg-type]


def _places(worN: object, num: object, den: object, kind: str) -> Any:
    if worN is None or isinstance(worN, int):
        return findfreqs(num, den, 200 if worN is None else worN, kind)
    return _row(worN)


def freqs(b: object, a: object, worN: object = 200, plot: None = None) -> Any:
    """Return frequencies, and the answer of an analog filter to each."""
    _no_plot(plot, "freqs")
    w = _places(worN, b, a, "ba")
    s: Any = 1j * w
    return w, np.polyval(_row(b), s) / np.polyval(_row(a), s)


def freqs_zpk(z: object, p: object, k: object, worN: object = 200) -> Any:
    """Return frequencies, and the answer of zeros, poles and a gain to each."""
    w = _places(worN, z, p, "zp")
    s: Any = 1j * w
    gain: Any = cast(as_inexact(k), np.float64)
    return w, gain * _from_roots(s, z) / _from_roots(s, p)


def freqz_zpk(z: object, p: object, k: object, worN: object = 512, whole: bool = False,
              fs: np.ndarray = 2.0 * math.pi) -> Any:  # type: ignore[assignment]
    """Return frequencies, and the answer of a digital filter's zeros, poles and gain to each."""
    w = places_of(512 if worN is None else worN, whole, fs, False)
    turn: Any = np.exp(1j * w)
    gain: Any = cast(as_inexact(k), np.float64)
    return w * (fs / (2.0 * math.pi)), gain * _from_roots(turn, z) / _from_roots(turn, p)


def group_delay(system: object, w: object = 512, whole: bool = False,
                fs: np.ndarray = 2.0 * math.pi) -> Any:  # type: ignore[assignment]
    """Return frequencies, and by how many samples a digital filter delays each."""
    b, a = map(_row, system_of(system, "group_delay"))
    at = places_of(512 if w is None else w, whole, fs, False)
    both: Any = np.convolve(b, np.conj(a[::-1]))
    z: Any = np.exp(-1j * at)
    low = np.polyval(both[::-1], z)
    top = np.polyval((both * iota(dims_of(both)[0]))[::-1], z)
    delay = np.real(top / low) - known_length(a, "the length of a filter") + 1
    require_ours(np.all(np.isfinite(delay)), NotCaptured, "scipy.signal.group_delay where a "
                 "filter's answer is zero is not captured: leave such frequencies out")
    return at * (fs / (2.0 * math.pi)), delay


# --- of systems in any form -----------------------------------------------------------------------


def _fraction(parts: tuple[np.ndarray, ...], name: str) -> tuple[Any, Any]:
    """Return a system of one input and one output as a fraction of polynomials."""
    if len(parts) == 2:
        top, low = normalized(*parts)
        if np.result_type(top.dtype, low.dtype).kind == "c" or top.ndim > 1:
            raise refuse(f"scipy.signal.{name} of complex coefficients or of several outputs "
                         "cannot be captured", "Use scipy.signal.freqs or freqz", "TJ206")
        return top, low
    top, low = ss2tf(*parts[:4])  # type: ignore[arg-type]
    if known_length(top, "how many outputs a system has") != 1 or known_length(
            np.atleast_2d(as_tracer(parts[1]))[0], "how many inputs a system has") != 1:
        raise ValueError(f"{name}() requires a SISO (single input, single output) system.")
    return top[0], low


def freqresp(system: object, w: object = None, n: int = 10000) -> Any:
    """Return frequencies, and the answer of a system in continuous time to each."""
    parts = system_of(system, "freqresp")
    given = n if w is None else w
    if len(parts) == 3:
        return freqs_zpk(*parts, given)
    top, low = _fraction(parts, "freqresp")
    if w is None:
        ends, poles, _ = tf2zpk(top, low)
        given = findfreqs(ends, poles, n, "zp")
    return freqs(top, low, given)


def dfreqresp(system: object, w: object = None, n: int = 10000, whole: bool = False) -> Any:
    """Return frequencies, and the answer of a system in steps of time to each."""
    parts = system_of(system, "dfreqresp")[:-1]
    given = n if w is None else w
    if len(parts) == 3:
        return freqz_zpk(*parts, given, whole)
    top, low = _fraction(parts, "dfreqresp")
    counts = [known_length(x, "the length of a filter") for x in (top, low)]
    wide = [np.concatenate([np.zeros(max(counts) - k), x])  # in powers of 1 / z
            for x, k in zip((top, low), counts, strict=True)]
    return freqz(wide[0], wide[1], given, whole)


def _in_decibels(answer: np.ndarray) -> tuple[Any, Any]:
    angles: Any = np.arctan2(np.imag(answer), np.real(answer))
    return 20.0 * np.log10(np.abs(answer)), np.unwrap(angles) * 180.0 / np.pi


def bode(system: object, w: object = None, n: int = 100) -> Any:
    """Return frequencies, and a system's gain in dB and phase in degrees at each."""
    at, answer = freqresp(system, w, n)
    return at, *_in_decibels(answer)


def dbode(system: object, w: object = None, n: int = 100) -> Any:
    """Return frequencies, and the gain and phase at each of a system in steps of time."""
    at, answer = dfreqresp(system, w, n)
    return at / system_of(system, "dbode")[-1], *_in_decibels(answer)


captures_of_finite("scipy.signal", {
    "findfreqs": findfreqs, "freqs": freqs, "freqs_zpk": freqs_zpk, "freqz_zpk": freqz_zpk,
    "group_delay": group_delay, "freqresp": freqresp, "dfreqresp": dfreqresp, "bode": bode,
    "dbode": dbode}, "fc")
