"""A device by CUDA's driver: memory, kernels, streams, and sequences of launches.

Each method is a few calls of `cuda.bindings.driver`, which numba-cuda brings.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.errors import DeviceError
from tracejit.program.cuda.images import ptx_for
from tracejit.program.cuda.resources import OutOfMemory, Resource, Triple

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.program.cuda.parameters import Packing
    from tracejit.program.cuda.streams import Stream

__all__ = ["Driver", "RealDevice", "linked"]

KEPT_SHARE = 2
"""One part in so many of a device's memory stays in the pool when nothing needs it."""

LOST = ("ASSERT", "CONTEXT_IS_DESTROYED", "ECC_UNCORRECTABLE", "HARDWARE_STACK_ERROR",
        "ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION", "INVALID_ADDRESS_SPACE", "INVALID_PC",
        "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "MISALIGNED_ADDRESS")
"""Errors of a kernel after which the driver refuses all work of the process."""


class Driver:
    """CUDA's driver, and a device for each of its contexts.

    api -- `cuda.bindings.driver`

    Raises `DeviceError` where there is no driver or no device.
    """

    def __init__(self, api: Any) -> None:
        self.api = api
        self.devices: dict[int, RealDevice] = {}
        self._lock = threading.Lock()
        try:
            self.call("cuInit", 0)
            missing = "" if self.call("cuDeviceGetCount") else "the driver finds none"
        except Exception as e:  # the binding has errors of its own where the library is missing
            missing = str(e)
        if missing:
            raise DeviceError(f"there is no CUDA device, or no driver for it ({missing}). Leave "
                              'out target="cuda" to run on the CPU; kernels can be looked at '
                              "without a device: .trace(...).lower().source and .ptx()")

    def call(self, name: str, *args: object) -> Any:
        """Call the driver; return its result besides the status."""
        status, *found = getattr(self.api, name)(*args)
        if int(status):
            raise self.error(name, status)
        return found[0] if found else None

    def error(self, name: str, status: object) -> DeviceError:
        """Return the error for a status that a function has returned."""
        kind = str(getattr(status, "name", status)).removeprefix("CUDA_ERROR_")
        _, text = self.api.cuGetErrorString(status)
        said = text.decode() if isinstance(text, bytes) else str(text)
        if kind in LOST:
            return DeviceError(f"a kernel that ran in this process has failed ({kind}: {said}), "
                               "and the driver refuses all further work of the process. Start it "
                               "anew; compute-sanitizer finds which kernel it was")
        return DeviceError(f"{name} failed with {kind}: {said}")

    def current(self) -> RealDevice:
        """Return the device of this thread's context; that is device 0's where there is none."""
        context = self.call("cuCtxGetCurrent")
        if not int(context):
            context = self.call("cuDevicePrimaryCtxRetain", self.call("cuDeviceGet", 0))
            self.call("cuCtxSetCurrent", context)
        found = self.devices.get(int(context))
        if found is None:
            with self._lock:
                found = self.devices.setdefault(int(context), RealDevice(self, context))
        return found


class RealDevice:
    """A device, in one of its contexts."""

    driver: Driver
    api: Any
    ordinal: int
    capability: tuple[int, int]

    def __init__(self, driver: Driver, context: Any) -> None:
        self.driver, self.api, self.call = driver, driver.api, driver.call
        self.context = context
        self._device = self.call("cuCtxGetDevice")
        self.ordinal = int(self._device)
        attribute = self.api.CUdevice_attribute
        major, minor = (self.call("cuDeviceGetAttribute", a, self._device)
                        for a in (attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                  attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
        self.capability = int(major), int(minor)
        self._pool = self._new_pool()
        self._capturing = threading.Lock()
        self._own_stream: Any = None

    def _new_pool(self) -> Any:
        """Return a pool for memory, which keeps freed memory for the next call."""
        api = self.api
        wanted = api.CUmemPoolProps()
        wanted.allocType = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = self.ordinal
        pool = self.call("cuMemPoolCreate", wanted)
        kept = int(self.call("cuDeviceTotalMem", self._device)) // KEPT_SHARE
        self.call("cuMemPoolSetAttribute", pool,
                  api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                  api.cuuint64_t(kept))
        return pool

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Make the context this thread's, where another one is or none."""
        if int(self.call("cuCtxGetCurrent")) == int(self.context):
            yield
            return
        self.call("cuCtxPushCurrent", self.context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent")

    # --- kernels ----------------------------------------------------------------------------------

    def load(self, program: DeviceProgram) -> dict[str, Any]:
        """Return the functions of a program's kernels, by name."""
        found = {}
        for name, text in ptx_for(program, self.capability).items():
            entry = re.search(r"\.entry\s+([\w$]+)", text)
            assert entry is not None, "PTX of a kernel has an entry"
            module = self._module(text)
            found[name] = self.call("cuModuleGetFunction", module, entry[1].encode())
        return found

    def _module(self, ptx: str) -> Any:
        """Load PTX; where the driver is older than the compiler, as machine code."""
        status, module = self.api.cuModuleLoadData(ptx.encode() + b"\0")
        if status == self.api.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
            return self.call("cuModuleLoadData", linked(ptx, self.capability))
        if int(status):
            raise self.driver.error("cuModuleLoadData", status)
        return module

    def launch(self, function: Callable[..., object], blocks: Triple, threads: Triple,
               packing: Packing, stream: int) -> None:
        """Launch a kernel with the parameters that are packed."""
        status, = self.api.cuLaunchKernel(function, *blocks, *threads, 0, stream, packing.address,
                                          0)
        if int(status):
            raise self.driver.error("cuLaunchKernel", status)

    def capture(self, launches: Callable[[int], object]) -> Resource | None:
        """Return the launches on a stream as one captured sequence; None where there is none.

        The default stream cannot be captured, so it is done on a stream of its own.
        """
        mode = self.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        with self._capturing:
            try:
                stream = self._stream_for_capture()
                self.call("cuStreamBeginCapture", stream, mode)
                try:
                    launches(int(stream))
                finally:
                    status, graph = self.api.cuStreamEndCapture(stream)
                if int(status):
                    return None
                try:
                    made = self.call("cuGraphInstantiate", graph, 0)
                finally:
                    self.call("cuGraphDestroy", graph)
            except DeviceError:
                return None
        return Resource(made, self._forget)

    def _stream_for_capture(self) -> Any:
        if self._own_stream is None:
            flag = self.api.CUstream_flags.CU_STREAM_NON_BLOCKING
            self._own_stream = self.call("cuStreamCreate", flag)
        return self._own_stream

    def _forget(self, graph: object) -> None:
        self.api.cuGraphExecDestroy(graph)

    def replay(self, graph: Resource, stream: int) -> None:
        """Launch a captured graph."""
        self.call("cuGraphLaunch", graph.handle, stream)

    # --- memory -----------------------------------------------------------------------------------

    def allocate(self, nbytes: int, stream: Stream) -> Resource:
        """Return memory, which goes back in the order of the stream; or raise `OutOfMemory`."""
        nbytes = max(1, nbytes)
        status, address = self.api.cuMemAllocFromPoolAsync(nbytes, self._pool, stream.handle)
        if status == self.api.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise OutOfMemory(nbytes)
        if int(status):
            raise self.driver.error("cuMemAllocFromPoolAsync", status)

        def release(address: int) -> None:
            try:
                with self._entered():
                    self.api.cuMemFreeAsync(address, stream.handle)
            except Exception:  # the process ends, or the context is lost: nothing is left to free
                return

        return Resource(int(address), release, nbytes)

    def pinned(self, nbytes: int) -> tuple[Resource, np.ndarray]:
        """Return memory of the host that copies need no detour for, and its bytes."""
        address = int(self.call("cuMemHostAlloc", max(1, nbytes), 0))
        found = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
        return Resource(address, self._free_pinned, nbytes), found

    def _free_pinned(self, address: int) -> None:
        try:
            with self._entered():
                self.api.cuMemFreeHost(address)
        except Exception:  # as for memory of the device
            return

    def copy_in(self, address: int, array: np.ndarray, stream: int) -> None:
        """Copy from the host."""
        if array.nbytes:
            self.call("cuMemcpyHtoDAsync", address, array.ctypes.data, array.nbytes, stream)

    def copy_out(self, array: np.ndarray, address: int, stream: int) -> None:
        """Copy to the host."""
        if array.nbytes:
            self.call("cuMemcpyDtoHAsync", array.ctypes.data, address, array.nbytes, stream)

    def copy(self, address: int, source: int, nbytes: int, stream: int) -> None:
        """Copy within the device."""
        if nbytes:
            self.call("cuMemcpyDtoDAsync", address, source, nbytes, stream)

    def clear(self, address: int, nbytes: int, stream: int) -> None:
        """Set bytes to zero."""
        self.call("cuMemsetD8Async", address, 0, nbytes, stream)

    def trim(self, stream: int) -> None:
        """Wait, and give memory that nothing needs back to the system."""
        self.wait(stream)
        self.call("cuMemPoolTrimTo", self._pool, 0)

    # --- streams ----------------------------------------------------------------------------------

    def wait(self, stream: int) -> None:
        """Wait until a stream has done all that it was given."""
        self.call("cuStreamSynchronize", stream)

    def order(self, first: int, then: int) -> None:
        """Let later work of a stream wait for the work that another one has been given."""
        event = self.call("cuEventCreate", self.api.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        try:
            self.call("cuEventRecord", event, first)
            self.call("cuStreamWaitEvent", then, event, 0)
        finally:
            self.call("cuEventDestroy", event)

    # --- arrays of others -------------------------------------------------------------------------

    def ordinal_of(self, address: int) -> int:
        """Return the number of the device that has an address."""
        kind = self.api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self.call("cuPointerGetAttribute", kind, address))

    def dlpack(self, array: object, **asked: object) -> Any:
        """Return the capsule of DLPack for an array."""
        from cuda.core.utils import StridedMemoryView

        view = StridedMemoryView.from_cuda_array_interface(array, stream_ptr=-1)
        return view.__dlpack__(stream=-1, **asked)

    def dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's kind and number of the device."""
        return 2, self.ordinal


def linked(ptx: str, capability: tuple[int, int]) -> bytes:
    """Return the machine code of PTX, by nvJitLink, which is as new as the compiler.

    Raises `DeviceError` where it is not installed.
    """
    from cuda.core import Linker, LinkerOptions, ObjectCode

    major, minor = capability
    options = LinkerOptions(arch=f"sm_{major}{minor}")
    try:
        made = Linker(ObjectCode.from_ptx(ptx.encode()), options=options).link("cubin")
    except Exception as e:  # of any kind: the driver cannot read the PTX either
        raise DeviceError("the driver is older than the compiler of numba-cuda, and cannot read "
                          "its PTX. Update the driver, or pip install nvidia-nvjitlink, which "
                          f"makes machine code of it ({e})") from None
    return bytes(made.code)
