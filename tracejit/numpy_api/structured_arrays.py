"""Structured arrays that captured code makes: copies, and arrays of tuples."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, OF_FIELDS
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.making_fields import blank_fields

__all__ = ["has_fields", "structured_array"]

OF_FIELDS.update((np.zeros_like, np.ones_like, np.empty_like, np.array, np.asarray, np.asanyarray,
                  np.copy))


def has_fields(dtype: object) -> bool:
    """Return whether a dtype, as functions of NumPy's take them, is a structured one."""
    return dtype is not None and np.dtype(dtype).names is not None  # type: ignore[call-overload]


def structured_array(a: object, wanted: object, copy: object) -> Any:
    """Return a structured array: a copy of one, or made of a list of tuples."""
    dtype = None if wanted is None else np.dtype(wanted)  # type: ignore[call-overload]
    if isinstance(a, StructuredArray) and not a.is_row and (dtype is None or dtype == a.dtype):
        found = a.copied() if copy else a
        return found.viewed(np.ndarray) if a.kind is np.recarray else found
    if dtype is None or dtype.fields is None or dtype.names is None or not (
            isinstance(a, list) and a and all(isinstance(row, tuple) for row in a)):
        raise refuse("a structured array made so cannot be captured",
                     "Make it of a list of tuples, or by np.zeros, and write its fields: "
                     "a['x'] = ...", "TJ302")
    for row in a:
        if len(row) != len(dtype.names):
            raise ValueError(f"could not assign tuple of length {len(row)} to structure with "
                             f"{len(dtype.names)} fields.")
    made = blank_fields(FUNCTIONS[np.empty], len(a), dtype)
    for k, name in enumerate(dtype.names):
        made[name] = FUNCTIONS[np.array]([row[k] for row in a], dtype.fields[name][0].base)
    return made
