"""Filters of `scipy.signal` designed for frequencies that are traced."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import normalized, numbers, zeros, zpk2tf
from tracejit.scipy_api.section_forms import zpk2sos
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import tracer_of

__all__ = ["changed_band", "whole"]


def whole(x: object, name: str) -> int:
    x = known_int(x, f"the length of scipy.signal.{name}")
    if isinstance(x, TracedOperand):
        raise refuse(f"scipy.signal.{name} whose length is traced cannot be captured",
                     "Make it a Python int argument", "TJ205")
    return operator.index(x)  # type: ignore[arg-type]


# --- from continuous to discrete ------------------------------------------------------------------


def bilinear(b: object, a: object, fs: object = 1.0) -> Any:
    """Return a digital filter from an analog one: s becomes 2 fs (z - 1) / (z + 1)."""
    given: list[Any] = [np.atleast_1d(as_inexact(x)) for x in (b, a)]
    top, low = given
    for name, p in (("a", low), ("b", top)):
        if p.ndim != 1:
            raise ValueError(f"Parameter {name} is not a 1d array since {name}.shape={p.shape}")
        require_ours(p[0] != 0, NotCaptured, "scipy.signal.bilinear of coefficients of which the "
                     "first is zero is not captured: leave such out")
    counts = [known_length(p, "the length of a filter") for p in (top, low)]
    order = max(counts) - 1
    rate: Any = np.sqrt(2.0 * as_inexact(fs))
    found = []
    for p, count in zip((top, low), counts, strict=True):
        total: Any = 0.0
        for q in range(count):
            base = np.poly(np.repeat([-1.0, 1.0], [order - q, q]))
            total = total + p[count - 1 - q] * rate ** (2 * q - order) * np.atleast_1d(base)
        found.append(total)
    return normalized(*found)


def bilinear_zpk(z: object, p: object, k: np.ndarray, fs: np.ndarray) -> Any:
    """Return zeros, poles and gain of a digital filter from those of an analog one."""
    given: list[Any] = [np.atleast_1d(as_inexact(x)) for x in (z, p)]
    ends, poles = given
    missing = _missing(ends, poles)
    twice: Any = 2.0 * fs
    gain = k * np.real(np.prod(twice - ends) / np.prod(twice - poles))
    return (np.concatenate([(twice + ends) / (twice - ends), zeros(missing) - 1.0]),
            (twice + poles) / (twice - poles), gain)


def _missing(ends: np.ndarray, poles: np.ndarray) -> int:
    """Return how many zeros at infinity there are."""
    count = known_length(poles, "how many poles there are") - known_length(
        ends, "how many zeros there are")
    if count < 0:
        raise ValueError("Improper transfer function. Must have at least as many poles as zeros.")
    return count


# --- from a low-pass filter of frequency 1 --------------------------------------------------------


def _low(z: np.ndarray, p: np.ndarray, k: float, wo: np.ndarray) -> Any:
    return wo * z, wo * p, k * wo ** _missing(z, p)


def _high(z: np.ndarray, p: np.ndarray, k: float, wo: np.ndarray) -> Any:
    return (np.concatenate([wo / z, zeros(_missing(z, p))]), wo / p,
            k * np.real(np.prod(-z) / np.prod(-p)))


def _both(x: np.ndarray, wo: np.ndarray) -> Any:
    """Return frequencies above and below the middle of a band."""
    given: Any = cast(as_tracer(x), np.complex128)
    root = np.sqrt(given ** 2 - wo ** 2)
    return np.concatenate([given + root, given - root])


def _band(z: np.ndarray, p: np.ndarray, k: float, wo: np.ndarray, bw: np.ndarray) -> Any:
    missing = _missing(z, p)
    ends, poles = (_both(x * bw / 2, wo) for x in (z, p))
    return np.concatenate([ends, zeros(missing)]), poles, k * bw ** missing


def _stop(z: np.ndarray, p: np.ndarray, k: float, wo: np.ndarray, bw: np.ndarray) -> Any:
    missing = _missing(z, p)
    ends, poles = (_both((bw / 2) / x, wo) for x in (z, p))
    middle = (1.0 + zeros(missing)) * (1j * wo)
    return (np.concatenate([ends, middle, -middle]), poles,
            k * np.real(np.prod(-z) / np.prod(-p)))


_KINDS: dict[str, tuple[Callable[..., Any], bool]] = {
    **dict.fromkeys(("low", "lowpass", "lp", "l"), (_low, False)),
    **dict.fromkeys(("high", "highpass", "hp", "h"), (_high, False)),
    **dict.fromkeys(("band", "bandpass", "pass", "bp"), (_band, True)),
    **dict.fromkeys(("bandstop", "bands", "bs", "stop"), (_stop, True))}
"""Changes of a low-pass filter, and whether they are by two frequencies."""


def changed_band(kind: str) -> Callable[..., Any]:
    """Return the change of zeros, poles and gain of a low-pass filter into another band."""
    return _KINDS[kind][0]


_PROTOTYPES: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("butter", "butterworth"), ("buttap", ())),
    **dict.fromkeys(("cheby1", "chebyi", "chebyshev1", "chebyshevi"), ("cheb1ap", ("rp",))),
    **dict.fromkeys(("cheby2", "chebyii", "chebyshev2", "chebyshevii"), ("cheb2ap", ("rs",))),
    **dict.fromkeys(("ellip", "elliptic", "cauer", "cauerelliptic"), ("ellipap", ("rp", "rs"))),
    **dict.fromkeys(("bessel", "bessel_phase"), ("besselap", ("norm",))),
    "bessel_delay": ("besselap", ("norm",)), "bessel_mag": ("besselap", ("norm",))}
"""The functions of SciPy that give low-pass filters of frequency 1, and what they are made of."""

_NORMS = {"bessel": "phase", "bessel_phase": "phase", "bessel_delay": "delay", "bessel_mag": "mag"}


def _prototype(order: int, ftype: str, rp: object, rs: object) -> Any:
    if ftype not in _PROTOTYPES:
        raise ValueError(f"'{ftype}' is not a valid basic IIR filter.")
    name, needed = _PROTOTYPES[ftype]
    given = {"rp": rp, "rs": rs, "norm": _NORMS.get(ftype)}
    if any(isinstance(given[key], TracedOperand) for key in needed):
        raise refuse("a filter of scipy.signal whose rp= or rs= is traced cannot be captured",
                     "Use constants", "TJ205")
    if any(given[key] is None for key in needed):
        raise ValueError(f"{' and '.join(needed)} must be provided to design this filter")
    signal: Any = sys.modules["scipy.signal"]
    z, p, k = getattr(signal, name)(order, *(given[key] for key in needed))
    return numbers(np.atleast_1d(z)), numbers(np.atleast_1d(p)), float(k)


def _frequencies(Wn: object, analog: bool, fs: np.ndarray | None) -> tuple[Any, int]:
    """Return where a filter begins and ends as angles, and how many frequencies these are."""
    given: Any = cast(as_inexact(Wn), np.float64)
    if fs is not None:
        if analog:
            raise ValueError("fs cannot be specified for an analog filter")
        given = given / (fs / 2)
    count = 1 if not given.ndim else known_length(given, "how many frequencies a filter has")
    require(np.all(given > 0), ValueError, "filter critical frequencies must be greater than 0")
    if count > 1:
        require(given[0] < given[1], ValueError, "Wn[0] must be less than Wn[1]")
    if analog:
        return np.reshape(given, (count,)), count
    require(np.all(given < 1), ValueError, "Digital filter critical frequencies must be 0 < Wn < 1"
            if fs is None else "Digital filter critical frequencies must be 0 < Wn < fs/2")
    return np.reshape(4.0 * np.tan(math.pi * given / 2.0), (count,)), count


def iirfilter(N: object, Wn: object, rp: object = None, rs: object = None, btype: str = "band",
              analog: bool = False, ftype: str = "butter", output: str = "ba",
              fs: np.ndarray | None = None) -> Any:
    """Return a filter of a kind: its coefficients, its zeros and poles, or its sections."""
    if not isinstance(analog, (bool, int)) or isinstance(analog, TracedOperand):
        raise refuse("a filter of scipy.signal whose analog= is traced cannot be captured",
                     "Pass True or False", "TJ205")
    kind, ftype, output = btype.lower(), ftype.lower(), output.lower()
    if kind not in _KINDS:
        raise ValueError(f"'{kind}' is an invalid bandtype for filter.")
    if output not in ("ba", "zpk", "sos"):
        raise ValueError(f"'{output}' is not a valid output form.")
    order = whole(N, "iirfilter")
    change, of_two = _KINDS[kind]
    z, p, k = _prototype(order, ftype, rp, rs)
    at, count = _frequencies(Wn, bool(analog), fs)
    if of_two:
        if count != 2:
            raise ValueError("Wn must specify start and stop frequencies for bandpass or bandstop "
                             "filter")
        z, p, k = change(z, p, k, np.sqrt(at[0] * at[1]), at[1] - at[0])
    else:
        if count != 1:
            raise ValueError("Must specify a single critical frequency Wn for lowpass or highpass "
                             "filter")
        if as_tracer(Wn).ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        z, p, k = change(z, p, k, at[0])
    if output == "sos" and order and not of_two and _PROTOTYPES[ftype][0] == "buttap":
        return _sections(p, k, order, change is _high, bool(analog))
    if not analog:
        z, p, k = bilinear_zpk(z, p, k, 2.0)  # type: ignore[arg-type]
    elif change in (_low, _band):
        k = tracer_of(as_tracer(k).value, weak=True)  # a Python float in SciPy
    if output == "sos":
        return zpk2sos(z, p, k, analog=bool(analog))
    return (z, p, k) if output == "zpk" else zpk2tf(z, p, k)


def _sections(p: np.ndarray, k: np.ndarray, order: int, is_high: bool, analog: bool) -> Any:
    """Return the sections of a Butterworth filter: the closer poles are to the end of stability,
    the later they come, which is the order of the prototype's."""
    if not analog:
        _, p, k = bilinear_zpk(zeros(order if is_high else 0), p, k, 2.0)  # type: ignore[arg-type]
    ends = _analog_ends(is_high) if analog else _digital_ends(p, order, is_high)
    rows = []
    for place in range(order // 2, order):
        first = p[place]
        alone = 2 * place == order - 1
        low: list[Any] = [1.0, -2.0 * np.real(first), np.real(first) ** 2 + np.imag(first) ** 2]
        if alone:
            low = [0.0, 1.0, -np.real(first)] if analog else [1.0, -np.real(first), 0.0]
        rows.append([*ends(place, alone), *low])
    rows[0] = [k * x for x in rows[0][:3]] + rows[0][3:]
    return np.stack([np.stack([1.0 * as_tracer(x) for x in row]) for row in rows])


def _analog_ends(is_high: bool) -> Callable[[int, bool], list[Any]]:
    def ends(place: int, alone: bool) -> list[Any]:
        return [0.0, 0.0, 1.0] if not is_high else [0.0, 1.0, 0.0] if alone else [1.0, 0.0, 0.0]

    return ends


def _digital_ends(p: np.ndarray, order: int, is_high: bool) -> Callable[[int, bool], list[Any]]:
    """Return the numerators of sections: a zero at 0, which an odd order adds, goes to the last
    pole that it is nearest to."""
    end = 1.0 if is_high else -1.0
    shares: dict[int, Any] = {}
    left: Any = 1.0
    for place in reversed(range(order // 2, order) if order % 2 else ()):
        near = np.real(p[place]) * end < 0.5 if 2 * place != order - 1 else True
        shares[place] = np.where(near, left, 0.0)
        left = left - shares[place]

    def ends(place: int, alone: bool) -> list[Any]:
        share = shares.get(place, 0.0)  # 1 where one of both zeros is 0
        return [1.0, -end * (2.0 - share), 1.0 - share]

    return ends


def _of_kind(ftype: str, *names: str) -> Callable[..., Any]:
    """Return a design of one kind, called with order, `names`, frequencies."""

    def capture(N: object, *args: object, **kwargs: object) -> Any:
        order = (*names, "Wn", "btype", "analog", "output", *(
            ("norm",) if ftype == "bessel" else ()), "fs")
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        kind = f"{ftype}_{given.pop('norm', 'phase')}" if ftype == "bessel" else ftype
        options: Any = {"btype": "low", **given}
        return iirfilter(N, ftype=kind, **options)

    return capture


captures_of_some("scipy.signal", {"bilinear": bilinear}, "iuf")
captures_of_some("scipy.signal", {
    "bilinear_zpk": bilinear_zpk, "iirfilter": iirfilter,
    "butter": _of_kind("butter"), "cheby1": _of_kind("cheby1", "rp"),
    "cheby2": _of_kind("cheby2", "rs"), "ellip": _of_kind("ellip", "rp", "rs"),
    "bessel": _of_kind("bessel")}, "biuf")
