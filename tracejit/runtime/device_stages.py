"""Programs for a CUDA device: the staged objects that `target="cuda"` leads to.

Lowering and PTX need no device; numba-cuda is imported when source is emitted, and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

from tracejit.artifacts.code import Code, code_for_device
from tracejit.artifacts.fingerprints import Unstorable
from tracejit.display import Displayed
from tracejit.errors import DeviceError
from tracejit.ir.core import Graph
from tracejit.passes.searching import mark_ties
from tracejit.program.cuda.images import (
    capability_here,
    capability_text,
    ptx_for,
    require_numba_cuda,
)
from tracejit.program.interface import Interface
from tracejit.runtime.compiling import dump, faults_of_ours
from tracejit.runtime.result_sizes import require_known_sizes
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

if TYPE_CHECKING:
    from tracejit.codegen.cuda.assembler import ResourceTable
    from tracejit.codegen.cuda.program import Capability
    from tracejit.program.cuda.invocation import DeviceInvocation
    from tracejit.runtime.program import Lowerable

__all__ = ["DeviceCompiled", "DeviceLowered"]


class DeviceLowered(Displayed):
    """A program with its kernels as emitted for a device, and the host's function that calls them.

    source -- the module, one function per kernel and `launch`
    device -- the data that calls need, plain
    """

    kernel: Any
    emitted: Any
    device: Any

    def __init__(self, traced: Lowerable) -> None:
        require_numba_cuda()
        from tracejit.codegen.cuda.functions import namespace
        from tracejit.codegen.cuda.lower import lower_for_device
        from tracejit.codegen.cuda.plan import program_of
        from tracejit.codegen.cuda.source import render_for_device

        self.traced = traced
        require_known_sizes(traced.graph, "a device")
        is_strict = getattr(traced.program.options, "fp", "default") == "strict"
        start = perf_counter()
        with faults_of_ours(f"{traced.graph.name} cannot be lowered for a device"):
            self.kernel = lower_for_device(mark_ties(traced.graph), strict=is_strict)
            self.emitted = render_for_device(self.kernel, namespace())
            self.device = program_of(self.kernel, self.emitted, traced.program.size_conditions())
        self.source: str = self.emitted.text
        traced.times["codegen"] = perf_counter() - start
        dump(traced.program, "cuda.py", self)

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.traced.graph

    @property
    def kernels(self) -> tuple[str, ...]:
        """Return the names of the kernels, in the order in which they are first launched."""
        return tuple(self.emitted.kernels)

    def why(self) -> str:
        """Return the lines of `Traced.why`, copies in loops, and the work of one thread alone."""
        lines = [self.traced.why(), *(f"{copy} [TJ804]" for copy in self.kernel.copies())]
        return "\n".join([*lines, *self.emitted.alone()])

    def ptx(self, capability: Capability = (8, 0)) -> dict[str, str]:
        """Return the PTX of every kernel for a compute capability; no device is needed.

        Raises `DeviceError` in Numba's simulator, which compiles nothing.
        """
        return ptx_for(self.device, capability)

    def resources(self, capability: Capability = (8, 0)) -> ResourceTable:
        """Return resources of kernels, as `ptxas` tells: registers, bytes of spills, memory.

        An estimate of the occupancy follows from these, for full blocks: how many warps a
        multiprocessor holds at once, and the limits of their number. Print it for a table. Raises
        `DeviceError` where `ptxas` is not there: the wheel nvidia-cuda-nvcc has it.
        """
        from tracejit.codegen.cuda.assembler import resources_of

        return resources_of(self.device, self.ptx(capability), capability)

    def compile(self, capability: Capability | None = None) -> DeviceCompiled:
        """Return the program, ready to run.

        capability -- None to compile kernels at the first call, for the device that is there; or a
                      compute capability to compile them for now, without a device: (8, 0) serves
                      all devices from there on once the program is saved
        """
        if capability is not None:
            self.ptx(capability)
        return DeviceCompiled(self, capability)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)


class DeviceCompiled(Displayed):
    """A program that runs on a device."""

    lowered: DeviceLowered
    capability: Capability | None
    times: dict[str, float]

    def __init__(self, lowered: DeviceLowered, capability: Capability | None = None) -> None:
        from tracejit.program.cuda.invocation import DeviceInvocation

        self.lowered, self.capability = lowered, capability
        self.times = dict(lowered.traced.times)
        self.interface: Interface = lowered.traced.program.interface(lowered.kernel)
        self.invocation: DeviceInvocation = DeviceInvocation(
            lowered.device, self.interface)

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.lowered.graph

    @property
    def source(self) -> str:
        """Return the emitted source."""
        return self.lowered.source

    def why(self) -> str:
        """Return the text of `DeviceLowered.why`."""
        return self.lowered.why()

    def ptx(self, capability: Capability = (8, 0)) -> dict[str, str]:
        """Return the table of `DeviceLowered.ptx`."""
        return self.lowered.ptx(capability)

    @property
    def llvm(self) -> NoReturn:
        """Raise `DeviceError`: kernels for a device have PTX in its place."""
        raise _has_ptx(self, "LLVM IR")

    @property
    def asm(self) -> NoReturn:
        """Raise `DeviceError`: kernels for a device have PTX in its place."""
        raise _has_ptx(self, "assembly")

    def resources(self, capability: Capability = (8, 0)) -> ResourceTable:
        """Return the table of `DeviceLowered.resources`."""
        return self.lowered.resources(capability)

    @property
    def _arguments(self) -> tuple[Sequence[ArgSpec], Structure] | None:
        """Return the specs of the arguments, and how these make up a call; None for a graph."""
        return self.lowered.traced.arguments

    def _kept_code(self) -> Code:
        """Return the part of a manifest that describes the code, and its files.

        It is for the compute capability that the program was compiled for, or else for the present
        device's. Raises `Unstorable` where there is neither.
        """
        try:
            capability = self.capability_to_keep()
            return code_for_device(self.lowered.device, capability_text(capability),
                                   self.ptx(capability))
        except DeviceError as e:
            raise Unstorable(str(e)) from None

    def capability_to_keep(self) -> Capability:
        """Return the compute capability that an artifact of the program is for.

        Raises `DeviceError` where it was compiled for none, and there is no device.
        """
        return self.capability or capability_here()

    def save(self, path: str | Path) -> Path:
        """Write the program to a file that `tracejit.load` reads, and return its path.

        It holds PTX for the compute capability that the program was compiled for,
        `compile(capability=(8, 0))`, or for the capability of the device present. Devices of this
        capability and of all higher ones run it; Numba is not needed where it is loaded, and no
        device where it is made. Otherwise it is as `Compiled.save` says.

        Raises `DeviceError` where neither a capability was given nor a device is there, and
        `TypeError` where arguments or results are of classes that no name leads to.
        """
        from tracejit.artifacts.snapshots import save_snapshot

        self.ptx(self.capability_to_keep())
        return save_snapshot(self, Path(path))

    def export(self, path: object, **settings: object) -> NoReturn:
        """Raise `DeviceError`: a C program cannot call a device through this interface."""
        raise _only_here(self, "exported as a C library")

    def cfunc(self, signature: object = None) -> NoReturn:
        """Raise `DeviceError`: C functions run on the CPU."""
        raise _only_here(self, "made a C function")

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)


def _only_here(compiled: DeviceCompiled, what: str) -> DeviceError:
    return DeviceError(f'{compiled.interface.name} has target="cuda" and cannot be {what}, which '
                       'runs on the CPU. Leave out target="cuda", or write it to a file for '
                       "Python: .save(path)")


def _has_ptx(compiled: DeviceCompiled, what: str) -> DeviceError:
    return DeviceError(f'{compiled.interface.name} has target="cuda", and its kernels have PTX in '
                       f"place of {what}: .ptx((8, 0))")
