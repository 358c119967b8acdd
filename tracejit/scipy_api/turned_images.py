"""Images of `scipy.ndimage` made larger or smaller, turned, or mapped by a matrix."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.images import map_coordinates, real_or_complex_image
from tracejit.scipy_api.integrals import cosdg, sindg
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import as_operand, cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def zoom(input: object, zoom: object, output: None = None, order: int = 3,
         mode: str = "constant", cval: object = 0.0, prefilter: bool = True, *,
         grid_mode: bool = False) -> Any:
    """Return an image of another size, by splines."""
    if grid_mode:
        raise refuse("scipy.ndimage.zoom with grid_mode= cannot be captured",
                     "Use map_coordinates", "TJ203")
    known = known_array(as_tracer(zoom), "by how much an image is zoomed")
    if known is None:
        raise refuse("scipy.ndimage.zoom whose zoom= is traced cannot be captured: it says the "
                     "size of the result", "Pass a float, or use map_coordinates", "TJ212")
    x = real_or_complex_image(input, "zoom")
    old = [need_int(d, "the size of an image that is zoomed") for d in x.dims]
    factors = np.broadcast_to(known.astype(float), (len(old),)).tolist()
    if all(f == 1 for f in factors) and prefilter:
        return x.copy()
    new = [round(n * f) for n, f in zip(old, factors, strict=True)]
    grid: Any = np.indices(tuple(new))
    steps = [(n - 1) / (m - 1) if m != 1 else 1.0 for n, m in zip(old, new, strict=True)]
    places = [cast(as_tracer(grid[k]), np.float64) * step for k, step in enumerate(steps)]
    return map_coordinates(x, np.stack(places), output, order, mode, cval, prefilter)


def affine_transform(input: object, matrix: object, offset: object = 0.0,
                     output_shape: Sequence[int] | None = None, output: None = None,
                     order: int = 3, mode: str = "constant", cval: object = 0.0,
                     prefilter: bool = True) -> Any:
    """Return an image at the places to which a matrix takes those of the result."""
    x = real_or_complex_image(input, "affine_transform")
    rank = len(x.dims)
    m: Any = cast(as_tracer(matrix), np.float64)
    by: Any = offset
    if m.ndim not in (1, 2):
        raise RuntimeError("no proper affine matrix provided")
    sizes = [need_int(d, "the size of a matrix that turns an image") for d in m.dims]
    if len(sizes) == 2 and sizes[1] == rank + 1 and sizes[0] in (rank, rank + 1):
        if sizes[0] == rank + 1:
            require(np.all(m[rank] == np.array([0.0] * rank + [1.0])), ValueError, "Expected "
                    "homogeneous transformation matrix, but the bottom row was another")
        by, m = m[:rank, rank], m[:rank, :rank]
        sizes = [rank, rank]
    shape: Any = tuple(as_operand(d) for d in x.dims) if output_shape is None else (
        tuple(output_shape))
    if sizes[0] != rank:
        raise RuntimeError("affine matrix has wrong number of rows")
    if len(sizes) == 2 and sizes[1] != len(shape):
        raise RuntimeError("affine matrix has wrong number of columns")
    start: Any = np.broadcast_to(cast(as_tracer(by), np.float64), (rank,))
    grid: Any = cast(as_tracer(np.indices(shape)), np.float64)
    places = [start[k] + sum(m[k, j] * grid[j] for j in range(len(shape))) if len(sizes) == 2
              else m[k] * (grid[k] + start[k] / m[k]) for k in range(rank)]
    return map_coordinates(x, np.stack(places), output, order, mode, cval, prefilter)


def rotate(input: object, angle: object, axes: Sequence[int] = (1, 0), reshape: bool = True,
           output: None = None, order: int = 3, mode: str = "constant", cval: object = 0.0,
           prefilter: bool = True) -> Any:
    """Return an image turned by degrees in a plane, the first two axes; a traced angle in its size.
    """
    x = real_or_complex_image(input, "rotate")
    rank = len(x.dims)
    if rank < 2:
        raise ValueError("input array should be at least 2D")
    if rank != 2 or sorted(a % 2 for a in axes) != [0, 1]:
        raise refuse("scipy.ndimage.rotate of an image of more than two axes cannot be captured",
                     "Rotate its planes in a loop", "TJ207")
    known = known_array(as_tracer(angle), "by how much an image is turned") if reshape else None
    if reshape and known is None:
        raise refuse("scipy.ndimage.rotate by a traced angle cannot be captured: it says the size "
                     "of the result", "Say reshape=False", "TJ212")
    degrees: Any = as_tracer(angle)
    c, s = cosdg(degrees), sindg(degrees)
    size = [as_operand(d) for d in x.dims]
    shape: Any = tuple(size)
    if reshape:
        size = [need_int(d, "the size of an image that is turned") for d in x.dims]
        special: Any = sys.modules["scipy.special"]
        c0, s0 = special.cosdg(known), special.sindg(known)
        corners = np.array([[0, 0, size[0], size[0]], [0, size[1], 0, size[1]]])
        bounds = np.array([[c0, s0], [-s0, c0]]) @ corners
        shape = tuple((np.ptp(bounds, axis=1) + 0.5).astype(int).tolist())
    matrix: Any = np.stack([np.stack([c, s]), np.stack([-s, c])])
    middle: Any = np.stack([cast(as_tracer((n - 1) / 2), np.float64) for n in shape])
    own: Any = np.stack([cast(as_tracer((n - 1) / 2), np.float64) for n in size])
    return affine_transform(x, matrix, own - matrix @ middle, shape, output, order, mode, cval,
                            prefilter)


captures_of_some("scipy.ndimage", {
    "zoom": zoom, "affine_transform": affine_transform, "rotate": rotate})
