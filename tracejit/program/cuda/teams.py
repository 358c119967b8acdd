"""How many threads work together on a row or a column, and how many teams a launch has.

All of it depends on sizes only, so that sums are the same at every call.
"""

from __future__ import annotations

from math import prod

from tracejit.codegen.cuda.program import SIDE, THREADS

__all__ = ["column_geometry", "product_geometry", "row_geometry", "stretch_of"]

WARP = 32
ENOUGH = 1 << 18
"""So many threads keep a device busy."""
EACH = 8
"""Elements that each thread of a column folds before more blocks divide it."""
MAX_PARTS = 256
"""Parts of a column."""
MAX_BLOCKS = 65535
"""Blocks along the axes y and z."""

Geometry = tuple[tuple[int, int, int], tuple[int, int, int]]


def _power_of_two(n: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << max(0, int(n) - 1).bit_length()


def row_geometry(extents: tuple[int, ...], limit: int) -> Geometry:
    """Return blocks and threads for rows along axis y, and z, whose elements are along axis x.

    extents -- elements of a row, rows, and rows of further axes; -1 stands for an unknown number
    limit   -- how many blocks there may be
    """
    length, *rows = (max(n, 1) if n >= 0 else 64 for n in extents)
    lanes = min(THREADS, _power_of_two(length))
    while lanes > WARP and prod(rows) * lanes > ENOUGH:
        lanes //= 2
    side = min(THREADS // lanes, _power_of_two(rows[0]))
    outer = min(rows[1], limit, MAX_BLOCKS) if len(rows) > 1 else 1
    along = max(1, min(-(-rows[0] // side), limit // outer, MAX_BLOCKS))
    return (1, along, outer), (lanes, side, 1)


def column_geometry(extents: tuple[int, ...], limit: int, *, is_split: bool = False) -> Geometry:
    """Return blocks and threads for columns along axis x, and z, whose elements are along axis y.

    is_split -- whether several blocks divide a column
    """
    length, *columns = (max(n, 1) if n >= 0 else 64 for n in extents)
    across = min(WARP, _power_of_two(columns[0]))
    lanes = min(THREADS // across, _power_of_two(length))
    outer = min(columns[1], limit, MAX_BLOCKS) if len(columns) > 1 else 1
    along = max(1, min(-(-columns[0] // across), limit // outer))
    parts = 1
    if is_split:
        most = ENOUGH // (across * lanes * along * outer)
        parts = max(1, min(-(-length // (lanes * EACH)), most, MAX_PARTS))
    return (along, parts, outer), (across, lanes, 1)


def product_geometry(batch: int, m: int, n: int) -> Geometry:
    """Return blocks and threads for products of matrices with m rows and n columns."""
    rows, columns = (max(1, min(-(-d // SIDE), MAX_BLOCKS)) for d in (m, n))
    return (columns, rows, max(1, min(batch, MAX_BLOCKS))), (SIDE // 2, SIDE // 2, 1)


def stretch_of(n: int) -> int:
    """Return how many of n elements of a running sum are for one block.

    They are so many that a block has one team, whose threads then go through as many turns.
    """
    return max(THREADS * EACH, -(-n // MAX_PARTS))
