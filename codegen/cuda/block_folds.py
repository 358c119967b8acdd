"""Folds in shared memory: of the threads of a block, of all blocks, of teams of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda

from tracejit.codegen.cuda.positions import block, block_size, device, in_block

__all__ = ["larger", "of_block", "of_column", "of_row", "of_team", "place_of_team",
           "running_of_team", "smaller"]


def of_block(combine: Callable[..., object]) -> tuple[Any, Any]:
    """Return two stages of a reduction: to a part per block, and of all parts.

    Both are trees of a fixed shape, so that a result does not depend on which block is first.
    """
    halve = _halving(combine)

    @device
    def fold_block(shared, x, parts):  # type: ignore[no-untyped-def]
        """Fold the threads of a block to one part."""
        k = in_block()
        shared[k] = x
        halve(shared)
        if k == 0:
            parts[block()] = shared[0]
        cuda.syncthreads()

    @device
    def fold_parts(shared, parts, count, zero):  # type: ignore[no-untyped-def]
        """Fold the parts of all blocks, in one block."""
        k = in_block()
        x = zero
        for j in range(k, count, block_size()):
            x = combine(x, parts[j])
        shared[k] = x
        halve(shared)
        total = shared[0]
        cuda.syncthreads()
        return total

    return fold_block, fold_parts


def _halving(combine: Callable[..., object]) -> Any:
    @device
    def halve(shared):  # type: ignore[no-untyped-def]
        """Fold the elements of a block's threads in shared memory into its first element."""
        k = in_block()
        cuda.syncthreads()
        width = block_size() // 2
        while width > 0:
            if k < width:
                shared[k] = combine(shared[k], shared[k + width])
            cuda.syncthreads()
            width //= 2

    return halve


def of_team(combine: Callable[..., object]) -> tuple[Any, Any]:
    """Return folds of the threads' elements in a team; each thread gets the result.

    A team is a row of its block, or a column. All threads of the block have to be there.
    """
    @device
    def fold(shared, x, lane, lanes, step):  # type: ignore[no-untyped-def]
        k = in_block()
        shared[k] = x
        cuda.syncthreads()
        width = lanes // 2
        while width > 0:
            if lane < width:
                shared[k] = combine(shared[k], shared[k + width * step])
            cuda.syncthreads()
            width //= 2
        total = shared[k - lane * step]
        cuda.syncthreads()
        return total

    @device
    def row(shared, x):  # type: ignore[no-untyped-def]
        return fold(shared, x, cuda.threadIdx.x, cuda.blockDim.x, 1)

    @device
    def column(shared, x):  # type: ignore[no-untyped-def]
        return fold(shared, x, cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x)

    return row, column


def running_of_team(of_team: Callable[[], tuple[int, int, int]]) -> tuple[Any, Any]:
    """Return the running sum over the threads of a team, and then the sum of all.

    of_team -- a function that returns a thread's place in its team, how many there are, and how far
               apart they are in the block
    """
    @device
    def scan(shared, x):  # type: ignore[no-untyped-def]
        k = in_block()
        lane, lanes, step = of_team()
        shared[k] = x
        cuda.syncthreads()
        width = 1
        while width < lanes:
            before = shared[k - width * step] if lane >= width else x * 0
            cuda.syncthreads()
            shared[k] = before + shared[k] if lane >= width else shared[k]
            cuda.syncthreads()
            width *= 2
        return shared[k]

    @device
    def last(shared):  # type: ignore[no-untyped-def]
        lane, lanes, step = of_team()
        total = shared[in_block() + (lanes - 1 - lane) * step]
        cuda.syncthreads()
        return total

    return scan, last


@device
def of_row():  # type: ignore[no-untyped-def]
    return cuda.threadIdx.x, cuda.blockDim.x, 1


@device
def of_column():  # type: ignore[no-untyped-def]
    return cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x


def place_of_team(is_better: Callable[[float, float], bool]) -> tuple[Any, Any]:
    """Return searches for the place of the best element that the threads of a team have found.

    NaN is better than numbers; of equal elements the first is taken.
    """
    @device
    def wins(x, at, y, other):  # type: ignore[no-untyped-def]
        if x != x or y != y:
            return x != x and (y == y or at < other)
        return is_better(x, y) or (x == y and at < other)

    @device
    def find(shared, places, x, at, lane, lanes, step):  # type: ignore[no-untyped-def]
        k = in_block()
        shared[k] = x
        places[k] = at
        cuda.syncthreads()
        width = lanes // 2
        while width > 0:
            other = k + width * step
            if lane < width and wins(shared[other], places[other], shared[k], places[k]):
                shared[k] = shared[other]
                places[k] = places[other]
            cuda.syncthreads()
            width //= 2
        place = places[k - lane * step]
        cuda.syncthreads()
        return place

    @device
    def row(shared, places, x, at):  # type: ignore[no-untyped-def]
        return find(shared, places, x, at, cuda.threadIdx.x, cuda.blockDim.x, 1)

    @device
    def column(shared, places, x, at):  # type: ignore[no-untyped-def]
        return find(shared, places, x, at, cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x)

    return row, column


@device
def larger(a, b):  # type: ignore[no-untyped-def]
    return a > b


@device
def smaller(a, b):  # type: ignore[no-untyped-def]
    return a < b
