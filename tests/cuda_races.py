"""Threads that touch an element that another writes, found in the simulator, which orders them.

The simulator's threads take turns in the order in which the program's iterations would run, so that
a loop wrongly spread over threads can give the right numbers there. This notes, per launch, which
thread reads and writes which element, in memory of the device and of a block; barriers part the
accesses of a block's threads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["watching"]


class Touched:
    """Who has read, written and added to an element between two barriers of a block."""

    def __init__(self) -> None:
        self.readers: set[int] = set()
        self.writers: set[int] = set()
        self.adders: set[int] = set()

    def is_raced(self) -> bool:
        """Return whether a thread touches an element that another one writes."""
        every = self.readers | self.writers | self.adders
        return len(every) > 1 and bool(self.writers or (self.adders and self.readers))


class Watch:
    """The accesses of threads in one launch: per element, per block, between two barriers."""

    def __init__(self) -> None:
        self.ignored = 0
        self.touched: dict[tuple[Any, int], dict[tuple[Any, int], Touched]] = {}
        self.barriers: dict[Any, set[int]] = {}

    def begin(self, ctx: Any) -> None:
        """Forget the launch before; the context is for threads to share."""
        self.touched.clear()
        self.barriers.clear()
        self.ignored = ctx.address >> 8

    def note(self, array: Any, index: Any, is_write: bool) -> None:
        """Note an access of the thread that runs."""
        thread: Any = threading.current_thread()
        if not isinstance(index, (int, np.integer)) or not hasattr(thread, "blockIdx"):
            return
        block = thread.blockIdx.x, thread.blockIdx.y, thread.blockIdx.z
        own = block if isinstance(array, SharedArray) else None  # a block has its own
        place = self.touched.setdefault((own, address(array, int(index))), {})
        found = place.setdefault((block, getattr(thread, "barriers", 0)), Touched())
        if getattr(thread, "adds", False):
            found.adders.add(id(thread))
        else:
            (found.writers if is_write else found.readers).add(id(thread))

    def ends(self, thread: Any) -> None:
        """Note how many barriers a thread has come by."""
        block = thread.blockIdx.x, thread.blockIdx.y, thread.blockIdx.z
        self.barriers.setdefault(block, set()).add(getattr(thread, "barriers", 0))

    def require_none(self, name: str) -> None:
        """Raise `AssertionError` where a thread touches an element that another one writes."""
        for (_, place), times in self.touched.items():
            if place >> 8 == self.ignored:
                continue
            whole = Touched()  # no barrier is between blocks
            for found in times.values():
                assert not found.is_raced(), f"threads of {name} meet at one element"
                for of_all, some in zip(vars(whole).values(), vars(found).values(), strict=True):
                    of_all |= some
            blocks = {block for block, _ in times}
            assert len(blocks) == 1 or not whole.is_raced(), f"blocks of {name} meet"
        assert all(len(found) == 1 for found in self.barriers.values()), (
            f"threads of {name} do not meet at a barrier")


class SharedArray(np.ndarray):
    """Memory of a block, watched."""

    watch: Watch

    def __getitem__(self, index: Any) -> Any:
        self.watch.note(self, index, False)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.watch.note(self, index, True)
        super().__setitem__(index, value)


def address(array: Any, index: int) -> int:
    """Return where an element lies."""
    if isinstance(array, SharedArray):
        inner: Any = array
    else:
        inner = array._item._ary if "_item" in array.__dict__ else array._ary
    start: int = inner.__array_interface__["data"][0]
    return start + index * inner.strides[0] if inner.ndim else start


@contextmanager
def watching() -> Iterator[None]:
    """Raise where threads of a launch meet."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray as Array
    from numba.cuda.simulator.kernel import BlockThread
    from numba.cuda.simulator.kernelapi import FakeCUDAAtomic as Atomic
    from numba.cuda.simulator.kernelapi import FakeCUDAShared as Shared

    from tracejit.program.cuda import simulator

    watch = SharedArray.watch = Watch()
    kept: list[Any] = []  # threads stay, so that each has an identity of its own
    before = Array.__getitem__, Array.__setitem__, Atomic.add, Atomic.max, simulator.run_kernel
    blocks = Shared.array, BlockThread.syncthreads, BlockThread.run

    def read(self: Any, index: Any) -> Any:
        watch.note(self, index, False)
        return before[0](self, index)

    def write(self: Any, index: Any, value: Any) -> None:
        watch.note(self, index, True)
        before[1](self, index, value)

    def at_once(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any) -> Any:
            thread: Any = threading.current_thread()
            thread.adds = True
            try:
                return method(self, *args)
            finally:
                thread.adds = False

        return call

    def start(kernel: Any, blocks: Any, threads: Any, args: Any) -> None:
        kept.clear()
        watch.begin(args[0])
        before[4](kernel, blocks, threads, args)
        watch.require_none(kernel.fn.__name__)

    def of_block(self: Any, shape: Any, dtype: Any) -> Any:
        line = sys._getframe(1).f_lineno  # an array of a block is known by its line
        if line not in self._allocations:
            self._allocations[line] = np.empty(shape, dtype).view(SharedArray)
        return self._allocations[line]

    def barrier(self: Any) -> None:
        blocks[1](self)
        self.barriers = getattr(self, "barriers", 0) + 1

    def run(self: Any) -> None:
        kept.append(self)
        blocks[2](self)
        watch.ends(self)

    Shared.array, BlockThread.syncthreads, BlockThread.run = of_block, barrier, run
    Array.__getitem__, Array.__setitem__ = read, write
    Atomic.add, Atomic.max = at_once(before[2]), at_once(before[3])
    simulator.run_kernel = start
    try:
        yield
    finally:
        Array.__getitem__, Array.__setitem__, Atomic.add, Atomic.max, simulator.run_kernel = before
        Shared.array, BlockThread.syncthreads, BlockThread.run = blocks
