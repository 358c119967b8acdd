"""Sets of the inputs that elements depend on, each by a number: arrays of them are arrays of ints.

A set is made once, and two sets are joined once, so that arrays are joined by their pairs of
numbers. Sets of few inputs are ints, of one bit for each input, others `frozenset`s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["ALL", "EMPTY", "InputSets", "Numbers"]

Numbers = int | np.ndarray
"""The numbers of sets: one for each element of an array, or one that all elements have."""

EMPTY, ALL = 0, 1
_BITS = 4096
"""The most inputs of which sets are ints."""
_BYTES = 1 << 31
"""The most memory for sets, about; any further set is taken for the set of all inputs."""
_SHIFT = 31


class InputSets:
    """The sets of inputs 0 to `count` - 1 that have come up."""

    count: int
    sets: list[Any]

    def __init__(self, count: int) -> None:
        self.count = count
        self.by_bits = count <= _BITS
        self.sets = [self._of(()), self._of(range(count))]
        self.numbers: dict[Any, int] = {self.sets[ALL]: ALL, self.sets[EMPTY]: EMPTY}
        self.pairs: dict[int, int] = {}
        self.left = _BYTES

    @property
    def is_full(self) -> bool:
        """Return whether sets were taken for the set of all inputs for want of memory."""
        return self.left < 0

    def _of(self, members: Iterable[int]) -> Any:
        if not self.by_bits:
            return frozenset(members)
        found = 0
        for k in members:
            found |= 1 << k
        return found

    def singles(self) -> np.ndarray:
        """Return the number of the set of each input alone."""
        return np.array([self._number(self._of((k,))) for k in range(self.count)], np.int64)

    def members(self, number: int) -> np.ndarray:
        """Return the inputs in a set, in order."""
        found = self.sets[number]
        if not self.by_bits:
            return np.array(sorted(found), np.int64)
        words = found.to_bytes(self.count // 8 + 1, "little")
        return np.flatnonzero(np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little"))

    def _number(self, found: Any) -> int:
        """Return the number of a set."""
        number = self.numbers.get(found)
        if number is not None:
            return number
        self.left -= 200 + self.count // 8 if self.by_bits else 500 + 60 * len(found)
        if self.left < 0:
            return ALL
        self.sets.append(found)
        self.numbers[found] = len(self.sets) - 1
        return len(self.sets) - 1

    def joined(self, a: int, b: int) -> int:
        """Return the union of two sets."""
        if a == b or b == EMPTY:
            return a
        if a == EMPTY:
            return b
        if a == ALL or b == ALL:
            return ALL
        key = (a << _SHIFT) + b
        found = self.pairs.get(key)
        if found is None:
            found = self.pairs[key] = self._number(self.sets[a] | self.sets[b])
        return found

    def union(self, x: Numbers, y: Numbers) -> Numbers:
        """Return the unions of the sets of two arrays, element by element."""
        if isinstance(x, int) and isinstance(y, int):
            return self.joined(x, y)
        if x is y or (isinstance(y, int) and y == EMPTY):
            return x
        if isinstance(x, int) and x == EMPTY:
            return y
        a, b = np.broadcast_arrays(x, y)
        result = np.where(a == EMPTY, b, a)
        rest = (a != b) & (a != EMPTY) & (b != EMPTY)
        if rest.any():
            keys, place = np.unique((np.minimum(a, b)[rest] << _SHIFT) + np.maximum(a, b)[rest],
                                    return_inverse=True)
            low = (1 << _SHIFT) - 1
            found = [self.joined(k >> _SHIFT, k & low) for k in keys.tolist()]
            result[rest] = np.array(found, np.int64)[place]
        return result

    def union_of(self, x: Numbers) -> int:
        """Return the union of all sets of an array."""
        if isinstance(x, int):
            return x
        numbers = np.unique(x).tolist()
        if ALL in numbers:
            return ALL
        if len(numbers) < 3:
            return self.joined(*(numbers * 2)[:2]) if numbers else EMPTY
        sets = [self.sets[k] for k in numbers]
        if not self.by_bits:
            return self._number(frozenset().union(*sets))
        found = 0
        for s in sets:
            found |= s
        return self._number(found)

    def folded(self, x: np.ndarray, axes: Sequence[int]) -> Numbers:
        """Return the unions along axes."""
        kept = [k for k in range(x.ndim) if k not in axes]
        shape = tuple(x.shape[k] for k in kept)
        if not shape:
            return self.union_of(x)
        rows = np.transpose(x, (*kept, *axes)).reshape(math.prod(shape), -1)
        if rows.shape[1] <= 8:
            found: Numbers = np.zeros(len(rows), np.int64)
            for column in rows.T:
                found = self.union(found, column)
        else:
            found = np.array([self.union_of(row) for row in rows], np.int64)
        return np.reshape(found, shape)

    def running(self, x: np.ndarray, axis: int, *, backwards: bool) -> np.ndarray:
        """Return the unions with all earlier elements along an axis."""
        found = np.array(np.moveaxis(x, axis, 0))
        if backwards:
            found = found[::-1]
        for k in range(1, len(found)):
            found[k] = self.union(found[k - 1], found[k])
        return np.moveaxis(found[::-1] if backwards else found, 0, axis)

    def put(self, x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return an array whose elements at flat places are joined with other sets, in turn."""
        found = np.array(x).reshape(-1)
        for k, number in zip(places.ravel().tolist(), values.ravel().tolist(), strict=True):
            if number != EMPTY:
                found[k] = self.joined(int(found[k]), number)
        return found.reshape(x.shape)
