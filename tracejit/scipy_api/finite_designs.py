"""Filters of finite answers that `scipy.signal` designs, of frequencies that are traced."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact
from tracejit.scipy_api.designs import whole
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_PASSES: dict[object, tuple[bool, int]] = {
    "lowpass": (True, 1), "bandstop": (True, 2), "highpass": (False, 1), "bandpass": (False, 2),
    True: (True, 0), False: (False, 0)}


def firwin(numtaps: object, cutoff: object, *, width: object = None, window: object = "hamming",
           pass_zero: object = True, scale: bool = True, fs: np.ndarray | None = None) -> Any:
    """Return a filter of finite answer by the method of windows."""
    count = whole(numtaps, "firwin")
    if isinstance(width, TracedOperand) or isinstance(fs, TracedOperand):
        raise refuse("scipy.signal.firwin with a traced width= or fs= cannot be captured",
                     "Use constants, and cutoff / (fs / 2)", "TJ205")
    if pass_zero not in _PASSES:
        raise ValueError(f"Parameter pass_zero={pass_zero!r} not in (True, False, 'bandpass', "
                         "'lowpass', 'highpass', 'bandstop')")
    nyquist: Any = 1.0 if fs is None else 0.5 * fs
    ends: Any = np.atleast_1d(cast(as_inexact(cutoff), np.float64)) / nyquist
    if ends.ndim > 1:
        raise ValueError("The cutoff argument must be at most one-dimensional.")
    size = known_length(ends, "how many frequencies a filter has")
    require(np.logical_and(np.min(ends) > 0, np.max(ends) < 1), ValueError, "Invalid cutoff "
            "frequency: frequencies must be greater than 0 and less than fs/2.")
    require(np.all(ends[1:] > ends[:-1]), ValueError, "Invalid cutoff frequencies: the frequencies "
            "must be strictly increasing.")
    begins, kind = _PASSES[pass_zero]
    if (kind == 1 and size != 1) or (kind == 2 and size < 2):
        raise ValueError(f"cutoff has not as many elements as pass_zero=={pass_zero!r} needs")
    closes = (size % 2 == 0) == begins
    if closes and count % 2 == 0:
        raise ValueError("A filter with an even number of coefficients must have zero response at "
                         "the Nyquist frequency.")
    signal: Any = sys.modules["scipy.signal"]
    if width is not None:
        share: Any = width
        window = ("kaiser", signal.kaiser_beta(signal.kaiser_atten(count, float(share) / nyquist)))
    edges = [*([0.0] if begins else []), *(ends[k] for k in range(size)), *(
        [1.0] if closes else [])]
    shape = signal.get_window(window, count, fftbins=False)
    return _windowed(edges, count, shape, bool(scale))


def _windowed(edges: Sequence[object], count: int, shape: np.ndarray, scale: bool) -> Any:
    """Return sums of sinc functions between the edges of bands, in a window."""
    m = np.arange(count) - 0.5 * (count - 1)
    total: Any = 0.0
    left: Any
    right: Any
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        total = total + right * np.sinc(right * m) - left * np.sinc(left * m)
    total = total * shape
    if scale:
        left, right = edges[:2]
        middle: Any = 0.5 * (left + right)
        if isinstance(left, float):
            middle = 0.0
        elif isinstance(right, float):
            middle = 1.0
        total = total / np.sum(total * np.cos(math.pi * m * middle))
    return total


captures_of_some("scipy.signal", {"firwin": firwin}, "biuf")
