"""Shapes of grey in images, splines through them and factors of their spectra: `scipy.ndimage`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.images import windows_of
from tracejit.scipy_api.spline_images import coefficients_of
from tracejit.scipy_api.taking import captures_of_finite, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import as_operand, cast, dims_of

__all__: list[str] = []


def _known(x: object, label: str) -> Any:
    found = None if x is None else known_array(x, "the shape of a window")
    if found is None and x is not None:
        raise refuse(f"{label} of a window that is traced cannot be captured", "Use a constant",
                     "TJ205")
    return found


def _window(rank: int, size: object, footprint: object, structure: object,
            label: str) -> tuple[Any, Any]:
    """Return which places a window has, and what is added at each; None for nothing."""
    added, places = _known(structure, label), _known(footprint, label)
    if added is not None:
        places = np.ones(added.shape, bool) if places is None else places != 0
    elif places is None:
        each = _known(size, label)
        if each is None:
            raise ValueError("size, footprint, or structure must be specified")
        places = np.ones(tuple(np.broadcast_to(each, (rank,)).tolist()), bool)
    places = places != 0
    if places.ndim != rank:
        raise RuntimeError("footprint array has incorrect shape.")
    if any(n % 2 == 0 for n in places.shape):
        raise refuse(f"{label} of a window of even size cannot be captured", "Use an odd size",
                     "TJ213")
    return places, added


def _image(x: object, label: str) -> Any:
    given = as_tracer(x)
    if given.dtype.kind != "f":
        raise refuse(f"{label} of an image of {given.dtype} cannot be captured",
                     "Convert it with .astype(float)", "TJ206")
    return given


def _defaults(label: str, output: object, origin: object, axes: object) -> None:
    if output is not None or axes is not None or not np.all(np.asarray(origin) == 0):
        raise refuse(f"{label} with output=, origin= or axes= cannot be captured",
                     "Leave them out", "TJ203")


def _extremes(grows: bool, label: str) -> Callable[..., Any]:
    """Return the dilation or erosion of an image: greatest sums, or least differences."""
    def capture(input: object, size: object = None, footprint: object = None,
                structure: object = None, output: None = None, mode: str = "reflect",
                cval: object = 0.0, origin: int = 0, *, axes: None = None) -> Any:
        _defaults(label, output, origin, axes)
        x: Any = _image(input, label)
        places, added = _window(x.ndim, size, footprint, structure, label)
        turned = (slice(None, None, -1),) * x.ndim if grows else (slice(None),) * x.ndim
        places, added = places[turned], None if added is None else added[turned]
        parts = windows_of(x, places.shape, [n // 2 for n in places.shape], mode, cval)
        sign = 1.0 if grows else -1.0
        chosen = [part if added is None else part + sign * float(added[at]) for at, part in zip(
            np.ndindex(*places.shape), parts, strict=True) if places[at]]
        return (np.max if grows else np.min)(np.stack(chosen), axis=0)

    return capture


_LABEL = "a grey shape of scipy.ndimage"
dilated, eroded = _extremes(True, _LABEL), _extremes(False, _LABEL)


def _combined(joined: Callable[..., object], *steps: tuple[Callable[..., Any], ...]) -> Any:
    """Return a function of an image and of it after steps, each from the image on."""
    def capture(input: object, size: object = None, footprint: object = None,
                structure: object = None, output: None = None, mode: str = "reflect",
                cval: object = 0.0, origin: int = 0, *, axes: None = None) -> Any:
        found = [as_tracer(input)]
        for chain in steps:
            x: Any = found[0]
            for step in chain:
                x = step(x, size, footprint, structure, output, mode, cval, origin, axes=axes)
            found.append(x)
        return joined(*found)

    return capture


def _ranked(label: str, place_of: Callable[[float, int], int]) -> Callable[..., Any]:
    """Return a filter that takes the number of a rank in each window."""
    def capture(input: object, rank: object, size: object = None, footprint: object = None,
                output: None = None, mode: str = "reflect", cval: object = 0.0, origin: int = 0, *,
                axes: None = None) -> Any:
        _defaults(label, output, origin, axes)
        x: Any = _image(input, label)
        places, _ = _window(x.ndim, size, footprint, None, label)
        count = int(np.count_nonzero(places))
        place = place_of(constant_of(rank, label), count)
        place = place + count if place < 0 else place
        if not 0 <= place < count:
            raise RuntimeError("rank not within filter footprint size")
        parts = windows_of(x, places.shape, [n // 2 for n in places.shape], mode, cval)
        chosen = [part for part, there in zip(parts, places.ravel().tolist(), strict=True) if there]
        return np.sort(np.stack(chosen), axis=0)[place]

    return capture


def _place_of_percentile(percentile: float, count: int) -> int:
    share = percentile + 100.0 if percentile < 0.0 else percentile
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")
    return count - 1 if share == 100.0 else int(float(count) * share / 100.0)


def percentile_filter(input: object, percentile: object, size: object = None,
                      footprint: object = None, output: None = None, mode: str = "reflect",
                      cval: object = 0.0, origin: int = 0, *, axes: None = None) -> Any:
    """Return of each window the number that a percentage of them are below."""
    filtered = _ranked("scipy.ndimage.percentile_filter", _place_of_percentile)
    return filtered(input, percentile, size, footprint, output, mode, cval, origin, axes=axes)


# --- splines and spectra --------------------------------------------------------------------------


def spline_filter1d(input: object, order: int = 3, axis: int = -1, output: object = np.float64,
                    mode: str = "mirror") -> Any:
    """Return the coefficients of the spline through the numbers along an axis."""
    x: Any = as_inexact(input)
    if output is not np.float64 or order not in range(6):
        raise refuse("scipy.ndimage.spline_filter1d with output=, or an order above 5, cannot be "
                     "captured", "Leave it out", "TJ203")
    return coefficients_of(x, normalize_axis(axis, len(x.dims)), order, mode)


def spline_filter(input: object, order: int = 3, output: object = np.float64,
                  mode: str = "mirror") -> Any:
    """Return the coefficients of the spline through an image."""
    if order not in (2, 3, 4, 5):
        raise RuntimeError("spline order not supported")
    x: Any = as_inexact(input)
    for axis in range(x.ndim):
        x = spline_filter1d(x, order, axis, output, mode)
    return x


def _spectral(label: str, factor: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return a product of a spectrum with factors of each axis.

    factor -- (a parameter, frequencies in turns per point) to factors
    """
    def capture(input: object, given: object, n: int = -1, axis: int = -1,
                output: None = None) -> Any:
        x: Any = as_inexact(input)
        if output is not None:
            raise refuse(f"{label} with output= cannot be captured", "Leave it out", "TJ203")
        each: Any = np.broadcast_to(as_inexact(given), (x.ndim,))
        own = normalize_axis(axis, x.ndim)
        for k in range(x.ndim):
            size = operator.index(n) if k == own and n >= 0 else as_operand(dims_of(x)[k])
            at: Any = cast(iota(dims_of(x)[k]), np.float64)
            at = at / size if k == own and n >= 0 else np.where(
                2 * at < size, at, at - size) / size
            x = x * np.reshape(factor(each[k], at), (-1,) + (1,) * (x.ndim - 1 - k))
        return x

    return capture


def fourier_gaussian(input: object, sigma: object, n: int = -1, axis: int = -1,
                     output: None = None) -> Any:
    """Return a spectrum of an image smoothed by a Gaussian."""
    made = _spectral("scipy.ndimage.fourier_gaussian",
                     lambda s, f: np.exp(-2.0 * (math.pi * s * f) ** 2))
    return made(input, sigma, n, axis, output)


def fourier_uniform(input: object, size: object, n: int = -1, axis: int = -1,
                    output: None = None) -> Any:
    """Return a spectrum of an image of which means of windows are taken."""
    made = _spectral("scipy.ndimage.fourier_uniform", lambda s, f: np.sinc(s * f))
    return made(input, size, n, axis, output)


def fourier_shift(input: object, shift: object, n: int = -1, axis: int = -1,
                  output: None = None) -> Any:
    """Return a spectrum of an image that is moved."""
    made = _spectral("scipy.ndimage.fourier_shift", lambda s, f: np.exp(-2j * math.pi * s * f))
    return made(as_inexact(input, np.complex128), shift, n, axis, output)


captures_of_finite("scipy.ndimage", {
    "grey_dilation": dilated, "grey_erosion": eroded,
    "grey_closing": _combined(lambda x, y: y, (dilated, eroded)),
    "grey_opening": _combined(lambda x, y: y, (eroded, dilated)),
    "morphological_gradient": _combined(lambda x, a, b: a - b, (dilated,), (eroded,)),
    "morphological_laplace": _combined(lambda x, a, b: a + b - 2 * x, (dilated,), (eroded,)),
    "white_tophat": _combined(lambda x, y: x - y, (eroded, dilated)),
    "black_tophat": _combined(lambda x, y: y - x, (dilated, eroded)),
    "rank_filter": _ranked("scipy.ndimage.rank_filter", lambda rank, _: int(rank)),
    "percentile_filter": percentile_filter, "spline_filter": spline_filter,
    "spline_filter1d": spline_filter1d}, "biuf")
captures_of_finite("scipy.ndimage", {
    "fourier_gaussian": fourier_gaussian, "fourier_uniform": fourier_uniform,
    "fourier_shift": fourier_shift}, "fc")
