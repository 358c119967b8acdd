"""Which contractions are products of matrices that BLAS can do, and how.

A contraction is one product, or one for each place along some axes, the batch. Its axes are in
groups, each of axes that lie side by side in both arrays that have them:

    "ij,jk->ik"       rows i, columns k, summed j
    "bij,jk->bik"     rows bi: one product of all
    "bij,bjk->bik"    batch b
    "nki,kij->nkj"    batch k; the rows n are k i elements apart
    "nki,nkj->ij"     summed nk

Of each matrix the elements along one of its two groups have to lie next to one another in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim, floor_div, maximum, minimum, product
from tracejit.ir.lowering import Contract, axis_labels

__all__ = ["BLOCK", "FEWEST_ROWS", "MOST_BLOCKS", "WORTHWHILE", "Product", "as_product",
           "blocks_of_rows", "is_matrix_product", "plain_product", "product_sizes", "sizes_of"]

WORTHWHILE = 16 ** 3
"""Products of fewer multiplications are done by a loop nest: a call of BLAS costs as much."""

BLOCK = 1 << 20
"""How many multiplications a block of rows has at least, which is a part for a thread: 20 µs."""
FEWEST_ROWS, MOST_BLOCKS = 192, 16
"""BLAS goes through all of the other factor for each block."""


@dataclass(frozen=True, slots=True)
class Product:
    """C[m, n] = op(A)[m, k] op(B)[k, n], its operands perhaps exchanged.

    rows, columns, summed -- the labels of the axes m, n and k
    batch                 -- the labels of the axes at each place of which there is such a product
    """

    left: str
    right: str
    swapped: bool
    rows: str
    columns: str
    summed: str
    batch: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it is a product of two whole arrays with two axes each."""
        return not self.batch and len(self.rows + self.columns + self.summed) == 3


def plain_product(spec: str) -> Product | None:
    """Return a contraction as the product of two arrays with two axes each, if it is one."""
    found = as_product(spec)
    return found if found is not None and found.is_plain else None


def as_product(spec: str) -> Product | None:
    """Return a contraction as products of matrices, if it consists of them."""
    left, right, output = axis_labels(spec)
    if not output or any(len({*labels}) < len(labels) for labels in (left, right, output)):
        return None
    swapped = output[-1] not in right
    a, b = (right, left) if swapped else (left, right)
    summed = "".join(c for c in a if c in b and c not in output)
    rows = _last_together([c for c in a if c not in b and c in output], a, output)
    columns = _last_together([c for c in b if c not in a and c in output], b, output)
    if not (rows and columns and summed and summed in a and summed in b):
        return None
    batch = "".join(c for c in output if c not in rows + columns)
    if len({*a, *b}) != len(rows + columns + summed + batch) or output[-1] not in columns or (
            a[-1] not in rows + summed or b[-1] not in columns + summed):
        return None
    return Product("N" if a[-1] in summed else "T", "N" if b[-1] in columns else "T", swapped,
                   rows, columns, summed, batch)


def _last_together(labels: Sequence[str], operand: str, output: str) -> str:
    """Return the last ones of some labels that stand side by side in an operand and the output."""
    for k in range(len(labels)):
        group = "".join(labels[k:])
        if group in operand and group in output:
            return group
    return ""


def sizes_of(spec: str, a: Sequence[Dim], b: Sequence[Dim]) -> dict[str, Dim]:
    """Return the sizes of the axes of a contraction of arrays of some shapes, by their labels."""
    left, right, _ = axis_labels(spec)
    return dict(zip(left + right, (*a, *b), strict=True))


def is_matrix_product(eqn: Eqn) -> bool:
    """Return whether a contraction consists of products that BLAS knows, each of some size."""
    if not isinstance(eqn.op.lowering, Contract) or eqn.output.aval.dtype not in (
            np.float32, np.float64):
        return False
    spec, (a, b) = eqn.params["spec"], (x.aval.shape for x in eqn.inputs)
    found = as_product(spec)
    return found is not None and not _is_small(product_sizes(found, sizes_of(spec, a, b)))


def product_sizes(found: Product, sizes: dict[str, Dim]) -> tuple[Dim, Dim, Dim]:
    """Return rows, columns and summed size of each product of two matrices."""
    m, n, k = (product(tuple(sizes[c] for c in labels))
               for labels in (found.rows, found.columns, found.summed))
    return m, n, k


def _is_small(sizes: Sequence[Dim]) -> bool:
    known = 1
    for d in sizes:
        if not isinstance(d, int):
            return False
        known *= d
    return known < WORTHWHILE


def blocks_of_rows(sizes: tuple[Dim, ...]) -> Dim:
    """Return in how many blocks of rows threads do a product: no last one is empty."""
    number = minimum(floor_div(sizes[0], FEWEST_ROWS), floor_div(product(sizes), BLOCK))
    return maximum(minimum(number, MOST_BLOCKS), 1)
