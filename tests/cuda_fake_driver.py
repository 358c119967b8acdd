"""A stand-in for CUDA's driver, over memory of the host, for tests of the real device class.

An action of a stream is done when somebody waits for the stream, and not before: a result
that is read too early is NaN. Kernels run in Numba's simulator, on parameters that are unpacked
here by Numba's calling convention. Enumerations and structures are from `cuda.bindings`.
"""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from cuda.bindings import driver as bindings

from tracejit.codegen.cuda.program import DeviceProgram
from tracejit.program.cuda import devices, driver, simulator
from tracejit.program.cuda.driver import Driver
from tracejit.program.cuda.parameters import DeviceSpan
from tracejit.program.emitted import define

__all__ = ["FakeDriver", "faked"]

Action = Callable[[], None]
UNSET = 0xFF
CONTEXTS = 0x100
"""The handle of the context of device 0; that of device 1 is one more."""
OK = bindings.CUresult.CUDA_SUCCESS


class FakeStream:
    """A stream's actions, and how many of them are done."""

    def __init__(self) -> None:
        self.given: list[Action] = []
        self.done = 0
        self.captured: list[tuple[Action, list[Any]]] | None = None
        self.lock = threading.RLock()

    def run(self, until: int | None = None) -> None:
        """Do the actions up to a number, or all."""
        until = len(self.given) if until is None else until
        with self.lock:
            while self.done < until:
                self.done += 1
                self.given[self.done - 1]()


class FakeDriver:
    """The functions of `cuda.bindings.driver` that are used.

    calls  -- how often each function was called
    faults -- a status that a function returns in place of acting, or a list of one for each call
    limit  -- bytes of the device
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.faults: dict[str, Any] = {}
        self.limit = 1 << 30
        self.blocks: dict[int, tuple[np.ndarray, int]] = {}
        self.free: dict[tuple[int, int], list[int]] = {}
        """Addresses that were given back, by stream and bytes: they are given out again."""
        self.pinned: dict[int, np.ndarray] = {}
        self.kernels: dict[str, tuple[Any, list[tuple[np.dtype, bool]]]] = {}
        self.handles: list[Any] = [None]
        self.streams: dict[int, FakeStream] = {1: FakeStream(), 2: FakeStream()}
        self.ordinals: dict[int, int] = {}
        self.contexts: dict[int, set[tuple[int, int]]] = {}
        """Per context of a program, the streams of which it was used, with the thread's number."""
        self.copying: set[tuple[int, int]] = set()
        """Copies that are still to be made: to where, and from where."""
        self.thread = threading.local()

    def __getattr__(self, name: str) -> Any:
        method = type(self).__dict__.get(f"do_{name}")
        if method is None:
            if name.startswith("cu") and name != "cuuint64_t":
                raise NotImplementedError(name)
            return getattr(bindings, name)

        def call(*args: Any) -> tuple[Any, ...]:
            self.calls[name] += 1
            if self.faults.get(name):
                fault = self.faults[name]
                fault = fault.pop() if isinstance(fault, list) else fault
                return (fault, None)[:1 if name == "cuLaunchKernel" else 2]
            found = method(self, *(int(x) if isinstance(x, (bindings.CUstream, np.integer)) else x
                                   for x in args))
            if isinstance(found, bindings.CUresult):
                return (found, None)
            return (OK,) if found is None else (OK, found)

        return call

    # --- contexts ---------------------------------------------------------------------------------

    def do_cuInit(self, flags: int) -> None:
        pass

    def do_cuDeviceGetCount(self) -> int:
        return 2

    def do_cuDeviceGet(self, ordinal: int) -> int:
        return ordinal

    def do_cuDevicePrimaryCtxRetain(self, device: int) -> int:
        return CONTEXTS + device

    def do_cuCtxGetCurrent(self) -> int:
        return getattr(self.thread, "context", [0])[-1]

    def do_cuCtxSetCurrent(self, context: int) -> None:
        self.thread.context = [context]

    def do_cuCtxPushCurrent(self, context: int) -> None:
        self.thread.context = [*getattr(self.thread, "context", [0]), context]

    def do_cuCtxPopCurrent(self) -> int:
        return self.thread.context.pop()

    def do_cuCtxGetDevice(self) -> int:
        return self.do_cuCtxGetCurrent() - CONTEXTS

    def do_cuDeviceGetAttribute(self, attribute: Any, device: int) -> int:
        return 9 if "MAJOR" in attribute.name else 0

    def do_cuDeviceTotalMem(self, device: int) -> int:
        return self.limit

    def do_cuGetErrorString(self, status: Any) -> bytes:
        return b"as asked for by a test"

    def do_cuPointerGetAttribute(self, attribute: Any, address: int) -> int:
        return self.ordinals.get(address, 0)

    # --- memory -----------------------------------------------------------------------------------

    def do_cuMemPoolCreate(self, wanted: Any) -> int:
        assert wanted.location.id == self.do_cuCtxGetDevice()
        return 1

    def do_cuMemPoolSetAttribute(self, pool: int, attribute: Any, value: Any) -> None:
        assert int(value) == self.limit // 2

    def do_cuMemPoolTrimTo(self, pool: int, kept: int) -> None:
        for stream in list(self.streams.values()):
            stream.run()  # memory goes once what was given before it was freed is done
        for addresses in self.free.values():
            for address in addresses:
                del self.blocks[address]
        self.free.clear()

    def do_cuMemAllocFromPoolAsync(self, nbytes: int, pool: int, stream: int) -> Any:
        assert self.do_cuCtxGetCurrent(), "a context is current"
        size = -(-nbytes // 512) * 512
        waiting = self.free.get((stream, size))
        if waiting:
            return waiting.pop(0)
        if sum(n for _, n in self.blocks.values()) + size > self.limit:
            return bindings.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        block = np.full(size + 512, UNSET, np.uint8)
        address = -(-block.ctypes.data // 512) * 512
        self.blocks[address] = block, size
        return address

    def do_cuMemFreeAsync(self, address: int, stream: int) -> None:
        assert self.do_cuCtxGetCurrent(), "a context is current"
        size = self.blocks[address][1]
        self._give(stream, lambda: ctypes.memset(address, UNSET, size))
        self.free.setdefault((stream, size), []).append(address)

    def do_cuMemHostAlloc(self, nbytes: int, flags: int) -> int:
        found = np.full(nbytes, UNSET, np.uint8)
        self.pinned[found.ctypes.data] = found
        return found.ctypes.data

    def do_cuMemFreeHost(self, address: int) -> None:
        del self.pinned[address]

    def do_cuMemcpyHtoDAsync(self, to: int, source: int, nbytes: int, stream: int) -> None:
        def copy() -> None:
            ctypes.memmove(to, source, nbytes)
            self.copying.discard((to, source))

        self.copying.add((to, source))
        self._give(stream, copy)

    do_cuMemcpyDtoHAsync = do_cuMemcpyDtoDAsync = do_cuMemcpyHtoDAsync

    def do_cuMemsetD8Async(self, address: int, value: int, nbytes: int, stream: int) -> None:
        self._give(stream, lambda: ctypes.memset(address, value, nbytes))

    # --- kernels ----------------------------------------------------------------------------------

    def do_cuModuleLoadData(self, image: bytes) -> Any:
        assert image.endswith(b"\0")
        return self._handle(image.decode())

    def do_cuModuleGetFunction(self, module: int, name: bytes) -> int:
        assert name.decode() in self.handles[module]
        return self._handle(self.kernels[name.decode()])

    def do_cuLaunchKernel(self, function: int, *given: int) -> None:
        blocks, threads = given[:3], given[3:6]
        shared, stream, places, extra = given[6:]
        assert shared == extra == 0
        kernel, kinds = self.handles[function]
        count = sum(7 if is_array else 1 for _, is_array in kinds)
        arguments = unpacked(np.array((ctypes.c_uint64 * count).from_address(places)), kinds)
        if self.streams[stream].captured is None:
            thread = threading.get_ident() if stream == 2 else 0
            self.contexts.setdefault(arguments[0].address, set()).add((stream, thread))
        self._give(stream, lambda: simulator.run_kernel(kernel, blocks, threads, arguments),
                   [x.address for x in arguments if isinstance(x, DeviceSpan) and x.count])

    # --- streams and graphs -----------------------------------------------------------------------

    def do_cuStreamCreate(self, flags: Any) -> Any:
        assert flags == bindings.CUstream_flags.CU_STREAM_NON_BLOCKING
        return bindings.CUstream(self.new_stream())

    def new_stream(self) -> int:
        """Return the handle of another stream."""
        handle = 0x1000 + len(self.streams)
        self.streams[handle] = FakeStream()
        return handle

    def do_cuStreamSynchronize(self, stream: int) -> None:
        assert self.streams[stream].captured is None, "waiting is not allowed in a capture"
        self.streams[stream].run()

    def do_cuStreamBeginCapture(self, stream: int, mode: Any) -> None:
        assert stream not in (1, 2), "a default stream cannot be captured"
        self.streams[stream].captured = []

    def do_cuStreamEndCapture(self, stream: int) -> int:
        found, self.streams[stream].captured = self.streams[stream].captured, None
        return self._handle(found)

    def do_cuGraphInstantiate(self, graph: int, flags: int) -> int:
        return self._handle(list(self.handles[graph]))

    def do_cuGraphDestroy(self, graph: int) -> None:
        self.handles[graph] = None

    do_cuGraphExecDestroy = do_cuGraphDestroy

    def do_cuGraphLaunch(self, graph: int, stream: int) -> None:
        for action, addresses in self.handles[graph]:
            self._give(stream, action, addresses)

    def do_cuEventCreate(self, flags: Any) -> int:
        return self._handle([])

    def do_cuEventRecord(self, event: int, stream: int) -> None:
        self.handles[event] += [stream, len(self.streams[stream].given)]

    def do_cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        other, until = self.handles[event]
        self._give(stream, lambda: self.streams[other].run(until))

    def do_cuEventDestroy(self, event: int) -> None:
        pass

    # --- what tests ask ---------------------------------------------------------------------------

    def live(self) -> int:
        """Return the bytes of the device that are in use."""
        return sum(n for _, n in self.blocks.values()) - sum(
            size * len(addresses) for (_, size), addresses in self.free.items())

    @contextmanager
    def counting(self) -> Iterator[Counter[str]]:
        """Yield a counter that gets the calls of the block at its end."""
        before, found = Counter(self.calls), Counter[str]()
        yield found
        found.update(self.calls - before)

    def _handle(self, x: Any) -> int:
        self.handles.append(x)
        return len(self.handles) - 1

    def _give(self, stream: int, action: Action, addresses: Sequence[int] = ()) -> None:
        free = [x for found in self.free.values() for x in found]
        assert not any(start <= x < start + self.blocks[start][1]
                       for start in free for x in addresses), "memory that was given back is used"
        found = self.streams[stream]
        if found.captured is None:
            found.given.append(action)
        else:
            found.captured.append((action, list(addresses)))


def unpacked(places: np.ndarray, kinds: list[tuple[np.dtype, bool]]) -> list[Any]:
    """Return a kernel's arguments, read from where its parameters are."""
    rest = iter(places.tolist())
    found: list[Any] = []
    for dtype, is_array in kinds:
        if is_array:
            words = [ctypes.c_uint64.from_address(next(rest)).value for _ in range(7)]
            meminfo, parent, count, itemsize, address, extent, stride = words
            assert meminfo == parent == 0
            assert count == extent
            assert itemsize == stride == dtype.itemsize
            found.append(DeviceSpan(address, count, dtype))
        else:
            raw = (ctypes.c_uint8 * dtype.itemsize).from_address(next(rest))
            found.append(np.frombuffer(bytes(raw), dtype)[0])
    return found


@contextmanager
def faked() -> Iterator[FakeDriver]:
    """Let calls run on the real device class, over a driver that is none."""
    from tracejit.codegen.cuda.compile import jit_kernel
    from tracejit.codegen.cuda.functions import namespace

    api = FakeDriver()

    def ptx_for(program: DeviceProgram, capability: tuple[int, int]) -> dict[str, str]:
        assert capability == (9, 0)
        _, functions = define(program.source, "cuda", namespace())
        found = {}
        for name, parameters in program.kernels.items():
            entry = f"{name}_{len(api.kernels)}"
            kinds = [(np.dtype(float), True), *((p.dtype, p.is_array) for p in parameters)]
            api.kernels[entry] = jit_kernel(functions[name], parameters), kinds
            found[name] = f".visible .entry {entry}(\n"
        return found

    made = Driver(api)
    before = devices._driver, driver.ptx_for
    devices._driver, driver.ptx_for = lambda: made, ptx_for  # type: ignore[assignment]
    try:
        yield api
    finally:
        devices._driver, driver.ptx_for = before  # type: ignore[assignment]
