"""Quotients by gaps between eigenvalues, which do not exist where two are equal.

There eigenvectors are any of a plane. A gradient in which they matter is then no limit: the program
ends with an error, unless it shows that no turn within the plane changes the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.core import Eqn, Literal
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Write
from tracejit.ops.implicit import assured
from tracejit.ops.makers import maker_of
from tracejit.trace.values.equations import apply, dims_of
from tracejit.trace.values.tracer import Tracer

__all__ = ["EQUAL", "diagonal_of", "is_tiny", "off_diagonal", "quotients", "touched", "weighs"]

EQUAL = ("the derivative by {} does not exist where two of the {} are equal, or all but equal: "
         "their vectors may be turned. Functions of a matrix (scipy.linalg.expm, logm, sqrtm), "
         "np.linalg.pinv and sums over values alone have one there")


def diagonal_of(x: np.ndarray) -> Any:
    """Return the diagonal of a square matrix."""
    i = apply("iota", size=dims_of(x)[0])
    return apply("gather", x, i, i, axes=(0, 1), position=0)


def off_diagonal(n: Dim) -> Any:
    """Return where the row of a square matrix is not its column."""
    i = apply("iota", size=n)
    return i[:, None] != i[None, :]


def weighs(x: np.ndarray) -> Any:
    """Return where an array is more than rounding errors of all of it."""
    size = np.abs(x)
    return size > np.sum(size) * 1e-9


def is_tiny(gap: np.ndarray, values: np.ndarray) -> Any:
    """Return where gaps are no more than the errors of the values that they are between."""
    eps = float(np.finfo(values.dtype).eps)
    return np.abs(gap) <= np.sum(np.abs(values)) * (10.0 * eps)


def quotients(x: np.ndarray, gap: np.ndarray, tiny: np.ndarray, undetermined: np.ndarray,
              message: str) -> Any:
    """Return x over gaps, 0 where these are tiny; an error where `undetermined` at such a place."""
    fine = assured(np.logical_not(np.any(np.logical_and(tiny, undetermined))), message)
    left = np.logical_or(tiny, np.logical_not(fine))
    one = gap.dtype.type(1)
    return np.where(left, x.dtype.type(0), x / np.where(left, one, gap))


def touched(ct: np.ndarray, axis: int) -> Any:
    """Return along an axis where a cotangent may be other than zero, by slices alone.

    Cotangents of slices that a program reads are added to zeros; all others may be anything.
    """
    places, eqn = [], _maker(ct)
    while eqn is not None and isinstance(eqn.op.lowering, Write) and not eqn.op.lowering.gathered:
        places.append(eqn.params["at"])
        eqn = maker_of(eqn.inputs[0])
    zeros = eqn is not None and eqn.op.meaning == "full" and isinstance(
        eqn.inputs[0], Literal) and eqn.inputs[0].val == 0
    mask: Any = apply("full", np.float64(0 if zeros else 1), shape=dims_of(ct))
    for at in places if zeros else ():
        ones = apply("full", np.float64(1), shape=apply("index", mask, at=at).dims)
        mask = apply("update", mask, ones, at=at)
    others = tuple(k for k in range(len(dims_of(ct))) if k != axis)
    return np.any(mask != 0.0, axis=others) if others else mask != 0.0


def _maker(x: object) -> Eqn | None:
    return maker_of(x.value) if isinstance(x, Tracer) else None
