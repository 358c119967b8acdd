"""A device that Numba's simulator stands in for: memory of the host, kernels run as Python."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.program.cuda.parameters import DeviceSpan, Packing
from tracejit.program.cuda.resources import Resource, Triple
from tracejit.program.emitted import define

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.program.cuda.streams import Stream

__all__ = ["Simulated", "Simulator", "run_kernel", "simulated_interface"]

ALIGNMENT = 256
"""Bytes, as the driver's memory has it."""
UNSET = 0xFF
"""The bytes of fresh memory: NaN, as floats."""
_ONE_AT_A_TIME = threading.RLock()
"""The simulator runs one kernel at a time: it rebinds names of the kernel's module."""


class Simulated:
    """A device in Numba's simulator."""

    ordinal, capability = 0, (0, 0)

    def __init__(self) -> None:
        self._blocks: dict[int, np.ndarray] = {}
        self._recorded: dict[int, list[Callable[[], object]]] = {}
        """Per stream that is captured, the launches on it."""

    # --- kernels ----------------------------------------------------------------------------------

    def load(self, program: DeviceProgram) -> dict[str, Any]:
        """Return the functions of a program's kernels, by name."""
        from tracejit.codegen.cuda.compile import jit_kernel
        from tracejit.codegen.cuda.functions import namespace

        _, functions = define(program.source, "cuda", namespace())
        return {name: jit_kernel(functions[name], parameters)
                for name, parameters in program.kernels.items()}

    def launch(self, function: Callable[..., object], blocks: Triple, threads: Triple,
               packing: Packing, stream: int) -> None:
        """Launch a kernel with the parameters that are packed."""
        arguments = packing.unpack()
        self._do(stream, lambda: run_kernel(function, blocks, threads, arguments))

    def _do(self, stream: int, action: Callable[[], object]) -> None:
        recorded = self._recorded.get(stream)
        if recorded is None:
            action()
        else:
            recorded.append(action)

    def capture(self, launches: Callable[[int], object]) -> Resource | None:
        """Return the launches on the stream that is given."""
        actions: list[Callable[[], object]] = []
        stream = -id(actions)
        self._recorded[stream] = actions
        try:
            launches(stream)
        finally:
            del self._recorded[stream]
        return Resource(actions, list.clear)

    def replay(self, graph: Resource, stream: int) -> None:
        """Launch a captured graph."""
        for action in graph.handle:
            action()

    # --- memory -----------------------------------------------------------------------------------

    def allocate(self, nbytes: int, stream: Stream) -> Resource:
        """Return memory."""
        block = np.full(nbytes + ALIGNMENT, UNSET, np.uint8)
        address = -(-block.ctypes.data // ALIGNMENT) * ALIGNMENT
        self._blocks[address] = block
        return Resource(address, self._release, nbytes)

    def _release(self, address: int) -> None:
        self._blocks.pop(address, None)

    def pinned(self, nbytes: int) -> tuple[Resource, np.ndarray]:
        """Return memory of the host, and its bytes."""
        found = np.zeros(nbytes, np.uint8)
        return Resource(found, lambda found: None, nbytes), found

    def copy_in(self, address: int, array: np.ndarray, stream: int) -> None:
        """Copy from the host."""
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def copy_out(self, array: np.ndarray, address: int, stream: int) -> None:
        """Copy to the host."""
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def copy(self, address: int, source: int, nbytes: int, stream: int) -> None:
        """Copy within the device."""
        ctypes.memmove(address, source, nbytes)

    def clear(self, address: int, nbytes: int, stream: int) -> None:
        """Set bytes to zero."""
        self._do(stream, lambda: ctypes.memset(address, 0, nbytes))

    def trim(self, stream: int) -> None:
        """Give back nothing: there is no pool."""

    # --- streams ----------------------------------------------------------------------------------

    def wait(self, stream: int) -> None:
        """Wait for nothing: all is done at once."""

    def order(self, first: int, then: int) -> None:
        """Order nothing: all is done at once."""

    # --- arrays of others -------------------------------------------------------------------------

    def ordinal_of(self, address: int) -> int:
        """Return the number of the one device."""
        return self.ordinal

    def dlpack(self, array: Any, **asked: Any) -> Any:
        """Return the capsule of DLPack for an array."""
        span = DeviceSpan(array.address, array.size, array.dtype)
        return array_at(span, array).reshape(array.shape).__dlpack__(**asked)

    def dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's kind and number: the memory is the CPU's."""
        return 1, 0


def simulated_interface(x: Any) -> dict[str, Any] | None:
    """Return the CUDA array interface of an array of the simulator's, which lacks it; else None."""
    if type(x).__module__ != "numba.cuda.simulator.cudadrv.devicearray":
        return None
    return {**x._ary.__array_interface__, "version": 3, "stream": None}


def array_at(span: DeviceSpan, owner: object = None) -> np.ndarray:
    """Return memory of the host as an array, which keeps its owner alive."""
    if not span.count:
        return np.zeros(0, span.dtype)
    memory = (ctypes.c_uint8 * (span.count * span.dtype.itemsize)).from_address(span.address)
    memory.owner = owner  # type: ignore[attr-defined]  # instances of ctypes arrays have attributes
    return np.frombuffer(memory, span.dtype)  # type: ignore[call-overload, no-any-return]


def run_kernel(kernel: Any, blocks: Triple, threads: Triple, arguments: Sequence[object]) -> None:
    """Run a kernel in the simulator, on memory of the host."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    with _ONE_AT_A_TIME:
        kernel[blocks, threads](*(FakeCUDAArray(array_at(x)) if isinstance(x, DeviceSpan) else x
                                  for x in arguments))


class Simulator:
    """Numba's simulator, in place of a driver."""

    device: Simulated

    def __init__(self) -> None:
        self.device = Simulated()

    def current(self) -> Simulated:
        """Return the one device."""
        return self.device
