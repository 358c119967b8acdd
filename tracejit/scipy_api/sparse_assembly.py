"""Sparse matrices made of others: `kron`, `hstack`, `vstack`, `block_diag`, `eye`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.sparse import Sparse, as_sparse, is_sparse, of_dense
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, same_dim, to_dim
from tracejit.trace.values.known_numbers import need_int

__all__: list[str] = []


def _matrices(given: Sequence[object]) -> tuple[list[Sparse], str]:
    """Return sparse matrices of sparse and dense ones, and "array" or "matrix" for the result."""
    found = [as_sparse(m) if is_sparse(m) else of_dense(as_tracer(m), "coo_matrix") for m in given]
    is_array = any(is_sparse(m) and s.kind.endswith("_array")
                   for m, s in zip(given, found, strict=True))
    return found, "array" if is_array else "matrix"


def kron(A: object, B: object, format: str | None = None) -> Sparse:
    """Return the Kronecker product."""
    (a, b), kind = _matrices([A, B])
    shape = a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]
    places: list[Any] = []
    for axis in (0, 1):
        own: Any = np.reshape(a.elements[1 + axis], (-1, 1))
        other: Any = np.reshape(b.elements[1 + axis], (1, -1))
        inside = (own < a.shape[axis]) & (other < b.shape[axis])
        places.append(np.where(inside, own * b.shape[axis] + other, shape[axis]))
    data: Any = np.reshape(a.elements[0], (-1, 1)) * np.reshape(b.elements[0], (1, -1))
    row, column = (np.reshape(p, (-1,)) for p in places)
    return Sparse((np.reshape(data, (-1,)), row, column), shape, f"{format or 'coo'}_{kind}")


def _stacked(axis: int) -> Callable[..., Sparse]:
    """Return the capture of `vstack` or `hstack`."""
    name, form = ("vstack", "csr") if axis == 0 else ("hstack", "csc")

    def stack(blocks: Sequence[object], format: str | None = None, dtype: None = None) -> Sparse:
        if dtype is not None:
            raise refuse(f"scipy.sparse.{name} with dtype=", "Cast the elements", "TJ218")
        found, kind = _matrices(list(blocks))
        across = found[0].shape[1 - axis]
        for m in found[1:]:
            if not same_dim(to_dim(m.shape[1 - axis]), to_dim(across), f"{name} of unlike shapes"):
                raise ValueError("Mismatching dimensions along axis {" + str(1 - axis) + "}")
        alike = all(m.format == form for m in found)
        return _placed(found, axis, across, f"{format or (form if alike else 'coo')}_{kind}")

    return stack


def _placed(found: list[Sparse], axis: int, across: object, kind: str) -> Sparse:
    """Return matrices behind one another along an axis, or along both where `across` is None."""
    along = [axis] if across is not None else [0, 1]
    total: list[Any] = [sum((m.shape[k] for m in found[1:]), found[0].shape[k])
                        if k in along else across for k in (0, 1)]
    parts: list[list[Any]] = [[], [], []]
    start: list[Any] = [0, 0]
    for m in found:
        data, *places = m.elements
        counts: Any = (places[0] < m.shape[0]) & (places[1] < m.shape[1])
        parts[0].append(data)
        for k in (0, 1):
            parts[1 + k].append(np.where(counts, places[k] + start[k], total[k]))
        for k in along:
            start[k] = start[k] + m.shape[k]
    data, row, column = (np.concatenate(p) for p in parts)
    return Sparse((data, row, column), (total[0], total[1]), kind)


def block_diag(mats: Sequence[object], format: str | None = None, dtype: None = None) -> Sparse:
    """Return the matrix with others on its diagonal."""
    if dtype is not None:
        raise refuse("scipy.sparse.block_diag with dtype=", "Cast the elements", "TJ218")
    found, kind = _matrices(list(mats))
    return _placed(found, 0, None, f"{format or 'coo'}_{kind}")


def _eye(kind: str) -> Callable[..., Sparse]:
    def eye(m: object, n: object = None, *, k: object = 0, dtype: object = float,
            format: str | None = None) -> Sparse:
        if need_int(to_dim(k), "the place of a diagonal") != 0 or not (
                n is None or same_dim(to_dim(n), to_dim(m))):
            raise refuse("scipy.sparse.eye of a matrix that is not square, or with k=",
                         "Use scipy.sparse.diags", "TJ218")
        place: Any = apply("iota", size=to_dim(m))
        one = apply("full", np.dtype(dtype).type(1), shape=(to_dim(m),))  # type: ignore[call-overload]
        side: Any = m
        return Sparse((one, place, place), (side, side), f"{format or 'dia'}_{kind}")

    return eye


def _identity(n: object, dtype: object = "d", format: str | None = None) -> Sparse:
    return _eye("matrix")(n, dtype=dtype, format=format)


scipy_captures("scipy.sparse", {
    "kron": kron, "vstack": _stacked(0), "hstack": _stacked(1), "block_diag": block_diag,
    "eye": _eye("matrix"), "eye_array": _eye("array"), "identity": _identity})
