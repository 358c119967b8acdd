"""The facts that a program takes for granted of its inputs' memory, and the check of a call.

A *fact* is about one or two inputs of the graph: how an array lies in memory, whether it may be
written to, whether two share memory or are one object. A capture notes a fact where its outcome
depends on it; a call with other facts gets a program of its own, or is refused. It is light to
import: calls of compiled code need no more.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Arrangement", "Fact", "arrangement_of", "copies_of", "fact_of_absence", "holds_all"]

Arrangement = tuple[tuple[int, ...], tuple[int, ...], bool] | None
"""How an array lies in memory: None in C order without gaps, else its axes from the longest stride
to the shortest, its axes of stride 0, and whether it has no gaps."""


TIED: Arrangement = ((), (), False)
"""The arrangement of an array of which two axes have one stride."""


def arrangement_of(x: object) -> Arrangement:
    """Return how an array lies in memory."""
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous:
        return None
    strides = x.strides
    moving = [abs(s) for s, n in zip(strides, x.shape, strict=True) if s and n != 1]
    if len(set(moving)) < len(moving):
        return TIED
    still = tuple([k for k, s in enumerate(strides) if s == 0 and x.shape[k] != 1])
    order = tuple(sorted(range(x.ndim), key=lambda k: -abs(strides[k])))
    return order, still, not still and x.transpose(order).flags.c_contiguous


def _range_on_device(x: object) -> tuple[int, int] | None:
    """Return the addresses between which an array in a device's memory lies, without gaps."""
    described = None if isinstance(x, np.ndarray) else getattr(x, "__cuda_array_interface__", None)
    if described is None:
        return None
    low = int(described["data"][0])
    size = math.prod(described["shape"]) * np.dtype(described["typestr"]).itemsize
    return low, low + size


def overlap(x: object, y: object) -> bool:
    """Return whether arrays share memory, or may do so and it is too hard to say."""
    ours, theirs = _range_on_device(x), _range_on_device(y)
    if ours is not None and theirs is not None:
        return max(ours[0], theirs[0]) < min(ours[1], theirs[1])
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
        return False
    try:
        return np.may_share_memory(x, y) and np.shares_memory(
            x, y, max_work=10000)  # type: ignore[arg-type]  # any count is accepted
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(x: object) -> bool:
    """Return whether two elements of an array are at one place, or may be."""
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous or x.size < 2:
        return False
    steps = sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1)
    reach = x.itemsize
    for step, n in steps:
        if step < reach:
            break
        reach += step * (n - 1)
    else:
        return False
    if x.size > 1_000_000:
        return True
    places = np.zeros((1,), np.int64)
    for step, n in steps:
        places = (places[:, None] + step * np.arange(n)).ravel()
    places.sort()
    return bool(np.any(np.diff(places) < x.itemsize))


def _are_one(x: Any, y: Any) -> bool:
    """Whether two arrays are the same elements in the same order."""
    range_ = _range_on_device(x)
    if range_ is not None:
        return x is y or (range_ == _range_on_device(y) and (x.dtype, x.shape) == (
            y.dtype, y.shape))
    return x is y or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
                      and x.dtype == y.dtype and x.shape == y.shape and x.strides == y.strides
                      and x.ctypes.data == y.ctypes.data)


def has_nothing_besides(x: object) -> bool:
    """Return whether an array has what NumPy's arrays and mapped files have, and nothing else."""
    return not isinstance(x, np.ndarray) or type(x) is np.ndarray or (
        type(x) is np.memmap and vars(x).keys() <= MAPPED)


MAPPED = frozenset(("_mmap", "filename", "mode", "offset"))
"""The attributes that mapped files have besides those of their class."""


def fact_of_absence(name: str) -> str:
    """Return the kind of fact by which arrays surely lack an attribute that NumPy's lack."""
    return "plain" if name in MAPPED or hasattr(np.memmap, name) else "unadorned"


_FOUND: dict[str, Callable[..., Any]] = {
    "arrangement": arrangement_of,
    "writeable": lambda x: not isinstance(x, np.ndarray) or x.flags.writeable,
    "array": lambda x: isinstance(x, np.ndarray),
    "plain": lambda x: not isinstance(x, np.ndarray) or type(x) is np.ndarray,
    "unadorned": has_nothing_besides,
    "native": lambda x: not isinstance(x, np.ndarray) or x.dtype.isnative,
    "sparse": overlaps_itself,
    "overlap": overlap,
    "one": _are_one,
    "identical": lambda x, y: x is y,
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of one or two inputs of a program, by their numbers, and its value."""

    kind: str
    inputs: tuple[int, ...]
    truth: Any

    @staticmethod
    def of(kind: str, numbers: Sequence[int], contents: Sequence[object]) -> Fact:
        """Return the fact of a kind about inputs with these contents."""
        return Fact(kind, tuple(numbers), _FOUND[kind](*contents))

    def holds(self, values: Sequence[object]) -> bool:
        """Return whether a call's inputs have it."""
        return bool(_FOUND[self.kind](*[values[k] for k in self.inputs]) == self.truth)


def holds_all(facts: Sequence[Fact], values: Sequence[object]) -> bool:
    """Return whether all facts hold for a call's inputs."""
    return all(f.holds(values) for f in facts)


def copies_of(leaves: Sequence[object]) -> list[Any]:
    """Return copies of the arrays among some objects, about which the same facts hold."""
    arrays = list({id(x): x for x in leaves if isinstance(x, np.ndarray)}.values())
    copies: dict[int, np.ndarray] = {}
    group: list[np.ndarray] = []
    end = 0
    for low, high, _, x in sorted((*_bounds(x), k, x) for k, x in enumerate(arrays)):
        if group and low >= end:
            copies.update(_copied_together(group))
            group = []
        group.append(x)
        end = max(end, high)
    copies.update(_copied_together(group) if group else {})
    return [copies.get(id(x), x) for x in leaves]


def _bounds(x: np.ndarray) -> tuple[int, int]:
    """Return the addresses between which the elements of an array lie."""
    low, high = np.lib.array_utils.byte_bounds(x)
    return int(low), int(high)


def _copied_together(group: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    """Return copies by the ids of arrays: all in one block of memory, as they lie now."""
    if len(group) == 1 and group[0].flags.c_contiguous:
        made = {id(group[0]): np.array(group[0])}
    else:
        low, high = min(_bounds(x)[0] for x in group), max(_bounds(x)[1] for x in group)
        block = np.empty(high - low, np.uint8)
        ctypes.memmove(block.ctypes.data, low, high - low)
        made = {id(x): np.ndarray(x.shape, x.dtype, block, x.ctypes.data - low, x.strides)
                for x in group}
    for x in group:
        made[id(x)].flags.writeable = x.flags.writeable
    return made
