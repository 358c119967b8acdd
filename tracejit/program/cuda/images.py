"""The images of a program for devices: the PTX of its kernels, compiled once per capability."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from tracejit.errors import DeviceError
from tracejit.program.emitted import define

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import Capability, DeviceProgram

__all__ = ["capability_here", "capability_of_text", "capability_text", "device_capability",
           "is_simulated", "ptx_for", "require_numba_cuda"]


def require_numba_cuda() -> None:
    """Raise `DeviceError` where numba-cuda is not installed."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise DeviceError('target="cuda" needs numba-cuda. Install it with '
                          "pip install 'tracejit[cuda]', or leave out target=\"cuda\"")


def is_simulated() -> bool:
    """Return whether Numba's simulator stands for the device; numba-cuda is not imported."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


# --- PTX ------------------------------------------------------------------------------------------


def ptx_for(program: DeviceProgram, capability: Capability) -> dict[str, str]:
    """Return the PTX of every kernel for a compute capability: there already, or made now.

    PTX runs on all devices of higher capabilities, and an artifact's PTX is used for these, too.
    """
    _require_pair(capability)
    known = [k for k in program.ptx if k == capability or (program.stored and k < capability)]
    if not known:
        program.ptx[capability] = _make_ptx(program, capability)
    return program.ptx[max(known, default=capability)]


def _require_pair(capability: object) -> None:
    if not (isinstance(capability, tuple) and list(map(type, capability)) == [int, int]):
        raise TypeError(f"a compute capability is a pair of ints, (9, 0) for instance, not "
                        f"{capability!r}")


def _make_ptx(program: DeviceProgram, capability: Capability) -> dict[str, str]:
    require_numba_cuda()
    from tracejit.codegen.cuda.compile import compile_ptx
    from tracejit.codegen.cuda.functions import namespace

    _, functions = define(program.source, "cuda", namespace())
    return compile_ptx(functions, program.kernels, capability)


# --- compute capabilities -------------------------------------------------------------------------

_MAJOR, _MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR (CUDA Driver API, data types)."""


def device_capability() -> Capability | None:
    """Return the compute capability of the device that programs run on; None where there is none.

    The driver is asked, and neither Numba nor numba-cuda.
    """
    if is_simulated():
        return None
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    device, numbers = ctypes.c_int(), []
    if driver.cuInit(0):
        return None
    if driver.cuCtxGetDevice(ctypes.byref(device)) and driver.cuDeviceGet(ctypes.byref(device), 0):
        return None
    for attribute in (_MAJOR, _MINOR):
        number = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device):
            return None
        numbers.append(number.value)
    return numbers[0], numbers[1]


def capability_here() -> Capability:
    """Return the compute capability of the device that is there; `DeviceError` if none is."""
    found = device_capability()
    if found is not None:
        return found
    if is_simulated():
        raise DeviceError("Numba's CUDA simulator compiles nothing that could be kept: unset "
                          "NUMBA_ENABLE_CUDASIM")
    raise DeviceError("there is no CUDA device. Say what the program is for: "
                      ".lower().compile(capability=(8, 0)), for instance, which all devices from "
                      "there on run")


def capability_text(capability: Capability) -> str:
    """Return a compute capability as it is written: "9.0"."""
    return f"{capability[0]}.{capability[1]}"


def capability_of_text(text: str) -> Capability:
    """Return the compute capability that a text gives."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)
