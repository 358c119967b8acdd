"""The code of a compiled program as files: object code for a CPU, source and PTX for a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tracejit.artifacts.manifest import needs_of
from tracejit.ir.core import Graph
from tracejit.store.environment import describe_device_environment, describe_environment
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.program.interface import Interface

__all__ = ["Keepable", "code_for_cpu", "code_for_device", "device_program"]

Code = tuple[dict[str, Any], dict[str, bytes]]
"""A part of a manifest, and files."""


class Keepable(Protocol):
    """A compiled program as far as files need it.

    interface -- how calls and results map to inputs and outputs
    """

    interface: Interface

    @property
    def graph(self) -> Graph:
        """Return the graph."""

    @property
    def _arguments(self) -> tuple[Sequence[ArgSpec], Structure] | None:
        """Return the specs of the arguments, and how these make up a call."""

    def why(self) -> str:
        """Return the decisions, line by line."""

    def _kept_code(self) -> Code:
        """Return the part of a manifest that describes the code, and its files.

        Raises `Unstorable` where it cannot be kept.
        """


def code_for_cpu(symbol: str, object_code: bytes, bitcode: bytes, source: str) -> Code:
    """Return the parts of a program's code that an artifact holds."""
    return ({"environment": describe_environment(), "symbol": symbol,
             "needs": needs_of(object_code)},
            {"object.o": object_code, "bitcode.bc": bitcode, "kernel.py": source.encode()})


def code_for_device(program: DeviceProgram, capability: str, ptx: Mapping[str, str]) -> Code:
    """Return the parts of a program's code that an artifact holds.

    capability -- the compute capability that its PTX is for
    """
    files = {f"{name}.ptx": text.encode() for name, text in ptx.items()}
    return ({"environment": describe_device_environment(),
             "device": {"capability": capability, **program.text()}},
            {**files, "kernel.py": program.source.encode(), "plan.py": program.plan.encode()})


def device_program(manifest: dict[str, Any], file: Callable[[str], bytes]) -> DeviceProgram:
    """Return the program for a device that an artifact holds.

    file -- gives the content of a file by its name
    """
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.program.cuda.images import capability_of_text

    text = manifest["device"]
    ptx = {name: file(f"{name}.ptx").decode() for name, _ in text["kernels"]}
    return DeviceProgram.of_text(text, file("kernel.py").decode(), file("plan.py").decode(),
                                 {capability_of_text(text["capability"]): ptx})
