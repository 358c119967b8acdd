"""Index arrays of the triangles and the diagonal of a matrix, for all its sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, floor_div, maximum
from tracejit.numpy_api.creation import iota
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import as_operand, cast, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


@captures(np.tril_indices)
def tril_indices(n: object, k: object = 0, m: object = None) -> Any:
    """Return rows and columns of the lower triangle, row by row."""
    rows = to_dim(n)
    below = -need_int(to_dim(k), "the number of a diagonal")
    if below < 0 or not _is_square(rows, m):
        return np.tril_indices(*_numbers(n, -below, m))
    row, column = _places(rows - below)
    return row + below, column


@captures(np.triu_indices)
def triu_indices(n: object, k: object = 0, m: object = None) -> Any:
    """Return rows and columns of the upper triangle, row by row."""
    rows = to_dim(n)
    above = need_int(to_dim(k), "the number of a diagonal")
    if above < 0 or not _is_square(rows, m):
        return np.triu_indices(*_numbers(n, above, m))
    row, column = _places(rows - above)  # of the lower triangle, which is this one backwards
    return (as_operand(rows - above - 1) - row[::-1]), as_operand(rows - 1) - column[::-1]


@captures(np.tril_indices_from)
def tril_indices_from(arr: Tracer, k: object = 0) -> Any:
    """Return rows and columns of the lower triangle of a matrix."""
    return tril_indices(*_shape_of(arr, k))


@captures(np.triu_indices_from)
def triu_indices_from(arr: Tracer, k: object = 0) -> Any:
    """Return rows and columns of the upper triangle of a matrix."""
    return triu_indices(*_shape_of(arr, k))


@captures(np.diag_indices)
def diag_indices(n: object, ndim: int = 2) -> tuple[Tracer, ...]:
    """Return the indices of a diagonal, once per axis."""
    count = maximum(to_dim(n), 0, current().builder.known)
    return (iota(count),) * need_int(to_dim(ndim), "the number of axes of np.diag_indices")


@captures(np.diag_indices_from)
def diag_indices_from(arr: Tracer) -> tuple[Tracer, ...]:
    """Return the indices of the diagonal of an array."""
    first, *others = arr.dims
    if not others:
        raise ValueError("input array must be at least 2-d")
    if not all(same_dim(first, d) for d in others):
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], len(arr.dims))


def _shape_of(arr: Tracer, k: object) -> tuple[Any, Any, Any]:
    if len(arr.dims) != 2:
        raise ValueError("input array must be 2-d")
    return arr.shape[0], k, arr.shape[1]


def _is_square(rows: Dim, columns: object) -> bool:
    return columns is None or same_dim(rows, to_dim(columns))


def _numbers(n: object, k: int, m: object) -> tuple[int, int, int | None]:
    why = "the size of a part of a matrix that is no triangle"
    return (need_int(to_dim(n), why), k, None if m is None else need_int(to_dim(m), why))


def _places(side: Dim) -> tuple[Tracer, Tracer]:
    """Return rows and columns of the lower triangle with a diagonal of some elements.

    Before row r come r (r + 1) / 2 elements, so that element p is in row floor((sqrt(8 p + 1) - 1)
    / 2): exact, as long as 8 p has no more than 53 bits.
    """
    side = maximum(side, 0, current().builder.known)
    place = iota(floor_div(side * (side + 1), 2))
    row = cast(np.floor((np.sqrt(8.0 * place + 1.0) - 1.0) / 2.0), np.int64)
    return row, place - row * (row + 1) // 2
