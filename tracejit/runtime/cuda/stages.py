"""Programs for a CUDA device: the staged objects that `target="cuda"` leads to.

Lowering and PTX need no device; numba-cuda is imported when source is emitted, and not before.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from tracejit.display import Displayed
from tracejit.errors import DeviceError
from tracejit.ir.core import Graph
from tracejit.runtime.cuda.images import make_ptx, require_numba_cuda
from tracejit.runtime.interface import Interface

if TYPE_CHECKING:
    from tracejit.codegen.cuda.compile import Resources
    from tracejit.codegen.cuda.program import Capability
    from tracejit.runtime.cuda.invocation import DeviceInvocation
    from tracejit.runtime.stages import Traced

__all__ = ["DeviceCompiled", "DeviceLowered"]


class DeviceLowered(Displayed):
    """A program with its kernels as emitted for a device, and the host's function that calls them.

    source -- the module, one function per kernel and `launch`
    device -- what calls need of it, as plain data
    """

    def __init__(self, traced: Traced) -> None:
        require_numba_cuda()
        from tracejit.codegen.cuda.functions import namespace
        from tracejit.codegen.cuda.lower import lower_for_device
        from tracejit.codegen.cuda.plan import program_of
        from tracejit.codegen.cuda.source import render_for_device
        from tracejit.runtime.stages import dump, faults_of_ours, size_conditions

        self.traced = traced
        is_strict = getattr(traced.program.options, "fp", "default") == "strict"
        start = perf_counter()
        self._ptx: dict[Capability, dict[str, str]] = {}
        with faults_of_ours(f"{traced.graph.name} cannot be lowered for a device"):
            self.kernel = lower_for_device(traced.graph, strict=is_strict)
            self.emitted = render_for_device(self.kernel, namespace())
            self.device = program_of(self.kernel, self.emitted, size_conditions(traced.program))
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
        """Return what `Traced.why` does, each copy in a loop, and what one thread does alone."""
        lines = [self.traced.why(), *self.kernel.copies()]
        return "\n".join([*lines, *self.emitted.alone()])

    def ptx(self, capability: Capability = (8, 0)) -> dict[str, str]:
        """Return the PTX of every kernel for a compute capability; no device is needed.

        Raises `DeviceError` in Numba's simulator, which compiles nothing.
        """
        if capability not in self._ptx:
            self._ptx[capability] = make_ptx(self.device, capability)
        return self._ptx[capability]

    def resources(self, capability: Capability = (8, 0)) -> dict[str, Resources]:
        """Return registers and bytes of spills per kernel, as `ptxas` tells them.

        Raises `DeviceError` where `ptxas` is not there: the wheel nvidia-cuda-nvcc has it.
        """
        from tracejit.codegen.cuda.compile import resources_of

        return resources_of(self.ptx(capability), capability)

    def compile(self) -> DeviceCompiled:
        """Return the program, ready to run; kernels are compiled at the first call."""
        return DeviceCompiled(self)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)


class DeviceCompiled(Displayed):
    """A program that runs on a device."""

    def __init__(self, lowered: DeviceLowered) -> None:
        from tracejit.runtime.cuda.invocation import DeviceInvocation

        self.lowered = lowered
        self.times = dict(lowered.traced.times)
        self.interface = Interface.of(lowered.traced.program, lowered.kernel)
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
        """Return what `DeviceLowered.why` does."""
        return self.lowered.why()

    def ptx(self, capability: Capability = (8, 0)) -> dict[str, str]:
        """Return what `DeviceLowered.ptx` does."""
        return self.lowered.ptx(capability)

    def save(self, path: object) -> NoReturn:
        """Raise `DeviceError`: programs for a device are compiled in each process."""
        raise _only_here(self, "saved")

    def export(self, path: object, **settings: object) -> NoReturn:
        """Raise `DeviceError`: a C program cannot call a device through this interface."""
        raise _only_here(self, "exported")

    def cfunc(self, signature: object = None) -> NoReturn:
        """Raise `DeviceError`: C functions run on the CPU."""
        raise _only_here(self, "made a C function")

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return str(self)




def _only_here(compiled: DeviceCompiled, what: str) -> DeviceError:
    return DeviceError(f'{compiled.interface.name} has target="cuda" and cannot be {what}: its '
                       'kernels are compiled in each process. Leave out target="cuda", or take its '
                       "PTX: .ptx((8, 0))")
