"""The requests of calls to a device, and memory that is given back once nothing refers to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.program.cuda.parameters import Packing
    from tracejit.program.cuda.streams import Stream

__all__ = ["Device", "OutOfMemory", "Resource", "Triple"]

Triple = tuple[int, int, int]


class OutOfMemory(MemoryError):
    """The device has less memory left than was asked for."""

    def __init__(self, nbytes: int) -> None:
        super().__init__(f"{nbytes} bytes")
        self.nbytes = nbytes


class Resource:
    """A resource of a device, by its address or handle."""

    handle: Any
    nbytes: int

    __slots__ = ("_release", "handle", "nbytes")

    def __init__(self, handle: object, release: Callable[[Any], None], nbytes: int = 0) -> None:
        self.handle, self._release, self.nbytes = handle, release, nbytes

    def __del__(self) -> None:
        self._release(self.handle)


class Device(Protocol):
    """The device, as calls ask it: the driver's, or the simulator's.

    Nothing waits for the device but `wait` and `trim`. Copies between the host and a stream may go
    on after their call: the host's arrays have to stay as they are until then.
    """

    ordinal: int

    def load(self, program: DeviceProgram) -> dict[str, Any]:
        """Return the functions of a program's kernels, by name."""

    def launch(self, function: Callable[..., object], blocks: Triple, threads: Triple,
               packing: Packing, stream: int) -> None:
        """Launch a kernel with the parameters that are packed."""

    def capture(self, launches: Callable[[int], object]) -> Resource | None:
        """Return the launches on a stream as one captured sequence; None where there is none."""

    def replay(self, graph: Resource, stream: int) -> None:
        """Launch a captured graph."""

    def allocate(self, nbytes: int, stream: Stream) -> Resource:
        """Return memory, which goes back in the order of the stream; or raise `OutOfMemory`."""

    def pinned(self, nbytes: int) -> tuple[Resource, np.ndarray]:
        """Return memory of the host that copies need no detour for, and its bytes."""

    def copy_in(self, address: int, array: np.ndarray, stream: int) -> None:
        """Copy from the host."""

    def copy_out(self, array: np.ndarray, address: int, stream: int) -> None:
        """Copy to the host."""

    def copy(self, address: int, source: int, nbytes: int, stream: int) -> None:
        """Copy within the device."""

    def clear(self, address: int, nbytes: int, stream: int) -> None:
        """Set bytes to zero."""

    def wait(self, stream: int) -> None:
        """Wait until a stream has done all that it was given."""

    def order(self, first: int, then: int) -> None:
        """Let later work of a stream wait for the work that another one has been given."""

    def trim(self, stream: int) -> None:
        """Wait, and give memory that nothing needs back to the system."""

    def ordinal_of(self, address: int) -> int:
        """Return the number of the device that has an address."""

    def dlpack(self, array: object, **asked: object) -> Any:
        """Return the capsule of DLPack for an array."""

    def dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's kind and number of the device."""
