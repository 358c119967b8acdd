"""Arrays in the memory of a device: results, and arguments of any library, used where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.errors import DeviceError, Refusal
from tracejit.ir.dtypes import DTYPES, is_half
from tracejit.program.cuda.resources import Device
from tracejit.program.cuda.simulator import simulated_interface
from tracejit.program.cuda.streams import LEGACY, Stream, current_stream
from tracejit.trace.values.specs import ArgSpec, spec_of_leaf

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["DeviceArray", "adopt", "specs_of_arguments"]

CUDA = 2
"""DLPack's number for memory of a CUDA device."""


class DeviceArray:
    """An array in the memory of a device, in C order: the result of calls with `target="cuda"`.

    It has no arithmetic of its own: functions with `target="cuda"` take it, as do CuPy, PyTorch
    (`torch.from_dlpack`) and Numba (`cuda.as_cuda_array`), all without a copy. A call returns it
    before the device has computed it; `copy_to_host()`, `item()`, `float(x)` and `np.asarray(x)`
    wait for that, and copy.

    shape, dtype -- as NumPy's
    address      -- where the first element lies
    device       -- the device that it lies on
    stream       -- the stream after whose work so far its elements are there; None: they are
    """

    address: int
    device: Device
    dtype: np.dtype
    shape: tuple[int, ...]
    stream: Stream | None

    __slots__ = ("__weakref__", "_owner", "address", "device", "dtype", "shape", "stream")

    def __init__(self, device: Device, address: int, shape: tuple[int, ...], dtype: np.dtype,
                 stream: Stream | None, owner: object) -> None:
        self.device, self.address = device, address
        self.shape, self.dtype, self.stream, self._owner = shape, dtype, stream, owner

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the bytes of its elements."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device.ordinal})"

    # --- to the host ------------------------------------------------------------------------------

    def copy_to_host(self) -> np.ndarray:
        """Wait for the elements, and return a copy of them as a NumPy array."""
        result = np.empty(self.shape, self.dtype)
        stream = (self.stream or LEGACY).handle
        self.device.copy_out(result, self.address, stream)
        self.device.wait(stream)
        return result

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on a device has to be copied: np.asarray(x)")
        result = self.copy_to_host()
        return result if dtype is None else result.astype(dtype, copy=False)

    def item(self) -> Any:
        """Wait for the one element, and return it as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() of an array of shape {self.shape}, which has not one element")
        return self.copy_to_host().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    # --- to other libraries -----------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return the description of the array that CuPy, PyTorch and Numba read."""
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "strides": None,
                "data": (self.address if self.size else 0, False),
                "stream": None if self.stream is None else self.stream.handle}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.dlpack_device()

    def __dlpack__(self, *, stream: int | None = None, **asked: object) -> Any:
        """Return a capsule of DLPack, ready in the consumer's stream: None is the default one."""
        if self.stream is not None and stream != -1:
            self.ready_for(stream or LEGACY.handle)
        return self.device.dlpack(self, **asked)

    # --- among streams ----------------------------------------------------------------------------

    def ready_for(self, stream: int) -> None:
        """Let a stream wait for the elements."""
        if self.stream is not None and self.stream.handle != stream:
            self.device.order(self.stream.handle, stream)

    def used_on(self, stream: int) -> None:
        """Let later work on the array's own stream wait for a stream that uses the elements."""
        if self.stream is not None and self.stream.handle != stream:
            self.device.order(stream, self.stream.handle)

    def overwrite(self, values: object) -> None:
        """Replace the elements, in the order of the current stream."""
        stream = current_stream().handle
        self.ready_for(stream)
        if isinstance(values, DeviceArray):
            self.device.copy(self.address, values.address, self.nbytes, stream)
        else:
            self.device.copy_in(self.address, np.ascontiguousarray(values, self.dtype), stream)
            self.device.wait(stream)
        self.used_on(stream)


# --- arguments ------------------------------------------------------------------------------------


def adopt(x: object) -> Any:
    """Return an argument that lies on a device as a `DeviceArray`, and anything else as it is.

    Raises `Refusal` for an array that is not contiguous, and `DeviceError` for one that lies on
    another device than calls of this thread run on.
    """
    if isinstance(x, (np.ndarray, np.generic, float, int)) or not _is_foreign(x):
        return x
    from tracejit.program.cuda.devices import current_device

    described = _interface_of(x)
    if described is not None:
        _require_dtype(np.dtype(described["typestr"]))
    device = current_device()
    if isinstance(x, DeviceArray):
        found, ordinal = x, x.device.ordinal
    elif described is None:
        found, ordinal = _from_dlpack(x, device)
    else:
        found, ordinal = _from_interface(x, described, device)
    if ordinal != device.ordinal:
        raise DeviceError(f"an argument lies on device {ordinal}, and this thread's calls run on "
                          f"device {device.ordinal}. Copy it there, or make device {ordinal} the "
                          f"current one: cupy.cuda.Device({ordinal}).use()")
    return found


def specs_of_arguments(leaves: Sequence[object]) -> tuple[tuple[ArgSpec, ...], list[Any]]:
    """Return the specs of arguments of a program for a device, and these, arrays there adopted."""
    adopted = list(map(adopt, leaves))
    return tuple(map(_spec_of_argument, adopted)), adopted


def _spec_of_argument(x: object) -> ArgSpec:
    if not isinstance(x, DeviceArray):
        spec = spec_of_leaf(x)
        if spec.dtype is not None:
            _require_dtype(spec.dtype)
        return spec
    _require_dtype(x.dtype)
    return ArgSpec("array", x.dtype, x.ndim) if x.shape else ArgSpec("scalar", x.dtype)


def _require_dtype(dtype: np.dtype) -> None:
    if is_half(dtype):
        raise Refusal(f"an argument is of dtype {dtype}, which is computed on the CPU alone. "
                      "Convert it first: x.astype(np.float32)", "TJ602")
    if dtype not in DTYPES.values():
        raise Refusal(f"an argument is an array of dtype {dtype}, which cannot be captured. Use "
                      "float32, float64, integers or bool", "TJ602")


def _is_foreign(x: object) -> bool:
    if isinstance(x, DeviceArray) or _described(x) is not None:
        return True
    asked = getattr(x, "__dlpack_device__", None)
    return callable(asked) and int(asked()[0]) == CUDA


def _described(x: object) -> dict[str, Any] | None:
    found: dict[str, Any] | None = getattr(x, "__cuda_array_interface__", None)
    return simulated_interface(x) if found is None else found


def _interface_of(x: object) -> dict[str, Any] | None:
    """Return the CUDA array interface; None where DLPack says more: it has the stream."""
    described = _described(x)
    if described is not None and described["version"] < 3 and hasattr(x, "__dlpack__"):
        return None
    return described


def _from_interface(x: object, described: dict[str, Any],
                    device: Device) -> tuple[DeviceArray, int]:
    shape, dtype = tuple(described["shape"]), np.dtype(described["typestr"])
    _require_contiguous(shape, described.get("strides"), dtype.itemsize)
    address, handle = described["data"][0], described.get("stream")
    ordinal = device.ordinal_of(address) if math.prod(shape) else device.ordinal
    stream = None if handle is None else Stream(handle, x)
    return DeviceArray(device, address, shape, dtype, stream, x), ordinal


def _from_dlpack(x: object, device: Device) -> tuple[DeviceArray, int]:
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_dlpack(x, stream_ptr=current_stream().handle)
    dtype = np.dtype(view.dtype)
    _require_contiguous(view.shape, view.strides, 1)
    return DeviceArray(device, view.ptr, tuple(view.shape), dtype, None, view), view.device_id


def _require_contiguous(shape: Sequence[int], strides: Sequence[int] | None, step: int) -> None:
    """Raise where elements do not follow one another; strides in units of which a step is some."""
    if strides is None or not math.prod(shape):
        return
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1 and stride != step:
            raise Refusal("an argument on the device is not contiguous in C order. Pass a copy of "
                          "it that is: cupy.ascontiguousarray(x), or x.contiguous() in PyTorch",
                          "TJ602")
        step *= n
