"""Colours of the columns of a pattern: one product for each colour gives every element by itself.

Columns of one colour have no row in common (A. Curtis, M. Powell and J. Reid, On the estimation of
sparse Jacobian matrices, 1974). Of a symmetric matrix it is enough that each element, or the one
across the diagonal, is alone of its colour in its row: no path of four vertices has two colours
alone (T. Coleman and J. More, Estimation of sparse Hessian matrices and graph coloring problems,
1984).
"""

from __future__ import annotations

import numpy as np

__all__ = ["color_columns", "color_symmetric", "is_alone"]


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


def color_symmetric(rows: np.ndarray, columns: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Return a colour for each column of a symmetric pattern, and how many there are.

    rows, columns -- the places of the elements, each once

    Of two elements across the diagonal one is alone of its colour in its row: see `is_alone`.
    """
    off = rows != columns
    order = np.argsort(rows[off], kind="stable")
    sizes = np.bincount(rows[off], minlength=size)
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    flat = columns[off][order].tolist()
    near = [flat[ends[k]:ends[k + 1]] for k in range(size)]
    orders = range(size), np.argsort(-sizes, kind="stable").tolist()
    colors, count = min((_star(near, order) for order in orders), key=lambda found: found[1])
    return np.array(colors, np.int64), count


def is_alone(rows: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Return which elements, of these rows and colours, have no other of their colour in the row.
    """
    _, place, counts = np.unique(rows * (1 + colors.max(initial=0)) + colors, return_inverse=True,
                                 return_counts=True)
    found: np.ndarray = counts[place] == 1
    return found


def _star(near: list[list[int]], order: range | list[int]) -> tuple[list[int], int]:
    """Give each vertex the first colour by which no path of four vertices has two colours.

    seen, twice -- for each vertex, the colours of one neighbour, and of several, as bits
    first       -- by vertex and colour, the first neighbour of it
    bad         -- for each vertex, colours of neighbours that have another neighbour of its colour
    bits        -- for each vertex, its colour as a bit; 0 before it has one
    """
    size = len(near)
    seen, twice, bad, bits = [0] * size, [0] * size, [0] * size, [0] * size
    first: dict[tuple[int, int], int] = {}
    for v in order:
        used = 0
        for w in near[v]:
            used |= bits[w] | (bad[w] if bits[w] else 0) | (
                seen[w] if bits[w] & twice[v] else 0)
        bit = bits[v] = ~used & (used + 1)
        for w in near[v]:
            if seen[w] & bit:
                twice[w] |= bit
                bad[v] |= bits[w]
                bad[first[w, bit]] |= bits[w]
            else:
                seen[w] |= bit
                first[w, bit] = v
            if bits[w] & twice[v]:
                bad[w] |= bit
    colors = [bit.bit_length() - 1 for bit in bits]
    return colors, max(colors, default=-1) + 1
