"""Calling a program on a device: arrays copied in, kernels launched in order, results copied out.

Nothing waits for the device but the end of a call, and a loop or branch of the host whose condition
is data: it is read from there. Results reach the caller's memory only where nothing failed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.errors import DeviceError
from tracejit.ir.dtypes import DTYPES
from tracejit.runtime.cuda.arrays import is_on_device, to_device
from tracejit.runtime.cuda.cublas import find_cublas
from tracejit.runtime.cuda.teams import (
    column_geometry,
    product_geometry,
    row_geometry,
    stretch_of,
)
from tracejit.runtime.emitted import define
from tracejit.runtime.failures import raise_at
from tracejit.runtime.interface import Interface

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram

__all__ = ["DeviceInvocation"]

MAX_BLOCKS = 8192
"""Of a grid; its threads stride over what is left."""
PARTS = 1024
"""Blocks of a grid that folds: as many parts are folded afterwards."""
ROOMS = 1024
"""Blocks of a grid whose threads have memory of their own, with 64 threads each."""
CONTEXT = 4
"""Words of the context before those that say how much room Logs need."""


def _idiv(a: int, b: int) -> int:
    """Return the quotient, rounded down; 0 where the divisor is 0."""
    return a // b if b else 0


def _imod(a: int, b: int) -> int:
    """Return the remainder; 0 where the divisor is 0."""
    return a % b if b else 0


DIMS: dict[str, Any] = {"imax": max, "imin": min, "idiv": _idiv, "imod": _imod}
"""What dims are made of, as plans have them."""


class _Stopped(Exception):
    """The device has noted a failure, or a Log that is full."""


class DeviceInvocation:
    """How to run one program on a device."""

    def __init__(self, device: DeviceProgram, interface: Interface) -> None:
        self.device, self.interface = device, interface
        self.functions: dict[str, Any] = {}
        self._plan: Any = None
        self.capacities = [256] * len(device.logs)
        self.kept: dict[str, Any] = {}
        """Memory of the device that calls have in common, by what it is for."""

    def fits(self, values: Sequence[Any]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""
        return self.plan(values) is not None

    def plan(self, values: Sequence[Any]) -> Any:
        """Return what the program's plan says of the arguments; see `DeviceProgram`."""
        if self._plan is None:
            self._plan = define(self.device.plan, "cuda_plan", DIMS)[1]["plan"]
        given: list[int] = []
        for (_, dtype, ndim), x in zip(self.device.inputs, values, strict=True):
            if ndim:
                given += x.shape if hasattr(x, "shape") else np.shape(x)
            elif dtype == np.int64:
                given.append(int(x))
        return self._plan(*given)

    def run(self, values: Sequence[Any]) -> list[Any]:
        """Run the kernels on the graph's inputs, which fit, and return its outputs."""
        with _clear_errors(self.interface.name):
            self._prepare()
            while True:
                call = _Call(self, values)
                needed = call.launch()
                if not needed:
                    return call.outputs()
                self.capacities = [max(c, 2 * n) for c, n in zip(self.capacities, needed,
                                                                 strict=True)]

    def _prepare(self) -> None:
        """Compile the kernels, once."""
        if self.functions:
            return
        from tracejit.codegen.cuda.compile import jit_kernel
        from tracejit.codegen.cuda.functions import namespace

        _, found = define(self.device.source, "cuda", namespace())
        for name, parameters in self.device.kernels.items():
            found[name] = jit_kernel(found[name], parameters)
        self.functions = {"launch": found["launch"]}

    def memory(self, key: str, count: int, dtype: np.dtype) -> Any:
        """Return an array of the device with room for some elements, kept between calls."""
        from numba import cuda

        array = self.kept.get(key)
        if array is None or array.size < count:
            self.kept[key] = array = None  # what was there goes before more is asked for
            self.kept[key] = array = cuda.device_array(max(1, count), dtype)
        return array


class _Call:
    """One call: its arrays, and what emitted code asks of the host."""

    def __init__(self, program: DeviceInvocation, values: Sequence[Any]) -> None:
        from numba import cuda

        self.program = program
        device = program.device
        sizes, self.shapes, places, total = program.plan(values)
        self.ctx = cuda.to_device(np.zeros(CONTEXT + len(device.logs)))
        self.arguments: dict[str, Any] = {"run": self, "ctx": self.ctx}
        self.arguments.update(zip(device.sizes, sizes, strict=True))
        for (name, dtype, ndim), x in zip(device.inputs, values, strict=True):
            self.arguments[name] = to_device(x, dtype) if ndim else dtype.type(x)
        self.stays = any(map(is_on_device, values))
        self.results = []
        for (name, dtype, _), shape in zip(device.outputs, self.shapes, strict=True):
            self.arguments[name] = cuda.device_array(max(1, math.prod(shape)), dtype)
            self.results.append(self.arguments[name])
        self._lay_out(places, total)

    def _lay_out(self, places: Sequence[tuple[int, int]], total: int) -> None:
        """Find the arena's arrays a place in one allocation, and the rest memory of its own."""
        program = self.program
        arena = program.memory("arena", total, np.dtype(np.uint8))
        for (name, dtype), (at, size) in zip(program.device.arena, places, strict=True):
            self.arguments[name] = arena[at:at + max(size, dtype.itemsize)].view(dtype) if (
                total) else arena
        for name, (dtype, count) in program.device.arrays.items():
            self.arguments[name] = program.memory(name, count or PARTS, dtype)
        for k, dtype in enumerate(program.device.logs):
            capacity = program.capacities[k]
            self.arguments[f"logcap{k}"] = capacity
            self.arguments[f"logmem{k}"] = program.memory(f"logmem{k}", capacity, dtype)

    def launch(self) -> list[int]:
        """Run the host's function; return the room that Logs need where it is not enough."""
        launch = self.program.functions["launch"]
        names = launch.__code__.co_varnames[:launch.__code__.co_argcount]
        try:
            launch(*(self.arguments[name] for name in names))
        except _Stopped:
            pass
        status, *numbers = self.ctx.copy_to_host()
        needed = [int(n) for n in numbers[CONTEXT - 1:]]
        if status and any(needed):
            return needed
        if status:
            failure = self.program.interface.failures[int(status) - 1]
            raise_at(failure.error, failure.message, tuple(numbers[:2]), failure.site)
        return []

    def outputs(self) -> list[Any]:
        """Return the results: arrays on the device where an argument is one, else copied out."""
        found = []
        for shape, array in zip(self.shapes, self.results, strict=True):
            size = math.prod(shape)
            if self.stays and shape:
                found.append(array[:size].reshape(shape) if size else array[:0].reshape(shape))
                continue
            x = array.copy_to_host()[:size].reshape(shape)
            found.append(x if shape else x[()])
        return found

    # --- what emitted code asks for ---------------------------------------------------------------

    def grid(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> None:
        """Launch a kernel whose threads stride over some iterations, x first."""
        self._start(kernel, _geometry(extents, MAX_BLOCKS), args)

    def folding(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> int:
        """Launch a kernel that leaves a part per block; return how many."""
        blocks, threads = _geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[0] * blocks[1] * blocks[2]

    def few(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> None:
        """Launch a kernel whose threads take whole iterations of the program."""
        self._start(kernel, _geometry(extents, ROOMS, 64), args)

    def rows(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> int:
        """Launch a kernel with a team of threads per row; return how many blocks there are."""
        blocks, threads = row_geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[1] * blocks[2]

    def columns(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> int:
        """Launch a kernel with a team of threads per column; return how many blocks there are."""
        blocks, threads = column_geometry(extents, PARTS)
        self._start(kernel, (blocks, threads), args)
        return blocks[0] * blocks[2]

    def halves(self, extents: tuple[int, ...], kernel: Any, *args: Any) -> int:
        """Launch a kernel that leaves parts of each column; return how many."""
        blocks, threads = column_geometry(extents, PARTS, is_split=True)
        self._start(kernel, (blocks, threads), args)
        return blocks[1]

    def parts(self, name: str, extents: tuple[int, ...], kind: str) -> Any:
        """Return memory for the parts of columns."""
        blocks, _ = column_geometry(extents, PARTS, is_split=True)
        return self.program.memory(name, blocks[1] * int(np.prod(extents[1:])), DTYPES[kind])

    def product(self, whole: tuple[Any, ...], kernel: Any, *args: Any) -> None:
        """Multiply matrices by cuBLAS where it is there, else by a kernel that takes tiles."""
        library = find_cublas()
        if library is None or not library.product(*whole, stream=0):
            self._start(kernel, product_geometry(*whole[2:5]), args)

    def one(self, kernel: Any, *args: Any) -> None:
        """Launch a kernel of one thread."""
        self._start(kernel, ((1, 1, 1), (1, 1, 1)), args)

    def block(self, counts: tuple[int, ...], kernel: Any, *args: Any) -> None:
        """Launch a kernel of one block, which folds parts before one of its threads goes on."""
        self._start(kernel, _geometry((max(counts),), 1), args)

    def _start(self, kernel: Any, geometry: Any, args: Any) -> None:
        blocks, threads = geometry
        kernel[blocks, threads](*args)

    def room(self, name: str, size: int, extents: tuple[int, ...], kind: str) -> Any:
        """Return memory for every thread of a kernel to have some elements for itself."""
        blocks, threads = _geometry(extents, ROOMS, 64)
        count = int(np.prod(blocks)) * int(np.prod(threads)) * size
        return self.program.memory(name, count, DTYPES[kind])

    def told(self, table: Any, k: int) -> Any:
        """Return a number that the device has computed, which waits for it."""
        if self.ctx.copy_to_host()[0]:
            raise _Stopped
        return table.copy_to_host()[k].item()

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
              most: int = 256) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return blocks and threads per axis for some iterations; 0 stands for an unknown number.

    It depends on nothing else, so that sums are the same at every call.
    """
    threads, blocks = [1, 1, 1], [1, 1, 1]
    for axis, n in enumerate(extents):
        wanted = 32 if n == 0 else 1 << max(0, int(n) - 1).bit_length()
        threads[axis] = min(most, wanted)
        most //= threads[axis]
    for axis in reversed(range(len(extents))):
        n = extents[axis] or 64 * threads[axis]
        most_blocks = min(limit, 65535 if axis else limit)
        blocks[axis] = max(1, min(-(-int(n) // threads[axis]), most_blocks))
        limit = max(1, limit // blocks[axis])
    return tuple(blocks), tuple(threads)  # type: ignore[return-value]


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    """Say what is missing where there is no device, or not enough memory on it."""
    from numba import cuda

    if not cuda.is_available():
        raise DeviceError(f'{name} has target="cuda", and there is no CUDA device, or no driver '
                          'for it. Leave out target="cuda" to run it on the CPU; its kernels can '
                          "be looked at without a device: .trace(...).lower().source and .ptx()")
    try:
        yield
    except Exception as e:
        if "OUT_OF_MEMORY" in str(e):
            raise MemoryError(f"{name} needs more memory than the device has left") from None
        raise
