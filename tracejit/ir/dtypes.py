"""The dtypes of the IR and their short names."""

from __future__ import annotations

import numpy as np

from tracejit.errors import IRError

__all__ = ["DTYPES", "dtype_name"]

DTYPES: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def dtype_name(dtype: np.dtype) -> str:
    """Return the short name of a dtype, or raise `IRError` for one that the IR does not have."""
    try:
        return _NAMES[dtype]
    except KeyError:
        raise IRError(f"dtype {dtype} is not supported; use one of "
                      f"{', '.join(str(d) for d in _NAMES)}") from None
