"""Changes of low-pass filters of `scipy.signal` into others, and filters of one frequency."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.designs import changed_band
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import normalized, zeros
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import tracer_of

__all__: list[str] = []

_LENGTH = "the length of a filter"


def _coefficients(b: object, a: object) -> tuple[Any, Any, int, int]:
    """Return both polynomials in one dtype, and their degrees."""
    given: list[Any] = [np.atleast_1d(as_inexact(x)) for x in (b, a)]
    dtype = np.result_type(*(x.dtype for x in given))
    top, low = (cast(x, dtype) for x in given)
    return top, low, known_length(top, _LENGTH) - 1, known_length(low, _LENGTH) - 1


def _number(x: object) -> Any:
    """Return a frequency as SciPy takes it: a Python float, or one of the first of an array."""
    given: Any = cast(as_inexact(x), np.float64)
    return tracer_of(as_tracer(given[0] if given.ndim else given).value, weak=True)


def lp2lp(b: object, a: object, wo: object = 1.0) -> Any:
    """Return a low-pass filter that ends at another frequency."""
    top, low, n, d = _coefficients(b, a)
    steps = _number(wo) ** np.arange(max(n, d), -1.0, -1.0)
    first, second = max(n - d, 0), max(d - n, 0)
    return normalized(top * steps[first] / steps[second:], low * steps[first] / steps[first:])


def lp2hp(b: object, a: object, wo: object = 1.0) -> Any:
    """Return a high-pass filter from a low-pass one."""
    top, low, n, d = _coefficients(b, a)
    steps = _number(wo) ** np.arange(max(n, d) + 1.0)
    found = [np.concatenate([x[::-1] * steps[:k + 1], cast(as_tracer(zeros(max(n, d) - k)),
                                                           x.dtype)])
             for x, k in ((top, n), (low, d))]
    return normalized(*found)


def _substituted(x: np.ndarray, degree: int, size: int,
                 terms: Callable[[int], list[tuple[int, np.ndarray]]]) -> Any:
    """Return a polynomial with another one put in.

    terms -- the places, counted from the last, and weights that a power of degree i adds to
    """
    found: list[Any] = [0.0] * size
    for i in range(degree + 1):
        for place, weight in terms(i):
            found[place] = found[place] + weight * x[degree - i]
    return np.stack([cast(1.0 * as_tracer(v), x.dtype) for v in reversed(found)])


def lp2bp(b: object, a: object, wo: object = 1.0, bw: object = 1.0) -> Any:
    """Return a band-pass filter from a low-pass one."""
    top, low, n, d = _coefficients(b, a)
    middle, width, most = _number(wo), _number(bw), max(n, d)

    def terms(i: int) -> Any:
        return [(most - i + 2 * k, math.comb(i, k) * middle ** (2 * (i - k)) / width ** i)
                for k in range(i + 1)]

    return normalized(_substituted(top, n, n + most + 1, terms),
                      _substituted(low, d, d + most + 1, terms))


def lp2bs(b: object, a: object, wo: object = 1.0, bw: object = 1.0) -> Any:
    """Return a band-stop filter from a low-pass one."""
    top, low, n, d = _coefficients(b, a)
    middle, width, most = _number(wo), _number(bw), max(n, d)

    def terms(i: int) -> Any:
        return [(i + 2 * k, math.comb(most - i, k) * middle ** (2 * (most - i - k)) * width ** i)
                for k in range(most - i + 1)]

    return normalized(*(_substituted(x, k, 2 * most + 1, terms) for x, k in ((top, n), (low, d))))


def _both(z: object, p: object) -> list[Any]:
    return [np.atleast_1d(as_inexact(x)) for x in (z, p)]


def _of_zeros(kind: str, of_two: bool) -> Callable[..., Any]:
    def one(z: object, p: object, k: object, wo: object = 1.0) -> Any:
        ends, poles = _both(z, p)
        return changed_band(kind)(ends, poles, k, _number(wo))

    def two(z: object, p: object, k: object, wo: object = 1.0, bw: object = 1.0) -> Any:
        ends, poles = _both(z, p)
        dtype = np.result_type(ends.dtype, poles.dtype)  # on which a root's side may depend
        ends, poles = cast(as_tracer(ends), dtype), cast(as_tracer(poles), dtype)
        return changed_band(kind)(ends, poles, k, _number(wo), _number(bw))

    return two if of_two else one


# --- filters of one frequency ---------------------------------------------------------------------


def _notch(is_peak: bool) -> Callable[..., Any]:
    def capture(w0: object, Q: object, fs: object = 2.0, *, xp: None = None,
                device: None = None) -> Any:
        at = 2 * _number(w0) / _number(fs)
        require(np.logical_and(at >= 0.0, at <= 1.0), ValueError,
                "w0 should be such that 0 < w0 < 1")
        width = at / _number(Q)
        gain = 1.0 / (1.0 + np.tan(width * np.pi / 2.0))
        middle = -2.0 * np.cos(at * np.pi)
        b = (1.0 - gain) * np.array([1.0, 0.0, -1.0]) if is_peak else gain * np.stack(
            [1.0, middle, 1.0])
        return b, np.stack([1.0, gain * middle, 2.0 * gain - 1.0])

    return capture


def kaiser_beta(a: object) -> Any:
    """Return the shape of a Kaiser window for an attenuation in dB."""
    given: Any = as_tracer(a)
    if given.ndim:
        raise refuse("scipy.signal.kaiser_beta of an array cannot be captured", "Use a loop",
                     "TJ207")
    more = given > 21
    above = np.where(more, given - 21, 1.0)
    middle = 0.5842 * above ** 0.4 + 0.07886 * above
    found = np.where(given > 50, 0.1102 * (given - 8.7), np.where(more, middle, 0.0))
    return tracer_of(as_tracer(found).value, weak=given.weak)


def kaiser_atten(numtaps: np.ndarray, width: np.ndarray) -> Any:
    """Return the attenuation in dB of a filter with so many coefficients."""
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


captures_of_finite("scipy.signal", {
    "lp2lp": lp2lp, "lp2hp": lp2hp, "lp2bp": lp2bp, "lp2bs": lp2bs,
    "lp2lp_zpk": _of_zeros("low", False), "lp2hp_zpk": _of_zeros("high", False),
    "lp2bp_zpk": _of_zeros("band", True), "lp2bs_zpk": _of_zeros("stop", True),
    "iirnotch": _notch(False), "iirpeak": _notch(True),
    "kaiser_beta": kaiser_beta, "kaiser_atten": kaiser_atten}, "fc")
