"""Making the stand-ins of structured arrays: of their fields, and of functions that fill arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.structured_dtypes import (
    dtype_of_text,
    field_names,
    kind_of_rows,
    rank_of,
    text_of_dtype,
)
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.upward import above
from tracejit.trace.values.equations import lift, same_dim
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.tracer import Tracer

__all__ = ["blank_fields", "fields_like", "joined_fields"]


@above
def joined_fields(kind: type, text: str, parts: Sequence[object]) -> Any:
    """Return the stand-in of a structured array for its fields; one that is None is zero.

    An item of an array is a record, and an array of records' fields one of records.
    """
    dtype = dtype_of_text(text)
    names = field_names(dtype)
    parts = [lift(x) if isinstance(x, np.ndarray) else x for x in parts]
    assert dtype.fields is not None
    for name, x in zip(names, parts, strict=True):
        if isinstance(x, StructuredArray) and dtype.fields[name][0].base.names is None:
            raise refuse("the derivative of a structured array by a structured array, which has "
                         "records for numbers", "Pass the fields as arguments, or a dict of them",
                         "TJ512")
    ndim = rank_of(dtype, parts)
    is_row = kind in (np.void, np.record)
    if is_row and ndim:
        kind = np.ndarray
    elif not is_row and not ndim and not _is_zero_d(next(x for x in parts if x is not None)):
        kind = kind_of_rows(dtype)
    made = StructuredArray(kind, dtype, ndim, dict(zip(names, parts, strict=True)))
    found = [x for x in made.parts.values() if x is not None]
    made.parts = {name: _zeros_like(dtype, name, found[0], ndim) if x is None else x
                  for name, x in made.parts.items()}
    if not made.is_row:
        _settle_sizes(made, found[0], ndim)
    return made


def _is_zero_d(x: object) -> bool:
    """Return whether the field of a record without axes is an array, and no number."""
    return not x.is_row if isinstance(x, StructuredArray) else isinstance(x, Tracer) and x.is_array


def _zeros_like(dtype: np.dtype, name: str, other: Tracer | StructuredArray, ndim: int) -> Any:
    assert dtype.fields is not None
    part = dtype.fields[name][0]
    shape = (*python_dims(other.dims[:ndim]), *part.shape)
    if part.base.names is not None:
        return blank_fields(FUNCTIONS[np.zeros], shape, part.base, np.ndarray)
    zeros = FUNCTIONS[np.zeros](shape, part.base)
    return zeros if shape else zeros[()]


def _settle_sizes(made: StructuredArray, first: Tracer | StructuredArray, ndim: int) -> None:
    """Note that all fields are as long, and how many numbers a field has in each record."""
    assert made.dtype.fields is not None
    for name, part in made.parts.items():
        for a, b in zip(part.dims[:ndim], first.dims[:ndim], strict=True):
            same_dim(a, b)
        for a, b in zip(part.dims[ndim:], made.dtype.fields[name][0].shape, strict=True):
            same_dim(a, b)


def blank_fields(make: Callable[..., object], shape: object, wanted: object,
                 kind: type = np.ndarray) -> StructuredArray:
    """Return a structured array whose fields a function of shape and dtype makes."""
    dtype: np.dtype = np.dtype(wanted)  # type: ignore[call-overload]
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if text_of_dtype(dtype) is None or len(field_names(dtype)) < len(dtype.names or ()):
        raise refuse(f"an array of dtype {dtype}", "Make it outside, or an array for each field "
                     "of numbers", "TJ302")
    parts: dict[str, Any] = {}
    for name in dtype.names or ():
        assert dtype.fields is not None
        part = dtype.fields[name][0]
        whole = (*shape, *part.shape)
        if part.base.names is not None:
            parts[name] = blank_fields(make, whole, part.base, kind)
        else:
            made: Any = make(whole, part.base)
            made.cell.is_array = True
            parts[name] = made
    return StructuredArray(kind, dtype, len(shape), parts)


def fields_like(make: Callable[..., object], a: StructuredArray) -> StructuredArray:
    """Return a structured array like another one, whose fields a function makes."""
    shape = python_dims(a.dims)
    return blank_fields(make, shape, a.dtype, a.kind)
