"""Where the elements of SciPy's sparse matrices are: rows and columns from a format's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import apply, as_operand, cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["ELEMENTS", "Elements", "Shape", "flat", "places_of_compressed", "require_inside"]

Elements = tuple[Any, Any, Any]
"""Data, rows and columns."""
Shape = tuple[Any, Any]
"""Numbers of rows and columns, traced perhaps."""


def flat(data: Tracer, row: Tracer, column: Tracer) -> Elements:
    """Return elements as vectors."""
    return np.reshape(data, (-1,)), np.reshape(row, (-1,)), np.reshape(column, (-1,))


def _array(matrix: object, name: str) -> Any:
    return as_tracer(read_attribute(matrix, name))


def _compressed(matrix: object, shape: Shape, along: int) -> Elements:
    """Return the elements of a csr or csc matrix, each with its place along both axes."""
    data, indices, ends = (_array(matrix, name) for name in ("data", "indices", "indptr"))
    return data, *places_of_compressed(data, indices, ends, shape, along)


def require_inside(elements: Elements, shape: Shape) -> None:
    """Require, in the run, that elements are in a matrix, or behind its last row and column."""
    _, row, column = elements
    for name, x, count in (("row", row, shape[0]), ("column", column, shape[1])):
        require(np.all(np.logical_and(x >= 0, x <= count)), ValueError,
                f"{name} index of a sparse matrix exceeds its dimensions, or is negative")


def places_of_compressed(data: Tracer, indices: Tracer, ends: Tracer, shape: Shape,
              along: int) -> tuple[Any, Any]:
    """Return rows and columns of elements that are kept row by row, or column by column."""
    count = data.dims[0]
    behind: Any = np.minimum(cast(ends[1:], np.int64), as_operand(count))
    marks = apply("scatter_add", apply("full", np.int64(0), shape=(count + 1,)),
                  apply("full", np.int64(1), shape=behind.dims), behind, axes=(0,), position=0)
    which: Any = np.cumsum(marks)[:-1]
    other = np.where(which < shape[along], cast(indices[:as_operand(count)], np.int64),
                     shape[1 - along])
    return (which, other) if along == 0 else (other, which)


def _coordinates(matrix: object, shape: Shape) -> Elements:
    row, column = (as_tracer(x) for x in read_attribute(matrix, "coords"))
    return _array(matrix, "data"), cast(row, np.int64), cast(column, np.int64)


def _diagonals(matrix: object, shape: Shape) -> Elements:
    data, offsets = _array(matrix, "data"), _array(matrix, "offsets")
    column: Any = np.broadcast_to(apply("iota", size=data.dims[1]), data.shape)
    row = column - np.reshape(cast(offsets, np.int64), (-1, 1))
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    return flat(data, np.where(inside, row, shape[0]), np.where(inside, column, shape[1]))


ELEMENTS: dict[str, Callable[[object, Shape], Elements]] = {
    "csr": lambda matrix, shape: _compressed(matrix, shape, 0),
    "csc": lambda matrix, shape: _compressed(matrix, shape, 1),
    "coo": _coordinates, "dia": _diagonals}
"""By format: what makes the elements of a matrix of SciPy's, given its shape."""
