"""Kernels for a CUDA device compiled: for the one that is there, or to PTX without one."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from tracejit.codegen.cuda.functions import IS_SIMULATED
from tracejit.codegen.cuda.program import Capability, Parameter
from tracejit.errors import DeviceError

__all__ = ["Resources", "compile_ptx", "find_ptxas", "jit_kernel", "resources_of"]


@dataclass(frozen=True, slots=True)
class Resources:
    """What a thread of a kernel takes: registers, and bytes of registers spilled to memory."""

    registers: int
    spill_stores: int
    spill_loads: int


def _signature(parameters: Sequence[Parameter]) -> Any:
    from numba.cuda import types
    from numba.cuda.np.numpy_support import from_dtype

    def kind(p: Parameter) -> Any:
        element = from_dtype(p.dtype)
        return types.Array(element, 1, "C") if p.is_array else element

    return types.void(types.Array(types.float64, 1, "C"), *map(kind, parameters))


def jit_kernel(fn: FunctionType, parameters: Sequence[Parameter]) -> Any:
    """Return a kernel for the device that is there."""
    from numba import cuda

    return cuda.jit(fn) if IS_SIMULATED else cuda.jit(_signature(parameters))(fn)


def compile_ptx(functions: Mapping[str, FunctionType],
                kernels: Mapping[str, Sequence[Parameter]],
                capability: Capability) -> dict[str, str]:
    """Return the PTX of every kernel for a compute capability.

    kernels -- per kernel its parameters, after the context
    """
    if IS_SIMULATED:
        raise DeviceError("Numba's CUDA simulator compiles nothing: unset NUMBA_ENABLE_CUDASIM")
    from numba import cuda

    with _assumed(capability):
        return {name: cuda.compile_ptx(functions[name], _signature(parameters), cc=capability,
                                       opt=True)[0]
                for name, parameters in kernels.items()}


@contextmanager
def _assumed(capability: Capability) -> Iterator[None]:
    """Let numba-cuda type calls of device functions without a device, as if this one were there.

    It asks the device for its capability where it compiles one function for another, even when PTX
    for a given capability is wanted.
    """
    from numba.cuda import dispatcher

    before = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = before


# --- ptxas ----------------------------------------------------------------------------------------


def find_ptxas() -> str | None:
    """Return the path of `ptxas`: that of the wheel nvidia-cuda-nvcc, or one on the path."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            return str(path)
    return shutil.which("ptxas")


def resources_of(ptx: Mapping[str, str], capability: Capability) -> dict[str, Resources]:
    """Return what `ptxas` says of every kernel."""
    program = find_ptxas()
    if program is None:
        raise DeviceError("ptxas is not there: pip install nvidia-cuda-nvcc")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ptx.items():
            path = Path(folder) / f"{name}.ptx"
            path.write_text(text)
            done = subprocess.run(
                [program, "-v", f"-arch=sm_{capability[0]}{capability[1]}", str(path), "-o",
                 str(path.with_suffix(".cubin"))], capture_output=True, text=True, check=False)
            if "Unsupported .version" in done.stderr:
                raise DeviceError(f"{program} is older than the compiler of numba-cuda: "
                                  "pip install -U nvidia-cuda-nvcc")
            if done.returncode:
                raise DeviceError(f"ptxas does not accept {name}: {done.stderr}")
            found[name] = _parse(done.stderr)
    return found


def _parse(text: str) -> Resources:
    """Read the largest numbers that `ptxas -v` gives: those of the kernel and what it calls."""
    def largest(pattern: str) -> int:
        return max(map(int, re.findall(pattern, text)), default=0)

    return Resources(largest(r"Used (\d+) registers"), largest(r"(\d+) bytes spill stores"),
                     largest(r"(\d+) bytes spill loads"))


