"""Sums of chunks' results by a fixed binary tree, whose bits no order of arrival changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["Branch", "TreeSum", "require_numbers"]

Branch = tuple[int, int, int, list[Any]]
"""A node of the tree: its level, its number there, how many chunks it holds, and their sum."""


class TreeSum:
    """The sum of results that are numbered from 0 to count - 1, whatever order they come in.

    Results 2k and 2k + 1 are added, then these sums in the same way, and so on. What is added to
    what depends on the numbers alone, so that parts of the tree can be summed in several places.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._nodes: dict[tuple[int, int], tuple[int, list[Any]]] = {}

    def add(self, number: int, leaves: list[Any]) -> None:
        """Add the result of one chunk, as a flat list of numbers and arrays."""
        self.add_branch((0, number, 1, leaves))

    def add_branch(self, branch: Branch) -> None:
        """Add the sum of a part of the tree, and go up as far as neighbours are there."""
        level, number, held, leaves = branch
        while (1 << level) < self.count:
            if (level, number) in self._nodes:
                break
            neighbour = number ^ 1
            if (neighbour << level) < self.count:
                found = self._nodes.pop((level, neighbour), None)
                if found is None:
                    break
                pair = (found[1], leaves) if neighbour < number else (leaves, found[1])
                held, leaves = held + found[0], _plus(*pair)
            level, number = level + 1, number >> 1
        if (level, number) in self._nodes:
            raise AssertionError(f"the chunks below node {number} of level {level} came twice")
        self._nodes[level, number] = held, leaves

    def branches(self) -> Iterator[Branch]:
        """Yield the sums that are there, as few as there can be."""
        for (level, number), (held, leaves) in sorted(self._nodes.items(), key=lambda x: x[0]):
            yield level, number, held, leaves

    def total(self) -> list[Any]:
        """Return the sum of all chunks; `AssertionError` unless each of them is in it once."""
        held = sum(n for n, _ in self._nodes.values())
        if len(self._nodes) != 1 or held != self.count:
            raise AssertionError(f"the sum has {held} of {self.count} chunks")
        return next(iter(self._nodes.values()))[1]


def _plus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Return the sums of two results' leaves; `ValueError` where their shapes differ."""
    if [np.shape(x) for x in a] != [np.shape(x) for x in b]:
        raise ValueError(f"results of chunks have the shapes {[np.shape(x) for x in a]} and "
                         f"{[np.shape(x) for x in b]}, and do not add up")
    return [np.asarray(x + y) if isinstance(x, np.ndarray) else x + y
            for x, y in zip(a, b, strict=True)]


def require_numbers(leaves: Sequence[object], name: str) -> None:
    """Raise `TypeError` for a result that does not add up, of a function of this name."""
    for x in leaves:
        kind = np.asarray(x).dtype
        if kind.kind not in "iufc":
            raise TypeError(f"{name} returns {'bools' if kind.kind == 'b' else type(x).__name__}, "
                            "which do not add up over chunks. Return numbers and arrays of them")
