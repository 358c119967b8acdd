"""Filters of `scipy.ndimage` along several axes, and images at coordinates."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.line_filters import (
    before_of,
    correlated,
    gaussian_filter,
    padded_image,
    uniform_filter1d,
)
from tracejit.scipy_api.spline_images import by_splines
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import as_operand, cast, dims_of
from tracejit.trace.values.known_numbers import need_int

__all__ = ["map_coordinates", "real_or_complex_image", "windows_of"]


def _only_defaults(name: str, **given: object) -> None:
    for key, x in given.items():
        if not (x is None or (isinstance(x, int) and x == 0)):
            raise refuse(f"scipy.ndimage.{name} with {key}= cannot be captured", "Leave it out",
                         "TJ203")


def _as_given(result: object, dtype: np.dtype) -> Any:
    """Return a result in the dtype of the image, as C casts."""
    found = as_tracer(result)
    return cast(cast(found, np.int64), dtype) if dtype.kind in "iu" else cast(found, dtype)


def real_or_complex_image(x: object, name: str) -> Any:
    given = as_tracer(x)
    if given.dtype.kind not in "fciu":
        raise refuse(f"scipy.ndimage.{name} of an array of {given.dtype} cannot be captured",
                     "Convert it with .astype(float)", "TJ206")
    return given


def _real_image(x: object, name: str) -> Any:
    if as_tracer(x).dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return real_or_complex_image(x, name)


def windows_of(x: np.ndarray, sizes: Sequence[int], before: Sequence[int], mode: str,
             cval: object) -> list[Any]:
    """Return for each place of a window the numbers there, around each number of an image."""
    sides = [(b, n - 1 - b) for n, b in zip(sizes, before, strict=True)]
    wide = padded_image(x, sides, mode, cval)
    shape = [as_operand(d) for d in dims_of(x)]
    return [wide[tuple(slice(i, i + n) for i, n in zip(at, shape, strict=True))]
            for at in np.ndindex(*sizes)]


def _weighted(turned: bool) -> Callable[..., Any]:
    name = "convolve" if turned else "correlate"

    def capture(input: object, weights: object, output: None = None, mode: str = "reflect",
                cval: object = 0.0, origin: object = 0, *, axes: None = None) -> Any:
        _only_defaults(name, output=output, axes=axes)
        x, w = real_or_complex_image(input, name), as_tracer(weights)
        w = w if turned else as_tracer(np.conj(w))  # as np.correlate
        if len(w.dims) != len(x.dims):
            raise RuntimeError("filter weights array has incorrect shape.")
        sizes = [need_int(d, "the size of a filter") for d in w.dims]
        moved = _sizes(origin, len(sizes))
        before = [n - 1 - before_of(n, o) if turned else before_of(n, o)
                  for n, o in zip(sizes, moved, strict=True)]
        whole: Any = cast(x, np.float64) if x.dtype.kind in "iu" else x
        if w.dtype.kind == "c" and x.dtype.kind != "c":
            x = whole = cast(whole, np.complex128)
        total: Any = 0.0
        for at, part in zip(np.ndindex(*sizes), windows_of(whole, sizes, before, mode, cval),
                            strict=True):
            place = tuple(n - 1 - k for n, k in zip(sizes, at, strict=True)) if turned else at
            total = total + w[place] * part
        return _as_given(total, x.dtype)

    return capture


def _along(x: np.ndarray, weights: Sequence[float], axis: int, mode: str, cval: object) -> Any:
    return correlated(as_tracer(x), as_tracer(np.array(weights)), axis, mode, cval, 1, 1)


def _edges(name: str, smooth: Sequence[float]) -> Callable[..., Any]:
    """Return a filter of differences along an axis, smoothed along the others."""

    def capture(input: object, axis: int = -1, output: None = None, mode: str = "reflect",
                cval: object = 0.0) -> Any:
        _only_defaults(name, output=output)
        x = real_or_complex_image(input, name)
        own = normalize_axis(axis, len(x.dims))
        found = _along(x, (-1.0, 0.0, 1.0), own, mode, cval)
        for other in range(len(x.dims)):
            if other != own:
                found = _along(found, smooth, other, mode, cval)
        return found

    return capture


def laplace(input: object, output: None = None, mode: str = "reflect", cval: object = 0.0, *,
            axes: None = None) -> Any:
    """Return the sum of second differences."""
    _only_defaults("laplace", output=output, axes=axes)
    x = real_or_complex_image(input, "laplace")
    return sum(_along(x, (1.0, -2.0, 1.0), k, mode, cval) for k in range(len(x.dims)))


def _by_orders(name: str, order: int, joined: Callable[..., object]) -> Callable[..., Any]:
    """Return a filter made of derivatives of Gaussians along each axis."""

    def capture(input: object, sigma: object, output: None = None, mode: str = "reflect",
                cval: object = 0.0, *, axes: None = None, truncate: float = 4.0) -> Any:
        _only_defaults(name, output=output, axes=axes)
        x = real_or_complex_image(input, name)
        rank = len(x.dims)
        orders = [[order * (k == j) for j in range(rank)] for k in range(rank)]
        parts = [gaussian_filter(x, sigma, each, None, mode, cval, truncate) for each in orders]
        return _as_given(joined(parts), x.dtype)

    return capture


def uniform_filter(input: object, size: object = 3, output: None = None, mode: str = "reflect",
                   cval: object = 0.0, origin: object = 0, *, axes: None = None) -> Any:
    """Return the means of windows."""
    _only_defaults("uniform_filter", output=output, axes=axes)
    x: Any = real_or_complex_image(input, "uniform_filter")
    x = x.copy()
    rank = len(x.dims)
    for axis, (n, o) in enumerate(zip(_sizes(size, rank), _sizes(origin, rank), strict=True)):
        x = uniform_filter1d(x, n, axis, None, mode, cval, o) if n > 1 else x
    return x


def _sizes(size: object, rank: int) -> list[int]:
    each: Any = size if isinstance(size, (list, tuple, np.ndarray)) else [size] * rank
    return [operator.index(k) for k in each]


def _ordered(name: str, chosen: Callable[..., object]) -> Callable[..., Any]:
    """Return a filter that chooses one number of each window."""

    def capture(input: object, size: object = None, footprint: object = None,
                output: None = None, mode: str = "reflect", cval: object = 0.0,
                origin: object = 0, *, axes: None = None) -> Any:
        _only_defaults(name, footprint=footprint, output=output, axes=axes)
        x = _real_image(input, name)
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        sizes = _sizes(size, len(x.dims))
        before = map(before_of, sizes, _sizes(origin, len(x.dims)))
        return chosen(np.stack(windows_of(x, sizes, list(before), mode, cval)))

    return capture


def _of_line(name: str, chosen: Callable[..., object]) -> Callable[..., Any]:
    def capture(input: object, size: object, axis: int = -1, output: None = None,
                mode: str = "reflect", cval: object = 0.0, origin: int = 0) -> Any:
        _only_defaults(name, output=output)
        x = _real_image(input, name)
        rank, own = len(x.dims), normalize_axis(axis, len(x.dims))
        sizes = [operator.index(size) if k == own else 1 for k in range(rank)]  # type: ignore[arg-type]
        before = [before_of(n, operator.index(origin) if k == own else 0)
                  for k, n in enumerate(sizes)]
        return chosen(np.stack(windows_of(x, sizes, before, mode, cval)))

    return capture


def _median(windows: np.ndarray) -> Any:
    count = need_int(dims_of(windows)[0], "the size of a filter")
    return np.sort(windows, axis=0)[count // 2]


# --- images at coordinates ----------------------------------------------------------------------


def map_coordinates(input: object, coordinates: object, output: None = None, order: int = 3,
                    mode: str = "constant", cval: object = 0.0, prefilter: bool = True) -> Any:
    """Return an image between its points: at the nearest ones, or by splines."""
    _only_defaults("map_coordinates", output=output)
    x = real_or_complex_image(input, "map_coordinates")
    places: Any = cast(as_tracer(coordinates), np.float64)
    if order in (0, 1) and mode in ("constant", "nearest"):
        dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
        image: Any = cast(x, dtype)
        return _as_given(_between(image, list(places), order, mode, cval), x.dtype)
    if x.dtype.kind in "iu" and order:
        raise refuse("scipy.ndimage of an image of ints with order= above 1, or another mode= "
                     "than 'constant' and 'nearest', cannot be captured",
                     "Convert it with .astype(float)", "TJ206")
    wide: Any = cast(x, np.complex128 if x.dtype.kind == "c" else np.float64)
    return cast(by_splines(wide, list(places), order, mode, cval, prefilter), x.dtype)


def _between(x: np.ndarray, places: list[Any], order: int, mode: str,
             cval: object) -> Any:
    """Return an array at places: one array of coordinates for each axis."""
    last = [as_operand(d) - 1 for d in dims_of(x)]
    inside: Any = True
    for k, p in enumerate(places):
        inside = inside & (p >= 0.0) & (p <= last[k])
    kept = [np.clip(p, 0.0, n) if mode == "nearest" else np.where(inside, p, 0.0)
            for p, n in zip(places, last, strict=True)]
    if order == 0:
        found = x[tuple(cast(as_tracer(np.floor(p + 0.5)), np.int64) for p in kept)]
    else:
        low = [np.minimum(cast(as_tracer(np.floor(p)), np.int64), np.maximum(n - 1, 0))
               for p, n in zip(kept, last, strict=True)]
        found = 0.0
        for corner in np.ndindex(*(2,) * len(places)):
            share: Any = 1.0
            for up, p, k in zip(corner, kept, low, strict=True):
                share = share * ((p - k) if up else (1.0 - (p - k)))
            at = tuple(np.minimum(k + up, n) for up, k, n in zip(corner, low, last, strict=True))
            found = found + share * x[at]
    outside: Any = cval
    return found if mode == "nearest" else np.where(inside, found, outside)


def shift(input: object, shift: object, output: None = None, order: int = 3,
          mode: str = "constant", cval: object = 0.0, prefilter: bool = True) -> Any:
    """Return an image that is moved, by splines."""
    x = real_or_complex_image(input, "shift")
    rank = len(x.dims)
    by: Any = np.broadcast_to(cast(as_tracer(shift), np.float64), (rank,))
    grid: Any = np.indices(tuple(as_operand(d) for d in x.dims))
    moved = [cast(grid[k], np.float64) - by[k] for k in range(rank)]
    return map_coordinates(x, np.stack(moved), output, order, mode, cval, prefilter)


def center_of_mass(input: object, labels: None = None, index: None = None) -> Any:
    """Return the mean of the places of an image, weighted by its numbers."""
    if labels is not None or index is not None:
        raise refuse("scipy.ndimage.center_of_mass with labels= or index= cannot be captured",
                     "Use np.where with the labels", "TJ203")
    x: Any = real_or_complex_image(input, "center_of_mass")
    grid: Any = np.indices(tuple(as_operand(d) for d in x.dims))
    whole = np.sum(x)
    return tuple([np.sum(x * grid[k]) / whole for k in range(len(x.dims))])


captures_of_some("scipy.ndimage", {
    "convolve": _weighted(True), "correlate": _weighted(False),
    "sobel": _edges("sobel", (1.0, 2.0, 1.0)), "prewitt": _edges("prewitt", (1.0, 1.0, 1.0)),
    "laplace": laplace, "uniform_filter": uniform_filter,
    "gaussian_laplace": _by_orders("gaussian_laplace", 2, sum),
    "maximum_filter": _ordered("maximum_filter", lambda w: np.max(w, axis=0)),
    "minimum_filter": _ordered("minimum_filter", lambda w: np.min(w, axis=0)),
    "median_filter": _ordered("median_filter", _median),
    "maximum_filter1d": _of_line("maximum_filter1d", lambda w: np.max(w, axis=0)),
    "minimum_filter1d": _of_line("minimum_filter1d", lambda w: np.min(w, axis=0)),
    "map_coordinates": map_coordinates, "shift": shift, "center_of_mass": center_of_mass})
captures_of_some("scipy.ndimage", {
    "gaussian_gradient_magnitude": _by_orders(
        "gaussian_gradient_magnitude", 1, lambda parts: np.sqrt(as_inexact(sum(
            p * p for p in parts))))}, "iuf")
