"""The code of a compiled program as files: object code for a CPU, source and PTX for a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracejit.artifacts.environment import describe_device_environment, describe_environment
from tracejit.artifacts.fingerprints import Unstorable
from tracejit.artifacts.manifest import needs_of
from tracejit.errors import DeviceError

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.runtime.cuda.stages import DeviceCompiled
    from tracejit.runtime.stages import Compiled

__all__ = ["code_of", "device_program"]

Code = tuple[dict[str, Any], dict[str, bytes]]
"""A part of a manifest, and files."""


def code_of(compiled: Compiled | DeviceCompiled) -> Code:
    """Return what of a program's code an artifact holds; `Unstorable` where it cannot.

    A program for a device is kept for the compute capability that it was compiled for, or else for
    that of the device that is there.
    """
    from tracejit.runtime.stages import Compiled

    if not isinstance(compiled, Compiled):
        return _device_code(compiled)
    object_code = compiled.code.object_code
    return ({"environment": describe_environment(), "symbol": compiled.symbol,
             "needs": needs_of(object_code)},
            {"object.o": object_code, "bitcode.bc": compiled.code.bitcode,
             "kernel.py": compiled.source.encode()})


def _device_code(compiled: DeviceCompiled) -> Code:
    from tracejit.runtime.cuda.images import capability_text

    program = compiled.lowered.device
    try:
        capability = compiled.capability_to_keep()
        ptx = compiled.ptx(capability)
    except DeviceError as e:
        raise Unstorable(str(e)) from None
    files = {f"{name}.ptx": text.encode() for name, text in ptx.items()}
    return ({"environment": describe_device_environment(),
             "device": {"capability": capability_text(capability), **program.text()}},
            {**files, "kernel.py": program.source.encode(), "plan.py": program.plan.encode()})


def device_program(manifest: dict[str, Any], file: Callable[[str], bytes]) -> DeviceProgram:
    """Return the program for a device that an artifact holds.

    file -- gives the content of a file by its name
    """
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.runtime.cuda.images import capability_of_text

    text = manifest["device"]
    ptx = {name: file(f"{name}.ptx").decode() for name, _ in text["kernels"]}
    return DeviceProgram.of_text(text, file("kernel.py").decode(), file("plan.py").decode(),
                                 {capability_of_text(text["capability"]): ptx})
