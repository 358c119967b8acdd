"""The transforms of `scipy.fft`: NumPy's, and cosine and sine transforms made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.spectra import fitted, length_of, rows
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, scipy_captures
from tracejit.trace.values.equations import as_operand, cast
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _of_one_axis(name: str) -> Callable[..., Any]:
    def capture(x: object, n: object = None, axis: int = -1, norm: str | None = None,
                overwrite_x: bool = False, workers: object = None, *, plan: None = None) -> Any:
        return FUNCTIONS[getattr(np.fft, name)](x, n, axis, norm)

    return capture


def _of_axes(name: str, default: Sequence[int] | None) -> Callable[..., Any]:
    def capture(x: object, s: Sequence[int] | None = None, axes: Sequence[int] | None = default,
                norm: str | None = None, overwrite_x: bool = False, workers: object = None, *,
                plan: None = None) -> Any:
        given: Any = (axes,) if isinstance(axes, int) else axes
        sizes: Any = (s,) if isinstance(s, int) else s
        if sizes is not None and given is None:
            given = tuple(range(-len(sizes), 0))
        return FUNCTIONS[getattr(np.fft, name)](x, sizes, given, norm)

    return capture


_TURNED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _hermitian(inverse: bool, default: Sequence[int] | None) -> Callable[..., Any]:
    transform = _of_axes("rfftn" if inverse else "irfftn", default)

    def capture(x: object, s: Sequence[int] | None = None, axes: Sequence[int] | None = default,
                norm: str | None = None, overwrite_x: bool = False, workers: object = None, *,
                plan: None = None) -> Any:
        given: Any = as_tracer(x)
        result = transform(given if inverse else np.conj(given), s, axes, _TURNED.get(norm, norm))
        return np.conj(result) if inverse else result

    return capture


def _helper(name: str) -> Callable[..., Any]:
    function = getattr(np.fft, name)

    def of_size(n: object, d: object = 1.0, *, xp: None = None, device: None = None) -> Any:
        return FUNCTIONS[function](n, d)

    def of_array(x: object, axes: object = None) -> Any:
        return FUNCTIONS[function](x, axes)

    return of_size if name.endswith("freq") else of_array


# --- cosine and sine transforms -----------------------------------------------------------------


def _turn(k: np.ndarray, n: float) -> Any:
    """Return exp(-1j pi k / n)."""
    angle = math.pi * k / n
    return np.cos(angle) - 1j * np.sin(angle)


def _numbers(d: object, first: float = 0.0) -> Any:
    return first + cast(iota(as_tracer(d).dims[-1]), np.float64)


def _cosine_of(x: np.ndarray, kind: int) -> Any:
    n: Any = x.shape[-1]
    k = _numbers(x)
    if kind == 1:
        whole = np.concatenate([x, x[..., 1:-1][..., ::-1]], axis=-1)
        return np.real(np.fft.fft(whole))[..., :n]
    if kind == 2:
        whole = np.fft.fft(np.concatenate([x, x[..., ::-1]], axis=-1))[..., :n]
        return np.real(_turn(k, 2.0 * n) * whole)
    if kind == 3:
        first = np.where(k == 0.0, 1.0, 2.0)
        return np.real(np.fft.fft(x * first * _turn(k, 2.0 * n), 2 * n))[..., :n]
    whole = np.fft.fft(x * _turn(k, 2.0 * n), 2 * n)[..., :n]
    return np.real(2.0 * _turn(k + 0.5, 2.0 * n) * whole)


def _sine_of(x: np.ndarray, kind: int) -> Any:
    n: Any = x.shape[-1]
    k = _numbers(x, 1.0)
    if kind == 1:
        zero = 0.0 * x[..., :1]
        whole = np.concatenate([zero, x, zero, -x[..., ::-1]], axis=-1)
        return -np.imag(np.fft.fft(whole))[..., 1:n + 1]
    if kind == 2:
        whole = np.fft.fft(np.concatenate([x, -x[..., ::-1]], axis=-1))[..., 1:n + 1]
        return -np.imag(_turn(k, 2.0 * n) * whole)
    if kind == 3:
        last = np.where(k == n, 1.0, 2.0)
        shifted = x * last * _turn(k, 2.0 * n)
        zero = 0.0 * shifted[..., :1]
        return -np.imag(np.fft.fft(np.concatenate([zero, shifted], axis=-1), 2 * n))[..., :n]
    whole = np.fft.fft(x * _turn(k - 1.0, 2.0 * n), 2 * n)[..., :n]
    return -np.imag(2.0 * _turn(k - 0.5, 2.0 * n) * whole)


def _weights(n: object, ends: tuple[int, ...], factor: float) -> Any:
    k = _numbers(n)
    size = as_operand(as_tracer(n).dims[-1])
    result: Any = 1.0
    for end in ends:
        result = result * np.where(k == (end if end >= 0 else size + end), factor, 1.0)
    return result


_BEFORE = {(True, 1): (0, -1), (True, 3): (0,), (False, 3): (-1,)}
_BEHIND = {(True, 1): (0, -1), (True, 2): (0,), (False, 2): (-1,)}
"""The elements that are weighted before and behind an orthogonal transform of a kind."""
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _transformed(x: Any, cosine: bool, kind: int, norm: str | None, inverse: bool,
                 orthogonal: bool) -> Any:
    """Return the transform of rows, as double precision has it."""
    kind = _INVERSE[kind] if inverse else kind
    if orthogonal:
        x = x * _weights(x, _BEFORE.get((cosine, kind), ()), math.sqrt(2.0))
    result = (_cosine_of if cosine else _sine_of)(x, kind)
    if orthogonal:
        result = result * _weights(x, _BEHIND.get((cosine, kind), ()), math.sqrt(0.5))
    points: Any = 2.0 * (x.shape[-1] + (0 if kind != 1 else -1 if cosine else 1))
    if norm == "ortho":
        return result / np.sqrt(points)
    return result / points if inverse == (norm != "forward") else result


def _trigonometric(cosine: bool, inverse: bool) -> Callable[..., Any]:
    name = ("i" if inverse else "") + ("dct" if cosine else "dst")

    def capture(x: object, type: int = 2, n: object = None, axis: int = -1,
                norm: str | None = None, overwrite_x: bool = False, workers: object = None,
                orthogonalize: bool | None = None) -> Any:
        if type not in _INVERSE:
            raise refuse(f"scipy.fft.{name} of type {type} cannot be captured", "Types 1 to 4 are",
                         "TJ203")
        if norm not in (None, "backward", "ortho", "forward"):
            raise ValueError(f"Invalid norm value {norm!r}")
        given = rows(x, axis)
        given = fitted(given, length_of(n, given.dims[-1]))
        if type == 1 and cosine:
            require(as_operand(given.dims[-1]) != 1, RuntimeError, "zero-length FFT requested")
        odd = type == 1 and not cosine  # where NaN, too, does not reach all of a row
        require(np.all(np.isfinite(given)) if odd else np.logical_not(np.any(np.isinf(given))),
                NotCaptured, f"scipy.fft.{name} of infinities{' or NaN' if odd else ''}, of which "
                "SciPy's steps make NaN or not, cannot be captured")
        orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
        parts = [np.real(given), np.imag(given)] if given.dtype.kind == "c" else [given]
        found = [_transformed(cast(p, np.float64), cosine, type, norm, inverse, orthogonal)
                 for p in parts]
        whole = found[0] + 1j * found[1] if len(found) == 2 else found[0]
        single = given.dtype in (np.float32, np.complex64)
        dtype = {(True, "f"): np.float32, (True, "c"): np.complex64}.get(
            (single, given.dtype.kind), whole.dtype)
        result: Any = cast(whole, dtype)
        return np.moveaxis(result, -1, axis)

    return capture


def _of_several(cosine: bool, inverse: bool) -> Callable[..., Any]:
    one = _trigonometric(cosine, inverse)

    def capture(x: object, type: int = 2, s: Sequence[int] | int | None = None,
                axes: Sequence[int] | int | None = None, norm: str | None = None,
                overwrite_x: bool = False, workers: object = None, *,
                orthogonalize: bool | None = None) -> Any:
        sizes = [s] if isinstance(s, int) else s
        count = len(as_tracer(x).dims) if sizes is None else len(sizes)
        given = [axes] if isinstance(axes, int) else list(axes) if axes is not None else (
            list(range(-count, 0)))
        result: Any = x
        for k, axis in enumerate(given):
            result = one(result, type, None if sizes is None else sizes[k], axis, norm,
                         orthogonalize=orthogonalize)
        return result

    return capture


scipy_captures("scipy.fft", {
    **{name: _of_one_axis(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: _of_axes(name, None) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: _of_axes(f"{name[:-1]}n", (-2, -1)) for name in ("fft2", "ifft2", "rfft2", "irfft2")},
    "hfftn": _hermitian(False, None), "ihfftn": _hermitian(True, None),
    "hfft2": _hermitian(False, (-2, -1)), "ihfft2": _hermitian(True, (-2, -1)),
    **{name: _helper(name) for name in ("fftfreq", "rfftfreq", "fftshift", "ifftshift")},
    "dct": _trigonometric(True, False), "idct": _trigonometric(True, True),
    "dst": _trigonometric(False, False), "idst": _trigonometric(False, True),
    "dctn": _of_several(True, False), "idctn": _of_several(True, True),
    "dstn": _of_several(False, False), "idstn": _of_several(False, True),
})
