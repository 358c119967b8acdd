"""The calls of the host's function of an emitted module: launches, memory, answers, integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.codegen.cuda.program import THREADS, THREADS_OF
from tracejit.ir.dtypes import DTYPES
from tracejit.program.cuda.cublas import find_cublas
from tracejit.program.cuda.parameters import DeviceSpan
from tracejit.program.cuda.resources import Triple
from tracejit.program.cuda.teams import (
    column_geometry,
    product_geometry,
    row_geometry,
    stretch_of,
)
from tracejit.program.cuda.workspace import PARTS, Workspace

__all__ = ["DIMS", "NUMBERS", "Host", "Stopped"]

MAX_BLOCKS = 8192
"""Of a grid; its threads stride over the other iterations."""
ROOMS = 1024
"""Blocks of a grid whose threads have memory of their own."""


def _idiv(a: int, b: int) -> int:
    """Return the quotient, rounded down; 0 where the divisor is 0."""
    return a // b if b else 0


def _imod(a: int, b: int) -> int:
    """Return the remainder; 0 where the divisor is 0."""
    return a % b if b else 0


DIMS: dict[str, Any] = {"imax": max, "imin": min, "idiv": _idiv, "imod": _imod}
"""The functions of dims in the source of plans."""

NUMBERS = {"inf": math.inf, "nan": math.nan}
"""The numbers that source for the host has names for."""


class Stopped(Exception):
    """The device has noted a failure, or a Log that is full."""


class Host:
    """The `run` of `launch(run, ctx, ...)`: the host's part of one sequence of launches.

    stream   -- the handle of the stream that kernels are launched on
    launches -- how many there were
    """

    workspace: Workspace
    ctx: DeviceSpan
    head: int
    stream: int
    launches: int

    def __init__(self, workspace: Workspace, ctx: DeviceSpan, head: int, stream: int) -> None:
        self.workspace, self.ctx, self.head, self.stream = workspace, ctx, head, stream
        self.launches = 0

    def grid(self, extents: tuple[int, ...], kernel: str, *args: object) -> None:
        """Launch a kernel whose threads stride over some iterations, x first."""
        self._start(kernel, _geometry(extents, MAX_BLOCKS), args)

    def folding(self, extents: tuple[int, ...], kernel: str, *args: object) -> int:
        """Launch a kernel that leaves a part per block; return how many."""
        blocks, threads = _geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[0] * blocks[1] * blocks[2]

    def few(self, extents: tuple[int, ...], kernel: str, *args: object) -> None:
        """Launch a kernel whose threads take whole iterations of the program."""
        self._start(kernel, _geometry(extents, ROOMS, THREADS_OF["few"]), args)

    def rows(self, extents: tuple[int, ...], kernel: str, *args: object) -> int:
        """Launch a kernel with a team of threads per row; return how many blocks there are."""
        blocks, threads = row_geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[1] * blocks[2]

    def columns(self, extents: tuple[int, ...], kernel: str, *args: object) -> int:
        """Launch a kernel with a team of threads per column; return how many blocks there are."""
        blocks, threads = column_geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[0] * blocks[2]

    def halves(self, extents: tuple[int, ...], kernel: str, *args: object) -> int:
        """Launch a kernel that leaves parts of each column; return how many."""
        blocks, threads = column_geometry(extents, PARTS, is_split=True)
        self._start(kernel, (blocks, threads), args)
        return blocks[1]

    def product(self, whole: tuple[Any, ...], kernel: str, *args: object) -> None:
        """Multiply matrices by cuBLAS where it is there, else by a kernel that takes tiles."""
        library = find_cublas()
        if library is not None and library.product(*whole, stream=self.stream,
                                                   device=self.workspace.device.ordinal):
            self.launches += 1
        else:
            self._start(kernel, product_geometry(*whole[2:5]), args)

    def one(self, kernel: str, *args: object) -> None:
        """Launch a kernel of one thread."""
        self._start(kernel, ((1, 1, 1), (1, 1, 1)), args)

    def block(self, counts: tuple[int, ...], kernel: str, *args: object) -> None:
        """Launch a kernel of one block, which folds parts before one of its threads goes on."""
        self._start(kernel, _geometry((max(counts),), 1), args)

    def _start(self, kernel: str, geometry: tuple[Triple, Triple], args: Sequence[object]) -> None:
        function, packing = self.workspace.kernels[kernel]
        packing.pack(args)
        self.workspace.device.launch(function, *geometry, packing, self.stream)
        self.launches += 1

    def room(self, name: str, size: int, extents: tuple[int, ...], kind: str) -> DeviceSpan:
        """Return memory for every thread of a kernel to have some elements for itself."""
        blocks, threads = _geometry(extents, ROOMS, THREADS_OF["few"])
        return self.workspace.room(name, math.prod(blocks) * math.prod(threads) * size,
                                   DTYPES[kind])

    def parts(self, name: str, extents: tuple[int, ...], kind: str) -> DeviceSpan:
        """Return memory for the parts of columns."""
        blocks, _ = column_geometry(extents, PARTS, is_split=True)
        return self.workspace.room(name, blocks[1] * math.prod(extents[1:]), DTYPES[kind])

    def told(self, table: DeviceSpan, k: int) -> Any:
        """Return a number that the device has computed, which waits for it."""
        head = self.workspace.head(self.head)
        self.workspace.device.copy_out(head, self.ctx.address, self.stream)
        self.workspace.device.wait(self.stream)
        if head[:8].view(np.float64)[0]:
            raise Stopped
        start = table.address - self.ctx.address + k * table.dtype.itemsize
        return head[start:start + table.dtype.itemsize].view(table.dtype)[0].item()

    stretch = staticmethod(stretch_of)
    imax, imin = staticmethod(max), staticmethod(min)
    idiv, imod = staticmethod(_idiv), staticmethod(_imod)

    @staticmethod
    def between(lo: int, i: int, hi: int) -> bool:
        """Return whether an integer lies within bounds."""
        return lo <= i < hi

    @staticmethod
    def select(condition: bool, a: int, b: int) -> int:
        """Return one of two integers."""
        return a if condition else b


def _geometry(extents: tuple[int, ...], limit: int,
              most: int = THREADS) -> tuple[Triple, Triple]:
    """Return blocks and threads per axis for some iterations; -1 stands for an unknown number.

    It depends on nothing else, so that sums are the same at every call.
    """
    threads, blocks = [1, 1, 1], [1, 1, 1]
    for axis, n in enumerate(extents):
        wanted = 32 if n < 0 else 1 << max(0, int(n) - 1).bit_length()
        threads[axis] = min(most, wanted)
        most //= threads[axis]
    for axis in reversed(range(len(extents))):
        n = extents[axis] if extents[axis] >= 0 else 64 * threads[axis]
        most_blocks = min(limit, 65535 if axis else limit)
        blocks[axis] = max(1, min(-(-int(n) // threads[axis]), most_blocks))
        limit = max(1, limit // blocks[axis])
    return tuple(blocks), tuple(threads)  # type: ignore[return-value]
