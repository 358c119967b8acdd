"""Convolutions and correlations of `scipy.signal`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.dims import Dim
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.plain_signals import sums_of_products
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["is_longer", "padded"]


def _operands(x: object, y: object) -> tuple[Any, Any]:
    a, b = as_tracer(x), as_tracer(y)
    if len(a.dims) != len(b.dims):
        raise ValueError("in1 and in2 should have the same dimensionality")
    return a, b


def _cut(full: object, a: Tracer, b: Tracer, mode: str, turned: bool = False) -> Any:
    """Return the part of a full convolution that a mode asks for."""
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    part, shorter = list[slice](), mode == "valid" and _is_shorter(a, b)
    for n, m in zip(a.shape, b.shape, strict=True):
        start: Any = (m if turned else m - 1) // 2
        part.append(slice(start, start + n) if mode == "same" else
                    slice(n - 1, m) if shorter else slice(m - 1, n))
    return as_tracer(full)[tuple(part)]


def _is_shorter(a: Tracer, b: Tracer) -> bool:
    """Return whether an array is the one of two that slides along the other."""
    pairs = [*zip(a.dims, b.dims, strict=True)]
    if not any(is_longer(e, d) for d, e in pairs):
        return False
    if any(is_longer(d, e) for d, e in pairs):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every "
                         "dimension")
    return True


def is_longer(d: Dim, e: Dim) -> bool:
    """Return whether a size is above another."""
    longer = current().decide(e - d, "<", "which of two operands of a filter is longer")
    if longer is None:
        raise refuse("a convolution of sizes that data decides cannot be captured",
                     "Use mode='full', and slice", "TJ212")
    return longer


def _full(a: Tracer, b: Tracer) -> Any:
    if len(a.dims) == 0:
        return a * b
    if len(a.dims) == 1:
        return np.convolve(a, b)
    if len(a.dims) == 2:
        return call_function(sums_of_products, (a, b, np.result_type(a.dtype, b.dtype)), {})
    return _by_fourier(a, b)


def _by_fourier(a: Tracer, b: Tracer) -> Any:
    sizes = tuple(n + m - 1 for n, m in zip(a.shape, b.shape, strict=True))
    a, b = as_inexact(a), as_inexact(b)
    dtype = np.result_type(a.dtype, b.dtype)
    axes = tuple(range(len(sizes)))
    if dtype.kind == "c":
        spectrum = np.fft.fftn(a, sizes, axes) * np.fft.fftn(b, sizes, axes)
        found: Any = np.fft.ifftn(spectrum, sizes, axes)
    else:
        found = np.fft.irfftn(np.fft.rfftn(a, sizes, axes) * np.fft.rfftn(b, sizes, axes),
                              sizes, axes)
    return cast(found, dtype)


def convolve(in1: object, in2: object, mode: str = "full", method: str = "auto") -> Any:
    """Return a convolution."""
    a, b = _operands(in1, in2)
    if method not in {"auto", "direct", "fft"}:
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if method != "fft":
        return _cut(_full(a, b), a, b, mode)
    found, dtype = fftconvolve(a, b, mode), np.result_type(a.dtype, b.dtype)
    return cast(np.round(found) if dtype.kind in "iu" else found, dtype)


def correlate(in1: object, in2: object, mode: str = "full", method: str = "auto") -> Any:
    """Return a cross-correlation."""
    a, b = _operands(in1, in2)
    turned = b[(slice(None, None, -1),) * len(b.dims)] if b.dims else b
    return convolve(a, _conjugate(turned), mode, method)


def _conjugate(x: np.ndarray) -> Any:
    return np.conj(x) if as_tracer(x).dtype.kind == "c" else x


def fftconvolve(in1: object, in2: object, mode: str = "full", axes: None = None) -> Any:
    """Return a convolution, by transforms."""
    if axes is not None:
        raise refuse("scipy.signal.fftconvolve with axes= cannot be captured", "Leave it out",
                     "TJ203")
    a, b = _operands(in1, in2)
    least = 1 if "f" in (kinds := a.dtype.kind + b.dtype.kind) or "c" in kinds else 2
    for n in (*a.shape, *b.shape):  # of an axis of one number there is no transform
        require(np.greater_equal(n, least), NotCaptured, "scipy.signal.fftconvolve of an empty "
                "array, or of ints along an axis of one, cannot be captured")
    return _cut(_by_fourier(a, b), a, b, mode)


def padded(x: object, sides: object, mode: str, value: object) -> Any:
    """Return an array continued at its ends, as a mode of `np.pad` says."""
    pad: Any = np.pad
    return pad(x, sides, constant_values=value) if mode == "constant" else pad(x, sides, mode=mode)


_BOUNDARIES = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}


def convolve2d(in1: object, in2: object, mode: str = "full", boundary: str = "fill",
               fillvalue: object = 0) -> Any:
    """Return a convolution of matrices."""
    return _of_matrices(in1, in2, mode, boundary, fillvalue, False)


def _of_matrices(in1: object, in2: object, mode: str, boundary: str, fillvalue: object,
                 turned: bool) -> Any:
    a, b = _operands(in1, in2)
    if len(a.dims) != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if np.result_type(a.dtype, b.dtype) == np.bool_:
        raise ValueError("convolve2d not available for this type.")
    if boundary in ("fill", "pad") and isinstance(fillvalue, (int, float)) and fillvalue == 0:
        return _cut(_full(a, b), a, b, mode, turned)
    if mode == "valid":
        return _cut(_full(a, b), a, b, mode)
    a = cast(a, np.result_type(a.dtype, b.dtype))
    sides = tuple([(m - 1, m - 1) for m in b.shape])
    if boundary in ("fill", "pad"):
        wide = padded(a, sides, "constant", fillvalue)
    elif boundary in _BOUNDARIES:
        wide = padded(a, sides, _BOUNDARIES[boundary], 0)
    else:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and "
                         "'symmetric' (or 'symm').")
    whole = _full(wide, b)
    inner = whole[tuple([slice(m - 1, n + 2 * (m - 1)) for n, m in zip(
        a.shape, b.shape, strict=True)])]
    return _cut(inner, a, b, mode, turned)


def correlate2d(in1: object, in2: object, mode: str = "full", boundary: str = "fill",
                fillvalue: object = 0) -> Any:
    """Return a cross-correlation of matrices."""
    _, b = _operands(in1, in2)
    return _of_matrices(in1, _conjugate(b[::-1, ::-1]), mode, boundary, fillvalue, True)


captures_of_some("scipy.signal", {
    "convolve": convolve, "correlate": correlate, "fftconvolve": fftconvolve,
    "oaconvolve": fftconvolve, "convolve2d": convolve2d, "correlate2d": correlate2d})
