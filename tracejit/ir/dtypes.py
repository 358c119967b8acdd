"""The dtypes of the IR and their short names."""

from __future__ import annotations

import numpy as np

from tracejit.errors import IRError

__all__ = ["DTYPES", "HALVES", "dtype_name", "is_half", "remedy_for_dtype"]

DTYPES: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
}
HALVES: dict[np.dtype, str] = {DTYPES["f16"]: "round_f16"}
"""The floats of two bytes, each with the op that rounds to it: they are computed in float32."""
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def dtype_name(dtype: np.dtype) -> str:
    """Return the short name of a dtype, or raise `IRError` for one that the IR does not have."""
    try:
        return _NAMES[dtype]
    except KeyError:
        raise IRError(f"dtype {dtype} is not supported; use one of "
                      f"{', '.join(str(d) for d in _NAMES)}") from None


def is_half(dtype: np.dtype) -> bool:
    """Return whether values of a dtype are stored in two bytes and computed in float32."""
    return dtype in HALVES


_IN_ANOTHER = (
    ("bfloat16 float8 float6 float4", "Convert it outside: x.astype(np.float32)"),
    ("float", "Convert it outside, which drops digits: x.astype(np.float64)"),
    ("complex", "Convert it outside, which drops digits: x.astype(np.complex128)"),
    ("int uint", "Convert it outside: x.astype(np.int8)"),
    ("datetime", "Convert it outside to numbers, of seconds say: "
                 "(x - x[0]) / np.timedelta64(1, 's')"),
    ("timedelta", "Convert it outside to numbers, of seconds say: x / np.timedelta64(1, 's')"),
    ("str bytes StringDType", "Convert it outside to numbers: x.astype(float), or "
                              "np.unique(x, return_inverse=True)[1]"),
    ("object", "Convert it outside: np.array(x, dtype=float). A list of arrays, or of numbers "
               "and None, may be an argument"),
)
"""Beginnings of the names of dtypes that the IR does not have, and the remedies."""


def remedy_for_dtype(dtype: np.dtype) -> str:
    """Return the remedy for an array of a dtype that the IR does not have."""
    if dtype.names is not None:
        numbers = [n for n in dtype.names if dtype[n].base in DTYPES.values()]
        if not numbers:
            return "None of its fields holds numbers: convert one outside, x['name'].astype(float)"
        return f"Pass its fields as arguments: {', '.join([f'x[{n!r}]' for n in numbers])}"
    for beginnings, remedy in _IN_ANOTHER:
        if dtype.name.startswith(tuple(beginnings.split())):
            return remedy
    return "Use float16, float32, float64, complex64, complex128, integers or bool"
