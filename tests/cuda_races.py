"""Threads that touch what another one writes, found in the simulator, which runs them in order.

The simulator's threads take turns in the order in which the program's iterations would run, so that
a loop wrongly spread over threads can give the right numbers there. This notes, per launch, which
thread reads and writes which element.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["watching"]


class Watch:
    """What threads have touched in one launch: per address, who read, wrote, and added at once."""

    def __init__(self) -> None:
        self.ignored = 0
        self.touched: dict[int, tuple[set[int], set[int], set[int]]] = {}

    def begin(self, ctx: Any) -> None:
        """Forget the launch before; the context is for threads to share."""
        self.touched.clear()
        self.ignored = ctx.address >> 8

    def note(self, array: Any, index: Any, is_write: bool) -> None:
        """Note an access of the thread that runs."""
        thread = threading.current_thread()
        if not isinstance(index, (int, np.integer)) or not hasattr(thread, "blockIdx"):
            return
        readers, writers, adders = self.touched.setdefault(address(array, int(index)),
                                                           (set(), set(), set()))
        if getattr(thread, "adds", False):
            adders.add(id(thread))
        else:
            (writers if is_write else readers).add(id(thread))

    def require_none(self, name: str) -> None:
        """Raise `AssertionError` where a thread touches what another one writes."""
        for place, (readers, writers, adders) in self.touched.items():
            if place >> 8 == self.ignored:
                continue
            others = (writers and len(readers | writers | adders) > 1) or (
                adders and len(readers | adders) > 1 and readers)
            assert not others, f"threads of {name} meet at one element"


def address(array: Any, index: int) -> int:
    """Return where an element lies."""
    inner = array._item._ary if "_item" in array.__dict__ else array._ary
    start: int = inner.__array_interface__["data"][0]
    return start + index * inner.strides[0] if inner.ndim else start


@contextmanager
def watching() -> Iterator[None]:
    """Raise where threads of a launch meet."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray as Array
    from numba.cuda.simulator.kernelapi import FakeCUDAAtomic as Atomic

    from tracejit.runtime.cuda import simulator

    watch = Watch()
    kept: list[Any] = []  # threads stay, so that each has an identity of its own
    before = Array.__getitem__, Array.__setitem__, Atomic.add, Atomic.max, simulator.run_kernel

    def read(self: Any, index: Any) -> Any:
        watch.note(self, index, False)
        kept.append(threading.current_thread())
        return before[0](self, index)

    def write(self: Any, index: Any, value: Any) -> None:
        watch.note(self, index, True)
        kept.append(threading.current_thread())
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

    Array.__getitem__, Array.__setitem__ = read, write
    Atomic.add, Atomic.max = at_once(before[2]), at_once(before[3])
    simulator.run_kernel = start
    try:
        yield
    finally:
        Array.__getitem__, Array.__setitem__, Atomic.add, Atomic.max, simulator.run_kernel = before
