"""Arrays made of the places of their elements: `eye`, `indices`, `meshgrid` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, maximum
from tracejit.numpy_api.creation import counted, counted_dims, creates
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.layouts import lay_out, stretched
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, cast, to_dim, to_dims
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["eye", "identity", "unit_matrix", "tri", "indices", "fromfunction", "meshgrid"]


@creates(np.eye)
def eye(N: object, M: object = None, k: object = 0, dtype: npt.DTypeLike = float,
        order: str = "C") -> Tracer:
    """Return a matrix with ones on a diagonal."""
    rows = apply("iota", size=counted(N))
    columns = apply("iota", size=counted(N if M is None else M))
    return lay_out(cast(columns[None, :] == rows[:, None] + k, dtype), order)


@creates(np.identity)
def identity(n: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Return the identity matrix."""
    return eye(n, dtype=dtype or float)


def unit_matrix(size: Dim, dtype: npt.DTypeLike) -> Tracer:
    """Return the identity of a size that an array has, which is no negative number."""
    places = apply("iota", size=size)
    return cast(places[None, :] == places[:, None], dtype)


@creates(np.tri)
def tri(N: object, M: object = None, k: object = 0, dtype: npt.DTypeLike = float) -> Tracer:
    """Return ones at and below a diagonal."""
    known = current().builder.known
    rows = apply("iota", size=maximum(to_dim(N), 0, known))
    columns = apply("iota", size=maximum(to_dim(N if M is None else M), 0, known))
    return cast(columns[None, :] <= rows[:, None] + k, dtype)


@creates(np.indices)
def indices(dimensions: object, dtype: npt.DTypeLike = int) -> Tracer:
    """Return the indices of a grid."""
    shape = counted_dims(dimensions)
    grids = []
    for axis, d in enumerate(shape):
        index = apply("iota", size=d)
        index = apply("reshape", index, shape=tuple(d if k == axis else 1
                                                    for k in range(len(shape))))
        grids.append(apply("broadcast_to", index, shape=shape))
    return cast(FUNCTIONS[np.stack](grids), dtype)


@creates(np.fromfunction)
def fromfunction(function: Callable[..., object], shape: object, *, dtype: npt.DTypeLike = float,
                 like: object = None, **kwargs: object) -> Any:
    """Return a function of the indices of a grid."""
    grid = indices(shape)
    axes = tuple([cast(grid[k], dtype) for k in range(len(to_dims(shape)))])
    return call_function(function, axes, kwargs)


@creates(np.meshgrid)
def meshgrid(*xi: object, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return coordinate matrices from coordinate vectors."""
    arrays = [as_tracer(x).reshape(-1) for x in xi]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[0], order[1] = 1, 0
    dims = [arrays[k].dims[0] for k in order]
    result = []
    for k, x in enumerate(arrays):
        place = order.index(k)
        row = apply("reshape", x, shape=tuple(d if j == place else 1 for j, d in enumerate(dims)))
        grid = row if sparse else apply("broadcast_to", row, shape=tuple(dims))
        if not copy:
            grid.cell.stands_for([x.cell])
            stretched(grid, row)
            if not sparse and len(arrays) > 1:  # its elements are in one place
                grid.cell.constant = "writing to a grid of np.meshgrid that is no copy"
        result.append(grid)
    return tuple(result)
