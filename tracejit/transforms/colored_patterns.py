"""Patterns with their colours: which product has which element of a sparse matrix, and where."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.transforms.colorings import color_columns, color_symmetric, is_alone
from tracejit.transforms.compressed import Mode
from tracejit.transforms.patterns import Sparsity

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ColoredPattern", "colored_pattern"]


@dataclass(frozen=True, slots=True, eq=False)
class ColoredPattern:
    """A pattern with its colours, and all that a compiled program asks for.

    rounds  -- the colours, one after the other
    places  -- per element, where it lies in the products, one after the other
    length  -- of a product
    matrix  -- a sparse array of the pattern
    numbers -- `colors`, of the dtype of `rounds`
    """

    sparsity: Sparsity
    mode: Mode
    colors: np.ndarray
    rounds: np.ndarray
    places: np.ndarray
    length: int
    matrix: csr_array
    numbers: np.ndarray

    def filled(self, data: np.ndarray) -> Any:
        """Return a sparse array with these elements, which shares no memory with any other."""
        found = copy.copy(self.matrix)
        found.data = data
        found.indices, found.indptr = found.indices.copy(), found.indptr.copy()
        return found


@dataclass(frozen=True, slots=True)
class _Coloring:
    """Colours, and for each element which product has it, and where.

    mode    -- "fwd" where products are with directions of columns, "rev" with weights of rows
    product -- per element, the colour of its product
    place   -- per element, its place in the product
    """

    mode: Mode
    colors: np.ndarray
    count: int
    product: np.ndarray
    place: np.ndarray


def _coloring(sparsity: Sparsity, mode: Mode) -> _Coloring:
    """Color the columns of a pattern, or its rows."""
    m, n = sparsity.shape
    rows, columns = sparsity.rows, sparsity.columns
    by_columns = None
    if mode != "rev":
        colors, count = color_columns(rows, columns, (m, n))
        by_columns = _Coloring("fwd", colors, count, colors[columns], rows)
        longest = int(np.bincount(columns, minlength=1).max(initial=0)) if len(columns) else 0
        if mode == "fwd" or longest >= count:
            return by_columns
    colors, count = color_columns(columns, rows, (n, m))
    if by_columns is not None and by_columns.count <= count:
        return by_columns
    return _Coloring("rev", colors, count, colors[rows], columns)


def _symmetric_coloring(sparsity: Sparsity) -> _Coloring:
    """Color the columns of a symmetric pattern so that products have each element or its twin."""
    rows, columns = sparsity.rows, sparsity.columns
    plain = _coloring(sparsity, "fwd")
    colors, count = color_symmetric(rows, columns, sparsity.shape[1])
    if plain.count <= count:
        return plain
    alone = is_alone(rows.astype(np.int64), colors[columns])
    return _Coloring("fwd", colors, count, np.where(alone, colors[columns], colors[rows]),
                     np.where(alone, rows, columns))


def _symmetrised(sparsity: Sparsity) -> Sparsity:
    """Return a square pattern with, for each element, the one across the diagonal."""
    n = sparsity.shape[1]
    rows, columns = sparsity.rows.astype(np.int64), sparsity.columns.astype(np.int64)
    keys = np.unique(np.concatenate([rows * n + columns, columns * n + rows]))
    kind = sparsity.rows.dtype
    return Sparsity(sparsity.shape, (keys // max(n, 1)).astype(kind),
                    (keys % max(n, 1)).astype(kind), sparsity.notes, sparsity.only_back)


def colored_pattern(sparsity: Sparsity, mode: Mode, is_symmetric: bool) -> ColoredPattern:
    """Color a pattern, and make all that its products and its sparse array take."""
    from scipy.sparse import csr_array

    m, n = sparsity.shape
    sparsity = _symmetrised(sparsity) if is_symmetric else sparsity
    found = _symmetric_coloring(sparsity) if is_symmetric else _coloring(
        sparsity, "rev" if mode == "auto" and sparsity.only_back else mode)
    rows, length = sparsity.rows, m if found.mode == "fwd" else n
    ends = np.zeros(m + 1, rows.dtype)
    np.cumsum(np.bincount(rows, minlength=m), out=ends[1:])
    matrix = csr_array((np.zeros(len(rows)), sparsity.columns, ends), shape=(m, n))
    matrix.has_canonical_format = True
    kind = np.int32 if found.count * length < 2 ** 31 else np.int64
    places = (found.product.astype(np.int64) * length + found.place).astype(kind)
    return ColoredPattern(sparsity, found.mode, found.colors,
                           np.arange(found.count, dtype=np.int32), places, length, matrix,
                           found.colors.astype(np.int32))
