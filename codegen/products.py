"""Which contractions are products of two matrices that BLAS can do, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Contract

__all__ = ["WORTHWHILE", "Product", "as_product", "is_matrix_product", "operand_labels",
           "product_sizes"]

WORTHWHILE = 16 ** 3
"""Products of fewer multiplications are done by a loop nest: a call of BLAS costs as much."""


@dataclass(frozen=True, slots=True)
class Product:
    """C[m, n] = op(A)[m, k] op(B)[k, n], its operands perhaps exchanged."""

    left: str
    right: str
    swapped: bool


def operand_labels(spec: str) -> tuple[str, str]:
    """Return the labels of the axes of both operands of a contraction."""
    left, rest = spec.split(",")
    return left, rest.split("->")[0]


def as_product(spec: str) -> Product | None:
    left, rest = spec.split(",")
    right, output = rest.split("->")
    summed = [c for c in left if c in right and c not in output]
    if len(left) != 2 or len(right) != 2 or len(output) != 2 or len(summed) != 1:
        return None
    (k,) = summed
    swapped = output[0] in right
    a, b = (right, left) if swapped else (left, right)
    if output[0] not in a or output[1] not in b:
        return None
    return Product("N" if a[1] == k else "T", "N" if b[0] == k else "T", swapped)


def is_matrix_product(eqn: Eqn) -> bool:
    """Return whether a contraction is a product of two matrices that BLAS knows, of some size."""
    if not isinstance(eqn.op.lowering, Contract) or eqn.output.aval.dtype not in (
            np.float32, np.float64):
        return False
    spec = eqn.params["spec"]
    a, b = (x.aval.shape for x in eqn.inputs)
    return as_product(spec) is not None and not _is_small(product_sizes(spec, a, b))


def product_sizes(spec: str, a: Sequence[Dim], b: Sequence[Dim]) -> tuple[Dim, Dim, Dim]:
    """Return rows, columns and summed size of a product of two matrices of some shapes."""
    left, rest = spec.split(",")
    right, output = rest.split("->")
    dims = dict(zip(left + right, (*a, *b), strict=True))
    (k,) = [c for c in left if c in right and c not in output]
    return dims[output[0]], dims[output[1]], dims[k]


def _is_small(sizes: Sequence[Dim]) -> bool:
    known = 1
    for d in sizes:
        if not isinstance(d, int):
            return False
        known *= d
    return known < WORTHWHILE
