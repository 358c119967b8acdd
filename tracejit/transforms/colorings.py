"""Colours of the columns of a pattern: columns of one colour have no row in common.

So one product with the sum of all columns of a colour gives each of their elements by itself
(A. Curtis, M. Powell and J. Reid, On the estimation of sparse Jacobian matrices, 1974).
"""

from __future__ import annotations

import numpy as np

__all__ = ["color_columns"]


def color_columns(rows: np.ndarray, columns: np.ndarray,
                  shape: tuple[int, int]) -> tuple[np.ndarray, int]:
    """Return a colour for each column, and how many there are; columns without elements have 0.

    rows, columns -- the places of the elements, each once
    shape         -- how many rows and columns there are

    Columns are gone through in their order, and again by falling numbers of elements if the first
    takes more colours than the longest row has elements, which is the least possible number.
    """
    height, width = shape
    order = np.argsort(columns, kind="stable")
    sizes = np.bincount(columns, minlength=width)
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    by_column = rows[order].tolist()
    colors, count = _greedy(by_column, ends, range(width), height)
    least = int(np.bincount(rows, minlength=1).max(initial=0)) if len(rows) else 0
    if count > max(least, 1):
        largest = np.argsort(-sizes, kind="stable").tolist()
        others, fewer = _greedy(by_column, ends, largest, height)
        if fewer < count:
            colors, count = others, fewer
    return np.array(colors, np.int64), count


def _greedy(by_column: list[int], ends: list[int], order: range | list[int],
            height: int) -> tuple[list[int], int]:
    """Give each column the first colour that no column has with which it shares a row."""
    taken = [0] * height
    """For each row, the colours of columns that have it, a bit for each."""
    colors, count = [0] * len(order), 0
    for column in order:
        mine = by_column[ends[column]:ends[column + 1]]
        used = 0
        for row in mine:
            used |= taken[row]
        free = ~used & (used + 1)
        for row in mine:
            taken[row] |= free
        if mine:
            colors[column] = free.bit_length() - 1
            count = max(count, free.bit_length())
    return colors, count
