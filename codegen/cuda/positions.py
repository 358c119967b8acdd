"""Where a thread is in its block and its grid, for emitted CUDA source; imports numba-cuda."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

__all__ = ["IS_SIMULATED", "at_x", "at_y", "at_z", "block", "block_size", "device",
           "first_x", "first_y", "in_block", "step_x", "step_y", "step_z", "thread", "threads"]

IS_SIMULATED = "simulator" in cuda.jit.__module__


def device(fn: Callable[..., object]) -> Any:
    """Let kernels call a function."""
    return cuda.jit(fn, device=True)


@device
def at_x():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.x) * cuda.blockDim.x + cuda.threadIdx.x


@device
def at_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.y) * cuda.blockDim.y + cuda.threadIdx.y


@device
def at_z():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.z) * cuda.blockDim.z + cuda.threadIdx.z


@device
def step_x():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.x) * cuda.blockDim.x


@device
def step_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.y) * cuda.blockDim.y


@device
def step_z():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.z) * cuda.blockDim.z


@device
def first_x():  # type: ignore[no-untyped-def]
    """The first place along an axis that is for a thread of this block."""
    return np.int64(cuda.blockIdx.x) * cuda.blockDim.x


@device
def first_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.y) * cuda.blockDim.y


@device
def in_block():  # type: ignore[no-untyped-def]
    """The number of a thread in its block."""
    return cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y
                                                 + cuda.blockDim.y * cuda.threadIdx.z)


@device
def block_size():  # type: ignore[no-untyped-def]
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


@device
def block():  # type: ignore[no-untyped-def]
    """The number of a block."""
    return cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)


@device
def thread():  # type: ignore[no-untyped-def]
    """The number of a thread among all."""
    return np.int64(block()) * block_size() + in_block()


@device
def threads():  # type: ignore[no-untyped-def]
    """How many threads there are."""
    blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
    return np.int64(blocks) * block_size()
