"""What a device is given of a program: the PTX of its kernels, compiled once per capability."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from tracejit.errors import DeviceError
from tracejit.runtime.emitted import define

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import Capability, DeviceProgram

__all__ = ["make_ptx", "ptx_for", "require_numba_cuda"]


def require_numba_cuda() -> None:
    """Raise `DeviceError` where numba-cuda is not installed."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise DeviceError('target="cuda" needs numba-cuda. Install it with '
                          "pip install 'tracejit[cuda]', or leave out target=\"cuda\"")


def ptx_for(program: DeviceProgram, capability: Capability) -> dict[str, str]:
    """Return the PTX of every kernel for a device: what the program has, or else made now.

    PTX runs on every device whose capability is not lower than that which it was made for.
    """
    served = [known for known in program.ptx if known <= capability]
    if not served:
        program.ptx[capability] = make_ptx(program, capability)
        return program.ptx[capability]
    return program.ptx[max(served)]


def make_ptx(program: DeviceProgram, capability: Capability) -> dict[str, str]:
    """Compile every kernel to PTX for a compute capability; no device is needed."""
    require_numba_cuda()
    from tracejit.codegen.cuda.compile import compile_ptx
    from tracejit.codegen.cuda.functions import namespace

    _, functions = define(program.source, "cuda", namespace())
    return compile_ptx(functions, program.kernels, capability)
