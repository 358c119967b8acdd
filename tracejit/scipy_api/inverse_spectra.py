"""Signals of `scipy.signal` from transforms, envelopes, and periodograms of uneven samples."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.spectral import shape_of_segments
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

# --- scipy.signal.istft ---------------------------------------------------------------------------


def _sizes(count: int, onesided: bool, nperseg: object, noverlap: object,
           nfft: object) -> tuple[int, int, int]:
    """Return the length of a segment, the overlap of two, and how many points are transformed."""
    usual = 2 * (count - 1) if onesided else count
    length = usual if nperseg is None else operator.index(nperseg)  # type: ignore[arg-type]
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    points = operator.index(nfft) if nfft is not None else (  # type: ignore[arg-type]
        length if onesided and length == usual + 1 else usual)
    if nfft is not None and points < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = length // 2 if noverlap is None else operator.index(noverlap)  # type: ignore[arg-type]
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    return length, overlap, points


def _overlapped(pieces: np.ndarray, step: int) -> Any:
    """Return sums of segments, of the last two axes: places in a segment times segments."""
    lead, (length, count) = dims_of(pieces)[:-2], dims_of(pieces)[-2:]
    rows: Any = np.reshape(np.moveaxis(pieces, (-1, -2), (0, 1)),
                           (as_operand(count) * as_operand(length), -1))
    starts: Any = iota(count) * step
    places = np.reshape(starts[:, None] + iota(length), (-1,))
    size = to_dim(as_operand(length) + (as_operand(count) - 1) * step)
    zero = as_tracer(pieces).dtype.type(0)
    total: Any = apply("full", zero, shape=(size, as_tracer(rows).dims[1]))
    total.cell.is_array = True
    np.add.at(total, places, rows)
    return np.reshape(total.T, (*map(as_operand, lead), as_operand(size)))


def istft(Zxx: object, fs: np.ndarray = 1.0, window: object = "hann", nperseg: object = None,  # type: ignore[assignment]
          noverlap: object = None, nfft: object = None, input_onesided: bool = True,
          boundary: bool = True, time_axis: int = -1, freq_axis: int = -2,
          scaling: str = "spectrum") -> Any:
    """Return times, and the signal whose short transforms are given."""
    z: Any = as_tracer(Zxx)
    rank = len(z.dims)
    if rank < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    z = z if z.dtype.kind == "c" else z + 0j
    length, overlap, points = _sizes(
        need_int(z.dims[freq_axis], "how many frequencies a transform has"), bool(input_onesided),
        nperseg, noverlap, nfft)
    z = np.moveaxis(z, (freq_axis, time_axis), (-2, -1))
    found: Any = (np.fft.irfft if input_onesided else np.fft.ifft)(z, points, axis=-2)
    found = found[..., :length, :]
    factors = shape_of_segments(window, length)
    if not same_dim(factors.dims[0], length):
        raise ValueError(f"window must have length of {length}")
    factors = cast(factors, found.dtype.type(0).real.dtype)
    scale = np.sum(factors) if scaling == "spectrum" else np.sqrt(fs * np.sum(factors ** 2))
    column = factors[:, None]
    x = _overlapped(cast(found * scale, found.dtype) * column, length - overlap)
    norm = _overlapped(column ** 2 * np.ones_like(as_tracer(column), shape=(
        1, as_operand(z.dims[-1]))), length - overlap)
    if boundary:
        x, norm = (v[..., length // 2:-(length // 2)] for v in (x, norm))
    x = x / np.where(norm > 1e-10, norm, 1.0)
    if rank > 2 and time_axis not in (-1, rank - 1):
        order = [k % rank for k in (freq_axis, time_axis)]
        x = np.moveaxis(x, -1, order[1] - 1 if order[0] < order[1] else order[1])
    return cast(iota(as_tracer(x).dims[0]), np.float64) / fs, x


# --- scipy.signal.envelope ------------------------------------------------------------------------


def _band(bp_in: object, n: int) -> tuple[int, int]:
    pair: Any = bp_in
    if len(pair) != 2 or not all(b is None or isinstance(b, int) for b in pair):
        raise ValueError(f"{bp_in=} isn't a 2-tuple of type (int | None, int | None)!")
    start = -(n // 2) if pair[0] is None else pair[0]
    stop = (n + 1) // 2 if pair[1] is None else pair[1]
    if not -n // 2 <= start < stop <= (n + 1) // 2:
        raise ValueError("`-n//2 <= bp_in[0] < bp_in[1] <= (n+1)//2` does not hold for "
                         f"n=z.shape[axis]={n} and {bp_in=}!")
    if stop == 0:
        raise refuse("scipy.signal.envelope of a band that ends at 0 cannot be captured",
                     "Let bp_in end elsewhere", "TJ213")
    return start, stop


def _rest(n: int, start: int, stop: int, residual: str) -> np.ndarray:
    """Return which coefficients are no part of a band: a 1 for each that stays."""
    keep = np.ones(n)
    if start <= 0 < stop:
        keep[:stop] = keep[start:] = 0.0
    else:
        keep[start:stop] = 0.0
    if residual == "lowpass" and stop > 0:
        keep[stop:(n + 1) // 2] = 0.0
    elif residual == "lowpass":
        keep[start:] = keep[:(n + 1) // 2] = 0.0
    return keep


def _spectrum(z: Tracer, n: int, start: int, stop: int) -> Any:
    """Return the transform of a signal; of a real one the half that is not redundant."""
    if z.dtype.kind == "c":
        return np.fft.fft(z)
    half = np.fft.rfft(z)
    whole = np.concatenate([half, np.zeros_like(half, shape=(
        *(as_operand(d) for d in z.dims[:-1]), n - n // 2 - 1))], axis=-1)
    twice = np.ones(n)
    if start > 0:
        twice[start:stop] = 2.0
    elif stop > 0:
        twice[1:stop] = 2.0
    return whole * cast(as_tracer(twice), as_tracer(half).dtype.type(0).real.dtype)


def envelope(z: object, bp_in: object = (1, None), *, n_out: int | None = None,
             squared: bool = False, residual: str | None = "lowpass", axis: int = -1) -> Any:
    """Return the envelope of a part of a signal's band, and the rest of the signal."""
    given: Any = as_tracer(z)
    if residual not in ("lowpass", "all", None):
        raise ValueError(f"{residual=} not in ['lowpass', 'all', None]!")
    if given.dtype.kind == "c" and residual is not None:
        raise refuse("scipy.signal.envelope of a complex signal with residual= cannot be captured",
                     "Say residual=None", "TJ203")
    n = need_int(given.dims[axis], "the length of a signal with an envelope")
    count = n if n_out is None else operator.index(n_out)
    if count <= 0:
        raise ValueError(f"{n_out=} is not a positive integer or None!")
    start, stop = _band(bp_in, n)
    moved: Any = np.moveaxis(given, axis, -1)
    whole = _spectrum(moved, n, start, stop)
    centred = start <= 0 < stop
    part = np.fft.fftshift(whole, axes=-1)[..., start + n // 2:stop + n // 2] if centred else (
        whole[..., start:stop])
    base: Any = np.fft.ifft(part, count, axis=-1) * (count / n)
    size = np.real(base) ** 2 + np.imag(base) ** 2 if squared else np.abs(base)
    size = np.moveaxis(size, -1, axis)
    if residual is None:
        return size
    factors = _rest(n, start, stop, residual)
    middle = min(n, count)
    if count != n and middle % 2 == 0:
        factors[middle // 2] *= 2.0 if count < n else 0.5
    real = as_tracer(base).dtype.type(0).real.dtype
    rest: Any = (count / n) * np.fft.irfft(whole * cast(as_tracer(factors), real), count)
    return np.stack((size, np.moveaxis(rest, -1, axis)))


# --- scipy.signal.lombscargle ---------------------------------------------------------------------


def lombscargle(x: object, y: object, freqs: object, *, normalize: bool | str = False,
                weights: object = None, floating_mean: bool = False) -> Any:
    """Return the periodogram: M. Zechmeister and M. Kuerster, A&A 496, 2009."""
    given: list[Any] = [cast(as_tracer(v), np.float64) for v in (x, y, freqs)]
    times, values, angular = given
    share: Any = np.ones_like(values) if weights is None else cast(as_tracer(weights), np.float64)
    if not all(len(v.dims) == 1 and same_dim(v.dims[0], times.dims[0])
               for v in (times, values, as_tracer(share))):
        raise ValueError("Parameters x, y, weights must be 1-D arrays of equal non-zero length!")
    if len(angular.dims) != 1:
        raise ValueError("Parameter freqs must be a 1-D array of non-zero length!")
    require(np.all(share >= 0.0) & (np.sum(share) > 0.0), ValueError, "Parameter weights must have "
            "only non-negative entries which sum to a positive value!")
    kind = normalize if isinstance(normalize, str) else "normalize" if normalize else "power"
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError("Normalize must be: False (or 'power'), True (or 'normalize'), or "
                         "'amplitude'.")
    found = _periodogram(times, values, angular, share / np.sum(share), kind, bool(floating_mean))
    alone = current().decide(angular.dims[0] - 1, "==", "a periodogram of one frequency")
    return found[0] if alone is True else found


def _periodogram(x: np.ndarray, y: np.ndarray, freqs: np.ndarray, w: np.ndarray, kind: str,
                 floats: bool) -> Any:
    mean = w @ y
    phase = np.outer(x, freqs)
    c, s = np.cos(phase), np.sin(phase)
    first, mixed = w @ (c * c), w @ (c * s)
    second = 1.0 - first
    if floats:
        over, up = w @ c, w @ s
        first, second, mixed = first - over * over, second - up * up, mixed - over * up
    shift = 0.5 * np.arctan2(2.0 * mixed, first - second)
    c, s = np.cos(phase - shift), np.sin(phase - shift)
    weighted = w * y
    even, odd, first = weighted @ c, weighted @ s, w @ (c * c)
    second = 1.0 - first
    if floats:
        over, up = w @ c, w @ s
        even, odd = even - mean * over, odd - mean * up
        first, second = first - over * over, second - up * up
    least = np.finfo(np.float64).epsneg
    first, second = (np.where(v < least, least, v) for v in (first, second))
    a, b = even / first, odd / second
    if kind == "amplitude":
        return apply("complex", a, b) * np.exp(1j * shift)
    power = 2.0 * (a * even + b * odd)
    if kind == "power":
        return power * (as_operand(dims_of(x)[0]) / 4.0)
    whole = weighted @ y - mean * mean if floats else weighted @ y
    return power * (0.5 / whole)


captures_of_some("scipy.signal", {"istft": istft})
captures_of_some("scipy.signal", {"envelope": envelope}, "fc", 4)
captures_of_some("scipy.signal", {"lombscargle": lombscargle}, "iuf")
