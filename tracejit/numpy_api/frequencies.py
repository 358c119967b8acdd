"""Functions of `np.fft` about places alone: the frequencies of a transform, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axes
from tracejit.numpy_api.creation import counted
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.ranges import arange
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import as_operand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _count(n: object) -> Any:
    """Return a number of samples, which is an int; NumPy's error for anything else."""
    if isinstance(n, Tracer) and not n.dims and n.dtype.kind in "iu":
        return SymInt(n.astype(np.int64).value.dim)
    if not isinstance(n, (int, np.integer, SymInt)):
        raise ValueError("n should be an integer")
    return n


@captures(np.fft.fftfreq)
def fftfreq(n: Any, d: object = 1.0, device: object = None) -> Any:
    """Return the frequencies of a transform of n samples that are d apart."""
    n = as_operand(counted(_count(n)))
    return np.concatenate((arange(0, (n - 1) // 2 + 1), arange(-(n // 2), 0))) * (1.0 / (n * d))


@captures(np.fft.rfftfreq)
def rfftfreq(n: Any, d: object = 1.0, device: object = None) -> Any:
    """Return the frequencies of a transform of n real samples that are d apart."""
    n = _count(n)
    return arange(0, n // 2 + 1) * (1.0 / (n * d))


def _shifted(x: object, axes: object, sign: int) -> Any:
    x = as_tracer(x)
    chosen = normalize_axes(axes, len(x.dims))
    shifts = [as_operand(x.dims[k]) // 2 for k in chosen]
    return np.roll(x, [sign * s for s in shifts], chosen)


captures(np.fft.fftshift)(lambda x, axes=None: _shifted(x, axes, 1))
captures(np.fft.ifftshift)(lambda x, axes=None: _shifted(x, axes, -1))
