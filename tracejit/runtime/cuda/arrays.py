"""Arrays that lie on a device already, of any library: used in place, and answered in kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.dtypes import DTYPES
from tracejit.trace.specs import ArgSpec, spec_of_leaf

__all__ = ["is_on_device", "spec_of_argument", "to_device"]


def is_on_device(x: Any) -> bool:
    """Return whether something is an array in the memory of a device."""
    return not isinstance(x, np.ndarray) and hasattr(x, "__cuda_array_interface__")


def spec_of_argument(x: Any) -> ArgSpec:
    """Return the spec of an argument of a program for a device."""
    if not is_on_device(x):
        return spec_of_leaf(x)
    described = x.__cuda_array_interface__
    dtype = np.dtype(described["typestr"])
    if dtype not in DTYPES.values():
        raise Refusal(f"an argument is an array of dtype {dtype}, which cannot be captured. Use "
                      "float32, float64, integers or bool")
    return ArgSpec("array", dtype, len(described["shape"]))


def to_device(x: Any, dtype: np.dtype) -> Any:
    """Return the elements of an array in a row: where they are, or copied to the device."""
    from numba import cuda

    if not is_on_device(x):
        flat = np.require(np.asarray(x), dtype, ["C"]).reshape(-1)
        return cuda.to_device(flat if flat.size else np.zeros(1, dtype))
    described = x.__cuda_array_interface__
    if described.get("strides") is not None and not _is_contiguous(described):
        raise Refusal("an argument on the device is not contiguous in C order. Pass a copy of it "
                      "that is: cupy.ascontiguousarray(x), or x.contiguous() in PyTorch")
    if not np.prod(described["shape"]):
        return cuda.to_device(np.zeros(1, dtype))
    return cuda.as_cuda_array(x).reshape(int(np.prod(described["shape"])))


def _is_contiguous(described: dict[str, Any]) -> bool:
    step = np.dtype(described["typestr"]).itemsize
    pairs: Sequence[tuple[int, int]] = list(zip(described["shape"], described["strides"],
                                                strict=True))
    for n, stride in reversed(pairs):
        if n > 1 and stride != step:
            return False
        step *= n
    return True
