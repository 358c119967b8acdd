"""`csr_array`, `diags_array` and their like, of traced elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.sparse import Sparse, as_sparse, is_sparse, of_dense
from tracejit.scipy_api.sparse_places import Shape, places_of_compressed, require_inside
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_OTHER_LENGTH = "the length of a diagonal does not agree with the array's size"
_OTHER_NUMBER = "Different number of diagonals and offsets."
_LENGTHS = "indices and data should have the same size"
_POINTERS = "the index pointer of a sparse matrix has another size than its shape says"


def _maker(form: str, kind: str) -> Callable[..., Sparse]:
    """Return the capture of a class: of elements with their places, or of a dense array."""
    whole = f"{form}_{kind}"

    def make(arg1: object, shape: Shape | None = None, dtype: object = None,
             copy: bool = False) -> Sparse:
        if dtype is not None:
            raise refuse(f"scipy.sparse.{form}_{kind} with dtype=", "Cast the elements", "TJ218")
        if is_sparse(arg1):
            given = as_sparse(arg1).asformat(form, copy)
            return Sparse(given.elements, given.shape, whole)
        if isinstance(arg1, tuple) and len(arg1) == 2 and isinstance(arg1[1], (tuple, list)):
            made = _of_coordinates(arg1[0], arg1[1], shape, whole)
            return made.copy() if copy or form != "coo" else made
        if isinstance(arg1, tuple) and len(arg1) == 3 and form in ("csr", "csc"):
            made = _of_compressed(*arg1, shape, 0 if form == "csr" else 1, whole)
            return made.copy() if copy else made
        if isinstance(arg1, tuple):
            raise refuse(f"scipy.sparse.{form}_{kind} of these arguments",
                         "Give (data, (row, column)) and shape=", "TJ218")
        return of_dense(as_tracer(arg1), whole)

    return make


def _whole(shape: Shape | None) -> tuple[Any, Any]:
    if shape is None:
        raise refuse("a sparse matrix whose shape follows from its elements' places",
                     "Give shape=(rows, columns)", "TJ218")
    rows, columns = shape
    return rows, columns


def _of_coordinates(data: object, places: Sequence[object], shape: Shape | None,
                    kind: str) -> Sparse:
    rows, columns = _whole(shape)
    row, column = (cast(as_tracer(x), np.int64) for x in places)
    if kind.endswith("_matrix"):  # which keeps small places as int32
        row, column = row.copy(), column.copy()
    for name, x, count in (("row", row, rows), ("column", column, columns)):
        _require_inside(name, x, count)
    return Sparse((as_tracer(data), row, column), (rows, columns), kind)


def _require_inside(name: str, places: Tracer, count: int | SymInt) -> None:
    """Require, in the run, that places are below the matrix's size, as SciPy does."""
    require(np.all((places >= 0) & (places < count)), ValueError,
            f"{name} index exceeds matrix dimensions, or is negative")


def _of_compressed(data: object, indices: object, indptr: object, shape: Shape | None, along: int,
                   kind: str) -> Sparse:
    whole = _whole(shape)
    elements: Any = as_tracer(data)
    at, ends = as_tracer(indices), as_tracer(indptr)
    if not same_dim(at.dims[0], elements.dims[0], _LENGTHS):
        raise ValueError(_LENGTHS)
    if not same_dim(ends.dims[0], to_dim(whole[along]) + 1, _POINTERS):
        raise ValueError(f"index pointer size {ends.shape[0]} should be {whole[along] + 1}")
    require(np.logical_and(ends[0] == 0, np.all(ends[1:] >= ends[:-1])), ValueError,
            "index pointer should start with 0 and never decrease")
    found = elements, *places_of_compressed(elements, at, ends, whole, along)
    require_inside(found, whole)
    return Sparse(found, whole, kind)


_COMMON: Any = object()


def _diagonals(diagonals: Iterable[object], offsets: Iterable[object] | int,
               shape: Shape | None, kind: str, dtype: object) -> Sparse:
    """Return the matrix of `diags` and `diags_array`."""
    if isinstance(offsets, (int, np.integer)):
        if isinstance(diagonals, (list, tuple)) and diagonals and np.ndim(as_tracer(diagonals[0])):
            raise ValueError(_OTHER_NUMBER)
        diagonals, offsets = [diagonals], [offsets]
    starts = [need_int(to_dim(k), "the place of a diagonal") for k in offsets]
    given = [as_tracer(d) for d in diagonals]
    if len(given) != len(starts):
        raise ValueError(_OTHER_NUMBER)
    if len(set(starts)) != len(starts):
        raise ValueError("offset array contains duplicate values")
    kept = _kept_dtype(given, dtype)
    if shape is None:
        side = as_operand((given[0].dims[0] if given[0].ndim else to_dim(1)) + abs(starts[0]))
        shape = side, side
    n, m = shape
    data: list[Any] = []
    rows: list[Any] = []
    columns: list[Any] = []
    for diagonal, k in zip(given, starts, strict=True):
        top, left = max(-k, 0), max(k, 0)
        count = min(n - top, m - left)
        if isinstance(count, int) and count < 0:
            raise ValueError(f"Offset {k} (index {len(data)}) out of bounds")
        values: Any = diagonal
        if not values.ndim or values.dims[0] == 1:
            values = np.broadcast_to(np.reshape(values, (-1,)), (count,))
        elif not same_dim(values.dims[0], to_dim(count), _OTHER_LENGTH):
            raise ValueError(f"Diagonal length (index {len(data)}: {values.shape[0]} at offset {k})"
                             f" does not agree with array size ({n}, {m}).")
        place: Any = apply("iota", size=values.dims[0])
        data.append(values)
        rows.append(place + top)
        columns.append(place + left)
    elements = cast(np.concatenate(data), kept), np.concatenate(rows), np.concatenate(columns)
    return Sparse(elements, (n, m), kind)


def _kept_dtype(diagonals: Sequence[Tracer], dtype: object) -> np.dtype:
    """Return the dtype of a matrix of diagonals: the one that is asked for, or a float's."""
    if dtype is not None and dtype is not _COMMON:
        return np.dtype(dtype)  # type: ignore[call-overload]
    kinds = [d.dtype for d in diagonals]
    return np.result_type(*kinds) if dtype is None else np.dtype(
        np.common_type(*[np.empty(0, kind) for kind in kinds]))


def diags(diagonals: Iterable[object], offsets: Iterable[object] | int = 0,
          shape: Shape | None = None, format: object = None, dtype: object = _COMMON) -> Sparse:
    """Return the matrix of some diagonals, of class `np.matrix`'s relatives."""
    return _diagonals(diagonals, offsets, shape, f"{format or 'dia'}_matrix", dtype)


def diags_array(diagonals: Iterable[object], /, *, offsets: Iterable[object] | int = 0,
                shape: Shape | None = None, format: object = None,
                dtype: object = _COMMON) -> Sparse:
    """Return the matrix of some diagonals."""
    return _diagonals(diagonals, offsets, shape, f"{format or 'dia'}_array", dtype)


def issparse(x: object) -> bool:
    """Whether something is a sparse matrix, one that captured code made included."""
    return is_sparse(x)


scipy_captures("scipy.sparse", {
    **{f"{form}_{kind}": _maker(form, kind) for form in ("csr", "csc", "coo")
       for kind in ("array", "matrix")},
    "diags": diags, "diags_array": diags_array, "issparse": issparse})
