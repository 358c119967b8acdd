"""Indices of structured arrays: by names of fields, and by rows."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import lift
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["axes_of", "is_list_of_names", "is_number", "with_more"]


def is_list_of_names(key: object) -> TypeGuard[list[str]]:
    """Return whether an index names several fields."""
    return isinstance(key, list) and bool(key) and all(isinstance(k, str) for k in key)


def is_number(key: object) -> bool:
    """Return whether a part of an index is one int."""
    return (isinstance(key, (SymInt, int, np.integer)) and not isinstance(key, bool)) or (
        isinstance(key, Tracer) and not key.dims and key.dtype.kind in "iu")


def axes_of(key: object) -> int:
    """Return how many axes a part of an index is about."""
    if key is None or key is Ellipsis:
        return 0
    if isinstance(key, (bool, np.bool_, str)) or hasattr(type(key), "as_fields"):
        raise refuse(f"a structured array indexed by a {type(key).__name__}",
                     "Use ints, slices, masks and arrays of ints", "TJ302")
    key = lift(key) if isinstance(key, (list, np.ndarray)) else key
    if isinstance(key, Tracer) and key.dtype == np.bool_:
        if not key.dims:
            raise refuse("a structured array indexed by one truth value",
                         "Use a mask with an element for each row", "TJ302")
        return len(key.dims)
    return 1


def with_more(keys: tuple[object, ...], is_row: bool, more: int) -> tuple[object, ...]:
    """Return an index of records as one of a field with more axes, of which it takes all."""
    if any(k is Ellipsis for k in keys):
        return (*keys, *[slice(None)] * more)
    return (*keys, ...) if is_row else keys
