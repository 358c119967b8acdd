"""The transforms of `numpy.fft`: of one axis or several, real and complex, in all scalings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, floor_div
from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.shapes import moveaxis
from tracejit.ops.fourier import real_inverse, real_transform, transformed
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, as_operand, cast, to_dim, written_as
from tracejit.trace.values.tracer import Tracer

__all__ = ["fitted", "length_of", "rows"]

_COMPLEX = {np.dtype(np.float32): np.complex64, np.dtype(np.float16): np.complex64,
            np.dtype(np.complex64): np.complex64}


def rows(a: object, axis: int) -> Any:
    """Return an array as complex or real rows: the axis to transform is the last."""
    x = as_tracer(a)
    return moveaxis(x, normalize_axis(axis, len(x.dims)), -1)


def length_of(n: object, own: Dim) -> Dim:
    """Return how long rows are to be, or raise NumPy's error."""
    d = own if n is None else to_dim(n)
    less = current().decide(d - 1, "<", "whether a transform has any points")
    if less is None:
        raise refuse("a Fourier transform as long as data says cannot be captured",
                     "Make its length an int argument, or a size", "TJ212")
    if less:
        raise ValueError(f"Invalid number of FFT data points ({as_operand(d)}) specified.")
    return d


def fitted(x: Tracer, d: Dim) -> Any:
    """Return rows cut off, or with zeros behind them, to be of a length."""
    own = x.dims[-1]
    if own == d:
        return x
    longer = current().decide(own - d, "<", "whether a transform is of more points than given")
    if longer is None:
        raise refuse("a Fourier transform as long as data says cannot be captured",
                     "Make its length an int argument, or a size", "TJ212")
    if not longer:
        return written_as(x[..., :as_operand(d)], (*x.dims[:-1], d))
    zeros = apply("full", x.dtype.type(0), shape=(*x.dims[:-1], d - own))
    return concatenate([x, zeros], -1)


def _scaled(x: Tracer, d: Dim, norm: str | None, inverse: bool) -> Any:
    """Return a transform divided as `norm` says: by the number of points, its root, or not."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    n = as_operand(d)
    real = x.real.dtype.type
    if norm == "ortho":
        return x * cast(1.0 / np.sqrt(cast(n, np.float64)), real)
    if inverse == (norm != "forward"):
        return x * cast(1.0 / cast(n, np.float64), real)
    return x


def _transform(x: Tracer, inverse: bool) -> Any:
    if x.dtype.kind == "c":
        return transformed(x, inverse)
    return np.conj(real_transform(x)) if inverse else real_transform(x)


def _both_ways(inverse: bool) -> Callable[..., Any]:
    def function(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
        x = rows(a, axis)
        d = length_of(n, x.dims[-1])
        result = _transform(as_tracer(fitted(x, d)), inverse)
        return moveaxis(_scaled(result, d, norm, inverse), -1, axis)

    return function


_fft, _ifft = _both_ways(False), _both_ways(True)
captures(np.fft.fft)(_fft)
captures(np.fft.ifft)(_ifft)


@captures(np.fft.rfft)
def rfft(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the half of a real array's transform that says all of it."""
    x = rows(a, axis)
    if x.dtype.kind == "c":
        raise TypeError("ufunc 'rfft_n_even' did not contain a loop with signature matching types "
                        f"({x.dtype!r}, None) -> None")
    d = length_of(n, x.dims[-1])
    return moveaxis(_scaled(real_transform(fitted(x, d), "half"), d, norm, False), -1, axis)


@captures(np.fft.irfft)
def irfft(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the real array of whose transform this is one half."""
    x = rows(a, axis)
    d = length_of(n, (x.dims[-1] - 1) * 2)
    half = cast(fitted(x, floor_div(d, 2) + 1), _COMPLEX.get(x.dtype, np.complex128))
    found = _scaled(real_inverse(half, d, "twice"), d, norm, True)
    return moveaxis(cast(found, x.dtype) if is_half(x.dtype) else found, -1, axis)


_TURNED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _turned(norm: str | None) -> str | None:
    return _TURNED.get(norm, norm)


@captures(np.fft.hfft)
def hfft(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the real transform of an array of which one half is given."""
    return irfft(np.conj(as_tracer(a)), n, axis, _turned(norm))


@captures(np.fft.ihfft)
def ihfft(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the first half of the array whose transform is a given real one."""
    return np.conj(rfft(a, n, axis, _turned(norm)))


# --- several axes -------------------------------------------------------------------------------


def _axes(x: Tracer, s: Sequence[int] | None,
          axes: Sequence[int] | None) -> tuple[list[Any], list[int]]:
    """Return lengths and axes of a transform of several axes."""
    if s is None:
        count = len(x.dims) if axes is None else len(axes)
    else:
        count = len(s)
    places = list(range(-count, 0)) if axes is None else list(axes)
    lengths: list[Any]
    if s is None:
        lengths = [None] * len(places)
    else:
        lengths = list(s)
    if len(lengths) != len(places):
        raise ValueError("Shape and axes have different lengths.")
    lengths = [as_operand(x.dims[normalize_axis(axis, len(x.dims))])
               if isinstance(k, int) and k == -1 else k
               for k, axis in zip(lengths, places, strict=True)]
    return lengths, places


def _several(step: Callable[..., object], last: Callable[..., object] | None, last_first: bool,
             default: Sequence[int] | None) -> Callable[..., Any]:
    """Return a transform of several axes, the last of which may have one of its own."""

    def function(a: object, s: Sequence[int] | None = None,
                 axes: Sequence[int] | None = default, norm: str | None = None) -> Any:
        x = as_tracer(a)
        lengths, places = _axes(x, s, axes)
        if not places:
            if last is not None:
                raise IndexError("list index out of range")
            return x
        pairs = list(zip(lengths, places, strict=True))
        result: Any = x
        if last is not None and last_first:
            result = last(result, *pairs[-1], norm)
        for n, axis in reversed(pairs if last is None else pairs[:-1]):
            result = step(result, n, axis, norm)
        if last is not None and not last_first:
            result = last(result, *pairs[-1], norm)
        return result

    return function


captures(np.fft.fftn)(_several(_fft, None, False, None))
captures(np.fft.ifftn)(_several(_ifft, None, False, None))
captures(np.fft.fft2)(_several(_fft, None, False, (-2, -1)))
captures(np.fft.ifft2)(_several(_ifft, None, False, (-2, -1)))
captures(np.fft.rfftn)(_several(_fft, rfft, True, None))
captures(np.fft.rfft2)(_several(_fft, rfft, True, (-2, -1)))
captures(np.fft.irfftn)(_several(_ifft, irfft, False, None))
captures(np.fft.irfft2)(_several(_ifft, irfft, False, (-2, -1)))
