"""Creating arrays of another's shape and dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.creation import creates, empty, full, ones, zeros
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.values.equations import as_operand, dims_of, dtype_of, lift
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.making_fields import fields_like

if TYPE_CHECKING:
    import numpy.typing as npt

__all__: list[str] = []


@creates(np.full_like)
def full_like(a: object, fill_value: object, dtype: npt.DTypeLike | None = None, order: str = "K",
              subok: bool = True, shape: object = None) -> Any:
    """Return an array filled with a value, of another's shape and dtype."""
    if isinstance(a, StructuredArray) and dtype is None and shape is None and fill_value in (0, 1):
        return fields_like(zeros if fill_value == 0 else ones, a)
    a = lift(a)
    target = tuple(map(as_operand, dims_of(a))) if shape is None else shape
    return lay_out(full(target, fill_value, dtype or dtype_of(a), ""), order, a)


@creates(np.zeros_like)
def zeros_like(a: object, dtype: npt.DTypeLike | None = None, order: str = "K", subok: bool = True,
               shape: object = None) -> Any:
    """Return zeros of another's shape and dtype."""
    return full_like(a, 0, dtype, order, shape=shape)


@creates(np.ones_like)
def ones_like(a: object, dtype: npt.DTypeLike | None = None, order: str = "K", subok: bool = True,
              shape: object = None) -> Any:
    """Return ones of another's shape and dtype."""
    return full_like(a, 1, dtype, order, shape=shape)


@creates(np.empty_like)
def empty_like(prototype: object, dtype: npt.DTypeLike | None = None, order: str = "K",
               subok: bool = True, shape: object = None) -> Any:
    """Return an array to be written to, of another's shape and dtype."""
    if isinstance(prototype, StructuredArray) and dtype is None and shape is None:
        return fields_like(empty, prototype)
    prototype = lift(prototype)
    target = tuple(map(as_operand, dims_of(prototype))) if shape is None else shape
    return lay_out(empty(target, dtype or dtype_of(prototype), ""), order, prototype)
