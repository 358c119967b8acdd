"""Kernels compiled for a CUDA device: for the device present, or to PTX without a device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from typing import Any

from tracejit.codegen.cuda.functions import IS_SIMULATED
from tracejit.codegen.cuda.program import Capability, Parameter
from tracejit.errors import DeviceError

__all__ = ["compile_ptx", "jit_kernel"]


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

    with _clear_errors(capability), _assumed(capability):
        return {name: cuda.compile_ptx(functions[name], _signature(parameters), cc=capability,
                                       opt=True)[0]
                for name, parameters in kernels.items()}


_NO_COMPILER = {"NvvmSupportError", "DynamicLibNotFoundError"}
"""Errors of numba-cuda and its binding where the library NVVM is not found, by name: which of them
depends on versions."""


@contextmanager
def _clear_errors(capability: Capability) -> Iterator[None]:
    """Name the missing part where there is no compiler, or none for this capability."""
    try:
        yield
    except Exception as e:
        kinds = {kind.__name__ for kind in type(e).__mro__}
        if kinds & _NO_COMPILER:
            raise DeviceError("NVVM, which compiles kernels for CUDA devices, is not there: pip "
                              "install 'tracejit[cuda]' brings it, as does NVIDIA's CUDA "
                              "toolkit") from None
        if "CCSupportError" in kinds:
            raise DeviceError(f"kernels cannot be compiled for compute capability "
                              f"{capability[0]}.{capability[1]}: {e}") from None
        raise


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
