"""Filters of `scipy.signal` without feedback, combs and ears, of frequencies that are traced."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.designs import whole
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_finite, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require, require_ours

__all__: list[str] = []


def _pairs(x: object) -> Any:
    return np.reshape(cast(as_inexact(x), np.float64), (-1, 2))


def firls(numtaps: object, bands: object, desired: object, *, weight: object = None,
          fs: object = None) -> Any:
    """Return the filter whose gain is nearest to lines over bands, by weighted least squares."""
    count = operator.index(numtaps)  # type: ignore[arg-type]
    if count % 2 == 0 or count < 1:
        raise ValueError("numtaps must be odd and >= 1")
    half: Any = 1.0 if fs is None else 0.5 * as_inexact(fs)
    ends, gains = _pairs(bands) / half, _pairs(desired)
    weights: Any = np.ones(known_length(gains, "how many bands there are")) if weight is None else (
        cast(as_inexact(weight), np.float64))
    require(np.all((ends >= 0) & (ends <= 1)), ValueError,
            "bands must be between 0 and 1 relative to Nyquist")
    require(np.all(ends[:, 1] > ends[:, 0]), ValueError,
            "bands must be monotonically nondecreasing and have width > 0.")
    require(np.all(ends[:-1, 1] <= ends[1:, 0]), ValueError, "bands must not overlap.")
    require(np.all(gains >= 0), ValueError, "desired must be non-negative.")
    require(np.all(weights >= 0), ValueError, "weight must be non-negative.")
    n = np.arange(float(count))[:, None, None]
    last = (count - 1) // 2
    edges = np.sinc(ends * n) * ends
    q = (edges[:, :, 1] - edges[:, :, 0]) @ weights
    k = np.arange(last + 1)
    matrix = q[np.abs(k[:, None] - k)] + q[k[:, None] + k]
    rise = ((gains[:, 1] - gains[:, 0]) / (ends[:, 1] - ends[:, 0]))[:, None]
    n = n[:last + 1]
    parts = ends * (rise * ends + gains[:, :1] - ends[:, :1] * rise) * np.sinc(ends * n)
    at_zero = parts[:1] - rise * ends * ends / 2.0
    above = parts[1:] + rise * np.cos(n[1:] * math.pi * ends) / (math.pi * n[1:]) ** 2
    parts = np.concatenate([at_zero, above])
    a = np.linalg.solve(matrix, (parts[:, :, 1] - parts[:, :, 0]) @ weights)
    return np.concatenate([a[:0:-1], 2 * a[:1], a[1:]])


def firwin2(numtaps: object, freq: object, gain: object, *, nfreqs: object = None,
            window: object = "hamming", antisymmetric: bool = False, fs: object = None) -> Any:
    """Return a filter that has gains at frequencies, and lines between them."""
    count = operator.index(numtaps)  # type: ignore[arg-type]
    half: Any = 1.0 if fs is None else 0.5 * as_inexact(fs)
    at, gains = (cast(as_inexact(x), np.float64) for x in (freq, gain))
    require((at[0] == 0) & (at[-1] == half), ValueError,
            "freq must start with 0 and end with fs/2.")
    require_ours(np.all(at[1:] > at[:-1]), NotCaptured, "scipy.signal.firwin2 of frequencies that "
                 "do not rise cannot be captured")
    if antisymmetric and count % 2:
        require((gains[0] == 0) & (gains[-1] == 0), ValueError,
                "A Type III filter must have zero gain at zero and Nyquist frequencies.")
    elif antisymmetric or count % 2 == 0:
        require(gains[0 if antisymmetric else -1] == 0, ValueError,
                "A Type II or IV filter must have zero gain at an end.")
    points = 1 + 2 ** math.ceil(math.log(count, 2)) if nfreqs is None else operator.index(nfreqs)  # type: ignore[arg-type]
    if count >= points:
        raise ValueError(f"ntaps must be less than nfreqs, but firwin2 was called with "
                         f"ntaps={count} and nfreqs={nfreqs}")
    share = np.linspace(0.0, 1.0, points)
    turn = np.exp(-(count - 1) / 2.0 * 1j * math.pi * share) * (1j if antisymmetric else 1.0)
    signal: Any = sys.modules["scipy.signal"]
    shape = np.ones(count) if window is None else signal.get_window(window, count, fftbins=False)
    if antisymmetric and count % 2:
        shape[count // 2] = 0.0
    return np.fft.irfft(np.interp(share * half, at, gains) * turn)[:count] * shape


def minimum_phase(h: object, method: str = "homomorphic", n_fft: object = None, *,
                  half: bool = True) -> Any:
    """Return a filter of about the same gain whose energy comes early."""
    if method != "homomorphic":
        raise refuse(f"scipy.signal.minimum_phase with method={method!r} cannot be captured",
                     "Use 'homomorphic'", "TJ203")
    given: Any = cast(as_inexact(h), np.float64)
    n = known_length(given, "the length of a filter")
    if given.ndim != 1 or n <= 2:
        raise ValueError("h must be 1-D and at least 2 samples long")
    size = 2 ** math.ceil(math.log2(2 * (n - 1) / 0.01)) if n_fft is None else whole(
        n_fft, "minimum_phase")
    if size < n:
        raise ValueError(f"n_fft must be at least len(h)=={n}")
    gains = np.abs(np.fft.fft(given, size))
    require(np.any(gains > 0), ValueError, "all numbers of the filter are zero")
    gains = gains + 1e-7 * np.min(np.where(gains > 0, gains, np.inf))
    logs = np.real(np.fft.ifft(np.log(gains) * (0.5 if half else 1.0)))
    fold = np.zeros(size)
    fold[0] = 1.0
    fold[1:size // 2] = 2.0
    if size % 2:
        fold[size // 2] = 1.0
    found = np.real(np.fft.ifft(np.exp(np.fft.fft(logs * fold))))
    return found[:n // 2 + n % 2 if half else n]


# --- prototypes and banks -------------------------------------------------------------------------


def _ordered(N: object, name: str) -> int:
    order = operator.index(N)  # type: ignore[arg-type]
    if order < 1:
        raise refuse(f"scipy.signal.{name} of order {order} cannot be captured",
                     "Use an order from 1 on", "TJ213")
    return order


def cheb1ap(N: object, rp: np.ndarray, *, xp: None = None, device: None = None) -> Any:
    """Return zeros, poles and gain of P. Chebyshev's low-pass filter with ripples that pass."""
    order = _ordered(N, "cheb1ap")
    eps = np.sqrt(10.0 ** (0.1 * rp) - 1.0)
    angles = math.pi * np.arange(-order + 1.0, order, 2.0) / (2 * order)
    poles: Any = -np.sinh(np.arcsinh(1.0 / eps) / order + 1j * angles)
    gain = np.real(np.prod(-poles))
    return np.zeros(0), poles, gain if order % 2 else gain / np.sqrt(1 + eps * eps)


def cheb2ap(N: object, rs: np.ndarray, *, xp: None = None, device: None = None) -> Any:
    """Return zeros, poles and gain of P. Chebyshev's low-pass filter with ripples that stop."""
    order = _ordered(N, "cheb2ap")
    places = np.arange(-order + 1.0, order, 2.0)
    zeros = 1j / np.sin(places[places != 0] * math.pi / (2 * order))
    slow = np.arcsinh(np.sqrt(10.0 ** (0.1 * rs) - 1.0)) / order
    poles: Any = -1.0 / np.sinh(slow + 1j * (math.pi * places / (2 * order)))
    return zeros, poles, np.real(np.prod(-poles) / np.prod(-zeros))


def iircomb(w0: object, Q: np.ndarray, ftype: str = "notch", fs: object = 2.0, *,
            pass_zero: bool = False, xp: None = None, device: None = None) -> Any:
    """Return a filter that stops or passes the multiples of a frequency, which is a constant."""
    kind, at, rate = ftype.lower(), _fixed(w0), _fixed(fs)
    if kind not in ("notch", "peak"):
        raise ValueError("ftype must be either notch or peak.")
    if not 0 < at < rate / 2:
        raise ValueError(f"w0 must be between 0 and {rate / 2} (Nyquist), but given {at}.")
    count = round(rate / at)
    if abs(at - rate / count) / rate > 1e-14:
        raise ValueError("fs must be divisible by w0.")
    beta = np.tan(count * (2 * math.pi * at / rate / Q) / 4)
    first, last = (1.0, 1.0) if kind == "notch" else (beta, -beta)
    sign = -1.0 if (kind == "peak") == pass_zero else 1.0
    between = np.zeros(count - 1)
    ends = [(first / (1 + beta), sign * last / (1 + beta)), (1.0, sign * (1 - beta) / (1 + beta))]
    return tuple(np.concatenate([np.reshape(1.0 * as_tracer(low), (1,)), between,
                                 np.reshape(1.0 * as_tracer(high), (1,))]) for low, high in ends)


def _fixed(x: object) -> float:
    return float(constant_of(x, "scipy.signal.iircomb or gammatone, whose coefficients are as many "
                             "as a frequency says,"))


def gammatone(freq: np.ndarray, ftype: str, order: object = None, numtaps: object = None,
              fs: object = None, *, xp: None = None, device: None = None) -> Any:
    """Return a filter as the ear has one for a frequency."""
    rate = 2.0 if fs is None else _fixed(fs)
    require((freq > 0) & (freq < rate / 2), ValueError, "The frequency must be between 0 and "
            f"{rate / 2} (Nyquist)")
    width: Any = 2 * math.pi * 1.019 * (freq / 9.26449 + 24.7)
    if ftype.lower() == "fir":
        power = 4 if order is None else operator.index(order)  # type: ignore[arg-type]
        if not 0 < power <= 24:
            raise ValueError("Invalid order: order must be > 0 and <= 24.")
        count = max(int(rate * 0.015), 15) if numtaps is None else need_int(
            operator.index(numtaps), "the length of a filter")  # type: ignore[arg-type]
        t = np.arange(float(count)) / rate
        b = t ** (power - 1) * np.exp(-width * t) * np.cos(2 * math.pi * freq * t)
        return b * (2 * width ** power / math.factorial(power - 1) / rate), np.ones(1)
    if ftype.lower() != "iir":
        raise ValueError("ftype must be either fir or iir.")
    if order is not None or numtaps is not None:
        raise refuse("scipy.signal.gammatone of 'iir' with order= or numtaps= cannot be captured",
                     "Leave them out: they are not used", "TJ203")
    return _ear(2 * math.pi * freq / rate, width / rate, 1.0 / rate)


def _ear(turn: np.ndarray, fall: np.ndarray, dt: float) -> Any:
    """Return M. Slaney's filter with feedback of a gammatone.

    turn, fall -- by how much a step of time turns it, and lets it die away
    """
    root: Any = np.exp(2j * turn)
    middle = 2 * np.exp(-fall + 1j * turn) * dt
    g: Any = 1.0
    for sign, inner in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        side = math.sqrt(3 + inner * 2 ** 1.5) * np.sin(turn)
        g = g * (-2 * root * dt + middle * (np.cos(turn) + sign * side))
    low = -2 / np.exp(2 * fall) - 2 * root + 2 * (1 + root) / np.exp(fall)
    gain = np.abs(g / low ** 4)
    b = [math.comb(4, k) * (-1) ** k * dt ** 4 * np.cos(k * turn) / np.exp(k * fall) / gain
         for k in range(5)]
    pair = np.stack([1.0, -2 * np.cos(turn) / np.exp(fall), np.exp(-2 * fall)])
    twice = np.convolve(pair, pair)
    return np.stack(b), np.convolve(twice, twice)


captures_of_finite("scipy.signal", {
    "firls": firls, "firwin2": firwin2, "minimum_phase": minimum_phase, "cheb1ap": cheb1ap,
    "cheb2ap": cheb2ap, "iircomb": iircomb, "gammatone": gammatone})
