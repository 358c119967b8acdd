"""Diagonals of matrices, read, written and made, and triangles of them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.numpy_api.attributes import values_in_turn
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.shapes import transpose
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import apply, same_dim
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["diagonal"]


@captures(np.diagonal, method="diagonal")
def diagonal(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the elements with equal indices along two axes, as the last axis."""
    a = as_tracer(a)
    ndim, offset = len(a.dims), operator.index(offset)
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j = normalize_axis(axis1, ndim), normalize_axis(axis2, ndim)
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    order = [k for k in range(ndim) if k not in (i, j)] + [i, j]
    moved = transpose(a, order)
    rows, columns = moved.dims[-2:]
    square = offset == 0 and same_dim(rows, columns)
    size = rows if square else None
    if size is None:
        size = maximum(minimum(rows if offset >= 0 else rows + offset,
                               columns - offset if offset >= 0 else columns), 0)
    row, column = iota(size, max(-offset, 0)), iota(size, max(offset, 0))
    result = apply("gather", moved, row, column, axes=(ndim - 2, ndim - 1), position=ndim - 2)
    result.cell.constant = "writing to a diagonal"
    result.cell.stands_for([a.cell])  # NumPy's is a view
    return result


@captures(np.fill_diagonal)
def fill_diagonal(a: object, val: object, wrap: bool = False) -> None:
    """Write to the elements whose indices along all axes are the same."""
    if not isinstance(a, Tracer):
        raise refuse("np.fill_diagonal writes traced values to an array from outside of the "
                     "captured function", "Create the array inside the function", "TJ402")
    ndim = len(a.dims)
    if ndim < 2:
        raise ValueError("array must be at least 2-d")
    if ndim > 2 and not all(same_dim(d, a.dims[0]) for d in a.dims):
        raise ValueError("All dimensions of input must be of equal length")
    if wrap:
        raise refuse("np.fill_diagonal with wrap=True cannot be captured", "Write to its elements",
                     "TJ203")
    rows, columns = a.dims[:2]
    size = rows if same_dim(rows, columns) else minimum(rows, columns)
    values = values_in_turn(val, a, size, "np.fill_diagonal")
    if values is not None:
        a[(iota(size),) * ndim] = values


@captures(np.trace, method="trace")
def trace_(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1,
           dtype: npt.DTypeLike | None = None) -> Any:
    """Return the sum of the diagonal."""
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@captures(np.diag)
def diag(v: object, k: int = 0) -> Any:
    """Return a diagonal, or a matrix that has a vector as its diagonal."""
    v = as_tracer(v)
    k = operator.index(k)
    if len(v.dims) == 2:
        return diagonal(v, k)
    if len(v.dims) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.dims[0]
    blank = apply("full", v.dtype.type(0), shape=(size + abs(k), size + abs(k)))
    row, column = iota(size, max(-k, 0)), iota(size, max(k, 0))
    return apply("scatter", blank, v, row, column, axes=(0, 1), position=0)


def _triangle(lower: bool) -> Any:
    def function(m: object, k: int = 0) -> Any:
        m = as_tracer(m)
        if not m.dims:
            raise TypeError("tri() missing 1 required positional argument: 'N'")
        row = apply("iota", size=m.dims[-2:][0])[:, None]
        column = apply("iota", size=m.dims[-1])[None, :]
        inside = column <= row + k if lower else column >= row + k
        return np.where(inside, m, m.dtype.type(0))

    return function


captures(np.tril)(_triangle(True))
captures(np.triu)(_triangle(False))
