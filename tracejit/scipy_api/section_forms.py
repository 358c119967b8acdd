"""Filters of `scipy.signal` as filters of second order in turn, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import tf2zpk, zeros
from tracejit.scipy_api.plain_sections import paired
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require, require_ours

__all__ = ["zpk2sos"]


def _roots(x: object) -> tuple[Any, int]:
    """Return zeros or poles as complex numbers, and how many there are."""
    given: Any = np.atleast_1d(cast(as_inexact(x), np.complex128))
    return given, known_length(given, "how many zeros and poles a filter has")


def _longer(x: np.ndarray, by: int) -> Any:
    return np.concatenate([x, cast(as_tracer(zeros(by)), np.complex128)]) if by else x


def zpk2sos(z: object, p: object, k: object, pairing: str | None = None, *,
            analog: bool = False) -> Any:
    """Return a filter of zeros, poles and a gain as filters of second order."""
    pairing = ("minimal" if analog else "nearest") if pairing is None else pairing
    if pairing not in ("nearest", "keep_odd", "minimal"):
        raise ValueError("pairing must be one of ['nearest', 'keep_odd', 'minimal'], not "
                         f"{pairing}")
    if analog and pairing != "minimal":
        raise ValueError('for analog zpk2sos conversion, pairing must be "minimal"')
    (ends, n), (poles, m) = _roots(z), _roots(p)
    gain: Any = as_tracer(k)
    if gain.dtype.kind == "c":
        require(np.imag(gain) == 0.0, ValueError, "k must be real")
    gain = np.real(gain)
    if n == m == 0:
        return np.stack([0.0, 0.0, gain, 0.0, 0.0, 1.0] if analog else
                        [gain, 0.0, 0.0, 1.0, 0.0, 0.0])[None]
    if pairing == "minimal" and m < n:
        raise ValueError("for analog zpk2sos conversion, must have len(p)>=len(z)")
    odd = m if pairing == "minimal" else max(n, m)
    count = (odd + 1) // 2
    if pairing != "minimal":
        odd += 1 if odd % 2 and pairing == "nearest" else 0
        ends, poles = _longer(ends, odd - n), _longer(poles, odd - m)
    sos = call_function(paired, (ends, poles, count, pairing == "minimal", bool(analog)), {})
    first = sos[:1] * np.concatenate([np.ones(3) * gain, np.ones(3)])
    return np.concatenate([first, sos[1:]])


def tf2sos(b: object, a: object, pairing: str | None = None, *, analog: bool = False) -> Any:
    """Return a filter of coefficients as filters of second order."""
    z, p, k = tf2zpk(b, a)
    return zpk2sos(z, p, k, pairing, analog=analog)


def _several(sos: object) -> tuple[Any, int]:
    sections = as_inexact(sos)
    return sections, known_length(sections, "how many sections a filter has")


def sos2tf(sos: object) -> tuple[Any, Any]:
    """Return filters of second order as coefficients of one filter."""
    sections, count = _several(sos)
    if not count:  # of any shape
        dtype = np.bool_ if getattr(sos, "dtype", None) == np.bool_ else sections.dtype
        return np.ones(1, dtype), np.ones(1, dtype)
    require_ours(np.all((sections[:, 0] != 0) & (sections[:, 3] != 0)), NotCaptured,
                 "scipy.signal.sos2tf of sections whose first coefficient is zero has a result "
                 "whose size depends on data, and is not captured")
    found = [np.ones(1, sections.dtype), np.ones(1, sections.dtype)]
    for k in range(count):
        found = [np.convolve(x, part) for x, part in zip(
            found, (sections[k, :3], sections[k, 3:]), strict=True)]
    return found[0], found[1]


def _both(c: np.ndarray) -> Any:
    """Return the roots of a polynomial of second degree or less: what is missing is 0."""
    has_two, has_one = c[0] != 0.0, (c[0] == 0.0) & (c[1] != 0.0)
    first = np.where(has_two, c[0], 1.0)
    b, d = np.where(has_two, c[1] / first, 0.0), np.where(has_two, c[2] / first, 1.0)
    at_zero = has_two & (d == 0.0)
    matrix = np.stack([np.stack([-b, np.where(at_zero, -1.0, -d)]), np.stack([1.0, 0.0])])
    both: Any = np.linalg.eigvals(matrix)
    one: Any = np.where(at_zero, -b, np.where(has_one, -c[2] / np.where(has_one, c[1], 1.0), 0.0))
    alone: Any = np.stack([one, 0.0])
    return np.where(has_two & ~at_zero, both, alone)


def sos2zpk(sos: object) -> tuple[Any, Any, Any]:
    """Return filters of second order as zeros, poles and a gain: two of each for every one."""
    sections, count = _several(sos)
    if not count:
        return np.zeros(0, np.complex128), np.zeros(0, np.complex128), 1.0
    sections = cast(as_tracer(sections), np.float64)
    ends, poles, gain = [], [], np.float64(1.0)
    for k in range(count):
        top, low = sections[k, :3], sections[k, 3:]
        ends.append(_both(top))
        poles.append(_both(low))
        lead = np.where(top[0] != 0.0, top[0], np.where(top[1] != 0.0, top[1], top[2]))
        gain = gain * (lead / low[0])
    return np.concatenate(ends), np.concatenate(poles), gain


scipy_captures("scipy.signal", {
    "zpk2sos": zpk2sos, "tf2sos": tf2sos, "sos2tf": sos2tf, "sos2zpk": sos2zpk})
